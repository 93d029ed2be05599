"""A bounded mapping."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit import InvalidInputError
from langchain_memkit.core.recent import Recent


@given(st.lists(st.sampled_from("abcdef")), st.integers(1, 4))
def test_the_last_used_stay(names, most):
    """It holds the names that were put last, as many as it may."""
    recent = Recent(most)
    for name in names:
        recent.put([(name, name)])
    last = list(dict.fromkeys(reversed(names)))[:most]
    assert [n for n in "abcdef" if recent.get([n])[0]] == sorted(last)


def test_looking_up_counts_as_use():
    """What was looked up stays longer than what was not."""
    recent = Recent(2)
    recent.put([("a", 1), ("b", 2)])
    recent.get(["a"])
    recent.put([("c", 3)])
    assert recent.get(["a", "b", "c"]) == [1, None, 3]


def test_an_update_is_one_step():
    """Threads that count together lose nothing."""
    recent = Recent(4)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(400):
            pool.submit(recent.update, ["a"], lambda known: (known or 0) + 1)
    assert recent.get(["a"]) == [400]


def test_it_holds_at_least_one():
    """A bound of 0 is refused."""
    with pytest.raises(InvalidInputError, match="most"):
        Recent(0)
