"""What the items of a `langgraph` store look like, and how labels are escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from langchain_memkit.core.escaping import escape_text, unescape_text
from langchain_memkit.core.records import Source, StoredMemory
from langchain_memkit.core.times import from_microseconds, to_microseconds

__all__ = [
    "Item",
    "NewerItemError",
    "escape_label",
    "load_item",
    "text_item",
    "touch_item",
    "unescape_label",
]

Item = Mapping[str, Any]
"""The value of an item."""

_VERSION = 1
_PLAIN = re.compile(rb"[A-Za-z0-9_-]")
_ESCAPED = re.compile("=([0-9A-F]{2})")


class NewerItemError(Exception):
    """An item of a version that this release does not know."""


def text_item(memory: StoredMemory) -> Item:
    """Write the item that holds a memory.

    Args:
        memory: The memory.

    Returns:
        Plain JSON types.
    """
    return {
        "version": _VERSION,
        "content": escape_text(memory.content),
        "importance": memory.importance,
        "source": memory.source,
        "pinned": memory.pinned,
        "evicted": memory.evicted,
        **touch_item(memory),
    }


def touch_item(memory: StoredMemory) -> Item:
    """Write the item that says how a memory was used.

    It names the birth of its memory, so that it says nothing of a later one.

    Args:
        memory: The memory.

    Returns:
        Plain JSON types.
    """
    return {
        "created_at_us": to_microseconds(memory.created_at),
        "last_access_at_us": to_microseconds(memory.last_access_at),
        "access_count": memory.access_count,
    }


def load_item(name: str, item: Item, touch: Item | None) -> StoredMemory:
    """Read a memory from its item and what is known of its use.

    Args:
        name: Its name.
        item: What `text_item` wrote.
        touch: What `touch_item` wrote; `None` where it was not used yet.

    Returns:
        The memory.

    Raises:
        NewerItemError: The item was written by a newer release.
    """
    if item["version"] > _VERSION:
        raise NewerItemError(item["version"])
    created_us = item["created_at_us"]
    is_ours = touch is not None and touch["created_at_us"] == created_us
    uses = (item, touch) if touch is not None and is_ours else (item,)
    last_us = max(use["last_access_at_us"] for use in uses)
    return StoredMemory(
        name=name,
        content=unescape_text(item["content"]),
        importance=item["importance"],
        source=cast("Source", item["source"]),
        pinned=item["pinned"],
        evicted=item["evicted"],
        created_at=from_microseconds(created_us),
        last_access_at=from_microseconds(last_us),
        access_count=max(use["access_count"] for use in uses),
    )


def escape_label(label: str) -> str:
    """Write a label in letters that every store takes.

    Args:
        label: Any text that is not empty.

    Returns:
        The label, each byte that is not `A-Za-z0-9_-` as `=XX`.

    Example:
        >>> escape_label("user.42")
        'user=2E42'
    """
    data = escape_text(label).encode()
    text = "".join(
        chr(byte) if _PLAIN.match(bytes([byte])) else f"={byte:02X}" for byte in data
    )
    return "=6Canggraph" if text == "langgraph" else text


def unescape_label(label: str) -> str:
    """Undo `escape_label`.

    Args:
        label: What it gave.

    Returns:
        The label as it was.

    Example:
        >>> unescape_label("user=2E42")
        'user.42'
    """
    raw = _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), label)
    return unescape_text(raw.encode("latin-1").decode())
