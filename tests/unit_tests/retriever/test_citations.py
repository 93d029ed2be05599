"""Whether what an answer quotes stands in the evidence."""

import pytest
from langchain_core.documents import Document

from langchain_memkit import (
    CapsuleCompressor,
    EvidenceCapsule,
    EvidenceNotFoundError,
    verify_citations,
)

KEY, OTHER = "1f2e3d4c", "5b6a7988"


def capsule(key, excerpt):
    return EvidenceCapsule(
        id=key, retrieval_key=key, excerpt=excerpt, tokens=9, recoverability=0.2
    )


CAPSULES = [
    capsule(KEY, "Kites need a steady wind … and a tail."),
    capsule(OTHER, "Tides\nturn twice a day."),
]


def faults(text, **options):
    report = verify_citations(text, CAPSULES, **options)
    return [citation.fault for citation in report.citations]


@pytest.mark.parametrize(
    "text",
    [
        f'They "need a steady wind" [{KEY}].',
        f"They “need a steady wind” ({KEY}).",
        f'They «turn twice a day» (key="{OTHER}").',
        f'As it says, "Tides turn twice" [{OTHER}].',
        f'It says "Kites … a tail." and "a tail" [{KEY}].',
        f'<evidence key="{KEY}">',
        "Nothing is cited here, see [1] and (2030).",
    ],
)
def test_what_stands_in_the_evidence_holds(text):
    """Quotes of a capsule and known keys are faithful, in any common form."""
    assert verify_citations(text, CAPSULES).is_faithful


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'They "need rain" [{KEY}].', ["not_found", ""]),
        ("It is so [00000000].", ["unknown_key"]),
        ("It is so (key: gone).", ["unknown_key"]),
        (f'They "need a steady wind" [{OTHER}].', ["other_capsule", ""]),
        ('"a tail … Kites"', ["not_found"]),
        ('"need a steady wind" [00000000]', ["", "unknown_key"]),
    ],
)
def test_what_does_not_stand_there_is_a_fault(text, expected):
    """Each fault is named at its citation."""
    assert faults(text) == expected


def test_a_key_far_from_a_quote_does_not_bind_it():
    """Only a key that follows closely says where a quote is from."""
    text = f'They "need a steady wind".{" Much later" * 9} [{OTHER}]'
    assert faults(text) == ["", ""]


def test_a_key_inside_a_quote_is_part_of_it():
    """What looks like a key between quotation marks is quoted, not cited."""
    assert faults('They say "see [00000000]".') == ["not_found"]


def test_faults_carry_their_place():
    """A citation tells where it stands and what it cites."""
    [fault] = verify_citations('So "need rain".', CAPSULES).faults
    assert (fault.start, fault.quote, fault.key) == (3, "need rain", "")


def test_full_texts_count_where_they_can_be_fetched():
    """With `fetch`, a quote may stand anywhere in the document."""
    texts = {KEY: "Kites have strings.", OTHER: "Tides."}
    text = f'They "have strings" [{KEY}].'
    assert faults(text) == ["not_found", ""]
    assert faults(text, fetch=lambda key: Document(texts[key])) == ["", ""]


def test_a_key_that_cannot_be_fetched_raises():
    """What `fetch` raises goes through."""

    def lost(key):
        raise EvidenceNotFoundError(key)

    with pytest.raises(EvidenceNotFoundError):
        verify_citations("", CAPSULES, fetch=lost)


def test_a_quote_in_its_escaped_form_is_found():
    """What the prompt shows as `&lt;calm&gt;` may be quoted like that."""
    note = Document("The sea is <calm> today & tomorrow.")
    packed = CapsuleCompressor(budget_tokens=60).compress_documents([note], "sea")
    report = verify_citations('It says "The sea is &lt;calm&gt; today".', packed)
    assert [citation.fault for citation in report.citations] == [""]
