"""A memory keeps its promises whatever the zone, the clock and the host."""

import copy
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from langchain_memkit import (
    FileMemoryStore,
    ForgetConfig,
    ForgettingMemory,
    InvalidInputError,
    SQLMemoryStore,
    StoreError,
)
from langchain_memkit.core.records import StoredMemory
from langchain_memkit.protocols import ArchiveEntry
from langchain_memkit.testing import DictMemoryStore, FakeClock

DAY = timedelta(days=1)


@pytest.fixture
def clock():
    """Make a clock that is moved by hand."""
    return FakeClock()


@pytest.fixture
def memory(clock):
    """Make a memory in a dictionary."""
    return ForgettingMemory(DictMemoryStore(), clock=clock)


def test_the_same_instant_in_any_zone_is_the_same_age(memory, clock):
    """Naive times are UTC; aware ones are what they say."""
    stamps = [
        datetime(2029, 12, 31),  # noqa: DTZ001 - naive is the point
        datetime(2029, 12, 31, tzinfo=UTC),
        datetime(2029, 12, 31, 9, tzinfo=timezone(timedelta(hours=9))),
    ]
    for at, stamp in enumerate(stamps):
        memory.remember(f"note {at}", "x", now=stamp)
    times = {memory.describe(name).last_access_at for name in memory.live_at()}
    assert times == {datetime(2029, 12, 31, tzinfo=UTC)}
    assert memory.consolidate(now=stamps[0] + 30 * DAY).kept == 0


def test_the_zone_of_the_host_changes_nothing(tmp_path):
    """A memory fades at the same instant wherever the process runs."""
    answers = set()
    script = """
import sys
from datetime import datetime, timedelta
from langchain_memkit import FileMemoryStore, ForgettingMemory
memory = ForgettingMemory(FileMemoryStore(sys.argv[1]))
start = datetime(2029, 12, 31)
memory.remember("n", "x", now=start)
print(memory.live_at(start + timedelta(days=30, microseconds=-1)),
      memory.live_at(start + timedelta(days=30)), memory.describe("n").created_at)
"""
    for at, zone in enumerate(["UTC", "Asia/Tokyo", "America/Los_Angeles"]):
        command = [sys.executable, "-c", script, str(tmp_path / str(at))]
        env = {**os.environ, "TZ": zone}
        answers.add(subprocess.check_output(command, env=env))
    assert len(answers) == 1


def test_how_often_it_is_consolidated_changes_nothing(memory, clock):
    """One pass or a hundred leave the same record."""
    memory.remember("n", "x", 0.9)
    record = memory.describe("n")
    for _ in range(100):
        clock.advance(timedelta(minutes=7))
        assert memory.consolidate().pruned == ()
    assert memory.describe("n") == record


def test_a_clock_that_runs_wild_forgets_nothing_early(memory, clock):
    """A year back and forth again leaves what lived."""
    memory.remember("n", "x")
    for step in (-365, 700, -335):
        clock.advance(step * DAY)
        if step != 700:
            assert memory.consolidate().pruned == ()
    assert memory.recall("n") == "x"


def test_a_recall_far_in_the_future_keeps_a_memory_until_then(memory, clock):
    """A clock that was ahead once does not make the right time forget."""
    memory.remember("n", "x", now=clock() + 365 * DAY)
    assert memory.consolidate().pruned == ()
    assert memory.should_forget("n", now=clock() + 395 * DAY)


def test_fractions_of_a_second_count(memory, clock):
    """An hour's ttl ends after an hour, not at the next whole day."""
    memory.config = ForgetConfig(ttl=timedelta(seconds=0.5))
    memory.remember("n", "x")
    assert memory.live_at(clock() + timedelta(seconds=0.499999)) == ["n"]
    assert memory.live_at(clock() + timedelta(seconds=0.5)) == []


def test_the_longest_ttl_never_ends():
    """The largest duration neither overflows nor forgets."""
    memory = ForgettingMemory(
        SQLMemoryStore("sqlite://"),
        ForgetConfig(ttl=timedelta.max, weak_grace=timedelta.max),
    )
    memory.remember("n", "x", 0.0)
    last = datetime.max.replace(tzinfo=UTC)
    assert memory.consolidate(now=last).pruned == ()
    memory.forget("n")
    memory.archive([ArchiveEntry("n", "x", 0.5, "tool")])
    assert len(memory) == 0
    memory.store.close()


def test_different_facts_are_never_merged(memory):
    """Consolidation compares no texts: near-equal ones about other things all stay."""
    facts = ["Ana is head of sales", "Ben is head of sales", "Door A is not open"]
    memory.remember_many([(f"fact {at}", fact, 0.5) for at, fact in enumerate(facts)])
    memory.consolidate()
    assert [memory.recall(f"fact {at}") for at in range(3)] == facts


def test_remembering_again_keeps_the_birth(memory, clock):
    """The newest text and importance stand, the earliest creation stays."""
    memory.remember("n", "old", 0.9, source="user")
    born = clock()
    memory.recall("n")
    clock.advance(DAY)
    memory.remember("n", "new", 0.1)
    record = memory.describe("n")
    assert (record.created_at, record.access_count) == (born, 1)
    assert (record.importance, record.source) == (0.1, "developer")


