"""Keys that name a text by its content."""

from __future__ import annotations

import re
from hashlib import sha256

__all__ = ["content_key", "content_sha256", "is_content_key"]

_KEY_CHARACTERS = 16
_KEY = re.compile(f"[0-9a-f]{{{_KEY_CHARACTERS}}}", re.ASCII)


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


def is_content_key(name: str) -> bool:
    """Tell whether a name could be the key of a text.

    Args:
        name: Any name.

    Returns:
        True where it has the form of a key.

    Example:
        >>> is_content_key(content_key("")), is_content_key("tone")
        (True, False)
    """
    return _KEY.fullmatch(name) is not None
