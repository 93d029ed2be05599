"""Remembering, recalling and forgetting over any store."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Self

from langchain_memkit.core.decay import (
    ForgetConfig,
    decay_rule,
    reason_to_forget,
)
from langchain_memkit.core.records import DecayRule, Source, StoredMemory
from langchain_memkit.core.times import as_utc
from langchain_memkit.exceptions import InvalidInputError, MemoryNotFoundError
from langchain_memkit.memory.checks import (
    check_item,
    checked_memory,
    evicted_memory,
    is_policy,
    new_memory,
)
from langchain_memkit.memory.reports import (
    ConsolidationReport,
)
from langchain_memkit.protocols import ArchiveEntry, Clock, MemoryStore
from langchain_memkit.stores.names import check_name, check_namespace

__all__ = ["MemoryBase"]

_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemoryBase:
    """The verbs of a memory; see `ForgettingMemory`."""

    def __init__(
        self,
        store: MemoryStore,
        config: ForgetConfig | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        """Use a store.

        Args:
            store: Where memories are held.
            config: How long they last; `None` means `ForgetConfig()`.
            clock: Tells the time where a call is given none; `None` means the
                system's clock.

        Raises:
            InvalidInputError: The policy is no `ForgetConfig`.
        """
        if config is not None and not is_policy(config):
            raise InvalidInputError("config", "must be a ForgetConfig", config)
        self.store = store
        self.config = config or ForgetConfig()
        self.clock: Clock = clock or _utc_now

    def __repr__(self) -> str:
        """Show the store and the policy."""
        return f"{type(self).__name__}({self.store!r}, {self.config!r})"

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Share the store and the clock: a copy is the same memory."""
        return copy.copy(self)

    def __len__(self) -> int:
        """Count the memories, those included that `consolidate` has yet to prune.

        Returns:
            How many there are.

        Raises:
            StoreError: The store could not be read.
        """
        return len(self.store)

    def __bool__(self) -> bool:
        """Be true, also when empty."""
        return True

    def remember(  # noqa: PLR0913 - each is a field of the memory
        self,
        name: str,
        content: str,
        importance: float = 0.5,
        *,
        source: Source = "developer",
        pinned: bool = False,
        now: datetime | None = None,
    ) -> None:
        """Store a memory, or replace the one of that name and refresh it.

        What was there keeps its creation time and its access count. A name that was
        forgotten may be remembered again.

        Args:
            name: Its name; compared in NFC.
            content: Its text, kept character by character.
            importance: From 0 to 1.
            source: Who wrote it.
            pinned: Whether it never fades.
            now: The time; a datetime without a zone is taken as UTC.

        Raises:
            InvalidInputError: An argument breaks its rule; nothing was stored.
            UnsafeNameError: The name is no safe file name.
            StoreError: It could not be written.
        """
        item = (name, content, importance)
        self.remember_many([item], source=source, pinned=pinned, now=now)

    def remember_many(
        self,
        items: Iterable[tuple[str, str, float]],
        *,
        source: Source = "developer",
        pinned: bool = False,
        now: datetime | None = None,
    ) -> None:
        """Store many memories at once, all of them or none.

        Args:
            items: Name, content and importance of each; of equal names the last counts.
            source: Who wrote them.
            pinned: Whether they never fade.
            now: The time; a datetime without a zone is taken as UTC.

        Raises:
            InvalidInputError: An argument breaks its rule; nothing was stored.
            UnsafeNameError: A name is no safe file name.
            StoreError: They could not be written.
        """
        moment = self._moment(now)
        memories: dict[str, StoredMemory] = {}
        for name, content, importance in map(check_item, items):
            memory = new_memory(
                name, content, importance, source=source, pinned=pinned, now=moment
            )
            memories[memory.name] = memory
        if memories:
            self.store.put(tuple(memories.values()), now=moment)

    def recall(self, name: str, *, now: datetime | None = None) -> str:
        """Return the text of a memory and refresh it.

        A memory that has faded can be recalled until `consolidate` prunes it.

        Args:
            name: Its name.
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            The text as it was remembered.

        Raises:
            MemoryNotFoundError: There is no such memory.
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read or written.
        """
        found = self.store.touch([check_name(name)], now=self._moment(now))
        if not found:
            raise MemoryNotFoundError(name)
        return found[0].content

    def forget(self, name: str) -> None:
        """Remove a memory for good; only `remember` brings the name back.

        Args:
            name: Its name.

        Raises:
            MemoryNotFoundError: There is no such memory.
            UnsafeNameError: The name is no safe file name.
            StoreError: It could not be removed.
        """
        moment = self._moment(None)
        until = self._until(moment)
        if not self.store.remove([check_name(name)], now=moment, until=until):
            raise MemoryNotFoundError(name)

    def consolidate(
        self, *, now: datetime | None = None, dry_run: bool = False
    ) -> ConsolidationReport:
        """Forget what has faded; meant to run once a user turn, or from a timer.

        Running it again at the same time changes nothing. What is pruned leaves a
        tombstone for one `ttl`, so that archiving it again does not bring it back.

        Args:
            now: The time; a datetime without a zone is taken as UTC.
            dry_run: Whether only to report.

        Returns:
            What was forgotten and why, and how many memories are left.

        Raises:
            StoreError: The store could not be written.
        """
        moment = self._moment(now)
        rule = self._rule(moment)
        result = self.store.prune(
            rule, now=moment, until=self._until(moment), dry_run=dry_run
        )
        faded = (*result.pruned, *result.failed)
        return ConsolidationReport(
            pruned=tuple(memory.name for memory in result.pruned),
            kept=result.kept,
            failed=tuple(memory.name for memory in result.failed),
            dry_run=dry_run,
            reasons={m.name: str(reason_to_forget(m, rule=rule)) for m in faded},
        )

    def archive(self, entries: Sequence[ArchiveEntry]) -> None:
        """Take texts that leave a history, all of them or none.

        A key that is known, or was forgotten lately, is left as it is.

        Args:
            entries: The texts, each under its key.

        Raises:
            InvalidInputError: An entry breaks a rule; nothing was stored.
            StoreError: They could not be written.
        """
        moment = self._moment(None)
        memories: dict[str, StoredMemory] = {}
        for entry in entries:
            memory = evicted_memory(entry, now=moment)
            memories.setdefault(memory.name, memory)
        if memories:
            self.store.put(tuple(memories.values()), now=moment, only_new=True)

    def scoped(self, namespace: tuple[str, ...]) -> Self:
        """Open another compartment of the same store; nothing crosses.

        Args:
            namespace: Labels that lead to it, such as `("user", "42")`.

        Returns:
            A memory with the same policy and clock.

        Raises:
            InvalidInputError: The namespace is no tuple of labels.
            StoreError: It cannot be opened.
        """
        return self._over(self.store.scoped(check_namespace(namespace)))

    def compartments(self) -> Iterable[Self]:
        """Go through this memory and every compartment below it.

        Yields:
            A memory each, this one first.

        Raises:
            StoreError: The store could not be read.
        """
        yield self
        for namespace in self.store.namespaces():
            yield self.scoped(namespace)

    def put_memories(
        self, memories: Sequence[StoredMemory], *, now: datetime | None = None
    ) -> None:
        """Store memories with their own times and counts, as an import does.

        Args:
            memories: The memories; see `merge_memory` for what is there already.
            now: The time; a datetime without a zone is taken as UTC.

        Raises:
            InvalidInputError: A field breaks its rule; nothing was stored.
            UnsafeNameError: A name is no safe file name.
            StoreError: They could not be written.
        """
        checked = {memory.name: memory for memory in map(checked_memory, memories)}
        if checked:
            self.store.put(tuple(checked.values()), now=self._moment(now))

    def _over(self, store: MemoryStore) -> Self:
        other = copy.copy(self)
        other.store = store
        return other

    def _moment(self, now: datetime | None) -> datetime:
        if now is not None:
            return as_utc(now)
        return as_utc(self.clock(), parameter="clock")

    def _rule(self, moment: datetime) -> DecayRule:
        return decay_rule(self.config, now=moment)

    def _until(self, moment: datetime) -> datetime:
        try:
            return moment + self.config.ttl
        except OverflowError:
            return _LAST_MOMENT
