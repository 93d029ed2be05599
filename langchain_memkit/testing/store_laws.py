"""The laws of `MemoryStore` as checks that run on any store.

Each takes a callable that opens the store and raises `AssertionError` where the law is
broken. Calling it again must lead to the same place, as another process would.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NoReturn, cast

from langchain_memkit.core.decay import ForgetConfig, decay_rule
from langchain_memkit.core.records import StoredMemory
from langchain_memkit.protocols import MemoryStore

__all__ = ["ODD_TEXTS", "STORE_LAWS", "OpenStore", "check_concurrent_touches"]

OpenStore = Callable[[], MemoryStore]
"""Opens the same place each time."""

ODD_TEXTS: Mapping[str, str] = {
    "empty": "",
    "nul": "a\x00b\x00",
    "surrogate": "report \udc8f end \ud800",
    "four bytes": "\U0001f469\u200d\U0001f4bb \U00020000",
    "line ends": "a\r\nb\rc\nd\u2028e",
    "noncharacter": "\ufdd00000 \ufdd0 \uffff",
    "spaces": "  \t padded \n\n",
    "syntax": "'; DROP TABLE memories; -- %_ \\ \" NEAR(a b) * :x ${y}",
    "decomposed": "cafe\u0301 and caf\u00e9",
    "mark": "\ufeffbyte order",
    "long": "x" * 2**20,
}
"""Texts that come back as they were, by a name that says what is odd."""

_NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_POLICY = ForgetConfig(ttl=30 * _DAY, min_importance=0.5, weak_grace=7 * _DAY)
_FOREVER = datetime(9000, 1, 1, tzinfo=UTC)
_WRITERS = 4
_TOUCHES = 10


def _note(name: str, content: str = "text", *, at: datetime = _NOON) -> StoredMemory:
    return StoredMemory(
        name=name,
        content=content,
        importance=0.5,
        source="user",
        pinned=False,
        evicted=False,
        created_at=at,
        last_access_at=at,
    )


def _names(store: MemoryStore) -> list[str]:
    return sorted(memory.name for memory in store.scan())


def check_law_1_whole(open_store: OpenStore) -> None:
    """Check that what was put comes back equal, also from another object.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    notes = [_note(name, text) for name, text in ODD_TEXTS.items()]
    notes.append(
        replace(
            _note("every field", at=_NOON + timedelta(microseconds=1)),
            importance=0.1234567890123,
            source="tool",
            pinned=True,
            evicted=True,
            access_count=7,
        )
    )
    store.put(notes, now=_NOON)
    names = [note.name for note in notes]
    assert store.read(names) == tuple(notes)
    assert open_store().read(names) == tuple(notes)
    scanned = {memory.name: memory for memory in open_store().scan(content=True)}
    assert scanned == {note.name: note for note in notes}
    empty = {replace(note, content="") for note in notes}
    assert set(open_store().scan()) == empty
    assert [m.content for m in store.touch(names, now=_NOON)] == [
        note.content for note in notes
    ]
    assert store.read(["no such name"]) == store.touch(["no such name"], now=_NOON)
    assert len(open_store()) == len(notes)


def check_law_2_merge(open_store: OpenStore) -> None:
    """Check that putting over a name keeps its birth, its latest use and its count.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    store.put([_note("a", "old")], now=_NOON)
    store.touch(["a"], now=_NOON + 2 * _DAY)
    newer = replace(
        _note("a", "new", at=_NOON + _DAY), importance=0.9, source="tool", pinned=True
    )
    store.put([newer], now=_NOON + _DAY)
    kept = replace(
        newer,
        created_at=_NOON,
        last_access_at=_NOON + 2 * _DAY,
        access_count=1,
    )
    assert open_store().read(["a"]) == (kept,)
    store.put([kept], now=_NOON + _DAY)
    assert open_store().read(["a"]) == (kept,)
    store.put([replace(kept, pinned=False, access_count=9)], now=_NOON)
    assert store.read(["a"]) == (replace(kept, pinned=False, access_count=9),)
    assert len(store) == 1


def check_law_3_touch(open_store: OpenStore) -> None:
    """Check that a touch adds one and never moves back, and that nothing else does.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    store.put([_note("a"), _note("b")], now=_NOON)
    later = _NOON + _DAY
    assert store.touch(["b", "a"], now=later) == tuple(
        replace(_note(name), last_access_at=later, access_count=1) for name in "ba"
    )
    rule = decay_rule(_POLICY, now=later)
    store.search("text", k=5, rule=rule)
    store.prune(rule, now=later, until=_FOREVER, dry_run=True)
    store.prune(rule, now=later, until=_FOREVER)
    list(store.scan(rule=rule, content=True))
    touched = store.touch(["a"], now=_NOON - _DAY)
    expected = replace(_note("a"), last_access_at=later, access_count=2)
    assert touched == (expected,)
    assert open_store().read(["a"]) == (expected,)


