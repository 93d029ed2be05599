"""Options of a wrong type are refused by name, before an agent is built."""

import pytest

from langchain_memkit import InvalidInputError
from langchain_memkit.middleware import (
    EpisodeTrimMiddleware,
    ForgettingMemoryMiddleware,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("budget", 5),
        ("fraction", "half"),
        ("fraction", True),
        ("persist", "no"),
        ("name", 0),
        ("namespace", 5),
    ],
)
def test_a_trimming_option_of_a_wrong_type_is_refused(name, value):
    """The error names the option."""
    window = {} if name in {"budget", "fraction"} else {"max_tokens": 100}
    with pytest.raises(InvalidInputError) as caught:
        EpisodeTrimMiddleware(**window, **{name: value})
    assert caught.value.parameter == name


@pytest.mark.parametrize(
    ("name", "value"), [("budget", "x"), ("tools", "x"), ("name", []), ("namespace", 5)]
)
def test_a_memory_option_of_a_wrong_type_is_refused(name, value):
    """The error names the option."""
    with pytest.raises(InvalidInputError) as caught:
        ForgettingMemoryMiddleware(**{name: value})
    assert caught.value.parameter == name
