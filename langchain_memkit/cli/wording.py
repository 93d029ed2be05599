"""Messages, and what becomes of them, in the words of a reader of transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from langchain_memkit.cli.printable import one_line
from langchain_memkit.cli.replay import Call

__all__ = ["describe_departures", "excerpt_of", "kind_of"]

_KINDS = {
    "human": "user message",
    "ai": "assistant message",
    "tool": "tool result",
    "function": "tool result",
    "system": "system message",
}


def kind_of(message: BaseMessage) -> str:
    """Name what a message is, as a reader of transcripts would.

    Args:
        message: Any message.

    Returns:
        Such as `tool result`.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> kind_of(HumanMessage("Hello"))
        'user message'
    """
    return _KINDS.get(message.type, "message")


def describe_departures(call: Call, messages: Sequence[BaseMessage]) -> str:
    """Tell in one line what is sent no more since a call.

    Args:
        call: The call.
        messages: The conversation.

    Returns:
        Such as `2 tool results left, 1 tool result shortened`; empty where nothing did.
    """
    parts = [
        f"{number} {kind}{'s' if number > 1 else ''} {verb}"
        for verb, places in (("left", call.gone), ("shortened", call.cut))
        for kind, number in Counter(kind_of(messages[i]) for i in places).items()
    ]
    return ", ".join(parts)


def excerpt_of(message: BaseMessage, *, max_characters: int = 72) -> str:
    """Show the beginning of a message.

    Args:
        message: Any message.
        max_characters: The most that is returned.

    Returns:
        One clean line: its text, else the names of the tools it calls, else its blocks.

    Example:
        >>> call = {"name": "find", "args": {}, "id": "1"}
        >>> excerpt_of(AIMessage("", tool_calls=[call]))
        'calls find'
    """
    text = str(message.text)
    if not text and isinstance(message, AIMessage) and message.tool_calls:
        text = "calls " + ", ".join(call["name"] for call in message.tool_calls)
    return one_line(text or str(message.content), max_characters=max_characters)
