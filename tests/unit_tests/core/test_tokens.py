from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import estimate_tokens


def test_a_quarter_of_the_code_points_is_rounded_up():
    """Four code points are one token, five are two, none are none."""
    assert [estimate_tokens("x" * n) for n in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]


def test_code_points_count_not_bytes():
    """An astral character is one code point whatever its encoding takes."""
    assert estimate_tokens("🚀🧪🎣⛵") == 1


@given(st.text(), st.text())
def test_parts_never_cost_less_than_the_whole(left, right):
    """Rounding up makes the estimate subadditive."""
    together = estimate_tokens(left + right)
    assert together <= estimate_tokens(left) + estimate_tokens(right)


@given(st.text(min_size=1))
def test_a_text_costs_something(text):
    """No text that is not empty is free."""
    assert estimate_tokens(text) >= 1


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(text, more):
    """The estimate does not fall when text is added."""
    assert estimate_tokens(text) <= estimate_tokens(text + more)
