"""How old a document is, from what its metadata or an access log says.

Convention: the first of `TIMESTAMP_FIELDS` that holds a readable time counts. A time is
a datetime or a date (naive means UTC), ISO 8601 text (without an offset means UTC), or
a number of seconds since 1970 (milliseconds where it is above 1e11). What cannot be
read, is not finite or lies in the future is unknown. A document of unknown age counts
as old as the oldest known one of the call, so that it is never fresher than another;
where no age is known, all are 0.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from langchain_memkit.core.times import as_utc
from langchain_memkit.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["TIMESTAMP_FIELDS", "ages_in_hours", "read_time"]

TIMESTAMP_FIELDS = (
    "last_accessed_at",
    "last_access_at",
    "timestamp",
    "updated_at",
    "created_at",
)
"""Metadata fields that are looked at, in this order."""

_MILLISECONDS_ABOVE = 1e11
_HOUR = timedelta(hours=1)


def read_time(value: object) -> datetime | None:
    """Read a point in time, as the convention of this module says.

    Args:
        value: Anything.

    Returns:
        An aware datetime, or `None` where the value is no time.

    Example:
        >>> read_time("2030-01-01T12:00:00")
        datetime.datetime(2030, 1, 1, 12, 0, tzinfo=datetime.timezone.utc)
    """
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, datetime):
        return _aware(value)
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _read_epoch(value)
    return None


def _read_text(text: str) -> datetime | None:
    try:
        return _aware(datetime.fromisoformat(text.strip()))
    except ValueError:
        return None


def _read_epoch(number: float) -> datetime | None:
    try:
        seconds = number / 1000 if number > _MILLISECONDS_ABOVE else float(number)
        if not math.isfinite(seconds):
            return None
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _aware(moment: datetime) -> datetime | None:
    try:
        return as_utc(moment)
    except InvalidInputError:
        return None


def ages_in_hours(
    metadatas: Sequence[Mapping[str, object]],
    *,
    last_uses: Sequence[datetime | None],
    now: datetime,
) -> list[float]:
    """Tell how long each document was not used.

    Args:
        metadatas: Metadata of each document.
        last_uses: What the access log says of each; the later of both counts.
        now: The time of the call, with a time zone.

    Returns:
        Hours, at least 0, finite.

    Example:
        >>> now = datetime(2030, 1, 2, tzinfo=UTC)
        >>> days = [{"created_at": "2030-01-01"}, {"created_at": "2031-01-01"}]
        >>> ages_in_hours(days, last_uses=[None, None], now=now)
        [24.0, 24.0]
    """
    known = [
        _age(metadata, last_use=last_use, now=now)
        for metadata, last_use in zip(metadatas, last_uses, strict=True)
    ]
    oldest = max((age for age in known if age is not None), default=0.0)
    return [oldest if age is None else age for age in known]


def _age(
    metadata: Mapping[str, object], *, last_use: datetime | None, now: datetime
) -> float | None:
    told = (read_time(metadata[name]) for name in TIMESTAMP_FIELDS if name in metadata)
    stamped = next((moment for moment in told if moment is not None), None)
    past = [m for m in (stamped, last_use) if m is not None and m <= now]
    return (now - max(past)) / _HOUR if past else None
