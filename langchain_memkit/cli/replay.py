"""A conversation replayed: what each model call would send, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, FunctionMessage, ToolMessage

from langchain_memkit.cli.alignment import find_absent, identity
from langchain_memkit.protocols import TokenCounter

__all__ = ["Call", "Gauge", "Send", "Validate", "call_points", "replay"]

Send = Callable[[list[BaseMessage]], Sequence[BaseMessage]]
"""Turns a history into what is sent."""

Validate = Callable[[Sequence[BaseMessage]], Sequence[object]]
"""Lists the faults of what is sent; none means valid."""

_NEWEST_RESULTS = 5


@dataclass(frozen=True, slots=True)
class Call:
    """What one model call sends.

    Attributes:
        history_messages: Messages of the conversation until then.
        tokens: Tokens of the prompt.
        cached_tokens: Tokens at its beginning that repeat the previous prompt.
        is_met: Whether it fits the budget.
        is_valid: Whether a provider would take it.
        is_usable: Whether it is valid, fits, and has the system messages, the last
            message, and a user message where there was one.
        fresh: Share of the newest five tool results that stand word for word; None
            where everything fits or there are none.
        gone: Indices of messages that are sent no more, since this call.
        cut: Indices of messages that are sent shortened, since this call.
    """

    history_messages: int
    tokens: int
    cached_tokens: int
    is_met: bool
    is_valid: bool
    is_usable: bool
    fresh: float | None
    gone: tuple[int, ...]
    cut: tuple[int, ...]


class Gauge:
    """Counts messages one by one, those of a history once.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> from langchain_memkit import ApproximateCounter
        >>> Gauge([], ApproximateCounter())([HumanMessage("Kites need wind.")])
        8
    """

    def __init__(self, history: Sequence[BaseMessage], counter: TokenCounter) -> None:
        """Count the messages of a history.

        Args:
            history: The conversation; kept alive, so that its messages are known again.
            counter: Counts the tokens.
        """
        self._history = tuple(history)
        self._counter = counter
        self._tokens = {id(m): counter.count_messages([m]) for m in self._history}

    def count_one(self, message: BaseMessage) -> int:
        """Count one message.

        Args:
            message: One of the history, or any other.

        Returns:
            Tokens.
        """
        known = self._tokens.get(id(message))
        return self._counter.count_messages([message]) if known is None else known

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Count messages.

        Args:
            messages: Any messages.

        Returns:
            The sum of their tokens.
        """
        return sum(map(self.count_one, messages))


def call_points(messages: Sequence[BaseMessage]) -> list[int]:
    """Find where a model was or would be called.

    Args:
        messages: A conversation.

    Returns:
        The number of messages before each call: up to a user message, or up to the
        last result of a step.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> call_points([HumanMessage("Hello"), AIMessage("Hello!")])
        [1]
    """
    return [
        end
        for end, message in enumerate(messages, 1)
        if (message.type == "human" or _is_result(message))
        and not (end < len(messages) and _is_result(messages[end]))
    ]


def replay(
    messages: Sequence[BaseMessage],
    send: Send,
    *,
    budget_tokens: int,
    gauge: Gauge,
    validate: Validate,
) -> Iterator[Call]:
    """Send every call of a conversation, one after the other.

    Args:
        messages: The conversation.
        send: Turns the history before a call into what is sent.
        budget_tokens: What the prompt should fit in.
        gauge: Counts, made for this conversation.
        validate: Lists the faults of what is sent.

    Yields:
        Each call, in order.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> from langchain_memkit import ApproximateCounter
        >>> history = [HumanMessage("Kites need wind."), HumanMessage("And string.")]
        >>> gauge = Gauge(history, ApproximateCounter())
        >>> calls = replay(
        ...     history, list, budget_tokens=99, gauge=gauge, validate=lambda sent: []
        ... )
        >>> [(call.tokens, call.cached_tokens) for call in calls]
        [(8, 0), (15, 8)]
    """
    known = {id(message): identity(message) for message in messages}
    sent_before: list[tuple[object, ...]] = []
    gone: frozenset[int] = frozenset()
    cut: frozenset[int] = frozenset()
    for end in call_points(messages):
        history = list(messages[:end])
        prompt = send(list(history))
        sent = [known.get(id(message)) or identity(message) for message in prompt]
        sizes = [gauge.count_one(message) for message in prompt]
        is_met, is_valid = sum(sizes) <= budget_tokens, not validate(prompt)
        now_gone, now_cut = find_absent(history, prompt)
        yield Call(
            history_messages=end,
            tokens=sum(sizes),
            cached_tokens=sum(sizes[: _common(sent, sent_before)]),
            is_met=is_met,
            is_valid=is_valid,
            is_usable=is_met and is_valid and _has_what_matters(history, prompt),
            fresh=_fresh(history, prompt) if gauge(history) > budget_tokens else None,
            gone=tuple(sorted(now_gone - gone)),
            cut=tuple(sorted(now_cut - cut)),
        )
        sent_before, gone, cut = sent, gone | now_gone, cut | now_cut


def _is_result(message: BaseMessage) -> bool:
    return isinstance(message, ToolMessage | FunctionMessage)


def _common(sent: Sequence[object], before: Sequence[object]) -> int:
    pairs = enumerate(zip(sent, before, strict=False))
    shorter = min(len(sent), len(before))
    return next((i for i, (new, old) in pairs if new != old), shorter)


def _texts(messages: Sequence[BaseMessage], kind: str) -> Counter[str]:
    return Counter(str(m.content) for m in messages if m.type == kind)


def _has_what_matters(
    history: Sequence[BaseMessage], prompt: Sequence[BaseMessage]
) -> bool:
    if not prompt or _texts(history, "system") - _texts(prompt, "system"):
        return False
    asked = any(message.type == "human" for message in history)
    heard = any(message.type == "human" for message in prompt)
    last, sent = identity(history[-1]), identity(prompt[-1])
    clipped = _is_result(history[-1]) and (last[0], last[3]) == (sent[0], sent[3])
    return (heard or not asked) and (last == sent or clipped)


def _fresh(
    history: Sequence[BaseMessage], prompt: Sequence[BaseMessage]
) -> float | None:
    newest = [str(m.content) for m in history if _is_result(m)][-_NEWEST_RESULTS:]
    sent = {str(m.content) for m in prompt if _is_result(m)}
    return sum(text in sent for text in newest) / len(newest) if newest else None
