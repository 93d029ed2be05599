"""What a store holds, and the rule by which it fades."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

__all__ = ["DecayRule", "PruneResult", "Source", "StoredMemory", "merge_memory"]

Source = Literal["developer", "user", "assistant", "tool"]
"""Who wrote a memory."""


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as a store holds it.

    Attributes:
        name: Its name, in NFC.
        content: Its text; empty where only the record was asked for.
        importance: From 0 to 1.
        source: Who wrote it.
        pinned: Whether it never fades.
        evicted: Whether it left a history, rather than having been remembered.
        created_at: When it was first stored, aware.
        last_access_at: When it was last remembered or recalled, aware.
        access_count: How often it was recalled.
    """

    name: str
    content: str
    importance: float
    source: Source
    pinned: bool
    evicted: bool
    created_at: datetime
    last_access_at: datetime
    access_count: int = 0


@dataclass(frozen=True, slots=True)
class DecayRule:
    """The decay policy at one moment, as limits that a store can compare with.

    A memory has faded when it is not pinned and its last access is at or before
    `ttl_limit_us`, or its importance is below `min_importance` and its last access is
    at or before `weak_limit_us`. Limits are microseconds since 1970.

    Attributes:
        ttl_limit_us: Latest last access of any memory that has faded.
        weak_limit_us: Latest last access of a weak memory that has faded.
        min_importance: Below this a memory is weak.
    """

    ttl_limit_us: int
    weak_limit_us: int
    min_importance: float


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What pruning a store did.

    Attributes:
        pruned: What is gone, sorted by name, contents empty.
        kept: How many memories are left.
        failed: What has faded but could not be deleted, likewise.
    """

    pruned: tuple[StoredMemory, ...]
    kept: int
    failed: tuple[StoredMemory, ...] = ()


def merge_memory(old: StoredMemory | None, new: StoredMemory) -> StoredMemory:
    """Put a memory in the place of an older one of the same name.

    The new content, importance and marks replace the old ones; the earliest creation,
    the latest access and the higher access count stay. Merging the same memory again
    changes nothing.

    Args:
        old: What was there; `None` if nothing.
        new: What is stored now.

    Returns:
        The memory to keep.

    Example:
        >>> from datetime import UTC, datetime
        >>> day = datetime(2030, 1, 1, tzinfo=UTC)
        >>> note = StoredMemory("n", "x", 0.5, "user", False, False, day, day)
        >>> merge_memory(None, note) == merge_memory(note, note) == note
        True
    """
    if old is None:
        return new
    return StoredMemory(
        name=new.name,
        content=new.content,
        importance=new.importance,
        source=new.source,
        pinned=new.pinned,
        evicted=new.evicted,
        created_at=min(old.created_at, new.created_at),
        last_access_at=max(old.last_access_at, new.last_access_at),
        access_count=max(old.access_count, new.access_count),
    )
