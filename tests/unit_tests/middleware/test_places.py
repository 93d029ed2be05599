import pytest
from langgraph.runtime import ExecutionInfo, Runtime
from langgraph.store.memory import InMemoryStore

from langchain_memkit import ForgettingMemory, InvalidInputError
from langchain_memkit.middleware.places import Places, thread_namespace


def runtime_of(thread=None, store=None):
    info = ExecutionInfo(
        checkpoint_id="c", checkpoint_ns="", task_id="t", thread_id=thread
    )
    return Runtime(execution_info=info, store=store)


@pytest.mark.parametrize(
    ("runtime", "labels"),
    [(None, ()), (Runtime(), ()), (runtime_of(), ()), (runtime_of(7), ("7",))],
)
def test_a_thread_has_a_compartment(runtime, labels):
    """The id of the thread names it; without a thread there is none."""
    assert thread_namespace(runtime) == labels


def test_the_own_compartment_comes_first(memory):
    """A run writes to its compartment and also reads the memory itself."""
    own, shared = Places.make(memory, None).of(runtime_of("a"))
    own.remember("tone", "Answer briefly.")
    assert shared is memory
    assert memory.scoped(("a",)).recall("tone") == "Answer briefly."


def test_a_run_meets_the_same_object_again(memory):
    """A compartment is opened once, so that what it took is known."""
    places = Places.make(memory, None)
    assert places.of(runtime_of("a"))[0] is places.of(runtime_of("a"))[0]
    assert places.of(runtime_of("a"))[0] is not places.of(runtime_of("b"))[0]


def test_stores_are_told_apart():
    """Two stores have two memories, each the same at every call."""
    places, stores = Places.make(None, None), [InMemoryStore(), InMemoryStore()]
    first, second = (places.of(runtime_of("a", store))[0] for store in stores)
    first.remember("tone", "Answer briefly.")
    assert places.of(runtime_of("a", stores[0]))[0] is first
    assert (len(first), len(second)) == (1, 0)


def test_open_compartments_are_bounded(memory):
    """However many threads there are, few stay open, and all keep their memories."""
    places = Places.make(memory, None)
    for number in range(600):
        places.of(runtime_of(str(number)))[0].remember("number", str(number))
    assert len(places.opened) <= 256
    assert places.of(runtime_of("5"))[0].recall("number") == "5"


@pytest.mark.parametrize("labels", [None, "a", ("",), ("a", 1), ["a"]])
def test_bad_labels_are_refused(memory, labels):
    """A namespace is a tuple of texts that are not empty."""
    places = Places.make(memory, lambda _: labels)
    with pytest.raises(InvalidInputError, match="namespace"):
        places.of(None)


def test_without_memory_and_store_the_error_says_so():
    """There has to be one or the other."""
    for runtime in (None, runtime_of("a")):
        with pytest.raises(InvalidInputError, match="memory"):
            Places.make(None, None).of(runtime)


def test_a_memory_goes_before_the_store(memory):
    """An explicit memory is used also where the agent has a store."""
    places = Places.make(memory, lambda _: ())
    assert places.of(runtime_of("a", InMemoryStore())) == (memory,)
    assert isinstance(memory, ForgettingMemory)
