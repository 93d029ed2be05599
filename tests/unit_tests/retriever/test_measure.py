"""Any counter serves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from langchain_memkit import (
    ApproximateCounter,
    CapsuleRetriever,
    CounterError,
    format_capsules,
    report_of,
)
from langchain_memkit.retriever.measure import text_counter

TEXTS = st.lists(st.text(alphabet="kite wind風<.\n", max_size=200), max_size=6)


def words_of(messages):
    """Count words, and three for each message: not additive over texts."""
    return sum(3 + len(str(message.content).split()) for message in messages)


def superadditive(messages):
    """Count so that twice the text costs four times as much."""
    return sum(len(str(message.content)) for message in messages) ** 2 // 100


COUNTERS = [
    "approximate",
    ApproximateCounter(),
    ApproximateCounter(script_aware=True),
    words_of,
    superadditive,
]


@pytest.mark.parametrize("strategy", ["query", "prefix"])
@pytest.mark.parametrize("counter", COUNTERS)
@settings(max_examples=25)
@given(texts=TEXTS, budget=st.integers(0, 200))
def test_the_budget_holds_by_the_same_counter(counter, strategy, texts, budget):
    """By the counter that was given, what is packed fits the budget."""
    found = CapsuleRetriever(
        base_retriever=RunnableLambda(lambda query: [Document(t) for t in texts]),
        budget_tokens=budget,
        token_counter=counter,
        strategy=strategy,
    ).invoke("kite")
    report = report_of(found)
    assert report.retained_tokens <= budget
    if strategy == "query" and report.capsules:
        assert text_counter(counter)(format_capsules(found)) <= budget


def test_a_generous_counter_is_used_up():
    """Where tokens are longer than four characters, more is packed."""
    notes = [Document(f"Kites number {n} need a steady wind.") for n in range(40)]
    base = RunnableLambda(lambda query: notes)
    few, many = (
        CapsuleRetriever(base_retriever=base, budget_tokens=100, token_counter=c)
        for c in ("approximate", lambda messages: len(messages[0].content) // 8)
    )
    kept = [len(report_of(r.invoke("wind")).capsules) for r in (few, many)]
    assert kept[1] > 1.6 * kept[0]


def test_a_counter_that_raises_is_named():
    """What a counter raises is the cause of the error."""
    with pytest.raises(CounterError, match="KeyError") as caught:
        text_counter(lambda messages: {}["model"])("kite")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("answer", [-1, 1.5, None, True, float("nan")])
def test_what_is_no_count_is_refused(answer):
    """A counter that returns no count raises with what it returned."""
    with pytest.raises(CounterError, match="token_counter"):
        text_counter(lambda messages: answer)("kite")
