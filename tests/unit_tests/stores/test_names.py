"""Names are safe everywhere and have one form; the short way agrees with the long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathvalidate import is_valid_filename

from langchain_memkit import UnsafeNameError
from langchain_memkit.stores.names import check_name

PLAIN = st.text(st.sampled_from("aCONprnul1. _-"), min_size=1, max_size=8)


@given(PLAIN)
def test_what_is_let_through_is_valid_on_every_system(name):
    """A plain name passes exactly where the library that knows all systems agrees."""
    is_valid = is_valid_filename(name, platform="universal") and name not in {".", ".."}
    try:
        check_name(name)
    except UnsafeNameError:
        assert not is_valid
    else:
        assert is_valid


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_a_name_that_passes_can_be_a_file(name):
    """Whatever passes has no way out of its folder and can be encoded."""
    try:
        plain = check_name(name)
    except UnsafeNameError:
        return
    assert not set(plain) & set('/\\\x00:*?"<>|\n\r')
    assert 0 < len(plain.encode()) <= 252
    assert check_name(plain) == plain


@pytest.mark.parametrize("name", [7, None, b"n", "", "a\u202eb", "a\u2028b", "LPT¹"])
def test_what_is_no_safe_name_is_refused(name):
    """The error names the parameter and is a `ValueError` too."""
    with pytest.raises(ValueError, match="`key`"):
        check_name(name, parameter="key")


def test_the_longest_name_is_252_bytes():
    """A name and its ending fit into the 255 bytes of a file name."""
    assert check_name("é" * 126) == "é" * 126
    with pytest.raises(UnsafeNameError, match="252 bytes"):
        check_name("é" * 126 + "x")
