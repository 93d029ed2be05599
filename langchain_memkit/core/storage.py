"""The role of a store of memories, with its numbered laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from langchain_memkit.core.records import DecayRule, PruneResult, StoredMemory

__all__ = ["MemoryStore"]


class MemoryStore(Protocol):
    """Holds the memories of one compartment, and the marks of forgotten ones.

    Names arrive checked and in NFC, times aware. A *tombstone* is a name and a time
    until which the name counts as forgotten. `langchain_memkit.testing` checks every
    law on a store of yours.

    Laws:
        1. **Whole**: what `put` took comes back equal from `read`, `touch` and `scan`,
           each character of it, from this object and from any other on the same
           place, until it is replaced or removed.
        2. **Merge**: `put` over a name keeps the earliest creation, the latest access
           and the higher count, and replaces the rest; see `merge_memory`.
        3. **Touch**: `touch` adds 1 to the count and moves the last access forward,
           never back, in one step that other writers cannot part; nothing else does.
        4. **Prune**: `prune` removes exactly what has faded under its rule, never a
           pinned memory, and reports it sorted; with `dry_run` it changes nothing.
        5. **Tombstones**: what `remove` and `prune` took away leaves a tombstone;
           `put(only_new=True)` leaves alone any name that is there or has a tombstone
           that lasts beyond `now`; a plain `put` clears it.
        6. **Compartments**: nothing written in one compartment is seen in another, the
           one it was scoped from included; equal labels lead to the same place.
        7. **Search**: `search` finds memories that share a term with the query, best
           first, at most `k`; the query is text, never syntax.
        8. **Writers**: of two objects on the same place neither loses what the other
           wrote, and each sees it.
        9. **All or none**: a verb that raises has changed nothing.
    """

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

        Raises:
            StoreError: They could not be written.
        """

    def read(self, names: Sequence[str]) -> tuple[StoredMemory, ...]:
        """Look memories up without refreshing them.

        Args:
            names: Their names.

        Returns:
            Those that are there, in the order of `names`.

        Raises:
            StoreError: The store could not be read.
        """

    def touch(self, names: Sequence[str], *, now: datetime) -> tuple[StoredMemory, ...]:
        """Look memories up and refresh them.

        Args:
            names: Their names.
            now: The time of the access.

        Returns:
            Those that are there, refreshed, in the order of `names`.

        Raises:
            StoreError: The store could not be written.
        """

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

        Raises:
            StoreError: They could not be removed.
        """

    def scan(
        self,
        *,
        rule: DecayRule | None = None,
        resident: bool = False,
        content: bool = False,
    ) -> Iterator[StoredMemory]:
        """Go through the memories in an order of the store's own.

        Args:
            rule: Leaves out what has faded under it.
            resident: Leaves out what was evicted from a history.
            content: Whether contents are read; else they are empty.

        Returns:
            The memories, each once.

        Raises:
            StoreError: The store could not be read.
        """

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
            What was removed, what is left and what could not be removed.

        Raises:
            StoreError: The store could not be written.
        """

    def search(
        self, query: str, *, k: int, rule: DecayRule
    ) -> tuple[tuple[StoredMemory, float], ...]:
        """Find memories by words.

        Args:
            query: Any text.
            k: Most results.
            rule: Leaves out what has faded under it.

        Returns:
            Memories with their contents and scores, best first; higher is better.

        Raises:
            StoreError: The store could not be read.
        """

    def scoped(self, namespace: tuple[str, ...]) -> Self:
        """Open a compartment of this one.

        Args:
            namespace: Labels that lead to it; any text that is not empty.

        Returns:
            A store of the same kind.

        Raises:
            StoreError: It cannot be opened.
        """

    def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """List the compartments below this one that hold anything.

        Returns:
            Namespaces as `scoped` takes them, sorted; without this one itself.

        Raises:
            StoreError: The store could not be read.
        """

    def __len__(self) -> int:
        """Count the memories, those included that have faded and await `prune`.

        Returns:
            Memories of this compartment.

        Raises:
            StoreError: The store could not be read.
        """
