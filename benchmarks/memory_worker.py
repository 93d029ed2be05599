"""A process that `memory.py` runs several of, or kills.

python benchmarks/memory_worker.py KIND PLACE VERB TIMES NUMBER
"""

from __future__ import annotations

import itertools
import sys
from datetime import UTC, datetime

from langchain_memkit import FileMemoryStore, SQLMemoryStore
from langchain_memkit.core.records import StoredMemory
from langchain_memkit.protocols import MemoryStore


def note(name: str, content: str) -> StoredMemory:
    """Make a memory.

    Args:
        name: Its name.
        content: Its text.

    Returns:
        The memory, dated now.
    """
    now = datetime.now(UTC)
    return StoredMemory(name, content, 0.5, "user", False, False, now, now)  # noqa: FBT003 - fields in order


def write_forever(store: MemoryStore) -> None:
    """Write 20 names over and over, and say so after each write.

    Args:
        store: Where to write.
    """
    begin = max(
        (int(m.content.split()[1]) for m in store.scan(content=True)), default=0
    )
    print("ready", flush=True)
    for version in itertools.count(begin + 2, 2):
        for number in range(20):
            name = f"name{number}"
            store.put([note(name, f"{name} {version} " * 500)], now=datetime.now(UTC))
            print(name, version, "done", flush=True)


def main() -> None:
    """Do what the command line says."""
    kind, place, verb, times, number = sys.argv[1:]
    store = FileMemoryStore(place) if kind == "file" else SQLMemoryStore(place)
    if verb == "endless":
        write_forever(store)
    for at in range(int(times)):
        now = datetime.now(UTC)
        if verb == "recall":
            assert store.touch(["shared"], now=now)
        else:
            name = f"{number} {at}"
            store.put([note(name, f"{name} " * 500)], now=now)


if __name__ == "__main__":
    main()
