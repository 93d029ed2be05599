"""Every store without a server passes the shipped suite."""

import pytest
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from langchain_memkit import FileMemoryStore, LangGraphMemoryStore, SQLMemoryStore
from langchain_memkit.testing import DictMemoryStore
from langchain_memkit.testing.conformance import MemoryStoreConformance
from langchain_memkit.testing.fakes import Place


class TestDictMemoryStore(MemoryStoreConformance):
    """The fake keeps the laws that it stands in for."""

    @pytest.fixture
    def open_store(self):
        place = Place()
        return lambda: DictMemoryStore(place)


class TestFileMemoryStore(MemoryStoreConformance):
    """Files keep every law."""

    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: FileMemoryStore(tmp_path)


class TestSQLMemoryStoreOnSqlite(MemoryStoreConformance):
    """A SQLite file keeps every law."""

    @pytest.fixture
    def open_store(self, tmp_path):
        opened = []

        def open_store():
            opened.append(SQLMemoryStore(f"sqlite:///{tmp_path}/m.db"))
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()


class TestLangGraphMemoryStoreInMemory(MemoryStoreConformance):
    """LangGraph's in-memory store keeps every law but the atomic count."""

    has_atomic_touch = False

    @pytest.fixture
    def open_store(self):
        store = InMemoryStore()
        return lambda: LangGraphMemoryStore(store, ("memories",))


class TestLangGraphMemoryStoreOnSqlite(MemoryStoreConformance):
    """LangGraph's SQLite store keeps every law but the atomic count."""

    has_atomic_touch = False

    @pytest.fixture
    def open_store(self, tmp_path):
        with SqliteStore.from_conn_string(f"{tmp_path}/store.db") as store:
            store.setup()
            yield lambda: LangGraphMemoryStore(store, ("memories", "user.1"))
