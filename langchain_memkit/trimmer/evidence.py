"""What a memory is handed when a message leaves."""

from __future__ import annotations

from langchain_core.messages import BaseMessage

from langchain_memkit.core.eviction import EpisodeKind
from langchain_memkit.core.keys import content_key
from langchain_memkit.messages import (
    archive_text,
    kind_of,
    recall_key,
    recalled_key,
    says_something,
)
from langchain_memkit.protocols import ArchiveEntry, Source
from langchain_memkit.trimmer._shapes import form_of

__all__ = ["entry_of"]

_SOURCES: dict[EpisodeKind, Source] = {
    EpisodeKind.CONSTRAINT: "developer",
    EpisodeKind.USER_TURN: "user",
    EpisodeKind.AGENT_REASONING: "assistant",
    EpisodeKind.ACTION_RESULT: "tool",
    EpisodeKind.OBSERVATION: "tool",
}
_IMPORTANCE = {
    EpisodeKind.CONSTRAINT: 1.0,
    EpisodeKind.USER_TURN: 0.8,
    EpisodeKind.AGENT_REASONING: 0.3,
    EpisodeKind.ACTION_RESULT: 0.5,
    EpisodeKind.OBSERVATION: 0.5,
}


def entry_of(
    message: BaseMessage, *, kind: EpisodeKind | None = None
) -> ArchiveEntry | None:
    """Name the content of a message by its key, with what its kind tells of it.

    Args:
        message: A message that leaves.
        kind: What it is, where that is not what it seems.

    Returns:
        The entry; `None` where the message says nothing, or where what it says can be
        had again: a stub, a clip, a recalled text.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> entry = entry_of(HumanMessage("My kite is red."))
        >>> entry.source, entry.importance, entry.content
        ('user', 0.8, 'My kite is red.')
    """
    known = recall_key(message) or recalled_key(message) or form_of(message)
    if known or not says_something(message):
        return None
    content, kind = archive_text(message), kind or kind_of(message)
    return ArchiveEntry(
        key=content_key(content),
        content=content,
        importance=_IMPORTANCE[kind],
        source=_SOURCES[kind],
    )
