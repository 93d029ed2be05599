import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import (
    ContextEpisode,
    EpisodeKind,
    EvictionPlan,
    InvalidInputError,
    plan_eviction,
)

VECTORS = Path(__file__).parents[2] / "vectors"
EPISODES = st.lists(
    st.builds(
        ContextEpisode,
        id=st.text("abcdefgh", min_size=1, max_size=6),
        kind=st.sampled_from(EpisodeKind),
        tokens=st.integers(0, 200),
        persisted=st.booleans(),
        pinned=st.booleans(),
        recency=st.integers(-3, 9),
    ),
    max_size=14,
    unique_by=lambda e: e.id,
)
BUDGETS = st.integers(0, 1200)


def tier(episode):
    if episode.kind in {EpisodeKind.ACTION_RESULT, EpisodeKind.OBSERVATION}:
        return 0 if episode.persisted else 1
    return 2 if episode.kind is EpisodeKind.AGENT_REASONING else 3


def test_every_reference_row_is_reproduced():
    """The plans equal those of the reference implementation."""
    with gzip.open(VECTORS / "evict.jsonl.gz", "rt", encoding="utf-8") as lines:
        table = [json.loads(line) for line in lines]
    for row in table:
        episodes = [ContextEpisode(**e) for e in row["episodes"]]
        got = plan_eviction(episodes, row["budget"])
        assert got.model_dump(mode="json") == {
            **row["expected"],
            "evicted": list(row["expected"]["evicted"]),
        }


def test_tiers_leave_in_order():
    """Persisted results go first, user turns last, a constraint never."""
    kinds = [
        ("rule", "constraint", False),
        ("said", "user_turn", False),
        ("thought", "agent_reasoning", False),
        ("result", "action_result", False),
        ("stored", "observation", True),
    ]
    episodes = [
        ContextEpisode(id=name, kind=kind, tokens=10, persisted=stored)
        for name, kind, stored in kinds
    ]
    plan = plan_eviction(episodes, 0)
    assert plan.evicted == ("stored", "result", "thought", "said")
    assert not plan.within_budget


@given(EPISODES, BUDGETS)
def test_pins_and_constraints_are_never_evicted(episodes, budget):
    """What must stay stays, at any budget."""
    gone = set(plan_eviction(episodes, budget).evicted)
    fixed = {e.id for e in episodes if e.pinned or e.kind is EpisodeKind.CONSTRAINT}
    assert not gone & fixed


@given(EPISODES, BUDGETS)
def test_it_fits_or_everything_movable_has_left(episodes, budget):
    """Over budget means that only pins are left."""
    plan = plan_eviction(episodes, budget)
    assert plan.within_budget == (plan.retained_tokens <= budget)
    if not plan.within_budget:
        assert plan.retained_tokens == plan.pinned_tokens


@given(EPISODES, BUDGETS)
def test_nothing_leaves_without_need(episodes, budget):
    """Before the last eviction it did not fit yet."""
    plan = plan_eviction(episodes, budget)
    tokens = {e.id: e.tokens for e in episodes}
    if plan.evicted:
        assert plan.retained_tokens + tokens[plan.evicted[-1]] > budget


@given(EPISODES, BUDGETS)
def test_the_order_never_goes_back_to_an_earlier_tier(episodes, budget):
    """Tiers leave one after the other, the oldest first inside each."""
    by_id = {e.id: e for e in episodes}
    left = [by_id[name] for name in plan_eviction(episodes, budget).evicted]
    order = [(tier(e), e.recency, e.id) for e in left]
    assert order == sorted(order)


@given(EPISODES, BUDGETS)
def test_input_order_does_not_matter_and_input_stays(episodes, budget):
    """The plan depends on the episodes, not on how they are listed."""
    before = [e.model_dump() for e in episodes]
    plan = plan_eviction(episodes, budget)
    assert plan == plan_eviction(reversed(episodes), budget)
    assert [e.model_dump() for e in episodes] == before
    assert EvictionPlan.model_validate_json(plan.model_dump_json()) == plan


def test_repeated_ids_are_refused():
    """Two episodes of one id cannot be told apart."""
    twin = ContextEpisode(id="a", kind="user_turn")
    with pytest.raises(InvalidInputError, match="unique ids"):
        plan_eviction([twin, twin], 10)


@pytest.mark.parametrize("bad", [-1, 0.5, None])
def test_a_bad_budget_is_refused(bad):
    """Budgets are whole numbers of at least 0."""
    with pytest.raises(InvalidInputError, match="budget"):
        plan_eviction([], bad)


def test_an_unknown_kind_is_refused():
    """The kind is one of five."""
    with pytest.raises(InvalidInputError, match="kind"):
        ContextEpisode(id="a", kind="musing")
    with pytest.raises(InvalidInputError, match="tokens"):
        ContextEpisode(id="a", kind="user_turn", tokens=-1)
