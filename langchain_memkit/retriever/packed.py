"""What one call packed, before it is written into documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_memkit.core.capsules import EvidenceCapsule, Outcome

__all__ = ["Packed"]


@dataclass(frozen=True, slots=True)
class Packed:
    """Capsules and what became of each candidate.

    Attributes:
        capsules: What was packed, best first.
        ids: Identifier of each candidate.
        outcomes: What became of the candidates for which it was not the budget.
        budget_tokens: The budget.
        retained_tokens: What the capsules cost together.
    """

    capsules: Sequence[EvidenceCapsule]
    ids: Sequence[str]
    outcomes: Mapping[int, Outcome]
    budget_tokens: int
    retained_tokens: int

    def totals(self) -> dict[str, object]:
        """Sum the call up.

        Returns:
            The fields of a `RetentionReport` that are numbers.
        """
        return {
            "budget_tokens": self.budget_tokens,
            "retained_tokens": self.retained_tokens,
            "candidates_examined": len(self.ids),
            "dropped": len(self.ids) - len(self.capsules),
        }

    def fate_of(self, position: int) -> dict[str, object]:
        """Tell what became of one candidate.

        Args:
            position: Its index.

        Returns:
            Its position, its identifier and its outcome.
        """
        outcome = self.outcomes.get(position, "no_budget")
        return {"position": position, "id": self.ids[position], "outcome": outcome}
