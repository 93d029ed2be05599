import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import (
    InvalidInputError,
    RetentionCandidate,
    RetentionReport,
    estimate_tokens,
    recoverability,
    retain_within_budget,
)

VECTORS = Path(__file__).parents[2] / "vectors"
CANDIDATES = st.lists(
    st.builds(
        RetentionCandidate,
        id=st.text("abcdef", min_size=1, max_size=12),
        content=st.text(max_size=300),
        access_count=st.integers(0, 50),
        age_hours=st.floats(-100, 5000),
        retrieval_score=st.floats(-1, 1),
    ),
    max_size=12,
)
BUDGETS = st.integers(0, 400)


def rows(name):
    with gzip.open(VECTORS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_reference_row_is_reproduced():
    """The reports equal those of the reference implementation, floats to 1e-6."""
    for row in rows("retained.jsonl.gz"):
        candidates = [RetentionCandidate(**c) for c in row["candidates"]]
        got = retain_within_budget(
            candidates, row["budget_tokens"], row["excerpt_tokens"]
        )
        want = row["expected"]
        assert got.retained_tokens == want["retained_tokens"]
        assert got.candidates_examined == want["candidates_examined"]
        assert got.dropped == want["dropped"]
        assert [(c.id, c.excerpt, c.tokens) for c in got.capsules] == [
            (c["id"], c["excerpt"], c["tokens"]) for c in want["capsules"]
        ]
        for capsule, expected in zip(got.capsules, want["capsules"], strict=True):
            assert math.isclose(
                capsule.recoverability, expected["recoverability"], abs_tol=1e-6
            )


def test_recoverability_halves_in_a_week_and_grows_with_use():
    """The formula's fixed points hold."""
    assert recoverability(0, 0) == pytest.approx(1 / 6)
    assert recoverability(168, 0) == pytest.approx(1 / 12)
    assert recoverability(0, 4) == pytest.approx(0.5)
    assert recoverability(-5, 4) == pytest.approx(0.5)
    assert recoverability(0, 10**400) == pytest.approx(1.0)


def test_packing_stops_when_the_rest_is_too_small():
    """A key and fewer than 16 tokens of text are not worth a capsule."""
    kites = RetentionCandidate(id="abcd", content="Kites need wind. " * 20)
    assert retain_within_budget([kites], 16).capsules == ()
    assert retain_within_budget([kites], 17).capsules[0].tokens == 17


@given(CANDIDATES, BUDGETS)
def test_the_budget_is_never_exceeded(candidates, budget):
    """What is kept costs what the capsules cost, and fits."""
    report = retain_within_budget(candidates, budget)
    assert report.retained_tokens == sum(c.tokens for c in report.capsules) <= budget


@given(CANDIDATES, BUDGETS)
def test_the_order_is_non_increasing(candidates, budget):
    """Better capsules stand first."""
    scores = [
        c.recoverability for c in retain_within_budget(candidates, budget).capsules
    ]
    assert scores == sorted(scores, reverse=True)


@given(CANDIDATES, BUDGETS)
def test_the_same_input_gives_the_same_report_and_stays_as_it_was(candidates, budget):
    """The policy is deterministic and changes nothing."""
    before = [c.model_dump() for c in candidates]
    report = retain_within_budget(candidates, budget)
    assert report == retain_within_budget(iter(candidates), budget)
    assert [c.model_dump() for c in candidates] == before


@given(CANDIDATES, BUDGETS, st.integers(0, 80))
def test_excerpts_are_verbatim_prefixes(candidates, budget, excerpt_tokens):
    """An excerpt is the beginning of its content, and its segment says so."""
    contents = [c.content for c in candidates]
    for capsule in retain_within_budget(candidates, budget, excerpt_tokens).capsules:
        assert any(text.startswith(capsule.excerpt) for text in contents)
        assert estimate_tokens(capsule.excerpt) <= excerpt_tokens
        assert capsule.segments == (
            ((0, len(capsule.excerpt)),) if capsule.excerpt else ()
        )


@given(CANDIDATES, BUDGETS)
def test_a_report_survives_json(candidates, budget):
    """The JSON round trip gives an equal report."""
    report = retain_within_budget(candidates, budget)
    assert RetentionReport.model_validate_json(report.model_dump_json()) == report


@pytest.mark.parametrize("bad", [-1, 2.5, True, None])
def test_a_bad_budget_is_refused(bad):
    """Budgets are whole numbers of at least 0."""
    with pytest.raises(InvalidInputError, match="budget_tokens"):
        retain_within_budget([], bad)
    with pytest.raises(InvalidInputError, match="excerpt_tokens"):
        retain_within_budget([], 10, bad)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 10**400])
def test_ages_and_scores_are_finite(bad):
    """NaN and infinities are refused wherever they come in."""
    with pytest.raises(InvalidInputError, match="age_hours"):
        recoverability(bad, 0)
    with pytest.raises(InvalidInputError, match="age_hours"):
        RetentionCandidate(id="a", content="", age_hours=bad)
    with pytest.raises(InvalidInputError, match="retrieval_score"):
        RetentionCandidate(id="a", content="", retrieval_score=bad)


def test_a_negative_access_count_is_refused():
    """Counts start at 0."""
    with pytest.raises(InvalidInputError, match="access_count"):
        recoverability(1.0, -1)
