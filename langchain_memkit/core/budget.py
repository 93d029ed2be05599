"""One budget, shared out between history, memory and documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import model_validator

from langchain_memkit.core.models import Count, FrozenModel, Share, check_count
from langchain_memkit.exceptions import BudgetExceededError, InvalidInputError

__all__ = ["BudgetSplit", "ContextBudget"]


class BudgetSplit(FrozenModel):
    """What each part of a prompt may cost.

    Attributes:
        history_tokens: For the messages, without system prompt and tool schemas.
        memory_tokens: For the block of memories.
        document_tokens: For capsules of documents.
        overhead_tokens: System prompt and tool schemas.
        reserve_tokens: Kept free for the answer.
    """

    history_tokens: Count
    memory_tokens: Count
    document_tokens: Count
    overhead_tokens: Count
    reserve_tokens: Count

    @property
    def sent_tokens(self) -> int:
        """Tokens of the whole prompt: everything but the reserve."""
        return (
            self.history_tokens
            + self.memory_tokens
            + self.document_tokens
            + self.overhead_tokens
        )


class ContextBudget(FrozenModel):
    """A context window, and how it is shared out.

    Memory and documents get their share of the window without the reserve, at least
    their floors; the history gets the rest. Where the rest is below the history's
    floor, documents and then memory shrink down to their floors.

    Attributes:
        max_tokens: The window: prompt and answer together, at least 1.
        reserve_tokens: Kept free for the answer.
        memory_share: Share for memories, from 0 to 1.
        document_share: Share for documents, from 0 to 1; both together at most 1.
        history_floor_tokens: What the history gets at least.
        memory_floor_tokens: What memories get at least.
        document_floor_tokens: What documents get at least.

    Example:
        >>> budget = ContextBudget(max_tokens=10_000, reserve_tokens=2_000)
        >>> split = budget.split(overhead_tokens=500)
        >>> split.history_tokens, split.memory_tokens, split.document_tokens
        (5500, 400, 1600)
    """

    max_tokens: Count
    reserve_tokens: Count = 0
    memory_share: Share = 0.05
    document_share: Share = 0.2
    history_floor_tokens: Count = 0
    memory_floor_tokens: Count = 0
    document_floor_tokens: Count = 0

    @model_validator(mode="after")
    def _check_shares(self) -> Self:
        if self.max_tokens < 1:
            raise InvalidInputError("max_tokens", "must be at least 1", self.max_tokens)
        shares = self.memory_share + self.document_share
        if shares > 1:
            rule = "must be at most 1 together with `memory_share`"
            raise InvalidInputError("document_share", rule, self.document_share)
        return self

    @classmethod
    def from_profile(
        cls,
        profile: Mapping[str, object] | None,
        *,
        fraction: float = 1.0,
        **options: float,
    ) -> Self:
        """Take the window from a model's profile.

        Args:
            profile: What `model.profile` holds; its `max_input_tokens` is the window.
            fraction: Share of the window to use, above 0 and at most 1.
            **options: The other attributes of the budget.

        Returns:
            The budget.

        Raises:
            InvalidInputError: The profile names no window, or an option breaks its
                rule.

        Example:
            >>> profile = {"max_input_tokens": 200_000}
            >>> ContextBudget.from_profile(profile, fraction=0.5).max_tokens
            100000
        """
        given: object = fraction
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if not is_number or not 0 < fraction <= 1:
            rule = "must be above 0 and at most 1"
            raise InvalidInputError("fraction", rule, fraction)
        window = (profile or {}).get("max_input_tokens")
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            rule = "must hold `max_input_tokens`; give a number of tokens instead"
            raise InvalidInputError("profile", rule, profile)
        values = {**options, "max_tokens": max(1, int(window * fraction))}
        return cls.model_validate(values)

    def split(self, *, overhead_tokens: int = 0) -> BudgetSplit:
        """Share the window out.

        Args:
            overhead_tokens: System prompt and tool schemas, at least 0.

        Returns:
            The parts; what is sent and the reserve come to `max_tokens` exactly.

        Raises:
            BudgetExceededError: The overhead, the reserve and the floors are more than
                the window.
            InvalidInputError: The overhead is no whole number of at least 0.
        """
        check_count("overhead_tokens", overhead_tokens)
        usable = self.max_tokens - self.reserve_tokens
        room = usable - overhead_tokens - self.history_floor_tokens
        floors = self.memory_floor_tokens + self.document_floor_tokens
        if room < floors:
            self._refuse(overhead_tokens, floors - room)
        memory = max(self.memory_floor_tokens, int(usable * self.memory_share))
        documents = max(self.document_floor_tokens, int(usable * self.document_share))
        memory = min(memory, room - self.document_floor_tokens)
        documents = min(documents, room - memory)
        return BudgetSplit(
            history_tokens=usable - overhead_tokens - memory - documents,
            memory_tokens=memory,
            document_tokens=documents,
            overhead_tokens=overhead_tokens,
            reserve_tokens=self.reserve_tokens,
        )

    def _refuse(self, overhead_tokens: int, shortfall_tokens: int) -> None:
        parts = {
            "system prompt and tools": overhead_tokens,
            "output reserve": self.reserve_tokens,
            "history floor": self.history_floor_tokens,
            "memory floor": self.memory_floor_tokens,
            "document floor": self.document_floor_tokens,
        }
        raise BudgetExceededError(
            self.max_tokens,
            self.max_tokens + shortfall_tokens,
            shortfall_tokens,
            tuple(f"{name} ({tokens} tokens)" for name, tokens in parts.items()),
        )
