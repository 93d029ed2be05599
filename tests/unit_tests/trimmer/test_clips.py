"""Heads and tails of a text, and how much of it fits."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.trimmer._clips import head_and_tail, largest_fit

texts = st.text(
    alphabet=st.sampled_from("ab \n\u0301\u200d\U0001f469\U0001f1f8"), min_size=1
)


@given(texts, st.integers(min_value=0, max_value=99))
def test_both_ends_are_verbatim_and_no_longer_than_asked(text, keep):
    """What stands is the text's own beginning and end."""
    keep = min(keep, len(text) - 1)
    head, tail = head_and_tail(text, keep)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= keep


def test_a_head_ends_with_a_line_where_one_is_near():
    """Half a line is worth less than the space it takes."""
    text = "".join(f"line {k}\n" for k in range(99))
    head, _ = head_and_tail(text, 200)
    assert head.endswith(tuple("0123456789"))
    assert text[len(head)] == "\n"


def test_nothing_fits_where_every_price_is_too_high():
    """Neither a room too small nor a price that never falls is an excerpt."""
    assert largest_fit(10, room=0, price=lambda n: n, guess=5) is None
    assert largest_fit(10**9, room=1, price=lambda _: 2, guess=10**9) is None
