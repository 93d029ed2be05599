"""A langgraph store holds memories apart from anything else in it."""

import copy
from datetime import UTC, datetime, timedelta

import pytest
from langgraph.store.memory import InMemoryStore

from langchain_memkit import (
    ForgettingMemory,
    InvalidInputError,
    LangGraphMemoryStore,
    StoreError,
    StoreVersionError,
)
from langchain_memkit.stores.langgraph.items import escape_label, unescape_label
from langchain_memkit.testing import FakeClock

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def base():
    """Make a store."""
    return InMemoryStore()


@pytest.fixture
def memory(base):
    """Make a memory in it."""
    return ForgettingMemory(LangGraphMemoryStore(base, ("m",)), clock=FakeClock())


def test_a_recall_never_rewrites_the_text(base, memory):
    """The use of a memory is an item of its own."""
    memory.remember("n", "x")
    before = base.get(("m", "=texts"), "n")
    memory.recall("n")
    assert base.get(("m", "=texts"), "n").updated_at == before.updated_at
    assert memory.describe("n").access_count == 1


def test_a_late_touch_says_nothing_of_a_later_memory(base, memory):
    """A touch that arrives after forgetting does not count for what comes after."""
    memory.remember("n", "x")
    memory.recall("n")
    touch = base.get(("m", "=touches"), "n").value
    memory.forget("n")
    base.put(("m", "=touches"), "n", touch)
    memory.clock.advance(timedelta(days=1))
    memory.remember("n", "y")
    assert memory.describe("n").access_count == 0


def test_more_memories_than_a_page_are_all_there(memory):
    """Listing goes on past one page of the store, of items and of compartments."""
    memory.remember_many([(f"n{at}", "x", 0.5) for at in range(1100)])
    assert len(memory.live_at()) == len(memory) == 1100
    for at in range(501):
        memory.scoped((f"s{at:03}",)).remember("n", "x")
    assert len(memory.store.namespaces()) == 501


def test_siblings_with_a_common_beginning_stay_apart(base):
    """A store finds namespaces by prefix; what only begins alike is left out."""
    one = ForgettingMemory(LangGraphMemoryStore(base, ("a",)))
    one.remember("n", "x")
    base.put(("a", "=texts", "below"), "other", {"content": "foreign"})
    assert one.live_at() == ["n"]


def test_what_was_recalled_since_it_was_listed_stays(memory):
    """A prune looks again before it removes."""
    memory.remember("n", "x")
    memory.clock.advance(timedelta(days=31))
    store = memory.store
    real = store.scan

    def scan_then_recall(**options):
        found = list(real(**options))
        memory.recall("n")
        return iter(found)

    store.scan = scan_then_recall
    assert memory.consolidate().pruned == ()


def test_an_item_of_a_newer_release_is_refused(base, memory):
    """It is neither read nor overwritten."""
    memory.remember("n", "x")
    item = {**base.get(("m", "=texts"), "n").value, "version": 99}
    base.put(("m", "=texts"), "n", item)
    for call in (memory.live_at, lambda: memory.remember("n", "y")):
        with pytest.raises(StoreVersionError, match="99"):
            call()
    assert base.get(("m", "=texts"), "n").value == item


def test_what_a_store_raises_is_a_store_error(memory):
    """Each kind of store has errors of its own; they come as ours, with the cause."""

    class Fails(InMemoryStore):
        def batch(self, ops):
            raise ConnectionResetError(104, "connection lost")

    memory = ForgettingMemory(LangGraphMemoryStore(Fails(), ("m",)))
    with pytest.raises(StoreError, match="connection lost") as caught:
        memory.remember("n", "x")
    assert isinstance(caught.value.__cause__, ConnectionResetError)


def test_what_is_no_store_is_refused():
    """The error says what is needed."""
    with pytest.raises(InvalidInputError, match="BaseStore"):
        LangGraphMemoryStore({}, ("m",))
    with pytest.raises(InvalidInputError, match="namespace"):
        LangGraphMemoryStore(InMemoryStore(), ())


def test_copies_share_the_store(memory):
    """A deep copy does not copy what is stored."""
    memory.remember("n", "x")
    assert copy.deepcopy(memory.store) is memory.store
    copy.deepcopy(memory).forget("n")
    assert len(memory) == 0
    assert "InMemoryStore" in repr(memory)


@pytest.mark.parametrize(
    "label", ["langgraph", "a.b", "=", "\x00", "\udc8f", "é", "%_"]
)
def test_labels_survive_escaping(label):
    """What a store would refuse is written otherwise, and read back."""
    escaped = escape_label(label)
    assert escaped not in {"langgraph", "=texts"}
    assert escaped.replace("=", "").replace("_", "").isalnum()
    assert unescape_label(escaped) == label
