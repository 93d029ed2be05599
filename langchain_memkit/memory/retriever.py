"""Search over a memory as a LangChain retriever."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from langchain_memkit.memory.twins import AsyncMemory

__all__ = ["MemoryRetriever"]


class MemoryRetriever(BaseRetriever):
    """Finds live memories by words; made by `ForgettingMemory.as_retriever`.

    Attributes:
        memory: Where it looks.
        k: Most documents, unless a call asks for another number.
    """

    memory: AsyncMemory
    k: int = 4

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **kwargs: Any,  # noqa: ANN401 - the parent's contract
    ) -> list[Document]:
        del run_manager
        return self.memory.search(query, kwargs.get("k", self.k))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,  # noqa: ANN401 - the parent's contract
    ) -> list[Document]:
        del run_manager
        return await self.memory.asearch(query, kwargs.get("k", self.k))
