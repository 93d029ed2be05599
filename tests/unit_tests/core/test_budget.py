import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import BudgetExceededError, ContextBudget, InvalidInputError

SMALL = st.integers(0, 300)
BUDGETS = st.builds(
    ContextBudget,
    max_tokens=st.integers(1, 2000),
    reserve_tokens=SMALL,
    memory_share=st.floats(0, 0.5),
    document_share=st.floats(0, 0.5),
    history_floor_tokens=SMALL,
    memory_floor_tokens=SMALL,
    document_floor_tokens=SMALL,
)


def split_or_none(budget, overhead_tokens):
    try:
        return budget.split(overhead_tokens=overhead_tokens)
    except BudgetExceededError:
        return None


@given(BUDGETS, SMALL)
def test_the_sum_as_sent_holds(budget, overhead):
    """What is sent and the reserve make up the window, exactly."""
    split = split_or_none(budget, overhead)
    if split:
        assert split.sent_tokens + split.reserve_tokens == budget.max_tokens


@given(BUDGETS, SMALL)
def test_floors_hold_or_the_error_says_by_how_much(budget, overhead):
    """Every part gets its floor where all of them fit, else nothing is split."""
    split = split_or_none(budget, overhead)
    floors = (
        budget.history_floor_tokens
        + budget.memory_floor_tokens
        + budget.document_floor_tokens
    )
    fits = overhead + budget.reserve_tokens + floors <= budget.max_tokens
    assert bool(split) == fits
    if split:
        assert split.history_tokens >= budget.history_floor_tokens
        assert split.memory_tokens >= budget.memory_floor_tokens
        assert split.document_tokens >= budget.document_floor_tokens


@given(BUDGETS, SMALL, SMALL)
def test_overhead_is_paid_by_the_history_first(budget, overhead, more):
    """A longer system prompt never gives memory or documents more."""
    before = split_or_none(budget, overhead)
    after = split_or_none(budget, overhead + more)
    if before and after:
        assert after.memory_tokens <= before.memory_tokens
        assert after.document_tokens <= before.document_tokens


@given(BUDGETS, SMALL)
def test_a_split_is_deterministic_and_survives_json(budget, overhead):
    """The same budget is split the same way, also after a JSON round trip."""
    again = ContextBudget.model_validate_json(budget.model_dump_json())
    assert split_or_none(again, overhead) == split_or_none(budget, overhead)


def test_the_error_lists_what_is_too_much():
    """Overhead, reserve and floors stand in the message with the shortfall."""
    budget = ContextBudget(max_tokens=100, reserve_tokens=50, history_floor_tokens=40)
    with pytest.raises(BudgetExceededError, match="output reserve") as caught:
        budget.split(overhead_tokens=30)
    assert caught.value.shortfall_tokens == 20
    assert caught.value.floor_tokens == 120


def test_a_profile_gives_the_window():
    """The window of the model is used, or a fraction of it."""
    profile = {"max_input_tokens": 1000}
    budget = ContextBudget.from_profile(profile, fraction=0.5, reserve_tokens=100)
    assert (budget.max_tokens, budget.reserve_tokens) == (500, 100)


@pytest.mark.parametrize("profile", [None, {}, {"max_input_tokens": "many"}])
def test_a_profile_without_a_window_is_refused(profile):
    """A model that does not tell its window needs a number."""
    with pytest.raises(InvalidInputError, match="max_input_tokens"):
        ContextBudget.from_profile(profile)


@pytest.mark.parametrize("fraction", [0, 1.5, float("nan")])
def test_a_bad_fraction_is_refused(fraction):
    """Fractions are above 0 and at most 1."""
    with pytest.raises(InvalidInputError, match="fraction"):
        ContextBudget.from_profile({"max_input_tokens": 10}, fraction=fraction)


def test_bad_budgets_are_refused():
    """An empty window and shares above 1 are contradictions."""
    with pytest.raises(InvalidInputError, match="max_tokens"):
        ContextBudget(max_tokens=0)
    with pytest.raises(InvalidInputError, match="document_share"):
        ContextBudget(max_tokens=10, memory_share=0.6, document_share=0.6)
    with pytest.raises(InvalidInputError, match="overhead_tokens"):
        ContextBudget(max_tokens=10).split(overhead_tokens=-1)
