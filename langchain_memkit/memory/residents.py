"""Which memories go into each prompt, and how they read there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from html import escape

from langchain_memkit.core.models import check_count
from langchain_memkit.core.records import StoredMemory
from langchain_memkit.core.retention import (
    EvidenceCapsule,
    RetentionCandidate,
    RetentionReport,
    recoverability,
    retain_within_budget,
)
from langchain_memkit.core.tokens import estimate_tokens

__all__ = ["pack_residents", "render_memories"]

_EXCERPT_TOKENS = 64
_HOUR = timedelta(hours=1)
_CHUNK = 64


def pack_residents(
    memories: Sequence[StoredMemory],
    *,
    budget_tokens: int,
    now: datetime,
    read: Callable[[Sequence[str]], tuple[StoredMemory, ...]],
) -> RetentionReport:
    """Pack the most recoverable memories, reading only the texts that can fit.

    Ties go to the smaller name.

    Args:
        memories: Live memories, their contents empty.
        budget_tokens: Tokens for keys and excerpts together.
        now: The time.
        read: Looks memories up by name.

    Returns:
        The capsules, best first, and the totals over all `memories`.
    """
    ranked = sorted(memories, key=lambda m: (-_recoverability(m, now), m.name))
    candidates: list[RetentionCandidate] = []
    cost = 0
    for at in range(0, len(ranked), _CHUNK):
        if cost >= budget_tokens:
            break
        found = read([memory.name for memory in ranked[at : at + _CHUNK]])
        candidates += [_candidate(memory, now) for memory in found]
        cost = sum(map(_cost_tokens, candidates))
    report = retain_within_budget(candidates, budget_tokens, _EXCERPT_TOKENS)
    dropped = len(memories) - len(report.capsules)
    totals = {"candidates_examined": len(memories), "dropped": dropped}
    return report.model_copy(update=totals)


def render_memories(
    report: RetentionReport | Iterable[EvidenceCapsule],
    *,
    budget_tokens: int | None = None,
    count_text: Callable[[str], int] = estimate_tokens,
) -> str:
    """Write capsules as `<memory name="…">…</memory>`, one a line.

    Names and texts are escaped, so that no memory can close its block or open another.
    A memory that stands there in part says so, `<memory name="…" cut="true">`: the rest
    of a rule may be what matters, and `recall` gives all of it.

    Args:
        report: The capsules, best first.
        budget_tokens: Most tokens of the whole rendering; the last capsules are left
            out until it fits. `None` renders all.
        count_text: Counts the tokens of a text.

    Returns:
        The text; empty where no capsule fits.

    Raises:
        InvalidInputError: The budget is no whole number of at least 0.

    Example:
        >>> from langchain_memkit import RetentionCandidate, retain_within_budget
        >>> note = RetentionCandidate(id="tone", content="Be <brief>.")
        >>> render_memories(retain_within_budget([note], 40))
        '<memory name="tone">Be &lt;brief&gt;.</memory>'
    """
    capsules = report.capsules if isinstance(report, RetentionReport) else report
    blocks = [_render(capsule) for capsule in capsules]
    if budget_tokens is None:
        return "\n".join(blocks)
    check_count("budget_tokens", budget_tokens)
    while blocks and count_text("\n".join(blocks)) > budget_tokens:
        blocks.pop()
    return "\n".join(blocks)


def _render(capsule: EvidenceCapsule) -> str:
    name = escape(capsule.retrieval_key, quote=True)
    cut = ' cut="true"' if capsule.is_cut else ""
    return f'<memory name="{name}"{cut}>{escape(capsule.excerpt, quote=False)}</memory>'


def _age_hours(memory: StoredMemory, now: datetime) -> float:
    return (now - memory.last_access_at) / _HOUR


def _recoverability(memory: StoredMemory, now: datetime) -> float:
    return recoverability(_age_hours(memory, now), memory.access_count)


def _candidate(memory: StoredMemory, now: datetime) -> RetentionCandidate:
    return RetentionCandidate(
        id=memory.name,
        content=memory.content,
        access_count=memory.access_count,
        age_hours=_age_hours(memory, now),
    )


def _cost_tokens(candidate: RetentionCandidate) -> int:
    excerpt = min(estimate_tokens(candidate.content), _EXCERPT_TOKENS)
    return estimate_tokens(candidate.id) + excerpt
