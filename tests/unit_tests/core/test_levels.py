"""A room is shared by cutting the largest first."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.levels import level_down

sizes = st.lists(st.integers(min_value=0, max_value=500), max_size=12)
rooms = st.integers(min_value=-50, max_value=3_000)


@given(sizes, rooms)
def test_what_is_cut_to_the_level_fits(sizes, room):
    """The sum of what is cut to the level is at most the room."""
    level = level_down(sizes, room)
    assert sum(min(size, level) for size in sizes) <= max(0, room)


@given(sizes, rooms)
def test_no_higher_level_fits(sizes, room):
    """One more would not fit, unless nothing is cut at all."""
    level = level_down(sizes, room)
    higher = sum(min(size, level + 1) for size in sizes)
    assert higher > room or level >= max(sizes, default=0)


@given(sizes, rooms)
def test_the_order_of_the_sizes_does_not_matter(sizes, room):
    """The level is a function of the sizes alone."""
    assert level_down(sizes, room) == level_down(sorted(sizes), room)
