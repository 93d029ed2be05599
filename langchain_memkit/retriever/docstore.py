"""The default docstore: the documents packed last, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_memkit.core.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.documents import Document

__all__ = ["RecentDocstore"]


class RecentDocstore:
    """A bounded `Docstore` in memory that lets go of what was used longest ago.

    Example:
        >>> from langchain_core.documents import Document
        >>> store = RecentDocstore(max_documents=1)
        >>> store.mset([("a", Document("Tides.")), ("b", Document("Kites."))])
        >>> store.mget(["a", "b"])
        [None, Document(metadata={}, page_content='Kites.')]
    """

    def __init__(self, *, max_documents: int = 10_000) -> None:
        """Make an empty store.

        Args:
            max_documents: How many documents it keeps, at least 1.

        Raises:
            InvalidInputError: The number is not at least 1.
        """
        self._recent: Recent[Document] = Recent(max_documents)

    def mget(self, keys: Sequence[str]) -> list[Document | None]:
        """Look documents up.

        Args:
            keys: Retrieval keys.

        Returns:
            One document or `None` for each key.
        """
        return self._recent.get(keys)

    async def amget(self, keys: Sequence[str]) -> list[Document | None]:
        """Do what `mget` does.

        Args:
            keys: Retrieval keys.

        Returns:
            One document or `None` for each key.
        """
        return self.mget(keys)

    def mset(self, key_value_pairs: Sequence[tuple[str, Document]]) -> None:
        """Keep documents, and let go of the oldest beyond the bound.

        Args:
            key_value_pairs: Retrieval keys and their documents.
        """
        self._recent.put(key_value_pairs)

    async def amset(self, key_value_pairs: Sequence[tuple[str, Document]]) -> None:
        """Do what `mset` does.

        Args:
            key_value_pairs: Retrieval keys and their documents.
        """
        self.mset(key_value_pairs)
