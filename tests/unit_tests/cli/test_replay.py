"""A replayed call is what a provider would get and bill."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_memkit.cli.replay import Gauge, call_points, replay
from langchain_memkit.counters.approximate import ApproximateCounter

COUNT = ApproximateCounter()


def calls_of(messages, send=list, *, budget=10_000, faults=()):
    """Replay a conversation."""
    return list(
        replay(
            messages,
            send,
            budget_tokens=budget,
            gauge=Gauge(messages, COUNT),
            validate=lambda sent: faults,
        )
    )


def test_calls_come_after_questions_and_whole_steps(conversation):
    """A model is called when all results of its calls are there."""
    assert call_points(conversation) == [2, 4, 6, 8, 10, 12, 14]
    parallel = [*conversation[:4], ToolMessage("more", tool_call_id="d")]
    assert call_points(parallel) == [2, 5]


def test_a_growing_prompt_is_cached_but_for_its_end(conversation):
    """Each prompt repeats the one before it."""
    calls = calls_of(conversation)
    assert [c.cached_tokens for c in calls] == [0, *(c.tokens for c in calls[:-1])]
    assert calls[-1].tokens == COUNT(conversation[:-1])


def test_a_changed_beginning_is_not_cached(conversation):
    """Caching ends at the first message that differs."""
    calls = calls_of(conversation, lambda ms: [SystemMessage(f"{len(ms)}"), *ms])
    assert [c.cached_tokens for c in calls] == [0] * 7


def test_all_in_budget_is_valid_met_and_usable(conversation):
    """Nothing is missing where everything is sent."""
    assert all(c.is_met and c.is_valid and c.is_usable for c in calls_of(conversation))
    assert {c.fresh for c in calls_of(conversation)} == {None}


def test_over_budget_is_not_usable(conversation):
    """A prompt that does not fit cannot be sent."""
    last = calls_of(conversation, budget=100)[-1]
    assert (last.is_met, last.is_valid, last.is_usable) == (False, True, False)
    assert last.fresh == 1.0


def test_an_invalid_prompt_is_not_usable(conversation):
    """A prompt that a provider refuses cannot be used."""
    last = calls_of(conversation, faults=["orphan"])[-1]
    assert (last.is_met, last.is_valid, last.is_usable) == (True, False, False)


@pytest.mark.parametrize(
    "send",
    [
        lambda ms: [],
        lambda ms: ms[:1],
        lambda ms: ms[1:],
        lambda ms: ms[:-1],
        lambda ms: [m for m in ms if m.type != "human"],
        lambda ms: [*ms[:-1], HumanMessage("something else")],
    ],
    ids=["nothing", "system only", "no system", "no last", "no user", "other last"],
)
def test_without_what_matters_it_is_not_usable(conversation, send):
    """The system messages, a user message and the last message have to be there."""
    assert not calls_of(conversation, send)[-1].is_usable


def test_a_clipped_last_result_is_still_the_last_message(conversation):
    """A result may be shortened to fit, if it answers the same call."""
    clip = conversation[3].model_copy(update={"content": "Page 0"})
    assert calls_of(conversation[:4], lambda ms: [*ms[:-1], clip])[-1].is_usable


def test_a_conversation_without_a_user_needs_none():
    """A user message cannot be asked for where there was none."""
    call = {"name": "f", "args": {}, "id": "1"}
    history = [AIMessage("", tool_calls=[call]), ToolMessage("x", tool_call_id="1")]
    assert calls_of(history)[0].is_usable


def test_fresh_is_the_share_of_new_results_word_for_word(conversation):
    """Only the newest five results count, and only whole ones."""
    calls = calls_of(conversation, lambda ms: ms[-2:], budget=1)
    assert [c.fresh for c in calls] == [None, 1.0, 0.5, 1 / 3, 0.25, 0.2, 0.2]


def test_departures_are_told_once(conversation):
    """What is gone is told at the call that misses it first."""
    calls = calls_of(conversation, lambda ms: ms[-4:])
    assert [c.gone for c in calls[:4]] == [(), (), (0, 1), (2, 3)]
    assert {c.cut for c in calls} == {()}


def test_a_cut_is_told_once(conversation):
    """What is shortened is told at the first call that shortens it."""
    stub = conversation[3].model_copy(update={"content": "…"})
    calls = calls_of(conversation, lambda ms: [stub if m.id == "x" else m for m in ms])
    assert {c.cut for c in calls} == {()}
    conversation[3].id = "x"
    calls = calls_of(conversation, lambda ms: [stub if m.id == "x" else m for m in ms])
    assert [c.cut for c in calls[:4]] == [(), (3,), (), ()]


def test_a_gauge_counts_known_messages_once(conversation):
    """Counting a conversation again and again costs nothing."""
    counted = []

    class Counter(ApproximateCounter):
        def count_messages(self, messages):
            counted.extend(messages)
            return super().count_messages(messages)

    gauge = Gauge(conversation, Counter())
    assert gauge(conversation) == gauge(conversation) == COUNT(conversation)
    assert len(counted) == len(conversation)
    assert gauge([HumanMessage("new")]) == COUNT([HumanMessage("new")])
