"""One folder of memories: its files, its lock and its ledger."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from unicodedata import normalize

from filelock import FileLock, Timeout

from langchain_memkit.core.escaping import escape_text
from langchain_memkit.exceptions import (
    InvalidInputError,
    MemkitError,
    StoreError,
    StoreVersionError,
    UnsafeNameError,
)
from langchain_memkit.stores.file.atomic import (
    TEMPORARY_FILES,
    discard,
    is_plain_file,
    read_bytes,
    stage,
    sync_folder,
)
from langchain_memkit.stores.file.ledger import (
    Ledger,
    NewerLedgerError,
    dump_ledger,
    load_ledger,
)
from langchain_memkit.stores.names import check_name

__all__ = ["SUFFIX", "Folder", "label_folder", "root_path"]

SUFFIX = ".md"
"""How the files of memories end."""

_LEDGER = ".memory.json"
_BACKUP = ".memory.json.bak"
_LOCK = ".memory.lock"
_POLL_SECONDS = 0.002
_LONGEST_LABEL = 200
_PLAIN_LABEL = re.compile(rb"[a-z0-9_-]")


def label_folder(label: str) -> str:
    """Name the folder of a label, safely and differently for different labels.

    Args:
        label: Any text that is not empty.

    Returns:
        `@` and the label, what is not `a-z0-9_-` as `%XX`; a hash for a long one.

    Example:
        >>> label_folder("Ann/1")
        '@%41nn%2F1'
    """
    data = escape_text(label).encode()
    text = "".join(
        chr(byte) if _PLAIN_LABEL.match(bytes([byte])) else f"%{byte:02X}"
        for byte in data
    )
    return f"@{text if len(text) <= _LONGEST_LABEL else '%' + sha256(data).hexdigest()}"


def root_path(root: str | os.PathLike[str]) -> Path:
    r"""Read the path of a folder.

    Args:
        root: The path; an empty one would be the folder that the process runs in.

    Returns:
        The path.

    Raises:
        InvalidInputError: It is no path, is empty, or holds a NUL.

    Example:
        >>> root_path("notes").name
        'notes'
    """
    given: object = root
    path = str(given) if isinstance(given, str | os.PathLike) else ""
    if not path or "\0" in path:
        raise InvalidInputError("root", "must be the path of a folder", root)
    return Path(path)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of memories that processes share.

    Attributes:
        path: The folder.
        lock_timeout: Longest wait for another process that writes.
    """

    path: Path
    lock_timeout: timedelta

    def __post_init__(self) -> None:
        """Make the folder, drop what a killed writer left and check the ledger.

        Raises:
            StoreError: The folder cannot be made or read.
            StoreVersionError: Its ledger was written by a newer release.
        """
        with self._wrapped():
            self.path.mkdir(parents=True, exist_ok=True)
            left = list(self.path.glob(TEMPORARY_FILES))
        if left:
            with suppress(StoreError), self._locked():
                for file in left:
                    discard(file)
        with self.reading():
            pass

    def error(self, reason: str) -> StoreError:
        """Build the error of this folder.

        Args:
            reason: What went wrong.

        Returns:
            The error.
        """
        return StoreError(str(self.path), reason)

    @contextmanager
    def reading(self) -> Iterator[Ledger]:
        """Read the ledger; a damaged one is repaired first.

        Yields:
            The ledger.

        Raises:
            StoreError: The folder cannot be read.
            StoreVersionError: The ledger was written by a newer release.
        """
        with self._wrapped():
            ledger = self._load()
            if ledger.is_damaged:
                with self._locked():
                    ledger = self._repaired()
            yield ledger

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """Hold the lock and read the ledger; a damaged one is repaired first.

        Yields:
            The ledger.

        Raises:
            StoreError: The folder cannot be read or written.
            StoreVersionError: The ledger was written by a newer release.
        """
        with self._wrapped(), self._locked():
            yield self._repaired()

    def write(self, ledger: Ledger) -> None:
        """Replace the ledger; the one before stays as a backup.

        Args:
            ledger: The new one.

        Raises:
            OSError: It could not be written; the old one stands.
        """
        temporary = stage(self.path, dump_ledger(ledger))
        try:
            self._back_up()
            temporary.replace(self.path / _LEDGER)
        finally:
            discard(temporary)
        sync_folder(self.path)

    def file(self, name: str) -> Path:
        """Find the file of a memory.

        Args:
            name: Its name, in NFC.

        Returns:
            The path, whether or not it is there; a file put there by hand may be named
            in another normal form.
        """
        path = self.path / f"{name}{SUFFIX}"
        if name.isascii() or path.exists():
            return path
        return self.path / self._files().get(name, path.name)

    def names(self, known: Container[str]) -> list[str]:
        """List the files that are memories.

        Args:
            known: Names that were checked before.

        Returns:
            Their names in NFC; links, folders and unsafe names are left out.

        Raises:
            OSError: The folder could not be read.
        """
        return [name for name in self._files() if name in known or _is_safe(name)]

    def check_target(self, name: str) -> None:
        """Refuse a name whose file is a link or a folder.

        Args:
            name: A safe name.

        Raises:
            UnsafeNameError: Something that is no plain file stands there.
        """
        path = self.path / f"{name}{SUFFIX}"
        if os.path.lexists(path) and not is_plain_file(path):
            rule = "must not be that of a link or a folder"
            raise UnsafeNameError("name", rule, name)

    def delete(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Delete the files of memories.

        Args:
            names: Their names.

        Returns:
            The names whose files are gone, and those whose files are not.
        """
        gone: list[str] = []
        failed: list[str] = []
        for name in names:
            try:
                self.file(name).unlink(missing_ok=True)
            except OSError:
                failed.append(name)
            else:
                gone.append(name)
        return gone, failed

    def ledgers_below(self, lock_timeout: timedelta) -> Iterator[Ledger]:
        """Read the ledgers of the folders below, without making or repairing any.

        Args:
            lock_timeout: Longest wait for another process that writes.

        Yields:
            A ledger a folder.

        Raises:
            StoreError: A folder could not be read.
            StoreVersionError: A ledger was written by a newer release.
        """
        with self._wrapped():
            for base, folders, files in os.walk(self.path):
                folders[:] = sorted(f for f in folders if f.startswith("@"))
                if _LEDGER in files and Path(base) != self.path:
                    with Folder(Path(base), lock_timeout).reading() as ledger:
                        yield ledger

    @contextmanager
    def _wrapped(self) -> Iterator[None]:
        try:
            yield
        except MemkitError:
            raise
        except OSError as error:
            raise self.error(str(error)) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self.path / _LOCK, timeout=self.lock_timeout.total_seconds())
        try:
            lock.acquire(poll_interval=_POLL_SECONDS)
        except Timeout as error:
            reason = f"another process held the lock for {self.lock_timeout}"
            raise self.error(reason) from error
        try:
            yield
        finally:
            lock.release()

    def _load(self) -> Ledger:
        data = read_bytes(self.path / _LEDGER)
        if data is None:
            backed_up = is_plain_file(self.path / _BACKUP)
            return Ledger(is_damaged=backed_up)
        try:
            return load_ledger(data)
        except NewerLedgerError as error:
            reason = f"its ledger has version {error}, newer than this release reads"
            raise StoreVersionError(str(self.path), reason) from error

    def _repaired(self) -> Ledger:
        ledger = self._load()
        if not ledger.is_damaged:
            return ledger
        self._set_aside()
        backup = self._load_backup()
        whole = replace(
            ledger,
            memories={**backup.memories, **ledger.memories},
            tombstones={**backup.tombstones, **ledger.tombstones},
            namespace=ledger.namespace or backup.namespace,
            is_damaged=False,
        )
        temporary = stage(self.path, dump_ledger(whole))
        temporary.replace(self.path / _LEDGER)
        return whole

    def _load_backup(self) -> Ledger:
        data = read_bytes(self.path / _BACKUP)
        with suppress(NewerLedgerError):
            return load_ledger(data or b"{}")
        return Ledger()

    def _set_aside(self) -> None:
        """Keep a damaged ledger under a name that is free."""
        damaged = self.path / _LEDGER
        if not is_plain_file(damaged):
            return
        data = damaged.read_bytes()
        mark = sha256(data).hexdigest()[:12]
        stage(self.path, data).replace(self.path / f"{_LEDGER}.damaged-{mark}")

    def _back_up(self) -> None:
        with suppress(OSError):
            (self.path / _BACKUP).unlink(missing_ok=True)
            os.link(self.path / _LEDGER, self.path / _BACKUP)

    def _files(self) -> dict[str, str]:
        """Map the names of memories to the names of their files."""
        with os.scandir(self.path) as entries:
            files = [
                entry.name
                for entry in entries
                if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False)
            ]
        return {normalize("NFC", file[: -len(SUFFIX)]): file for file in sorted(files)}


def _is_safe(name: str) -> bool:
    try:
        check_name(name)
    except UnsafeNameError:
        return False
    return True
