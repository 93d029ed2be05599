"""The words of a query, and where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.terms import QueryTerm, find_term, fold_case, query_terms


def needles(query, **options):
    return [term.needle for term in query_terms(query, **options)]


@given(st.text(alphabet=st.characters()))
def test_folding_moves_nothing(text):
    """The folded text has the length of the text."""
    assert len(fold_case(text)) == len(text)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_folding_is_idempotent(text):
    """Folding what is folded changes nothing."""
    assert fold_case(fold_case(text)) == fold_case(text)


def test_folding_keeps_what_would_grow():
    """A letter whose lower case is longer is left alone."""
    assert fold_case("İA") == "İa"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Infections of children", ["infectio", "of", "childr"]),
        ("kites kite", ["kite"]),
        ("In 2008-2009", ["in", "2008", "2009"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("雨", ["雨"]),
        ("날씨는", ["날씨", "씨는"]),
        ("", []),
    ],
)
def test_terms_of_any_script(query, expected):
    """Words lose their endings, scripts without spaces are read in pairs."""
    assert needles(query) == expected


def test_stop_words_leave():
    """Words that say nothing are left out."""
    assert needles("the wind of the sea", stop_words={"the", "of"}) == ["wind", "sea"]


def test_a_query_of_stop_words_keeps_them():
    """Where nothing else is asked, stop words count."""
    assert needles("to be or not", stop_words={"to", "be", "or", "not"}) == [
        "to",
        "be",
        "or",
        "not",
    ]


@pytest.mark.parametrize(
    ("text", "term", "expected"),
    [
        ("tides untide tidal tide", QueryTerm("tide"), [0, 19]),
        ("sea seal oversea sea", QueryTerm("sea"), [0, 17]),
        ("京都東京", QueryTerm("東京", anywhere=True), [2]),
        ("nothing", QueryTerm("wind"), []),
    ],
)
def test_terms_are_found_at_the_start_of_words(text, term, expected):
    """A term counts at the start of a word, a short one as a whole word."""
    assert find_term(text, term) == expected


@given(st.text(alphabet="ab \u4e00", max_size=80), st.sampled_from(["a", "ab", "aab"]))
def test_every_place_holds_the_needle(text, needle):
    """What is found stands there, in order."""
    places = find_term(text, QueryTerm(needle, anywhere=True))
    assert places == sorted(places)
    assert all(text.startswith(needle, at) for at in places)
