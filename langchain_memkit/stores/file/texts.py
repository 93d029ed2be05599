"""The texts of a folder: which are memories, and putting new ones in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from langchain_memkit.core.escaping import escape_text, unescape_text
from langchain_memkit.core.records import StoredMemory
from langchain_memkit.core.times import from_microseconds
from langchain_memkit.exceptions import InvalidInputError, UnsafeNameError
from langchain_memkit.stores.file.atomic import (
    discard,
    read_bytes,
    stage,
    sync_folder,
)
from langchain_memkit.stores.file.folder import Folder
from langchain_memkit.stores.file.ledger import Ledger

__all__ = [
    "check_targets",
    "encode_text",
    "known_memories",
    "load_memory",
    "replace_texts",
    "touched",
]

_NANOSECONDS_PER_MICROSECOND = 1000


def encode_text(text: str, max_bytes: int) -> bytes:
    """Write a text as the bytes of its file.

    Args:
        text: Any text.
        max_bytes: Most bytes.

    Returns:
        The text in UTF-8, as it is but for lone surrogates and NUL.

    Raises:
        InvalidInputError: It is too long.
    """
    data = escape_text(text).encode()
    if len(data) > max_bytes:
        rule = f"must be at most {max_bytes} bytes in UTF-8"
        raise InvalidInputError("content", rule, text)
    return data


def known_memories(folder: Folder, ledger: Ledger) -> dict[str, StoredMemory]:
    """List what has a file: entries of the ledger, and files put there by hand.

    Args:
        folder: The folder.
        ledger: Its ledger.

    Returns:
        The memories by name, contents empty; a file whose name was forgotten is a
        stale copy and none of them.

    Raises:
        OSError: The folder could not be read.
    """
    return {
        name: ledger.memories.get(name) or _adopt(folder, name)
        for name in folder.names(ledger.memories)
        if name in ledger.memories or name not in ledger.tombstones
    }


def load_memory(
    folder: Folder, ledger: Ledger, name: str, max_bytes: int
) -> StoredMemory | None:
    """Read one memory with its text.

    Args:
        folder: The folder.
        ledger: Its ledger.
        name: Its name.
        max_bytes: Longest file to read.

    Returns:
        The memory; `None` where there is none.

    Raises:
        UnsafeNameError: A link or a folder stands there.
        OSError: The file could not be read, or is too long.
    """
    if name not in ledger.memories and name in ledger.tombstones:
        return None
    folder.check_target(name)
    data = read_bytes(folder.file(name), max_bytes=max_bytes)
    if data is None:
        return None
    entry = ledger.memories.get(name) or _adopt(folder, name)
    content = unescape_text(data.decode("utf-8", "surrogateescape"))
    return replace(entry, content=content)


def check_targets(
    folder: Folder, names: Sequence[str], known: Mapping[str, StoredMemory]
) -> None:
    """Refuse names that could not be told apart, or lead out of the folder.

    Args:
        folder: The folder.
        names: What is to be written.
        known: What is there.

    Raises:
        UnsafeNameError: A name differs from another only in case, or a link or a folder
            stands there.
    """
    folded = {name.casefold(): name for name in known}
    for name in names:
        if folded.setdefault(name.casefold(), name) != name:
            rule = "must differ from other names by more than case"
            raise UnsafeNameError("name", rule, name)
        folder.check_target(name)


def replace_texts(
    folder: Folder, texts: Mapping[str, bytes], *, before: Ledger, after: Ledger
) -> None:
    """Put texts and the ledger in place, or leave all as it was.

    The ledger goes first: a kill in between leaves entries without a file, which count
    for nothing, and never a file that nobody knows.

    Args:
        folder: The folder, locked.
        texts: Bytes by name.
        before: The ledger as it is.
        after: The ledger with these texts.

    Raises:
        OSError: Something could not be written.
    """
    staged: dict[str, Path] = {}
    try:
        for name, data in texts.items():
            staged[name] = stage(folder.path, data)
        folder.write(after)
        try:
            for name, temporary in staged.items():
                temporary.replace(folder.file(name))
        except OSError:
            folder.write(before)
            raise
    finally:
        for temporary in staged.values():
            discard(temporary)
    sync_folder(folder.path)


def touched(memory: StoredMemory, now: datetime) -> StoredMemory:
    """Count one use of a memory.

    Args:
        memory: The memory.
        now: The time of the use.

    Returns:
        The memory with one more access, no earlier than the last.
    """
    return replace(
        memory,
        last_access_at=max(memory.last_access_at, now),
        access_count=memory.access_count + 1,
    )


def _adopt(folder: Folder, name: str) -> StoredMemory:
    """Describe a file that the ledger does not know; nothing is written."""
    seconds_ns = folder.file(name).stat().st_mtime_ns
    modified = from_microseconds(seconds_ns // _NANOSECONDS_PER_MICROSECOND)
    return StoredMemory(
        name=name,
        content="",
        importance=0.5,
        source="developer",
        pinned=True,
        evicted=False,
        created_at=modified,
        last_access_at=modified,
    )
