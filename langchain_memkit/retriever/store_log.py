"""An access log that lasts: a compartment of a memory's own store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.runnables import run_in_executor

from langchain_memkit.core.records import StoredMemory
from langchain_memkit.protocols import AccessTally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from langchain_memkit.core.storage import MemoryStore

__all__ = ["MemoryAccessLog"]

_COMPARTMENT = ("capsule-access",)


class MemoryAccessLog:
    """An `AccessLog` in a file or an SQL store, or any other `MemoryStore`.

    Each text is a pinned memory without content in a compartment of its own; the
    store counts, so threads and processes that share it lose nothing.

    Example:
        >>> from datetime import UTC, datetime
        >>> from tempfile import TemporaryDirectory
        >>> from langchain_memkit import FileMemoryStore
        >>> with TemporaryDirectory() as folder:
        ...     log = MemoryAccessLog(FileMemoryStore(folder))
        ...     log.record(["a"], at=datetime(2030, 1, 1, tzinfo=UTC))
        ...     log.read(["a", "b"])["a"].count
        1
    """

    def __init__(
        self, store: MemoryStore, *, namespace: tuple[str, ...] = _COMPARTMENT
    ) -> None:
        """Open the compartment.

        Args:
            store: The store; its memories are neither seen nor changed.
            namespace: Labels that lead to the compartment.

        Raises:
            StoreError: It cannot be opened.
        """
        self._store = store.scoped(namespace)

    def read(self, keys: Sequence[str]) -> Mapping[str, AccessTally]:
        """Tell how texts were used so far.

        Args:
            keys: Names of the texts.

        Returns:
            The tallies of those that were recorded.

        Raises:
            StoreError: The store could not be read.
        """
        return {
            memory.name: AccessTally(memory.access_count, memory.last_access_at)
            for memory in self._store.read(list(dict.fromkeys(keys)))
        }

    async def aread(self, keys: Sequence[str]) -> Mapping[str, AccessTally]:
        """Do what `read` does, in a thread.

        Args:
            keys: Names of the texts.

        Returns:
            The tallies of those that were recorded.

        Raises:
            StoreError: The store could not be read.
        """
        return await run_in_executor(None, self.read, keys)

    def record(self, keys: Sequence[str], *, at: datetime) -> None:
        """Count one use of each text.

        Args:
            keys: Names of the texts.
            at: Now, with a time zone.

        Raises:
            StoreError: The store could not be written.
        """
        names = list(dict.fromkeys(keys))
        self._store.put([_blank(name, at) for name in names], now=at, only_new=True)
        self._store.touch(names, now=at)

    async def arecord(self, keys: Sequence[str], *, at: datetime) -> None:
        """Do what `record` does, in a thread.

        Args:
            keys: Names of the texts.
            at: Now, with a time zone.

        Raises:
            StoreError: The store could not be written.
        """
        await run_in_executor(None, self.record, keys, at=at)


def _blank(name: str, at: datetime) -> StoredMemory:
    return StoredMemory(
        name=name,
        content="",
        importance=1.0,
        source="developer",
        pinned=True,
        evicted=False,
        created_at=at,
        last_access_at=at,
    )
