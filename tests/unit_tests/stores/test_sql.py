"""A database of memories opens anywhere, keeps its secrets and finds what it holds."""

import copy
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from langchain_memkit import (
    ForgettingMemory,
    InvalidInputError,
    MissingExtraError,
    SQLMemoryStore,
    StoreError,
    StoreVersionError,
)
from langchain_memkit.protocols import ArchiveEntry
from langchain_memkit.stores.sql import fts5
from langchain_memkit.stores.sql.rows import indexed_terms, labels_of, path_of

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    """Name a file in a folder that is not there yet."""
    return tmp_path / "new folder" / "m.db"


@pytest.fixture
def memory(path):
    """Make a memory over a new SQLite file."""
    store = SQLMemoryStore(f"sqlite:///{path}")
    yield ForgettingMemory(store, clock=lambda: NOON)
    store.close()


def run_sql(path, statement, *values):
    """Look into the file from outside."""
    connection = sqlite3.connect(path)
    try:
        with connection:
            return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def test_a_newer_schema_is_refused_untouched(memory, path):
    """Tables of a newer release are neither read nor changed."""
    memory.remember("n", "x")
    memory.store.close()
    run_sql(path, "UPDATE memkit_schema SET version = 1000000")
    with pytest.raises(StoreVersionError, match="1000000"):
        SQLMemoryStore(f"sqlite:///{path}")
    assert run_sql(path, "SELECT version FROM memkit_schema") == [(1000000,)]


def test_an_interrupted_migration_is_done_again(path):
    """A database whose version was never written gets its tables."""
    path.parent.mkdir()
    run_sql(path, "CREATE TABLE memkit_schema (version INTEGER NOT NULL)")
    store = SQLMemoryStore(f"sqlite:///{path}")
    assert len(store) == 0
    store.close()


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path):
    """The error names the address and the reason."""
    (tmp_path / "m.db").write_text("nonsense " * 1000, "utf-8")
    with pytest.raises(StoreError, match=r"m\.db.*not a database"):
        SQLMemoryStore(f"sqlite:///{tmp_path}/m.db")


def test_a_schema_that_cannot_be_made_is_a_clear_error(tmp_path):
    """Tables of another program under our names stop the opening."""
    run_sql(tmp_path / "m.db", "CREATE TABLE memkit_memories (x)")
    with pytest.raises(StoreError, match="memkit_memories"):
        SQLMemoryStore(f"sqlite:///{tmp_path}/m.db")


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    """A file in the way of the folder is named."""
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(StoreError, match="file"):
        SQLMemoryStore(f"sqlite:///{tmp_path}/file/m.db")


@pytest.mark.parametrize(
    "address", ["nonsense", "mysql://host/db", "nosuch://x", "sqlite+nosuch://x", 7]
)
def test_an_address_that_cannot_be_used_is_refused(address):
    """The error says what an address looks like, and shows no password."""
    with pytest.raises(InvalidInputError):
        SQLMemoryStore(address)


def test_an_engine_of_another_dialect_is_refused():
    """An engine is held to the same dialects as an address."""

    class Dialect:
        name = "oracle"
        is_async = False

    engine = create_engine("sqlite://")
    engine.dialect = Dialect()
    with pytest.raises(InvalidInputError, match="dialect"):
        SQLMemoryStore(engine)


def test_an_asynchronous_driver_is_refused(tmp_path):
    """The store runs in threads, so its driver has to be synchronous."""
    with pytest.raises(InvalidInputError, match="synchronous"):
        SQLMemoryStore(f"sqlite+aiosqlite:///{tmp_path}/m.db")


def test_a_namespace_has_to_be_a_text():
    """An empty compartment name is refused."""
    for namespace in ("", 7):
        with pytest.raises(InvalidInputError, match="namespace"):
            SQLMemoryStore("sqlite://", namespace)


def test_namespaces_are_compared_exactly(memory, path):
    """Names that differ in case or padding lead to different places."""
    address = f"sqlite:///{path}"
    for namespace in ("default", "Default", "default ", "a/b"):
        store = SQLMemoryStore(address, namespace)
        ForgettingMemory(store).remember("n", namespace)
        store.close()
    assert memory.recall("n") == "default"
    assert memory.store.namespaces() == ()
    other = SQLMemoryStore(address, "a")
    assert len(ForgettingMemory(other).scoped(("b",))) == 0
    other.close()


