"""Where the messages of a prompt stand in the history that it was made from."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage, ToolMessage

__all__ = ["find_absent", "identity"]


def identity(message: BaseMessage) -> tuple[object, ...]:
    """Return what a provider's prompt cache would compare of a message.

    Args:
        message: Any message.

    Returns:
        Its type, content, calls and call id; equal for messages that are sent alike.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> identity(HumanMessage("Hello"))
        ('human', 'Hello', None, None)
    """
    content = message.content
    calls = getattr(message, "tool_calls", None)
    return (
        message.type,
        content if isinstance(content, str) else str(content),
        str(calls) if calls else None,
        getattr(message, "tool_call_id", None),
    )


def find_absent(
    history: Sequence[BaseMessage], prompt: Sequence[BaseMessage]
) -> tuple[frozenset[int], frozenset[int]]:
    """Find which messages of a history a prompt lacks, and which it shortens.

    A message of the prompt stands for the message of the history that is the same
    object, else the first other one that is sent alike, else the first that it may be a
    shorter form of: a result of the same call, or an assistant message with the same
    calls. One pass over each.

    Args:
        history: What could be sent.
        prompt: What is sent, in the order of the history.

    Returns:
        Indices of the history: those that are gone and those that are shortened.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> old, new = HumanMessage("Hello"), HumanMessage("Bye")
        >>> find_absent([old, new], [new])
        (frozenset({0}), frozenset())
    """
    own = {id(message) for message in history}
    same = {id(message) for message in prompt} & own
    changed = [message for message in prompt if id(message) not in same]
    free = {i: m for i, m in enumerate(history) if id(m) not in same}
    unknown = _take(free, changed, identity)
    before = frozenset(free)
    _take(free, unknown, _stem)
    return frozenset(free), before.difference(free)


def _take(
    free: dict[int, BaseMessage],
    messages: Sequence[BaseMessage],
    key: Callable[[BaseMessage], object],
) -> list[BaseMessage]:
    """Take the first free place of the same key for each message."""
    if not messages:
        return []
    places: dict[object, deque[int]] = defaultdict(deque)
    for place, message in free.items():
        places[key(message)].append(place)
    left = []
    for message in messages:
        found = places.get(key(message))
        if key(message) is not None and found:
            del free[found.popleft()]
        else:
            left.append(message)
    return left


def _stem(message: BaseMessage) -> object:
    if isinstance(message, ToolMessage):
        return ("tool", message.tool_call_id)
    return ("ai", identity(message)[2]) if message.type == "ai" else None
