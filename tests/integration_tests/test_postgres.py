"""PostgreSQL passes the shipped suite, plain and below LangGraph, and loses nothing."""

import subprocess
import sys
from datetime import UTC, datetime

import psycopg
import pytest
from langgraph.store.postgres import PostgresStore
from sqlalchemy import create_engine

from langchain_memkit import (
    ForgettingMemory,
    LangGraphMemoryStore,
    SQLMemoryStore,
    StoreError,
    StoreVersionError,
)
from langchain_memkit.testing.conformance import MemoryStoreConformance

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def open_sql(postgres_url):
    """Open stores on one database, and close them after the test."""
    opened = []

    def open_sql():
        opened.append(SQLMemoryStore(postgres_url))
        return opened[-1]

    yield open_sql
    for store in opened:
        store.close()


class TestSQLMemoryStoreOnPostgres(MemoryStoreConformance):
    """PostgreSQL keeps every law."""

    @pytest.fixture
    def open_store(self, open_sql):
        return open_sql


class TestLangGraphMemoryStoreOnPostgres(MemoryStoreConformance):
    """LangGraph's PostgreSQL store keeps every law but the atomic count."""

    has_atomic_touch = False

    @pytest.fixture
    def open_store(self, postgres_url):
        with PostgresStore.from_conn_string(postgres_url) as store:
            store.setup()
            yield lambda: LangGraphMemoryStore(store, ("memories", "user.1_%"))


def run_processes(code, *arguments, count):
    """Run a script in several processes at once."""
    command = [sys.executable, "-c", code, *arguments]
    running = [
        subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE)
        for n in range(count)
    ]
    errors = [process.communicate()[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * count, errors


RECALL = """
import sys
from datetime import UTC, datetime
from langchain_memkit import SQLMemoryStore
store = SQLMemoryStore(sys.argv[1])
for _ in range(25):
    assert store.touch(["shared"], now=datetime.now(UTC))
"""

REMEMBER = """
import sys
from datetime import UTC, datetime
from langchain_memkit import SQLMemoryStore
from langchain_memkit.core.records import StoredMemory
store = SQLMemoryStore(sys.argv[1])
now = datetime.now(UTC)
for n in range(10):
    name = f"{sys.argv[2]} {n}"
    note = StoredMemory(name, "text " * n, 0.5, "user", False, False, now, now)
    store.put([note], now=now)
"""


def test_every_recall_of_every_process_counts(open_sql, postgres_url):
    """Four processes that recall one memory are all counted."""
    memory = ForgettingMemory(open_sql())
    memory.remember("shared", "text")
    run_processes(RECALL, postgres_url, count=4)
    assert memory.describe("shared").access_count == 100


def test_processes_that_open_a_new_database_together_all_write(postgres_url, open_sql):
    """Four processes make the tables at once, and each memory is there."""
    run_processes(REMEMBER, postgres_url, count=4)
    assert len(open_sql()) == 40


def test_a_lost_connection_heals_by_itself(open_sql, postgres_url):
    """After the server dropped its connections the next call works."""
    memory = ForgettingMemory(open_sql())
    memory.remember("n", "text")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert memory.recall("n") == "text"


def test_a_newer_schema_is_refused_untouched(open_sql, postgres_url):
    """Tables of a newer release are neither read nor changed."""
    open_sql()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE memkit_schema SET version = 1000000")
        with pytest.raises(StoreVersionError, match="1000000"):
            open_sql()
        rows = connection.execute("SELECT version FROM memkit_schema").fetchall()
    assert rows == [(1000000,)]


def test_an_engine_can_be_passed_in(postgres_url):
    """A pool of the application's own serves the store."""
    url = postgres_url.replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(url, pool_size=1, max_overflow=0)
    memory = ForgettingMemory(SQLMemoryStore(engine))
    memory.remember("n", "text", now=NOON)
    assert memory.consolidate(now=NOON.replace(year=2031)).pruned == ("n",)
    engine.dispose()


def test_an_unreachable_server_is_a_clear_error():
    """The error names the address without its password."""
    url = "postgresql://somebody:secret@127.0.0.1:1/nowhere"
    with pytest.raises(StoreError, match=r"127\.0\.0\.1") as caught:
        SQLMemoryStore(url)
    assert "secret" not in str(caught.value)


def test_a_long_text_of_many_words_is_stored_whole_and_found(open_sql):
    """A text beyond what the index holds comes back, and its beginning is found."""
    text = "zebra " + " ".join(f"word{n}" for n in range(300_000))
    memory = ForgettingMemory(open_sql())
    memory.remember("long", text)
    assert memory.recall("long") == text
    assert [d.id for d in memory.search("zebra")] == ["long"]


def test_what_would_burst_an_index_or_a_query_does_not(open_sql):
    """Texts without spaces and queries of thousands of words are taken as any other."""
    memory = ForgettingMemory(open_sql())
    han = [chr(code) for code in range(0x4E00, 0x9FFF)]
    text = "".join(one + other for one in han[:500] for other in han[:500])
    memory.remember("long", text)
    assert memory.recall("long") == text
    words = " ".join(f"w{at}" for at in range(20_000))
    memory.remember("word", "extraordinarily")
    assert [d.id for d in memory.search(f"{words} extraordinarily")] == ["word"]
