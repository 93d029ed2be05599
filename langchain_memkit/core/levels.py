"""Sharing a room among sizes by cutting the largest first."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["level_down"]


def level_down(sizes: Sequence[int], room: int) -> int:
    """Find the level to cut sizes to, so that they fit a room together.

    Formula: the largest `level` with `sum(min(size, level)) <= room`.

    Args:
        sizes: Sizes, each at least 0.
        room: What they may take together.

    Returns:
        The level; 0 where the room is 0 or less, the largest size where all fit.

    Example:
        >>> level_down([10, 50, 90], 70)
        30
    """
    left, level = room, 0
    ordered = sorted(sizes)
    for position, size in enumerate(ordered):
        count = len(ordered) - position
        if size * count > left:
            return max(0, left // count)
        left -= size
        level = size
    return level
