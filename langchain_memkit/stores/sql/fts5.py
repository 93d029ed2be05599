"""SQLite's index: an FTS5 table beside the memories, kept by the same transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from langchain_memkit.core.escaping import unescape_text
from langchain_memkit.stores.sql.rows import indexed_terms
from langchain_memkit.stores.sql.statements import COLUMNS, LIVE

if TYPE_CHECKING:
    from langchain_memkit.stores.sql.database import Database, Transaction
    from langchain_memkit.stores.sql.rows import Row

__all__ = ["Fts5Index"]

_RANKED_TEXTS = 5_000
_CHUNK = 1000

_QUEUE = (
    "INSERT OR IGNORE INTO memkit_pending (id) SELECT id FROM memkit_memories "
    "WHERE namespace = :namespace AND name IN :names"
)
_QUEUE_NEW = f"{_QUEUE} AND NOT EXISTS (SELECT 1 FROM memkit_search WHERE rowid = id)"
_QUEUE_GONE = "INSERT OR IGNORE INTO memkit_pending (id) VALUES (:id)"
_PENDING = "SELECT 1 FROM memkit_pending LIMIT 1"
_NEXT = (
    "SELECT p.id, m.namespace, m.content FROM memkit_pending AS p "
    f"LEFT JOIN memkit_memories AS m ON m.id = p.id LIMIT {_CHUNK}"
)
_PURGE = "DELETE FROM memkit_search WHERE rowid = :id"
_INSERT = "INSERT INTO memkit_search (rowid, scope, terms) VALUES (:id, :scope, :terms)"
_SETTLED = "DELETE FROM memkit_pending WHERE id = :id"
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
    rarest first until they stand in 5,000 texts; what shares only the rest, words that
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

    def add(
        self,
        transaction: Transaction,
        namespace: str,
        names: Sequence[str],
        *,
        only_new: bool,
    ) -> None:
        """Queue memories that were written; the next search indexes them.

        Args:
            transaction: Where it happens.
            namespace: Their compartment.
            names: Their names.
            only_new: Whether those that are indexed are so already.
        """
        statement = _QUEUE_NEW if only_new else _QUEUE
        transaction.run(statement, {"namespace": namespace, "names": list(names)})

    def purge(
        self, transaction: Transaction, ids: Sequence[int], *, at_once: bool
    ) -> None:
        """Forget what is indexed of deleted memories, or queue that too.

        Args:
            transaction: Where it happens.
            ids: Their row ids.
            at_once: Whether their terms have to be gone with this transaction.
        """
        rows = [{"id": number} for number in ids]
        for statement in (_PURGE, _SETTLED) if at_once else (_QUEUE_GONE,):
            transaction.run_many(statement, rows)

    def settle(self, database: Database) -> None:
        """Index what is queued, a part at a time so that writers get between.

        Args:
            database: Where to work.

        Raises:
            StoreError: The database could not be written.
        """
        while database.rows(_PENDING, {}):
            database.write(_index_next)

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
        self.settle(database)
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


def _index_next(transaction: Transaction) -> None:
    queued = transaction.rows(_NEXT, {})
    settled = [{"id": row[0]} for row in queued]
    terms = [
        {
            "id": row[0],
            "scope": _scope(str(row[1])),
            "terms": " ".join(indexed_terms(unescape_text(str(row[2])))),
        }
        for row in queued
        if row[1] is not None
    ]
    transaction.run_many(_PURGE, settled)
    transaction.run_many(_INSERT, terms)
    transaction.run_many(_SETTLED, settled)


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
