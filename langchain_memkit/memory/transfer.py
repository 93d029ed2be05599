"""Moving memories: out to JSONL, in again, to another store, and from other formats."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.documents import Document

from langchain_memkit.core.keys import content_key
from langchain_memkit.core.models import Count, FrozenModel, Share, check_share
from langchain_memkit.core.records import Source, StoredMemory
from langchain_memkit.exceptions import (
    InvalidInputError,
    StoreError,
    StoreVersionError,
    UnsafeNameError,
)
from langchain_memkit.memory.base import MemoryBase
from langchain_memkit.memory.checks import checked_memory
from langchain_memkit.stores.names import check_name, check_namespace

__all__ = [
    "OnProgress",
    "copy_memories",
    "export_memories",
    "import_memories",
    "migrate_time_weighted",
]

OnProgress = Callable[[int, int], None]
"""Told how many memories are done, and of how many."""

_FORMAT = "langchain-memkit memories"
_VERSION = 1
_CHUNK = 1000
_BAR_CHARACTERS = 40
_T = TypeVar("_T")
_Placed = tuple[tuple[str, ...], StoredMemory]


class _Line(FrozenModel):
    namespace: tuple[str, ...] = ()
    name: str
    content: str
    importance: Share
    source: Source
    pinned: bool
    evicted: bool
    created_at: datetime
    last_access_at: datetime
    access_count: Count


def export_memories(
    memory: MemoryBase,
    path: str | os.PathLike[str],
    *,
    on_progress: OnProgress | None = None,
    show_progress: bool = False,
) -> int:
    """Write all memories, those of the compartments below included, as JSON lines.

    The file appears when it is complete. The first line names the format; each other
    line is a memory with its text and times.

    Args:
        memory: What to export.
        path: The file to write.
        on_progress: Told how far it is.
        show_progress: Whether to draw a bar on the terminal.

    Returns:
        How many memories were written.

    Raises:
        StoreError: The memories cannot be read, or the file cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.part")
    total = sum(len(place.store) for place in memory.compartments())
    lines = _report(_placed(memory), total, on_progress, show=show_progress)
    count = 0
    try:
        with temporary.open("w", encoding="ascii", newline="\n") as file:
            file.write(f"{json.dumps({'format': _FORMAT, 'version': _VERSION})}\n")
            for namespace, stored in lines:
                file.write(f"{_dump(namespace, stored)}\n")
                count += 1
        temporary.replace(target)
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(str(target), str(error)) from error
    finally:
        temporary.unlink(missing_ok=True)
    return count


def import_memories(
    memory: MemoryBase,
    path: str | os.PathLike[str],
    *,
    on_progress: OnProgress | None = None,
    show_progress: bool = False,
) -> int:
    """Read what `export_memories` wrote; doing it again changes nothing.

    The whole file is checked before the first memory is stored. A memory that is there
    already keeps the earliest creation, the latest access and the higher count.

    Args:
        memory: Where to store them.
        path: The file to read.
        on_progress: Told how far it is.
        show_progress: Whether to draw a bar on the terminal.

    Returns:
        How many memories were read.

    Raises:
        InvalidInputError: A line is no memory; the error says which.
        StoreError: The file cannot be read, or the memories cannot be written.
        StoreVersionError: The file was written by a newer release.
    """
    total = sum(1 for _ in _load(Path(path)))
    placed = _report(_load(Path(path)), total, on_progress, show=show_progress)
    return _store(memory, placed)


def copy_memories(
    source: MemoryBase,
    target: MemoryBase,
    *,
    on_progress: OnProgress | None = None,
    show_progress: bool = False,
) -> int:
    """Copy all memories to another store, those of the compartments below included.

    This also moves a folder with a plain ledger into a database: open the folder with
    `FileMemoryStore`.

    Args:
        source: What to copy; it is not changed.
        target: Where to store them.
        on_progress: Told how far it is.
        show_progress: Whether to draw a bar on the terminal.

    Returns:
        How many memories were copied.

    Raises:
        StoreError: A store could not be read or written.
    """
    total = sum(len(place.store) for place in source.compartments())
    placed = _report(_placed(source), total, on_progress, show=show_progress)
    return _store(target, placed)


def migrate_time_weighted(
    memory: MemoryBase,
    memory_stream: Sequence[Document],
    *,
    importance: float = 0.5,
    source: Source = "user",
) -> list[str]:
    """Take over the `memory_stream` of a `TimeWeightedVectorStoreRetriever`.

    A memory is named by its document's id where that is a safe name, else by its
    content. `created_at` and `last_accessed_at` are kept; that retriever writes them
    without a zone in the time of the host, so they are read so. Equal contents become
    one memory.

    Args:
        memory: Where to store them.
        memory_stream: The documents.
        importance: Of documents whose metadata has no `importance` from 0 to 1.
        source: Who wrote them.

    Returns:
        The names, in the order of the documents.

    Raises:
        InvalidInputError: The importance is not from 0 to 1.
        StoreError: They could not be written.
    """
    check_share("importance", importance)
    memories = [
        _from_document(document, importance=importance, source=source)
        for document in memory_stream
    ]
    memory.put_memories(memories)
    return [stored.name for stored in memories]


