"""Memories as LangChain documents."""

from __future__ import annotations

from langchain_core.documents import Document

from langchain_memkit.core.records import StoredMemory

__all__ = ["document_of"]


def document_of(memory: StoredMemory, score: float) -> Document:
    """Turn a memory that was found into a document.

    Args:
        memory: The memory.
        score: How well it matched.

    Returns:
        A document whose id is the name; the metadata holds plain JSON types, times in
        ISO 8601.
    """
    metadata = {
        "name": memory.name,
        "importance": memory.importance,
        "source": memory.source,
        "pinned": memory.pinned,
        "evicted": memory.evicted,
        "created_at": memory.created_at.isoformat(),
        "last_access_at": memory.last_access_at.isoformat(),
        "access_count": memory.access_count,
        "score": score,
    }
    return Document(id=memory.name, page_content=memory.content, metadata=metadata)
