"""The full-text index of each engine, fed with terms that we cut ourselves.

A term is letters and digits only, so every engine takes it as it is, and no text is
ever read as query syntax.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from langchain_memkit.stores.sql.fts5 import Fts5Index
from langchain_memkit.stores.sql.tsvector import TsvectorIndex

if TYPE_CHECKING:
    from langchain_memkit.stores.sql.database import Database, Transaction
    from langchain_memkit.stores.sql.rows import Row

__all__ = ["INDEXES", "TextIndex"]


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

    def find(
        self,
        database: Database,
        namespace: str,
        *,
        terms: Sequence[str],
        k: int,
        limits: Mapping[str, object],
    ) -> Sequence[Row]:
        """Find the live memories that share a term.

        Args:
            database: Where to look.
            namespace: The compartment.
            terms: What `search_terms` gave, each once; at least one.
            k: Most rows, at least 1.
            limits: What `limits_of` gave.

        Returns:
            The columns of a memory and a score each, best first.

        Raises:
            StoreError: The database could not be read.
        """


INDEXES: Mapping[str, TextIndex] = {
    "sqlite": Fts5Index(),
    "postgresql": TsvectorIndex(),
}
"""The index by dialect."""
