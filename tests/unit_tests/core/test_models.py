import math

import pytest

from langchain_memkit import InvalidInputError, MemkitError
from langchain_memkit.core.models import (
    Count,
    FrozenModel,
    Share,
    check_choice,
    check_count,
    check_positive,
    check_share,
)


class Point(FrozenModel):
    x: Count
    share: Share = 0.5


class Holder(FrozenModel):
    point: Point


def test_a_bad_field_names_the_field_and_the_value():
    """The error is ours, a `ValueError`, and carries what was wrong."""
    with pytest.raises(InvalidInputError) as caught:
        Point(x=-1)
    assert (caught.value.parameter, caught.value.value) == ("x", -1)
    assert isinstance(caught.value, MemkitError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("bad", [True, 1.0, "1", None])
def test_a_count_is_a_whole_number_only(bad):
    """Booleans, floats and texts are no counts."""
    with pytest.raises(InvalidInputError):
        Point(x=bad)


def test_the_error_of_an_inner_value_is_kept():
    """A nested value reports its own field."""
    with pytest.raises(InvalidInputError) as caught:
        Holder(point={"x": -1})
    assert caught.value.parameter == "x"


def test_validation_from_a_mapping_or_json_raises_the_same_error():
    """All ways in refuse with the package's own error."""
    with pytest.raises(InvalidInputError):
        Point.model_validate({"x": -1})
    with pytest.raises(InvalidInputError):
        Point.model_validate_json('{"x": -1}')
    with pytest.raises(InvalidInputError):
        Point.model_validate_json("no json")


def test_a_value_survives_json_and_never_changes():
    """The JSON round trip gives an equal value, and assignment is refused."""
    point = Point(x=3)
    assert Point.model_validate_json(point.model_dump_json()) == point
    assert Point.model_validate({"x": 3}) == point
    with pytest.raises(ValueError, match="frozen"):
        point.x = 4


def test_unknown_fields_are_refused():
    """A misspelt field is an error, not silence."""
    with pytest.raises(InvalidInputError, match="y"):
        Point(x=1, y=2)


@pytest.mark.parametrize("bad", [-1, 1.5, True, "2", None])
def test_check_count_refuses_what_is_no_count(bad):
    """Only whole numbers of at least 0 pass."""
    with pytest.raises(InvalidInputError, match="`k` must be a whole number"):
        check_count("k", bad)


@pytest.mark.parametrize("bad", [0, -3, 2.0, False])
def test_check_positive_refuses_zero_and_below(bad):
    """Only whole numbers of at least 1 pass."""
    with pytest.raises(InvalidInputError):
        check_positive("max_tokens", bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, True, "0.5", 10**400])
def test_check_share_refuses_what_is_no_share(bad):
    """Only numbers from 0 to 1 pass; NaN is none."""
    with pytest.raises(InvalidInputError):
        check_share("importance", bad)


def test_good_arguments_come_back():
    """The checks return what they were given."""
    assert check_count("k", 0) == 0
    assert check_positive("k", 1) == 1
    assert check_share("importance", 1) == 1
    assert check_choice("mode", "a", ("a", "b")) == "a"


@pytest.mark.parametrize("bad", ["c", None, ["a"]])
def test_check_choice_lists_what_is_allowed(bad):
    """An unknown choice is told the known ones."""
    with pytest.raises(InvalidInputError, match="'a', 'b'"):
        check_choice("mode", bad, ("a", "b"))
