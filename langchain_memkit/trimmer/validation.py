"""What providers refuse in a history, and where it may be cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage

from langchain_memkit.core.models import Count, FrozenModel
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.messages import (
    call_ids,
    is_blank,
    is_human,
    is_system,
    result_id,
)
from langchain_memkit.trimmer._coerce import MessagesLike, to_messages

__all__ = ["HistoryFault", "Provider", "safe_cut_points", "validate_history"]

Provider = Literal["openai", "anthropic", "google"]


class HistoryFault(FrozenModel):
    """Something in a history that a provider refuses.

    Attributes:
        index: Position of the message.
        rule: Short name of the rule that it breaks.
        detail: What is wrong, in a sentence.
    """

    index: Count
    rule: str
    detail: str


def validate_history(
    messages: MessagesLike, *, provider: Provider | None = None
) -> list[HistoryFault]:
    """Find what a provider would refuse.

    Rules common to all: every result stands directly after its call; every call is
    answered once, but for those of a last message that no result follows; no message
    is empty, but for a system message, a result, or an assistant's message at the end.

    Args:
        messages: The history.
        provider: Whose further rules to apply, None for the common ones alone.

    Returns:
        The faults, in order; empty where there are none.

    Raises:
        InvalidInputError: The provider is unknown, or these are no messages.

    Example:
        >>> from langchain_core.messages import HumanMessage, ToolMessage
        >>> orphan = ToolMessage("9 to 5", tool_call_id="c1")
        >>> [f.rule for f in validate_history([HumanMessage("Open?"), orphan])]
        ['result-without-call']
    """
    if provider is not None and provider not in _PROVIDERS:
        rule = f"must be None or one of {', '.join(sorted(_PROVIDERS))}"
        raise InvalidInputError("provider", rule, provider)
    history = to_messages(messages)
    faults = [*_unpaired(history), *_empty(history)]
    if provider is not None:
        faults += _PROVIDERS[provider](history)
    return sorted(faults, key=lambda fault: (fault.index, fault.rule))


def _fault(index: int, rule: str, detail: str) -> HistoryFault:
    return HistoryFault(index=index, rule=rule, detail=detail)


def _unpaired(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    i, end = 0, len(history)
    while i < end:
        head, i = i, i + 1
        name = result_id(history[head])
        if name is not None:
            detail = f"No call with the id {name!r} stands directly before."
            yield _fault(head, "result-without-call", detail)
            continue
        left = Counter(call_ids(history[head]))
        first = i
        while i < end and (name := result_id(history[i])) is not None and left[name]:
            left[name] -= 1
            i += 1
        if left.total() and not (first == i == end):
            detail = f"No result answers {sorted(left.elements())}."
            yield _fault(head, "call-without-result", detail)


def _empty(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    for i, message in enumerate(history):
        if isinstance(message, RemoveMessage):
            yield _fault(i, "no-message", "An instruction to remove is never sent.")
        elif is_system(message) or result_id(message) is not None:
            continue
        elif is_blank(message) and not (i == len(history) - 1 and _is_ai(message)):
            yield _fault(i, "empty-message", "It has no text, no block and no call.")


def _is_ai(message: BaseMessage) -> bool:
    return not is_human(message) and not is_system(message)


def _front(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    first = next((i for i, m in enumerate(history) if not is_system(m)), None)
    if first is None:
        yield _fault(0, "no-user-message", "There are system messages only.")
    elif not is_human(history[first]):
        yield _fault(first, "front-not-user", "The first message is not the user's.")


def _late_system(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    leading = True
    for i, message in enumerate(history):
        leading = leading and is_system(message)
        if is_system(message) and not leading:
            detail = "A system message stands after the first other message."
            yield _fault(i, "late-system-message", detail)


def _openai(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    for i, message in enumerate(history):
        if isinstance(message, AIMessage) and "" in call_ids(message):
            yield _fault(i, "call-without-id", "A call has no id.")


def _anthropic(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    yield from _front(history)
    yield from _late_system(history)
    yield from _openai(history)


def _google(history: Sequence[BaseMessage]) -> Iterator[HistoryFault]:
    yield from _front(history)
    yield from _late_system(history)


_PROVIDERS: dict[str, Callable[[Sequence[BaseMessage]], Iterator[HistoryFault]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
}


def safe_cut_points(messages: MessagesLike) -> list[int]:
    """Find where a history may be cut without parting a call from its results.

    A result belongs to the nearest preceding unanswered call of its id.

    Args:
        messages: The history.

    Returns:
        Positions `k`, rising, such that no call of `messages[:k]` has its result in
        `messages[k:]`, or still waits for it.

    Raises:
        InvalidInputError: These are no messages.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        >>> call = {"name": "hours", "args": {}, "id": "c1", "type": "tool_call"}
        >>> step = [
        ...     AIMessage("", tool_calls=[call]),
        ...     ToolMessage("9", tool_call_id="c1"),
        ... ]
        >>> safe_cut_points([HumanMessage("Open?"), *step])
        [0, 1, 3]
    """
    history = to_messages(messages)
    reach = _reaches(history)
    points, far = [], 0
    for k in range(len(history) + 1):
        if far <= k:
            points.append(k)
        far = max(far, reach.get(k, 0))
    return points


def _reaches(history: Sequence[BaseMessage]) -> dict[int, int]:
    """Find how far each call reaches.

    Args:
        history: The messages.

    Returns:
        For each message with calls, the position after its last result.
    """
    open_calls: dict[str, list[int]] = {}
    reach: dict[int, int] = {}
    for i, message in enumerate(history):
        name = result_id(message)
        if name is not None and open_calls.get(name):
            reach[open_calls[name].pop()] = i + 1
        for call in call_ids(message):
            open_calls.setdefault(call, []).append(i)
    waiting = {k for stack in open_calls.values() for k in stack}
    last = max((i for i, m in enumerate(history) if result_id(m) is None), default=-1)
    if last in waiting:
        reach[last] = len(history) + 1
    return reach
