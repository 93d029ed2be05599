"""Open a store that a user names on the command line, and nothing by mistake."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from langchain_memkit.core.decay import ForgetConfig
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.memory import ForgettingMemory
from langchain_memkit.stores.file import FileMemoryStore
from langchain_memkit.stores.sql import SQLMemoryStore

__all__ = [
    "compartments",
    "make_config",
    "open_memory",
    "opened_memory",
    "show_namespace",
]

_LONGEST_DAYS = 365_000


def make_config(
    *, ttl_days: float, min_importance: float, weak_days: float | None
) -> ForgetConfig:
    """Build the policy from the options of a command.

    Args:
        ttl_days: Idle days after which any memory fades.
        min_importance: Below this a memory is weak.
        weak_days: Idle days after which a weak memory fades; `None` means `ttl_days`.

    Returns:
        The policy.

    Raises:
        InvalidInputError: A duration is negative or beyond any date, or an importance
            is not from 0 to 1.

    Example:
        >>> make_config(ttl_days=7, min_importance=0.5, weak_days=None).weak_grace
        datetime.timedelta(days=7)
    """
    weak = ttl_days if weak_days is None else weak_days
    for name, days in (("ttl_days", ttl_days), ("weak_days", weak)):
        if not 0 <= days <= _LONGEST_DAYS:
            rule = f"must be a number of days from 0 to {_LONGEST_DAYS}"
            raise InvalidInputError(name, rule, days)
    return ForgetConfig(
        ttl=timedelta(days=ttl_days),
        min_importance=min_importance,
        weak_grace=timedelta(days=weak),
    )


def open_memory(
    address: str,
    *,
    namespace: Sequence[str] = (),
    root: str | None = None,
    config: ForgetConfig | None = None,
    create: bool = False,
) -> ForgettingMemory:
    """Open a memory by the address of its store.

    Args:
        address: A folder, or an address such as `sqlite:///memories.db`.
        namespace: Labels of a compartment.
        root: The namespace that a `SQLMemoryStore` was made with; `None` means its
            default.
        config: The policy.
        create: Whether what is missing is made; otherwise it is refused.

    Returns:
        The memory.

    Raises:
        InvalidInputError: There is no such store or compartment, or the address cannot
            be read.
        MissingExtraError: A driver is not installed.
        StoreError: The store cannot be opened.
    """
    if not create:
        _refuse_missing(address)
    memory = ForgettingMemory(_open_store(address, root), config)
    labels = tuple(namespace)
    if labels and not create:
        known = compartments(memory)
        if labels not in known:
            names = ", ".join(map(show_namespace, known)) or "none"
            rule = f"must be a compartment of the store; there are: {names}"
            raise InvalidInputError("namespace", rule, show_namespace(labels))
    return memory.scoped(labels) if labels else memory


@contextmanager
def opened_memory(
    address: str,
    *,
    namespace: Sequence[str] | None = None,
    root: str | None = None,
    config: ForgetConfig | None = None,
    create: bool = False,
) -> Iterator[ForgettingMemory]:
    """Open a memory as `open_memory` does, and close its database in the end.

    Args:
        address: A folder, or an address such as `sqlite:///memories.db`.
        namespace: Labels of a compartment.
        root: The namespace that a `SQLMemoryStore` was made with.
        config: The policy.
        create: Whether what is missing is made; otherwise it is refused.

    Yields:
        The memory.

    Raises:
        InvalidInputError: As `open_memory`.
        MissingExtraError: As `open_memory`.
        StoreError: As `open_memory`.
    """
    memory = open_memory(
        address, namespace=namespace or (), root=root, config=config, create=create
    )
    try:
        yield memory
    finally:
        if isinstance(memory.store, SQLMemoryStore):
            memory.store.close()


def compartments(memory: ForgettingMemory) -> tuple[tuple[str, ...], ...]:
    """List the compartments below a memory that hold anything.

    Args:
        memory: The memory.

    Returns:
        Namespaces, sorted.

    Raises:
        StoreError: The store could not be read.
    """
    return memory.store.namespaces()


def show_namespace(labels: Iterable[str]) -> str:
    """Write a namespace for people.

    Args:
        labels: Its labels.

    Returns:
        The labels joined by `/`; `(top)` where there are none.

    Example:
        >>> show_namespace(("user", "42"))
        'user/42'
    """
    return "/".join(labels) or "(top)"


def _open_store(address: str, root: str | None) -> FileMemoryStore | SQLMemoryStore:
    if "://" not in address:
        if root is not None:
            rule = "must be left out where the store is a folder"
            raise InvalidInputError("root", rule, root)
        return FileMemoryStore(address)
    return SQLMemoryStore(address) if root is None else SQLMemoryStore(address, root)


def _refuse_missing(address: str) -> None:
    # opening makes what is missing, and would leave litter behind a typing error
    if "://" not in address:
        try:
            found = list(Path(address).iterdir())
        except OSError as error:
            rule = f"must be a folder that can be read ({error.strerror})"
            raise InvalidInputError("STORE", rule, address) from error
        if not any(map(_is_trace, found)):
            rule = "must be a folder of memories; there is no .memory.json in it"
            raise InvalidInputError("STORE", rule, address)
    elif address.startswith("sqlite"):
        file = unquote(urlsplit(address).path.removeprefix("/"))
        # os.path does not raise where a name is too long
        if not file.startswith("file:") and not os.path.isfile(file):  # noqa: PTH113
            rule = "must be an address of a database that exists, as sqlite:///file.db"
            raise InvalidInputError("STORE", rule, address)


def _is_trace(path: Path) -> bool:
    name = path.name
    return name.startswith(".memory.json") or (name.startswith("@") and path.is_dir())
