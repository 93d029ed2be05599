"""Memories in SQLite or PostgreSQL, for any number of them and of processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Self, cast

from langchain_memkit.core.records import DecayRule, PruneResult, StoredMemory
from langchain_memkit.core.times import to_microseconds
from langchain_memkit.core.wording import search_terms
from langchain_memkit.exceptions import InvalidInputError, MissingExtraError
from langchain_memkit.stores.names import check_namespace, is_text
from langchain_memkit.stores.sql import statements as sql
from langchain_memkit.stores.sql.indexes import INDEXES, TextIndex
from langchain_memkit.stores.sql.rows import (
    Row,
    labels_of,
    limits_of,
    memories_of,
    memory_of,
    path_of,
    sorted_by_name,
    values_of,
)

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import URL

    from langchain_memkit.stores.sql.database import Database, Transaction

__all__ = ["SQLMemoryStore"]

_PAGE = 2000
_MOST_ROWS = 2**31 - 1


class SQLMemoryStore:
    """Keeps memories as rows of a SQLite file or a PostgreSQL database.

    Tables are made on opening. A recall is one atomic `UPDATE`, so that no count is
    lost between processes; decay is one statement on an index. SQLite runs with a
    write-ahead log: what was written survives a kill of the process at once, and a
    power cut from the next checkpoint on. Removed text is overwritten in the file.

    An engine that is passed in is used as it is. After a fork, make a new store.

    Example:
        >>> from langchain_memkit import ForgettingMemory, SQLMemoryStore
        >>> memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
        >>> memory.remember("tone", "Answer briefly.")
        >>> memory.recall("tone")
        'Answer briefly.'
    """

    def __init__(
        self, url_or_engine: str | URL | Engine, namespace: str = "default"
    ) -> None:
        """Open a database, and make its tables where they are missing.

        Args:
            url_or_engine: `sqlite:///file.db`, `postgresql://…`, or an engine.
            namespace: The compartment, compared exactly.

        Raises:
            InvalidInputError: The address cannot be read, its dialect is not known, or
                the namespace is empty.
            MissingExtraError: SQLAlchemy or the driver is not installed.
            StoreError: The database cannot be opened.
            StoreVersionError: Its tables were made by a newer release.
        """
        if not is_text(namespace) or not namespace:
            raise InvalidInputError("namespace", "must be a text, not empty", namespace)
        try:
            from langchain_memkit.stores.sql.database import (  # noqa: PLC0415 - optional
                open_database,
            )
        except ImportError as error:
            raise MissingExtraError("sql", "sqlalchemy") from error
        self._database: Database = open_database(url_or_engine)
        self._index: TextIndex = INDEXES[self._database.dialect]
        self._namespace = path_of((namespace,))

    def __repr__(self) -> str:
        """Show the address, without its password."""
        return f"SQLMemoryStore({self._database.label!r})"

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Share the database: a copy of a store is the same place."""
        return self

    def close(self) -> None:
        """Close the connections that are not in use; the next call opens new ones."""
        self._database.engine.dispose()

    def put(
        self,
        memories: Sequence[StoredMemory],
        *,
        now: datetime,
        only_new: bool = False,
    ) -> None:
        """Store memories in one transaction.

        Args:
            memories: The memories, each name once.
            now: The time, to compare tombstones with.
            only_new: Whether names that are there or forgotten are left alone.

        Raises:
            StoreError: They could not be written.
        """
        now_us = to_microseconds(now)
        rows = [
            self._bind(
                now_us=now_us,
                **values_of(memory),
                **self._index.value_of(memory.content),
            )
            for memory in sorted_by_name(memories)
        ]
        names = [memory.name for memory in memories]
        statement = (sql.INSERT_NEW if only_new else sql.UPSERT).format(
            extra_column=self._index.column,
            extra_value=self._index.value,
            extra_update=self._index.update,
        )

        def work(transaction: Transaction) -> None:
            if not only_new:
                transaction.run(sql.UNBURY, self._bind(names=names))
            transaction.run_many(statement, rows)
            self._index.add(transaction, self._namespace, names, only_new=only_new)

        if rows:
            self._database.write(work)

    def read(self, names: Sequence[str]) -> tuple[StoredMemory, ...]:
        """Look memories up without refreshing them.

        Args:
            names: Their names.

        Returns:
            Those that are there, in the order of `names`.

        Raises:
            StoreError: The database could not be read.
        """
        rows = self._database.rows(sql.READ, self._bind(names=list(names)))
        found = {memory.name: memory for memory in map(memory_of, rows)}
        return tuple(found[name] for name in names if name in found)

    def touch(self, names: Sequence[str], *, now: datetime) -> tuple[StoredMemory, ...]:
        """Look memories up and refresh them, each by one atomic `UPDATE`.

        Args:
            names: Their names.
            now: The time of the access.

        Returns:
            Those that are there, refreshed, in the order of `names`.

        Raises:
            StoreError: The database could not be written.
        """
        now_us = to_microseconds(now)
        if len(names) == 1:
            rows = self._database.rows(
                sql.TOUCH, self._bind(name=names[0], now_us=now_us)
            )
            return tuple(map(memory_of, rows))

        def work(transaction: Transaction) -> dict[str, StoredMemory]:
            values = (self._bind(name=n, now_us=now_us) for n in sorted(set(names)))
            rows = (row for v in values for row in transaction.rows(sql.TOUCH, v))
            return {memory.name: memory for memory in map(memory_of, rows)}

        found = self._database.write(work) if names else {}
        return tuple(found[name] for name in names if name in found)

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
        del now

        def work(transaction: Transaction) -> set[str]:
            rows = transaction.rows(sql.DELETE, self._bind(names=list(names)))
            buried = self._bury(transaction, rows, until, at_once=True)
            return {memory.name for memory in buried}

        gone = self._database.write(work)
        if gone:
            self._database.tidy()
        return tuple(name for name in names if name in gone)

    def scan(
        self,
        *,
        rule: DecayRule | None = None,
        resident: bool = False,
        content: bool = False,
    ) -> Iterator[StoredMemory]:
        """Go through the memories by name, a page at a time.

        Args:
            rule: Leaves out what has faded under it.
            resident: Leaves out what was evicted from a history.
            content: Whether contents are read; else they are empty.

        Yields:
            The memories, each once.

        Raises:
            StoreError: The database could not be read.
        """
        statement = sql.SCAN.format(
            columns=sql.COLUMNS if content else sql.RECORD_COLUMNS,
            resident=" AND evicted = 0" if resident else "",
            live=f" AND {sql.LIVE}" if rule else "",
        )
        limits = limits_of(rule) if rule else {}
        after = ""
        while True:
            values = self._bind(after=after, page=_PAGE, **limits)
            rows = self._database.rows(statement, values)
            yield from map(memory_of, rows)
            if len(rows) < _PAGE:
                return
            after = str(rows[-1][0])

    def prune(
        self,
        rule: DecayRule,
        *,
        now: datetime,
        until: datetime,
        dry_run: bool = False,
    ) -> PruneResult:
        """Remove what has faded by one statement, and ended tombstones by another.

        Args:
            rule: The decay policy at this moment.
            now: The time; tombstones that lasted until then are dropped.
            until: How long the tombstones of what is removed last.
            dry_run: Whether only to report.

        Returns:
            What was removed and what is left; nothing ever fails alone.

        Raises:
            StoreError: The database could not be written.
        """
        limits = self._bind(
            limit_us=max(rule.ttl_limit_us, rule.weak_limit_us), **limits_of(rule)
        )
        if dry_run:
            faded = memories_of(self._database.rows(sql.FIND_FADED, limits))
            return PruneResult(faded, len(self) - len(faded))

        def work(transaction: Transaction) -> PruneResult:
            rows = transaction.rows(sql.PRUNE, limits)
            gone = self._bury(transaction, rows, until, at_once=False)
            ended = self._bind(now_us=to_microseconds(now))
            transaction.run(sql.DROP_ENDED, ended)
            count = transaction.rows(sql.COUNT, self._bind())
            return PruneResult(gone, cast("int", count[0][0]))

        return self._database.write(work)

    def search(
        self, query: str, *, k: int, rule: DecayRule
    ) -> tuple[tuple[StoredMemory, float], ...]:
        """Find memories by words through the engine's full-text index.

        Args:
            query: Any text.
            k: Most results.
            rule: Leaves out what has faded under it.

        Returns:
            Memories with their contents and scores, best first.

        Raises:
            StoreError: The database could not be read.
        """
        terms = sorted(set(search_terms(query)))
        if not terms or not k:
            return ()
        rows = self._index.find(
            self._database,
            self._namespace,
            terms=terms,
            k=min(k, _MOST_ROWS),
            limits=limits_of(rule),
        )
        return tuple((memory_of(row), cast("float", row[-1])) for row in rows)

    def scoped(self, namespace: tuple[str, ...]) -> Self:
        """Open a compartment of the same database.

        Args:
            namespace: Labels that lead to it.

        Returns:
            A store on the same engine.

        Raises:
            InvalidInputError: The namespace is no tuple of labels.
        """
        check_namespace(namespace)
        scope = object.__new__(type(self))
        scope._database = self._database
        scope._index = self._index
        scope._namespace = f"{self._namespace}/{path_of(namespace)}"
        return scope

    def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """List the compartments below this one that hold anything.

        Returns:
            Namespaces as `scoped` takes them, sorted.

        Raises:
            StoreError: The database could not be read.
        """
        prefix = f"{self._namespace}/"
        values = {"prefix": prefix, "length": len(prefix)}
        rows = self._database.rows(sql.NAMESPACES, values)
        return tuple(sorted(labels_of(str(row[0])[len(prefix) :]) for row in rows))

    def __len__(self) -> int:
        """Count the memories.

        Returns:
            Rows of this compartment, those included that have faded.

        Raises:
            StoreError: The database could not be read.
        """
        return cast("int", self._database.rows(sql.COUNT, self._bind())[0][0])

    def _bind(self, **values: object) -> dict[str, object]:
        return {"namespace": self._namespace, **values}

    def _bury(
        self,
        transaction: Transaction,
        rows: Sequence[Row],
        until: datetime,
        *,
        at_once: bool,
    ) -> tuple[StoredMemory, ...]:
        """Unindex deleted rows and leave their tombstones."""
        ids = [cast("int", row[-1]) for row in rows]
        self._index.purge(transaction, ids, at_once=at_once)
        gone = memories_of(rows)
        until_us = to_microseconds(until)
        tombstones = [self._bind(name=m.name, until_us=until_us) for m in gone]
        transaction.run_many(sql.BURY, tombstones)
        return gone
