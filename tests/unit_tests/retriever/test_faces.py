"""The faces: what a LangChain user calls."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langchain_memkit import CapsuleCompressor, CapsuleRetriever, format_capsules

NOTES = [
    Document("Tides turn twice a day.\nThe moon pulls them.", id="tides"),
    Document("Kites need wind.\nA tail keeps them steady.", id="kites"),
]


class Shelf(BaseRetriever):
    """Returns what it was made with."""

    documents: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.documents


def made(**settings):
    return CapsuleRetriever(base_retriever=Shelf(documents=NOTES), **settings)


def test_attach_keeps_documents_and_order():
    """The base's documents come back in their order, each with its capsule."""
    found = made().invoke("wind")
    assert [d.page_content for d in found] == [d.page_content for d in NOTES]
    assert [d.metadata["capsule"]["id"] for d in found] == ["tides", "kites"]


def test_budget_holds_for_the_rendering():
    """What `format_capsules` renders fits the budget, whatever it is."""
    for budget in range(80):
        rendered = format_capsules(made(budget_tokens=budget).invoke("wind tail"))
        assert -(-len(rendered) // 4) <= budget


def test_fetch_returns_the_full_document():
    """A capsule's key fetches the whole text."""
    retriever = made(budget_tokens=16)
    [capsule] = [
        d.metadata["capsule"]
        for d in retriever.invoke("tail")
        if "capsule" in d.metadata
    ]
    assert retriever.fetch(capsule["retrieval_key"]) == NOTES[1]


def test_async_gives_the_same():
    """`ainvoke` returns what `invoke` returns."""
    assert asyncio.run(made().ainvoke("wind")) == made().invoke("wind")


def test_compressor_returns_short_documents():
    """A compressor returns one document a capsule."""
    [packed] = CapsuleCompressor(budget_tokens=16).compress_documents(NOTES, "tail")
    assert packed.page_content == "A tail keeps them steady."


def test_settings_are_checked():
    """A setting that breaks its rule is named."""
    with pytest.raises(ValueError, match="budget_tokens"):
        made(budget_tokens=-1)
