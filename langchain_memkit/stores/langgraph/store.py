"""Memories in any `langgraph` store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, cast

from langchain_memkit.core.decay import has_faded
from langchain_memkit.core.escaping import escape_text, unescape_text
from langchain_memkit.core.records import (
    DecayRule,
    PruneResult,
    StoredMemory,
    merge_memory,
)
from langchain_memkit.core.times import to_microseconds
from langchain_memkit.core.wording import rank_texts
from langchain_memkit.exceptions import (
    InvalidInputError,
    StoreError,
    StoreVersionError,
)
from langchain_memkit.stores.langgraph.items import (
    Item,
    NewerItemError,
    escape_label,
    load_item,
    text_item,
    touch_item,
    unescape_label,
)
from langchain_memkit.stores.names import check_namespace

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op

__all__ = ["LangGraphMemoryStore"]

_PAGE = 500

# Leaves no label can be escaped to: texts, what touches them, and tombstones.
_TEXTS, _TOUCHES, _TOMBSTONES = "=texts", "=touches", "=tombstones"


class LangGraphMemoryStore:
    """Keeps memories as items of a `langgraph` `BaseStore`.

    Such a store has no atomic update, so law 3 holds for one writer at a time: of two
    recalls at once one may not be counted. A recall writes an item of its own beside
    the text, so it never rewrites or revives one. Times are kept in the items; the
    store's own expiry and embeddings are not used. `search` reads every text.

    Example:
        >>> from langgraph.store.memory import InMemoryStore
        >>> from langchain_memkit import ForgettingMemory, LangGraphMemoryStore
        >>> store = LangGraphMemoryStore(InMemoryStore(), ("memories",))
        >>> memory = ForgettingMemory(store)
        >>> memory.remember("tone", "Answer briefly.")
        >>> memory.recall("tone")
        'Answer briefly.'
    """

    def __init__(self, store: BaseStore, namespace: tuple[str, ...]) -> None:
        """Use a store.

        Args:
            store: Any `langgraph` store.
            namespace: Labels of the compartment; any text, escaped where need be.

        Raises:
            InvalidInputError: It is no such store, or the namespace is no tuple of
                labels.
        """
        if not hasattr(store, "batch"):
            raise InvalidInputError("store", "must be a langgraph BaseStore", store)
        self._store = store
        self._namespace = check_namespace(namespace)
        self._labels = tuple(map(escape_label, namespace))

    def __repr__(self) -> str:
        """Show the kind of store and the compartment."""
        return f"LangGraphMemoryStore({type(self._store).__name__}, {self._namespace})"

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Share the store: a copy is the same place."""
        return self

    def put(
        self,
        memories: Sequence[StoredMemory],
        *,
        now: datetime,
        only_new: bool = False,
    ) -> None:
        """Store memories in one batch.

        Args:
            memories: The memories, each name once.
            now: The time, to compare tombstones with.
            only_new: Whether names that are there or forgotten are left alone.

        Raises:
            StoreError: They could not be written.
        """
        names = [memory.name for memory in memories]
        known = {memory.name: memory for memory in self.read(names)}
        if only_new:
            now_us = to_microseconds(now)
            dead = {
                name
                for name, item in self._items(_TOMBSTONES, names).items()
                if item["until_us"] > now_us
            }
            memories = [m for m in memories if m.name not in {*known, *dead}]
        merged = [merge_memory(known.get(memory.name), memory) for memory in memories]
        items: dict[tuple[str, str], Item | None] = {}
        for memory in merged:
            items[_TEXTS, memory.name] = text_item(memory)
            items[_TOMBSTONES, memory.name] = None
        self._write(items)

    def read(self, names: Sequence[str]) -> tuple[StoredMemory, ...]:
        """Look memories up without refreshing them.

        Args:
            names: Their names.

        Returns:
            Those that are there, in the order of `names`.

        Raises:
            StoreError: The store could not be read.
            StoreVersionError: An item was written by a newer release.
        """
        texts = self._items(_TEXTS, names)
        touches = self._items(_TOUCHES, [name for name in names if name in texts])
        return tuple(
            self._memory(name, texts[name], touches.get(name))
            for name in names
            if name in texts
        )

    def touch(self, names: Sequence[str], *, now: datetime) -> tuple[StoredMemory, ...]:
        """Look memories up and refresh them; two at once may count as one.

        Args:
            names: Their names.
            now: The time of the access.

        Returns:
            Those that are there, refreshed, in the order of `names`.

        Raises:
            StoreError: The store could not be read or written.
            StoreVersionError: An item was written by a newer release.
        """
        found = [
            replace(
                memory,
                last_access_at=max(memory.last_access_at, now),
                access_count=memory.access_count + 1,
            )
            for memory in self.read(names)
        ]
        self._write({(_TOUCHES, memory.name): touch_item(memory) for memory in found})
        return tuple(found)

    def remove(
        self, names: Sequence[str], *, now: datetime, until: datetime
    ) -> tuple[str, ...]:
        """Remove memories and leave tombstones.

        Args:
            names: Their names.
            now: The time of the removal.
            until: How long the tombstones last.

        Returns:
            The names that were there, in the order of `names`.

        Raises:
            StoreError: They could not be removed.
        """
        del now
        there = self._items(_TEXTS, names)
        gone = tuple(name for name in names if name in there)
        self._bury(gone, until)
        return gone

    def scan(
        self,
        *,
        rule: DecayRule | None = None,
        resident: bool = False,
        content: bool = False,
    ) -> Iterator[StoredMemory]:
        """Go through the memories by name; all of them are read, page by page.

        Args:
            rule: Leaves out what has faded under it.
            resident: Leaves out what was evicted from a history.
            content: Whether contents are wanted; else they are empty.

        Yields:
            The memories, each once.

        Raises:
            StoreError: The store could not be read.
            StoreVersionError: An item was written by a newer release.
        """
        touches = dict(self._pages(_TOUCHES))
        for name, item in sorted(dict(self._pages(_TEXTS)).items()):
            memory = self._memory(name, item, touches.get(name))
            if rule is not None and has_faded(memory, rule=rule):
                continue
            if not (resident and memory.evicted):
                yield memory if content else replace(memory, content="")

    def prune(
        self,
        rule: DecayRule,
        *,
        now: datetime,
        until: datetime,
        dry_run: bool = False,
    ) -> PruneResult:
        """Remove what has faded, and the tombstones that have ended.

        What was recalled since it was listed is looked at again, and stays.

        Args:
            rule: The decay policy at this moment.
            now: The time; tombstones that lasted until then are dropped.
            until: How long the tombstones of what is removed last.
            dry_run: Whether only to report.

        Returns:
            What was removed and what is left; nothing ever fails alone.

        Raises:
            StoreError: The store could not be read or written.
            StoreVersionError: An item was written by a newer release.
        """
        memories = list(self.scan())
        listed = [m.name for m in memories if has_faded(m, rule=rule)]
        again = (m for m in self.read(listed) if has_faded(m, rule=rule))
        faded = tuple(replace(memory, content="") for memory in again)
        if not dry_run:
            now_us = to_microseconds(now)
            ended = [n for n, i in self._pages(_TOMBSTONES) if i["until_us"] <= now_us]
            self._write({(_TOMBSTONES, name): None for name in ended})
            self._bury([memory.name for memory in faded], until)
        return PruneResult(faded, len(memories) - len(faded))

    def search(
        self, query: str, *, k: int, rule: DecayRule
    ) -> tuple[tuple[StoredMemory, float], ...]:
        """Find memories by words, by reading every text.

        Args:
            query: Any text.
            k: Most results.
            rule: Leaves out what has faded under it.

        Returns:
            Memories with their contents and BM25 scores, best first.

        Raises:
            StoreError: The store could not be read.
            StoreVersionError: An item was written by a newer release.
        """
        live = {m.name: m for m in self.scan(rule=rule, content=True)}
        ranked = rank_texts({n: m.content for n, m in live.items()}, query)
        return tuple((live[name], score) for name, score in ranked[:k])

    def scoped(self, namespace: tuple[str, ...]) -> Self:
        """Open a compartment of the same store.

        Args:
            namespace: Labels that lead to it.

        Returns:
            A store on the same `BaseStore`.

        Raises:
            InvalidInputError: The namespace is no tuple of labels.
        """
        path = (*self._namespace, *check_namespace(namespace))
        return type(self)(self._store, path)

    def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """List the compartments below this one that hold anything.

        Returns:
            Namespaces as `scoped` takes them, sorted.

        Raises:
            StoreError: The store could not be read.
        """
        depth = len(self._labels)
        found: set[tuple[str, ...]] = set()
        offset = 0
        while True:
            with self._wrapped():
                page = self._store.list_namespaces(
                    prefix=self._labels, suffix=(_TEXTS,), limit=_PAGE, offset=offset
                )
            found |= {labels[depth:-1] for labels in page if labels[-1] == _TEXTS}
            if len(page) < _PAGE:
                break
            offset += _PAGE
        return tuple(sorted(tuple(map(unescape_label, ns)) for ns in found if ns))

    def __len__(self) -> int:
        """Count the memories.

        Returns:
            Texts of this compartment, those included that have faded.

        Raises:
            StoreError: The store could not be read.
        """
        return len(dict(self._pages(_TEXTS)))

    def _items(self, leaf: str, names: Sequence[str]) -> dict[str, Item]:
        from langgraph.store.base import GetOp  # noqa: PLC0415 - an extra

        place = (*self._labels, leaf)
        keys = [escape_text(name) for name in names]
        found = self._batch([GetOp(place, key, refresh_ttl=False) for key in keys])
        pairs = zip(names, cast("list[Any]", found), strict=True)
        return {name: item.value for name, item in pairs if item is not None}

    def _write(self, items: Mapping[tuple[str, str], Item | None]) -> None:
        from langgraph.store.base import PutOp  # noqa: PLC0415 - an extra

        self._batch(
            [
                PutOp(
                    (*self._labels, leaf),
                    escape_text(name),
                    None if item is None else dict(item),
                    index=False,
                    ttl=None,
                )
                for (leaf, name), item in items.items()
            ]
        )

    def _batch(self, operations: Sequence[Op]) -> Sequence[object]:
        if not operations:
            return []
        with self._wrapped():
            return self._store.batch(operations)

    def _pages(self, leaf: str) -> Iterator[tuple[str, Item]]:
        """Go through the items of one leaf; a store finds namespaces by prefix only."""
        place = (*self._labels, leaf)
        offset = 0
        while True:
            with self._wrapped():
                page = self._store.search(
                    place, limit=_PAGE, offset=offset, refresh_ttl=False
                )
            for item in page:
                if tuple(item.namespace) == place:
                    yield unescape_text(item.key), item.value
            if len(page) < _PAGE:
                return
            offset += _PAGE

    def _bury(self, names: Sequence[str], until: datetime) -> None:
        tombstone = {"until_us": to_microseconds(until)}
        items: dict[tuple[str, str], Item | None] = {}
        for name in names:
            items[_TEXTS, name] = None
            items[_TOUCHES, name] = None
            items[_TOMBSTONES, name] = tombstone
        self._write(items)

    def _memory(self, name: str, item: Item, touch: Item | None) -> StoredMemory:
        try:
            return load_item(name, item, touch)
        except NewerItemError as error:
            reason = f"{name!r} has version {error}, newer than is known here"
            raise StoreVersionError(repr(self), reason) from error

    @contextmanager
    def _wrapped(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # each kind of store has errors of its own
            reason = f"{type(error).__name__}: {error}"
            raise StoreError(repr(self), reason) from error
