"""The same verbs for async code: each runs in a thread, so no event loop waits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime

from langchain_core.documents import Document

from langchain_memkit.core.records import Source
from langchain_memkit.core.retention import RetentionReport
from langchain_memkit.memory.queries import RESIDENT_SOURCES, MemoryQueries
from langchain_memkit.memory.reports import ConsolidationReport, MemoryRecord
from langchain_memkit.protocols import ArchiveEntry

__all__ = ["AsyncMemory"]


class AsyncMemory(MemoryQueries):
    """`MemoryQueries` with a twin of every verb whose name starts with `a`."""

    async def aremember(  # noqa: PLR0913 - as its twin
        self,
        name: str,
        content: str,
        importance: float = 0.5,
        *,
        source: Source = "developer",
        pinned: bool = False,
        now: datetime | None = None,
    ) -> None:
        """Do what `remember` does, without blocking the event loop.

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
        await asyncio.to_thread(
            self.remember,
            name,
            content,
            importance,
            source=source,
            pinned=pinned,
            now=now,
        )

    async def aremember_many(
        self,
        items: Iterable[tuple[str, str, float]],
        *,
        source: Source = "developer",
        pinned: bool = False,
        now: datetime | None = None,
    ) -> None:
        """Do what `remember_many` does, without blocking the event loop.

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
        await asyncio.to_thread(
            self.remember_many, items, source=source, pinned=pinned, now=now
        )

    async def arecall(self, name: str, *, now: datetime | None = None) -> str:
        """Do what `recall` does, without blocking the event loop.

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
        return await asyncio.to_thread(self.recall, name, now=now)

    async def aforget(self, name: str) -> None:
        """Do what `forget` does, without blocking the event loop.

        Args:
            name: Its name.

        Raises:
            MemoryNotFoundError: There is no such memory.
            UnsafeNameError: The name is no safe file name.
            StoreError: It could not be removed.
        """
        await asyncio.to_thread(self.forget, name)

    async def aimportance(self, name: str) -> float | None:
        """Do what `importance` does, without blocking the event loop.

        Args:
            name: Its name.

        Returns:
            From 0 to 1; `None` where there is no such memory.

        Raises:
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read.
        """
        return await asyncio.to_thread(self.importance, name)

    async def adescribe(self, name: str) -> MemoryRecord:
        """Do what `describe` does, without blocking the event loop.

        Args:
            name: Its name.

        Returns:
            All but its text.

        Raises:
            MemoryNotFoundError: There is no such memory.
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read.
        """
        return await asyncio.to_thread(self.describe, name)

    async def ashould_forget(self, name: str, *, now: datetime | None = None) -> bool:
        """Do what `should_forget` does, without blocking the event loop.

        Args:
            name: Its name.
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            Whether the next consolidation would prune it; true of an unknown name.

        Raises:
            UnsafeNameError: The name is no safe file name.
            StoreError: The store could not be read.
        """
        return await asyncio.to_thread(self.should_forget, name, now=now)

    async def alive_at(self, now: datetime | None = None) -> list[str]:
        """Do what `live_at` does, without blocking the event loop.

        Args:
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            The names of what has not faded, sorted.

        Raises:
            StoreError: The store could not be read.
        """
        return await asyncio.to_thread(self.live_at, now)

    async def aconsolidate(
        self, *, now: datetime | None = None, dry_run: bool = False
    ) -> ConsolidationReport:
        """Do what `consolidate` does, without blocking the event loop.

        Args:
            now: The time; a datetime without a zone is taken as UTC.
            dry_run: Whether only to report.

        Returns:
            What was forgotten and why, and how many memories are left.

        Raises:
            StoreError: The store could not be written.
        """
        return await asyncio.to_thread(self.consolidate, now=now, dry_run=dry_run)

    async def aresident(
        self,
        budget_tokens: int,
        *,
        sources: Sequence[Source] = RESIDENT_SOURCES,
        evicted: bool = False,
        now: datetime | None = None,
    ) -> RetentionReport:
        """Do what `resident` does, without blocking the event loop.

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
        return await asyncio.to_thread(
            self.resident, budget_tokens, sources=sources, evicted=evicted, now=now
        )

    async def asearch(
        self, query: str, k: int = 4, *, now: datetime | None = None
    ) -> list[Document]:
        """Do what `search` does, without blocking the event loop.

        Args:
            query: Any text; one without letters and digits finds nothing.
            k: Most results; 0 finds nothing.
            now: The time; a datetime without a zone is taken as UTC.

        Returns:
            A document each, best first.

        Raises:
            InvalidInputError: The query is no text, or `k` is no whole number of at
                least 0.
            StoreError: The store could not be read.
        """
        return await asyncio.to_thread(self.search, query, k, now=now)

    async def aarchive(self, entries: Sequence[ArchiveEntry]) -> None:
        """Do what `archive` does, without blocking the event loop.

        Args:
            entries: The texts, each under its key.

        Raises:
            InvalidInputError: An entry breaks a rule; nothing was stored.
            StoreError: They could not be written.
        """
        await asyncio.to_thread(self.archive, entries)
