"""Memories as plain files of one folder, for thousands of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Self

from langchain_memkit.core.decay import has_faded
from langchain_memkit.core.models import check_positive
from langchain_memkit.core.records import (
    DecayRule,
    PruneResult,
    StoredMemory,
    merge_memory,
)
from langchain_memkit.core.times import to_microseconds
from langchain_memkit.core.wording import rank_texts
from langchain_memkit.stores.file.atomic import (
    is_plain_file,
)
from langchain_memkit.stores.file.folder import Folder, label_folder, root_path
from langchain_memkit.stores.file.ledger import Ledger
from langchain_memkit.stores.file.texts import (
    check_targets,
    encode_text,
    known_memories,
    load_memory,
    replace_texts,
    touched,
)
from langchain_memkit.stores.names import check_namespace

__all__ = ["FileMemoryStore"]

_LARGEST_BYTES = 16 * 2**20
_HALF_MINUTE = timedelta(seconds=30)


class FileMemoryStore:
    """Keeps each memory as `NAME.md` in a folder, beside a ledger `.memory.json`.

    Each write, recalls included, is an atomic replacement under a lock that processes
    share, and rewrites the ledger: some 3 ms at 100 memories, 10 ms at 1,000, 100 ms at
    10,000. Beyond some thousands use `SQLMemoryStore`. Contents stand as they are.

    A file that the ledger does not know, put there by hand, is a pinned memory of the
    developer, dated by its modification time: it never fades, and only `forget` deletes
    it. A damaged ledger is kept beside the new one and replaced from its backup and the
    files. Links, folders and files with unsafe names are ignored.

    Example:
        >>> from tempfile import mkdtemp
        >>> from langchain_memkit import FileMemoryStore, ForgettingMemory
        >>> memory = ForgettingMemory(FileMemoryStore(mkdtemp()))
        >>> memory.remember("tone", "Answer briefly.")
        >>> memory.recall("tone")
        'Answer briefly.'
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        max_content_bytes: int = _LARGEST_BYTES,
        lock_timeout: timedelta = _HALF_MINUTE,
    ) -> None:
        """Open a folder, and make it where it is missing.

        Args:
            root: The folder.
            max_content_bytes: Longest text of one memory, in bytes of UTF-8.
            lock_timeout: Longest wait for another process that writes.

        Raises:
            InvalidInputError: The root is no path, or a limit is below 1.
            StoreError: The folder cannot be made or read.
            StoreVersionError: Its ledger was written by a newer release.
        """
        check_positive("max_content_bytes", max_content_bytes)
        self._max_bytes = max_content_bytes
        self._lock_timeout = lock_timeout
        self._namespace: tuple[str, ...] = ()
        self._folder = Folder(root_path(root), lock_timeout=lock_timeout)

    def __repr__(self) -> str:
        """Show the folder."""
        return f"FileMemoryStore({str(self._folder.path)!r})"

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Share the folder: a copy of a store is the same place."""
        return self

    def put(
        self,
        memories: Sequence[StoredMemory],
        *,
        now: datetime,
        only_new: bool = False,
    ) -> None:
        """Store memories: texts to temporary files, the ledger, then the texts.

        Args:
            memories: The memories, each name once.
            now: The time, to compare tombstones with.
            only_new: Whether names that are there or forgotten are left alone.

        Raises:
            InvalidInputError: A text is too long.
            UnsafeNameError: A name is a link, or differs from another only in case.
            StoreError: They could not be written.
        """
        data = {m.name: encode_text(m.content, self._max_bytes) for m in memories}
        with self._folder.writing() as ledger:
            known = known_memories(self._folder, ledger)
            if only_new:
                now_us = to_microseconds(now)
                dead = {n for n, us in ledger.tombstones.items() if us > now_us}
                memories = [m for m in memories if m.name not in {*known, *dead}]
            if not memories:
                return
            check_targets(self._folder, [m.name for m in memories], known)
            merged = {m.name: merge_memory(known.get(m.name), m) for m in memories}
            entries = {n: replace(m, content="") for n, m in merged.items()}
            tombstones = {
                n: us for n, us in ledger.tombstones.items() if n not in merged
            }
            changed = self._changed(ledger, {**known, **entries}, tombstones)
            texts = {name: data[name] for name in merged}
            replace_texts(self._folder, texts, before=ledger, after=changed)

    def read(self, names: Sequence[str]) -> tuple[StoredMemory, ...]:
        """Look memories up without refreshing them.

        Args:
            names: Their names.

        Returns:
            Those that are there, in the order of `names`.

        Raises:
            UnsafeNameError: A name is a link.
            StoreError: A file could not be read.
        """
        with self._folder.reading() as ledger:
            found = (
                load_memory(self._folder, ledger, name, self._max_bytes)
                for name in names
            )
            return tuple(memory for memory in found if memory is not None)

    def touch(self, names: Sequence[str], *, now: datetime) -> tuple[StoredMemory, ...]:
        """Look memories up and refresh them.

        Args:
            names: Their names.
            now: The time of the access.

        Returns:
            Those that are there, refreshed, in the order of `names`.

        Raises:
            UnsafeNameError: A name is a link.
            StoreError: A file could not be read or the ledger not be written.
        """
        with self._folder.writing() as ledger:
            loaded = (
                load_memory(self._folder, ledger, name, self._max_bytes)
                for name in names
            )
            found = [touched(memory, now) for memory in loaded if memory is not None]
            if found:
                entries = {m.name: replace(m, content="") for m in found}
                memories = {**ledger.memories, **entries}
                self._folder.write(self._changed(ledger, memories, ledger.tombstones))
            return tuple(found)

    def remove(
        self, names: Sequence[str], *, now: datetime, until: datetime
    ) -> tuple[str, ...]:
        """Delete memories and leave tombstones.

        Args:
            names: Their names.
            now: The time of the removal.
            until: How long the tombstones last.

        Returns:
            The names that were there, in the order of `names`.

        Raises:
            UnsafeNameError: A name is a link.
            StoreError: A file could not be deleted.
        """
        del now
        with self._folder.writing() as ledger:
            there = [
                n
                for n in names
                if load_memory(self._folder, ledger, n, self._max_bytes) is not None
            ]
            if there:
                _, failed = self._bury(ledger, there, until)
                if failed:
                    reason = f"{failed[0]!r} could not be deleted"
                    raise self._folder.error(reason)
            return tuple(there)

    def scan(
        self,
        *,
        rule: DecayRule | None = None,
        resident: bool = False,
        content: bool = False,
    ) -> Iterator[StoredMemory]:
        """Go through the memories in the order of their names.

        Args:
            rule: Leaves out what has faded under it.
            resident: Leaves out what was evicted from a history.
            content: Whether contents are read; else they are empty.

        Yields:
            The memories, each once.

        Raises:
            StoreError: The folder could not be read.
        """
        with self._folder.reading() as ledger:
            for name, memory in sorted(known_memories(self._folder, ledger).items()):
                if rule is not None and has_faded(memory, rule=rule):
                    continue
                if resident and memory.evicted:
                    continue
                loaded = (
                    load_memory(self._folder, ledger, name, self._max_bytes)
                    if content
                    else memory
                )
                if loaded is not None:
                    yield loaded

    def prune(
        self,
        rule: DecayRule,
        *,
        now: datetime,
        until: datetime,
        dry_run: bool = False,
    ) -> PruneResult:
        """Delete what has faded, the file first, and the tombstones that have ended.

        Args:
            rule: The decay policy at this moment.
            now: The time; tombstones that lasted until then are dropped.
            until: How long the tombstones of what is removed last.
            dry_run: Whether only to report.

        Returns:
            What was deleted, what is left and what could not be deleted.

        Raises:
            StoreError: The folder could not be read or the ledger not be written.
        """
        if dry_run:
            with self._folder.reading() as ledger:
                known = known_memories(self._folder, ledger)
            faded = [m for _, m in sorted(known.items()) if has_faded(m, rule=rule)]
            return PruneResult(tuple(faded), len(known) - len(faded))
        with self._folder.writing() as ledger:
            known = known_memories(self._folder, ledger)
            names = [n for n in sorted(known) if has_faded(known[n], rule=rule)]
            there = replace(ledger, memories=known)
            ended_us = to_microseconds(now)
            gone, failed = self._bury(there, names, until, ended_us=ended_us)
            return PruneResult(
                pruned=tuple(known[name] for name in gone),
                kept=len(known) - len(gone),
                failed=tuple(known[name] for name in failed),
            )

    def search(
        self, query: str, *, k: int, rule: DecayRule
    ) -> tuple[tuple[StoredMemory, float], ...]:
        """Find memories by words, by reading every file.

        Args:
            query: Any text.
            k: Most results.
            rule: Leaves out what has faded under it.

        Returns:
            Memories with their contents and BM25 scores, best first.

        Raises:
            StoreError: The folder could not be read.
        """
        live = {m.name: m for m in self.scan(rule=rule, content=True)}
        ranked = rank_texts({n: m.content for n, m in live.items()}, query)
        return tuple((live[name], score) for name, score in ranked[:k])

    def scoped(self, namespace: tuple[str, ...]) -> Self:
        """Open a compartment: a folder `@LABEL` a label, below this one.

        Args:
            namespace: Labels that lead to it.

        Returns:
            The store of that folder.

        Raises:
            InvalidInputError: The namespace is no tuple of labels.
            StoreError: The folder cannot be made or read.
        """
        check_namespace(namespace)
        path = self._folder.path.joinpath(*map(label_folder, namespace))
        scope = type(self)(
            path, max_content_bytes=self._max_bytes, lock_timeout=self._lock_timeout
        )
        scope._namespace = (*self._namespace, *namespace)  # noqa: SLF001 - our own kind
        return scope

    def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """List the compartments below this one that hold anything.

        Returns:
            Namespaces as `scoped` takes them, sorted.

        Raises:
            StoreError: A folder could not be read.
        """
        depth = len(self._namespace)
        below = (
            ledger.namespace[depth:]
            for ledger in self._folder.ledgers_below(self._lock_timeout)
            if ledger.memories and len(ledger.namespace) > depth
        )
        return tuple(sorted(below))

    def __len__(self) -> int:
        """Count the memories.

        Returns:
            Files that are memories, those included that have faded.

        Raises:
            StoreError: The folder could not be read.
        """
        with self._folder.reading() as ledger:
            return len(known_memories(self._folder, ledger))

    def _changed(
        self,
        ledger: Ledger,
        memories: Mapping[str, StoredMemory],
        tombstones: Mapping[str, int],
    ) -> Ledger:
        return replace(
            ledger,
            memories=memories,
            tombstones=tombstones,
            namespace=self._namespace,
        )

    def _bury(
        self,
        ledger: Ledger,
        names: Sequence[str],
        until: datetime,
        ended_us: int | None = None,
    ) -> tuple[list[str], list[str]]:
        """Delete files and tell which are gone and which are not.

        Tombstones are written before and kept after: a kill in between leaves a memory
        that lives, or one that archiving does not bring back.
        """
        dug = dict.fromkeys(names, to_microseconds(until))
        if dug:
            marked = {**ledger.tombstones, **dug}
            self._folder.write(self._changed(ledger, ledger.memories, marked))
        gone, failed = self._folder.delete(names)
        memories = {n: m for n, m in ledger.memories.items() if n not in set(gone)}
        kept = {
            name: us
            for name, us in ledger.tombstones.items()
            if ended_us is None or us > ended_us or self._is_stale(name, memories)
        }
        if dug or len(kept) < len(ledger.tombstones):
            tombstones = {**kept, **{name: dug[name] for name in gone}}
            self._folder.write(self._changed(ledger, memories, tombstones))
        return gone, failed

    def _is_stale(self, name: str, memories: Mapping[str, StoredMemory]) -> bool:
        """Tell whether a forgotten memory's file is back, put there by a backup."""
        return name not in memories and is_plain_file(self._folder.file(name))
