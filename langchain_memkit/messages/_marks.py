"""Facts that code put on a message, kept in its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from langchain_core.messages import BaseMessage

__all__ = [
    "MARK",
    "is_pinned",
    "mark_of",
    "mark_recalled",
    "mark_resident",
    "pin",
    "recall_key",
    "recalled_key",
    "resident_tokens",
    "with_mark",
    "without_marks",
]

MARK = "langchain_memkit"
"""Where marks live in `additional_kwargs`."""

M = TypeVar("M", bound=BaseMessage)

_NO_MARK: Mapping[str, object] = {}


def mark_of(message: BaseMessage) -> Mapping[str, object]:
    """Return the marks that code put on a message.

    Args:
        message: Any message.

    Returns:
        The marks, empty where there are none.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> mark_of(HumanMessage("hi"))
        {}
    """
    kwargs = message.additional_kwargs
    mark = kwargs.get(MARK) if kwargs else None
    return mark if isinstance(mark, Mapping) else _NO_MARK


def with_mark(message: M, **marks: object) -> M:
    """Return a copy of a message with marks added.

    Args:
        message: Any message; it is not changed.
        **marks: The marks, plain JSON values.

    Returns:
        The copy.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> mark_of(with_mark(HumanMessage("hi"), pinned=True))
        {'pinned': True}
    """
    kwargs = {**message.additional_kwargs, MARK: {**mark_of(message), **marks}}
    return message.model_copy(update={"additional_kwargs": kwargs})


def without_marks(message: M) -> M:
    """Return a message without marks, as it has to be where its source is not trusted.

    Args:
        message: Any message; it is not changed.

    Returns:
        The message itself where it has none, else a copy.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> is_pinned(without_marks(pin(HumanMessage("hi"))))
        False
    """
    if MARK not in message.additional_kwargs:
        return message
    kwargs = {k: v for k, v in message.additional_kwargs.items() if k != MARK}
    return message.model_copy(update={"additional_kwargs": kwargs})


def pin(message: M) -> M:
    """Return a copy of a message that no trimming removes, shortens or rewords.

    Args:
        message: Any message; it is not changed.

    Returns:
        The copy, with the pin in its metadata.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> is_pinned(pin(HumanMessage("Never change the public names.")))
        True
    """
    return with_mark(message, pinned=True)


def is_pinned(message: BaseMessage) -> bool:
    """Tell whether a message was pinned by `pin`.

    Args:
        message: Any message.

    Returns:
        True where it was.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> is_pinned(HumanMessage("hi"))
        False
    """
    return mark_of(message).get("pinned") is True


def _key(message: BaseMessage, name: str) -> str | None:
    key = mark_of(message).get(name)
    return key if isinstance(key, str) else None


def recall_key(message: BaseMessage) -> str | None:
    """Return the key that fetches what was left out of a stub or clip.

    Args:
        message: Any message.

    Returns:
        The key, or None where nothing was left out or no memory took it. It comes from
        metadata that code set, never from the text.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> recall_key(HumanMessage("key 0123456789abcdef")) is None
        True
    """
    return _key(message, "key")


def mark_recalled(message: M, key: str) -> M:
    """Return a copy of a recall tool's result that says which memory it shows.

    Such a result can be had again: it leaves first and is never archived.

    Args:
        message: The result; it is not changed.
        key: The name of the memory.

    Returns:
        The copy.

    Example:
        >>> from langchain_core.messages import HumanMessage, ToolMessage
        >>> result = ToolMessage("the text", tool_call_id="c1")
        >>> recalled_key(mark_recalled(result, "0123456789abcdef"))
        '0123456789abcdef'
    """
    return with_mark(message, recalled=key)


def recalled_key(message: BaseMessage) -> str | None:
    """Return the name of the memory that a recall tool's result shows.

    Args:
        message: Any message.

    Returns:
        The name, or None where it is no such result.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> recalled_key(HumanMessage("hi")) is None
        True
    """
    return _key(message, "recalled")


def mark_resident(message: M, tokens: int) -> M:
    """Return a copy of a block of memories that is sent along, but is no user turn.

    Args:
        message: The block; it is not changed.
        tokens: What it is priced at, whatever it holds.

    Returns:
        The copy.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> resident_tokens(mark_resident(HumanMessage("likes teal"), 64))
        64
    """
    return with_mark(message, resident=tokens)


def resident_tokens(message: BaseMessage) -> int | None:
    """Return what a block of memories is priced at.

    Args:
        message: Any message.

    Returns:
        Tokens, or None where the message is no such block.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> resident_tokens(HumanMessage("hi")) is None
        True
    """
    tokens = mark_of(message).get("resident")
    return tokens if isinstance(tokens, int) else None
