"""What kind of message it is, and what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from langchain_core.messages import (
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit.core.eviction import EpisodeKind

__all__ = [
    "archive_text",
    "is_human",
    "is_system",
    "kind_of",
    "says_something",
    "text_of",
    "texts_of_block",
]

_ROLES = {
    "system": EpisodeKind.CONSTRAINT,
    "developer": EpisodeKind.CONSTRAINT,
    "user": EpisodeKind.USER_TURN,
    "human": EpisodeKind.USER_TURN,
}


def kind_of(message: BaseMessage) -> EpisodeKind:
    """Tell what a message is.

    System messages are constraints, as are those of a `ChatMessage` with the role
    `system` or `developer`; human messages are user turns; results of tools and
    functions are action results; everything else is reasoning of the agent.

    Args:
        message: Any message.

    Returns:
        Its kind.

    Example:
        >>> kind_of(HumanMessage("hi")).value
        'user_turn'
    """
    if isinstance(message, SystemMessage):
        return EpisodeKind.CONSTRAINT
    if isinstance(message, HumanMessage):
        return EpisodeKind.USER_TURN
    if isinstance(message, ToolMessage | FunctionMessage):
        return EpisodeKind.ACTION_RESULT
    if isinstance(message, ChatMessage):
        return _ROLES.get(message.role, EpisodeKind.AGENT_REASONING)
    return EpisodeKind.AGENT_REASONING


def is_system(message: BaseMessage) -> bool:
    """Tell whether a message gives the system's or the developer's instructions.

    Args:
        message: Any message.

    Returns:
        True for a system message, or a `ChatMessage` of that role.

    Example:
        >>> is_system(ChatMessage("Be brief.", role="developer"))
        True
    """
    return kind_of(message) is EpisodeKind.CONSTRAINT


def is_human(message: BaseMessage) -> bool:
    """Tell whether a message is the user's.

    Args:
        message: Any message.

    Returns:
        True for a human message, or a `ChatMessage` of that role.

    Example:
        >>> is_human(HumanMessage("hi"))
        True
    """
    return kind_of(message) is EpisodeKind.USER_TURN


def text_of(message: BaseMessage) -> str:
    """Join the texts of a message.

    Args:
        message: Any message.

    Returns:
        Its content, or the texts of its text blocks.

    Example:
        >>> text_of(HumanMessage([{"type": "text", "text": "hi"}]))
        'hi'
    """
    content: object = message.content
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part for block in parts for part in texts_of_block(block))


def texts_of_block(block: object) -> Iterator[str]:
    """Yield the text of a content block.

    Args:
        block: A content block of any form.

    Yields:
        Its text, where it is a text block.

    Example:
        >>> list(texts_of_block("hi"))
        ['hi']
    """
    if isinstance(block, str):
        yield block
    elif isinstance(block, Mapping) and block.get("type") == "text":
        text = block.get("text")
        if isinstance(text, str):
            yield text


def archive_text(message: BaseMessage) -> str:
    """Write down the whole content of a message.

    Args:
        message: Any message.

    Returns:
        The text, or the content blocks as JSON where there are others than texts.

    Example:
        >>> archive_text(HumanMessage([{"type": "image", "url": "kite.png"}]))
        '[{"type": "image", "url": "kite.png"}]'
    """
    content: object = message.content
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, default=str)


def says_something(message: BaseMessage) -> bool:
    """Tell whether the content holds a text that is not blank, or any other block.

    Args:
        message: Any message.

    Returns:
        False where the content is empty or white space.

    Example:
        >>> says_something(HumanMessage(" "))
        False
    """
    content: object = message.content
    if isinstance(content, str):
        return bool(content) and not content.isspace()
    return isinstance(content, list) and any(map(_block_says_something, content))


def _block_says_something(block: object) -> bool:
    if isinstance(block, Mapping) and block.get("type") != "text":
        return True
    return any(text and not text.isspace() for text in texts_of_block(block))
