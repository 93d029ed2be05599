"""Policy 2: when a memory has faded."""

from __future__ import annotations

from datetime import timedelta
from typing import Self

from pydantic import model_validator

from langchain_memkit.core.models import FrozenModel, Share, check_share
from langchain_memkit.exceptions import InvalidInputError

__all__ = ["ForgetConfig", "should_forget"]

_MONTH = timedelta(days=30)


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
