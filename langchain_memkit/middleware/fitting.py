"""From a model call, or a state, to what fits: the decisions of the trim middleware."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from langchain_memkit.exceptions import BudgetExceededError
from langchain_memkit.middleware.overhead import block_tokens, request_tokens, settle
from langchain_memkit.middleware.places import Places
from langchain_memkit.middleware.state import Residents, TrimRecord, TrimState
from langchain_memkit.middleware.window import Window
from langchain_memkit.protocols import Archive
from langchain_memkit.trimmer import EpisodeTrimmer, TrimCall, TrimResult

__all__ = ["Fitted", "Fitting"]

_MOST_TRIMMERS = 8
_UNKNOWN_TOKENS = 1 << 20


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent, and what it takes to store it like that.

    Attributes:
        messages: What is sent.
        record: What the next call is told of the overheads.
        removed: Messages of the state that left.
        replaced: Messages that stand in place of the one of the same id.
    """

    messages: list[BaseMessage]
    record: TrimRecord
    removed: Sequence[BaseMessage]
    replaced: Sequence[BaseMessage]

    @property
    def is_cut(self) -> bool:
        """Whether anything left, so that the record matters."""
        return bool(self.removed or self.replaced)


@dataclass(frozen=True, slots=True)
class _Job:
    """One trimming, ready to run.

    Attributes:
        trimmer: The trimmer for `max_tokens`.
        max_tokens: What overheads are held against.
        messages: The history, with the blocks of memories that stand in it.
        call: What else is sent.
        exact_tokens: The overhead to fall back to where `call` reckons with a
            little more and that is too much.
        system: The system message, where there is one.
        visible_tokens: Price of the blocks in `messages`.
    """

    trimmer: EpisodeTrimmer
    max_tokens: int
    messages: Sequence[BaseMessage]
    call: TrimCall
    exact_tokens: int
    system: Sequence[BaseMessage] = ()
    visible_tokens: int = 0

    def exactly(self) -> TrimCall:
        """Reckon with today's overhead and no more."""
        return replace(self.call, overhead_tokens=self.exact_tokens)

    def tighter(self, result: TrimResult) -> TrimCall | None:
        """Reckon with a counter that finds more in the whole than in its parts.

        Args:
            result: What the parts came to.

        Returns:
            The call to make instead; `None` where the parts told the truth.
        """
        if self.trimmer.is_additive:
            return None
        count = self.trimmer.count_tokens
        parts = result.tokens + self.visible_tokens
        parts += count(self.system) if self.system else 0
        more = count([*self.system, *result.messages]) - parts
        if more <= 0:
            return None
        return replace(self.call, overhead_tokens=self.call.overhead_tokens + more)

    def fitted(self, result: TrimResult) -> Fitted:
        """Note what was decided.

        Args:
            result: What the trimmer returned.

        Returns:
            What is sent, and the record.
        """
        record = TrimRecord(max_tokens=self.max_tokens, overheads=result.overheads)
        return Fitted(result.messages, record, result.removed, result.replaced)


