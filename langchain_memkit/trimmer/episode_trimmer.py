"""The trimmer: a Runnable from messages to the messages that fit."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Literal

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_callback_manager_for_config,
)

from langchain_memkit.core.replay import Budget
from langchain_memkit.core.timeline import Timeline
from langchain_memkit.exceptions import BudgetExceededError, InvalidInputError
from langchain_memkit.messages import is_system, resident_tokens
from langchain_memkit.protocols import Archive
from langchain_memkit.trimmer._coerce import (
    MessagesLike,
    are_plain,
    split,
    to_list,
    to_messages,
)
from langchain_memkit.trimmer._counting import Count
from langchain_memkit.trimmer._options import (
    Classify,
    OnOverflow,
    Options,
    Predicate,
    check_archive,
)
from langchain_memkit.trimmer._outcome import (
    Outcome,
    describe_floor,
    entries_of,
    sent_of,
)
from langchain_memkit.trimmer._session import Session, Sessions
from langchain_memkit.trimmer.calls import (
    TrimCall,
    TrimResult,
    budgets_of,
    overheads_of,
)
from langchain_memkit.trimmer.validation import validate_history

__all__ = ["EpisodeTrimmer", "trim_episodes"]

_logger = logging.getLogger(__name__)
_ATTEMPTS = 12
_NO_EXTRAS = TrimCall()


class EpisodeTrimmer(Runnable[MessagesLike, list[BaseMessage]]):
    """Fit a history into a token budget, by what its messages are and not by age alone.

    Old tool results become stubs, then old steps leave whole, then user turns; system
    messages and pins stay. Between evictions each prompt extends the one before, so
    that a provider's prompt cache holds.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> talk = [HumanMessage("Hi."), AIMessage("Hello! " * 40), HumanMessage("Go.")]
        >>> [m.type for m in EpisodeTrimmer(max_tokens=40).invoke(talk)]
        ['human', 'human']
    """

    def __init__(  # noqa: PLR0913 - the options are the contract
        self,
        max_tokens: int,
        *,
        target_tokens: int | None = None,
        token_counter: Literal["approximate"] | Count = "approximate",  # noqa: S107 - no password
        pin: Predicate | None = None,
        persisted: Predicate | None = None,
        classify: Classify | None = None,
        observation_tools: Iterable[str] = (),
        memory: Archive | None = None,
        keep_last_steps: int = 5,
        pin_first_user: bool = True,
        system_messages: Literal["keep", "hoist"] = "keep",
        reasoning: Literal["auto", "keep", "drop"] = "auto",
        on_overflow: OnOverflow = "raise",
    ) -> None:
        """Check and keep the options.

        Args:
            max_tokens: Tokens that the output may take, at least 1.
            target_tokens: What an eviction of results and steps goes down to; half of
                `max_tokens` where it is not given.
            token_counter: `"approximate"`, a `TokenCounter`, or a callable over a list
                of messages.
            pin: Asked once a message: whether it has to stand verbatim.
            persisted: Asked once a message: whether its content can be had again from
                elsewhere, so that it leaves first.
            classify: Asked once a message: what it is; None for what it seems to be.
            observation_tools: Names of tools whose results are observations.
            memory: Takes every content before it leaves, such as a `ForgettingMemory`.
            keep_last_steps: Newest steps whose results and calls leave after others.
            pin_first_user: Whether the first user message is the last to leave.
            system_messages: Whether later system messages stay in place, or move up to
                the leading ones, as some providers demand.
            reasoning: `"auto"` takes signed reasoning out where what preceded it left,
                `"keep"` never does, `"drop"` takes all reasoning out.
            on_overflow: Where what has to stay is over budget: `"raise"`, `"keep"` the
                best effort with a logged warning, or a Runnable that is given the
                messages and returns what to send instead.

        Raises:
            InvalidInputError: An option breaks its rule.
            CounterError: The counter is none.
        """
        self._options = Options.make(
            max_tokens=max_tokens,
            target_tokens=target_tokens,
            token_counter=token_counter,
            pin=pin,
            persisted=persisted,
            classify=classify,
            observation_tools=observation_tools,
            memory=memory,
            keep_last_steps=keep_last_steps,
            pin_first_user=pin_first_user,
            system_messages=system_messages,
            reasoning=reasoning,
            on_overflow=on_overflow,
        )
        self._sessions = Sessions(self._options)

    @property
    def max_tokens(self) -> int:
        """Return the tokens that an output may take.

        Returns:
            Tokens, at least 1.
        """
        return self._options.max_tokens

    @property
    def is_additive(self) -> bool:
        """Return whether its counts of a list are the sum over the messages.

        Returns:
            False for a plain callable, whose counts of a whole are final.
        """
        return self._options.tokens.additive

    def count_tokens(self, messages: Sequence[BaseMessage]) -> int:
        """Count messages as this trimmer does.

        Args:
            messages: In order, calls and results together.

        Returns:
            Tokens, at least 0.

        Raises:
            CounterError: The counter raised, or returned no count.
        """
        return self._options.tokens.whole(messages)

    def __getstate__(self) -> dict[str, object]:
        """Leave out what was remembered of conversations; it is found again.

        Returns:
            What a copy is made from.
        """
        return {"_options": self._options}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Become a copy that remembers no conversation.

        Args:
            state: What `__getstate__` returned.
        """
        self.__dict__.update(state)
        self._sessions = Sessions(self._options)

    def invoke(
        self,
        input: MessagesLike,  # noqa: A002 - the base's name
        config: RunnableConfig | None = None,
        **kwargs: object,  # noqa: ARG002 - as the base's
    ) -> list[BaseMessage]:
        """Fit a history into the budget.

        Args:
            input: A prompt value, or messages, dicts and tuples.
            config: Passed on to callbacks.
            **kwargs: Not used.

        Returns:
            The messages to send; those that are kept whole are the same objects.

        Raises:
            BudgetExceededError: What has to stay is over budget, and nothing else was
                chosen for that case.
            CounterError: The counter raised, or returned no count.
            InvalidInputError: The input holds no messages.
            StoreError: The memory could not take what leaves; nothing left.
        """

        def run(messages: MessagesLike) -> list[BaseMessage]:
            return self._settle(self._decide(messages, _NO_EXTRAS), _NO_EXTRAS)

        if _is_unheard(config):
            return run(input)
        return self._call_with_config(run, input, config)

    async def ainvoke(
        self,
        input: MessagesLike,  # noqa: A002 - the base's name
        config: RunnableConfig | None = None,
        **kwargs: object,  # noqa: ARG002 - as the base's
    ) -> list[BaseMessage]:
        """Fit a history into the budget; the memory is written without blocking.

        Args:
            input: A prompt value, or messages, dicts and tuples.
            config: Passed on to callbacks.
            **kwargs: Not used.

        Returns:
            The messages to send; those that are kept whole are the same objects.

        Raises:
            BudgetExceededError: What has to stay is over budget, and nothing else was
                chosen for that case.
            CounterError: The counter raised, or returned no count.
            InvalidInputError: The input holds no messages.
            StoreError: The memory could not take what leaves; nothing left.
        """

        async def run(messages: MessagesLike) -> list[BaseMessage]:
            return await self._asettle(self._decide(messages, _NO_EXTRAS), _NO_EXTRAS)

        if _is_unheard(config):
            return await run(input)
        return await self._acall_with_config(run, input, config)

    def trim(self, messages: MessagesLike, call: TrimCall = _NO_EXTRAS) -> TrimResult:
        """Do what `invoke` does, beside something else that is sent.

        Args:
            messages: A prompt value, or messages, dicts and tuples.
            call: What else is sent, and who takes what leaves.

        Returns:
            What to send, and what it takes to store it like that.

        Raises:
            BudgetExceededError: As `invoke`.
            CounterError: As `invoke`.
            InvalidInputError: As `invoke`, or the call breaks a rule.
            StoreError: As `invoke`.
        """
        outcome = self._decide(messages, call)
        return self._result(outcome, self._settle(outcome, call))

    async def atrim(
        self, messages: MessagesLike, call: TrimCall = _NO_EXTRAS
    ) -> TrimResult:
        """Do what `trim` does; the memory is written without blocking.

        Args:
            messages: A prompt value, or messages, dicts and tuples.
            call: What else is sent, and who takes what leaves.

        Returns:
            What to send, and what it takes to store it like that.

        Raises:
            BudgetExceededError: As `invoke`.
            CounterError: As `invoke`.
            InvalidInputError: As `invoke`, or the call breaks a rule.
            StoreError: As `invoke`.
        """
        outcome = self._decide(messages, call)
        return self._result(outcome, await self._asettle(outcome, call))

    def _decide(self, messages: MessagesLike, call: TrimCall) -> Outcome:
        options = self._options
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
        session = self._sessions.take(items, keyed=keyed)
        tail = items[len(session.history.messages) :]
        blocks: list[tuple[int, BaseMessage]] = []
        if not are_plain(tail):
            visible, blocks = split(to_messages(items))
            session = self._sessions.take(visible, keyed=keyed)
            tail = visible[len(session.history.messages) :]
        session.history.extend(tail)
        return session, blocks

    def _price(self, block: BaseMessage) -> int:
        return max(resident_tokens(block) or 0, self._options.tokens.cost(block))

    def _fit(self, session: Session, budget: Budget) -> tuple[Timeline, int]:
        """Find the forms that fit, by the count of the whole where that is needed.

        Args:
            session: The conversation.
            budget: What holds.

        Returns:
            The forms, and the tokens of the whole.
        """
        line, tokens = session.replay.outcome(budget), self._options.tokens
        if tokens.additive or not line.form:
            return line, line.total
        return _fit_whole(session, budget, line)

    def _settle(self, outcome: Outcome, call: TrimCall) -> list[BaseMessage]:
        fallback = self._overflow(outcome)
        if fallback is not None:
            sent = fallback.invoke(outcome.history.messages)
            return _checked(outcome, sent)
        memory = call.memory or self._options.memory
        if memory is not None and outcome.line.log:
            entries = entries_of(outcome, memory)
            if entries:
                memory.archive(entries)
            outcome.session.note_archived(memory, [entry.key for entry in entries])
        return self._finish(outcome)

    async def _asettle(self, outcome: Outcome, call: TrimCall) -> list[BaseMessage]:
        fallback = self._overflow(outcome)
        if fallback is not None:
            sent = await fallback.ainvoke(outcome.history.messages)
            return _checked(outcome, sent)
        memory = call.memory or self._options.memory
        if memory is not None and outcome.line.log:
            entries = entries_of(outcome, memory)
            if entries:
                await memory.aarchive(entries)
            outcome.session.note_archived(memory, [entry.key for entry in entries])
        return self._finish(outcome)

    def _overflow(
        self, outcome: Outcome
    ) -> Runnable[Sequence[BaseMessage], Sequence[BaseMessage]] | None:
        if not outcome.is_over:
            return None
        how, budget = self._options.on_overflow, outcome.budget
        if isinstance(how, Runnable):
            return how
        overhead = self._options.max_tokens - budget.limit
        floor = outcome.tokens + overhead
        if how == "raise":
            raise BudgetExceededError(
                max_tokens=self._options.max_tokens,
                floor_tokens=floor,
                shortfall_tokens=floor - self._options.max_tokens,
                pinned=describe_floor(outcome),
            )
        text = "what has to stay takes %d tokens, over the budget of %d"
        _logger.warning(text, floor, self._options.max_tokens)
        return None

    def _finish(self, outcome: Outcome) -> list[BaseMessage]:
        self._sessions.give(outcome.session)
        return outcome.messages

    def _result(self, outcome: Outcome, sent: list[BaseMessage]) -> TrimResult:
        return TrimResult(
            messages=sent,
            overheads=outcome.overheads,
            removed=tuple(outcome.removed()),
            replaced=tuple(outcome.replaced()),
            tokens=outcome.tokens,
        )


