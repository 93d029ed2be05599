"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

__all__ = [
    "TEMPORARY_FILES",
    "discard",
    "is_plain_file",
    "read_bytes",
    "stage",
    "sync_folder",
]

_PREFIX = ".memory.tmp-"
_TOKEN_BYTES = 8

TEMPORARY_FILES = _PREFIX + "[0-9a-f]" * 2 * _TOKEN_BYTES
"""Matches the names of half-written files, and never that of a memory."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def stage(folder: Path, data: bytes) -> Path:
    """Write bytes to a new temporary file of a folder, down to the disk.

    Args:
        folder: Where the file is to end up.
        data: Its bytes.

    Returns:
        The temporary file, to be put in place by `replace`.

    Raises:
        OSError: It could not be written; nothing is left behind.
    """
    path = folder / f"{_PREFIX}{secrets.token_hex(_TOKEN_BYTES)}"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        discard(path)
        raise
    return path


def discard(path: Path) -> None:
    """Delete a file, if it is there and can be deleted.

    Args:
        path: The file.
    """
    with suppress(OSError):
        path.unlink()


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder down to the disk, where the system can do that.

    Args:
        folder: The folder.
    """
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_plain_file(path: Path) -> bool:
    """Tell a file from a link, a folder, a device and from nothing.

    Args:
        path: What to look at; links are not followed.

    Returns:
        Whether it is a file.

    Raises:
        OSError: The folder could not be read.
    """
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def read_bytes(path: Path, *, max_bytes: int | None = None) -> bytes | None:
    """Read a file whole, without following a link.

    Args:
        path: The file.
        max_bytes: Most bytes to read; a longer file is refused. `None`: no limit.

    Returns:
        Its bytes; `None` if there is no such file.

    Raises:
        OSError: It could not be read, is no plain file, or is too long.
    """
    try:
        handle = os.open(path, os.O_RDONLY | _NOFOLLOW | _BINARY)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        data = file.read(-1 if max_bytes is None else max_bytes + 1)
    if max_bytes is not None and len(data) > max_bytes:
        msg = f"{path.name} is longer than {max_bytes} bytes"
        raise OSError(msg)
    return data
