"""The default estimate of a text's length in tokens."""

from __future__ import annotations

__all__ = ["CHARACTERS_PER_TOKEN", "estimate_tokens"]

CHARACTERS_PER_TOKEN = 4
"""Code points that one token stands for."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text as a quarter of its code points, rounded up.

    Formula: `ceil(code points / 4)`; the empty text has 0 tokens. The rule of thumb is
    the one of `langchain_core.messages.utils.count_tokens_approximately`.

    Args:
        text: Any text.

    Returns:
        Tokens, at least 0.

    Example:
        >>> estimate_tokens("hello")
        2
    """
    return -(-len(text) // CHARACTERS_PER_TOKEN)
