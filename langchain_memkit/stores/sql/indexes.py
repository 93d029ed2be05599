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

    def add(
        self,
        transaction: Transaction,
        namespace: str,
        names: Sequence[str],
        *,
        only_new: bool,
    ) -> None:
        """See to it that memories that were written will be found.

        Args:
            transaction: Where it happens.
            namespace: Their compartment.
            names: Their names.
            only_new: Whether those that are indexed are so already.
        """

    def purge(
        self, transaction: Transaction, ids: Sequence[int], *, at_once: bool
    ) -> None:
        """Forget what is indexed of memories that were deleted.

        Args:
            transaction: Where it happens.
            ids: Their row ids.
            at_once: Whether their terms have to be gone with this transaction.
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
