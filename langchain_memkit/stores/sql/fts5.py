"""SQLite's index: an FTS5 table beside the memories, kept by the same transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from langchain_memkit.stores.sql.rows import indexed_terms
from langchain_memkit.stores.sql.statements import COLUMNS, LIVE

if TYPE_CHECKING:
    from langchain_memkit.stores.sql.database import Database, Transaction
    from langchain_memkit.stores.sql.rows import Row

__all__ = ["Fts5Index"]

_RANKED_TEXTS = 10_000

_DROP = (
    "DELETE FROM memkit_search WHERE rowid IN (SELECT id FROM memkit_memories "
    "WHERE namespace = :namespace AND name IN :names)"
)
_ADD = (
    "INSERT INTO memkit_search (rowid, scope, terms) SELECT id, :scope, :terms "
    "FROM memkit_memories WHERE namespace = :namespace AND name = :name "
    "AND NOT EXISTS (SELECT 1 FROM memkit_search WHERE rowid = id)"
)
_PURGE = "DELETE FROM memkit_search WHERE rowid = :id"
_SPREAD = "SELECT term, doc FROM memkit_vocabulary WHERE term IN :names"
_FIND = (
    f"SELECT {COLUMNS}, score FROM memkit_memories JOIN (SELECT m.id AS hit, "
    "{score} AS score FROM memkit_search "
    "JOIN memkit_memories AS m ON m.id = memkit_search.rowid "
    "WHERE memkit_search MATCH :match AND m.namespace = :namespace "
    f"AND {LIVE} ORDER BY {{order}} LIMIT :k) ON hit = id "
    "ORDER BY score DESC, name"
)
_BEST = _FIND.format(score="-bm25(memkit_search, 0.0, 1.0)", order="score DESC, m.name")
_NEWEST = _FIND.format(score="0.0", order="memkit_search.rowid DESC")


class Fts5Index:
    """Terms stand in a table of their own, under the row id of their memory.

    Ranking costs a microsecond for each text that holds a term. So terms are taken
    rarest first until they stand in 10,000 texts; what shares only the rest, words that
    are nearly everywhere, comes after, newest first.
    """

    column = value = update = ""

    def value_of(self, content: str) -> dict[str, object]:
        """Bind nothing: the row itself holds no terms.

        Args:
            content: The text of a memory.

        Returns:
            Nothing.
        """
        del content
        return {}

    def drop(
        self, transaction: Transaction, namespace: str, names: Sequence[str]
    ) -> None:
        """Forget what is indexed of memories that are about to be replaced.

        Args:
            transaction: Where it happens.
            namespace: Their compartment.
            names: Their names.
        """
        transaction.run(_DROP, {"namespace": namespace, "names": names})

    def add(
        self, transaction: Transaction, namespace: str, contents: Mapping[str, str]
    ) -> None:
        """Index memories that were written, where they are not indexed yet.

        Args:
            transaction: Where it happens.
            namespace: Their compartment.
            contents: Their texts by name.
        """
        scope = _scope(namespace)
        rows = [
            {
                "scope": scope,
                "terms": " ".join(indexed_terms(content)),
                "namespace": namespace,
                "name": name,
            }
            for name, content in contents.items()
        ]
        transaction.run_many(_ADD, rows)

    def purge(self, transaction: Transaction, ids: Sequence[int]) -> None:
        """Forget what is indexed of memories that were deleted.

        Args:
            transaction: Where it happens.
            ids: Their row ids.
        """
        transaction.run_many(_PURGE, [{"id": id_} for id_ in ids])

    def find(
        self,
        database: Database,
        namespace: str,
        *,
        terms: Sequence[str],
        k: int,
        limits: Mapping[str, object],
    ) -> Sequence[Row]:
        """Find the live memories that share a term, by BM25.

        Args:
            database: Where to look.
            namespace: The compartment.
            terms: The terms of the query.
            k: Most rows.
            limits: The decay rule.

        Returns:
            The columns of a memory and a score each, best first.

        Raises:
            StoreError: The database could not be read.
        """
        spread = {
            str(r[0]): int(str(r[1])) for r in database.rows(_SPREAD, {"names": terms})
        }
        rare, common = _part(spread)
        if not rare:
            return []
        scope = f"scope : {_scope(namespace)}"
        values = {"namespace": namespace, **limits}
        match = f"{scope} AND terms : ({_any(rare)})"
        found = list(database.rows(_BEST, {**values, "match": match, "k": k}))
        if common and len(found) < k:
            match = f"({scope} AND terms : ({_any(common)})) NOT terms : ({_any(rare)})"
            values |= {"match": match, "k": k - len(found)}
            found += database.rows(_NEWEST, values)
        return found


def _part(spread: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Part terms into those that are ranked by and those that are everywhere."""
    ordered = sorted(spread, key=lambda term: (spread[term], term))
    texts = 0
    for at, term in enumerate(ordered):
        texts += spread[term]
        if at and texts > _RANKED_TEXTS:
            return ordered[:at], ordered[at:]
    return ordered, []


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _scope(namespace: str) -> str:
    return f"n{sha256(namespace.encode()).hexdigest()[:16]}"
