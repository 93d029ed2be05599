"""The rows of a report, from what a call decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_memkit.core.facts import (
    CLIPPED,
    GONE,
    HIDDEN,
    RESULT,
    STUBBED,
    SYSTEM,
)
from langchain_memkit.core.ladder import (
    RUNG_CLIP,
    RUNG_FIRST_TURN,
    RUNG_FRONT,
    RUNG_LEAVE,
    RUNG_NEW_LEAVE,
    RUNG_NEW_STUB,
    RUNG_STUB,
    RUNG_TURN,
)
from langchain_memkit.messages import is_system, kind_of, resident_tokens
from langchain_memkit.trimmer._engine import Engine
from langchain_memkit.trimmer._outcome import Outcome
from langchain_memkit.trimmer._shapes import form_of
from langchain_memkit.trimmer._view import late_results
from langchain_memkit.trimmer.calls import TrimCall
from langchain_memkit.trimmer.report import Action, TrimReport, TrimRow

__all__ = ["explain"]

_Explained = tuple[Action, str]

_REASONS = {
    RUNG_STUB: "result older than the newest steps",
    RUNG_LEAVE: "older than the newest steps",
    RUNG_CLIP: "the current step has to fit",
    RUNG_TURN: "old user turn, nothing else could leave",
    RUNG_FIRST_TURN: "first user turn, nothing else could leave",
    RUNG_NEW_STUB: "result, nothing older could leave",
    RUNG_NEW_LEAVE: "nothing older could leave",
    RUNG_FRONT: "what is left starts with a user turn",
}
_FORMS: dict[int, Action] = {STUBBED: "stubbed", CLIPPED: "clipped", GONE: "evicted"}


def explain(engine: Engine, items: list[BaseMessage], call: TrimCall) -> TrimReport:
    """Explain what a call would do.

    Args:
        engine: Decides.
        items: The whole input.
        call: What else is sent.

    Returns:
        The report.
    """
    outcome = engine.decide(items, call)
    options, budget = engine.options, outcome.budget
    blocks = [resident_tokens(block) or 0 for _, block in outcome.aside]
    rows = _placed(_rows_of(outcome), items, outcome)
    report = TrimReport(
        max_tokens=options.max_tokens,
        target_tokens=options.target_tokens,
        overhead_tokens=options.max_tokens - budget.limit - sum(blocks),
        tokens_before=sum(outcome.history.facts.costs) + sum(blocks),
        tokens_after=outcome.tokens + sum(blocks),
        within_budget=not outcome.is_over,
        repeated_share=_repeated(engine, outcome, call),
        rows=tuple(rows),
    )
    engine.finish(outcome)
    return report


def _repeated(engine: Engine, outcome: Outcome, call: TrimCall) -> float:
    """Find how much of a prompt repeats the beginning of the one before.

    Args:
        engine: Decides.
        outcome: What was decided.
        call: What else is sent.

    Returns:
        A share of the tokens.
    """
    end, sent = outcome.previous_call(), outcome.messages
    if not end or not sent:
        return 0.0
    earlier = engine.decide(outcome.history.messages[:end], call).messages
    costs, same = engine.options.tokens.costs(sent), 0
    for one, other, cost in zip(sent, earlier, costs, strict=False):
        if one != other:
            break
        same += cost
    return same / max(1, sum(costs))


def _placed(
    rows: list[TrimRow], items: Sequence[BaseMessage], outcome: Outcome
) -> Iterator[TrimRow]:
    """Number rows by the whole input, and add those of what was set aside.

    Args:
        rows: The rows of the conversation.
        items: The whole input.
        outcome: What was decided.

    Yields:
        One row an item.
    """
    left = iter(rows)
    for i, item in enumerate(items):
        block = resident_tokens(item)
        if block is None and not isinstance(item, RemoveMessage):
            row = next(left)
            yield row if row.index == i else row.model_copy(update={"index": i})
            continue
        cost = 0 if block is None else outcome.history.options.tokens.cost(item)
        yield TrimRow(
            index=i,
            id=item.id,
            kind=kind_of(item),
            action="repaired" if block is None else "kept",
            tokens_before=cost,
            tokens_after=cost,
            reason="an instruction to remove" if block is None else "memories",
        )


def _rows_of(outcome: Outcome) -> list[TrimRow]:
    """Explain what became of each message of a conversation.

    Args:
        outcome: What was decided.

    Returns:
        One row a message, in order.
    """
    reasons = dict(outcome.line.departures())
    late = _late_systems(outcome)
    return [
        _row(outcome, i, _explain(outcome, i, reasons.get(i), hoisted=i in late))
        for i in range(len(outcome.line.form))
    ]


def _late_systems(outcome: Outcome) -> frozenset[int]:
    if not outcome.history.options.hoist:
        return frozenset()
    codes, form = outcome.history.facts.codes, outcome.line.form
    standing = [i for i in range(len(form)) if form[i] < GONE]
    front = next((i for i in standing if codes[i] != SYSTEM), len(form))
    return frozenset(i for i in standing if codes[i] == SYSTEM and i > front)


def _row(outcome: Outcome, i: int, explained: _Explained) -> TrimRow:
    history, line = outcome.history, outcome.line
    message, form = history.messages[i], line.form[i]
    action, reason = explained
    left = action in {"stubbed", "clipped", "evicted"}
    return TrimRow(
        index=i,
        id=message.id,
        kind=history.kind(i),
        action=action,
        tokens_before=history.facts.costs[i],
        tokens_after=line.current[i],
        reason=reason,
        key=history.key(i) if left and message.content else None,
        pinned=form != HIDDEN and (i in history.facts.pinned or is_system(message)),
    )


def _explain(
    outcome: Outcome, i: int, rung: int | None, *, hoisted: bool
) -> _Explained:
    history, line = outcome.history, outcome.line
    form = line.form[i]
    if form in _FORMS and rung is not None:
        cut = form == CLIPPED and form_of(_shown(outcome, i)) != "clip"
        return "stubbed" if cut else _FORMS[form], _REASONS[rung]
    if hoisted:
        return "hoisted", "moved up to the leading system messages"
    if i in line.bare and form != HIDDEN:
        return "stripped", "signed reasoning after what left"
    if i in history.bases and form_of(history.bases[i]) == "bare":
        return "stripped", "reasoning is dropped"
    repair = _repair(outcome, i)
    return ("repaired", repair) if repair else ("kept", "")


def _repair(outcome: Outcome, i: int) -> str:
    history, line = outcome.history, outcome.line
    if line.form[i] == HIDDEN:
        is_result = history.facts.codes[i] == RESULT
        return "result without a call" if is_result else "nothing is left of it"
    if i in line.mended:
        return "calls without results"
    if i in history.bases:
        return "empty message"
    owner = line.owner[i]
    is_late = owner != i and i in late_results(line, owner)
    return "moved up to its call" if is_late else ""


def _shown(outcome: Outcome, i: int) -> BaseMessage:
    return outcome.history.clipped(i, outcome.line.rooms[i])
