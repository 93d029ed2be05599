"""A memory that decays, with everything LangChain asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool

from langchain_memkit.core.models import check_count
from langchain_memkit.memory.queries import MemoryQueries
from langchain_memkit.memory.residents import render_memories
from langchain_memkit.memory.retriever import MemoryRetriever
from langchain_memkit.memory.tools import make_tools
from langchain_memkit.memory.twins import AsyncMemory

__all__ = ["ForgettingMemory"]

_Inputs = Mapping[str, object]


class ForgettingMemory(AsyncMemory):
    """Remembers texts by name, and forgets those that nobody uses.

    A memory fades when it was not used for `config.ttl`, a weak one after
    `config.weak_grace`; `consolidate` prunes what has faded. Only `remember` and
    `recall` count as use. Times are compared in microseconds of UTC; a clock that runs
    backwards lets nothing fade. Every verb has a twin for async code, `aremember` and
    so on. It is an `Archive` for a trimmer, and safe to share between threads.

    Example:
        >>> from datetime import datetime, timedelta
        >>> from langchain_memkit import ForgettingMemory, SQLMemoryStore
        >>> memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
        >>> day = datetime(2030, 1, 1)
        >>> memory.remember("tone", "Answer briefly.", 0.9, now=day)
        >>> memory.recall("tone", now=day + timedelta(days=29))
        'Answer briefly.'
        >>> memory.consolidate(now=day + timedelta(days=58)).kept
        1
        >>> memory.consolidate(now=day + timedelta(days=59)).reasons
        {'tone': 'idle'}
    """

    def as_retriever(self, k: int = 4) -> BaseRetriever:
        """Make a retriever that searches this memory, also as a base of another.

        Args:
            k: Most documents, unless a call asks for another number.

        Returns:
            The retriever.

        Raises:
            InvalidInputError: `k` is no whole number of at least 0.
        """
        return MemoryRetriever(memory=self, k=check_count("k", k))

    def as_tools(self, *, also_recall: Sequence[MemoryQueries] = ()) -> list[BaseTool]:
        """Make the tools `remember`, `recall` and `forget` for a model.

        What the model remembers has the source `assistant`. It can neither replace nor
        forget what the developer wrote, a pinned memory or a text that left its
        history. An unknown name is answered by a sentence, not an error; a long text
        is read in parts.

        Args:
            also_recall: Memories where `recall` looks next.

        Returns:
            The three tools.
        """
        return make_tools(self, also_recall=also_recall)

    def as_runnable(
        self, key: str = "memories", budget_tokens: int = 512
    ) -> Runnable[_Inputs, dict[str, object]]:
        """Make a step of a chain that adds the resident memories to its input.

        It consolidates once a call, so put it where one call is one turn.

        Args:
            key: Where the memories go in the mapping.
            budget_tokens: Most tokens of the rendered memories.

        Returns:
            A runnable from a mapping to the same mapping with the memories added.

        Raises:
            InvalidInputError: The budget is no whole number of at least 0.

        Example:
            >>> from langchain_memkit import ForgettingMemory, SQLMemoryStore
            >>> memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
            >>> memory.remember("tone", "Answer briefly.")
            >>> memory.as_runnable().invoke({"question": "Why?"})["memories"]
            '<memory name="tone">Answer briefly.</memory>'
        """
        check_count("budget_tokens", budget_tokens)

        def add_memories(inputs: _Inputs) -> dict[str, object]:
            self.consolidate()
            report = self.resident(budget_tokens)
            text = render_memories(report, budget_tokens=budget_tokens)
            return {**inputs, key: text}

        async def aadd_memories(inputs: _Inputs) -> dict[str, object]:
            await self.aconsolidate()
            report = await self.aresident(budget_tokens)
            text = render_memories(report, budget_tokens=budget_tokens)
            return {**inputs, key: text}

        return RunnableLambda(add_memories, aadd_memories, name="memories")