def test_an_engine_can_be_passed_in(tmp_path):
    """The application's own engine serves, and its other use is not changed."""
    engine = create_engine(f"sqlite:///{tmp_path}/app.db")
    memory = ForgettingMemory(SQLMemoryStore(engine))
    memory.remember("n", "x")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE own (x)"))
    with engine.connect() as connection:
        connection.execute(text("INSERT INTO own VALUES (1)"))
        connection.rollback()
    assert memory.recall("n") == "x"
    with engine.connect() as connection:
        assert connection.execute(text("SELECT x FROM own")).all() == []
    engine.dispose()


def test_a_memory_database_serves_many_threads():
    """One connection is handed around, so all threads see one database."""
    memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
    threads = [
        threading.Thread(target=memory.remember, args=(str(n), "x")) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory) == 8
    memory.store.close()


def test_a_forgotten_text_is_in_no_file(memory, path):
    """After forgetting nothing of the text is left in the database or beside it."""
    memory.remember("n", "pin is nought nought")
    memory.remember("m", "likes teal")
    memory.search("pin")
    memory.forget("n")
    left = [file for file in path.parent.iterdir() if b"pin is" in file.read_bytes()]
    assert left == []


def test_what_is_pruned_leaves_the_index_with_the_next_search(memory, path):
    """The terms of a faded memory do not outlive the next search."""
    memory.remember("n", "heron")
    memory.search("heron")
    memory.consolidate(now=NOON + timedelta(days=31))
    assert memory.search("heron") == []
    assert run_sql(path, "SELECT COUNT(*) FROM memkit_search") == [(0,)]


def test_a_failing_transaction_leaves_nothing(memory):
    """All of a batch is rolled back, and the store goes on."""

    def fail(transaction):
        transaction.run("DELETE FROM memkit_memories")
        transaction.run("SELECT nonsense FROM nowhere")

    memory.remember("n", "x")
    with pytest.raises(StoreError, match="nowhere"):
        memory.store._database.write(fail)
    assert memory.recall("n") == "x"


def test_a_conflict_is_tried_again_a_bounded_number_of_times(memory):
    """A transaction that another writer got between runs again, not for ever."""

    class ConflictError(Exception):
        sqlstate = "40001"

    calls = []

    def lose(transaction):
        calls.append(transaction)
        raise DBAPIError("statement", {}, ConflictError("serialize"))

    def win(transaction):
        if len(calls) < 3:
            lose(transaction)
        return "done"

    assert memory.store._database.write(win) == "done"
    with pytest.raises(StoreError, match="serialize"):
        memory.store._database.write(lose)
    assert len(calls) == 3 + 8


def test_a_rollback_by_the_engine_itself_hides_no_error(memory):
    """Where SQLite has rolled back already, the first error is told."""

    def fail(transaction):
        transaction.run("ROLLBACK")
        raise DBAPIError("statement", {}, OSError("disk I/O error"))

    with pytest.raises(StoreError, match="disk I/O"):
        memory.store._database.write(fail)
    memory.remember("n", "x")


def test_tables_that_another_process_made_just_now_are_used(path, monkeypatch):
    """Losing the race to make the tables is no error."""
    from langchain_memkit.stores.sql.database import Database

    real = Database._upgrade

    def lose(self, transaction):
        real(self, transaction)
        raise DBAPIError("statement", {}, OSError("already exists"))

    versions = iter([0, 1])
    monkeypatch.setattr(Database, "_upgrade", lose)
    monkeypatch.setattr(Database, "_version", lambda self: next(versions))
    SQLMemoryStore(f"sqlite:///{path}").close()


def test_an_error_of_the_library_itself_is_a_store_error(memory):
    """What is no driver's error comes as ours too."""
    with pytest.raises(StoreError, match="does not return rows"):
        memory.store._database.rows("DROP TABLE IF EXISTS nowhere", {})


def test_an_error_shows_no_text_of_a_memory(memory):
    """What a driver reports does not carry what was to be stored."""
    drop = "DROP TABLE memkit_tombstones"
    memory.store._database.write(lambda transaction: transaction.run(drop))
    with pytest.raises(StoreError) as caught:
        memory.remember("n", "very secret")
    assert "very secret" not in f"{caught.value}{caught.value.__cause__}"


def test_a_full_database_is_a_clear_error(memory, path):
    """Where there is no room the error says so, and what is there stays."""
    memory.remember("old", "text")
    with memory.store._database.engine.connect() as connection:
        connection.execute(text("PRAGMA max_page_count = 60"))
        connection.commit()
    with pytest.raises(StoreError, match="full"):
        memory.remember("new", "x" * 10**6)
    assert memory.recall("old") == "text"
    assert memory.live_at() == ["old"]


