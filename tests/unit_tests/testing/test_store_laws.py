"""The suite bites: for each law there are stores that break it, and fail it."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from langchain_memkit.core.records import PruneResult
from langchain_memkit.testing import store_laws as laws
from langchain_memkit.testing.fakes import DictMemoryStore, Place


class CutsTexts(DictMemoryStore):
    """Keeps the beginning of a text only."""

    def put(self, memories, *, now, only_new=False):
        short = [replace(m, content=m.content[:1000]) for m in memories]
        super().put(short, now=now, only_new=only_new)


class DropsSurrogates(DictMemoryStore):
    """Replaces what UTF-8 cannot hold."""

    def put(self, memories, *, now, only_new=False):
        clean = [
            replace(m, content=m.content.encode("utf-8", "replace").decode())
            for m in memories
        ]
        super().put(clean, now=now, only_new=only_new)


class ForgetsOnReopening(DictMemoryStore):
    """Shares nothing with other objects of the same place."""

    def __init__(self, place=None, namespace=()):
        super().__init__(None, namespace)


class RoundsTimes(DictMemoryStore):
    """Keeps whole seconds only."""

    def put(self, memories, *, now, only_new=False):
        rounded = [
            replace(
                m,
                created_at=m.created_at.replace(microsecond=0),
                last_access_at=m.last_access_at.replace(microsecond=0),
            )
            for m in memories
        ]
        super().put(rounded, now=now, only_new=only_new)


class Overwrites(DictMemoryStore):
    """Forgets when a memory was born and how it was used."""

    def put(self, memories, *, now, only_new=False):
        for memory in memories:
            if not only_new:
                self.memories.pop(memory.name, None)
        super().put(memories, now=now, only_new=only_new)


class MovesBack(DictMemoryStore):
    """Sets the last access to whatever time it is told."""

    def touch(self, names, *, now):
        found = super().touch(names, now=now)
        moved = tuple(replace(m, last_access_at=now) for m in found)
        self.memories.update({m.name: m for m in moved})
        return moved


class CountsLooks(DictMemoryStore):
    """Counts a search as use."""

    def search(self, query, *, k, rule):
        found = super().search(query, k=k, rule=rule)
        self.touch([m.name for m, _ in found], now=datetime(2030, 1, 1, tzinfo=UTC))
        return found


class LosesTouches(DictMemoryStore):
    """Reads, waits for the others, and writes back what it had read."""

    barrier = threading.Barrier(2)

    def touch(self, names, *, now):
        read = self.read(names)
        self.barrier.wait(5)
        for m in read:
            self.memories[m.name] = replace(m, access_count=m.access_count + 1)
        self.barrier.wait(5)
        return self.read(names)


class PrunesPinned(DictMemoryStore):
    """Takes a pin for nothing."""

    def prune(self, rule, *, now, until, dry_run=False):
        for name, memory in list(self.memories.items()):
            self.memories[name] = replace(memory, pinned=False)
        return super().prune(rule, now=now, until=until, dry_run=dry_run)


class PrunesLate(DictMemoryStore):
    """Keeps what is exactly as old as the limit."""

    def prune(self, rule, *, now, until, dry_run=False):
        late = replace(rule, ttl_limit_us=rule.ttl_limit_us - 1)
        return super().prune(late, now=now, until=until, dry_run=dry_run)


class PrunesInADryRun(DictMemoryStore):
    """Prunes whenever it is asked."""

    def prune(self, rule, *, now, until, dry_run=False):
        return super().prune(rule, now=now, until=until)


class ReportsUnsorted(DictMemoryStore):
    """Reports in an order of its own."""

    def prune(self, rule, *, now, until, dry_run=False):
        result = super().prune(rule, now=now, until=until, dry_run=dry_run)
        return PruneResult(tuple(reversed(result.pruned)), result.kept)


class LeavesNoTombstone(DictMemoryStore):
    """Knows nothing of what it forgot."""

    @property
    def tombstones(self):
        return {}


class BuriesForEver(DictMemoryStore):
    """Never lets a name come back by itself."""

    def remove(self, names, *, now, until):
        return super().remove(names, now=now, until=datetime.max.replace(tzinfo=UTC))


class KeepsTombstones(DictMemoryStore):
    """Does not clear a tombstone when the name is put plainly."""

    def put(self, memories, *, now, only_new=False):
        before = dict(self.tombstones)
        super().put(memories, now=now, only_new=only_new)
        self.tombstones.update(before)
        for name in before:
            if not only_new:
                self.memories.pop(name, None)


class SharesCompartments(DictMemoryStore):
    """Ignores labels."""

    def scoped(self, namespace):
        return self


class JoinsLabels(DictMemoryStore):
    """Joins labels by a slash, so that some lead to the same place."""

    def scoped(self, namespace):
        path = "/".join([*self.namespace, *namespace])
        return type(self)(self.place, tuple(path.split("/")))


class FoldsLabels(DictMemoryStore):
    """Takes labels that differ in case for the same."""

    def scoped(self, namespace):
        return super().scoped(tuple(label.lower() for label in namespace))


class SearchesBelow(DictMemoryStore):
    """Finds memories of the compartments below."""

    def search(self, query, *, k, rule):
        found = list(super().search(query, k=k, rule=rule))
        for namespace in self.namespaces():
            found += self.scoped(namespace).search(query, k=k, rule=rule)
        return tuple(found)


class FindsFaded(DictMemoryStore):
    """Finds what has faded."""

    def search(self, query, *, k, rule):
        return super().search(query, k=k, rule=replace(rule, ttl_limit_us=-(2**62)))


class MatchesWildcards(DictMemoryStore):
    """Takes the query for a part of a text, and no query for any text."""

    def search(self, query, *, k, rule):
        live = sorted(self.scan(rule=rule, content=True), key=lambda m: m.name)
        return tuple((m, 1.0) for m in live if query.lower() in m.content.lower())[:k]


class ReadsSyntax(DictMemoryStore):
    """Fails on what looks like an operator."""

    def search(self, query, *, k, rule):
        if {"AND", "NOT"} & set(query.split()):
            raise ValueError(query)
        return super().search(query, k=k, rule=rule)


class WritesBackASnapshot(DictMemoryStore):
    """Writes what it read on opening, and with it undoes what others wrote."""

    def __init__(self, place=None, namespace=()):
        super().__init__(place, namespace)
        self.snapshot = dict(self.memories)

    def put(self, memories, *, now, only_new=False):
        self.memories.clear()
        self.memories.update(self.snapshot)
        super().put(memories, now=now, only_new=only_new)
        self.snapshot = dict(self.memories)


class SeesAnOldState(DictMemoryStore):
    """Reads what was there on opening."""

    def __init__(self, place=None, namespace=()):
        super().__init__(place, namespace)
        self.seen = dict(self.memories)

    def put(self, memories, *, now, only_new=False):
        super().put(memories, now=now, only_new=only_new)
        self.seen = dict(self.memories)

    def scan(self, *, rule=None, resident=False, content=False):
        return iter(self.seen.values())


class WritesOneByOne(DictMemoryStore):
    """Has stored the first memories when a later one fails."""

    def put(self, memories, *, now, only_new=False):
        for memory in memories:
            super().put([memory], now=now, only_new=only_new)


class StoresAnything(DictMemoryStore):
    """Does not look at what it stores."""

    def put(self, memories, *, now, only_new=False):
        for memory in memories:
            self.memories[memory.name] = memory


BROKEN = [
    (laws.check_law_1_whole, CutsTexts),
    (laws.check_law_1_whole, DropsSurrogates),
    (laws.check_law_1_whole, ForgetsOnReopening),
    (laws.check_law_1_whole, RoundsTimes),
    (laws.check_law_2_merge, Overwrites),
    (laws.check_law_3_touch, MovesBack),
    (laws.check_law_3_touch, CountsLooks),
    (laws.check_law_4_prune, PrunesPinned),
    (laws.check_law_4_prune, PrunesLate),
    (laws.check_law_4_prune, PrunesInADryRun),
    (laws.check_law_4_prune, ReportsUnsorted),
    (laws.check_law_5_tombstones, LeavesNoTombstone),
    (laws.check_law_5_tombstones, BuriesForEver),
    (laws.check_law_5_tombstones, KeepsTombstones),
    (laws.check_law_6_compartments, SharesCompartments),
    (laws.check_law_6_compartments, JoinsLabels),
    (laws.check_law_6_compartments, FoldsLabels),
    (laws.check_law_6_compartments, SearchesBelow),
    (laws.check_law_7_search, FindsFaded),
    (laws.check_law_7_search, MatchesWildcards),
    (laws.check_law_7_search, ReadsSyntax),
    (laws.check_law_8_writers, WritesBackASnapshot),
    (laws.check_law_8_writers, SeesAnOldState),
    (laws.check_law_9_all_or_none, WritesOneByOne),
    (laws.check_law_9_all_or_none, StoresAnything),
]


@pytest.mark.parametrize(("law", "kind"), BROKEN, ids=lambda x: x.__name__)
def test_a_broken_store_fails_its_law(law, kind):
    """A store with one fault is caught by the law that forbids it."""
    place = Place()
    with pytest.raises((AssertionError, ValueError)):
        law(lambda: kind(place))


def test_lost_touches_are_caught(monkeypatch):
    """A store that reads and writes back in two steps fails the rest of law 3."""
    monkeypatch.setattr(laws, "_WRITERS", 2)
    place = Place()
    with pytest.raises(AssertionError):
        laws.check_concurrent_touches(lambda: LosesTouches(place))


def test_each_law_has_a_broken_store():
    """No law is without a store that fails it."""
    assert {law for law, _ in BROKEN} == set(laws.STORE_LAWS)


def test_a_law_reports_what_a_writer_raised():
    """An error in a writer's thread reaches the caller."""

    class Fails(DictMemoryStore):
        def touch(self, names, *, now):
            raise OSError(names)

    place = Place()
    with pytest.raises(AssertionError, match="OSError"):
        laws.check_concurrent_touches(lambda: Fails(place))


def test_the_fake_clock_moves_by_hand():
    """The clock of the fakes stands still between two calls."""
    from langchain_memkit.testing import FakeClock

    clock = FakeClock()
    assert clock() == clock()
    before = clock()
    clock.advance(timedelta(hours=-1))
    assert clock() == before - timedelta(hours=1)
