"""Which parts of a history leave, rung by rung, so that the rest fits.

1. Results of tools older than the newest steps become stubs, persisted ones first.
2. Whole steps, and assistant messages without calls, older than that leave.
   Then both, inside the newest steps.
3. Results of the current step are clipped, the largest first.
4. User turns leave, all but the first and the last.
5. The first user turn leaves.

Rungs 1 and 2 go down to a target in one batch, so that the prompts that follow share
their beginning with this one; so do all but the newest user turns. The other rungs stop
as soon as the rest fits.
Inside a rung the oldest leaves first. Source of the tiers: arXiv 2606.11213.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_memkit.core.facts import CLIPPED, GONE, HIDDEN, KEPT, LOOSE, SYSTEM, TURN
from langchain_memkit.core.levels import level_down

if TYPE_CHECKING:
    from langchain_memkit.core.timeline import Timeline

__all__ = [
    "RUNG_CLIP",
    "RUNG_FIRST_TURN",
    "RUNG_FRONT",
    "RUNG_LEAVE",
    "RUNG_NEW_LEAVE",
    "RUNG_NEW_STUB",
    "RUNG_STUB",
    "RUNG_TURN",
    "clear_front",
    "evict",
]

RUNG_STUB, RUNG_LEAVE, RUNG_CLIP, RUNG_TURN, RUNG_FIRST_TURN = 0, 1, 2, 3, 4
RUNG_NEW_STUB, RUNG_NEW_LEAVE, RUNG_FRONT = 5, 6, 7

_Guard = frozenset[int]

_TURNS_ONE_BY_ONE = 16
"""The newest user turns, which never leave in one batch."""

_SHORTER, _AWAY = (KEPT, CLIPPED), (GONE, HIDDEN)
_SMALLEST_CLIP = 24
"""A result that may take fewer tokens than this becomes a stub."""


def evict(
    line: Timeline,
    *,
    limit: int,
    target: int,
    keep_last_steps: int,
    spares_turns: bool = False,
) -> None:
    """Let parts of a history leave until the rest fits.

    Args:
        line: The history; it is changed.
        limit: Tokens the rest may take; over that something has to leave.
        target: What rungs 1 and 2 go down to, at most `limit`.
        keep_last_steps: Steps that count as the newest ones.
        spares_turns: Whether user turns stay where even without them the rest does
            not fit.
    """
    line.epoch += 1
    guard = _guarded(line)
    steps = max(0, len(line.steps) - keep_last_steps)
    talks = bisect_left(line.ranks, line.ais - keep_last_steps)
    _thin(line, (steps, talks), goal=target, guard=guard)
    if line.total > limit:
        _thin_newest(line, steps, goal=target, guard=guard)
    if line.total > limit:
        _clip(line, limit=limit, guard=guard)
    if line.total > limit and not (spares_turns and _is_hopeless(line, limit)):
        _drop_turns(line, limit=limit, guard=guard)
        if line.total > limit and line.first_turn not in guard:
            _drop_first(line)
    _tidy(line, guard)


def _is_hopeless(line: Timeline, limit: int) -> bool:
    """Tell whether a history is over budget even without its old user turns.

    Args:
        line: The history.
        limit: Tokens the rest may take.

    Returns:
        True where letting them leave would not help.
    """
    turns, last, first = line.turns, line.last_turn, line.first_turn
    spare = line.turn_tokens
    if turns and turns[-1] == last:
        spare -= line.current[last]
    if first not in (-1, last) and not (turns and turns[0] == first):
        spare += line.current[first]
    return line.total - spare > limit


def clear_front(line: Timeline) -> None:
    """Let steps leave that stand before the first user turn and could not before.

    Args:
        line: The history; it is changed.
    """
    line.epoch += 1
    _clear_front(line, _guarded(line))


def _guarded(line: Timeline) -> frozenset[int]:
    """Name what never leaves: the last message, the last user turn, the current step.

    Args:
        line: The history.

    Returns:
        Positions.
    """
    guard = {line.last, line.last_turn}
    if line.last_ai > line.last_turn:
        guard.add(line.last_ai)
    if line.facts.late and not line.results.get(line.last):
        # such a result may have been the last message before it was moved
        heads = {line.owner[r] for r in line.facts.late if r < line.end}
        guard |= heads & {line.last_ai}
    first = min(guard)
    if 0 <= first < line.last_turn and line.facts.codes[first] != TURN:
        guard.add(_turn_before(line, first))
    return frozenset(guard)


def _turn_before(line: Timeline, head: int) -> int:
    """Find the user's turn that has to stand before a step, so that none begins.

    Args:
        line: The history.
        head: Position of the step.

    Returns:
        Position of the last turn before it that stands, -1 where there is none.
    """
    codes, form = line.facts.codes, line.form
    before = range(head - 1, -1, -1)
    return next((k for k in before if codes[k] == TURN and form[k] not in _AWAY), -1)


@dataclass(frozen=True, slots=True)
class _Pass:
    """One walk along a rung: what it aims for, what it must not touch."""

    goal: int
    guard: frozenset[int]
    rung: int


def _thin(line: Timeline, ends: tuple[int, int], *, goal: int, guard: _Guard) -> None:
    at, stubs = line.cursors, _Pass(goal, guard, RUNG_STUB)
    if line.facts.persisted:
        span = (at.persisted, ends[0])
        at.persisted = _stub(line, stubs, span=span, persisted=True)
    at.results = _stub(line, stubs, span=(at.results, ends[0]), persisted=False)
    if line.total > goal:
        at.steps, at.talks = _leave(line, _Pass(goal, guard, RUNG_LEAVE), ends=ends)
        _tidy(line, guard)


def _thin_newest(line: Timeline, start: int, *, goal: int, guard: _Guard) -> None:
    span, stubs = (start, len(line.steps)), _Pass(goal, guard, RUNG_NEW_STUB)
    for persisted in (True, False):
        _stub(line, stubs, span=span, persisted=persisted)
    if line.total > goal:
        ends = (len(line.steps), len(line.talks))
        _leave(line, _Pass(goal, guard, RUNG_NEW_LEAVE), ends=ends)


def _stub(line: Timeline, to: _Pass, *, span: tuple[int, int], persisted: bool) -> int:
    """Turn results into stubs, oldest first.

    Args:
        line: The history.
        to: What it aims for.
        span: Positions in the steps.
        persisted: Whether those go that can be had from elsewhere, or the others.

    Returns:
        The first position in the steps that may still have something to give.
    """
    pinned, known = line.facts.pinned, line.facts.persisted
    stay = span[1]
    for k in range(*span):
        if line.total <= to.goal:
            return min(k, stay)
        head = line.steps[k]
        if head in to.guard:
            stay = min(k, stay)
            continue
        for index in line.results[head]:
            if line.form[index] not in _SHORTER or index in pinned:
                continue
            if (index in known) is persisted and line.total > to.goal:
                line.shorten(index, rung=to.rung)
    return stay if line.total > to.goal else max(span[0], stay - 1)


def _leave(line: Timeline, to: _Pass, *, ends: tuple[int, int]) -> tuple[int, int]:
    """Remove steps and messages without calls, oldest first.

    Args:
        line: The history.
        to: What it aims for.
        ends: Where to stop in the steps and in the messages without calls.

    Returns:
        The first position in each that may still have something to give.
    """
    steps, talks = line.steps, line.talks
    s, t = line.cursors.steps, line.cursors.talks
    stay_s, stay_t = ends
    while line.total > to.goal and (s < ends[0] or t < ends[1]):
        is_step = t >= ends[1] or (s < ends[0] and steps[s] < talks[t])
        head = steps[s] if is_step else talks[t]
        if head in to.guard:
            stay_s = min(stay_s, s) if is_step else stay_s
            stay_t = stay_t if is_step else min(stay_t, t)
        elif line.form[head] not in _AWAY and not line.is_held(head):
            line.remove(head, rung=to.rung)
        s, t = s + is_step, t + (not is_step)
    return min(s, stay_s), min(t, stay_t)


def _clip(line: Timeline, *, limit: int, guard: _Guard) -> None:
    """Cut the results of the current step, the largest first.

    They are cut to one level; where a result cannot be that short, the level of the
    others sinks, and in the end all of them are stubs.

    Args:
        line: The history.
        limit: Tokens the rest may take.
        guard: Positions that never leave, the current step among them.
    """
    pinned, moved = line.facts.pinned, line.facts.moved
    heads = sorted(h for h in guard if moved.get(h) != LOOSE)
    found = [r for h in heads for r in line.results.get(h, ()) if r not in pinned]
    while line.total > limit and found:
        sizes = [line.current[r] for r in found]
        level = level_down(sizes, limit - line.total + sum(sizes))
        if level < _SMALLEST_CLIP:
            break
        before = line.total
        for index in found:
            if line.current[index] > level:
                line.clip(index, level, rung=RUNG_CLIP)
        if line.total == before:
            break
    for index in sorted(found, key=lambda r: (-line.current[r], r)):
        if line.total > limit:
            line.clip(index, 0, rung=RUNG_CLIP)


def _drop_turns(line: Timeline, *, limit: int, guard: _Guard) -> None:
    """Let old user turns leave: the newest few one by one, all older ones at once.

    In a long history one batch is kinder to the prompt cache, and to the results of
    the newest steps, which would have to leave again and again before each turn.

    Args:
        line: The history.
        limit: Tokens the rest may take.
        guard: Positions that never leave.
    """
    turns, k = line.turns, line.cursors.turns
    batch = len(turns) - _TURNS_ONE_BY_ONE
    stay = len(turns)
    while k < len(turns) and (line.total > limit or k < batch):
        if turns[k] in guard:
            stay = min(k, stay)
        elif line.form[turns[k]] not in _AWAY and not line.is_held(turns[k]):
            line.turn_tokens -= line.current[turns[k]]
            line.remove(turns[k], rung=RUNG_TURN)
        k += 1
    line.cursors.turns = min(k, stay)


def _drop_first(line: Timeline) -> None:
    first = line.first_turn
    if first < 0 or line.is_held(first) or line.form[first] in _AWAY:
        return
    line.remove(first, rung=RUNG_FIRST_TURN)


def _tidy(line: Timeline, guard: _Guard) -> None:
    if line.removed_from >= 0:
        _clear_front(line, guard)
        _strip(line)


def _clear_front(line: Timeline, guard: _Guard) -> None:
    """Let the first message that is not the system's be the user's.

    Args:
        line: The history.
        guard: Positions that never leave.
    """
    codes, k, end = line.facts.codes, line.cursors.front, line.end
    line.blocked = line.last_turn < 0
    while not line.blocked and k < end:
        stands = line.form[k] not in _AWAY and line.owner[k] == k and codes[k] != SYSTEM
        if stands and (codes[k] == TURN or k in guard or line.is_held(k)):
            line.blocked = codes[k] != TURN and k in guard
            break
        if stands and line.facts.moved.get(k) == TURN:
            line.turn_tokens -= line.current[k]
        if stands:
            line.remove(k, rung=RUNG_FRONT)
        k += 1
    line.cursors.front = k


def _strip(line: Timeline) -> None:
    """Take signed reasoning out after what was removed, but in the open tool loop.

    Args:
        line: The history.
    """
    rest: list[int] = []
    for head in line.thinkers:
        if line.form[head] in _AWAY:
            continue
        if not line.removed_from < head < line.last_turn:
            rest.append(head)
            continue
        line.bare.add(head)
        line.reprice(head)
    line.thinkers = rest
