"""Middleware that keeps every prompt of an agent within its budget."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Self, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_memkit.core.budget import ContextBudget
from langchain_memkit.core.models import check_flag
from langchain_memkit.memory import ForgettingMemory, make_tools_for
from langchain_memkit.middleware.fitting import Fitted, Fitting
from langchain_memkit.middleware.persistence import changes_of
from langchain_memkit.middleware.places import Namespace, Places, check_name
from langchain_memkit.middleware.state import TrimRecord, TrimState
from langchain_memkit.middleware.window import Window
from langchain_memkit.protocols import Archive

__all__ = ["EpisodeTrimMiddleware"]

_Response = ModelResponse[Any] | ExtendedModelResponse[Any]


class EpisodeTrimMiddleware(AgentMiddleware[TrimState, Any, Any]):
    """Keep every prompt of an agent within a budget, and lose nothing that matters.

    The budget is that of the whole prompt: system prompt, schemas of tools, messages
    and a reserve for the answer. The agent's state keeps everything; the model sees the
    trimmed view. With a memory, what leaves is remembered under its key first, and the
    model gets the tool `recall` to fetch it. Put this middleware last, so that it sees
    what the others add.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_memkit.testing import ScriptedChatModel
        >>> model = ScriptedChatModel(script=["Fine."])
        >>> middleware = [EpisodeTrimMiddleware(max_tokens=60)]
        >>> agent = create_agent(model, middleware=middleware)
        >>> talk = [("user", "Hi."), ("ai", "Hello! " * 60), ("user", "How are kites?")]
        >>> result = agent.invoke({"messages": talk})
        >>> [len(result["messages"]), len(model.calls[0].messages)]
        [4, 2]
    """

    state_schema = TrimState

    def __new__(cls, *, persist: bool = False, **options: Any) -> Self:  # noqa: ANN401 - as `__init__`
        """Add the hooks of `persist` only where they are asked for.

        An agent gets a node, and a checkpoint a call, for each hook of a class.

        Args:
            persist: As for `__init__`.
            **options: Likewise.

        Returns:
            The middleware.
        """
        del options
        kind = _persisting(cast("Any", cls)) if persist else cls
        return cast("Self", super().__new__(kind))

    def __init__(  # noqa: PLR0913 - keyword-only, each with a default
        self,
        *,
        max_tokens: int | None = None,
        fraction: float | None = None,
        budget: ContextBudget | None = None,
        memory: ForgettingMemory | Archive | None = None,
        namespace: Namespace | None = None,
        persist: bool = False,
        reserve_tokens: int = 0,
        name: str | None = None,
        **trimmer_options: Any,  # noqa: ANN401 - those of `EpisodeTrimmer`
    ) -> None:
        """Choose the budget, what takes what leaves, and how to trim.

        Args:
            max_tokens: Tokens of the whole prompt and the reserve, at least 1.
            fraction: In place of `max_tokens`: a share of the model's
                `profile["max_input_tokens"]`, above 0 and at most 1.
            budget: In place of `max_tokens`: a window that is shared out; memories and
                documents get their shares, the messages the rest.
            memory: Takes every text before it leaves. A `ForgettingMemory` also gives
                the model the tool `recall`; any other `Archive` only takes. `None`
                keeps nothing, unless a `ForgettingMemoryMiddleware` of the agent makes
                its memory on the agent's `store`: then that one takes it.
            namespace: Names the compartment of a run, given its runtime; `None` means
                the thread's id, or the memory itself where a run has no thread.
            persist: Whether what left is also taken out of the agent's state.
            reserve_tokens: Kept free for the answer, at least 0.
            name: Tells this middleware from another of its kind in one agent.
            **trimmer_options: Options of `EpisodeTrimmer`.

        Raises:
            InvalidInputError: An option breaks its rule.
            CounterError: The counter is none.
        """
        check_flag("persist", persist)  # `__new__` has seen to the rest
        super().__init__()
        self._name = check_name(name) or _PLAIN_NAME
        window = Window.make(
            max_tokens=max_tokens,
            fraction=fraction,
            budget=budget,
            reserve_tokens=reserve_tokens,
        )
        places = None
        if memory is None:
            Places.make(None, namespace)  # only checks it
        elif isinstance(memory, ForgettingMemory):
            places = Places.make(memory, namespace)
        else:
            trimmer_options["memory"] = memory
        self._fitting = Fitting(window, places=places, options=trimmer_options)
        tools = make_tools_for(places.here) if places is not None else []
        self.tools = [tool for tool in tools if tool.name == "recall"]

    @property
    def name(self) -> str:
        """Name of this middleware in the agent."""
        return self._name

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> _Response:
        """Send what fits.

        Args:
            request: The call.
            handler: Makes it.

        Returns:
            What the handler returns, with the private record where it changed.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            CounterError: The counter raised, or returned no count.
            InvalidInputError: A fraction is asked for and the model has no profile.
            StoreError: The memory could not take what leaves; the model is not called.
        """
        if not request.messages:
            return handler(request)
        fitted = self._fitting.fit(request, self._record(request.state))
        return self._noted(request, handler(_with(request, fitted)), fitted)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> _Response:
        """Send what fits; the memory is written without blocking the event loop.

        Args:
            request: The call.
            handler: Makes it.

        Returns:
            What the handler returns, with the private record where it changed.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            CounterError: The counter raised, or returned no count.
            InvalidInputError: A fraction is asked for and the model has no profile.
            StoreError: The memory could not take what leaves; the model is not called.
        """
        if not request.messages:
            return await handler(request)
        fitted = await self._fitting.afit(request, self._record(request.state))
        return self._noted(request, await handler(_with(request, fitted)), fitted)

    def _record(self, state: Any) -> TrimRecord | None:  # noqa: ANN401 - of any agent
        records: dict[str, TrimRecord] = state.get("memkit_overheads") or {}
        return records.get(self.name)

    def _noted(
        self, request: ModelRequest[Any], response: ModelResponse[Any], fitted: Fitted
    ) -> _Response:
        known = self._record(request.state)
        matters = fitted.is_cut or isinstance(self, _Persisting)
        if fitted.record == known or (known is None and not matters):
            return response
        update = {"memkit_overheads": {self.name: fitted.record}}
        return ExtendedModelResponse(response, Command(update=update))


_PLAIN_NAME = EpisodeTrimMiddleware.__name__


def _with(request: ModelRequest[Any], fitted: Fitted) -> ModelRequest[Any]:
    messages = cast("list[AnyMessage]", fitted.messages)
    return request.override(messages=messages)


@cache
def _persisting(kind: type[Any]) -> type[Any]:
    if issubclass(kind, _Persisting):
        return kind
    return type(kind.__name__, (kind, _Persisting), {"__module__": kind.__module__})


class _Persisting(AgentMiddleware[TrimState, Any, Any]):
    """Also take what left out of the state, before the model is called."""

    name: str
    _fitting: Fitting

    def before_model(
        self, state: TrimState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Take out of the state what does not fit.

        The tokens of system prompt and tools are those of the last call.

        Args:
            state: The state of the agent.
            runtime: The run.

        Returns:
            The smallest change, or `None` where everything fits.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            CounterError: The counter raised, or returned no count.
            StoreError: The memory could not take what leaves; nothing is removed.
        """
        record = (state.get("memkit_overheads") or {}).get(self.name)
        if not self._fitting.is_ready(state, record):
            return None
        return self._change(
            self._fitting.fit_state(state, runtime=runtime, record=record)
        )

    async def abefore_model(
        self, state: TrimState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Do what `before_model` does, without blocking the event loop.

        Args:
            state: The state of the agent.
            runtime: The run.

        Returns:
            The smallest change, or `None` where everything fits.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            CounterError: The counter raised, or returned no count.
            StoreError: The memory could not take what leaves; nothing is removed.
        """
        record = (state.get("memkit_overheads") or {}).get(self.name)
        if not self._fitting.is_ready(state, record):
            return None
        return self._change(
            await self._fitting.afit_state(state, runtime=runtime, record=record)
        )

    def _change(self, fitted: Fitted) -> dict[str, Any] | None:
        changes = changes_of(removed=fitted.removed, replaced=fitted.replaced)
        if not changes:
            return None
        record = TrimRecord(
            max_tokens=fitted.record["max_tokens"],
            overheads=[[0, fitted.record["overheads"][-1][1]]],
        )
        return {"messages": changes, "memkit_overheads": {self.name: record}}
