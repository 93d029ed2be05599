"""The pure parts of a memory: times, escapes, words, decay limits and merging."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import ForgetConfig, InvalidInputError, should_forget
from langchain_memkit.core.decay import decay_rule, has_faded, reason_to_forget
from langchain_memkit.core.escaping import escape_text, unescape_text
from langchain_memkit.core.records import StoredMemory, merge_memory
from langchain_memkit.core.times import as_utc, from_microseconds, to_microseconds
from langchain_memkit.core.wording import rank_texts, search_terms

ODD = st.text(
    st.sampled_from("a\x00\ud800\udfff\ufdd00f") | st.characters(exclude_categories=())
)
MOMENTS = st.datetimes(timezones=st.just(UTC))
DURATIONS = st.timedeltas(min_value=timedelta(0))
SHARES = st.floats(0, 1)
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
NOTE = StoredMemory("n", "x", 0.5, "user", False, False, NOON, NOON)


@given(ODD)
def test_escaping_is_undone_and_valid(text):
    """Every text comes back, and on the way is valid UTF-8 without NUL."""
    escaped = escape_text(text)
    assert b"\x00" not in escaped.encode("utf-8")
    assert unescape_text(escaped) == text


@given(ODD, ODD)
def test_escaping_keeps_texts_apart(one, other):
    """Different texts are stored differently."""
    assert (escape_text(one) == escape_text(other)) == (one == other)


@given(MOMENTS)
def test_microseconds_lose_nothing(moment):
    """A point in time comes back exactly."""
    assert from_microseconds(to_microseconds(moment)) == moment


@given(st.datetimes(), st.integers(-14, 14))
def test_zones_do_not_matter(naive, hours):
    """A naive time is UTC, and a zone only changes how it is written."""
    assert as_utc(naive) == naive.replace(tzinfo=UTC)
    aware = NOON.astimezone(timezone(timedelta(hours=hours)))
    assert as_utc(aware) == NOON


@pytest.mark.parametrize(
    "moment",
    ["2030", 7, None, datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))],
)
def test_what_is_no_time_is_refused(moment):
    """The error names the parameter."""
    with pytest.raises(InvalidInputError, match="`now`"):
        as_utc(moment)


POLICIES = st.builds(
    ForgetConfig,
    ttl=st.timedeltas(min_value=timedelta(microseconds=1)),
    min_importance=SHARES,
    weak_grace=DURATIONS,
)


@given(MOMENTS, MOMENTS, SHARES, POLICIES)
def test_limits_decide_as_the_policy_does(now, last, share, config):
    """Comparing with limits is the same as comparing idle times."""
    memory = replace(NOTE, importance=share, last_access_at=last)
    rule = decay_rule(config, now=now)
    expected = should_forget(now - last, share, config=config)
    assert has_faded(memory, rule=rule) == expected
    assert not has_faded(replace(memory, pinned=True), rule=rule)


def test_reasons_tell_idle_from_weak():
    """What was not used at all is idle, also where it is weak as well."""
    rule = decay_rule(ForgetConfig.weak_sooner(), now=NOON + timedelta(days=10))
    weak = replace(NOTE, importance=0.1)
    assert reason_to_forget(NOTE, rule=rule) is None
    assert reason_to_forget(weak, rule=rule) == "weak"
    old = replace(weak, last_access_at=NOON - timedelta(days=99))
    assert reason_to_forget(old, rule=rule) == "idle"


@given(MOMENTS, MOMENTS, st.integers(0, 99), st.integers(0, 99))
def test_merging_keeps_birth_use_and_count(one, other, few, many):
    """The earliest creation, the latest access and the higher count stay, twice too."""
    old = replace(NOTE, created_at=one, last_access_at=one, access_count=few)
    new = replace(NOTE, content="y", created_at=other, last_access_at=other)
    new = replace(new, access_count=many)
    merged = merge_memory(old, new)
    assert (merged.created_at, merged.last_access_at) == (
        min(one, other),
        max(one, other),
    )
    assert (merged.content, merged.access_count) == ("y", max(few, many))
    assert merge_memory(merged, new) == merged


@given(ODD)
def test_terms_are_letters_and_digits(text):
    """No term holds anything that an index could read as syntax."""
    terms = search_terms(text)
    assert all(term.isalnum() and len(term) <= 40 for term in terms)
    assert search_terms(" ".join(terms)) == terms


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_way(text):
    """A letter beyond ASCII at the end changes nothing before it."""
    assert search_terms(f"{text} é") == [*search_terms(text), "é"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("猫", ["猫"]),
        ("GPT東京4", ["gpt", "東京", "4"]),
        ("Straße ＡＢＣ", ["strasse", "abc"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("x" * 99, ["x" * 40]),
        ("a_b", ["a", "b"]),
    ],
)
def test_terms_of_any_script(text, terms):
    """Words, pairs where a script has no spaces, and no case."""
    assert search_terms(text) == terms


def test_ranking_prefers_rare_words_and_short_texts():
    """BM25: a rare word counts more, a long text less; ties go by key."""
    texts = {
        "long": "red kite " + "and so on " * 20,
        "short": "red kite",
        "common": "red door",
        "none": "boat",
        "also": "red door",
    }
    ranked = [key for key, _ in rank_texts(texts, "red kite")]
    assert ranked == ["short", "long", "also", "common"]
    assert rank_texts({}, "red") == rank_texts(texts, "!") == []
