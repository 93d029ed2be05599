"""Which memory a run reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langgraph.runtime import Runtime, get_runtime

from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.memory import ForgettingMemory
from langchain_memkit.stores.langgraph import LangGraphMemoryStore
from langchain_memkit.stores.names import check_namespace

__all__ = ["Namespace", "Places", "check_name", "thread_namespace"]

Namespace = Callable[[Any], tuple[str, ...]]
"""Names the compartment of a run, given its `Runtime`."""

_Opened = dict[tuple[int, tuple[str, ...]], tuple[object, ForgettingMemory]]
_STORE_NAMESPACE = ("langchain_memkit",)
_MOST_OPENED = 256


def thread_namespace(runtime: Runtime[Any] | None) -> tuple[str, ...]:
    """Give each thread a compartment of its own.

    Args:
        runtime: The run; `None` outside of any.

    Returns:
        The thread's id, or nothing where the run has none.
    """
    info = runtime.execution_info if runtime else None
    return (str(info.thread_id),) if info and info.thread_id is not None else ()


@dataclass(frozen=True, slots=True)
class Places:
    """The memory of a middleware, and the compartment of each run in it.

    Attributes:
        memory: What serves every run; `None` makes it on the agent's own store.
        namespace: Names the compartment of a run.
        opened: Compartments that were opened lately, so that a run meets the same
            object again.
    """

    memory: ForgettingMemory | None
    namespace: Namespace
    opened: _Opened = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def make(
        cls, memory: ForgettingMemory | None, namespace: Namespace | None
    ) -> Places:
        """Check what a middleware was told.

        Args:
            memory: The memory.
            namespace: Names the compartment of a run; `None` means the thread's id.

        Returns:
            The places.

        Raises:
            InvalidInputError: One of them is something else.
        """
        fits = memory is None or isinstance(memory, ForgettingMemory)
        _require("memory", "must be a ForgettingMemory", memory, holds=fits)
        fits = namespace is None or callable(namespace)
        rule = "must take the runtime and return a tuple of labels"
        _require("namespace", rule, namespace, holds=fits)
        return cls(memory, namespace or thread_namespace)

    def of(self, runtime: Runtime[Any] | None) -> tuple[ForgettingMemory, ...]:
        """Open what a run reads.

        Args:
            runtime: The run; `None` outside of any.

        Returns:
            Its own compartment, which it also writes, then the memory that serves every
            run; only the latter where the run has no compartment.

        Raises:
            InvalidInputError: There is neither a memory nor a store, or the namespace
                is no tuple of labels.
            StoreError: The compartment cannot be opened.
        """
        return self.at(self.namespace(runtime), runtime=runtime)

    def at(
        self, labels: tuple[str, ...], *, runtime: Runtime[Any] | None
    ) -> tuple[ForgettingMemory, ...]:
        """Open what a run with a known compartment reads.

        Args:
            labels: The compartment; none for the memory itself.
            runtime: The run; `None` outside of any.

        Returns:
            As `of`.

        Raises:
            InvalidInputError: As `of`.
            StoreError: As `of`.
        """
        memory = self.memory or self._on_store(runtime)
        if labels == ():
            return (memory,)
        return (self._scoped(memory, check_namespace(labels)), memory)

    def here(self) -> tuple[ForgettingMemory, ...]:
        """Open what the run that this is called in reads.

        Returns:
            As `of`.

        Raises:
            InvalidInputError: As `of`.
            StoreError: As `of`.
        """
        return self.of(_runtime())

    def _on_store(self, runtime: Runtime[Any] | None) -> ForgettingMemory:
        store = None if runtime is None else runtime.store
        if store is None:
            rule = "must be given where the agent has no `store`"
            raise InvalidInputError("memory", rule, None)
        known = self.opened.get((id(store), ()))
        if known is not None:
            return known[1]
        made = ForgettingMemory(LangGraphMemoryStore(store, _STORE_NAMESPACE))
        return self._keep(store, (), made)

    def _scoped(
        self, memory: ForgettingMemory, labels: tuple[str, ...]
    ) -> ForgettingMemory:
        known = self.opened.get((id(memory), labels))
        if known is not None:
            return known[1]
        return self._keep(memory, labels, memory.scoped(labels))

    def _keep(
        self, owner: object, labels: tuple[str, ...], memory: ForgettingMemory
    ) -> ForgettingMemory:
        if len(self.opened) >= _MOST_OPENED:
            self.opened.clear()
        self.opened[id(owner), labels] = (owner, memory)  # the owner keeps its id
        return memory


def check_name(name: str | None) -> str | None:
    """Refuse what is no name of a middleware.

    Args:
        name: What was given.

    Returns:
        The name.

    Raises:
        InvalidInputError: It is neither a text nor `None`, or is empty.
    """
    given: object = name
    fits = given is None or (isinstance(given, str) and bool(given))
    _require("name", "must be a text that is not empty", name, holds=fits)
    return name


def _require(parameter: str, rule: str, value: object, *, holds: bool) -> None:
    if not holds:
        raise InvalidInputError(parameter, rule, value)


def _runtime() -> Runtime[Any] | None:
    try:
        return get_runtime()
    except (RuntimeError, KeyError):  # called outside of any graph
        return None
