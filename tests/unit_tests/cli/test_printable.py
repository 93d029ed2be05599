"""Foreign text is shown, and does nothing else."""

import html
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.cli.printable import clean, escape, one_line

ANY_TEXT = st.text(st.characters(categories=None))


@given(ANY_TEXT)
def test_clean_text_has_no_control_characters(text):
    """Nothing is left that moves a cursor, and the length stays."""
    cleaned = clean(text)
    left = {sign for sign in cleaned if unicodedata.category(sign) in {"Cc", "Cs"}}
    assert left <= {"\n", "\t"}
    assert len(cleaned) == len(text)
    cleaned.encode()


@given(ANY_TEXT)
def test_one_line_fits(text):
    """A cell is one line of the length that was asked for."""
    line = one_line(text, max_characters=20)
    assert len(line) <= 20
    assert line.splitlines() in ([], [line])


@given(ANY_TEXT)
def test_escaped_text_is_no_html(text):
    """No tag or attribute can be left or opened, and the text can be had back."""
    escaped = escape(text)
    assert not set("<>\"'") & set(escaped)
    assert html.unescape(escaped) == clean(text)


def test_clean_keeps_what_is_only_foreign():
    """Other scripts, joined emoji and line breaks stand as they are."""
    text = "क्षि\tمرحبا\n👩\u200d🚀 naïve"
    assert clean(text) == text


def test_clean_replaces_what_reorders():
    """Marks of writing direction cannot disguise a name."""
    assert clean("a\u202eb\u2066c\u2028d\x9bm") == "a�b�c�d�m"


def test_one_line_marks_a_cut():
    """A reader sees that there is more, also behind white space."""
    assert one_line("one two three", max_characters=8) == "one two…"
    assert one_line("one" + " " * 99 + "two", max_characters=8) == "one…"
