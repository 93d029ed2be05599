"""Print what memories cost, side by side with the bare database, and what they survive.

    python benchmarks/memory.py [--memories 100000] [--kills 100] [--postgres URL]

Texts are made of words whose frequencies fall off as in a language. Every figure comes
from this one run; ratios compare medians taken in turns.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain_memkit import FileMemoryStore, ForgettingMemory, SQLMemoryStore
from langchain_memkit.core.records import StoredMemory
from langchain_memkit.core.times import to_microseconds
from langchain_memkit.protocols import MemoryStore

START = datetime(2030, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=2)
WORDS = [f"w{number}" for number in range(20_000)]
WEIGHTS = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(WORDS))))
WORKER = Path(__file__).with_name("memory_worker.py")
CHUNK = 10_000


def text(rng: random.Random, words: int) -> str:
    """Make a text.

    Args:
        rng: Where chance comes from.
        words: How many words.

    Returns:
        The words, frequent ones more often.
    """
    return " ".join(rng.choices(WORDS, cum_weights=WEIGHTS, k=words))


def notes(rng: random.Random, first: int, last: int) -> list[StoredMemory]:
    """Make memories of 30 words.

    Args:
        rng: Where chance comes from.
        first: Number of the first.
        last: Number after the last.

    Returns:
        The memories, a second apart.
    """
    return [
        StoredMemory(
            name=f"memory {number}",
            content=text(rng, 30),
            importance=0.5,
            source="user",
            pinned=False,
            evicted=True,
            created_at=START + timedelta(seconds=number),
            last_access_at=START + timedelta(seconds=number),
        )
        for number in range(first, last)
    ]


def median_ms(call: Callable[[], object], times: int) -> float:
    """Time a call.

    Args:
        call: What to time.
        times: How often.

    Returns:
        The median, in milliseconds.
    """
    return statistics.median(once_ms(call) for _ in range(times))


def once_ms(call: Callable[[], object]) -> float:
    """Time a call once.

    Args:
        call: What to time.

    Returns:
        Milliseconds.
    """
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1000


def fill(path: Path, count: int) -> ForgettingMemory:
    """Make a SQLite file of memories.

    Args:
        path: The file.
        count: How many.

    Returns:
        The memory.
    """
    rng = random.Random(count)
    store = SQLMemoryStore(f"sqlite:///{path}")
    for first in range(0, count, CHUNK):
        store.put(notes(rng, first, min(first + CHUNK, count)), now=NOW)
    return ForgettingMemory(store)


def measure_recall(large: ForgettingMemory, small: ForgettingMemory) -> None:
    """Compare a recall among many memories with one among 1,000.

    Args:
        large: Many memories.
        small: 1,000 memories.
    """
    rng = random.Random(1)
    samples: dict[int, list[float]] = {id(small): [], id(large): []}
    for _ in range(2000):
        for memory in (small, large):
            name = f"memory {rng.randrange(len(memory) if memory is small else 1000)}"
            cost = once_ms(lambda m=memory, n=name: m.recall(n, now=NOW))  # type: ignore[misc]  # bound now
            samples[id(memory)].append(cost)
    few, many = (statistics.median(samples[id(m)]) for m in (small, large))
    size = len(large)
    print(f"recall p50: {few:.3f} ms at 1,000, {many:.3f} ms at {size:,}")
    print(f"  ratio {many / few:.2f} (bar 1.5)")


def measure_search(memory: ForgettingMemory) -> None:
    """Time searches of 1 to 8 words, and of the three most frequent words.

    Args:
        memory: Many memories.
    """
    rng = random.Random(2)
    for words in (1, 2, 4, 8):
        cost = median_ms(lambda w=words: memory.search(text(rng, w), now=NOW), 60)  # type: ignore[misc]  # bound now
        print(f"search p50, {words} words: {cost:.1f} ms (bar 20)")
    worst = median_ms(lambda: memory.search("w0 w1 w2", now=NOW), 9)
    print(f"search p50, three words that most texts hold: {worst:.1f} ms")


def measure_prune(path: Path, memory: ForgettingMemory, rounds: int = 21) -> None:
    """Compare a consolidation that prunes 100 memories with the bare `DELETE`.

    Args:
        path: The file of the memory.
        memory: Many memories.
        rounds: How often.
    """
    rng = random.Random(3)
    bare_path = path.with_name("bare.db")
    subject = sqlite3.connect(path)
    subject.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, bare_path)
    bare = sqlite3.connect(bare_path, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON"):
        bare.execute(f"PRAGMA {pragma}")
    old_us = to_microseconds(NOW - timedelta(days=31))
    costs: tuple[list[float], list[float]] = ([], [])
    ids = [row[0] for row in subject.execute("SELECT id FROM memkit_memories")]
    rng.shuffle(ids)
    for at in range(rounds):
        doomed = [(old_us, number) for number in ids[at * 100 : at * 100 + 100]]
        for connection in (subject, bare):
            connection.execute("BEGIN")
            connection.executemany(
                "UPDATE memkit_memories SET last_access_at_us = ? WHERE id = ?", doomed
            )
            connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        costs[0].append(once_ms(lambda: memory.consolidate(now=NOW)))
        costs[1].append(
            once_ms(
                lambda: bare.execute(
                    "DELETE FROM memkit_memories WHERE namespace = 'default' "
                    "AND pinned = 0 AND last_access_at_us <= ?",
                    (old_us,),
                )
            )
        )
    ours, theirs = map(statistics.median, costs)
    print(f"consolidate that prunes 100 of {len(ids):,}: {ours:.2f} ms")
    print(f"  bare DELETE {theirs:.2f} ms, ratio {ours / theirs:.2f} (bar 3)")


def measure_many(folder: Path, rounds: int = 5) -> None:
    """Compare `remember_many` of 10,000 memories with `executemany`.

    Args:
        folder: Where to put the files.
        rounds: How often.
    """
    rng = random.Random(4)
    items = [(f"memory {n}", text(rng, 30), 0.5) for n in range(10_000)]
    ours: list[float] = []
    theirs: list[float] = []
    moment = to_microseconds(NOW)
    rows = [
        ("default", name, content, 0.5, "user", 0, 0, moment, moment, 0)
        for name, content, _ in items
    ]
    for at in range(rounds):
        memory = ForgettingMemory(SQLMemoryStore(f"sqlite:///{folder}/many{at}.db"))
        SQLMemoryStore(f"sqlite:///{folder}/plain{at}.db").close()
        plain = sqlite3.connect(folder / f"plain{at}.db", isolation_level=None)
        plain.execute("PRAGMA synchronous = NORMAL")

        def insert(plain: sqlite3.Connection = plain) -> None:
            plain.execute("BEGIN")
            plain.executemany(
                "INSERT INTO memkit_memories (namespace, name, content, importance, "
                "source, pinned, evicted, created_at_us, last_access_at_us, "
                "access_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            plain.execute("COMMIT")

        theirs.append(once_ms(insert))
        ours.append(once_ms(lambda m=memory: m.remember_many(items, now=NOW)))  # type: ignore[misc]  # bound now
    mine, bare = statistics.median(ours), statistics.median(theirs)
    print(f"remember_many of 10,000 in SQLite: {mine:.0f} ms")
    print(f"  executemany {bare:.0f} ms, ratio {mine / bare:.2f} (bar 4)")


def measure_files(folder: Path) -> None:
    """Time what one write and one recall cost in a folder of files, and in SQLite.

    Args:
        folder: Where to put the folders.
    """
    rng = random.Random(5)
    for count in (100, 1_000, 10_000):
        store = FileMemoryStore(folder / f"files{count}")
        store.put(notes(rng, 0, count), now=NOW)
        rows = fill(folder / f"rows{count}.db", count)
        for kind, memory in (("files", ForgettingMemory(store)), ("SQLite", rows)):
            write = median_ms(lambda m=memory: m.remember("new", "text", now=NOW), 9)  # type: ignore[misc]  # bound now
            read = median_ms(lambda m=memory: m.recall("new", now=NOW), 9)  # type: ignore[misc]  # bound now
            costs = f"remember {write:.1f} ms, recall {read:.1f} ms"
            print(f"{kind}, {count:,} memories: {costs}")


def run_workers(kind: str, place: str, verb: str, times: int, count: int = 8) -> None:
    """Run processes that use one place at the same time.

    Args:
        kind: `file` or `sql`.
        place: A folder or an address.
        verb: `recall` or `remember`.
        times: How often each does it.
        count: How many processes.

    Raises:
        RuntimeError: One of them failed.
    """
    command = [sys.executable, str(WORKER), kind, place, verb, str(times)]
    running = [
        subprocess.Popen([*command, str(number)], stderr=subprocess.PIPE)
        for number in range(count)
    ]
    errors = [process.communicate()[1].decode() for process in running]
    if any(process.returncode for process in running):
        raise RuntimeError("\n".join(errors))


def check_processes(kind: str, place: str, store: MemoryStore, recalls: int) -> None:
    """Count what 8 processes did at the same time.

    Args:
        kind: `file` or `sql`.
        place: A folder or an address.
        store: A store on it, empty.
        recalls: How many recalls each.
    """
    memory = ForgettingMemory(store)
    memory.remember("shared", "text")
    run_workers(kind, place, "recall", recalls)
    counted = memory.describe("shared").access_count
    run_workers(kind, place, "remember", 50)
    found = [m for m in store.scan(content=True) if m.name != "shared"]
    whole = sum(m.content == f"{m.name} " * 500 for m in found)
    print(f"8 processes, {memory.store!r}:")
    print(f"  {counted} of {8 * recalls} recalls counted, {whole} of 400 texts whole")


def check_kills(kind: str, place: str, reopen: Callable[[], MemoryStore]) -> int:
    """Kill a writer once at a random moment and look at what it had acknowledged.

    Args:
        kind: `file` or `sql`.
        place: A folder or an address.
        reopen: Opens the store.

    Returns:
        How many writes were acknowledged before the kill.

    Raises:
        RuntimeError: An acknowledged write is missing or torn.
    """
    command = [sys.executable, str(WORKER), kind, place, "endless", "0", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(random.uniform(0.0, 0.15))
    process.kill()
    with process:
        done = [line.split() for line in process.stdout.read().splitlines()]
    last = {line[0]: line[1] for line in done if len(line) == 3}
    stored = {memory.name: memory.content for memory in reopen().scan(content=True)}
    for name, version in last.items():
        content = stored.get(name, "")
        # The write after the acknowledged one may or may not have taken effect.
        if content not in {f"{name} {int(version) + more} " * 500 for more in (0, 2)}:
            msg = f"{name} {version} is missing or torn in {place}: {content[:60]!r}"
            raise RuntimeError(msg)
    return len(done)


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--postgres", help="address of an empty database")
    options = parser.parse_args()
    print("$", shlex.join(["python", *sys.argv]))
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        large = fill(folder / "large.db", options.memories)
        measure_recall(large, fill(folder / "small.db", 1000))
        measure_search(large)
        measure_prune(folder / "large.db", large)
        measure_many(folder)
        measure_files(folder)
        url = f"sqlite:///{folder}/shared.db"
        check_processes("sql", url, SQLMemoryStore(url), 200)
        files = folder / "shared"
        check_processes("file", str(files), FileMemoryStore(files), 40)
        if options.postgres:
            store = SQLMemoryStore(options.postgres)
            check_processes("sql", options.postgres, store, 200)
        place = folder / "killed"
        kill_url = f"sqlite:///{folder}/killed.db"
        for kind, where, reopen in (
            ("file", str(place), lambda: FileMemoryStore(place)),
            ("sql", kill_url, lambda: SQLMemoryStore(kill_url)),
        ):
            done = [check_kills(kind, where, reopen) for _ in range(options.kills)]
            print(f"{len(done)} kills, {kind}: {sum(done)} acknowledged writes whole")


if __name__ == "__main__":
    main()