def check_law_4_prune(open_store: OpenStore) -> None:
    """Check that exactly what has faded goes, and that a dry run changes nothing.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    now = _NOON + 30 * _DAY
    tick = timedelta(microseconds=1)
    week_ago = now - 7 * _DAY
    notes = [
        _note("idle"),
        replace(_note("Pinned"), pinned=True),
        _note("used", at=_NOON + tick),
        replace(_note("weak", at=week_ago), importance=0.49),
        replace(_note("weak used", at=week_ago + tick), importance=0.49),
        _note("strong", at=week_ago),
        _note("future", at=now + 400 * _DAY),
    ]
    store.put(notes, now=_NOON)
    rule = decay_rule(_POLICY, now=now)
    live = ["Pinned", "future", "strong", "used", "weak used"]
    assert sorted(memory.name for memory in store.scan(rule=rule)) == live
    dry = store.prune(rule, now=now, until=_FOREVER, dry_run=True)
    assert _names(store) == sorted(note.name for note in notes)
    result = store.prune(rule, now=now, until=_FOREVER)
    assert dry == result
    assert [memory.name for memory in result.pruned] == ["idle", "weak"]
    assert (result.kept, result.failed) == (5, ())
    assert _names(open_store()) == live
    again = open_store().prune(rule, now=now, until=_FOREVER)
    assert (again.pruned, again.kept) == ((), 5)


def check_law_5_tombstones(open_store: OpenStore) -> None:
    """Check that what is gone stays gone unless it is put back plainly.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    store.put([_note("a"), _note("b"), _note("c", "first")], now=_NOON)
    gone = store.remove(["x", "b"], now=_NOON, until=_NOON + _DAY)
    assert gone == ("b",)
    assert store.remove(["b"], now=_NOON, until=_NOON + _DAY) == ()
    faded = decay_rule(_POLICY, now=_NOON + 30 * _DAY)
    store.put([replace(_note("c", "first"), pinned=True)], now=_NOON)
    store.prune(faded, now=_NOON, until=_NOON + _DAY)
    archived = [_note("a", "again"), _note("b", "again"), _note("c", "again")]
    before = _NOON + _DAY - timedelta(microseconds=1)
    open_store().put(archived, now=before, only_new=True)
    assert _names(store) == ["c"]
    assert [memory.content for memory in store.read(["c"])] == ["first"]
    open_store().put([_note("b", "put"), _note("a", "put")], now=before)
    assert [m.content for m in store.read(["a", "b"])] == ["put", "put"]
    store.remove(["a", "b"], now=_NOON, until=_NOON - _DAY)
    open_store().put(archived, now=_NOON + _DAY, only_new=True)
    assert [m.content for m in store.read(["a", "b"])] == ["again", "again"]


def check_law_6_compartments(open_store: OpenStore) -> None:
    """Check that nothing crosses from one compartment to another.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    labels = ("User", "user", "a/b", "a.b", "%", "_", "..", "\x00", "\udc8f", "é")
    odd = [("a", "b"), ("a", "b", "c"), ("x" * 300,), *((label,) for label in labels)]
    store.put([_note("n", "root")], now=_NOON)
    for place in odd:
        store.scoped(place).put([_note("n", repr(place))], now=_NOON)
    for place in odd:
        scope = open_store().scoped(place)
        assert [m.content for m in scope.scan(content=True)] == [repr(place)]
        assert len(scope) == 1
    assert store.scoped(("a",)).scoped(("b",)).read(["n"])[0].content == "('a', 'b')"
    assert open_store().namespaces() == tuple(sorted(odd))
    assert store.scoped(("a",)).namespaces() == (("b",), ("b", "c"))
    rule = decay_rule(_POLICY, now=_NOON)
    assert [m.content for m, _ in store.search("root b", k=9, rule=rule)] == ["root"]
    store.remove(["n"], now=_NOON, until=_FOREVER)
    faded = decay_rule(_POLICY, now=_NOON + 99 * _DAY)
    store.prune(faded, now=_NOON + 99 * _DAY, until=_FOREVER)
    assert len(store.scoped(("user",))) == 1
    fresh = store.scoped(("fresh",))
    fresh.put([_note("n")], now=_NOON, only_new=True)
    assert len(fresh) == 1


def check_law_7_search(open_store: OpenStore) -> None:
    """Check that texts are found by their words, and that a query is only text.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    rule = decay_rule(_POLICY, now=_NOON)
    texts = {
        "tools": "Don't run pre-edit on 20.04 in C++",
        "tower": "\u6771\u4eac\u30bf\u30ef\u30fc\u306b\u884c\u304d\u305f\u3044",
        "cafe": "the cafe\u0301 opens at 8",
        "both": "the red kite is red",
        "one": "a red boat sails, and sails, and sails on and on",
        "faded": "red herring",
        "archived": "cold storage",
    }
    notes = [_note(name, text) for name, text in texts.items() if name != "faded"]
    notes.append(_note("faded", texts["faded"], at=_NOON - 31 * _DAY))
    store.put([replace(n, evicted=n.name == "archived") for n in notes], now=_NOON)
    store.put([_note(f"filler {n}", f"note number{n}") for n in range(50)], now=_NOON)

    def found(query: str, k: int = 9) -> list[str]:
        return [memory.name for memory, _ in store.search(query, k=k, rule=rule)]

    assert found("RED kite") == ["both", "one"]
    assert found("red kite", k=1) == ["both"]
    assert found("red", k=0) == found("") == found('  \x00 ( * " -') == []
    assert found("pre-edit") == found("don't") == found("20.04") == ["tools"]
    assert found("\u6771\u4eac") == ["tower"]
    assert found("CAF\u00c9") == ["cafe"]
    assert found("storage") == ["archived"]
    for query in ("a AND", "NOT x", "NEAR(", "c:c", "%", "_", "'", "\\", "\udc8f"):
        found(query)
    assert found(" ".join(f"x{n}" for n in range(5000))) == []
    memory, score = store.search("kite", k=1, rule=rule)[0]
    assert memory == replace(_note("both", texts["both"]))
    assert score > 0
    store.put([_note("both", "a green hill")], now=_NOON)
    store.remove(["one"], now=_NOON, until=_FOREVER)
    assert found("red kite") == []
    assert found("hill") == ["both"]


