"""Retrieval keys."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.keys import content_sha256
from langchain_memkit.retriever.keys import choose_keys, hash_keys, is_key_of

CONTENTS = st.lists(st.text(max_size=3), max_size=6)


def wanted(contents):
    return {at: hash_keys(content_sha256(text)) for at, text in enumerate(contents)}


@given(CONTENTS)
def test_equal_contents_share_a_key_and_others_do_not(contents):
    """Keys differ exactly where contents do."""
    keys = choose_keys(wanted(contents), contents=contents, kept={})
    pairs = [(a, b) for a in keys for b in keys]
    assert all((keys[a] == keys[b]) == (contents[a] == contents[b]) for a, b in pairs)


@given(CONTENTS)
def test_a_key_says_what_it_names(contents):
    """Each key is the beginning of its content's hash."""
    keys = choose_keys(wanted(contents), contents=contents, kept={})
    assert all(is_key_of(key, contents[at]) for at, key in keys.items())


def test_a_taken_key_grows_instead_of_being_reassigned():
    """Where another content stands under the short key, a longer one is taken."""
    digest = content_sha256("tide")
    kept = {digest[:8]: "another"}
    assert choose_keys(wanted(["tide"]), contents=["tide"], kept=kept)[0] == digest[:16]
    kept[digest[:16]] = "a third"
    assert choose_keys(wanted(["tide"]), contents=["tide"], kept=kept)[0] == digest


def test_a_key_of_its_own_content_is_kept():
    """Where the content itself stands under its key, it stays."""
    digest = content_sha256("tide")
    keys = choose_keys(wanted(["tide"]), contents=["tide"], kept={digest[:8]: "tide"})
    assert keys == {0: digest[:8]}


def test_a_short_prefix_is_no_key():
    """Fewer than eight characters name nothing."""
    assert not is_key_of(content_sha256("tide")[:7], "tide")
