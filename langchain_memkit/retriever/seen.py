"""What the model has read already."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.messages import BaseMessage

__all__ = ["seen_text"]


def seen_text(messages: Iterable[BaseMessage]) -> str:
    """Collect the texts of messages, as they stand and unescaped.

    Args:
        messages: What the model was or will be given.

    Returns:
        One text; a unit that it contains need not be sent again.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> "a < b" in seen_text([HumanMessage("so a &lt; b")])
        True
    """
    texts = [str(message.text) for message in messages]
    return "\n".join([*texts, *(unescape(text) for text in texts if "&" in text)])
