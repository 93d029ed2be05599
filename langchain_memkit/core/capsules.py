"""The values that evidence is packed into: candidate, capsule, outcome, report."""

from __future__ import annotations

from typing import Literal

from langchain_memkit.core.models import Count, Finite, FrozenModel, Share

__all__ = [
    "CandidateOutcome",
    "EvidenceCapsule",
    "Outcome",
    "RetentionCandidate",
    "RetentionReport",
]

Outcome = Literal["packed", "duplicate", "empty", "seen", "below_score", "no_budget"]
"""What became of a candidate.

- `packed`: it has a capsule.
- `duplicate`: an earlier candidate has the same content.
- `empty`: it holds no text but white space.
- `seen`: all that was worth sending already stands in the given messages.
- `below_score`: its relevance is below `min_score`.
- `no_budget`: others were worth more of the budget.
"""


class RetentionCandidate(FrozenModel):
    """A piece of evidence that may be kept.

    Attributes:
        id: Its key.
        content: The full text.
        access_count: How often it was used so far.
        age_hours: Hours since its last use; a negative age counts as 0.
        retrieval_score: How well it matched; higher is better.

    Example:
        >>> RetentionCandidate(id="a", content="Kites need wind.").access_count
        0
    """

    id: str
    content: str
    access_count: Count = 0
    age_hours: Finite = 0.0
    retrieval_score: Finite = 0.0


class EvidenceCapsule(FrozenModel):
    """A short verbatim excerpt and the key that fetches the full text.

    Attributes:
        id: Identifier of the candidate.
        retrieval_key: What fetches the full text.
        excerpt: The segments' texts, joined by ` … `.
        tokens: What the capsule costs, key included.
        recoverability: From 0 to 1, see `recoverability`.
        segments: Half-open spans of code points into the content.
        position: Index of its candidate in what was examined.
        relevance: Share of the query's weight that the excerpt covers, from 0 to 1.
        sha256: Hash of the full text, empty where it was not taken.
        is_cut: Whether the excerpt leaves out some of the full text.

    Example:
        >>> capsule = EvidenceCapsule(
        ...     id="a", retrieval_key="a", excerpt="Kites", tokens=3, recoverability=0.5
        ... )
        >>> EvidenceCapsule.model_validate_json(capsule.model_dump_json()) == capsule
        True
    """

    id: str
    retrieval_key: str
    excerpt: str
    tokens: Count
    recoverability: Finite
    segments: tuple[tuple[int, int], ...] = ()
    position: Count = 0
    relevance: Share = 0.0
    sha256: str = ""
    is_cut: bool = False


class CandidateOutcome(FrozenModel):
    """What became of one candidate.

    Attributes:
        id: Identifier of the candidate.
        outcome: Whether it was packed, or why not.
    """

    id: str
    outcome: Outcome


class RetentionReport(FrozenModel):
    """What was kept under a budget.

    Attributes:
        budget_tokens: The budget.
        retained_tokens: What the capsules cost together.
        capsules: What was kept, best first.
        candidates_examined: How many candidates there were.
        dropped: How many of them are in no capsule.
        outcomes: What became of each candidate, in input order.

    Example:
        >>> RetentionReport(budget_tokens=0, retained_tokens=0).capsules
        ()
    """

    budget_tokens: Count
    retained_tokens: Count
    capsules: tuple[EvidenceCapsule, ...] = ()
    candidates_examined: Count = 0
    dropped: Count = 0
    outcomes: tuple[CandidateOutcome, ...] = ()
