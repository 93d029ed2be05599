"""The trimmer: a Runnable from messages to the messages that fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_callback_manager_for_config,
)

from langchain_memkit.protocols import Archive
from langchain_memkit.trimmer._coerce import MessagesLike, to_messages
from langchain_memkit.trimmer._counting import Count
from langchain_memkit.trimmer._engine import Engine
from langchain_memkit.trimmer._explain import explain
from langchain_memkit.trimmer._options import (
    Classify,
    OnOverflow,
    Options,
    Predicate,
)
from langchain_memkit.trimmer._outcome import Outcome
from langchain_memkit.trimmer.calls import TrimCall, TrimResult
from langchain_memkit.trimmer.report import TrimReport

__all__ = ["EpisodeTrimmer", "trim_episodes"]

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
        options = Options.make(
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
        self._engine = Engine(options)

    @property
    def max_tokens(self) -> int:
        """Return the tokens that an output may take.

        Returns:
            Tokens, at least 1.
        """
        return self._engine.options.max_tokens

    @property
    def is_additive(self) -> bool:
        """Return whether its counts of a list are the sum over the messages.

        Returns:
            False for a plain callable, whose counts of a whole are final.
        """
        return self._engine.options.tokens.additive

    def count_tokens(self, messages: Sequence[BaseMessage]) -> int:
        """Count messages as this trimmer does.

        Args:
            messages: In order, calls and results together.

        Returns:
            Tokens, at least 0.

        Raises:
            CounterError: The counter raised, or returned no count.
        """
        return self._engine.options.tokens.whole(messages)

    def __getstate__(self) -> dict[str, Options]:
        """Leave out what was remembered of conversations; it is found again.

        Returns:
            What a copy is made from.
        """
        return {"options": self._engine.options}

    def __setstate__(self, state: dict[str, Options]) -> None:
        """Become a copy that remembers no conversation.

        Args:
            state: What `__getstate__` returned.
        """
        self._engine = Engine(state["options"])

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
            outcome = self._engine.decide(messages, _NO_EXTRAS)
            return self._engine.settle(outcome, _NO_EXTRAS)

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
            return await self._engine.asettle(
                self._engine.decide(messages, _NO_EXTRAS), _NO_EXTRAS
            )

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
        outcome = self._engine.decide(messages, call)
        return _result(outcome, self._engine.settle(outcome, call))

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
        outcome = self._engine.decide(messages, call)
        return _result(outcome, await self._engine.asettle(outcome, call))

    def explain(
        self, messages: MessagesLike, call: TrimCall = _NO_EXTRAS
    ) -> TrimReport:
        """Tell what `invoke` does to each message, and why; nothing leaves.

        Args:
            messages: A prompt value, or messages, dicts and tuples.
            call: What else is sent.

        Returns:
            The report; where what has to stay is over budget it says so.

        Raises:
            CounterError: As `invoke`.
            InvalidInputError: As `invoke`.
        """
        items = to_messages(messages)
        report = explain(self._engine, items, call)
        again = partial(self._again, items, call)
        report._again = again  # noqa: SLF001 - ours; it holds what JSON cannot
        return report

    def what_if(self, messages: MessagesLike, max_tokens: int) -> TrimReport:
        """Tell what another budget would do; nothing changes.

        Args:
            messages: A prompt value, or messages, dicts and tuples.
            max_tokens: The other budget, at least 1.

        Returns:
            The report that a trimmer of that budget would give, its target in the
            same proportion.

        Raises:
            CounterError: As `invoke`.
            InvalidInputError: As `invoke`, or the budget is below 1.
        """
        return self._again(to_messages(messages), _NO_EXTRAS, max_tokens)

    def _again(
        self, messages: list[BaseMessage], call: TrimCall, max_tokens: int
    ) -> TrimReport:
        options = self._engine.options.with_budget(max_tokens)
        twin = type(self).__new__(type(self))
        twin.__setstate__({"options": options})
        return twin.explain(messages, call)


def _result(outcome: Outcome, sent: list[BaseMessage]) -> TrimResult:
    is_own = sent is outcome.messages  # else a fallback answered, and archived nothing
    return TrimResult(
        messages=sent,
        overheads=outcome.overheads,
        removed=tuple(outcome.removed()) if is_own else (),
        replaced=tuple(outcome.replaced()) if is_own else (),
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
