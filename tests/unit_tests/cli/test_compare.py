"""Rows add up what the calls of each method came to."""

import pytest

from langchain_memkit.cli.compare import (
    Row,
    compare,
    count_calls,
    parse_budget,
    summarize,
)
from langchain_memkit.cli.replay import Gauge
from langchain_memkit.cli.transcripts import Transcript
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.exceptions import InvalidInputError


def test_a_number_is_the_budget_of_every_conversation(conversation):
    """Signs that group digits are read."""
    budget = parse_budget(" 8,000 ")
    assert budget.text == "8,000 tokens"
    assert budget.of(conversation, gauge=Gauge(conversation, ApproximateCounter())) == (
        8000
    )


def test_a_share_comes_on_top_of_the_system_messages(conversation):
    """A long policy does not eat the budget."""
    gauge = Gauge(conversation, ApproximateCounter())
    system, rest = gauge(conversation[:1]), gauge(conversation[1:])
    assert parse_budget("12.5%").of(conversation, gauge=gauge) == system + rest // 8
    assert parse_budget("1%").of([], gauge=gauge) == 1


@pytest.mark.parametrize(
    "text",
    ["", "%", "0", "0%", "-5", "101%", "1.5", "1.5.2%", "ten", "٣", "9" * 13, "5.x%"],
)
def test_no_budget_is_refused(text):
    """What is neither tokens nor a share is refused."""
    with pytest.raises(InvalidInputError, match=r"budget.*such as 8000.*25%"):
        parse_budget(text)


def test_every_conversation_runs_with_every_method(conversation, measure):
    """Runs stand conversation by conversation, methods in order."""
    runs = measure(conversation, conversation[:4])
    assert [(r.transcript.name, r.method, len(r.calls)) for r in runs] == [
        ("run#1", "everything", 7),
        ("run#1", "newest", 7),
        ("run#1", "shortened", 7),
        ("run#2", "everything", 2),
        ("run#2", "newest", 2),
        ("run#2", "shortened", 2),
    ]


def test_progress_is_told_call_by_call(conversation, methods):
    """A bar that counts the calls ends full."""
    told = []
    transcripts = [Transcript("run", tuple(conversation))]
    compare(
        transcripts,
        budget=parse_budget("50%"),
        methods=methods,
        counter=ApproximateCounter(),
        validate=lambda sent: [],
        on_call=lambda: told.append(1),
    )
    assert len(told) == count_calls(transcripts, methods) == 21


def test_rows_add_up_the_calls(conversation, measure):
    """Shares are over calls, and repeated tokens cost a part."""
    runs = measure(conversation)
    row = summarize(runs, cached_price=0.25)[0]
    calls = runs[0].calls
    tokens, cached = (
        sum(c.tokens for c in calls),
        sum(c.cached_tokens for c in calls),
    )
    assert (row.prompt_tokens, row.cached) == (tokens, cached / tokens)
    assert row.cost_tokens == round(tokens - 0.75 * cached)
    assert row.met == row.usable == sum(c.is_met for c in calls) / 7
    assert (row.method, row.calls, row.valid, row.fresh) == ("everything", 7, 1, 1)


def test_rows_tell_methods_apart(conversation, measure):
    """What the fixture's methods do wrong shows."""
    everything, newest, shortened = summarize(measure(conversation))
    assert newest.usable < shortened.usable
    assert everything.met < shortened.met
    assert shortened.fresh == pytest.approx(0.2, abs=0.05)


def test_a_conversation_without_calls_makes_an_empty_row(conversation, measure):
    """Nothing is divided by zero."""
    row = summarize(measure(conversation[:1]))[0]
    assert row == Row(
        method="everything",
        calls=0,
        valid=0,
        usable=0,
        met=0,
        prompt_tokens=0,
        cached=0,
        cost_tokens=0,
        fresh=None,
    )
