"""Processes that write together, or are killed, lose nothing they acknowledged."""

import random
import subprocess
import sys
import time

import pytest

from langchain_memkit import FileMemoryStore, ForgettingMemory, SQLMemoryStore

WORKER = """
import itertools, sys
from datetime import UTC, datetime
from langchain_memkit import FileMemoryStore, SQLMemoryStore
from langchain_memkit.core.records import StoredMemory
kind, place, verb, times, number = sys.argv[1:]
store = FileMemoryStore(place) if kind == "file" else SQLMemoryStore(place)
def put(name, content):
    now = datetime.now(UTC)
    note = StoredMemory(name, content, 0.5, "user", False, False, now, now)
    store.put([note], now=now)
if verb == "endless":
    print("ready", flush=True)
    for version in itertools.count(int(number), 2):
        put(f"n{version % 5}", f"{version} " * 900)
        print(version, flush=True)
for at in range(int(times)):
    if verb == "touch":
        assert store.touch(["shared"], now=datetime.now(UTC))
    else:
        put(f"{number} {at}", f"{number} {at} " * 300)
"""
OPENERS = {"file": FileMemoryStore, "sql": SQLMemoryStore}


@pytest.fixture(params=["file", "sql"])
def kind(request):
    """Name a kind of store."""
    return request.param


@pytest.fixture
def place(kind, tmp_path):
    """Name an empty place of that kind."""
    return str(tmp_path) if kind == "file" else f"sqlite:///{tmp_path}/m.db"


@pytest.fixture
def open_store(kind, place):
    """Open stores there, and close them in the end."""
    opened = []

    def open_store():
        opened.append(OPENERS[kind](place))
        return opened[-1]

    yield open_store
    for store in opened:
        if kind == "sql":
            store.close()


def run(kind, place, verb, times, count):
    """Run workers at the same time."""
    command = [sys.executable, "-c", WORKER, kind, place, verb, str(times)]
    running = [
        subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE)
        for n in range(count)
    ]
    errors = [worker.communicate()[1].decode() for worker in running]
    assert [worker.returncode for worker in running] == [0] * count, errors


def test_every_touch_of_every_process_counts(kind, place, open_store):
    """Four processes that recall one memory are all counted."""
    ForgettingMemory(open_store()).remember("shared", "text")
    run(kind, place, "touch", 25, 4)
    assert open_store().read(["shared"])[0].access_count == 100


def test_every_memory_of_every_process_is_there(kind, place, open_store, tmp_path):
    """Four processes open a new place together, and each text is there, whole."""
    run(kind, place, "put", 15, 4)
    found = {m.name: m.content for m in open_store().scan(content=True)}
    names = [f"{n} {at}" for n in range(4) for at in range(15)]
    assert found == {name: f"{name} " * 300 for name in names}
    assert not list(tmp_path.glob(".memory.tmp-*"))


def test_kills_lose_no_acknowledged_write(kind, place, open_store):
    """After each of five kills what was acknowledged is there and whole."""
    version = 0
    chance = random.Random(1)
    for _ in range(5):
        command = [sys.executable, "-c", WORKER, kind, place, "endless", "0"]
        worker = subprocess.Popen(
            [*command, str(version)], stdout=subprocess.PIPE, text=True
        )
        with worker:
            worker.stdout.readline()
            time.sleep(chance.uniform(0.01, 0.08))
            worker.kill()
            done = [int(line) for line in worker.stdout.read().split("\n")[:-1]]
        stored = {m.name: m.content for m in open_store().scan(content=True)}
        for at in done[-5:]:
            newer = (at, at + 2, at + 10)  # the unacknowledged one may be there
            assert stored[f"n{at % 5}"] in {f"{n} " * 900 for n in newer}
        version = max([version, *done]) + 2
