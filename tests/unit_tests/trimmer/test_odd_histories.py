"""Histories that are rare, and what must hold for them all the same."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda

from langchain_memkit import (
    ApproximateCounter,
    EpisodeTrimmer,
    InvalidInputError,
    pin,
    validate_history,
)


def call(name):
    return {"name": "look", "args": {}, "id": name, "type": "tool_call"}


def test_law_1_turns_after_a_kept_step_leave_too():
    """A turn that has to stay does not keep those that came after it."""
    history = [
        HumanMessage("Begin."),
        HumanMessage("Start the long job."),
        AIMessage("", tool_calls=[call("job")]),
        *(HumanMessage(f"Note {n}. " + "still here " * 20) for n in range(30)),
        HumanMessage("Is it done?"),
        ToolMessage("Done.", tool_call_id="job"),
    ]
    trimmer = EpisodeTrimmer(max_tokens=300)
    sent = trimmer.invoke(history)
    assert ApproximateCounter()(sent) <= 300
    assert trimmer.explain(history).verify(history, sent) == []


@pytest.mark.parametrize("times", [0, 2])
def test_law_2_a_fallback_sends_each_system_message_once(times):
    """Leaving a rule out, or saying it twice, is refused."""
    rule, last = SystemMessage("Never guess. " * 20), HumanMessage("Go on. " * 40)
    fallback = RunnableLambda(lambda _: [*[rule] * times, last])
    trimmer = EpisodeTrimmer(max_tokens=20, on_overflow=fallback)
    with pytest.raises(InvalidInputError, match="verbatim, once"):
        trimmer.invoke([rule, last])


def test_law_2_a_fallback_that_keeps_every_rule_is_taken():
    """An answer with each system message once is sent as it is."""
    rules = [SystemMessage("Never guess. " * 9), SystemMessage("Be brief. " * 9)]
    kept = [*rules, HumanMessage("Go on.")]
    trimmer = EpisodeTrimmer(max_tokens=20, on_overflow=RunnableLambda(lambda _: kept))
    assert trimmer.invoke([*rules, HumanMessage("Go on. " * 40)]) == kept


def test_law_3_a_pinned_result_may_stand_in_front_with_its_call():
    """A pin goes before the rule that the user's message comes first."""
    history = [
        HumanMessage("Look it up. " * 60),
        AIMessage("", tool_calls=[call("a")]),
        pin(ToolMessage("Pinned answer.", tool_call_id="a")),
        AIMessage("Found. " * 60),
        HumanMessage("And now?"),
    ]
    trimmer = EpisodeTrimmer(max_tokens=80, pin_first_user=False)
    sent = trimmer.invoke(history)
    assert sent[1].content == "Pinned answer."
    assert trimmer.explain(history).verify(history, sent) == []


def test_law_3_a_raw_form_stays_with_the_call_that_it_repeats():
    """Taking an invalid call out leaves the raw form of a good one alone."""
    head = AIMessage(
        "",
        tool_calls=[call("a")],
        invalid_tool_calls=[{"name": "bad", "args": "{", "id": "x", "error": "cut"}],
        additional_kwargs={"function_call": {"name": "look", "arguments": "{}"}},
    )
    answer = ToolMessage("Yes.", tool_call_id="a")
    history = [HumanMessage("Look."), head, answer, HumanMessage("Thanks.")]
    sent = EpisodeTrimmer(max_tokens=500).invoke(history)
    assert validate_history(sent) == []
    assert sent[1].invalid_tool_calls == []
    assert "function_call" in sent[1].additional_kwargs


def test_law_5_every_result_that_moves_is_marked():
    """Of two results that come late, both stand elsewhere than they did."""
    history = [
        HumanMessage("Look twice."),
        AIMessage("", tool_calls=[call("a"), call("b")]),
        HumanMessage("Hurry."),
        ToolMessage("One.", tool_call_id="a"),
        ToolMessage("Two.", tool_call_id="b"),
        AIMessage("One and two."),
        HumanMessage("Thanks."),
    ]
    trimmer = EpisodeTrimmer(max_tokens=500)
    sent = trimmer.invoke(history)
    assert [m.content for m in sent[2:4]] == ["One.", "Two."]
    assert all("langchain_memkit" in m.additional_kwargs for m in sent[2:4])
    rows = trimmer.explain(history).rows
    assert [row.action for row in rows[3:5]] == ["repaired", "repaired"]
