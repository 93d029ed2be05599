"""The full-text index of each engine, fed with terms that we cut ourselves.

A term is indexed as ASCII letters and digits, so that every engine splits it alike
and no text is ever read as query syntax.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from langchain_memkit.core.wording import search_terms
from langchain_memkit.stores.sql.statements import COLUMNS, LIVE

if TYPE_CHECKING:
    from langchain_memkit.stores.sql.database import Transaction

__all__ = ["INDEXES", "TextIndex", "index_terms"]

_LONGEST_TERMS = 400_000


def index_terms(text: str) -> list[str]:
    r"""Cut a text into terms of ASCII letters and digits.

    Args:
        text: Any text.

    Returns:
        A term for each of `search_terms`, different for different ones.

    Example:
        >>> index_terms("Red caf\u00e9")
        ['tred', 'u636166c3a9']
    """
    return [
        f"t{term}" if term.isascii() else f"u{term.encode().hex()}"
        for term in search_terms(text)
    ]


class TextIndex(Protocol):
    """How an engine keeps and asks its index."""

    column: str
    value: str
    update: str

    def value_of(self, content: str) -> dict[str, object]:
        """Bind what `value` names.

        Args:
            content: The text of a memory.

        Returns:
            Values by name.
        """

    def drop(
        self, transaction: Transaction, namespace: str, names: Sequence[str]
    ) -> None:
        """Forget what is indexed of memories that are about to be replaced.

        Args:
            transaction: Where it happens.
            namespace: Their compartment.
            names: Their names.
        """

    def add(
        self, transaction: Transaction, namespace: str, contents: Mapping[str, str]
    ) -> None:
        """Index memories that were written, where they are not indexed yet.

        Args:
            transaction: Where it happens.
            namespace: Their compartment.
            contents: Their texts by name.
        """

    def purge(self, transaction: Transaction, ids: Sequence[int]) -> None:
        """Forget what is indexed of memories that were deleted.

        Args:
            transaction: Where it happens.
            ids: Their row ids.
        """

    def find(self, namespace: str, terms: Sequence[str]) -> tuple[str, dict[str, str]]:
        """Build the query for the live memories that share a term.

        Args:
            namespace: The compartment.
            terms: What `index_terms` gave; at least one.

        Returns:
            A statement with the columns of a memory and a score, and what to bind.
        """


class _SqliteIndex:
    column = value = update = ""

    def value_of(self, content: str) -> dict[str, object]:
        del content
        return {}

    def drop(
        self, transaction: Transaction, namespace: str, names: Sequence[str]
    ) -> None:
        transaction.run(
            "DELETE FROM memkit_search WHERE rowid IN (SELECT id FROM memkit_memories "
            "WHERE namespace = :namespace AND name IN :names)",
            {"namespace": namespace, "names": names},
        )

    def add(
        self, transaction: Transaction, namespace: str, contents: Mapping[str, str]
    ) -> None:
        scope = _scope(namespace)
        transaction.run_many(
            "INSERT INTO memkit_search (rowid, scope, terms) SELECT id, :scope, :terms "
            "FROM memkit_memories WHERE namespace = :namespace AND name = :name "
            "AND NOT EXISTS (SELECT 1 FROM memkit_search WHERE rowid = id)",
            [
                {
                    "scope": scope,
                    "terms": _joined(content),
                    "namespace": namespace,
                    "name": name,
                }
                for name, content in contents.items()
            ],
        )

    def purge(self, transaction: Transaction, ids: Sequence[int]) -> None:
        transaction.run_many(
            "DELETE FROM memkit_search WHERE rowid = :id", [{"id": id_} for id_ in ids]
        )

    def find(self, namespace: str, terms: Sequence[str]) -> tuple[str, dict[str, str]]:
        wanted = " OR ".join(f'"{term}"' for term in terms)
        match = f"scope : {_scope(namespace)} AND terms : ({wanted})"
        statement = (
            f"SELECT {COLUMNS}, score FROM memkit_memories JOIN (SELECT m.id AS hit, "
            "-bm25(memkit_search, 0.0, 1.0) AS score FROM memkit_search "
            "JOIN memkit_memories AS m ON m.id = memkit_search.rowid "
            "WHERE memkit_search MATCH :match AND m.namespace = :namespace "
            f"AND {LIVE} ORDER BY score DESC, m.name LIMIT :k) ON hit = id "
            "ORDER BY score DESC, name"
        )
        return statement, {"match": match}


class _PostgresIndex:
    column = ", terms"
    value = ", to_tsvector('simple', :terms)"
    update = ", terms = excluded.terms"

    def value_of(self, content: str) -> dict[str, object]:
        return {"terms": _joined(content)}

    def drop(
        self, transaction: Transaction, namespace: str, names: Sequence[str]
    ) -> None:
        """Do nothing: the index is a column of the row."""

    def add(
        self, transaction: Transaction, namespace: str, contents: Mapping[str, str]
    ) -> None:
        """Do nothing: the index is a column of the row."""

    def purge(self, transaction: Transaction, ids: Sequence[int]) -> None:
        """Do nothing: the index is a column of the row."""

    def find(self, namespace: str, terms: Sequence[str]) -> tuple[str, dict[str, str]]:
        del namespace
        statement = (
            f"SELECT {COLUMNS}, ts_rank(terms, wanted) AS score FROM memkit_memories, "
            "to_tsquery('simple', :match) AS wanted WHERE namespace = :namespace "
            f"AND terms @@ wanted AND {LIVE} ORDER BY score DESC, name LIMIT :k"
        )
        return statement, {"match": " | ".join(terms)}


INDEXES: Mapping[str, TextIndex] = {
    "sqlite": _SqliteIndex(),
    "postgresql": _PostgresIndex(),
}
"""The index by dialect."""


def _scope(namespace: str) -> str:
    return f"n{sha256(namespace.encode()).hexdigest()[:16]}"


def _joined(content: str) -> str:
    terms = " ".join(index_terms(content))
    if len(terms) <= _LONGEST_TERMS:
        return terms
    return terms[:_LONGEST_TERMS].rpartition(" ")[0]
