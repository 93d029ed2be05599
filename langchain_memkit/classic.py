"""A forgetting memory for the chains of `langchain_classic`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from langchain_memkit.core.keys import content_key
from langchain_memkit.core.models import check_count
from langchain_memkit.core.retention import (
    EvidenceCapsule,
    RetentionCandidate,
    retain_within_budget,
)
from langchain_memkit.exceptions import (
    InvalidInputError,
    MemoryNotFoundError,
    MissingExtraError,
)
from langchain_memkit.memory import ForgettingMemory, render_memories
from langchain_memkit.protocols import Source

try:
    from langchain_classic.base_memory import BaseMemory
except ImportError as error:
    raise MissingExtraError("classic", "langchain_classic") from error

__all__ = ["ForgettingChainMemory"]

_EXCERPT_TOKENS = 256
_SOURCES: tuple[Source, ...] = ("user", "developer", "assistant")


class ForgettingChainMemory(BaseMemory):
    """Give a classic chain a memory that fades.

    Each run is one turn: what has faded is pruned, then the chain gets the memories
    that match its input and those most worth keeping in mind, and in the end what was
    asked and answered is remembered. Give each conversation a compartment of its own
    with `memory.scoped(...)`.

    Example:
        >>> from langchain_memkit import ForgettingMemory, SQLMemoryStore
        >>> memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
        >>> chain_memory = ForgettingChainMemory(memory)
        >>> chain_memory.save_context({"q": "My kite?"}, {"a": "It is red."})
        >>> text = chain_memory.load_memory_variables({"q": "kite"})["memories"]
        >>> text.split(">", 1)[1].splitlines()
        ['q: My kite?', 'a: It is red.</memory>']
    """

    memory: ForgettingMemory
    memory_key: str = "memories"
    input_key: str | None = None
    output_key: str | None = None
    budget_tokens: int = 512
    k: int = 4

    def __init__(  # noqa: PLR0913 - keyword-only, each with a default
        self,
        memory: ForgettingMemory,
        *,
        memory_key: str = "memories",
        input_key: str | None = None,
        output_key: str | None = None,
        budget_tokens: int = 512,
        k: int = 4,
    ) -> None:
        r"""Choose the memory and where it meets the chain.

        Args:
            memory: Holds the memories of this chain.
            memory_key: The prompt's variable for the memories.
            input_key: The input to search by and remember; `None` takes the only one.
            output_key: The output to remember; `None` takes the only one.
            budget_tokens: Most tokens of the memories, at least 0.
            k: Most memories found by the input, at least 0.

        Raises:
            InvalidInputError: The budget or `k` is no whole number of at least 0.
        """
        values: dict[str, Any] = {
            "memory": memory,
            "memory_key": memory_key,
            "input_key": input_key,
            "output_key": output_key,
            "budget_tokens": check_count("budget_tokens", budget_tokens),
            "k": check_count("k", k),
        }
        super().__init__(**values)

    @property
    def memory_variables(self) -> list[str]:
        """The variables that `load_memory_variables` fills."""
        return [self.memory_key]

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Let memories fade, then choose those for this run.

        Args:
            inputs: The inputs of the chain.

        Returns:
            The memories as text, under the memory key; empty where there are none.

        Raises:
            InvalidInputError: Without `input_key` the chain must have one input.
            StoreError: The memory could not be read or written.
        """
        ignored = (self.memory_key, "stop")
        query = _value("input_key", inputs, key=self.input_key, ignored=ignored)
        self.memory.consolidate()
        found: dict[str, EvidenceCapsule] = {}
        for capsule in (*self._matching(query), *self._recent()):
            found.setdefault(capsule.retrieval_key, capsule)
        text = render_memories(found.values(), budget_tokens=self.budget_tokens)
        return {self.memory_key: text}

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, str]) -> None:
        """Remember what was asked and answered.

        Args:
            inputs: The inputs of the chain.
            outputs: Its outputs.

        Raises:
            InvalidInputError: Without `input_key` and `output_key` the chain must have
                one input and one output.
            StoreError: The memory could not be written.
        """
        ignored = (self.memory_key, "stop")
        asked = _value("input_key", inputs, key=self.input_key, ignored=ignored)
        answered = _value("output_key", outputs, key=self.output_key)
        text = f"{asked}\n{answered}"
        self.memory.remember(content_key(text), text, source="assistant")

    def clear(self) -> None:
        """Forget everything that the memory holds.

        Raises:
            StoreError: The memory could not be written.
        """
        self.memory.consolidate()
        for name in self.memory.live_at():
            with suppress(MemoryNotFoundError):  # another process was faster
                self.memory.forget(name)

    def _matching(self, query: str) -> Iterable[EvidenceCapsule]:
        candidates = [
            RetentionCandidate(
                id=document.metadata["name"],
                content=document.page_content,
                retrieval_score=1 / rank,
            )
            for rank, document in enumerate(self.memory.search(query, self.k), 1)
        ]
        report = retain_within_budget(candidates, self.budget_tokens, _EXCERPT_TOKENS)
        return report.capsules

    def _recent(self) -> Iterable[EvidenceCapsule]:
        return self.memory.resident(self.budget_tokens, sources=_SOURCES).capsules


def _value(
    parameter: str,
    values: Mapping[str, object],
    *,
    key: str | None,
    ignored: tuple[str, ...] = (),
) -> str:
    keys = [name for name in values if name not in ignored] if key is None else [key]
    if len(keys) != 1 or keys[0] not in values:
        rule = f"must name one of {sorted(values)}"
        raise InvalidInputError(parameter, rule, key)
    return f"{keys[0]}: {values[keys[0]]}"
