"""From documents and a query to a report: pure, the same for sync and async."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from langchain_memkit.core.capsules import Outcome
from langchain_memkit.core.excerpts import (
    ExcerptWeights,
    ScoredTexts,
    TextUnits,
    value_units,
)
from langchain_memkit.core.packing import PackCosts, PackText, Pick, pack_units
from langchain_memkit.core.terms import query_terms
from langchain_memkit.core.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from langchain_memkit.retriever.keys import KEY_CHARACTERS
from langchain_memkit.retriever.rendering import BLOCK_JOINT, escape_text, render_block

if TYPE_CHECKING:
    from langchain_memkit.core.units import Span

__all__ = [
    "SEGMENT_JOINT",
    "Candidates",
    "PackOptions",
    "Plan",
    "PlannedUnit",
    "plan_units",
    "unfit",
]

SEGMENT_JOINT = " … "
"""What stands between two segments of an excerpt."""

_COSTS = PackCosts(
    document=len(render_block("0" * KEY_CHARACTERS, "") + BLOCK_JOINT),
    join=len(SEGMENT_JOINT),
)
_SMALLEST_UNIT_CHARACTERS = 16
_SAMPLE_CHARACTERS = 4000
_SLACK = 1.1


@dataclass(frozen=True, slots=True)
class PackOptions:
    """How to pack, checked by whoever made it.

    Attributes:
        budget_tokens: Tokens for all capsules together.
        excerpt_tokens: Longest prefix, or longest unit.
        strategy: Units chosen by the query, or prefixes.
        ranking: What comes first where the query does not decide.
        count: Counts the tokens of a text.
        is_estimate: Whether `count` is a quarter of the code points.
        max_per_document: Most units of one document.
        min_score: Least share of the query that a document must cover.
        stop_words: Words in lower case that say nothing.
        weights: What makes a unit worth sending.
    """

    budget_tokens: int
    excerpt_tokens: int
    strategy: Literal["query", "prefix"] = "query"
    ranking: Literal["relevance", "recoverability"] = "relevance"
    count: Callable[[str], int] = estimate_tokens
    is_estimate: bool = True
    max_per_document: int | None = None
    min_score: float = 0.0
    stop_words: Collection[str] = frozenset()
    weights: ExcerptWeights = field(default_factory=ExcerptWeights)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What may be packed, in the order of the base retriever.

    Attributes:
        contents: The full texts.
        ids: Their documents' ids, `None` where there is none.
        recoverabilities: From 0 to 1 each.
        ages_hours: Hours since the last use.
        access_counts: How often each was packed so far.
        seen: What the model has read already.
    """

    contents: Sequence[str]
    ids: Sequence[str | None]
    recoverabilities: Sequence[float]
    ages_hours: Sequence[float]
    access_counts: Sequence[int]
    seen: str = ""


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """One unit that was picked.

    Attributes:
        candidate: Index of its candidate.
        span: Where it stands in the content.
        relevance: Share of the query that it covers with the candidate's earlier
            picks, from 0 to 1.
    """

    candidate: int
    span: Span
    relevance: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Units picked, before keys are known.

    Attributes:
        outcomes: Why a candidate cannot be packed, where it cannot.
        picks: Candidate, span and query terms of each unit, most valuable first.
    """

    outcomes: Mapping[int, Outcome]
    picks: Sequence[PlannedUnit]


def unfit(texts: Sequence[str]) -> dict[int, Outcome]:
    """Tell which candidates hold nothing, or nothing new.

    Args:
        texts: The full texts, or whatever names them.

    Returns:
        The reason, by index.

    Example:
        >>> unfit(["Tides.", " ", "Tides."])
        {1: 'empty', 2: 'duplicate'}
    """
    outcomes: dict[int, Outcome] = {}
    known: set[str] = set()
    for at, text in enumerate(texts):
        if not text or text.isspace():
            outcomes[at] = "empty"
        elif text in known:
            outcomes[at] = "duplicate"
        known.add(text)
    return outcomes


def plan_units(query: str, *, candidates: Candidates, options: PackOptions) -> Plan:
    """Pick units of all candidates under the budget.

    Args:
        query: What is asked for.
        candidates: What may be packed.
        options: How to pack.

    Returns:
        The picks; their rendering fits where the estimate of its length is right.

    Example:
        >>> candidates = Candidates(["Kites need wind."], ["a"], [0.2], [0.0], [0])
        >>> options = PackOptions(20, 64)
        >>> plan_units("wind", candidates=candidates, options=options).picks
        [PlannedUnit(candidate=0, span=(0, 16), relevance=1.0)]
    """
    outcomes = unfit(candidates.contents)
    order = [at for at in _order(candidates, options) if at not in outcomes]
    contents = [candidates.contents[at] for at in order]
    budget = _budget_characters(contents, options)
    scored = value_units(
        query_terms(query, stop_words=options.stop_words),
        contents,
        unit_characters=_unit_characters(budget, options),
        budget_characters=budget,
        weights=options.weights,
    )
    offered: list[tuple[int, PackText]] = []
    for at, units in zip(order, scored.texts, strict=True):
        if units.share < options.min_score:
            outcomes[at] = "below_score"
        elif units.spans:
            text = _offer(candidates, at, units=units)
            if len(text.skip) == len(units.spans):
                outcomes[at] = "seen"
            else:
                offered.append((at, text))
    picks = pack_units(
        [text for _, text in offered],
        budget=budget,
        costs=_COSTS,
        most_units=options.max_per_document,
        in_order=not scored.matches,
    )
    return Plan(outcomes, _planned(picks, offered=offered, scored=scored))


def _order(candidates: Candidates, options: PackOptions) -> Sequence[int]:
    positions = range(len(candidates.contents))
    if options.ranking == "relevance":
        return positions
    return sorted(positions, key=lambda at: -candidates.recoverabilities[at])


def _budget_characters(contents: Sequence[str], options: PackOptions) -> int:
    """Tell how many rendered characters the budget buys, a joint after each block."""
    ratio: float = CHARACTERS_PER_TOKEN
    if not options.is_estimate:
        sample = BLOCK_JOINT.join(contents)[:_SAMPLE_CHARACTERS]
        ratio = _SLACK * len(sample) / max(1, options.count(sample))
    return int(options.budget_tokens * ratio) + len(BLOCK_JOINT)


def _unit_characters(budget: int, options: PackOptions) -> int:
    room = max(_SMALLEST_UNIT_CHARACTERS, budget - _COSTS.document)
    return min(room, options.excerpt_tokens * CHARACTERS_PER_TOKEN)


def _offer(candidates: Candidates, at: int, *, units: TextUnits) -> PackText:
    content = candidates.contents[at]
    return PackText(
        units,
        lengths=_rendered_lengths(content, units.spans),
        tie_break=candidates.recoverabilities[at],
        skip=_seen_units(content, units.spans, seen=candidates.seen),
    )


def _rendered_lengths(content: str, spans: Sequence[Span]) -> list[int]:
    if not ("&" in content or "<" in content or ">" in content):
        return [end - start for start, end in spans]
    return [len(escape_text(content[start:end])) for start, end in spans]


def _seen_units(content: str, spans: Sequence[Span], *, seen: str) -> frozenset[int]:
    if not seen:
        return frozenset()
    return frozenset(
        at for at, (start, end) in enumerate(spans) if content[start:end] in seen
    )


def _planned(
    picks: Sequence[Pick],
    *,
    offered: Sequence[tuple[int, PackText]],
    scored: ScoredTexts,
) -> list[PlannedUnit]:
    covered: dict[int, int] = {}
    planned = []
    for pick in picks:
        candidate, text = offered[pick.text]
        mask = covered.get(candidate, 0) | text.units.masks[pick.unit]
        covered[candidate] = mask
        share = scored.share_of(mask)
        planned.append(PlannedUnit(candidate, text.units.spans[pick.unit], share))
    return planned
