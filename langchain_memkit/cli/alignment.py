"""Where the messages of a prompt stand in the history that it was made from."""

from __future__ import annotations

from collections.abc import Sequence

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
    object, else the first one after its predecessor's that is sent alike, else the
    first that it may be a shorter form of: a result of the same call, or an assistant
    message.

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
    places = {id(message): place for place, message in enumerate(history)}
    same = {id(message) for message in prompt} & places.keys()
    free = [i for i, message in enumerate(history) if id(message) not in same]
    cut: set[int] = set()
    for message in prompt:
        if id(message) in same or not free:
            continue
        place = _first(history, free, message, alike=True)
        if place is None:
            place = _first(history, free, message, alike=False)
            cut |= {place} if place is not None else set()
        if place is not None:
            free.remove(place)
    return frozenset(free), frozenset(cut)


def _first(
    history: Sequence[BaseMessage],
    free: Sequence[int],
    message: BaseMessage,
    *,
    alike: bool,
) -> int | None:
    for place in free:
        other = history[place]
        if other.type == message.type and (
            identity(other) == identity(message)
            if alike
            else _may_shorten(other, message)
        ):
            return place
    return None


def _may_shorten(whole: BaseMessage, part: BaseMessage) -> bool:
    if isinstance(whole, ToolMessage) and isinstance(part, ToolMessage):
        return whole.tool_call_id == part.tool_call_id
    return whole.type == "ai" and identity(whole)[2] == identity(part)[2]
