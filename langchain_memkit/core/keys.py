"""Keys that name a text by its content."""

from __future__ import annotations

from hashlib import sha256

__all__ = ["content_key", "content_sha256"]

_KEY_CHARACTERS = 16


def content_sha256(text: str) -> str:
    """Hash a text.

    Args:
        text: Any text, lone surrogates included.

    Returns:
        The sha256 of its UTF-8 form, as 64 hexadecimal characters.

    Example:
        >>> content_sha256("")[:8]
        'e3b0c442'
    """
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def content_key(text: str) -> str:
    """Name a text by the beginning of its hash: equal texts share it, others do not.

    Args:
        text: Any text, lone surrogates included.

    Returns:
        16 hexadecimal characters.

    Example:
        >>> content_key("")
        'e3b0c44298fc1c14'
    """
    return content_sha256(text)[:_KEY_CHARACTERS]
