"""Memories as rows, and compartments as paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast
from urllib.parse import quote, unquote

from langchain_memkit.core.escaping import escape_text, unescape_text
from langchain_memkit.core.records import DecayRule, Source, StoredMemory
from langchain_memkit.core.times import from_microseconds, to_microseconds
from langchain_memkit.core.wording import search_terms

__all__ = [
    "Row",
    "indexed_terms",
    "labels_of",
    "limits_of",
    "memories_of",
    "memory_of",
    "path_of",
    "sorted_by_name",
    "values_of",
]

Row = Sequence[object]
"""One row of a result."""

_INDEXED_BYTES = 900_000
_TERM_BYTES = 8


def memory_of(row: Row) -> StoredMemory:
    """Read a memory from a row.

    Args:
        row: The columns of `COLUMNS`, perhaps followed by others.

    Returns:
        The memory.
    """
    return StoredMemory(
        name=cast("str", row[0]),
        content=unescape_text(cast("str", row[1])),
        importance=cast("float", row[2]),
        source=cast("Source", row[3]),
        pinned=bool(row[4]),
        evicted=bool(row[5]),
        created_at=from_microseconds(cast("int", row[6])),
        last_access_at=from_microseconds(cast("int", row[7])),
        access_count=cast("int", row[8]),
    )


def memories_of(rows: Iterable[Row]) -> tuple[StoredMemory, ...]:
    """Read memories from rows.

    Args:
        rows: See `memory_of`.

    Returns:
        The memories, sorted by name.
    """
    return tuple(sorted_by_name(memory_of(row) for row in rows))


def values_of(memory: StoredMemory) -> dict[str, object]:
    """Write a memory as values to bind.

    Args:
        memory: The memory.

    Returns:
        Values by column.
    """
    return {
        "name": memory.name,
        "content": escape_text(memory.content),
        "importance": float(memory.importance),
        "source": memory.source,
        "pinned": int(memory.pinned),
        "evicted": int(memory.evicted),
        "created_at_us": to_microseconds(memory.created_at),
        "last_access_at_us": to_microseconds(memory.last_access_at),
        "access_count": memory.access_count,
    }


def limits_of(rule: DecayRule) -> dict[str, object]:
    """Write a decay rule as values to bind.

    Args:
        rule: The rule.

    Returns:
        Values by name.
    """
    return {
        "ttl_limit_us": rule.ttl_limit_us,
        "weak_limit_us": rule.weak_limit_us,
        "min_importance": rule.min_importance,
    }


def sorted_by_name(memories: Iterable[StoredMemory]) -> list[StoredMemory]:
    """Sort memories: writers in one order wait for each other, never in a circle.

    Args:
        memories: The memories.

    Returns:
        The same, by name.
    """
    return sorted(memories, key=lambda memory: memory.name)


def indexed_terms(text: str) -> list[str]:
    """Cut a text into the terms that an index holds.

    Args:
        text: Any text.

    Returns:
        What `search_terms` gives, but for the end of a text with more terms than a
        `tsvector` takes: about 60,000 words.
    """
    terms = search_terms(text)
    cost_bytes = 0
    for at, term in enumerate(terms):
        cost_bytes += len(term.encode()) + _TERM_BYTES
        if cost_bytes > _INDEXED_BYTES:
            return terms[:at]
    return terms


def path_of(namespace: tuple[str, ...]) -> str:
    """Write a namespace as one text, different for different ones.

    Args:
        namespace: Labels, any text.

    Returns:
        The labels joined by `/`, escaped as in an address.

    Example:
        >>> path_of(("a/b", "c"))
        'a%2Fb/c'
    """
    return "/".join(quote(escape_text(label), safe="") for label in namespace)


def labels_of(path: str) -> tuple[str, ...]:
    """Undo `path_of`.

    Args:
        path: What it gave.

    Returns:
        The namespace.

    Example:
        >>> labels_of("a%2Fb/c")
        ('a/b', 'c')
    """
    return tuple(unescape_text(unquote(label)) for label in path.split("/"))
