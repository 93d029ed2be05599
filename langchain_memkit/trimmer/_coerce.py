"""Messages from whatever a prompt may be given as."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    MessageLikeRepresentation,
    RemoveMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.messages import resident_tokens, without_marks

__all__ = ["MessagesLike", "are_messages", "is_aside", "split", "to_messages"]

MessagesLike = PromptValue | Iterable[MessageLikeRepresentation]
"""A prompt value, or messages, dicts and tuples as `trim_messages` takes them."""

_RULE = "must be a prompt value or an iterable of messages, dicts and tuples"


def to_list(messages: MessagesLike) -> list[Any]:
    """List what `trim_messages` takes, without a look at the items.

    Args:
        messages: A prompt value, or messages, dicts and tuples.

    Returns:
        The items; a list is not copied, so do not change it.

    Raises:
        InvalidInputError: It is none of these.
    """
    if type(messages) is list:
        return messages
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    if isinstance(messages, str | bytes | dict) or not isinstance(messages, Iterable):
        raise InvalidInputError("messages", _RULE, messages)
    return list(messages)


def to_messages(messages: MessagesLike) -> list[BaseMessage]:
    """Convert what `trim_messages` takes; marks in dicts are not trusted.

    Args:
        messages: A prompt value, or messages, dicts and tuples.

    Returns:
        Messages; those that were messages are the same objects.

    Raises:
        InvalidInputError: It is none of these.
    """
    return [_to_message(item) for item in to_list(messages)]


def are_messages(items: Sequence[object]) -> bool:
    """Tell whether nothing has to be converted.

    Args:
        items: Any items.

    Returns:
        True where all are messages.
    """
    return all(issubclass(kind, BaseMessage) for kind in set(map(type, items)))


def _to_message(item: MessageLikeRepresentation) -> BaseMessage:
    if isinstance(item, BaseMessage):
        return item
    try:
        return without_marks(convert_to_messages([item])[0])
    except (KeyError, NotImplementedError, TypeError, ValueError) as error:
        raise InvalidInputError("messages", _RULE, item) from error


def split(
    messages: Sequence[BaseMessage],
) -> tuple[list[BaseMessage], list[tuple[int, BaseMessage]]]:
    """Set aside what is no part of the conversation.

    Args:
        messages: The messages.

    Returns:
        The conversation, and the blocks of memories with their places in it;
        instructions to remove a message are dropped.
    """
    rest: list[BaseMessage] = []
    blocks: list[tuple[int, BaseMessage]] = []
    for message in messages:
        if not is_aside(message):
            rest.append(message)
        elif not isinstance(message, RemoveMessage):
            blocks.append((len(rest), message))
    return rest, blocks


def is_aside(message: BaseMessage) -> bool:
    """Tell whether a message is no part of the conversation.

    Args:
        message: Any message.

    Returns:
        True for an instruction to remove, and for a block of memories.
    """
    if not message.additional_kwargs:
        return isinstance(message, RemoveMessage)
    return resident_tokens(message) is not None or isinstance(message, RemoveMessage)