def _placed(memory: MemoryBase) -> Iterator[_Placed]:
    for namespace in ((), *memory.store.namespaces()):
        place = memory.scoped(namespace) if namespace else memory
        for stored in place.store.scan(content=True):
            yield namespace, stored


def _store(memory: MemoryBase, placed: Iterable[_Placed]) -> int:
    count = 0
    for namespace, group in groupby(placed, key=lambda pair: pair[0]):
        place = memory.scoped(namespace) if namespace else memory
        for chunk in _chunks(stored for _, stored in group):
            place.put_memories(chunk)
            count += len(chunk)
    return count


def _chunks(items: Iterable[_T]) -> Iterator[list[_T]]:
    chunk: list[_T] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _dump(namespace: tuple[str, ...], memory: StoredMemory) -> str:
    # ASCII keeps lone surrogates, as escapes that `json` reads back.
    return json.dumps(
        {
            "namespace": namespace,
            "name": memory.name,
            "content": memory.content,
            "importance": memory.importance,
            "source": memory.source,
            "pinned": memory.pinned,
            "evicted": memory.evicted,
            "created_at": memory.created_at.isoformat(),
            "last_access_at": memory.last_access_at.isoformat(),
            "access_count": memory.access_count,
        }
    )


def _load(path: Path) -> Iterator[_Placed]:
    try:
        with path.open(encoding="utf-8") as file:
            _check_header(path, file.readline())
            for number, line in enumerate(file, 2):
                if line.strip():
                    yield _parse(line, number)
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(str(path), str(error)) from error


def _check_header(path: Path, line: str) -> None:
    header = _json(line, 1)
    if header.get("format") != _FORMAT or not isinstance(header.get("version"), int):
        raise InvalidInputError("path", "must be an export of memories", str(path))
    if header["version"] > _VERSION:
        reason = f"version {header['version']} is newer than this release reads"
        raise StoreVersionError(str(path), reason)


def _parse(line: str, number: int) -> _Placed:
    fields = _json(line, number)
    try:
        known = _Line.model_validate(fields)
        namespace = check_namespace(known.namespace) if known.namespace else ()
        given = {name: getattr(known, name) for name in _Line.model_fields}
        del given["namespace"]
        return namespace, checked_memory(StoredMemory(**given))
    except InvalidInputError as error:
        rule = f"must hold memories; line {number}: `{error.parameter}` {error.rule}"
        raise InvalidInputError("path", rule, error.value) from error


def _json(line: str, number: int) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        rule = f"must hold JSON lines; line {number} is none"
        raise InvalidInputError("path", rule, line) from error
    if not isinstance(value, dict):
        raise InvalidInputError("path", f"must hold objects; line {number}", line)
    return value


def _from_document(
    document: Document, *, importance: float, source: Source
) -> StoredMemory:
    created = document.metadata.get("created_at") or datetime.now(UTC)
    used = document.metadata.get("last_accessed_at") or created
    memory = StoredMemory(
        name=_name_of(document),
        content=document.page_content,
        importance=_importance_of(document, importance),
        source=source,
        pinned=False,
        evicted=False,
        created_at=_local(created),
        last_access_at=_local(used),
    )
    return checked_memory(memory)


def _name_of(document: Document) -> str:
    try:
        return check_name(document.id or "")
    except UnsafeNameError:
        return content_key(document.page_content)


def _importance_of(document: Document, default: float) -> float:
    try:
        return check_share("importance", document.metadata.get("importance", default))
    except InvalidInputError:
        return default


def _local(moment: datetime | float) -> datetime:
    if isinstance(moment, int | float):
        return datetime.fromtimestamp(moment, UTC)
    return moment.astimezone()


def _report(
    items: Iterable[_T], total: int, on_progress: OnProgress | None, *, show: bool
) -> Iterator[_T]:
    done = 0
    for done, item in enumerate(items, 1):
        yield item
        if on_progress is not None:
            on_progress(done, total)
        if show and (done % _CHUNK == 0 or done == total):
            _draw(done, total)
    if show:
        sys.stderr.write(f"\r{done} memories{' ' * _BAR_CHARACTERS}\n")


def _draw(done: int, total: int) -> None:
    filled = _BAR_CHARACTERS * done // max(total, done)
    bar = "#" * filled + "." * (_BAR_CHARACTERS - filled)
    sys.stderr.write(f"\r[{bar}] {done}/{total}")
    sys.stderr.flush()