def check_law_8_writers(open_store: OpenStore) -> None:
    """Check that two objects on one place see and keep each other's writes.

    Args:
        open_store: Opens the store.
    """
    one, other = open_store(), open_store()
    one.put([_note("from one")], now=_NOON)
    other.put([_note("from other")], now=_NOON)
    one.put([_note("one again")], now=_NOON)
    both = ["from one", "from other", "one again"]
    assert _names(one) == _names(other) == both
    other.touch(["from one"], now=_NOON + _DAY)
    assert one.read(["from one"])[0].access_count == 1
    one.remove(["from one"], now=_NOON, until=_FOREVER)
    assert other.read(["from one"]) == ()
    other.put([_note("from one")], now=_NOON, only_new=True)
    assert _names(one) == ["from other", "one again"]
    _in_threads(
        open_store,
        lambda store, writer: store.put([_note(f"writer {writer}")], now=_NOON),
    )
    assert len(one) == len(other) == 2 + _WRITERS


def check_law_9_all_or_none(open_store: OpenStore) -> None:
    """Check that a write that raises has changed nothing.

    Args:
        open_store: Opens the store.

    Raises:
        AssertionError: The law is broken.
    """
    store = open_store()
    store.put([_note("a", "old")], now=_NOON)
    broken = cast("StoredMemory", _Broken())
    try:
        store.put([_note("a", "new"), _note("b"), broken], now=_NOON)
    except _BrokenError:
        pass
    else:
        msg = "a memory that raises was stored"
        raise AssertionError(msg)
    assert open_store().read(["a", "b"]) == (_note("a", "old"),)


def check_concurrent_touches(open_store: OpenStore) -> None:
    """Check that touches at the same time are all counted.

    Args:
        open_store: Opens the store.
    """
    store = open_store()
    store.put([_note("a")], now=_NOON)

    def touch(store: MemoryStore, _writer: int) -> None:
        for _ in range(_TOUCHES):
            assert store.touch(["a"], now=_NOON)

    _in_threads(open_store, touch)
    assert store.read(["a"])[0].access_count == _WRITERS * _TOUCHES


STORE_LAWS: Sequence[Callable[[OpenStore], None]] = (
    check_law_1_whole,
    check_law_2_merge,
    check_law_3_touch,
    check_law_4_prune,
    check_law_5_tombstones,
    check_law_6_compartments,
    check_law_7_search,
    check_law_8_writers,
    check_law_9_all_or_none,
)
"""One check a law; `check_concurrent_touches` is the rest of law 3."""


class _BrokenError(Exception):
    pass


class _Broken:
    name = "broken"

    def __getattr__(self, attribute: str) -> NoReturn:
        raise _BrokenError(attribute)


def _in_threads(
    open_store: OpenStore, work: Callable[[MemoryStore, int], None]
) -> None:
    errors: list[BaseException] = []

    def run(writer: int) -> None:
        try:
            work(open_store(), writer)
        except BaseException as error:  # noqa: BLE001 - told to the caller below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(_WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [], errors
