"""Policy 3: which episodes leave a context window, tier by tier.

Source: *structured context eviction*, arXiv 2606.11213; constraints stay because of
*Governance Decay*, arXiv 2606.22528.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from langchain_memkit.core.models import Count, FrozenModel, check_count
from langchain_memkit.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ContextEpisode", "EpisodeKind", "EvictionPlan", "plan_eviction"]


class EpisodeKind(StrEnum):
    """What a part of the context is, which decides when it may leave."""

    CONSTRAINT = "constraint"
    USER_TURN = "user_turn"
    AGENT_REASONING = "agent_reasoning"
    ACTION_RESULT = "action_result"
    OBSERVATION = "observation"


_RESULTS = frozenset({EpisodeKind.ACTION_RESULT, EpisodeKind.OBSERVATION})
_TIERS = {EpisodeKind.AGENT_REASONING: 2, EpisodeKind.USER_TURN: 3}


class ContextEpisode(FrozenModel):
    """A part of the context that is kept or leaves as a whole.

    Attributes:
        id: Unique among the episodes of one plan.
        kind: What it is.
        tokens: Its length.
        persisted: Whether its content can be had again from elsewhere.
        pinned: Whether it must stay.
        recency: Higher is newer.

    Example:
        >>> ContextEpisode(id="a", kind="user_turn", tokens=3).pinned
        False
    """

    id: str
    kind: EpisodeKind
    tokens: Count = 0
    persisted: bool = False
    pinned: bool = False
    recency: int = 0


class EvictionPlan(FrozenModel):
    """What leaves, and what that comes to.

    Attributes:
        evicted: Identifiers in the order in which they leave.
        retained_tokens: Tokens of what stays.
        pinned_tokens: Tokens of constraints and pinned episodes.
        within_budget: Whether what stays fits.
    """

    evicted: tuple[str, ...]
    retained_tokens: Count
    pinned_tokens: Count
    within_budget: bool


def plan_eviction(episodes: Iterable[ContextEpisode], budget: int) -> EvictionPlan:
    """Choose what leaves so that the rest fits, oldest first within a tier.

    Constraints and pinned episodes never leave. Tiers: persisted action results and
    observations, then those not persisted, then agent reasoning, then user turns.
    Inside a tier the lowest recency goes first, then the lowest id. It stops as soon
    as the rest fits. Source: arXiv 2606.11213.

    Args:
        episodes: The parts of the context, in any order.
        budget: Tokens that may stay, at least 0.

    Returns:
        The plan; `within_budget` is false where even the pins do not fit.

    Raises:
        InvalidInputError: The budget is no whole number of at least 0, or two
            episodes have one id.

    Example:
        >>> old = ContextEpisode(id="old", kind="action_result", tokens=50)
        >>> rule = ContextEpisode(id="rule", kind="constraint", tokens=50)
        >>> plan_eviction([rule, old], 60).evicted
        ('old',)
    """
    check_count("budget", budget)
    items = tuple(episodes)
    _refuse_repeated_ids(items)
    retained = sum(item.tokens for item in items)
    movable = [item for item in items if not _is_fixed(item)]
    pinned = retained - sum(item.tokens for item in movable)
    evicted: list[str] = []
    for item in sorted(movable, key=lambda e: (_tier(e), e.recency, e.id)):
        if retained <= budget:
            break
        evicted.append(item.id)
        retained -= item.tokens
    return EvictionPlan(
        evicted=tuple(evicted),
        retained_tokens=retained,
        pinned_tokens=pinned,
        within_budget=retained <= budget,
    )


def _is_fixed(episode: ContextEpisode) -> bool:
    return episode.pinned or episode.kind is EpisodeKind.CONSTRAINT


def _tier(episode: ContextEpisode) -> int:
    if episode.kind in _RESULTS:
        return 0 if episode.persisted else 1
    return _TIERS[episode.kind]


def _refuse_repeated_ids(episodes: Sequence[ContextEpisode]) -> None:
    seen: set[str] = set()
    for episode in episodes:
        if episode.id in seen:
            raise InvalidInputError("episodes", "must have unique ids", episode.id)
        seen.add(episode.id)
