"""Units, valued against a query."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.excerpts import ExcerptWeights, value_units
from langchain_memkit.core.terms import query_terms

WORDS = st.sampled_from(["kite", "wind", "tide", "moon", "sand", "the", "of"])
LINES = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
TEXTS = st.lists(st.lists(LINES, max_size=5).map("\n".join), max_size=6)
ANY_WEIGHTS = st.builds(
    ExcerptWeights,
    near=st.floats(0, 1),
    document=st.floats(0, 1),
    rank=st.floats(0, 1),
    power=st.floats(1, 4),
    length=st.floats(0, 1),
)


def scored(query, texts, *, weights=None, budget=1000):
    return value_units(
        query_terms(query),
        texts,
        unit_characters=512,
        budget_characters=budget,
        weights=weights,
    )


@given(LINES, TEXTS, ANY_WEIGHTS)
def test_values_are_finite_and_not_negative(query, texts, weights):
    """Whatever the weights, a unit's value can be compared."""
    got = scored(query, texts, weights=weights)
    assert all(0 <= v < float("inf") for text in got.texts for v in text.values)


@given(LINES, TEXTS)
def test_shares_are_from_0_to_1(query, texts):
    """No text covers less than nothing or more than the query."""
    got = scored(query, texts)
    assert all(0 <= text.share <= 1 for text in got.texts)


@given(LINES, TEXTS)
def test_the_same_texts_have_the_same_values(query, texts):
    """Values depend on the arguments alone, which stay as they are."""
    before = list(texts)
    assert scored(query, texts).texts == scored(query, texts).texts
    assert texts == before


@given(LINES, TEXTS)
def test_a_unit_knows_its_terms(query, texts):
    """The union of the units' masks covers what the whole text covers."""
    got = scored(query, texts)
    for text in got.texts:
        union = 0
        for mask in text.masks:
            union |= mask
        assert got.share_of(union) == text.share


def test_a_match_is_worth_more_than_none():
    """The unit that holds the term goes first."""
    [text] = scored("wind", ["The sun is out.\nThe wind is up."]).texts
    assert text.values[1] > text.values[0]


def test_a_neighbour_of_a_match_is_worth_more_than_a_stranger():
    """Terms beside a unit count for it, but less than its own."""
    [text] = scored("wind", ["wind blows\ncalm water\ncalm waters"]).texts
    assert text.values[0] > text.values[1] > text.values[2]


def test_a_rare_term_is_worth_more_than_a_common_one():
    """The idf over all candidates decides between two matches."""
    texts = ["boat harbour", "boat anchored", "boat drifting", "lighthouse"]
    got = scored("boat lighthouse", texts, weights=ExcerptWeights(rank=0))
    assert got.texts[3].share > got.texts[0].share


def test_the_base_order_decides_between_equals():
    """Of two equal texts the one that the base ranks higher is worth more."""
    first, second = scored("wind", ["wind up", "wind on"]).texts
    assert first.values[0] > second.values[0]


def test_nothing_matches():
    """A query without a match says so."""
    assert not scored("zebra", ["wind up"]).matches
    assert not scored("", ["wind up"]).matches


def test_hopeless_texts_are_not_split():
    """Beyond four budgets of better texts a text keeps its share and has no units."""
    texts = ["wind " * 40] * 20 + ["calm"]
    got = scored("wind", texts, budget=100)
    assert [bool(text.spans) for text in got.texts] == [True] * 12 + [False] * 9
    assert got.texts[12].share == 1.0
