"""Retrieval keys: short, and never given to another content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_memkit.core.keys import content_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["KEY_CHARACTERS", "choose_keys", "hash_keys", "is_key_of"]

KEY_CHARACTERS = 8
"""Length of a key, unless another content has taken it."""

_LENGTHS = (KEY_CHARACTERS, 2 * KEY_CHARACTERS, 64)


def hash_keys(sha256: str) -> tuple[str, ...]:
    """Tell the keys that a content may have.

    Args:
        sha256: Hash of the content.

    Returns:
        Beginnings of the hash, shortest first.

    Example:
        >>> hash_keys("1f2e3d4c" * 8)[:2]
        ('1f2e3d4c', '1f2e3d4c1f2e3d4c')
    """
    return tuple(sha256[:length] for length in _LENGTHS)


def choose_keys(
    wanted: Mapping[int, Sequence[str]],
    *,
    contents: Sequence[str],
    kept: Mapping[str, str],
) -> dict[int, str]:
    """Give each content the first of its keys that no other content has.

    Args:
        wanted: The keys that a candidate may have, best first, by its index; the last
            is the whole hash of its content.
        contents: Contents of the candidates.
        kept: Contents that stand under keys already.

    Returns:
        One key a candidate; equal contents may share one.

    Example:
        >>> choose_keys({0: ("a", "ab")}, contents=["x"], kept={"a": "y"})
        {0: 'ab'}
    """
    owners = dict(kept)
    chosen: dict[int, str] = {}
    for at, keys in wanted.items():
        content = contents[at]
        free = (key for key in keys if owners.get(key, content) == content)
        chosen[at] = next(free, keys[-1])
        owners[chosen[at]] = content
    return chosen


def is_key_of(key: str, content: str) -> bool:
    """Tell whether a key is the beginning of a content's hash.

    Args:
        key: A retrieval key.
        content: The text that it may name.

    Returns:
        Whether it names the text.

    Example:
        >>> is_key_of("e3b0c442", "")
        True
    """
    return len(key) >= KEY_CHARACTERS and content_sha256(content).startswith(key)
