"""Verbatim heads and tails of a text, never cut inside a character."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

__all__ = ["boundary", "head_and_tail", "largest_fit"]

_JOINER = "\u200d"
_EXTENDERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
_HEAD_SHARE = 0.6
_ATTEMPTS = 24
_SHRINK = 0.9
_LINE_SEARCH = 80


def _extends(character: str) -> bool:
    return (
        character in _EXTENDERS
        or unicodedata.category(character) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\udc00" <= character <= "\udfff"
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def boundary(text: str, position: int) -> int:
    r"""Move a position back to where no character is cut in two.

    Args:
        text: Any text.
        position: Where to cut, from 0 to its length.

    Returns:
        The position, or one before it that joins no marks, joiners or flags.

    Example:
        >>> boundary("e\u0301", 1)
        0
    """
    while 0 < position < len(text) and (
        _extends(text[position]) or text[position - 1] == _JOINER
    ):
        position -= 1
    if 0 < position < len(text) and _is_flag_half(text[position]):
        start = position
        while start > 0 and _is_flag_half(text[start - 1]):
            start -= 1
        position -= (position - start) % 2
    return position


def head_and_tail(text: str, keep: int) -> tuple[str, str]:
    """Cut a text to its beginning and its end.

    Args:
        text: Any text.
        keep: Code points that may stand, fewer than the text has.

    Returns:
        Both parts; cut at a line's end where one is near.

    Example:
        >>> head_and_tail("0123456789", 5)
        ('012', '89')
    """
    head = boundary(text, int(keep * _HEAD_SHARE))
    line = text.rfind("\n", max(0, head - min(_LINE_SEARCH, head // 4)), head)
    head = line if line > 0 else head
    start = len(text) - (keep - int(keep * _HEAD_SHARE))
    tail = boundary(text, start)
    if tail < start:  # a wider tail would not fit; skip the character that was cut
        tail = start
        while tail < len(text) and boundary(text, tail) != tail:
            tail += 1
    return text[:head], text[tail:]


def largest_fit(
    length: int, *, room: int, price: Callable[[int], int], guess: int
) -> int | None:
    """Find how much of something fits a room, to within a tenth.

    Args:
        length: How much there is.
        room: Tokens it may take.
        price: Tokens that so much would take.
        guess: Where to begin.

    Returns:
        How much fits, fewer than `length`, or None where nothing does.

    Example:
        >>> largest_fit(100, room=10, price=lambda n: n, guess=12)
        10
    """
    keep = min(guess, length - 1)
    for _ in range(_ATTEMPTS):
        if keep <= 0:
            return None
        if price(keep) <= room:
            return keep
        keep = int(keep * _SHRINK)
    return None
