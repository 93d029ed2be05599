"""The smallest change of a state that stores a history as it is sent."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_memkit.messages import mark_of

__all__ = ["changes_of"]

_SHORTER = frozenset({"stub", "clip", "bare"})


def changes_of(
    *, removed: Iterable[BaseMessage], replaced: Iterable[BaseMessage]
) -> list[BaseMessage]:
    """Write down what left as updates of single messages.

    Repairs are not stored: what was late may still come.

    Args:
        removed: Messages that left.
        replaced: Messages that stand in place of the one of the same id.

    Returns:
        Updates for LangGraph's `add_messages`; messages without an id are left alone.

    Example:
        >>> from langchain_core.messages import AIMessage
        >>> changes_of(removed=[AIMessage("Hm.", id="m1")], replaced=[])[0].id
        'm1'
    """
    gone = [RemoveMessage(id=m.id) for m in removed if m.id is not None]
    shorter = (m for m in replaced if mark_of(m).get("form") in _SHORTER)
    return [*gone, *(m for m in shorter if m.id is not None)]
