"""The memory laws bite: a memory with a fault fails the one that forbids it."""

from datetime import timedelta

import pytest

from langchain_memkit import ForgettingMemory, InvalidInputError
from langchain_memkit.testing import memory_laws as laws
from langchain_memkit.testing.fakes import DictMemoryStore, Place


class RefreshesOnSearch(ForgettingMemory):
    def search(self, query, k=4, *, now=None):
        found = super().search(query, k, now=now)
        for document in found:
            self.recall(document.id)
        return found


class ForgetsLate(ForgettingMemory):
    def consolidate(self, *, now=None, dry_run=False):
        moment = self._moment(now) - timedelta(seconds=1)
        return super().consolidate(now=moment, dry_run=dry_run)


class Resurrects(ForgettingMemory):
    def archive(self, entries):
        for entry in entries:
            self.remember(entry.key, entry.content, entry.importance)


class ShowsEverything(ForgettingMemory):
    def resident(self, budget_tokens, *, sources=(), evicted=False, now=None):
        return super().resident(
            budget_tokens, sources=("tool", "user", "developer"), evicted=True, now=now
        )


class CountsTrueAsOne(ForgettingMemory):
    def search(self, query, k=4, *, now=None):
        return super().search(query, int(k), now=now)


class LocalTime(ForgettingMemory):
    def _moment(self, now):
        if now is not None and now.tzinfo is None:
            now = now.replace(tzinfo=None) - timedelta(hours=9)
        return super()._moment(now)


class TakesAnyName(ForgettingMemory):
    def recall(self, name, *, now=None):
        try:
            return super().recall(name, now=now)
        except InvalidInputError:
            return ""


class ComparesBytes(ForgettingMemory):
    def recall(self, name, *, now=None):
        self.seen = name
        return super().recall(name if name.isascii() else name[::-1], now=now)


BROKEN = [
    (laws.check_recall_refreshes, RefreshesOnSearch),
    (laws.check_consolidation, ForgetsLate),
    (laws.check_forgotten_stays_forgotten, Resurrects),
    (laws.check_residents, ShowsEverything),
    (laws.check_search, CountsTrueAsOne),
    (laws.check_times, LocalTime),
    (laws.check_bad_input, TakesAnyName),
    (laws.check_names, ComparesBytes),
]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(("law", "kind"), BROKEN, ids=lambda x: x.__name__)
async def test_a_broken_memory_fails_its_law(law, kind, is_async, monkeypatch):
    """A memory with one fault is caught, through either kind of verb."""
    monkeypatch.setattr(laws, "ForgettingMemory", kind)
    place = Place()
    verbs = laws.Verbs(lambda: DictMemoryStore(place), is_async=is_async)
    with pytest.raises((AssertionError, LookupError)):
        await law(verbs)


def test_each_law_has_a_broken_memory():
    """No law is without a memory that fails it."""
    assert {law for law, _ in BROKEN} == set(laws.MEMORY_LAWS)


async def test_a_memory_that_blocks_the_loop_is_caught(monkeypatch):
    """A twin that works in the loop's own thread fails."""

    class Blocks(ForgettingMemory):
        async def arecall(self, name, *, now=None):
            return self.recall(name, now=now)

    monkeypatch.setattr(laws, "ForgettingMemory", Blocks)
    place = Place()
    with pytest.raises(AssertionError):
        await laws.check_event_loop_is_free(lambda: DictMemoryStore(place))
