"""Policy 2: when a memory has faded."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, Self

from pydantic import model_validator

from langchain_memkit.core.models import FrozenModel, Share, check_share
from langchain_memkit.core.records import DecayRule, StoredMemory
from langchain_memkit.core.times import to_microseconds
from langchain_memkit.exceptions import InvalidInputError

__all__ = [
    "ForgetConfig",
    "decay_rule",
    "has_faded",
    "reason_to_forget",
    "should_forget",
]

_MONTH = timedelta(days=30)
_MICROSECOND = timedelta(microseconds=1)
_ALWAYS_US = 2**62  # beyond any datetime, and fits the 64 bits of a database


class ForgetConfig(FrozenModel):
    """How long memories last without being used.

    With the defaults `weak_grace` equals `ttl`, so importance decides nothing until
    `weak_grace` is set shorter; `ForgetConfig.weak_sooner()` does that.

    Attributes:
        ttl: Idle time after which any memory is forgotten, above 0.
        min_importance: Below this a memory is weak, from 0 to 1.
        weak_grace: Idle time after which a weak memory is forgotten, at least 0.

    Example:
        >>> ForgetConfig.weak_sooner().weak_grace
        datetime.timedelta(days=7)
    """

    ttl: timedelta = _MONTH
    min_importance: Share = 0.5
    weak_grace: timedelta = _MONTH

    @model_validator(mode="after")
    def _check_durations(self) -> Self:
        if self.ttl <= timedelta(0):
            raise InvalidInputError("ttl", "must be longer than 0", self.ttl)
        if self.weak_grace < timedelta(0):
            raise InvalidInputError("weak_grace", "must be at least 0", self.weak_grace)
        return self

    @classmethod
    def weak_sooner(cls) -> Self:
        """Return the policy that forgets weak memories after 7 idle days.

        Returns:
            The default policy with `weak_grace` of 7 days.
        """
        return cls(weak_grace=timedelta(days=7))


def should_forget(
    idle: timedelta | None,
    importance: float | None,
    *,
    config: ForgetConfig | None = None,
) -> bool:
    """Decide whether a memory has faded.

    Formula: `idle >= ttl`, or `importance < min_importance` and `idle >= weak_grace`.
    What is unknown is forgotten. A clock that runs backwards means idle 0.

    Args:
        idle: Time since the last access; `None` for a memory that is unknown.
        importance: From 0 to 1; `None` for a memory that is unknown.
        config: The policy; `None` means `ForgetConfig()`.

    Returns:
        Whether it is to be forgotten.

    Raises:
        InvalidInputError: The importance is not from 0 to 1.

    Example:
        >>> should_forget(timedelta(days=31), 0.9)
        True
    """
    if idle is None or importance is None:
        return True
    check_share("importance", importance)
    policy = config or ForgetConfig()
    idle = max(idle, timedelta(0))
    is_weak = importance < policy.min_importance
    return idle >= policy.ttl or (is_weak and idle >= policy.weak_grace)


def decay_rule(config: ForgetConfig, *, now: datetime) -> DecayRule:
    """Fix the policy at one moment.

    Formula: idle time reaches a duration where the last access is at or before `now`
    minus that duration. A duration of 0 is reached by any memory, also by one whose
    last access seems to lie in the future.

    Args:
        config: The policy.
        now: The moment, aware.

    Returns:
        The limits that a store compares with.

    Example:
        >>> from datetime import UTC
        >>> day = timedelta(days=1)
        >>> rule = decay_rule(
        ...     ForgetConfig(ttl=day), now=datetime(1970, 1, 2, tzinfo=UTC)
        ... )
        >>> rule.ttl_limit_us
        0
    """
    now_us = to_microseconds(now)
    grace_us = config.weak_grace // _MICROSECOND
    ttl_limit_us = now_us - config.ttl // _MICROSECOND
    weak_limit_us = now_us - grace_us if grace_us else _ALWAYS_US
    return DecayRule(
        ttl_limit_us=max(ttl_limit_us, -_ALWAYS_US),
        weak_limit_us=max(weak_limit_us, -_ALWAYS_US),
        min_importance=config.min_importance,
    )


def has_faded(memory: StoredMemory, *, rule: DecayRule) -> bool:
    """Decide whether a stored memory has faded under a rule.

    Args:
        memory: The memory.
        rule: The policy at one moment.

    Returns:
        What `should_forget` says of its idle time and importance; never true of a
        pinned memory.

    Example:
        >>> from datetime import UTC
        >>> day = datetime(2030, 1, 1, tzinfo=UTC)
        >>> note = StoredMemory("n", "x", 0.5, "user", False, False, day, day)
        >>> has_faded(note, rule=decay_rule(ForgetConfig(), now=day))
        False
    """
    return reason_to_forget(memory, rule=rule) is not None


def reason_to_forget(
    memory: StoredMemory, *, rule: DecayRule
) -> Literal["idle", "weak"] | None:
    """Tell why a stored memory has faded under a rule.

    Args:
        memory: The memory.
        rule: The policy at one moment.

    Returns:
        `idle` where it was not used for the `ttl`, `weak` where its importance is low
        and the `weak_grace` is over; `None` where it lives.

    Example:
        >>> from datetime import UTC
        >>> day = datetime(2030, 1, 1, tzinfo=UTC)
        >>> note = StoredMemory("n", "x", 0.5, "user", False, False, day, day)
        >>> later = decay_rule(ForgetConfig(), now=day + timedelta(days=30))
        >>> reason_to_forget(note, rule=later)
        'idle'
    """
    if memory.pinned:
        return None
    last_us = to_microseconds(memory.last_access_at)
    if last_us <= rule.ttl_limit_us:
        return "idle"
    is_weak = memory.importance < rule.min_importance
    return "weak" if is_weak and last_us <= rule.weak_limit_us else None