class Fitting:
    """Fits the prompts of an agent into a window."""

    def __init__(
        self, window: Window, *, places: Places | None, options: Mapping[str, Any]
    ) -> None:
        """Check the options of the trimmer.

        Args:
            window: The budget of a whole prompt.
            places: Where what leaves goes; `None` keeps it only where a memory
                middleware makes its memory on the agent's own store.
            options: Options of `EpisodeTrimmer`.

        Raises:
            InvalidInputError: An option breaks its rule.
            CounterError: The counter is none.
        """
        self._window = window
        self._places = places
        self._stored = Places.make(None, None)
        self._options = dict(options)
        self._trimmers: dict[tuple[int, int], EpisodeTrimmer] = {}
        known = window.fraction is None
        tokens = window.tokens(None) if known else _UNKNOWN_TOKENS
        self._trimmer(tokens, tokens)

    def fit(self, request: ModelRequest[Any], record: TrimRecord | None) -> Fitted:
        """Fit the messages of a model call.

        Args:
            request: The call.
            record: What the last call noted.

        Returns:
            What is sent.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            CounterError: The counter raised, or returned no count.
            InvalidInputError: The model has no profile where one is needed.
            StoreError: The memory could not take what leaves.
        """
        return _run(self._job_of_call(request, record))

    async def afit(
        self, request: ModelRequest[Any], record: TrimRecord | None
    ) -> Fitted:
        """Do what `fit` does, without blocking the event loop.

        Args:
            request: The call.
            record: What the last call noted.

        Returns:
            What is sent.

        Raises:
            BudgetExceededError: As `fit`.
            CounterError: As `fit`.
            InvalidInputError: As `fit`.
            StoreError: As `fit`.
        """
        job = await asyncio.to_thread(self._job_of_call, request, record)
        return await _arun(job)

    def is_ready(self, state: TrimState, record: TrimRecord | None) -> bool:
        """Tell whether a state can be fitted before the model is known.

        Args:
            state: The state.
            record: What the last call noted.

        Returns:
            False without messages, and where only the model tells the window.
        """
        return bool(state["messages"]) and (
            self._window.fraction is None or record is not None
        )

    def fit_state(
        self, state: TrimState, *, runtime: Runtime[Any], record: TrimRecord | None
    ) -> Fitted:
        """Fit the messages of a state, beside what the last call sent with them.

        Args:
            state: The state; see `is_ready`.
            runtime: The run.
            record: What the last call noted.

        Returns:
            What is to be stored.

        Raises:
            BudgetExceededError: As `fit`.
            CounterError: As `fit`.
            StoreError: As `fit`.
        """
        return _run(self._job_of_state(state, runtime, record))

    async def afit_state(
        self, state: TrimState, *, runtime: Runtime[Any], record: TrimRecord | None
    ) -> Fitted:
        """Do what `fit_state` does, without blocking the event loop.

        Args:
            state: The state; see `is_ready`.
            runtime: The run.
            record: What the last call noted.

        Returns:
            What is to be stored.

        Raises:
            BudgetExceededError: As `fit`.
            CounterError: As `fit`.
            StoreError: As `fit`.
        """
        job = await asyncio.to_thread(self._job_of_state, state, runtime, record)
        return await _arun(job)

    def _job_of_call(
        self, request: ModelRequest[Any], record: TrimRecord | None
    ) -> _Job:
        now = self._window.tokens(getattr(request.model, "profile", None))
        most = max(now, record["max_tokens"]) if record else now
        trimmer = self._trimmer(now, most)
        count = trimmer.count_tokens
        known = cast("TrimState", request.state).get("memkit_residents") or {}
        blocks, visible = block_tokens(request.messages, known, count=count)
        overhead = self._window.overhead(
            request_tokens=request_tokens(request, count), block_tokens=blocks
        )
        past = _against(record, most)
        settled = settle(overhead + most - now, past, max_tokens=most)
        return _Job(
            trimmer=trimmer,
            max_tokens=most,
            messages=request.messages,
            call=TrimCall(
                settled - visible, past, self._archive(request.runtime, known)
            ),
            exact_tokens=overhead + most - now - visible,
            system=[request.system_message] if request.system_message else [],
            visible_tokens=visible,
        )

    def _job_of_state(
        self, state: TrimState, runtime: Runtime[Any], record: TrimRecord | None
    ) -> _Job:
        known = state.get("memkit_residents") or {}
        if record is None:
            most = self._window.tokens(None)
            count = self._trimmer(most, most).count_tokens
            blocks, _ = block_tokens((), known, count=count)
            overhead = self._window.overhead(request_tokens=0, block_tokens=blocks)
        else:
            most, overhead = record["max_tokens"], record["overheads"][-1][1]
        past = _against(record, most)
        return _Job(
            trimmer=self._trimmer(most, most),
            max_tokens=most,
            messages=state["messages"],
            call=TrimCall(overhead, past, self._archive(runtime, known)),
            exact_tokens=overhead,
        )

    def _archive(
        self, runtime: Runtime[Any] | None, known: Mapping[str, Residents]
    ) -> Archive | None:
        if self._places is not None:
            return self._places.of(runtime)[0]
        found = [
            labels for e in known.values() if (labels := e.get("on_store")) is not None
        ]
        if "memory" in self._options or not found:
            return None
        return self._stored.at(tuple(found[0]), runtime=runtime)[0]

    def _trimmer(self, now: int, most: int) -> EpisodeTrimmer:
        found = self._trimmers.get((now, most))
        if found is None:
            options = dict(self._options)
            target = options.get("target_tokens")
            if isinstance(target, int) and now < most:  # keep its share of the window
                options["target_tokens"] = target * most // now
            found = EpisodeTrimmer(most, **options)
            if len(self._trimmers) >= _MOST_TRIMMERS:
                self._trimmers.clear()
            self._trimmers[now, most] = found
        return found


def _against(record: TrimRecord | None, most: int) -> list[list[int]]:
    if record is None:
        return []
    more = most - record["max_tokens"]
    return [[start, tokens + more] for start, tokens in record["overheads"]]


def _run(job: _Job) -> Fitted:
    try:
        result = job.trimmer.trim(job.messages, job.call)
    except BudgetExceededError:
        if job.exact_tokens == job.call.overhead_tokens:
            raise
        result = job.trimmer.trim(job.messages, job.exactly())
    tighter = job.tighter(result)
    if tighter is not None:
        result = job.trimmer.trim(job.messages, tighter)
    return job.fitted(result)


async def _arun(job: _Job) -> Fitted:
    try:
        result = await job.trimmer.atrim(job.messages, job.call)
    except BudgetExceededError:
        if job.exact_tokens == job.call.overhead_tokens:
            raise
        result = await job.trimmer.atrim(job.messages, job.exactly())
    tighter = job.tighter(result)
    if tighter is not None:
        result = await job.trimmer.atrim(job.messages, tighter)
    return job.fitted(result)
