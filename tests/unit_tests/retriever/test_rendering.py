"""What the model reads."""

from html import unescape
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_memkit import (
    EvidenceCapsule,
    InvalidInputError,
    RetentionReport,
    format_capsules,
)
from langchain_memkit.retriever.rendering import escape_text, render_block


def capsule(key, excerpt, position=0):
    return EvidenceCapsule(
        id=key,
        retrieval_key=key,
        excerpt=excerpt,
        tokens=9,
        recoverability=0.5,
        position=position,
    )


def report(*capsules):
    return RetentionReport(budget_tokens=99, retained_tokens=9, capsules=capsules)


@given(st.text())
def test_escaping_is_reversible(text):
    """`html.unescape` gives the text back."""
    assert unescape(escape_text(text)) == text


@given(st.text(alphabet="<>/&\"'evidnc="), st.text(alphabet="<>/&\"'evidnc= "))
def test_nothing_breaks_out_of_a_block(key, text):
    """A block parses as one element with its key and its text, whatever they are."""
    element = ET.fromstring(render_block(key, text))
    assert (element.tag, element.get("key"), element.text or "") == (
        "evidence",
        key,
        text,
    )


def test_rank_and_source_order():
    """`rank` is the order of the report, `source` that of the base retriever."""
    both = report(capsule("b", "second", 1), capsule("a", "first", 0))
    assert format_capsules(both).index("second") < format_capsules(both).index("first")
    by_source = format_capsules(both, order="source")
    assert by_source.index("first") < by_source.index("second")


def test_an_unknown_order_is_refused():
    """There are two orders."""
    with pytest.raises(InvalidInputError, match="order"):
        format_capsules([], order="random")


def test_documents_without_capsules_are_passed_over():
    """What carries no capsule renders nothing."""
    assert format_capsules([Document("plain")]) == ""


def test_a_key_is_rendered_once():
    """Two documents that carry the same capsule give one block."""
    carried = {"capsule": capsule("a", "once").model_dump(mode="json")}
    twice = [Document("once", metadata=carried), Document("once", metadata=carried)]
    assert format_capsules(twice).count("<evidence") == 1
    assert format_capsules([capsule("a", "once")]) == format_capsules(twice)
