"""Where a text may be cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.graphemes import floor_cut, is_safe_cut

BOUND = {
    "a letter and its accent": "e\u0301",
    "a family joined by zero-width joiners": "👨\u200d👩\u200d👧",
    "a hand and its skin": "👋🏽",
    "a flag of two regional indicators": "🇩🇪",
    "a flag of tags": "🏴\U000e0067\U000e007f",
    "a conjunct over a virama": "क्ष",
    "a conjunct over a virama and a mark": "क्\u0300ष",
    "jamo of one syllable": "\u1112\u1161\u11ab",
    "a syllable and a tail": "\uac00\u11a8",
    "a leading jamo and a syllable": "\u1100\uac00",
    "Thai am": "กำ",
    "a carriage return and its line feed": "\r\n",
    "a number sign before its digits": "\u06001",
}


@pytest.mark.parametrize("text", BOUND.values(), ids=BOUND.keys())
def test_what_reads_as_one_is_not_parted(text):
    """No cut is safe inside what a reader sees as one character."""
    assert not any(is_safe_cut(text, at) for at in range(1, len(text)))


@pytest.mark.parametrize(
    "text", ["ab", "日本", "a\n", "\u0301\n", "\n\u0301", "é1", "한국"]
)
def test_what_reads_as_two_is_parted(text):
    """Between two characters a cut is safe, and a line break is always one."""
    assert is_safe_cut(text, 1)


@given(st.text())
def test_both_ends_are_safe(text):
    """The ends of a text, and what lies beyond them, are safe."""
    assert all(is_safe_cut(text, at) for at in (-1, 0, len(text), len(text) + 1))


@given(st.text(alphabet="ab\u0301\u200d🇩क्\r\n", min_size=2), st.data())
def test_a_cut_makes_progress_and_is_safe(text, data):
    """A cut lies after the floor and is safe, forwards where nothing is before."""
    floor = data.draw(st.integers(0, len(text) - 1))
    at = data.draw(st.integers(floor + 1, len(text)))
    cut = floor_cut(text, at, floor=floor)
    assert floor < cut <= len(text)
    assert is_safe_cut(text, cut)


@given(st.text(alphabet="ab\u0301", min_size=1), st.data())
def test_a_cut_is_the_nearest_before(text, data):
    """No safe place lies between the cut and what was wanted."""
    at = data.draw(st.integers(1, len(text)))
    cut = floor_cut(text, at)
    assert not any(is_safe_cut(text, between) for between in range(cut + 1, at + 1))
