"""The roles that other code may play for us, each with its numbered laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from langchain_core.messages import BaseMessage

__all__ = ["Archive", "ArchiveEntry", "Clock", "Source", "TokenCounter"]

Source = Literal["developer", "user", "assistant", "tool"]
"""Who wrote a memory."""


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
