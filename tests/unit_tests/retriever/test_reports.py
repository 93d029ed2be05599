"""Reports inside documents."""

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from langchain_memkit import (
    CapsuleRetriever,
    InvalidInputError,
    RetentionReport,
    format_capsules,
    report_of,
)

NOTES = [Document("Tides turn."), Document("Kites need wind.", id="kites")]


@pytest.mark.parametrize("output", ["attach", "capsules"])
def test_a_report_reads_back(output):
    """Capsules, totals and outcomes are those of the call, also after JSON."""
    base = RunnableLambda(lambda query: NOTES)
    found = CapsuleRetriever(base_retriever=base, output=output).invoke("wind")
    copies = [Document.model_validate_json(d.model_dump_json()) for d in found]
    report = report_of(copies)
    assert report == report_of(found)
    assert report.capsules[0].id == "kites"
    assert [told.outcome for told in report.outcomes] == ["packed", "packed"]
    assert report.candidates_examined == 2


def test_no_documents_give_an_empty_report():
    """Without documents nothing was examined."""
    empty = RetentionReport(budget_tokens=0, retained_tokens=0)
    assert report_of([]) == report_of([Document("plain")]) == empty


def test_the_order_of_documents_does_not_matter():
    """A report tells the same after the documents were shuffled."""
    base = RunnableLambda(lambda query: NOTES)
    found = CapsuleRetriever(base_retriever=base).invoke("wind")
    assert report_of(found[::-1]) == report_of(found)


def test_a_forged_capsule_is_refused():
    """What is no capsule is named instead of being rendered."""
    forged = Document("x", metadata={"capsule": {"id": "a"}})
    with pytest.raises(InvalidInputError):
        format_capsules([forged])


@pytest.mark.parametrize("entry", [{}, {"rank": "first"}, "text", None])
def test_a_forged_report_is_refused(entry):
    """What is no report is named instead of being counted."""
    with pytest.raises(InvalidInputError):
        report_of([Document("x", metadata={"capsule_report": entry})])


@pytest.mark.parametrize("entry", [{"rank": "first"}, "text", None])
def test_rendering_needs_no_report(entry):
    """A capsule renders whatever stands beside it."""
    base = RunnableLambda(lambda query: NOTES)
    [found, _] = CapsuleRetriever(base_retriever=base).invoke("wind")
    found.metadata["capsule_report"] = entry
    assert "Tides turn." in format_capsules([found])


def test_a_field_of_the_users_own_is_no_capsule():
    """Metadata that only share the name are passed over, and replaced when packed."""
    note = Document("Kites need wind.", metadata={"capsule": "red"})
    assert format_capsules([note]) == ""
    base = RunnableLambda(lambda query: [note])
    [found] = CapsuleRetriever(base_retriever=base, budget_tokens=0).invoke("wind")
    assert "capsule" not in found.metadata
