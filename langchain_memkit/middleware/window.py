"""How large a prompt may be, and how much of that its messages get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from langchain_memkit.core.budget import ContextBudget
from langchain_memkit.core.models import check_count, check_positive
from langchain_memkit.exceptions import InvalidInputError

__all__ = ["Window", "check_budget"]

_RULE = "must be given alone: one of `max_tokens`, `fraction` and `budget`"


def check_budget(budget: ContextBudget | None) -> ContextBudget | None:
    """Refuse what is no budget to share out.

    Args:
        budget: What was given.

    Returns:
        The budget.

    Raises:
        InvalidInputError: It is something else.
    """
    given: object = budget
    if given is not None and not isinstance(given, ContextBudget):
        raise InvalidInputError("budget", "must be a ContextBudget", budget)
    return budget


@dataclass(frozen=True, slots=True)
class Window:
    """The budget of a whole prompt.

    Attributes:
        max_tokens: A number of tokens.
        fraction: A share of what the model takes, by its profile.
        budget: A window that is shared out.
        reserve_tokens: Kept free for the answer.
    """

    max_tokens: int | None
    fraction: float | None
    budget: ContextBudget | None
    reserve_tokens: int

    @classmethod
    def make(
        cls,
        *,
        max_tokens: int | None,
        fraction: float | None,
        budget: ContextBudget | None,
        reserve_tokens: int,
    ) -> Window:
        """Check what a middleware was told.

        Args:
            max_tokens: As there.
            fraction: As there.
            budget: As there.
            reserve_tokens: As there.

        Returns:
            The window.

        Raises:
            InvalidInputError: Not exactly one of the first three is given, or one of
                them breaks its rule.
        """
        given = [value for value in (max_tokens, fraction, budget) if value is not None]
        if len(given) != 1:
            raise InvalidInputError("max_tokens", _RULE, given)
        if max_tokens is not None:
            check_positive("max_tokens", max_tokens)
        if fraction is not None:  # checked as it is used
            ContextBudget.from_profile({"max_input_tokens": 1}, fraction=fraction)
        check_budget(budget)
        check_count("reserve_tokens", reserve_tokens)
        return cls(max_tokens, fraction, budget, reserve_tokens)

    def tokens(self, profile: Mapping[str, object] | None) -> int:
        """Tell how large a prompt may be, its reserve included.

        Args:
            profile: That of the model.

        Returns:
            Tokens, at least 1.

        Raises:
            InvalidInputError: A fraction is asked for and the profile names no window.
        """
        if self.max_tokens is not None:
            return self.max_tokens
        if self.budget is not None:
            return self.budget.max_tokens
        fraction = self.fraction or 1.0
        return ContextBudget.from_profile(profile, fraction=fraction).max_tokens

    def overhead(self, *, request_tokens: int, block_tokens: int) -> int:
        """Tell what is not there for the messages.

        Args:
            request_tokens: System prompt and tools.
            block_tokens: Price of the blocks of memories.

        Returns:
            Tokens, reserves and the shares of memory and documents included.

        Raises:
            BudgetExceededError: The floors of `budget` are more than its window.
        """
        if self.budget is None:
            return request_tokens + block_tokens + self.reserve_tokens
        split = self.budget.split(overhead_tokens=request_tokens + self.reserve_tokens)
        more = max(0, block_tokens - split.memory_tokens)
        return self.budget.max_tokens - split.history_tokens + more
