"""What a memory promises over any store, checked through sync and async verbs alike."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from langchain_memkit.core.decay import ForgetConfig
from langchain_memkit.exceptions import InvalidInputError, MemkitError
from langchain_memkit.memory import ForgettingMemory
from langchain_memkit.protocols import ArchiveEntry
from langchain_memkit.testing.fakes import FakeClock
from langchain_memkit.testing.store_laws import OpenStore

__all__ = ["MEMORY_LAWS", "Verbs", "check_event_loop_is_free"]

_DAY = timedelta(days=1)
_POLICY = ForgetConfig(ttl=30 * _DAY, min_importance=0.5, weak_grace=7 * _DAY)
_T = TypeVar("_T")


class Verbs:
    """Calls a memory's verbs by name, plainly or through their async twins.

    Attributes:
        memory: The memory.
        clock: Its clock.
    """

    def __init__(self, open_store: OpenStore, *, is_async: bool) -> None:
        """Open a memory with a clock that stands still.

        Args:
            open_store: Opens the store.
            is_async: Whether the async twins are called.
        """
        self._open_store = open_store
        self._is_async = is_async
        self.clock = FakeClock()
        self.memory = ForgettingMemory(open_store(), _POLICY, clock=self.clock)

    async def __call__(self, verb: str, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - any verb
        """Call a verb.

        Args:
            verb: Its plain name.
            *args: Its arguments.
            **options: Its options.

        Returns:
            What it returns.
        """
        if self._is_async:
            return await getattr(self.memory, f"a{verb}")(*args, **options)
        return getattr(self.memory, verb)(*args, **options)

    def reopen(self) -> None:
        """Go on with a fresh object on the same place, as after a restart."""
        self.memory = ForgettingMemory(self._open_store(), _POLICY, clock=self.clock)


async def _refuses(call: Awaitable[_T], error: type[BaseException]) -> bool:
    try:
        await call
    except error as raised:
        return isinstance(raised, MemkitError)
    return False


async def check_recall_refreshes(verbs: Verbs) -> None:
    """Check that recalling keeps a memory alive, and only looking does not.

    Args:
        verbs: The memory under test.
    """
    await verbs("remember", "used", "text")
    await verbs("remember", "unused", "text")
    for _ in range(3):
        verbs.clock.advance(20 * _DAY)
        assert await verbs("recall", "used") == "text"
        await verbs("describe", "used")
        for name in ("search", "resident"):
            await verbs(name, {"search": "text", "resident": 100}[name])
    assert await verbs("live_at") == ["used"]
    assert await verbs("should_forget", "unused")
    assert (await verbs("consolidate")).reasons == {"unused": "idle"}
    assert (await verbs("describe", "used")).access_count == 3
    assert await _refuses(verbs("recall", "unused"), LookupError)
    assert len(verbs.memory) == 1


async def check_consolidation(verbs: Verbs) -> None:
    """Check what fades when, that a dry run reports the same, and that it settles.

    Args:
        verbs: The memory under test.
    """
    await verbs("remember_many", [("weak", "x", 0.1), ("strong", "x", 0.9)])
    await verbs("remember", "pinned", "x", 0.0, pinned=True)
    verbs.clock.advance(7 * _DAY)
    dry = await verbs("consolidate", dry_run=True)
    wet = await verbs("consolidate")
    assert (dry.pruned, dry.kept, dry.reasons) == (wet.pruned, wet.kept, wet.reasons)
    assert (wet.pruned, wet.kept, wet.reasons) == (("weak",), 2, {"weak": "weak"})
    verbs.clock.advance(-300 * _DAY)
    assert (await verbs("consolidate")).pruned == ()
    verbs.clock.advance(323 * _DAY)
    for _ in range(2):
        await verbs("consolidate")
        verbs.reopen()
    assert await verbs("live_at") == ["pinned"]


async def check_forgotten_stays_forgotten(verbs: Verbs) -> None:
    """Check that nothing brings a forgotten memory back but remembering it.

    Args:
        verbs: The memory under test.
    """
    entry = ArchiveEntry("0123456789abcdef", "a long result", 0.3, "tool")
    await verbs("archive", [entry])
    record = await verbs("describe", entry.key)
    assert (record.evicted, record.source, record.importance) == (True, "tool", 0.3)
    verbs.clock.advance(_DAY)
    await verbs("archive", [entry])
    assert await verbs("describe", entry.key) == record
    await verbs("forget", entry.key)
    verbs.reopen()
    await verbs("archive", [entry])
    assert await _refuses(verbs("recall", entry.key), LookupError)
    assert await _refuses(verbs("forget", entry.key), LookupError)
    verbs.clock.advance(29 * _DAY)
    await verbs("consolidate")
    await verbs("archive", [entry])
    assert await verbs("importance", entry.key) is None
    await verbs("remember", entry.key, "again")
    assert await verbs("recall", entry.key) == "again"
    assert not (await verbs("describe", entry.key)).evicted
    await verbs("forget", entry.key)
    verbs.clock.advance(_POLICY.ttl)
    await verbs("consolidate")
    await verbs("archive", [entry])
    assert (await verbs("describe", entry.key)).evicted


async def check_residents(verbs: Verbs) -> None:
    """Check which memories go into a prompt, in which order, and what they cost.

    Args:
        verbs: The memory under test.
    """
    await verbs("remember", "old", "from the user", source="user")
    await verbs("remember", "model", "from the model", source="assistant")
    await verbs("archive", [ArchiveEntry("left", "evicted", 0.5, "user")])
    verbs.clock.advance(_DAY)
    await verbs("remember", "new", "from the developer")
    names = [c.id for c in (await verbs("resident", 100)).capsules]
    assert names == ["new", "old"]
    report = await verbs("resident", 100, sources=("user",), evicted=True)
    assert [capsule.id for capsule in report.capsules] == ["left", "old"]
    assert (report.candidates_examined, report.dropped) == (2, 0)
    for _ in range(30):
        await verbs("recall", "old")
    assert (await verbs("resident", 100)).capsules[0].id == "old"
    tight = await verbs("resident", 20)
    assert (len(tight.capsules), tight.dropped) == (1, 1)
    assert tight.retained_tokens <= 20
    assert (await verbs("resident", 0)).capsules == ()
    verbs.clock.advance(31 * _DAY)
    assert (await verbs("resident", 100)).candidates_examined == 0


async def check_search(verbs: Verbs) -> None:
    """Check that search finds live memories, at most as many as asked for.

    Args:
        verbs: The memory under test.
    """
    await verbs("remember_many", [(f"tide {n}", f"tide at {n}", 0.5) for n in range(9)])
    for k, most in ((0, 0), (4, 4), (99, 9)):
        assert len(await verbs("search", "tide", k)) == most
    found = (await verbs("search", "tide 7", 1))[0]
    assert (found.id, found.page_content) == ("tide 7", "tide at 7")
    assert found.metadata["source"] == "developer"
    for bad in (-1, 2.5, True):
        assert await _refuses(verbs("search", "tide", bad), ValueError)
    verbs.clock.advance(30 * _DAY)
    assert await verbs("search", "tide") == []


async def check_times(verbs: Verbs) -> None:
    """Check that zones, naive times and fractions of a second are all understood.

    Args:
        verbs: The memory under test.
    """
    await verbs("remember", "naive", "x", now=datetime(2029, 12, 31))  # noqa: DTZ001 - naive is the point
    record = await verbs("describe", "naive")
    assert record.created_at.isoformat() == "2029-12-31T00:00:00+00:00"
    start = verbs.clock()
    await verbs("remember", "n", "x")
    limit = start + _POLICY.ttl
    just_before = limit - timedelta(microseconds=1)
    assert not await verbs("should_forget", "n", now=just_before)
    assert await verbs("should_forget", "n", now=limit)
    await verbs("recall", "n", now=start - 999 * _DAY)
    assert (await verbs("describe", "n")).last_access_at == start
    await verbs("remember", "n", "y", now=start + _DAY)
    record = await verbs("describe", "n")
    assert (record.created_at, record.last_access_at) == (start, start + _DAY)


async def check_bad_input(verbs: Verbs) -> None:
    """Check that what breaks a rule is refused before anything changes.

    Args:
        verbs: The memory under test.
    """
    names = ["", ".", "..", "../up", "a/b", "a\\b", "nul\x00", "CON", "con.txt", "a:b"]
    names += ["x" * 253, "rtl\u202e", "line\n", "\udc8f", "end.", "end "]
    for name in names:
        for verb in ("recall", "forget", "describe", "importance", "should_forget"):
            assert await _refuses(verbs(verb, name), InvalidInputError), (verb, name)
        assert await _refuses(verbs("remember", name, "x"), ValueError), name
        entry = ArchiveEntry(name, "x", 0.5, "tool")
        assert await _refuses(verbs("archive", [entry]), ValueError), name
    for importance in (-0.1, 1.1, float("nan"), True, "high"):
        good_first = [("good", "x", 0.5), ("bad", "x", importance)]
        assert await _refuses(verbs("remember_many", good_first), ValueError)
    assert await _refuses(verbs("remember", "n", b"bytes"), ValueError)
    assert await _refuses(verbs("remember", "n", "x", source="god"), ValueError)
    assert await _refuses(verbs("remember", "n", "x", now="today"), ValueError)
    assert await _refuses(verbs("resident", -1), ValueError)
    assert await _refuses(verbs("resident", 9, sources=("god",)), ValueError)
    assert len(verbs.memory) == 0


async def check_names(verbs: Verbs) -> None:
    """Check that one name in two Unicode forms is one memory.

    Args:
        verbs: The memory under test.
    """
    composed, decomposed = "caf\u00e9 Zo\u00eb", "cafe\u0301 Zoe\u0308"
    await verbs("remember", decomposed, f"{decomposed} opens at 8")
    assert await verbs("recall", composed) == f"{decomposed} opens at 8"
    await verbs("remember", composed, "moved")
    assert await verbs("live_at") == [composed]
    for name in (
        "\U0001f469\u200d\U0001f4bb",
        "a..b",
        ".hidden",
        "% _ ' --",
        "x" * 252,
    ):
        await verbs("remember", name, name)
        assert await verbs("recall", name) == name
    await verbs("forget", decomposed)
    assert await verbs("importance", composed) is None


MEMORY_LAWS: Sequence[Callable[[Verbs], Awaitable[None]]] = (
    check_recall_refreshes,
    check_consolidation,
    check_forgotten_stays_forgotten,
    check_residents,
    check_search,
    check_times,
    check_bad_input,
    check_names,
)
"""One check a promise."""


async def check_event_loop_is_free(open_store: OpenStore) -> None:
    """Check that no twin runs its store in the thread of the event loop.

    Args:
        open_store: Opens the store.
    """
    loop_thread = threading.get_ident()
    seen: set[int] = set()

    def watching_clock() -> datetime:
        seen.add(threading.get_ident())
        return FakeClock()()

    memory = ForgettingMemory(open_store(), _POLICY, clock=watching_clock)
    await memory.aremember("n", "text")
    calls = (memory.arecall("n"), memory.alive_at(), memory.asearch("text"))
    await asyncio.gather(*calls, memory.aresident(50), memory.aconsolidate())
    await memory.aarchive([ArchiveEntry("k", "text", 0.5, "tool")])
    await memory.aforget("n")
    assert seen
    assert loop_thread not in seen
