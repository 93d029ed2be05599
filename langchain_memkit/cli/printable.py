"""Foreign text made harmless to show: in a terminal, in a table, in a page."""

from __future__ import annotations

import html
import unicodedata

__all__ = ["clean", "escape", "one_line"]

_KEPT = frozenset("\n\t")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_DIRECTIONS = frozenset(
    "\N{LEFT-TO-RIGHT MARK}\N{RIGHT-TO-LEFT MARK}\N{ARABIC LETTER MARK}"
    "\N{LEFT-TO-RIGHT EMBEDDING}\N{RIGHT-TO-LEFT EMBEDDING}"
    "\N{POP DIRECTIONAL FORMATTING}\N{LEFT-TO-RIGHT OVERRIDE}"
    "\N{RIGHT-TO-LEFT OVERRIDE}\N{LEFT-TO-RIGHT ISOLATE}"
    "\N{RIGHT-TO-LEFT ISOLATE}\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}"
)


def clean(text: str) -> str:
    """Replace what could move the cursor, reorder text or fail to encode.

    Args:
        text: Any text.

    Returns:
        The text with control characters (but for line breaks and tabs), marks of
        writing direction and lone surrogates each replaced by U+FFFD.

    Example:
        >>> clean(chr(27) + "[31mred") == chr(0xFFFD) + "[31mred"
        True
    """
    return "".join(_REPLACEMENT if _is_unsafe(sign) else sign for sign in text)


def one_line(text: str, *, max_characters: int = 72) -> str:
    """Make a text fit into one cell of a table.

    Args:
        text: Any text.
        max_characters: The most that is returned.

    Returns:
        The clean text with all white space as single spaces, cut with an ellipsis.

    Example:
        >>> one_line("Kites   need wind.", max_characters=12)
        'Kites need …'
    """
    # no more is looked at than could be shown: a tool result may have megabytes
    flat = " ".join(clean(text[: 8 * max_characters]).split())
    cut = len(flat) > max_characters or len(text) > 8 * max_characters
    return flat[: max_characters - 1] + "…" if cut else flat


def escape(text: str) -> str:
    """Make a text fit into a page, as text or as the value of an attribute.

    Args:
        text: Any text.

    Returns:
        The clean text with the signs of HTML escaped.

    Example:
        >>> escape("<b>")
        '&lt;b&gt;'
    """
    return html.escape(clean(text), quote=True)


def _is_unsafe(sign: str) -> bool:
    if sign in _KEPT or sign.isprintable():
        return False
    return sign in _DIRECTIONS or unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"}
