"""What a memory says of itself and of a consolidation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from langchain_memkit.core.models import Count, FrozenModel, Share
from langchain_memkit.core.records import Source, StoredMemory

__all__ = ["ConsolidationReport", "MemoryRecord", "record_of"]


class MemoryRecord(FrozenModel):
    """What is known of a memory besides its text.

    Attributes:
        name: Its name, in NFC.
        importance: From 0 to 1.
        source: Who wrote it.
        pinned: Whether it never fades.
        evicted: Whether it left a history, rather than having been remembered.
        created_at: When it was first remembered, in UTC.
        last_access_at: When it was last remembered or recalled, in UTC.
        access_count: How often it was recalled.
    """

    name: str
    importance: Share
    source: Source
    pinned: bool
    evicted: bool
    created_at: datetime
    last_access_at: datetime
    access_count: Count


class ConsolidationReport(FrozenModel):
    """What a consolidation did.

    Attributes:
        pruned: Names of the memories that were forgotten, sorted.
        kept: How many are left, those included that could not be deleted.
        failed: Names that have faded but could not be deleted, sorted; the next
            consolidation tries again.
        dry_run: Whether nothing was changed and `pruned` tells what would be.
        reasons: Why each of `pruned` and `failed` has faded, by name.
    """

    pruned: tuple[str, ...] = ()
    kept: Count = 0
    failed: tuple[str, ...] = ()
    dry_run: bool = False
    reasons: Mapping[str, str] = Field(default_factory=dict)


def record_of(memory: StoredMemory) -> MemoryRecord:
    """Leave out the text of a memory.

    Args:
        memory: The memory.

    Returns:
        What is known of it besides.
    """
    return MemoryRecord(
        name=memory.name,
        importance=memory.importance,
        source=memory.source,
        pinned=memory.pinned,
        evicted=memory.evicted,
        created_at=memory.created_at,
        last_access_at=memory.last_access_at,
        access_count=memory.access_count,
    )
