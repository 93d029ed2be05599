"""What `memkit memory` tells of a memory: rows for tables and plain values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from langchain_memkit.core.decay import decay_rule, reason_to_forget
from langchain_memkit.core.models import Count, FrozenModel, Share
from langchain_memkit.core.tokens import estimate_tokens
from langchain_memkit.memory import ForgettingMemory

__all__ = ["COLUMNS", "Entry", "Stats", "list_entries", "measure", "show_entry"]

COLUMNS = ("name", "importance", "source", "state", "last used", "used", "marks")


class Entry(FrozenModel):
    """A memory as a list shows it.

    Attributes:
        name: Its name.
        importance: From 0 to 1.
        source: Who wrote it.
        state: `live`, or why it has faded: `idle` or `weak`.
        last_access_at: When it was last remembered or recalled.
        access_count: How often it was recalled.
        pinned: Whether it never fades.
        evicted: Whether it left a history.
    """

    name: str
    importance: Share
    source: str
    state: str
    last_access_at: datetime
    access_count: Count
    pinned: bool
    evicted: bool


class Stats(FrozenModel):
    """What a compartment holds.

    Attributes:
        memories: How many.
        live: How many have not faded.
        faded: How many the next consolidation would forget, by reason.
        pinned: How many never fade.
        evicted: How many left a history.
        sources: How many each source wrote.
        tokens: A quarter of the characters of all texts.
        last_access_at: The latest use; None where it is empty.
        compartments: How many lie below it and hold anything.
    """

    memories: Count
    live: Count
    faded: dict[str, int]
    pinned: Count
    evicted: Count
    sources: dict[str, int]
    tokens: Count
    last_access_at: datetime | None
    compartments: Count


def list_entries(memory: ForgettingMemory) -> list[Entry]:
    """List all memories, those included that have faded, without refreshing them.

    Args:
        memory: Where to look.

    Returns:
        An entry each, by name.

    Raises:
        StoreError: The store could not be read.
    """
    rule = decay_rule(memory.config, now=memory.clock())
    return [
        Entry(
            name=stored.name,
            importance=stored.importance,
            source=stored.source,
            state=reason_to_forget(stored, rule=rule) or "live",
            last_access_at=stored.last_access_at,
            access_count=stored.access_count,
            pinned=stored.pinned,
            evicted=stored.evicted,
        )
        for stored in memory.store.scan()
    ]


def show_entry(entry: Entry) -> list[str]:
    """Write an entry for people.

    Args:
        entry: Of `list_entries`.

    Returns:
        A text for each of `COLUMNS`.
    """
    marks = (("pinned", entry.pinned), ("evicted", entry.evicted))
    return [
        entry.name,
        f"{entry.importance:.2f}",
        entry.source,
        entry.state if entry.state == "live" else f"faded: {entry.state}",
        f"{entry.last_access_at:%Y-%m-%d %H:%M}",
        str(entry.access_count),
        ", ".join(mark for mark, is_set in marks if is_set),
    ]


def measure(memory: ForgettingMemory) -> Stats:
    """Count what a memory holds, without refreshing it.

    Args:
        memory: Where to look.

    Returns:
        The counts.

    Raises:
        StoreError: The store could not be read.
    """
    entries = list_entries(memory)
    faded = Counter(entry.state for entry in entries if entry.state != "live")
    texts = memory.store.scan(content=True)
    return Stats(
        memories=len(entries),
        live=len(entries) - faded.total(),
        faded=dict(sorted(faded.items())),
        pinned=sum(entry.pinned for entry in entries),
        evicted=sum(entry.evicted for entry in entries),
        sources=dict(sorted(Counter(entry.source for entry in entries).items())),
        tokens=sum(estimate_tokens(stored.content) for stored in texts),
        last_access_at=_latest(entries),
        compartments=len(memory.store.namespaces()),
    )


def _latest(entries: Sequence[Entry]) -> datetime | None:
    return max((entry.last_access_at for entry in entries), default=None)
