"""Middleware that lets memories fade once a turn and sends along the ones in use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
)
from langgraph.runtime import Runtime

from langchain_memkit.core.budget import ContextBudget
from langchain_memkit.core.models import check_count, check_flag
from langchain_memkit.memory import ForgettingMemory, make_tools_for
from langchain_memkit.middleware.places import Namespace, Places, check_name
from langchain_memkit.middleware.residents import (
    insert_block,
    make_block,
    read_residents,
    turn_of,
)
from langchain_memkit.middleware.state import Residents, ResidentState
from langchain_memkit.middleware.window import check_budget

__all__ = ["ForgettingMemoryMiddleware"]


class ForgettingMemoryMiddleware(AgentMiddleware[ResidentState, Any, Any]):
    """Remember across turns and threads, and forget what nobody uses.

    At the start of each user turn, and not again for its tool loop, retries and
    resumes, what has faded is pruned and the memories of users and developers that are
    most worth it become one message just before the user's. It is sent with every model
    call of the turn and never stored. The model gets the tools `remember`, `recall` and
    `forget`.

    What the model remembers goes to the run's own compartment, by default its thread;
    it also reads the memory itself, which serves all of them.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain_memkit import ForgettingMemory, SQLMemoryStore
        >>> from langchain_memkit.testing import ScriptedChatModel
        >>> memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
        >>> memory.remember("tone", "Answer in one sentence.")
        >>> model = ScriptedChatModel(script=["Fine."])
        >>> middleware = [ForgettingMemoryMiddleware(memory=memory)]
        >>> agent = create_agent(model, middleware=middleware)
        >>> result = agent.invoke({"messages": [("user", "How are kites?")]})
        >>> [len(result["messages"]), len(model.calls[0].messages)]
        [2, 2]
    """

    state_schema = ResidentState

    def __init__(  # noqa: PLR0913 - keyword-only, each with a default
        self,
        *,
        memory: ForgettingMemory | None = None,
        namespace: Namespace | None = None,
        budget_tokens: int = 512,
        budget: ContextBudget | None = None,
        tools: bool = True,
        name: str | None = None,
    ) -> None:
        """Choose the memory and what it may take of each prompt.

        Args:
            memory: Serves every run; `None` makes one on the agent's `store`.
            namespace: Names the compartment of a run, given its runtime; `None` means
                the thread's id, or the memory itself where a run has no thread.
            budget_tokens: Most tokens of the memories in a prompt; 0 sends none.
            budget: Its memory share takes the place of `budget_tokens`.
            tools: Whether the model gets the tools.
            name: Tells this middleware from another of its kind in one agent.

        Raises:
            InvalidInputError: The memory, the namespace or the budget breaks its rule.
            BudgetExceededError: The floors of `budget` are more than its window.
        """
        super().__init__()
        self._name = check_name(name) or type(self).__name__
        self._places = Places.make(memory, namespace)
        check_budget(budget)
        if budget is not None:
            budget_tokens = budget.split().memory_tokens
        self._budget_tokens = check_count("budget_tokens", budget_tokens)
        check_flag("tools", tools)
        self._serves_trimmers = tools and memory is None
        self.tools = make_tools_for(self._places.here) if tools else []

    @property
    def name(self) -> str:
        """Name of this middleware in the agent."""
        return self._name

    def before_model(
        self, state: ResidentState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Let memories fade and choose those to send, where a user turn begins.

        Args:
            state: The state of the agent.
            runtime: The run.

        Returns:
            The private state of the turn, or `None` where it is known.

        Raises:
            InvalidInputError: There is neither a memory nor a store.
            StoreError: The memory could not be read or written.
        """
        known, turn = self._known(state), turn_of(state["messages"])
        if known is not None and turn in (known["turn"], None):
            return None
        labels = self._places.namespace(runtime)
        places = self._places.at(labels, runtime=runtime)
        for place in places:
            place.consolidate()
        text = read_residents(places, budget_tokens=self._budget_tokens)
        entry = Residents(
            turn=turn or "",
            text=text,
            tokens=self._budget_tokens,
            on_store=list(labels) if self._serves_trimmers else None,
        )
        return {"memkit_residents": {self.name: entry}}

    async def abefore_model(
        self, state: ResidentState, runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Do what `before_model` does, without blocking the event loop.

        Args:
            state: The state of the agent.
            runtime: The run.

        Returns:
            The private state of the turn, or `None` where it is known.

        Raises:
            InvalidInputError: There is neither a memory nor a store.
            StoreError: The memory could not be read or written.
        """
        return await asyncio.to_thread(self.before_model, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Send the turn's memories along.

        Args:
            request: The call.
            handler: Makes it.

        Returns:
            What the handler returns.
        """
        return handler(self._with_block(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Send the turn's memories along.

        Args:
            request: The call.
            handler: Makes it.

        Returns:
            What the handler returns.
        """
        return await handler(self._with_block(request))

    def _known(self, state: ResidentState) -> Residents | None:
        return state.get("memkit_residents", {}).get(self.name)

    def _with_block(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        entry = self._known(cast("ResidentState", request.state))
        if entry is None or not entry["text"]:
            return request
        block = make_block(entry["text"], tokens=entry["tokens"])
        return request.override(messages=insert_block(request.messages, block))
