"""From picks and keys to capsules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_memkit.core.capsules import (
    EvidenceCapsule,
    Outcome,
    RetentionCandidate,
)
from langchain_memkit.core.graphemes import floor_cut
from langchain_memkit.core.keys import content_sha256
from langchain_memkit.core.retention import retain_within_budget
from langchain_memkit.core.units import Span, join_spans
from langchain_memkit.retriever.packed import Packed
from langchain_memkit.retriever.plans import SEGMENT_JOINT
from langchain_memkit.retriever.rendering import BLOCK_JOINT, render_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from langchain_memkit.retriever.plans import (
        Candidates,
        PackOptions,
        Plan,
        PlannedUnit,
    )

__all__ = ["Keyed", "pack_prefixes", "pack_query"]


@dataclass(frozen=True, slots=True)
class Keyed:
    """What all capsules of one call have in common.

    Attributes:
        candidates: What was examined.
        keys: Retrieval key of each candidate that may be packed.
        options: How to pack.
    """

    candidates: Candidates
    keys: Mapping[int, str]
    options: PackOptions


def pack_query(keyed: Keyed, plan: Plan) -> Packed:
    """Build the capsules of a plan, without the last picks where they do not fit.

    Args:
        keyed: Candidates and their keys.
        plan: What was picked.

    Returns:
        What was packed; its rendering is within the budget.
    """

    def built(picks: int) -> list[EvidenceCapsule]:
        grouped: dict[int, list[PlannedUnit]] = {}
        for pick in plan.picks[:picks]:
            grouped.setdefault(pick.candidate, []).append(pick)
        return [_capsule(keyed, at, units=units) for at, units in grouped.items()]

    def rendered(capsules: Iterable[EvidenceCapsule]) -> int:
        blocks = [render_block(c.retrieval_key, c.excerpt) for c in capsules]
        return keyed.options.count(BLOCK_JOINT.join(blocks)) if blocks else 0

    budget = keyed.options.budget_tokens
    capsules = _most(
        len(plan.picks), built=built, fits=lambda some: rendered(some) <= budget
    )
    return _packed(keyed, capsules, tokens=rendered(capsules), outcomes=plan.outcomes)


def pack_prefixes(keyed: Keyed, outcomes: Mapping[int, Outcome]) -> Packed:
    """Build a prefix of each candidate, as `retain_within_budget` does.

    Ranked by recoverability the capsules are that function's. Ranked by relevance the
    base retriever's order counts, and no grapheme is cut.

    Args:
        keyed: Candidates and their keys.
        outcomes: Why a candidate cannot be packed, where it cannot.

    Returns:
        What was packed; keys and excerpts are within the budget.
    """
    positions = [at for at in keyed.keys if at not in outcomes]
    retained = retain_within_budget(
        [_retention_candidate(keyed, at) for at in positions],
        keyed.options.budget_tokens,
        keyed.options.excerpt_tokens,
    )
    prefixes = [
        _prefix(keyed, positions[capsule.position], length=len(capsule.excerpt))
        for capsule in retained.capsules
    ]
    budget = keyed.options.budget_tokens
    capsules = _most(
        len(prefixes),
        built=lambda n: prefixes[:n],
        fits=lambda some: _total(some) <= budget,
    )
    return _packed(keyed, capsules, tokens=_total(capsules), outcomes=outcomes)


def _most(
    count: int,
    *,
    built: Callable[[int], list[EvidenceCapsule]],
    fits: Callable[[list[EvidenceCapsule]], bool],
) -> list[EvidenceCapsule]:
    """Build from as many as fit, found by bisection."""
    best: list[EvidenceCapsule] = []
    fitting, failing, trial = 0, count + 1, count
    while failing - fitting > 1:
        capsules = built(trial)
        if fits(capsules):
            fitting, best = trial, capsules
        else:
            failing = trial
        trial = (fitting + failing) // 2
    return best


def _total(capsules: Iterable[EvidenceCapsule]) -> int:
    return sum(capsule.tokens for capsule in capsules)


def _capsule(keyed: Keyed, at: int, *, units: Sequence[PlannedUnit]) -> EvidenceCapsule:
    content, key = keyed.candidates.contents[at], keyed.keys[at]
    segments = join_spans(content, [unit.span for unit in units])
    excerpt = SEGMENT_JOINT.join(content[start:end] for start, end in segments)
    return EvidenceCapsule(
        id=keyed.candidates.ids[at] or key,
        retrieval_key=key,
        excerpt=excerpt,
        tokens=keyed.options.count(render_block(key, excerpt)),
        recoverability=keyed.candidates.recoverabilities[at],
        segments=segments,
        position=at,
        relevance=units[-1].relevance,
        sha256=content_sha256(content),
        is_cut=_is_cut(content, segments),
    )


def _is_cut(content: str, segments: Sequence[Span]) -> bool:
    start, end = segments[0][0], segments[-1][1]
    outside = content[:start] + content[end:]
    return len(segments) > 1 or (bool(outside) and not outside.isspace())


def _retention_candidate(keyed: Keyed, at: int) -> RetentionCandidate:
    candidates, by_use = keyed.candidates, keyed.options.ranking == "recoverability"
    return RetentionCandidate(
        id=keyed.keys[at],
        content=candidates.contents[at],
        access_count=candidates.access_counts[at] if by_use else 0,
        age_hours=candidates.ages_hours[at] if by_use else 0.0,
    )


def _prefix(keyed: Keyed, at: int, *, length: int) -> EvidenceCapsule:
    content, key = keyed.candidates.contents[at], keyed.keys[at]
    if keyed.options.ranking == "relevance" and length:
        cut = floor_cut(content, length)
        length = cut if cut <= length else 0
    excerpt = content[:length]
    return EvidenceCapsule(
        id=keyed.candidates.ids[at] or key,
        retrieval_key=key,
        excerpt=excerpt,
        tokens=keyed.options.count(key) + keyed.options.count(excerpt),
        recoverability=keyed.candidates.recoverabilities[at],
        segments=((0, length),) if length else (),
        position=at,
        sha256=content_sha256(content),
        is_cut=length < len(content),
    )


def _packed(
    keyed: Keyed,
    capsules: Sequence[EvidenceCapsule],
    *,
    tokens: int,
    outcomes: Mapping[int, Outcome],
) -> Packed:
    packed: dict[int, Outcome] = dict.fromkeys((c.position for c in capsules), "packed")
    ids = keyed.candidates.ids
    return Packed(
        capsules=capsules,
        ids=[name or keyed.keys.get(at, "") for at, name in enumerate(ids)],
        outcomes={**outcomes, **packed},
        budget_tokens=keyed.options.budget_tokens,
        retained_tokens=tokens,
    )
