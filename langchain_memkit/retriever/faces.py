"""`CapsuleRetriever` and `CapsuleCompressor`: packing as LangChain users meet it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
    Callbacks,
)
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.utils import (
    ConfigurableFieldSpec,
    get_unique_config_specs,
)
from pydantic import field_validator
from typing_extensions import override

from langchain_memkit.core.models import check_count
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.retriever.packed import Packed
from langchain_memkit.retriever.reports import attach_capsules, capsule_documents
from langchain_memkit.retriever.seen import seen_text
from langchain_memkit.retriever.settings import CapsuleSettings, PositiveSetting

__all__ = ["CapsuleCompressor", "CapsuleRetriever"]

Output = Literal["attach", "capsules"]


class CapsuleRetriever(CapsuleSettings, BaseRetriever):
    """A retriever that packs what another one finds as short verbatim capsules.

    With `output="attach"` the documents are those of the base retriever, in its order,
    as copies: `metadata["capsule"]` holds the capsule of a document that was packed,
    `metadata["capsule_report"]` the totals and what became of it. With
    `output="capsules"` each capsule is one short document, best first.

    See `CapsuleSettings` for the settings of packing.

    Attributes:
        base_retriever: Finds the documents; any `Runnable` from a query to documents.
        output: `attach` or `capsules`.
        k: Most documents to ask the base for and to examine; `None` leaves it to the
            base. `invoke(query, k=…)` goes before it.

    Example:
        >>> from langchain_core.documents import Document
        >>> from langchain_core.runnables import RunnableLambda
        >>> note = Document("Tides turn. Kites need wind to rise from the ground.")
        >>> retriever = CapsuleRetriever(
        ...     base_retriever=RunnableLambda(lambda query: [note]), budget_tokens=100
        ... )
        >>> [document] = retriever.invoke("wind")
        >>> document.metadata["capsule"]["retrieval_key"]
        '3d46b46d'
    """

    base_retriever: Any
    output: Output = "attach"
    k: PositiveSetting | None = None

    @field_validator("base_retriever")
    @classmethod
    def _check_base(cls, value: object) -> object:
        if not isinstance(value, Runnable):
            raise InvalidInputError(
                "base_retriever", "must be a retriever, a Runnable", value
            )
        return value

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return get_unique_config_specs(
            [*super().config_specs, *self.base_retriever.config_specs]
        )

    @override
    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        return super().invoke(input, config, **kwargs, base_config=_handed_on(config))

    @override
    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        return await super().ainvoke(
            input, config, **kwargs, base_config=_handed_on(config)
        )

    @override
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        base_config: RunnableConfig | None = None,
        skip_seen: Sequence[BaseMessage] = (),
        **kwargs: Any,
    ) -> list[Document]:
        found = self.base_retriever.invoke(
            query,
            {**(base_config or {}), "callbacks": run_manager.get_child()},
            **self._base_arguments(_checked(kwargs)),
        )
        documents = self._examined(found, kwargs)
        packed = self._pack(documents, query, seen=seen_text(skip_seen))
        return _shown(documents, packed, output=self.output)

    @override
    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        base_config: RunnableConfig | None = None,
        skip_seen: Sequence[BaseMessage] = (),
        **kwargs: Any,
    ) -> list[Document]:
        found = await self.base_retriever.ainvoke(
            query,
            {**(base_config or {}), "callbacks": run_manager.get_child()},
            **self._base_arguments(_checked(kwargs)),
        )
        documents = self._examined(found, kwargs)
        packed = await self._apack(documents, query, seen=seen_text(skip_seen))
        return _shown(documents, packed, output=self.output)

    def _base_arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        if self.k is None or "k" in given or not _takes_k(self.base_retriever):
            return given
        return {**given, "k": self.k}

    def _examined(
        self, found: Sequence[Document], given: dict[str, Any]
    ) -> list[Document]:
        return list(found)[: given.get("k", self.k)]


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    if given.get("k") is not None:
        check_count("k", given["k"])
    return given


class CapsuleCompressor(CapsuleSettings, BaseDocumentCompressor):
    """A document compressor that packs documents as short verbatim capsules.

    It serves in `ContextualCompressionRetriever` and `DocumentCompressorPipeline`. See
    `CapsuleSettings` for the settings of packing.

    Attributes:
        output: `capsules` returns one short document a capsule, best first; `attach`
            returns copies of all documents with their capsules in the metadata.

    Example:
        >>> from langchain_core.documents import Document
        >>> compressor = CapsuleCompressor(budget_tokens=16)
        >>> notes = [Document("Tides turn twice a day."), Document("Kites need wind.")]
        >>> compressor.compress_documents(notes, "wind")[0].page_content
        'Kites need wind.'
    """

    output: Output = "capsules"

    @override
    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
        *,
        skip_seen: Sequence[BaseMessage] = (),
    ) -> Sequence[Document]:
        packed = self._pack(documents, query, seen=seen_text(skip_seen))
        return _shown(documents, packed, output=self.output)

    @override
    async def acompress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
        *,
        skip_seen: Sequence[BaseMessage] = (),
    ) -> Sequence[Document]:
        packed = await self._apack(documents, query, seen=seen_text(skip_seen))
        return _shown(documents, packed, output=self.output)


def _handed_on(config: RunnableConfig | None) -> RunnableConfig:
    """Take what a child must be told beside the callbacks, which carry the rest."""
    configurable = ensure_config(config).get("configurable")
    return {"configurable": configurable} if configurable else {}


def _takes_k(base: Runnable[Any, Any]) -> bool:
    if not isinstance(base, BaseRetriever):
        return False
    parameters = inspect.signature(base._get_relevant_documents).parameters  # noqa: SLF001 - LangChain itself decides by this signature what to pass
    kinds = {parameter.kind for parameter in parameters.values()}
    return "k" in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def _shown(
    documents: Sequence[Document], packed: Packed, *, output: Output
) -> list[Document]:
    if output == "capsules":
        return capsule_documents(documents, packed)
    return attach_capsules(documents, packed)
