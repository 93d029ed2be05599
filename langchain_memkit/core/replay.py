"""Prefix-stable eviction over a growing history.

The replay walks through a history as if the model had been called wherever it could
have been: after each message that no result follows and that is not the assistant's
own. Where the history was over budget at such a point, parts of it left, and stay
away. So what is left is a function of the history alone: a fresh process finds the
same, and a long-lived one need only look at the new messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_memkit.core.facts import (
    HIDDEN,
    LOOSE,
    RESULT,
    STEP,
    TALK,
    TURN,
    Facts,
    Prices,
)
from langchain_memkit.core.ladder import clear_front, evict
from langchain_memkit.core.timeline import Timeline

__all__ = ["Budget", "Replay", "Rules"]

_AI = (STEP, TALK)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a history is replayed.

    Attributes:
        keep_last_steps: Steps that count as the newest ones.
        pin_first_turn: Whether the first user turn is the last to leave.
        sends_overflow: Whether the model is called even where the floor is over
            budget. Where it is not, user turns did not leave for such a call.
    """

    keep_last_steps: int = 5
    pin_first_turn: bool = True
    sends_overflow: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What holds from a length of the history on.

    Attributes:
        start: Messages from which it holds.
        limit: Tokens the messages may take.
        target: What an eviction goes down to.
    """

    start: int
    limit: int
    target: int


class Replay:
    """The walk through one history.

    Example:
        >>> from langchain_memkit.core.facts import Facts, TURN
        >>> facts = Facts(codes=bytearray([TURN] * 3), costs=[6, 6, 6])
        >>> replay = Replay(facts, prices=None, rules=Rules(pin_first_turn=False))
        >>> replay.advance(3, [Budget(0, 12, 6)])
        >>> list(replay.outcome(Budget(3, 12, 6)).form)
        [3, 0, 0]
    """

    def __init__(self, facts: Facts, *, prices: Prices, rules: Rules) -> None:
        """Start before the first message.

        Args:
            facts: What is known about the messages; it grows in place.
            prices: Tells the cost of other forms.
            rules: How it is replayed.
        """
        self.line = Timeline(facts, prices)
        self._rules = rules
        self._handlers = (self._turn, self._step, self._talk, None, self._system)

    def advance(self, stop: int, budgets: Sequence[Budget]) -> None:
        """Walk on.

        Args:
            stop: Position to stop before.
            budgets: What holds, by rising start, the first from 0 on.
        """
        ends = [budget.start for budget in budgets[1:]]
        for budget, end in zip(budgets, [*ends, stop], strict=True):
            self._walk(min(end, stop), budget)

    def outcome(self, budget: Budget) -> Timeline:
        """Tell what would be sent if the model was called here.

        Args:
            budget: What holds here.

        Returns:
            The history in its forms; the walk itself stands where it stood.
        """
        line = self.line
        partial = line.pending >= 0 and bool(line.results.get(line.pending))
        if line.total <= budget.limit and not partial and not line.blocked:
            return line
        line = line.fork()
        if partial:
            line.settle(line.pending)
        if line.blocked:
            clear_front(line)
        self._evict(line, budget, spares_turns=False)
        return line

    def _evict(self, line: Timeline, budget: Budget, *, spares_turns: bool) -> None:
        if line.total > budget.limit:
            evict(
                line,
                limit=budget.limit,
                target=budget.target,
                keep_last_steps=self._rules.keep_last_steps,
                spares_turns=spares_turns,
            )

    def _walk(self, stop: int, budget: Budget) -> None:
        line, limit, start = self.line, budget.limit, self.line.end
        facts, handlers = line.facts, self._handlers
        codes, costs = facts.codes, facts.costs
        is_plain = not (facts.pinned or facts.moved or facts.blank or facts.signed)
        line.current += costs[start:stop]
        line.form += bytes(max(0, stop - start))
        line.owner.extend(range(start, stop))
        for i in range(start, stop):
            code = codes[i]
            if code == RESULT:
                self._answer(i)
                continue
            if line.pending >= 0 or line.total > limit:
                line.end = i
                self._close(i - 1, budget)
            line.total += costs[i]
            line.last = i
            if is_plain and code == TALK:
                line.talks.append(i)
                line.ranks.append(line.ais)
                line.ais += 1
                line.last_ai = i
            elif is_plain and code == TURN and line.first_turn >= 0:
                line.last_turn = i
                line.turns.append(i)
                line.turn_tokens += costs[i]
            else:
                handlers[code](i)  # type: ignore[misc]  # results were handled above
        line.end = max(start, stop)

    def _close(self, index: int, budget: Budget) -> None:
        line = self.line
        head, line.pending = line.pending, -1
        partial = head >= 0 and bool(line.results.get(head))
        if partial:
            line.settle(head)
        if index >= 0 and line.facts.codes[index] not in _AI:
            spares_turns = not self._rules.sends_overflow
            self._evict(line, budget, spares_turns=spares_turns)
        if head >= 0 and not partial:
            line.settle(head)

    def _answer(self, i: int) -> None:
        line = self.line
        name = line.facts.answers[i]
        head = line.open.pop(name, -1)
        if head < 0:
            line.current[i], line.form[i], line.owner[i] = 0, HIDDEN, -1
            return
        if line.hidden and name in line.hidden:
            self._uncover(name)
        line.owner[i] = line.last = head
        line.total += line.facts.costs[i]
        line.results[head] += (i,)
        left = line.missing[head] - 1
        if left:
            line.missing[head] = left
        else:
            del line.missing[head]
        if head != line.pending:
            line.rejoin(head)
        elif not left:
            line.pending = -1

    def _uncover(self, name: str) -> None:
        stack = self.line.hidden[name]
        self.line.open[name] = stack.pop()
        if not stack:
            del self.line.hidden[name]

    def _turn(self, i: int) -> None:
        line = self.line
        line.last_turn = i
        first = line.first_turn < 0
        if first:
            line.first_turn = i
        facts = line.facts
        if i in facts.pinned or (facts.moved and self._move(i)):
            return
        if not (first and self._rules.pin_first_turn):
            self._may_leave(i)

    def _may_leave(self, i: int) -> None:
        self.line.turns.append(i)
        self.line.turn_tokens += self.line.facts.costs[i]

    def _step(self, i: int) -> None:
        line = self.line
        line.steps.append(i)
        line.results[i] = ()
        calls, waiting = line.facts.calls[i], line.open
        for name in calls:
            if name in waiting:
                line.hidden.setdefault(name, []).append(waiting[name])
            waiting[name] = i
        line.missing[i] = len(calls)
        line.pending = line.last_ai = i
        line.ais += 1
        if i in line.facts.signed and i not in line.facts.pinned:
            line.thinkers.append(i)

    def _talk(self, i: int) -> None:
        line = self.line
        if not (i in line.facts.pinned or self._move(i)):
            line.talks.append(i)
            line.ranks.append(line.ais)
        if i in line.facts.blank:
            line.pending = i
        line.last_ai = i
        line.ais += 1
        if i in line.facts.signed and i not in line.facts.pinned:
            line.thinkers.append(i)

    def _system(self, _i: int) -> None:
        """Do nothing: it neither leaves nor is it anybody's turn.

        Args:
            _i: Position of the message.
        """

    def _move(self, i: int) -> bool:
        line = self.line
        rung = line.facts.moved.get(i)
        if rung == TURN:
            self._may_leave(i)
        elif rung == TALK:
            line.talks.append(i)
            line.ranks.append(line.ais)
        elif rung == LOOSE:
            line.steps.append(i)
            line.results[i] = (i,)
        return rung is not None