def _is_unheard(config: RunnableConfig | None) -> bool:
    """Tell whether no callback listens, so that a run need not be reported.

    Reporting one costs more than a trimming that finds only a few new messages.

    Args:
        config: What the caller gave.

    Returns:
        True where neither the caller, its context nor a tracer listens.
    """
    return not get_callback_manager_for_config(ensure_config(config)).handlers


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
    limit = budget.limit
    for _ in range(_ATTEMPTS):
        whole = tokens.whole(sent_of(session, line))
        if whole <= budget.limit or limit <= 0:
            break
        limit = min(limit, line.total) - (whole - budget.limit)
        line = session.replay.outcome(Budget(0, limit, min(budget.target, limit)))
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
    history = outcome.history
    said = [message.content for message in messages]
    for i, message in enumerate(history.messages):
        is_fixed = is_system(message) or i in history.facts.pinned
        if is_fixed and said.count(message.content) < 1:
            rule = "must return every system and pinned message verbatim"
            raise InvalidInputError("on_overflow", rule, message)
    return messages


def trim_episodes(  # noqa: PLR0913 - as the class
    messages: MessagesLike,
    *,
    max_tokens: int,
    target_tokens: int | None = None,
    token_counter: Literal["approximate"] | Count = "approximate",  # noqa: S107 - no password
    pin: Predicate | None = None,
    persisted: Predicate | None = None,
    classify: Classify | None = None,
    observation_tools: Iterable[str] = (),
    memory: Archive | None = None,
    keep_last_steps: int = 5,
    pin_first_user: bool = True,
    system_messages: Literal["keep", "hoist"] = "keep",
    reasoning: Literal["auto", "keep", "drop"] = "auto",
    on_overflow: OnOverflow = "raise",
) -> list[BaseMessage]:
    """Fit a history into a token budget once; the function form of `EpisodeTrimmer`.

    Args:
        messages: A prompt value, or messages, dicts and tuples.
        max_tokens: As for `EpisodeTrimmer`, and so are all others.
        target_tokens: As there.
        token_counter: As there.
        pin: As there.
        persisted: As there.
        classify: As there.
        observation_tools: As there.
        memory: As there.
        keep_last_steps: As there.
        pin_first_user: As there.
        system_messages: As there.
        reasoning: As there.
        on_overflow: As there.

    Returns:
        The messages to send.

    Raises:
        BudgetExceededError: What has to stay is over budget.
        CounterError: The counter raised, or returned no count.
        InvalidInputError: An option breaks its rule, or these are no messages.
        StoreError: The memory could not take what leaves; nothing left.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> trim_episodes([HumanMessage("Hi.")], max_tokens=40)[0].content
        'Hi.'
    """
    trimmer = EpisodeTrimmer(
        max_tokens,
        target_tokens=target_tokens,
        token_counter=token_counter,
        pin=pin,
        persisted=persisted,
        classify=classify,
        observation_tools=observation_tools,
        memory=memory,
        keep_last_steps=keep_last_steps,
        pin_first_user=pin_first_user,
        system_messages=system_messages,
        reasoning=reasoning,
        on_overflow=on_overflow,
    )
    return trimmer.invoke(messages)
