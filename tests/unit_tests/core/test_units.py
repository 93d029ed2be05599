"""What may be sent alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.graphemes import is_safe_cut
from langchain_memkit.core.units import join_spans, split_units

ODD = st.text(
    alphabet=st.sampled_from(
        [*"ab .,;!?\n\r\t\"'", "\u0301", "👨", "\u200d", "。", "、"]
    ),
    max_size=300,
)
LONG = "Kites need a steady wind to rise from the ground. " * 8


def texts_of(text, **options):
    return [text[start:end] for start, end in split_units(text, **options)]


@given(ODD, st.integers(1, 80))
def test_units_cover_all_but_white_space(text, most):
    """Units stand in order, and only white space is between them."""
    end = 0
    for start, stop in split_units(text, most_characters=most):
        assert start < stop
        assert not text[end:start].strip()
        end = stop
    assert not text[end:].strip()


@given(ODD, st.integers(1, 80))
def test_units_never_part_a_grapheme(text, most):
    """Both ends of each unit are safe cuts."""
    spans = split_units(text, most_characters=most)
    assert all(is_safe_cut(text, at) for span in spans for at in span)


@given(st.text(alphabet="ab .,\n", max_size=300), st.integers(1, 80))
def test_units_are_no_longer_than_asked(text, most):
    """Where no grapheme forbids it, a unit keeps to the limit."""
    spans = split_units(text, most_characters=most)
    assert all(end - start <= most for start, end in spans)


def test_a_short_line_stays_whole():
    """A line of dialogue is one unit, however many sentences it holds."""
    assert texts_of("Ada: Hi! It rains. \n\n Bo: So?", most_characters=500) == [
        "Ada: Hi! It rains.",
        "Bo: So?",
    ]


def test_a_long_line_is_cut_at_sentences():
    """A paragraph falls into its sentences."""
    assert texts_of(LONG, most_characters=500) == [LONG[:49]] * 8


def test_a_number_or_a_short_sentence_does_not_end_one():
    """A stop without white space, or after a few words, ends nothing."""
    line = "It rose 3.1415926535 metres high. Yes. " + "It went on and on, " * 12
    first = texts_of(line, most_characters=500)[0]
    assert first.startswith("It rose 3.1415926535 metres high. Yes.")


def test_stops_of_other_scripts_need_no_white_space():
    """A Chinese paragraph falls into sentences."""
    sentence = "风筝需要稳定的风才能从地面升起" * 3 + "。"
    assert texts_of(sentence * 6, most_characters=500) == [sentence] * 6


def test_a_stop_inside_a_grapheme_is_no_cut():
    """A mark after a stop keeps the sentence together."""
    sentence = "风筝需要稳定的风才能从地面升起" * 3 + "。\u0301"
    assert len(split_units(sentence * 6, most_characters=999)) == 1


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("word " * 10 + "end, " + "more " * 30, "word " * 10 + "end,"),
        ("word " * 60, ("word " * 20).strip()),
        ("x" * 250, "x" * 100),
    ],
    ids=["clause", "space", "nothing"],
)
def test_a_long_sentence_is_cut_at_the_best_place(line, first):
    """Clauses go before spaces, spaces before any other place."""
    assert texts_of(line, most_characters=100)[0] == first


@pytest.mark.parametrize(
    ("line", "units"),
    [
        ("It was built in 1911. Long boats moor at the north pier.", (21, 34)),
        ("Long boats moor at the north pier. It was built in 1911.", (34, 21)),
        ("One. Two. Long boats moor at the north pier all year.", (9, 43)),
        ("它建于1911年。长船停泊在北码头,短船停泊在南码头。", (9, 18)),
    ],
    ids=["first", "last", "several", "no-spaces"],
)
def test_what_has_to_be_cut_is_cut_at_a_sentence_first(line, units):
    """A short sentence goes with the next one only where both fit."""
    assert texts_of(line, most_characters=len(line)) == [line]
    assert tuple(map(len, texts_of(line, most_characters=len(line) - 1))) == units


def test_a_stop_beyond_the_limit_is_no_end():
    """A unit never grows to reach the end of a sentence."""
    line = "Kites need wind。And tails。" * 3
    assert all(
        end - start <= 15 for start, end in split_units(line, most_characters=15)
    )


@pytest.mark.parametrize("unit", [".", ".'", "a. ", ", ", "、", "\u0301", "\n", "a\n"])
def test_a_long_text_takes_linear_time(unit):
    """A hundred thousand odd characters are split without a quadratic detour."""
    assert split_units(unit * 100_000, most_characters=512) is not None


@given(ODD, st.integers(1, 80))
def test_joined_neighbours_are_one_span(text, most):
    """All units together are one span, or none."""
    spans = split_units(text, most_characters=most)
    joined = join_spans(text, reversed(spans))
    assert joined == (((spans[0][0], spans[-1][1]),) if spans else ())


def test_what_stands_apart_stays_apart():
    """Text between two spans keeps them apart."""
    assert join_spans("a b c", [(4, 5), (0, 1)]) == ((0, 1), (4, 5))
