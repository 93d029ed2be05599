"""Where a text may be cut without parting what a reader sees as one character."""

from __future__ import annotations

from unicodedata import category, combining

__all__ = ["floor_cut", "is_safe_cut"]

_ZERO_WIDTH_JOINER = "\u200d"
_VIRAMA_CLASS = 9
# Letters and format characters that extend what stands before or after them although
# their category does not tell: Thai and Lao AM, half-width voicing marks; the signs
# that precede a number or a letter in Arabic, Syriac, Malayalam and Kaithi.
_EXTENDS = frozenset("\u200c\u0e33\u0eb3\uff9e\uff9f")
_PREPENDS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U000113d1\U0001193f\U00011941"
    "\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46"
    "\U00011f02"
)


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_jamo(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\ua960" <= char <= "\ua97c"


def _is_jamo_tail(char: str) -> bool:
    return "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7fb"


def _extends(char: str) -> bool:
    if char == _ZERO_WIDTH_JOINER or char in _EXTENDS:
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True
    return category(char)[0] == "M" or _is_jamo_tail(char)


def _ends_in_virama(text: str, at: int) -> bool:
    while at > 0 and _extends(text[at - 1]):
        at -= 1
        if combining(text[at]) == _VIRAMA_CLASS:
            return True
    return False


def is_safe_cut(text: str, at: int) -> bool:
    r"""Tell whether a text can be cut before a code point.

    The rule is stricter than the grapheme clusters of Unicode's annex 29 where that
    saves a table: it refuses every cut before a mark, beside a zero-width joiner,
    after a virama, between regional indicators, between jamo, and inside `\r\n`.

    Args:
        text: Any text.
        at: Index of the code point after the cut; both ends of a text are safe.

    Returns:
        Whether no grapheme is parted.

    Example:
        >>> [is_safe_cut("e\u0301a", at) for at in range(4)]
        [True, False, True, True]
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before in "\r\n" or after in "\r\n":
        return before != "\r" or after != "\n"
    if before.isascii() and after.isascii():
        return True
    return not _is_bound(text, at)


def _is_bound(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    return (
        _extends(after)
        or before == _ZERO_WIDTH_JOINER
        or before in _PREPENDS
        or _ends_in_virama(text, at)
        or (_is_regional(before) and _is_regional(after))
        or (_is_jamo(before) and (_is_jamo(after) or "\uac00" <= after <= "\ud7a3"))
    )


def floor_cut(text: str, at: int, *, floor: int = 0) -> int:
    """Return the last safe cut at or before an index.

    Args:
        text: Any text.
        at: Where a cut is wanted.
        floor: The cut stays after this index.

    Returns:
        The nearest safe index in `(floor, at]`; where there is none, the first safe
        one after `at`, so that a cut always makes progress.

    Example:
        >>> floor_cut("ae\u0301", 2)
        1
    """
    for cut in range(at, floor, -1):
        if is_safe_cut(text, cut):
            return cut
    cut = at + 1
    while not is_safe_cut(text, cut):
        cut += 1
    return cut
