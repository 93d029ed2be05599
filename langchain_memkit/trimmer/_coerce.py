"""Messages from whatever a prompt may be given as."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from langchain_core.messages import (
    BaseMessage,
    MessageLikeRepresentation,
    RemoveMessage,
    convert_to_messages,
)
from langchain_core.prompt_values import PromptValue

from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.messages import resident_tokens, without_marks

__all__ = ["MessagesLike", "split", "to_messages"]

MessagesLike = PromptValue | Iterable[MessageLikeRepresentation]
"""A prompt value, or messages, dicts and tuples as `trim_messages` takes them."""

_RULE = "must be a prompt value or an iterable of messages, dicts and tuples"


def to_messages(messages: MessagesLike) -> list[BaseMessage]:
    """Convert what `trim_messages` takes; marks in dicts are not trusted.

    Args:
        messages: A prompt value, or messages, dicts and tuples.

    Returns:
        Messages; those that were messages are the same objects.

    Raises:
        InvalidInputError: It is none of these.
    """
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    if isinstance(messages, str | bytes | dict) or not isinstance(messages, Iterable):
        raise InvalidInputError("messages", _RULE, messages)
    items = list(messages)
    if all(isinstance(item, BaseMessage) for item in items):
        return cast("list[BaseMessage]", items)
    return [_to_message(item) for item in items]


def _to_message(item: MessageLikeRepresentation) -> BaseMessage:
    if isinstance(item, BaseMessage):
        return item
    try:
        return without_marks(convert_to_messages([item])[0])
    except (KeyError, NotImplementedError, TypeError, ValueError) as error:
        raise InvalidInputError("messages", _RULE, item) from error


def split(
    messages: Sequence[BaseMessage],
) -> tuple[Sequence[BaseMessage], list[tuple[int, BaseMessage]]]:
    """Set aside what is no part of the conversation.

    Args:
        messages: The messages.

    Returns:
        The conversation, and what stands beside it: instructions to remove a message,
        and blocks of memories, each with its place in the conversation.
    """
    if not any(map(_is_aside, messages)):
        return messages, []
    rest: list[BaseMessage] = []
    aside: list[tuple[int, BaseMessage]] = []
    for message in messages:
        if _is_aside(message):
            aside.append((len(rest), message))
        else:
            rest.append(message)
    return rest, aside


def _is_aside(message: BaseMessage) -> bool:
    if not message.additional_kwargs:
        return type(message) is RemoveMessage
    return resident_tokens(message) is not None or isinstance(message, RemoveMessage)
