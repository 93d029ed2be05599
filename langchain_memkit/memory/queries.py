"""Asking a memory without refreshing it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langchain_core.documents import Document

from langchain_memkit.core.decay import has_faded
from langchain_memkit.core.models import check_choice, check_count
from langchain_memkit.core.records import Source
from langchain_memkit.core.retention import RetentionReport
from langchain_memkit.exceptions import MemoryNotFoundError
from langchain_memkit.memory.base import MemoryBase
from langchain_memkit.memory.checks import SOURCES, check_text
from langchain_memkit.memory.documents import document_of
from langchain_memkit.memory.reports import MemoryRecord, record_of
from langchain_memkit.memory.residents import pack_residents
from langchain_memkit.stores.names import check_name

__all__ = ["RESIDENT_SOURCES", "MemoryQueries"]

RESIDENT_SOURCES: tuple[Source, ...] = ("user", "developer")
"""Whose memories go into each prompt unless a call says otherwise."""


class MemoryQueries(MemoryBase):
    """`MemoryBase` with the verbs that only look."""

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
            check_choice("sources", source, SOURCES)
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
        check_text("query", query)
        check_count("k", k)
        rule = self._rule(self._moment(now))
        found = self.store.search(query, k=k, rule=rule) if k else ()
        return [document_of(memory, score) for memory, score in found]
