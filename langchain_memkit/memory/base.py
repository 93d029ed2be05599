"""Remembering, recalling and forgetting over any store."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Self, get_args

from langchain_core.documents import Document

from langchain_memkit.core.decay import (
    ForgetConfig,
    decay_rule,
    has_faded,
    reason_to_forget,
)
from langchain_memkit.core.models import check_choice, check_count, check_share
from langchain_memkit.core.records import DecayRule, Source, StoredMemory
from langchain_memkit.core.retention import RetentionReport
from langchain_memkit.core.times import as_utc
from langchain_memkit.exceptions import InvalidInputError, MemoryNotFoundError
from langchain_memkit.memory.documents import document_of
from langchain_memkit.memory.reports import (
    ConsolidationReport,
    MemoryRecord,
    record_of,
)
from langchain_memkit.memory.residents import pack_residents
from langchain_memkit.protocols import ArchiveEntry, Clock, MemoryStore
from langchain_memkit.stores.names import check_name, check_namespace, is_text

__all__ = ["RESIDENT_SOURCES", "MemoryBase"]

_SOURCES: tuple[str, ...] = get_args(Source)
RESIDENT_SOURCES: tuple[Source, ...] = ("user", "developer")
"""Whose memories go into each prompt unless a call says otherwise."""

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
        if config is not None and not _is_policy(config):
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
        check_choice("source", source, _SOURCES)
        memories: dict[str, StoredMemory] = {}
        for name, content, importance in items:
            memory = StoredMemory(
                name=check_name(name),
                content=_check_text("content", content),
                importance=check_share("importance", importance),
                source=source,
                pinned=bool(pinned),
                evicted=False,
                created_at=moment,
                last_access_at=moment,
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

    def importance(self, name: str) -> float | None:
        """Tell how important a memory is, without refreshing it.

        Args:
            name: Its name.

        Returns:
            From 0 to 1; `None` where there is no such memory.

        Raises:
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read.
        """
        found = self.store.read([check_name(name)])
        return found[0].importance if found else None

    def describe(self, name: str) -> MemoryRecord:
        """Tell what is known of a memory, without refreshing it.

        Args:
            name: Its name.

        Returns:
            All but its text.

        Raises:
            MemoryNotFoundError: There is no such memory.
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read.
        """
        found = self.store.read([check_name(name)])
        if not found:
            raise MemoryNotFoundError(name)
        return record_of(found[0])

    def should_forget(self, name: str, *, now: datetime | None = None) -> bool:
        """Decide whether a memory has faded, without refreshing or pruning it.

        Args:
            name: Its name.
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            Whether the next `consolidate` would prune it; true of an unknown name.

        Raises:
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read.
        """
        found = self.store.read([check_name(name)])
        return not found or has_faded(found[0], rule=self._rule(self._moment(now)))

    def live_at(self, now: datetime | None = None) -> list[str]:
        """List the memories that have not faded, without refreshing them.

        Args:
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            Their names, sorted.

        Raises:
            StoreError: The store could not be read.
        """
        rule = self._rule(self._moment(now))
        return sorted(memory.name for memory in self.store.scan(rule=rule))

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

    def resident(
        self,
        budget_tokens: int,
        *,
        sources: Sequence[Source] = RESIDENT_SOURCES,
        evicted: bool = False,
        now: datetime | None = None,
    ) -> RetentionReport:
        """Choose the live memories that go into each prompt, without refreshing them.

        They are ranked by `recoverability`: age since the last access times hit-rate.

        Args:
            budget_tokens: Tokens for keys and excerpts together.
            sources: Whose memories.
            evicted: Whether texts that left a history count too.
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            The memories as capsules, best first.

        Raises:
            InvalidInputError: The budget or a source breaks its rule.
            StoreError: The store could not be read.
        """
        check_count("budget_tokens", budget_tokens)
        for source in sources:
            check_choice("sources", source, _SOURCES)
        moment = self._moment(now)
        live = self.store.scan(rule=self._rule(moment), resident=not evicted)
        chosen = [memory for memory in live if memory.source in sources]
        return pack_residents(
            chosen, budget_tokens=budget_tokens, now=moment, read=self.store.read
        )

    def search(
        self, query: str, k: int = 4, *, now: datetime | None = None
    ) -> list[Document]:
        """Find live memories by words, without refreshing them.

        Args:
            query: Any text; one without letters and digits finds nothing.
            k: Most results; 0 finds nothing.
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            A document each, best first; the id is the name, and the metadata holds
            what `describe` tells, and the score.

        Raises:
            InvalidInputError: The query is no text, or `k` is no whole number of at
                least 0.
            StoreError: The store could not be read.
        """
        _check_text("query", query)
        check_count("k", k)
        rule = self._rule(self._moment(now))
        found = self.store.search(query, k=k, rule=rule) if k else ()
        return [document_of(memory, score) for memory, score in found]

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
            memory = StoredMemory(
                name=check_name(entry.key, parameter="key"),
                content=_check_text("content", entry.content),
                importance=check_share("importance", entry.importance),
                source=_check_source(entry.source),
                pinned=False,
                evicted=True,
                created_at=moment,
                last_access_at=moment,
            )
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
        checked = {memory.name: memory for memory in map(_checked, memories)}
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


def _is_policy(value: object) -> bool:
    return isinstance(value, ForgetConfig)


def _check_text(parameter: str, value: str) -> str:
    if not is_text(value):
        raise InvalidInputError(parameter, "must be text", value)
    return value


def _check_source(source: Source) -> Source:
    check_choice("source", source, _SOURCES)
    return source


def _checked(memory: StoredMemory) -> StoredMemory:
    return replace(
        memory,
        name=check_name(memory.name),
        content=_check_text("content", memory.content),
        importance=check_share("importance", memory.importance),
        source=_check_source(memory.source),
        created_at=as_utc(memory.created_at, parameter="created_at"),
        last_access_at=as_utc(memory.last_access_at, parameter="last_access_at"),
        access_count=check_count("access_count", memory.access_count),
    )