def test_of_equal_names_in_a_batch_the_last_counts(memory):
    """A batch is what remembering one after the other would be."""
    memory.remember_many([("a", "first", 0.5), ("b", "x", 0.5), ("a", "last", 0.7)])
    assert (memory.recall("a"), memory.importance("a"), len(memory)) == ("last", 0.7, 2)


def test_an_empty_memory_is_still_a_memory(memory):
    """Truth does not depend on what is remembered."""
    assert memory
    assert len(memory) == 0
    memory.remember_many([])
    memory.put_memories([])


def test_what_is_no_policy_is_refused():
    """A duration in the place of a policy is an error at once."""
    with pytest.raises(InvalidInputError, match="ForgetConfig"):
        ForgettingMemory(DictMemoryStore(), timedelta(days=1))


def test_a_clock_without_a_zone_means_utc():
    """The clock is read as any other time."""
    naive = datetime(2030, 1, 1)  # noqa: DTZ001 - naive is the point
    memory = ForgettingMemory(DictMemoryStore(), clock=lambda: naive)
    memory.remember("n", "x")
    assert memory.describe("n").created_at == datetime(2030, 1, 1, tzinfo=UTC)


def test_without_a_clock_the_time_is_now():
    """The system's clock is the default."""
    memory = ForgettingMemory(DictMemoryStore())
    memory.remember("n", "x")
    assert memory.describe("n").created_at.timestamp() == pytest.approx(time.time(), 1)


def test_an_archive_is_all_or_nothing(memory):
    """One bad entry leaves none, and equal keys are taken once."""
    good = ArchiveEntry("k", "x", 0.5, "tool")
    with pytest.raises(InvalidInputError):
        memory.archive([good, ArchiveEntry("k2", "x", 7.0, "tool")])
    assert len(memory) == 0
    memory.archive([good, ArchiveEntry("k", "y", 0.5, "tool")])
    assert memory.recall("k") == "x"


def test_a_store_that_fails_is_heard():
    """An error of the store reaches the caller of `archive`."""

    class Full(DictMemoryStore):
        def put(self, memories, *, now, only_new=False):
            raise StoreError("dict", "full")

    memory = ForgettingMemory(Full())
    with pytest.raises(StoreError, match="full"):
        memory.archive([ArchiveEntry("k", "x", 0.5, "tool")])


def test_copies_share_the_store(memory, tmp_path):
    """Shallow and deep copies are the same memory; what it returns copies as usual."""
    memory.remember("n", "likes teal")
    for other in (copy.copy(memory), copy.deepcopy(memory)):
        assert other.recall("n") == "likes teal"
    files = ForgettingMemory(FileMemoryStore(tmp_path))
    assert copy.deepcopy(files).store is files.store
    found = copy.deepcopy(memory.search("teal"))
    assert json.loads(json.dumps(found[0].metadata))["name"] == "n"


def test_reports_survive_a_round_trip(memory, clock):
    """Records and reports are plain values."""
    memory.remember("n", "x")
    record = memory.describe("n")
    assert type(record).model_validate_json(record.model_dump_json()) == record
    clock.advance(31 * DAY)
    report = memory.consolidate(dry_run=True)
    assert report.dry_run
    assert type(report).model_validate_json(report.model_dump_json()) == report


def test_compartments_are_gone_through_from_the_top(memory):
    """A timer can consolidate every compartment of a store."""
    for scope in (("a",), ("a", "b"), ("c",)):
        memory.scoped(scope).remember("n", str(scope))
    places = [place for place in memory.compartments() if len(place)]
    assert [place.recall("n") for place in places] == ["('a',)", "('a', 'b')", "('c',)"]


@pytest.mark.parametrize("namespace", [(), ("",), ("a", 7), ["a"], "a", None])
def test_what_is_no_namespace_is_refused(memory, namespace):
    """A compartment needs at least one label."""
    with pytest.raises(InvalidInputError, match="namespace"):
        memory.scoped(namespace)


def test_an_import_keeps_times_and_counts(memory, clock):
    """Memories with a past of their own can be stored."""
    past = clock() - 5 * DAY
    note = StoredMemory("n", "x", 0.5, "tool", False, True, past, past, 7)
    memory.put_memories([note])
    assert memory.describe("n").access_count == 7
    assert memory.describe("n").created_at == past


def test_a_memory_shows_its_store_and_policy(memory):
    """What is printed tells what it is."""
    assert "ForgetConfig" in repr(memory)


@pytest.mark.parametrize(
    "bad", [("b", "x"), ("b", "x", 0.5, 1), "abc", None, 5, ("b", None, 0.5)]
)
def test_one_bad_item_of_many_stores_none(memory, bad):
    """What is no name, content and importance is refused before anything changes."""
    with pytest.raises(InvalidInputError):
        memory.remember_many([("a", "x", 0.5), bad])
    assert len(memory) == 0


def test_a_count_that_no_store_holds_is_refused(memory):
    """A count beyond what a database can add to is no count."""
    day = datetime(2029, 12, 31, tzinfo=UTC)
    note = StoredMemory("n", "x", 0.5, "user", False, False, day, day, 10**30)
    with pytest.raises(InvalidInputError, match="access_count"):
        memory.put_memories([note])
