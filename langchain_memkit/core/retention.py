"""Policy 1: which evidence stays within reach under a token budget.

Source: *EMBER: Efficient Memory via Budgeted Evidence Retention*, arXiv 2606.05894.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from langchain_memkit.core.capsules import (
    CandidateOutcome,
    EvidenceCapsule,
    RetentionCandidate,
    RetentionReport,
)
from langchain_memkit.core.keys import content_sha256
from langchain_memkit.core.models import check_count
from langchain_memkit.core.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from langchain_memkit.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "HALF_LIFE_HOURS",
    "EvidenceCapsule",
    "RetentionCandidate",
    "RetentionReport",
    "recoverability",
    "retain_within_budget",
]

HALF_LIFE_HOURS = 168
"""Age at which the freshness of a piece of evidence has halved: one week."""

_ACCESS_SMOOTHING = 5
_SMALLEST_EXCERPT_TOKENS = 16
_MOST_USES = 2**53  # more make no difference, and no float takes any number of them


def recoverability(age_hours: float, access_count: int) -> float:
    """Score how likely evidence is to be needed again, from its age and its use.

    Formula (EMBER, arXiv 2606.05894):
    `0.5 ** (max(age, 0) / 168) * (access + 1) / (access + 1 + 5)`.

    Args:
        age_hours: Hours since the last use; a negative age counts as 0.
        access_count: How often it was used, at least 0.

    Returns:
        A number from 0 to 1.

    Raises:
        InvalidInputError: The age is NaN or infinite, or the count is no whole
            number of at least 0.

    Example:
        >>> round(recoverability(168, 4), 6)
        0.25
    """
    check_count("access_count", access_count)
    if not abs(age_hours) <= sys.float_info.max:
        raise InvalidInputError("age_hours", "must be a finite number", age_hours)
    freshness = 0.5 ** (max(age_hours, 0.0) / HALF_LIFE_HOURS)
    used = min(access_count, _MOST_USES) + 1
    return float(freshness * used / (used + _ACCESS_SMOOTHING))


def retain_within_budget(
    candidates: Iterable[RetentionCandidate],
    budget_tokens: int,
    excerpt_tokens: int = 64,
) -> RetentionReport:
    """Keep a verbatim prefix of the most recoverable candidates under a budget.

    Candidates are ranked by recoverability, then by retrieval score, both descending,
    then by input order. A capsule costs its key plus its prefix; packing stops once
    what is left cannot fund a key and 16 tokens of text.
    Source: EMBER, arXiv 2606.05894.

    Args:
        candidates: What may be kept.
        budget_tokens: Tokens for keys and excerpts together, at least 0.
        excerpt_tokens: Longest prefix of one candidate, in tokens, at least 0.

    Returns:
        The capsules, best first, and the totals.

    Raises:
        InvalidInputError: A budget is no whole number of at least 0.

    Example:
        >>> wind = RetentionCandidate(id="a", content="Kites need wind.")
        >>> retain_within_budget([wind], 20).capsules[0].excerpt
        'Kites need wind.'
    """
    check_count("budget_tokens", budget_tokens)
    check_count("excerpt_tokens", excerpt_tokens)
    given = tuple(candidates)
    scores = [recoverability(c.age_hours, c.access_count) for c in given]
    ranked = sorted(
        range(len(given)), key=lambda at: (-scores[at], -given[at].retrieval_score)
    )
    capsules: list[EvidenceCapsule] = []
    left = budget_tokens
    for at in ranked:
        room = left - estimate_tokens(given[at].id)
        if room < _SMALLEST_EXCERPT_TOKENS:
            break
        capsules.append(
            _prefix(
                given[at],
                position=at,
                score=scores[at],
                tokens=min(room, excerpt_tokens),
            )
        )
        left -= capsules[-1].tokens
    return RetentionReport(
        budget_tokens=budget_tokens,
        retained_tokens=budget_tokens - left,
        capsules=tuple(capsules),
        candidates_examined=len(given),
        dropped=len(given) - len(capsules),
        outcomes=_outcomes(given, frozenset(ranked[: len(capsules)])),
    )


def _outcomes(
    given: tuple[RetentionCandidate, ...], packed: frozenset[int]
) -> tuple[CandidateOutcome, ...]:
    return tuple(
        CandidateOutcome(id=c.id, outcome="packed" if at in packed else "no_budget")
        for at, c in enumerate(given)
    )


def _prefix(
    candidate: RetentionCandidate, *, position: int, score: float, tokens: int
) -> EvidenceCapsule:
    excerpt = candidate.content[: tokens * CHARACTERS_PER_TOKEN]
    return EvidenceCapsule(
        id=candidate.id,
        retrieval_key=candidate.id,
        excerpt=excerpt,
        tokens=estimate_tokens(candidate.id) + estimate_tokens(excerpt),
        recoverability=score,
        segments=((0, len(excerpt)),) if excerpt else (),
        position=position,
        sha256=content_sha256(candidate.content),
        is_cut=len(excerpt) < len(candidate.content),
    )
