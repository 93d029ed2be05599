"""Memories in PostgreSQL, shared by several writers; skips where no server is named.

    MEMORY_URL=postgresql+psycopg://user:secret@host/database python FILE

You will see that two writers lose nothing, and what a search finds.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from langchain_memkit import ForgettingMemory, SQLMemoryStore


def main() -> None:
    """Write from two connections at once, recall, search and clean up."""
    url = os.environ.get("MEMORY_URL")
    if not url:
        print("skipped: set MEMORY_URL to the address of a PostgreSQL server")
        return
    memories = [
        ForgettingMemory(SQLMemoryStore(url, namespace="example")) for _ in range(2)
    ]
    mine, theirs = memories
    mine.remember("fee", "The berth costs 12 euros a night.", importance=0.8)
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(lambda memory: [memory.recall("fee") for _ in range(50)], memories)
        )
    theirs.remember("fuel", "Fuel is sold until 18 o'clock.")

    print("recalls counted:", mine.describe("fee").access_count)
    print("found:", [document.id for document in mine.search("fuel o'clock")])
    for name in mine.live_at():
        mine.forget(name)
    print("left:", len(theirs))


if __name__ == "__main__":
    main()
