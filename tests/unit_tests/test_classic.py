import sys
from datetime import UTC, datetime, timedelta
from importlib import reload

import pytest
from langchain_classic.chains.base import Chain

import langchain_memkit.classic as module
from langchain_memkit import (
    ForgetConfig,
    ForgettingMemory,
    InvalidInputError,
    MissingExtraError,
    SQLMemoryStore,
)
from langchain_memkit.classic import ForgettingChainMemory

START = datetime(2031, 5, 1, tzinfo=UTC)


class Clock:
    """Stands still until it is moved."""

    now = START

    def __call__(self):
        return self.now


class Echo(Chain):
    """Answers with the memories it was given."""

    @property
    def input_keys(self):
        return ["question"]

    @property
    def output_keys(self):
        return ["answer"]

    def _call(self, inputs, run_manager=None):
        return {"answer": f"seen: {len(inputs['memories'])}"}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(clock):
    config = ForgetConfig(ttl=timedelta(days=10), weak_grace=timedelta(days=10))
    return ForgettingMemory(SQLMemoryStore("sqlite://"), config, clock=clock)


def load(chain_memory, question):
    return chain_memory.load_memory_variables({"question": question})["memories"]


def test_a_classic_chain_runs_with_it(memory):
    """A chain gets the memories and leaves its exchange, without a warning."""
    chain = Echo(memory=ForgettingChainMemory(memory))
    assert chain.invoke({"question": "Which kite?"})["answer"] == "seen: 0"
    assert "Which kite?" in load(chain.memory, "anything")
    assert chain.memory.memory_variables == ["memories"]


async def test_an_async_chain_runs_with_it(memory):
    """The async twins do the same."""
    chain = Echo(memory=ForgettingChainMemory(memory))
    await chain.ainvoke({"question": "Which kite?"})
    found = await chain.memory.aload_memory_variables({"question": "kite"})
    assert "seen: 0" in found["memories"]
    await chain.memory.aclear()
    assert len(memory) == 0


def test_what_matches_the_input_comes_first(memory):
    """Found memories stand before the merely recent ones, each once."""
    for name in ("anchor", "kite", "lantern"):
        memory.remember(name, f"The {name} hangs in the shed.")
    text = load(ForgettingChainMemory(memory), "Where is the lantern?")
    assert text.startswith('<memory name="lantern">')
    assert text.count("<memory") == 3


def test_the_budget_holds(memory):
    """No more is given than the budget allows, and nothing at 0."""
    for number in range(20):
        memory.remember(f"note {number}", "The kite is red. " * 10)
    text = load(ForgettingChainMemory(memory, budget_tokens=100), "kite")
    assert 0 < len(text) <= 400
    assert not load(ForgettingChainMemory(memory, budget_tokens=0), "kite")


def test_each_run_lets_memories_fade(memory, clock):
    """What nobody used for its time is gone with the next run."""
    memory.remember("kite", "The kite is red.")
    clock.now += timedelta(days=11)
    assert not load(ForgettingChainMemory(memory), "kite")
    assert len(memory) == 0


def test_clear_forgets_everything(memory, clock):
    """After clearing, nothing is left, what had faded included."""
    memory.remember("old", "Old.")
    clock.now += timedelta(days=11)
    memory.remember("new", "New.")
    ForgettingChainMemory(memory).clear()
    assert len(memory) == 0


def test_clear_bears_another_process(memory, monkeypatch):
    """A memory that someone else forgot meanwhile is no error."""
    memory.remember("kite", "The kite is red.")
    chain_memory = ForgettingChainMemory(memory)
    live = memory.live_at()
    memory.forget("kite")
    monkeypatch.setattr(type(memory), "live_at", lambda _: live)
    chain_memory.clear()
    assert len(memory) == 0


def test_named_keys_choose_what_is_remembered(memory):
    """Of several inputs and outputs the named ones count."""
    chain_memory = ForgettingChainMemory(memory, input_key="q", output_key="a")
    chain_memory.save_context({"q": "one", "x": "two"}, {"a": "three", "b": "four"})
    (name,) = memory.live_at()
    assert memory.recall(name) == "q: one\na: three"
    assert memory.describe(name).source == "assistant"


@pytest.mark.parametrize(
    ("options", "inputs"),
    [({}, {"q": "one", "x": "two"}), ({"input_key": "q"}, {"x": "two"}), ({}, {})],
)
def test_an_unclear_input_is_refused(memory, options, inputs):
    """Without one clear input nothing is remembered."""
    chain_memory = ForgettingChainMemory(memory, **options)
    with pytest.raises(InvalidInputError, match="input_key"):
        chain_memory.save_context(inputs, {"a": "three"})
    assert len(memory) == 0


@pytest.mark.parametrize("option", ["budget_tokens", "k"])
def test_a_bad_number_is_refused(memory, option):
    """Counts are whole numbers of at least 0."""
    with pytest.raises(InvalidInputError, match=option):
        ForgettingChainMemory(memory, **{option: -1})


def test_a_missing_extra_says_what_to_install(monkeypatch):
    """Without langchain_classic the import tells the command."""
    monkeypatch.setitem(sys.modules, "langchain_classic.base_memory", None)
    with pytest.raises(MissingExtraError, match=r"langchain-memkit\[classic\]"):
        reload(module)
