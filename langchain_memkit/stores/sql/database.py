"""Opening a database, running statements on it, and wrapping what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine, TextClause, create_engine, event, text
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from langchain_memkit.exceptions import (
    InvalidInputError,
    MemkitError,
    MissingExtraError,
    StoreError,
    StoreVersionError,
)
from langchain_memkit.stores.sql.rows import Row
from langchain_memkit.stores.sql.schema import MIGRATIONS, READ_VERSION, WRITE_VERSION

__all__ = ["Database", "Transaction", "open_database"]

_T = TypeVar("_T")
_ATTEMPTS = 8
_CONFLICTS = frozenset({"40001", "40P01"})
_BUSY_MILLISECONDS = 30_000
_TIDY_MILLISECONDS = 100
_MEMORY_DATABASES = frozenset({None, "", ":memory:"})


_NAMES = " IN :names"
_LISTS = {
    "sqlite": " IN (SELECT value FROM json_each(:names))",
    "postgresql": " = ANY(:names)",
}


@lru_cache(maxsize=256)
def _prepare(statement: str, dialect: str) -> TextClause:
    return text(statement.replace(_NAMES, _LISTS[dialect]))


def _bound(values: Mapping[str, object], dialect: str) -> Mapping[str, object]:
    if dialect == "sqlite" and "names" in values:
        return {**values, "names": json.dumps(values["names"])}
    return values


class Database:
    """An engine whose tables are there.

    Attributes:
        dialect: `sqlite` or `postgresql`.
        label: The address without its password.
    """

    def __init__(self, engine: Engine) -> None:
        """Bring the tables to the version of this release.

        Args:
            engine: The engine.

        Raises:
            InvalidInputError: Its dialect is neither SQLite's nor PostgreSQL's.
            StoreError: The database cannot be opened.
            StoreVersionError: Its tables were made by a newer release.
        """
        self.dialect = engine.dialect.name
        self.label = engine.url.render_as_string(hide_password=True)
        if self.dialect not in MIGRATIONS or engine.dialect.is_async:
            rule = (
                "must speak SQLite's or PostgreSQL's dialect, by a synchronous driver"
            )
            raise InvalidInputError("url_or_engine", rule, self.label)
        self.engine = engine
        self._autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._migrate()

    def rows(self, statement: str, values: Mapping[str, object]) -> Sequence[Row]:
        """Run one statement by itself.

        Args:
            statement: A statement that gives rows.
            values: What to bind.

        Returns:
            The rows.

        Raises:
            StoreError: It could not be run.
        """
        with self._wrapped(), self._autocommit.connect() as connection:
            return Transaction(connection).rows(statement, values)

    def write(self, work: Callable[[Transaction], _T]) -> _T:
        """Run statements as one transaction, again where another writer got between.

        Args:
            work: Runs the statements; may be called more than once.

        Returns:
            What `work` returned.

        Raises:
            StoreError: It could not be done; nothing has changed.
        """
        with self._wrapped():
            for _ in range(_ATTEMPTS - 1):
                try:
                    return self._write(work)
                except DBAPIError as error:
                    if getattr(error.orig, "sqlstate", None) not in _CONFLICTS:
                        raise
            return self._write(work)

    def tidy(self) -> None:
        """Drop removed text from SQLite's write-ahead log, where nobody reads it.

        Where somebody does, the next checkpoint drops it; nobody waits long for that.

        Raises:
            StoreError: The database could not be written.
        """
        if self.dialect != "sqlite":
            return
        with self._wrapped(), self._autocommit.connect() as connection:
            run = connection.exec_driver_sql
            patience = run("PRAGMA busy_timeout").scalar_one()
            run(f"PRAGMA busy_timeout = {_TIDY_MILLISECONDS}")
            try:
                run("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                run(f"PRAGMA busy_timeout = {patience}")

    def _write(self, work: Callable[[Transaction], _T]) -> _T:
        if self.dialect != "sqlite":
            with self.engine.begin() as connection:
                return work(Transaction(connection))
        with self._autocommit.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                result = work(Transaction(connection))
            except BaseException:
                with suppress(DBAPIError):  # SQLite itself rolls back some failures
                    connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")
            return result

    def _migrate(self) -> None:
        known = len(MIGRATIONS[self.dialect])
        if self._version() == known:
            return
        try:
            self.write(self._upgrade)
        except StoreError:
            # Another process may have made the same tables at the same time.
            if self._version() != known:
                raise

    def _version(self) -> int:
        """Read the version; 0 where there are no tables."""
        try:
            rows = self.rows(READ_VERSION, {})
        except StoreError as error:
            if _is_missing_table(error):
                return 0
            raise
        version = int(str(rows[0][0])) if rows else 0
        known = len(MIGRATIONS[self.dialect])
        if version > known:
            reason = f"its tables have version {version}; this release knows {known}"
            raise StoreVersionError(self.label, reason)
        return version

    def _upgrade(self, transaction: Transaction) -> None:
        steps = MIGRATIONS[self.dialect]
        transaction.run(WRITE_VERSION[0])
        rows = transaction.rows(READ_VERSION, {})
        done = int(str(rows[0][0])) if rows else 0
        for step in steps[done:]:
            for statement in step:
                transaction.run(statement)
        for statement in WRITE_VERSION[1:]:
            transaction.run(statement, {"version": len(steps)})

    @contextmanager
    def _wrapped(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StoreError(self.label, str(error.orig).strip()) from error
        except SQLAlchemyError as error:
            raise StoreError(self.label, str(error)) from error


class Transaction:
    """Statements that take effect together."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection on which a transaction has begun.

        Args:
            connection: The connection.
        """
        self._connection = connection
        self._dialect = connection.dialect.name

    def rows(self, statement: str, values: Mapping[str, object]) -> Sequence[Row]:
        """Run a statement that gives rows.

        Args:
            statement: The statement.
            values: What to bind.

        Returns:
            The rows.
        """
        clause = _prepare(statement, self._dialect)
        return self._connection.execute(
            clause, _bound(values, self._dialect)
        ).fetchall()

    def run(self, statement: str, values: Mapping[str, object] | None = None) -> None:
        """Run a statement that gives none.

        Args:
            statement: The statement.
            values: What to bind.
        """
        clause = _prepare(statement, self._dialect)
        self._connection.execute(clause, _bound(values or {}, self._dialect))

    def run_many(self, statement: str, values: Sequence[Mapping[str, object]]) -> None:
        """Run a statement once for each set of values.

        Args:
            statement: The statement.
            values: What to bind each time; none does nothing.
        """
        if values and self._dialect == "sqlite":
            # Its driver reads `:name` itself, so nothing need be done to each row.
            self._connection.exec_driver_sql(statement, list(values))
        elif values:
            self._connection.execute(_prepare(statement, self._dialect), list(values))


def open_database(url_or_engine: str | URL | Engine) -> Database:
    """Open a database by its address, or use an engine.

    Args:
        url_or_engine: `sqlite:///file.db`, `postgresql+psycopg://…`, or an engine.

    Returns:
        The database.

    Raises:
        InvalidInputError: The address cannot be read, or its dialect is not known.
        MissingExtraError: The driver is not installed.
        StoreError: The database cannot be opened.
        StoreVersionError: Its tables were made by a newer release.
    """
    if isinstance(url_or_engine, Engine):
        return Database(url_or_engine)
    try:
        url = make_url(url_or_engine)
    except ArgumentError as error:
        rule = "must be an address such as sqlite:///file.db, or a synchronous engine"
        kind = type(url_or_engine).__name__
        raise InvalidInputError("url_or_engine", rule, kind) from error
    engine = _make_engine(url)
    try:
        return Database(engine)
    except MemkitError:
        engine.dispose()
        raise


def _make_engine(url: URL) -> Engine:
    label = url.render_as_string(hide_password=True)
    if url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in MIGRATIONS:
        rule = "must speak the dialect of SQLite or PostgreSQL"
        raise InvalidInputError("url_or_engine", rule, label)
    try:
        if url.get_backend_name() == "sqlite":
            return _make_sqlite_engine(url, label)
        return create_engine(url, pool_pre_ping=True, hide_parameters=True)
    except NoSuchModuleError as error:
        rule = "must name a driver that is known"
        raise InvalidInputError("url_or_engine", rule, label) from error
    except ImportError as error:
        raise MissingExtraError("postgres", error.name or url.drivername) from error


def _make_sqlite_engine(url: URL, label: str) -> Engine:
    options: dict[str, object] = {}
    if url.database in _MEMORY_DATABASES:
        # One connection, handed from thread to thread, is the database.
        options = {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0}
        options["connect_args"] = {"check_same_thread": False}
    elif not str(url.database).startswith("file:"):
        try:
            Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(label, str(error)) from error
    engine = create_engine(url, hide_parameters=True, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: object, _record: object) -> None:
    run = connection.execute  # type: ignore[attr-defined]  # a driver's connection
    run(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = NORMAL")
    run("PRAGMA secure_delete = ON")


def _is_missing_table(error: StoreError) -> bool:
    cause = error.__cause__
    driver_error = cause.orig if isinstance(cause, DBAPIError) else None
    state = getattr(driver_error, "sqlstate", None)
    return state == "42P01" or "no such table" in str(driver_error)
