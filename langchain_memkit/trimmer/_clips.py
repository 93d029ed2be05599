"""Verbatim heads and tails of a text, never cut inside a character."""

from __future__ import annotations

from collections.abc import Callable

from langchain_memkit.core.graphemes import floor_cut, is_safe_cut

__all__ = ["head_and_tail", "largest_fit"]

_HEAD_SHARE = 0.6
_ATTEMPTS = 24
_SHRINK = 0.9
_LINE_SEARCH = 80


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
    head = floor_cut(text, int(keep * _HEAD_SHARE), floor=-1)
    line = text.rfind("\n", max(0, head - min(_LINE_SEARCH, head // 4)), head)
    head = line if line > 0 else head
    tail = len(text) - (keep - int(keep * _HEAD_SHARE))
    while not is_safe_cut(text, tail):
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
