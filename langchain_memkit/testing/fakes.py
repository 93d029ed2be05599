"""Stand-ins that behave: a clock that is set by hand, and a store in a dictionary."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from langchain_memkit.core.decay import has_faded
from langchain_memkit.core.records import (
    DecayRule,
    PruneResult,
    StoredMemory,
    merge_memory,
)
from langchain_memkit.core.wording import rank_texts

__all__ = ["DictMemoryStore", "FakeClock", "Place"]

_START = datetime(2030, 1, 1, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until it is moved.

    Example:
        >>> clock = FakeClock()
        >>> clock.advance(timedelta(days=1))
        >>> clock().isoformat()
        '2030-01-02T00:00:00+00:00'
    """

    def __init__(self, now: datetime = _START) -> None:
        """Start at a time.

        Args:
            now: An aware datetime.
        """
        self.now = now

    def __call__(self) -> datetime:
        """Tell the time.

        Returns:
            The time it was set to.
        """
        return self.now

    def advance(self, duration: timedelta) -> None:
        """Move the clock.

        Args:
            duration: By how much; negative moves it back.
        """
        self.now += duration


@dataclass
class Place:
    """What the objects of one `DictMemoryStore` share.

    Attributes:
        memories: The memories by compartment and name.
        tombstones: Until when a name of a compartment counts as forgotten.
        lock: Held by every verb.
    """

    memories: dict[tuple[str, ...], dict[str, StoredMemory]] = field(
        default_factory=dict
    )
    tombstones: dict[tuple[str, ...], dict[str, datetime]] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


class DictMemoryStore:
    """A `MemoryStore` that keeps every law and lives as long as its place.

    Example:
        >>> from langchain_memkit import ForgettingMemory
        >>> memory = ForgettingMemory(DictMemoryStore())
        >>> memory.remember("tone", "Answer briefly.")
        >>> len(memory)
        1
    """

    def __init__(
        self, place: Place | None = None, namespace: tuple[str, ...] = ()
    ) -> None:
        """Open a compartment of a place.

        Args:
            place: What it shares with others; `None` makes a new one.
            namespace: Labels of the compartment.
        """
        self.place = place or Place()
        self.namespace = namespace

    @property
    def memories(self) -> dict[str, StoredMemory]:
        """The memories of this compartment, by name."""
        return self.place.memories.setdefault(self.namespace, {})

    @property
    def tombstones(self) -> dict[str, datetime]:
        """The tombstones of this compartment, by name."""
        return self.place.tombstones.setdefault(self.namespace, {})

    def put(
        self,
        memories: Sequence[StoredMemory],
        *,
        now: datetime,
        only_new: bool = False,
    ) -> None:
        """Store memories.

        Args:
            memories: The memories, each name once.
            now: The time, to compare tombstones with.
            only_new: Whether names that are there or forgotten are left alone.
        """
        with self.place.lock:
            dead = {name for name, until in self.tombstones.items() if until > now}
            left_alone = {*self.memories, *dead} if only_new else set()
            merged = {
                memory.name: merge_memory(self.memories.get(memory.name), memory)
                for memory in memories
                if memory.name not in left_alone
            }
            for memory in merged.values():
                memory.content.encode("utf-8", "surrogatepass")
            self.memories.update(merged)
            for name in merged:
                self.tombstones.pop(name, None)

    def read(self, names: Sequence[str]) -> tuple[StoredMemory, ...]:
        """Look memories up without refreshing them.

        Args:
            names: Their names.

        Returns:
            Those that are there, in the order of `names`.
        """
        with self.place.lock:
            return tuple(self.memories[name] for name in names if name in self.memories)

    def touch(self, names: Sequence[str], *, now: datetime) -> tuple[StoredMemory, ...]:
        """Look memories up and refresh them.

        Args:
            names: Their names.
            now: The time of the access.

        Returns:
            Those that are there, refreshed, in the order of `names`.
        """
        with self.place.lock:
            for memory in self.read(names):
                self.memories[memory.name] = replace(
                    memory,
                    last_access_at=max(memory.last_access_at, now),
                    access_count=memory.access_count + 1,
                )
            return self.read(names)

    def remove(
        self, names: Sequence[str], *, now: datetime, until: datetime
    ) -> tuple[str, ...]:
        """Remove memories and leave tombstones.

        Args:
            names: Their names.
            now: The time of the removal.
            until: How long the tombstones last.

        Returns:
            The names that were there, in the order of `names`.
        """
        del now
        with self.place.lock:
            gone = tuple(name for name in names if name in self.memories)
            for name in gone:
                del self.memories[name]
                self.tombstones[name] = until
            return gone

    def scan(
        self,
        *,
        rule: DecayRule | None = None,
        resident: bool = False,
        content: bool = False,
    ) -> Iterator[StoredMemory]:
        """Go through the memories.

        Args:
            rule: Leaves out what has faded under it.
            resident: Leaves out what was evicted from a history.
            content: Whether contents are wanted; else they are empty.

        Yields:
            The memories, each once.
        """
        with self.place.lock:
            memories = list(self.memories.values())
        for memory in memories:
            is_left_out = rule is not None and has_faded(memory, rule=rule)
            if not is_left_out and not (resident and memory.evicted):
                yield memory if content else replace(memory, content="")

    def prune(
        self,
        rule: DecayRule,
        *,
        now: datetime,
        until: datetime,
        dry_run: bool = False,
    ) -> PruneResult:
        """Remove what has faded, and the tombstones that have ended.

        Args:
            rule: The decay policy at this moment.
            now: The time; tombstones that lasted until then are dropped.
            until: How long the tombstones of what is removed last.
            dry_run: Whether only to report.

        Returns:
            What was removed and what is left.
        """
        with self.place.lock:
            found = sorted(self.scan(), key=lambda memory: memory.name)
            faded = tuple(memory for memory in found if has_faded(memory, rule=rule))
            if not dry_run:
                for name in [n for n, end in self.tombstones.items() if end <= now]:
                    del self.tombstones[name]
                self.remove([memory.name for memory in faded], now=now, until=until)
            return PruneResult(faded, len(found) - len(faded))

    def search(
        self, query: str, *, k: int, rule: DecayRule
    ) -> tuple[tuple[StoredMemory, float], ...]:
        """Find memories by words.

        Args:
            query: Any text.
            k: Most results.
            rule: Leaves out what has faded under it.

        Returns:
            Memories with their contents and BM25 scores, best first.
        """
        live = {m.name: m for m in self.scan(rule=rule, content=True)}
        ranked = rank_texts({n: m.content for n, m in live.items()}, query)
        return tuple((live[name], score) for name, score in ranked[:k])

    def scoped(self, namespace: tuple[str, ...]) -> Self:
        """Open a compartment of this one.

        Args:
            namespace: Labels that lead to it.

        Returns:
            A store of the same place.
        """
        return type(self)(self.place, (*self.namespace, *namespace))

    def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """List the compartments below this one that hold anything.

        Returns:
            Namespaces as `scoped` takes them, sorted.
        """
        depth = len(self.namespace)
        with self.place.lock:
            return tuple(
                sorted(
                    namespace[depth:]
                    for namespace, memories in self.place.memories.items()
                    if memories and namespace[:depth] == self.namespace
                    if len(namespace) > depth
                )
            )

    def __len__(self) -> int:
        """Count the memories.

        Returns:
            How many there are, those included that have faded.
        """
        return len(self.memories)
