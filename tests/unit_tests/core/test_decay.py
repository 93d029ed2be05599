import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import ForgetConfig, InvalidInputError, should_forget

DAY = timedelta(days=1)
IDLE = st.timedeltas(timedelta(days=-400), timedelta(days=400))
IMPORTANCE = st.floats(0, 1)
CONFIGS = st.builds(
    ForgetConfig,
    ttl=st.timedeltas(timedelta(seconds=1), timedelta(days=90)),
    min_importance=IMPORTANCE,
    weak_grace=st.timedeltas(timedelta(0), timedelta(days=90)),
)


@pytest.mark.parametrize(
    ("idle", "importance", "forgotten"),
    [
        (6 * DAY, 0.1, False),
        (7 * DAY, 0.1, True),
        (7 * DAY, 0.5, False),
        (30 * DAY, 1.0, True),
        (-DAY, 0.0, False),
        (None, 0.9, True),
        (DAY, None, True),
    ],
)
def test_weak_memories_fade_first(idle, importance, forgotten):
    """Seven idle days end a weak memory, thirty any; the unknown is forgotten."""
    config = ForgetConfig.weak_sooner()
    assert should_forget(idle, importance, config=config) is forgotten


def test_importance_decides_nothing_by_default():
    """The default grace of weak memories equals the default lifetime."""
    assert not should_forget(29 * DAY, 0.0)
    assert should_forget(30 * DAY, 0.0)


@given(IDLE, IMPORTANCE, CONFIGS)
def test_fading_is_final_as_time_goes_on(idle, importance, config):
    """What has faded has also faded later."""
    if should_forget(idle, importance, config=config):
        assert should_forget(idle + DAY, importance, config=config) or idle < -DAY


@given(IDLE, CONFIGS, IMPORTANCE, IMPORTANCE)
def test_importance_never_hurts(idle, config, one, other):
    """The more important of two memories outlives the other."""
    low, high = sorted((one, other))
    assert should_forget(idle, low, config=config) or not should_forget(
        idle, high, config=config
    )


@given(IMPORTANCE, CONFIGS, st.timedeltas(max_value=timedelta(0)))
def test_a_clock_that_runs_backwards_means_idle_zero(importance, config, idle):
    """A negative idle time is treated as none."""
    assert should_forget(idle, importance, config=config) == should_forget(
        timedelta(0), importance, config=config
    )


@given(CONFIGS)
def test_a_policy_survives_json(config):
    """The JSON round trip gives an equal policy."""
    assert ForgetConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("ttl", timedelta(0)),
        ("weak_grace", -DAY),
        ("min_importance", 1.5),
        ("min_importance", math.nan),
    ],
)
def test_a_bad_policy_is_refused(field, bad):
    """Durations and shares outside their range name the field."""
    with pytest.raises(InvalidInputError) as caught:
        ForgetConfig(**{field: bad})
    assert caught.value.parameter == field


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_an_importance_outside_its_range_is_refused(bad):
    """Importance is from 0 to 1."""
    with pytest.raises(InvalidInputError, match="importance"):
        should_forget(DAY, bad)
