from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.keys import content_key, content_sha256, is_content_key

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_a_key_is_the_beginning_of_the_hash(text):
    """Keys are 16 hexadecimal characters, whatever the text, surrogates included."""
    assert content_sha256(text).startswith(content_key(text))
    assert len(content_key(text)) == 16


@given(ANY_TEXT, ANY_TEXT)
def test_other_texts_have_other_keys(one, other):
    """Texts that differ do not share a key."""
    assert (content_key(one) == content_key(other)) == (one == other)


@given(ANY_TEXT)
def test_keys_are_deterministic(text):
    """A key depends on the text alone."""
    assert content_key(text) == content_key(str(text))


@given(ANY_TEXT)
def test_keys_are_told_by_their_form(text):
    """Every key has the form of a key; a text around it has not."""
    key = content_key(text)
    assert is_content_key(key)
    assert not is_content_key(f"{key}\n")
    assert not is_content_key(key.replace(key[0], "g", 1))
