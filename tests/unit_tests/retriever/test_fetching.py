"""Fetching by key: what was packed comes back whole, or an error says why not."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableLambda
from langchain_core.stores import InMemoryStore

from langchain_memkit import (
    CapsuleRetriever,
    EvidenceChangedError,
    EvidenceNotFoundError,
    RecentDocstore,
    report_of,
)
from langchain_memkit.core.keys import content_sha256

NOTE = "Tides turn twice a day.\nKites need wind."


def made(documents, **settings):
    return CapsuleRetriever(
        base_retriever=RunnableLambda(lambda query: documents), **settings
    )


def packed_key(retriever, query="wind"):
    return report_of(retriever.invoke(query)).capsules[0].retrieval_key


def test_a_key_fetches_the_full_document():
    """The whole text and the metadata come back, as a copy."""
    note = Document(NOTE, id="a", metadata={"pages": [1]})
    retriever = made([note], budget_tokens=16)
    fetched = retriever.fetch(packed_key(retriever))
    assert fetched == note
    fetched.metadata["pages"].append(2)
    assert note.metadata == {"pages": [1]}


def test_fetching_works_async():
    """`afetch` returns what `fetch` returns."""
    retriever = made([Document(NOTE)])
    key = packed_key(retriever)
    assert asyncio.run(retriever.afetch(key)) == retriever.fetch(key)


@pytest.mark.parametrize("key", ["", "unknown", "é\x00", "0" * 10_000])
def test_an_unknown_key_is_named(key):
    """A key that resolves to nothing raises, with the key as data."""
    with pytest.raises(EvidenceNotFoundError) as caught:
        made([]).fetch(key)
    assert caught.value.key == key


def test_a_document_that_changed_is_not_passed_off():
    """A text edited in place since it was packed raises."""
    note = Document(NOTE)
    retriever = made([note])
    key = packed_key(retriever)
    note.page_content = "Kites need rain."
    with pytest.raises(EvidenceChangedError) as caught:
        retriever.fetch(key)
    assert caught.value.expected_sha256 == content_sha256(NOTE)


def test_another_process_sees_a_change_too():
    """A key says itself what its text was, where the docstore is shared."""
    store = InMemoryStore()
    key = packed_key(made([Document(NOTE)], docstore=store))
    assert made([], docstore=store).fetch(key).page_content == NOTE
    store.mset([(key, Document("Kites need rain."))])
    with pytest.raises(EvidenceChangedError):
        made([], docstore=store).fetch(key)


def test_a_stale_entry_does_not_hold_its_key():
    """What no longer is the text of a key makes room for it."""
    note = Document(NOTE)
    retriever = made([note])
    key = packed_key(retriever)
    note.page_content = "Other."
    assert packed_key(made([Document(NOTE)], docstore=retriever.docstore)) == key


def test_ids_are_keys_in_recoverability_mode():
    """There the id is the key, where it is present and unique."""
    notes = [
        Document(f"Note {n}.", id=i) for n, i in enumerate(["a", "b", "b", None, " "])
    ]
    retriever = made(notes, strategy="prefix", ranking="recoverability")
    report = report_of(retriever.invoke("note"))
    keys = [c.retrieval_key for c in report.capsules]
    assert keys[0] == "a"
    assert all(content_sha256(f"Note {n}.").startswith(keys[n]) for n in (1, 2, 3, 4))
    assert [retriever.fetch(key) for key in keys] == notes


def test_an_id_is_not_reassigned_to_other_content():
    """An id under which another text stands already is no key of the new text."""
    settings = {"strategy": "prefix", "ranking": "recoverability"}
    first = made([Document("One.", id="a")], **settings)
    first.invoke("x")
    second = made([Document("Two.", id="a")], docstore=first.docstore, **settings)
    assert packed_key(second) == content_sha256("Two.")[:8]
    assert second.fetch("a").page_content == "One."


def test_the_default_docstore_is_bounded():
    """Beyond its bound it lets go of what was used longest ago."""
    store = RecentDocstore(max_documents=1)
    retriever = made([Document(NOTE)], docstore=store)
    key = packed_key(retriever)
    packed_key(made([Document("Kites.")], docstore=store), "kites")
    with pytest.raises(EvidenceNotFoundError):
        retriever.fetch(key)


def test_an_agent_reads_a_long_text_in_parts():
    """The tool returns a part and tells where to go on."""
    retriever = made([Document(NOTE)])
    tool = retriever.as_fetch_tool()
    key = packed_key(retriever)
    first = tool.invoke({"key": key, "length": 23})
    assert first.splitlines()[0] == "Tides turn twice a day."
    assert "read on at offset 23" in first
    assert asyncio.run(tool.ainvoke({"key": key, "offset": 24})) == "Kites need wind."


@pytest.mark.parametrize("is_async", [False, True])
def test_an_agent_is_told_of_an_unknown_key(is_async):
    """The tool answers with the error instead of ending the run."""
    tool = made([]).as_fetch_tool(name="read_source")
    call = ToolCall(name="read_source", args={"key": "nope"}, id="1", type="tool_call")
    answer = asyncio.run(tool.ainvoke(call)) if is_async else tool.invoke(call)
    assert (answer.status, "nope" in answer.content) == ("error", True)
