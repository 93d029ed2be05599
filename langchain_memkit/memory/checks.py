"""Turning what a caller gives into memories, or refusing it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import get_args

from langchain_memkit.core.decay import ForgetConfig
from langchain_memkit.core.models import check_choice, check_count, check_share
from langchain_memkit.core.records import Source, StoredMemory
from langchain_memkit.core.times import as_utc
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.protocols import ArchiveEntry
from langchain_memkit.stores.names import check_name, is_text

__all__ = [
    "SOURCES",
    "check_item",
    "check_text",
    "checked_memory",
    "evicted_memory",
    "is_policy",
    "new_memory",
]

SOURCES: tuple[str, ...] = get_args(Source)
"""Who may write a memory."""

_FIELDS = 3
_MOST_USES = 2**53


def is_policy(value: object) -> bool:
    """Tell a decay policy from anything else.

    Args:
        value: Anything.

    Returns:
        Whether it is a `ForgetConfig`.
    """
    return isinstance(value, ForgetConfig)


def check_text(parameter: str, value: str) -> str:
    """Refuse what is no text.

    Args:
        parameter: Name used in the error.
        value: What was given.

    Returns:
        The text.

    Raises:
        InvalidInputError: It is no `str`.
    """
    if not is_text(value):
        raise InvalidInputError(parameter, "must be text", value)
    return value


def check_item(item: tuple[str, str, float]) -> tuple[str, str, float]:
    """Refuse what is not a name, a content and an importance.

    Args:
        item: What is to be remembered.

    Returns:
        The item.

    Raises:
        InvalidInputError: It has another shape.
    """
    given: object = item
    if not isinstance(given, tuple | list) or len(given) != _FIELDS:
        rule = "must hold a name, a content and an importance each"
        raise InvalidInputError("items", rule, item)
    return item


def new_memory(  # noqa: PLR0913 - each is a field of the memory
    name: str,
    content: str,
    importance: float,
    *,
    source: Source,
    pinned: bool,
    now: datetime,
    evicted: bool = False,
) -> StoredMemory:
    """Build a memory that is remembered now.

    Args:
        name: Its name.
        content: Its text.
        importance: From 0 to 1.
        source: Who wrote it.
        pinned: Whether it never fades.
        now: The time, aware.
        evicted: Whether it left a history.

    Returns:
        The memory, its name in NFC.

    Raises:
        InvalidInputError: A field breaks its rule.
        UnsafeNameError: The name is no safe file name.
    """
    check_choice("source", source, SOURCES)
    return StoredMemory(
        name=check_name(name),
        content=check_text("content", content),
        importance=check_share("importance", importance),
        source=source,
        pinned=bool(pinned),
        evicted=evicted,
        created_at=now,
        last_access_at=now,
    )


def evicted_memory(entry: ArchiveEntry, *, now: datetime) -> StoredMemory:
    """Build the memory of a text that leaves a history.

    Args:
        entry: The text.
        now: The time, aware.

    Returns:
        The memory, marked as evicted.

    Raises:
        InvalidInputError: A field breaks its rule.
        UnsafeNameError: The key is no safe file name.
    """
    return new_memory(
        entry.key,
        entry.content,
        entry.importance,
        source=entry.source,
        pinned=False,
        now=now,
        evicted=True,
    )


def checked_memory(memory: StoredMemory) -> StoredMemory:
    """Check each field of a memory and bring its name to NFC and its times to UTC.

    Args:
        memory: The memory.

    Returns:
        The memory as a store takes it.

    Raises:
        InvalidInputError: A field breaks its rule.
        UnsafeNameError: The name is no safe file name.
    """
    check_choice("source", memory.source, SOURCES)
    return replace(
        memory,
        name=check_name(memory.name),
        content=check_text("content", memory.content),
        importance=check_share("importance", memory.importance),
        created_at=as_utc(memory.created_at, parameter="created_at"),
        last_access_at=as_utc(memory.last_access_at, parameter="last_access_at"),
        access_count=_check_uses(memory.access_count),
    )


def _check_uses(access_count: int) -> int:
    if check_count("access_count", access_count) > _MOST_USES:
        rule = f"must be at most {_MOST_USES}, so that every store can count on"
        raise InvalidInputError("access_count", rule, access_count)
    return access_count
