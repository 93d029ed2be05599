"""How old a document is."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.retriever.ages import TIMESTAMP_FIELDS, ages_in_hours, read_time

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.datetimes(),
    st.dates(),
    st.lists(st.integers()),
)


@pytest.mark.parametrize(
    "value",
    [
        NOON,
        NOON.replace(tzinfo=None),
        NOON.astimezone(timezone(timedelta(hours=5))),
        "2030-01-01T12:00:00",
        " 2030-01-01T14:00:00+02:00 ",
        "2030-01-01T12:00:00Z",
        NOON.timestamp(),
        int(NOON.timestamp() * 1000),
    ],
)
def test_times_are_read(value):
    """Datetimes, ISO text and epochs mean the same moment; naive means UTC."""
    assert read_time(value) == NOON


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "soon",
        "",
        float("nan"),
        float("inf"),
        -1e300,
        10**400,
        b"2030",
        [2030],
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
    ],
)
def test_what_is_no_time_is_unknown(value):
    """Anything else has no time, and nothing is raised."""
    assert read_time(value) is None


def test_a_date_is_its_midnight():
    """A date without a time means its first moment in UTC."""
    assert read_time(date(2030, 1, 1)) == NOON - timedelta(hours=12)


@given(ANYTHING, ANYTHING)
def test_ages_are_finite_and_never_negative(one, other):
    """Whatever the metadata hold, an age is a number of hours."""
    metadatas = [{"timestamp": one}, {"created_at": other}]
    ages = ages_in_hours(metadatas, last_uses=[None, None], now=NOON)
    assert all(0 <= age < float("inf") for age in ages)


@given(ANYTHING.filter(lambda value: read_time(value) is None))
def test_what_is_unknown_is_never_fresher(value):
    """A document without a readable time is as old as the oldest that has one."""
    metadatas = [{"timestamp": value}, {"timestamp": NOON - timedelta(hours=9)}]
    assert ages_in_hours(metadatas, last_uses=[None, None], now=NOON) == [9.0, 9.0]


def test_the_future_is_unknown():
    """A time after the call never wins."""
    metadatas = [
        {"timestamp": NOON + timedelta(hours=1)},
        {"timestamp": NOON - timedelta(hours=2)},
    ]
    assert ages_in_hours(metadatas, last_uses=[None, None], now=NOON) == [2.0, 2.0]


def test_the_later_of_stamp_and_use_counts():
    """What the log says goes beside the metadata."""
    used = [NOON - timedelta(hours=1), NOON - timedelta(hours=5)]
    metadatas = [{"created_at": NOON - timedelta(hours=3)}] * 2
    assert ages_in_hours(metadatas, last_uses=used, now=NOON) == [1.0, 3.0]


def test_the_first_readable_field_counts():
    """Fields are looked at in the documented order."""
    early, late = NOON - timedelta(hours=7), NOON - timedelta(hours=1)
    metadata = {TIMESTAMP_FIELDS[0]: "?", TIMESTAMP_FIELDS[1]: early}
    metadata[TIMESTAMP_FIELDS[2]] = late
    assert ages_in_hours([metadata], last_uses=[None], now=NOON) == [7.0]
