"""Access logs: how often a text was packed, and when last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_memkit.core.recent import Recent
from langchain_memkit.protocols import AccessTally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

__all__ = ["InMemoryAccessLog", "count_access"]


class InMemoryAccessLog:
    """An `AccessLog` of this process; bounded, it forgets what was used longest ago.

    Example:
        >>> from datetime import UTC, datetime
        >>> log = InMemoryAccessLog()
        >>> log.record(["a"], at=datetime(2030, 1, 1, tzinfo=UTC))
        >>> log.read(["a", "b"])["a"].count
        1
    """

    def __init__(self, *, max_keys: int = 100_000) -> None:
        """Make an empty log.

        Args:
            max_keys: How many texts it remembers, at least 1.

        Raises:
            InvalidInputError: The number is not at least 1.
        """
        self._tallies: Recent[AccessTally] = Recent(max_keys)

    def read(self, keys: Sequence[str]) -> Mapping[str, AccessTally]:
        """Tell how texts were used so far.

        Args:
            keys: Names of the texts.

        Returns:
            The tallies of those that were recorded.
        """
        found = zip(keys, self._tallies.get(keys), strict=True)
        return {key: tally for key, tally in found if tally is not None}

    async def aread(self, keys: Sequence[str]) -> Mapping[str, AccessTally]:
        """Do what `read` does.

        Args:
            keys: Names of the texts.

        Returns:
            The tallies of those that were recorded.
        """
        return self.read(keys)

    def record(self, keys: Sequence[str], *, at: datetime) -> None:
        """Count one use of each text.

        Args:
            keys: Names of the texts.
            at: Now, with a time zone.
        """
        self._tallies.update(
            dict.fromkeys(keys), lambda known: count_access(known, at=at)
        )

    async def arecord(self, keys: Sequence[str], *, at: datetime) -> None:
        """Do what `record` does.

        Args:
            keys: Names of the texts.
            at: Now, with a time zone.
        """
        self.record(keys, at=at)


def count_access(known: AccessTally | None, *, at: datetime) -> AccessTally:
    """Add one use to a tally.

    Args:
        known: The tally so far, `None` where there is none.
        at: When the text was used, with a time zone.

    Returns:
        The new tally; its time never moves back.

    Example:
        >>> from datetime import UTC, datetime
        >>> count_access(None, at=datetime(2030, 1, 1, tzinfo=UTC)).count
        1
    """
    if known is None:
        return AccessTally(1, at)
    return AccessTally(known.count + 1, max(known.last_at, at))
