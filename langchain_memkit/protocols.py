"""The roles that other code may play for us, each with its numbered laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from langchain_memkit.core.records import Source
from langchain_memkit.core.storage import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage

__all__ = [
    "AccessLog",
    "AccessTally",
    "Archive",
    "ArchiveEntry",
    "Clock",
    "Docstore",
    "MemoryStore",
    "Source",
    "TokenCounter",
]


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens of texts and of lists of messages.

    Laws:
        1. Counts are whole numbers of at least 0, and equal input has equal counts.
        2. `counter(messages)` equals `counter.count_messages(messages)`.
        3. Where `additive` is true, the count of a list is the sum of the counts of
           its messages, each counted alone.
        4. Nothing is fetched and no argument is changed.
        5. Text is ordinary text: special tokens inside it do not raise.
    """

    @property
    def additive(self) -> bool:
        """Whether the count of a list is the sum of the counts of its messages."""

    def count_text(self, text: str) -> int:
        """Count the tokens of a text.

        Args:
            text: Any text.

        Returns:
            Tokens, at least 0.
        """

    def count_messages(self, messages: Sequence[BaseMessage]) -> int:
        """Count the tokens of a list of messages.

        Args:
            messages: In order, calls and their results together.

        Returns:
            Tokens, at least 0.
        """

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Do what `count_messages` does.

        Args:
            messages: In order, calls and their results together.

        Returns:
            Tokens, at least 0.
        """


class Clock(Protocol):
    """Tells the time.

    Laws:
        1. The answer is an aware datetime.
    """

    def __call__(self) -> datetime:
        """Tell the time.

        Returns:
            Now, with a time zone.
        """


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A text that is about to leave a history.

    Attributes:
        key: Names the text by its content; also a safe name of a memory.
        content: The whole text, or content blocks as JSON.
        importance: From 0 to 1, by kind.
        source: Who wrote it.
    """

    key: str
    content: str
    importance: float
    source: Source


class Archive(Protocol):
    """Takes what leaves a history, so that its key can fetch it again.

    Laws:
        1. After `archive` returned, each entry was taken, now or earlier.
        2. Where it raises, the caller must not let the texts leave.
        3. A key that was taken before is left as it is: archiving again neither
           refreshes it nor brings back what has faded.
        4. `aarchive` does the same without blocking the event loop.
    """

    def archive(self, entries: Sequence[ArchiveEntry]) -> None:
        """Take texts, all of them or none.

        Args:
            entries: The texts, each under its key.

        Raises:
            StoreError: They could not be written.
        """

    async def aarchive(self, entries: Sequence[ArchiveEntry]) -> None:
        """Take texts, all of them or none, without blocking the event loop.

        Args:
            entries: The texts, each under its key.

        Raises:
            StoreError: They could not be written.
        """


@dataclass(frozen=True, slots=True)
class AccessTally:
    """How a piece of evidence was used so far.

    Attributes:
        count: How often it was packed.
        last_at: When it was packed last, with a time zone.
    """

    count: int
    last_at: datetime


@runtime_checkable
class AccessLog(Protocol):
    """Counts how often a text was packed, and remembers when that was last.

    Laws:
        1. A key that was never recorded is absent from what `read` returns.
        2. `record` adds one to the count of each distinct key, and `last_at` never
           moves back.
        3. Two recordings at once, in threads or processes that share the log, both
           count.
        4. `aread` and `arecord` do the same without blocking the event loop.
    """

    def read(self, keys: Sequence[str]) -> Mapping[str, AccessTally]:
        """Tell how texts were used so far.

        Args:
            keys: Names of the texts, by their content.

        Returns:
            The tallies of those that were recorded.

        Raises:
            StoreError: The log could not be read.
        """

    async def aread(self, keys: Sequence[str]) -> Mapping[str, AccessTally]:
        """Tell how texts were used so far, without blocking the event loop.

        Args:
            keys: Names of the texts, by their content.

        Returns:
            The tallies of those that were recorded.

        Raises:
            StoreError: The log could not be read.
        """

    def record(self, keys: Sequence[str], *, at: datetime) -> None:
        """Count one use of each text.

        Args:
            keys: Names of the texts, by their content.
            at: Now, with a time zone.

        Raises:
            StoreError: The log could not be written.
        """

    async def arecord(self, keys: Sequence[str], *, at: datetime) -> None:
        """Count one use of each text, without blocking the event loop.

        Args:
            keys: Names of the texts, by their content.
            at: Now, with a time zone.

        Raises:
            StoreError: The log could not be written.
        """


@runtime_checkable
class Docstore(Protocol):
    """Keeps full documents under their retrieval keys.

    It is a part of langchain-core's `BaseStore[str, Document]`, so any of those serves.

    Laws:
        1. `mget` answers in the order of the keys, `None` for one that is not kept.
        2. What `mset` took is what `mget` returns, until the store makes room.
        3. `amget` and `amset` do the same without blocking the event loop.
    """

    def mget(self, keys: Sequence[str]) -> list[Document | None]:
        """Look documents up.

        Args:
            keys: Retrieval keys.

        Returns:
            One document or `None` for each key.
        """

    async def amget(self, keys: Sequence[str]) -> list[Document | None]:
        """Look documents up, without blocking the event loop.

        Args:
            keys: Retrieval keys.

        Returns:
            One document or `None` for each key.
        """

    def mset(self, key_value_pairs: Sequence[tuple[str, Document]]) -> None:
        """Keep documents.

        Args:
            key_value_pairs: Retrieval keys and their documents.
        """

    async def amset(self, key_value_pairs: Sequence[tuple[str, Document]]) -> None:
        """Keep documents, without blocking the event loop.

        Args:
            key_value_pairs: Retrieval keys and their documents.
        """
