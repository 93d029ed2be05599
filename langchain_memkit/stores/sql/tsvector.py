"""PostgreSQL's index: a `tsvector` column of the row itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from langchain_memkit.stores.sql.rows import indexed_terms
from langchain_memkit.stores.sql.statements import COLUMNS, LIVE

if TYPE_CHECKING:
    from langchain_memkit.stores.sql.database import Database, Transaction
    from langchain_memkit.stores.sql.rows import Row

__all__ = ["TsvectorIndex"]

_MOST_TERMS = 256

_FIND = (
    f"SELECT {COLUMNS}, ts_rank(terms, wanted) AS score FROM memkit_memories, "
    "CAST(:match AS tsquery) AS wanted WHERE namespace = :namespace "
    f"AND terms @@ wanted AND {LIVE} ORDER BY score DESC, name LIMIT :k"
)


class TsvectorIndex:
    """Terms stand in the row, so they come and go with it."""

    column = ", terms"
    value = ", CAST(:terms AS tsvector)"
    update = ", terms = excluded.terms"

    def value_of(self, content: str) -> dict[str, object]:
        """Write a text as the terms of a `tsvector` and where they stand.

        Args:
            content: The text of a memory.

        Returns:
            The value of `terms`.
        """
        terms = indexed_terms(content)
        return {"terms": " ".join(f"{t}:{at}" for at, t in enumerate(terms, 1))}

    def add(
        self,
        transaction: Transaction,
        namespace: str,
        names: Sequence[str],
        *,
        only_new: bool,
    ) -> None:
        """Do nothing.

        Args:
            transaction: Not used.
            namespace: Not used.
            names: Not used.
            only_new: Not used.
        """

    def purge(
        self, transaction: Transaction, ids: Sequence[int], *, at_once: bool
    ) -> None:
        """Do nothing.

        Args:
            transaction: Not used.
            ids: Not used.
            at_once: Not used.
        """

    def find(
        self,
        database: Database,
        namespace: str,
        *,
        terms: Sequence[str],
        k: int,
        limits: Mapping[str, object],
    ) -> Sequence[Row]:
        """Find the live memories that share a term, by `ts_rank`.

        PostgreSQL parses a query term by term on its stack, so of more than 256 terms
        the longest are looked for.

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
        longest = sorted(terms, key=lambda term: (-len(term), term))[:_MOST_TERMS]
        match = " | ".join(longest)
        values = {"match": match, "namespace": namespace, "k": k, **limits}
        return database.rows(_FIND, values)
