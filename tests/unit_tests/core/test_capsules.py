"""The values that evidence is packed into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import EvidenceCapsule, InvalidInputError, RetentionReport
from langchain_memkit.core.capsules import CandidateOutcome

CAPSULES = st.builds(
    EvidenceCapsule,
    id=st.text(),
    retrieval_key=st.text(),
    excerpt=st.text(),
    tokens=st.integers(0, 99),
    recoverability=st.floats(0, 1),
    segments=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))).map(tuple),
    position=st.integers(0, 99),
    relevance=st.floats(0, 1),
    sha256=st.text("0123456789abcdef"),
    is_cut=st.booleans(),
)
OUTCOMES = st.builds(
    CandidateOutcome, id=st.text(), outcome=st.sampled_from(["packed", "empty"])
)


@given(st.lists(CAPSULES, max_size=3), st.lists(OUTCOMES, max_size=3))
def test_a_report_survives_json(capsules, outcomes):
    """What was written as JSON reads back equal."""
    report = RetentionReport(
        budget_tokens=9,
        retained_tokens=9,
        capsules=tuple(capsules),
        outcomes=tuple(outcomes),
    )
    assert RetentionReport.model_validate_json(report.model_dump_json()) == report


@given(CAPSULES)
def test_a_capsule_never_changes(capsule):
    """Capsules are frozen and hashable."""
    with pytest.raises(ValueError, match="frozen"):
        capsule.excerpt = "other"
    assert hash(capsule) == hash(capsule.model_copy())


@pytest.mark.parametrize(
    ("field", "value"),
    [("relevance", 1.5), ("relevance", float("nan")), ("position", -1), ("tokens", -1)],
)
def test_a_field_that_breaks_its_rule_is_named(field, value):
    """Shares are from 0 to 1, counts at least 0."""
    fields = {"id": "a", "retrieval_key": "a", "excerpt": "", "tokens": 1}
    with pytest.raises(InvalidInputError, match=field):
        EvidenceCapsule(**{**fields, "recoverability": 0.5, field: value})


def test_an_outcome_is_one_of_the_known():
    """An unknown outcome is refused."""
    with pytest.raises(InvalidInputError, match="outcome"):
        CandidateOutcome(id="a", outcome="lost")
