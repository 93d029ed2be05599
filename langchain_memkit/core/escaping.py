"""Reversible escaping of what no database or file takes: NUL and lone surrogates."""

from __future__ import annotations

import re

__all__ = ["escape_text", "unescape_text"]

_MARK = "\ufdd0"
_ODD = re.compile("[\x00\ud800-\udfff\ufdd0]")
_ESCAPED = re.compile(f"{_MARK}([0-9a-f]{{4}})")


def escape_text(text: str) -> str:
    r"""Replace NUL and lone surrogates by text that is valid in UTF-8 everywhere.

    Each becomes the noncharacter U+FDD0 and its code point as four hexadecimal
    digits; U+FDD0 itself is escaped likewise, so that every text has its own form.

    Args:
        text: Any text.

    Returns:
        The text itself where nothing was odd.

    Example:
        >>> unescape_text(escape_text("a\x00b")) == "a\x00b"
        True
    """
    if not _ODD.search(text):
        return text
    return _ODD.sub(lambda odd: f"{_MARK}{ord(odd[0]):04x}", text)


def unescape_text(text: str) -> str:
    """Undo `escape_text`.

    Args:
        text: What `escape_text` gave.

    Returns:
        The text as it was.

    Example:
        >>> unescape_text("plain")
        'plain'
    """
    if _MARK not in text:
        return text
    return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), text)
