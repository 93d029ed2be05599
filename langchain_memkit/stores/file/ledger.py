"""The ledger of a folder of memories: what is known of each besides its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from unicodedata import normalize

from pydantic import ConfigDict, Field

from langchain_memkit.core.models import Count, FrozenModel, Share
from langchain_memkit.core.records import Source, StoredMemory
from langchain_memkit.core.times import from_microseconds, to_microseconds
from langchain_memkit.exceptions import InvalidInputError

__all__ = ["LEDGER_VERSION", "Ledger", "NewerLedgerError", "dump_ledger", "load_ledger"]

LEDGER_VERSION = 1
"""Version of the form that is written; older ones are read, newer ones refused."""

_MICROSECONDS_PER_MILLISECOND = 1000


class NewerLedgerError(Exception):
    """A ledger of a version that this release does not know."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a ledger says.

    Attributes:
        memories: The memories by name, their contents empty.
        tombstones: Until when a name counts as forgotten, in microseconds.
        namespace: Labels of the compartment.
        is_damaged: Whether some of it could not be read.
    """

    memories: Mapping[str, StoredMemory] = field(default_factory=dict)
    tombstones: Mapping[str, int] = field(default_factory=dict)
    namespace: tuple[str, ...] = ()
    is_damaged: bool = False


class _Entry(FrozenModel):
    importance: Share
    source: Source
    pinned: bool
    evicted: bool
    created_at_us: int
    last_access_at_us: int
    access_count: Count


class _PlainEntry(FrozenModel):
    model_config = ConfigDict(extra="ignore")

    importance: Share
    created_at: float
    last_access_at: float


class _Document(FrozenModel):
    version: Literal[1]
    namespace: tuple[str, ...] = ()
    memories: dict[str, object]
    forgotten: dict[str, int] = Field(default_factory=dict)


def dump_ledger(ledger: Ledger) -> bytes:
    """Write a ledger as JSON.

    Args:
        ledger: The ledger.

    Returns:
        The JSON, in ASCII.
    """
    document = {
        "version": LEDGER_VERSION,
        "namespace": ledger.namespace,
        "memories": {n: _dump_entry(m) for n, m in ledger.memories.items()},
        "forgotten": dict(ledger.tombstones),
    }
    return json.dumps(document).encode()


def load_ledger(data: bytes) -> Ledger:
    """Read a ledger, also in the plain form `{name: {importance, created_at, …}}`.

    What cannot be read is left out and marks the ledger as damaged.

    Args:
        data: The bytes of the file.

    Returns:
        The ledger.

    Raises:
        NewerLedgerError: It was written by a newer release.

    Example:
        >>> load_ledger(b"{").is_damaged
        True
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return Ledger(is_damaged=True)
    if not isinstance(document, dict):
        return Ledger(is_damaged=True)
    version = document.get("version")
    if isinstance(version, dict) or version is None:
        return _load_memories(document, Ledger(), plain=True)
    if isinstance(version, int | float) and version > LEDGER_VERSION:
        raise NewerLedgerError(version)
    try:
        known = _Document.model_validate(document)
    except InvalidInputError:
        return Ledger(is_damaged=True)
    ledger = Ledger(tombstones=known.forgotten, namespace=known.namespace)
    return _load_memories(known.memories, ledger, plain=False)


def _load_memories(
    entries: Mapping[str, object], ledger: Ledger, *, plain: bool
) -> Ledger:
    load = _load_plain if plain else _load_entry
    memories: dict[str, StoredMemory] = {}
    for name, entry in entries.items():
        try:
            memory = load(normalize("NFC", name), entry)
        except (InvalidInputError, OverflowError):
            continue
        memories[memory.name] = memory
    is_damaged = len(memories) < len(entries)
    return replace(ledger, memories=memories, is_damaged=is_damaged)


def _dump_entry(memory: StoredMemory) -> dict[str, object]:
    return {
        "importance": memory.importance,
        "source": memory.source,
        "pinned": memory.pinned,
        "evicted": memory.evicted,
        "created_at_us": to_microseconds(memory.created_at),
        "last_access_at_us": to_microseconds(memory.last_access_at),
        "access_count": memory.access_count,
    }


def _load_entry(name: str, value: object) -> StoredMemory:
    entry = _Entry.model_validate(value)
    return StoredMemory(
        name=name,
        content="",
        importance=entry.importance,
        source=entry.source,
        pinned=entry.pinned,
        evicted=entry.evicted,
        created_at=from_microseconds(entry.created_at_us),
        last_access_at=from_microseconds(entry.last_access_at_us),
        access_count=entry.access_count,
    )


def _load_plain(name: str, value: object) -> StoredMemory:
    entry = _PlainEntry.model_validate(value)
    return StoredMemory(
        name=name,
        content="",
        importance=entry.importance,
        source="developer",
        pinned=False,
        evicted=False,
        created_at=_from_milliseconds(entry.created_at),
        last_access_at=_from_milliseconds(entry.last_access_at),
    )


def _from_milliseconds(milliseconds: float) -> datetime:
    return from_microseconds(round(milliseconds * _MICROSECONDS_PER_MILLISECOND))
