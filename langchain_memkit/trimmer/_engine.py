"""What happens in a call: decide what leaves, let the memory take it, remember."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from langchain_memkit.core.facts import HIDDEN
from langchain_memkit.core.replay import Budget
from langchain_memkit.core.timeline import Timeline
from langchain_memkit.exceptions import BudgetExceededError, InvalidInputError
from langchain_memkit.messages import is_system, resident_tokens
from langchain_memkit.trimmer._coerce import (
    MessagesLike,
    are_messages,
    is_aside,
    split,
    to_list,
    to_messages,
)
from langchain_memkit.trimmer._options import Options, check_archive
from langchain_memkit.trimmer._outcome import (
    Outcome,
    describe_floor,
    entries_of,
    sent_of,
)
from langchain_memkit.trimmer._session import Session, Sessions
from langchain_memkit.trimmer.calls import TrimCall, budgets_of, overheads_of
from langchain_memkit.trimmer.validation import validate_history

__all__ = ["Engine"]

_logger = logging.getLogger(__name__)


class Engine:
    """Decides by the options, and remembers conversations.

    Attributes:
        options: What the trimmer was told.
        sessions: The conversations.
    """

    def __init__(self, options: Options) -> None:
        """Start without conversations.

        Args:
            options: What the trimmer was told.
        """
        self.options = options
        self.sessions = Sessions(options)

    def decide(self, messages: MessagesLike, call: TrimCall) -> Outcome:
        """Decide what leaves; nothing has left yet.

        Args:
            messages: The input.
            call: What else is sent.

        Returns:
            What was decided; hand it to `settle` or `finish`.

        Raises:
            CounterError: The counter raised, or returned no count.
            InvalidInputError: The input holds no messages, or the call breaks a rule.
        """
        options = self.options
        memory = check_archive("memory", call.memory) or options.memory
        session, blocks = self._enter(messages, keyed=memory is not None)
        extra = sum(self._price(block) for _, block in blocks)
        overheads = overheads_of(call, len(session.history.messages), extra)
        budgets = budgets_of(
            overheads,
            max_tokens=options.max_tokens,
            target_tokens=options.target_tokens,
        )
        session.walk(budgets)
        line, tokens = self._fit(session, budgets[-1])
        sent = sent_of(session, line, blocks)
        return Outcome(session, line, budgets[-1], blocks, overheads, sent, tokens)

    def _enter(
        self, messages: MessagesLike, *, keyed: bool
    ) -> tuple[Session, list[tuple[int, BaseMessage]]]:
        """Find the conversation and take in what is new.

        The messages that are known are not looked at one by one: neither an
        instruction to remove nor a block of memories is ever among them.

        Args:
            messages: The input.
            keyed: Whether a memory takes what leaves.

        Returns:
            The conversation, and the blocks of memories with their places.
        """
        items = to_list(messages)
        session = self.sessions.take(items, keyed=keyed)
        known = len(session.history.messages)
        tail = items[known:]
        is_plain = are_messages(tail) and not (known and any(map(is_aside, tail)))
        if is_plain:
            session.history.extend(tail)
        if is_plain and not session.history.has_aside:
            return session, []
        if known and session.replay.line.end:
            self.sessions.give(session)  # it was not touched
        visible, blocks = split(to_messages(items))
        session = self.sessions.take(visible, keyed=keyed)
        session.history.extend(visible[len(session.history.messages) :])
        return session, blocks

    def _price(self, block: BaseMessage) -> int:
        return max(resident_tokens(block) or 0, self.options.tokens.cost(block))

    def _fit(self, session: Session, budget: Budget) -> tuple[Timeline, int]:
        """Find the forms that fit, by the count of the whole where that is needed.

        Args:
            session: The conversation.
            budget: What holds.

        Returns:
            The forms, and the tokens of the whole.
        """
        line, tokens = session.replay.outcome(budget), self.options.tokens
        if tokens.additive or not line.form:
            return line, line.total
        return _fit_whole(session, budget, line)

    def settle(self, outcome: Outcome, call: TrimCall) -> list[BaseMessage]:
        """Let the memory take what leaves.

        Args:
            outcome: What was decided.
            call: What the call was given.

        Returns:
            What to send.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            InvalidInputError: The fallback's answer breaks a law.
            StoreError: The memory could not take what leaves.
        """
        fallback = self._overflow(outcome)
        if fallback is not None:
            sent = fallback.invoke(outcome.history.messages)
            return _checked(outcome, sent)
        memory = call.memory or self.options.memory
        if memory is not None and outcome.line.log:
            entries = entries_of(outcome, memory)
            if entries:
                memory.archive(entries)
            outcome.session.note_archived(memory, [entry.key for entry in entries])
        return self.finish(outcome)

    async def asettle(self, outcome: Outcome, call: TrimCall) -> list[BaseMessage]:
        """Let the memory take what leaves, without blocking the event loop.

        Args:
            outcome: What was decided.
            call: What the call was given.

        Returns:
            What to send.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            InvalidInputError: The fallback's answer breaks a law.
            StoreError: The memory could not take what leaves.
        """
        fallback = self._overflow(outcome)
        if fallback is not None:
            sent = await fallback.ainvoke(outcome.history.messages)
            return _checked(outcome, sent)
        memory = call.memory or self.options.memory
        if memory is not None and outcome.line.log:
            entries = entries_of(outcome, memory)
            if entries:
                await memory.aarchive(entries)
            outcome.session.note_archived(memory, [entry.key for entry in entries])
        return self.finish(outcome)

    def _overflow(
        self, outcome: Outcome
    ) -> Runnable[Sequence[BaseMessage], Sequence[BaseMessage]] | None:
        if not outcome.is_over:
            return None
        how, budget = self.options.on_overflow, outcome.budget
        if isinstance(how, Runnable):
            return how
        overhead = self.options.max_tokens - budget.limit
        floor = outcome.tokens + overhead
        if how == "raise":
            raise BudgetExceededError(
                max_tokens=self.options.max_tokens,
                floor_tokens=floor,
                shortfall_tokens=floor - self.options.max_tokens,
                pinned=describe_floor(outcome),
            )
        text = "what has to stay takes %d tokens, over the budget of %d"
        _logger.warning(text, floor, self.options.max_tokens)
        return None

    def finish(self, outcome: Outcome) -> list[BaseMessage]:
        """Remember the conversation.

        Args:
            outcome: What was decided.

        Returns:
            What to send.
        """
        self.sessions.give(outcome.session)
        return outcome.messages


def _fit_whole(
    session: Session, budget: Budget, line: Timeline
) -> tuple[Timeline, int]:
    """Correct an estimate by counting the whole.

    Args:
        session: The conversation.
        budget: What holds.
        line: The forms by the estimate.

    Returns:
        The forms that fit, and the tokens of the whole.
    """
    history, tokens = session.history, session.history.options.tokens
    unlimited = Budget(0, 1 << 62, 1 << 62)
    full = Session(history)
    full.walk([unlimited])
    everything = full.replay.outcome(unlimited)
    whole = tokens.whole(sent_of(full, everything))
    if whole <= budget.limit:
        return everything, whole
    whole = tokens.whole(sent_of(session, line))
    limit, step = budget.limit, 0
    while whole > budget.limit and limit > 0:
        step = max(2 * step, whole - budget.limit)
        limit = min(limit, line.total) - step
        line = session.replay.outcome(Budget(0, limit, min(budget.target, limit)))
        whole = tokens.whole(sent_of(session, line))
    return line, whole


def _checked(outcome: Outcome, sent: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Hold a fallback's answer to the laws of pins and of validity.

    Args:
        outcome: What was decided.
        sent: What the fallback returned.

    Returns:
        It, as a list.

    Raises:
        InvalidInputError: A pin is missing, or a provider would refuse it.
    """
    messages = to_messages(sent)
    faults = validate_history(messages)
    if faults or not messages:
        rule = "must return a valid history"
        raise InvalidInputError("on_overflow", rule, faults or messages)
    history, form = outcome.history, outcome.line.form
    asked = history.messages
    for i, message in enumerate(asked):
        is_fixed = is_system(message) or i in history.facts.pinned
        if not is_fixed or form[i] == HIDDEN:  # no valid history can hold that one
            continue
        most = sum(map(partial(_is_same, message), asked))
        if not 1 <= sum(map(partial(_is_same, message), messages)) <= most:
            rule = "must return every system and pinned message verbatim, once"
            raise InvalidInputError("on_overflow", rule, message)
    return messages


def _is_same(one: BaseMessage, other: BaseMessage) -> bool:
    return one.type == other.type and one.content == other.content