def test_a_database_that_is_read_only_can_be_read(memory, path):
    """Looking works; a write is a clear error."""
    memory.remember("n", "x")
    memory.store.close()
    store = SQLMemoryStore(f"sqlite:///file:{path}?mode=ro&uri=true")
    reader = ForgettingMemory(store)
    assert reader.live_at(NOON) == ["n"]
    with pytest.raises(StoreError, match="readonly"):
        reader.recall("n")
    store.close()


def test_frequent_words_do_not_hide_what_shares_only_them(memory, monkeypatch):
    """Beyond the texts that are ranked, the rest is found too, later."""
    monkeypatch.setattr(fts5, "_RANKED_TEXTS", 2)
    texts = ["the red kite", "the boat", "the hill", "the kite", "the red door"]
    memory.remember_many([(f"n{at}", words, 0.5) for at, words in enumerate(texts)])
    names = [document.id for document in memory.search("the kite", 9)]
    assert names[:2] == ["n3", "n0"]
    assert sorted(names) == ["n0", "n1", "n2", "n3", "n4"]
    assert [d.id for d in memory.search("the kite", 1)] == ["n3"]


def test_an_exact_match_is_found_wherever_it_sits(memory):
    """Nothing is cut before it is ranked."""
    memory.remember("first", "the vault code is heron")
    memory.remember_many([(f"n{at}", f"filler note {at}", 0.5) for at in range(2000)])
    assert memory.search("vault heron", 1)[0].id == "first"
    assert len(memory.search("vault", 10**30)) == 1


def test_many_memories_are_listed_page_by_page(memory):
    """More memories than a page holds are each listed once."""
    memory.remember_many([(f"n{at:05}", "x", 0.5) for at in range(4001)])
    assert memory.live_at() == [f"n{at:05}" for at in range(4001)]


def test_archiving_again_queues_nothing(memory, path):
    """What is indexed is not indexed again because it is archived again."""
    entry = ArchiveEntry("k", "heron", 0.5, "tool")
    memory.archive([entry])
    assert [d.id for d in memory.search("heron")] == ["k"]
    memory.archive([entry])
    assert run_sql(path, "SELECT COUNT(*) FROM memkit_pending") == [(0,)]


def test_touching_nothing_writes_nothing(memory):
    """No name is no statement."""
    assert memory.store.touch([], now=NOON) == ()
    memory.store.put([], now=NOON)


def test_several_memories_are_touched_together(memory):
    """A touch of many names counts each once, also one given twice."""
    memory.remember_many([("a", "x", 0.5), ("b", "y", 0.5)])
    found = memory.store.touch(["b", "a", "nope", "b"], now=NOON)
    assert [m.name for m in found] == ["b", "a", "b"]
    assert memory.describe("b").access_count == 1


def test_a_copy_is_the_same_place(memory):
    """Copies of a memory share its database."""
    memory.remember("n", "x")
    for other in (copy.copy(memory), copy.deepcopy(memory)):
        assert other.recall("n") == "x"
    assert copy.deepcopy([memory])[0].store is memory.store
    assert copy.deepcopy(memory.store) is memory.store


def test_the_store_hides_its_password():
    """What is printed shows the address without a secret."""
    store = SQLMemoryStore("sqlite://")
    assert repr(store) == "SQLMemoryStore('sqlite://')"
    store.close()


def test_without_sqlalchemy_the_extra_is_named():
    """The error says what to install."""
    script = """
import sys
sys.modules["sqlalchemy"] = None
from langchain_memkit import MissingExtraError, SQLMemoryStore
try:
    SQLMemoryStore("sqlite://")
except MissingExtraError as error:
    assert "langchain-memkit[sql]" in str(error)
else:
    raise SystemExit(1)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_without_a_driver_the_extra_is_named(monkeypatch):
    """The same holds where only the driver of an address is missing."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match="postgres"):
        SQLMemoryStore("postgresql://host/db")
    monkeypatch.setitem(sys.modules, "langchain_memkit.stores.sql.database", None)
    with pytest.raises(MissingExtraError, match="sql"):
        SQLMemoryStore("sqlite://")


def test_an_index_holds_so_much_of_a_text():
    """The terms of a very long text are cut where an index ends."""
    terms = indexed_terms("word " * 100_000)
    assert len(terms) == 75_000


def test_paths_lead_back_to_their_labels():
    """Any labels survive the way through one text."""
    labels = ("a/b", "%2F", "\x00", "\udc8f", "é")
    assert labels_of(path_of(labels)) == labels
