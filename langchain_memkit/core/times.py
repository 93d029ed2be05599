"""Points in time as whole microseconds, so that nothing is rounded on the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from langchain_memkit.exceptions import InvalidInputError

__all__ = ["as_utc", "from_microseconds", "to_microseconds"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def as_utc(moment: datetime, *, parameter: str = "now") -> datetime:
    """Bring a point in time to UTC; one without a time zone is taken as UTC.

    The zone of the host never matters.

    Args:
        moment: A point in time, aware or naive.
        parameter: Name used in the error.

    Returns:
        The same point in time, in UTC.

    Raises:
        InvalidInputError: It is no datetime, or lies outside the years 1 to 9999 in
            UTC.

    Example:
        >>> as_utc(datetime(2029, 12, 31)).isoformat()
        '2029-12-31T00:00:00+00:00'
    """
    if not isinstance(moment, datetime):
        raise InvalidInputError(parameter, "must be a datetime", moment)
    if moment.tzinfo is None or moment.utcoffset() is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        rule = "must lie in the years 1 to 9999 in UTC"
        raise InvalidInputError(parameter, rule, moment) from error


def to_microseconds(moment: datetime) -> int:
    """Count the microseconds from 1970 to a point in time.

    Args:
        moment: An aware datetime.

    Returns:
        Microseconds, negative before 1970.

    Example:
        >>> to_microseconds(datetime(1970, 1, 2, tzinfo=UTC))
        86400000000
    """
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Turn microseconds since 1970 into a point in time.

    Args:
        microseconds: What `to_microseconds` gave.

    Returns:
        The point in time, in UTC.

    Example:
        >>> from_microseconds(0).year
        1970
    """
    return _EPOCH + timedelta(microseconds=microseconds)
