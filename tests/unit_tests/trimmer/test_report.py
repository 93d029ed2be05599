"""What a report tells: rows, totals, a proof, another budget, tables."""

import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit import EpisodeTrimmer, InvalidInputError, TrimReport
from langchain_memkit.core.keys import content_key
from langchain_memkit.messages import mark_resident
from langchain_memkit.trimmer import TrimCall

LONG = "The tide turns at noon. " * 40


def call(name):
    return {"name": "tide", "args": {}, "id": name, "type": "tool_call"}


def loop(steps, result=LONG):
    history = [HumanMessage("When does the tide turn?")]
    for k in range(steps):
        history.append(AIMessage("", tool_calls=[call(f"c{k}")]))
        history.append(ToolMessage(result, tool_call_id=f"c{k}", name="search"))
    return history


class Shelf:
    def archive(self, entries):
        raise AssertionError(entries)

    aarchive = archive


def actions(report):
    return [row.action for row in report.rows]


def test_rows_tell_what_became_of_each_message_and_nothing_leaves():
    """Stubs and evictions are told with their reason and key; no memory is written."""
    trimmer = EpisodeTrimmer(
        2_000, target_tokens=1_900, memory=Shelf(), observation_tools=["search"]
    )
    report = trimmer.explain(loop(9))
    assert set(actions(report)) == {"kept", "stubbed"}
    row = next(row for row in report.rows if row.action == "stubbed")
    assert (row.kind, row.key) == ("observation", content_key(LONG))
    assert row.reason == "result older than the newest steps"


def test_clips_and_evictions_are_told():
    """The current result was cut, the steps before it left."""
    report = EpisodeTrimmer(200).explain(loop(2))
    assert actions(report) == ["kept", "evicted", "evicted", "kept", "clipped"]
    tight = EpisodeTrimmer(45).explain(loop(2))
    assert actions(tight)[-1] == "stubbed"


def test_repairs_are_told():
    """Every repair has its row and its reason."""
    signed = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    history = [
        RemoveMessage(id="x"),
        HumanMessage(""),
        AIMessage(""),
        AIMessage("", tool_calls=[call("a"), call("b")]),
        HumanMessage("Still there?"),
        ToolMessage("noon", tool_call_id="b"),
        ToolMessage("who?", tool_call_id="z"),
        SystemMessage("metric"),
        AIMessage([signed, {"type": "text", "text": "Noon."}]),
        mark_resident(HumanMessage("likes teal"), 20),
        HumanMessage("Thanks."),
    ]
    options = {"system_messages": "hoist", "reasoning": "drop"}
    report = EpisodeTrimmer(500, **options).explain(history)
    assert [row.reason for row in report.rows] == [
        "an instruction to remove",
        "empty message",
        "nothing is left of it",
        "calls without results",
        "",
        "moved up to its call",
        "result without a call",
        "moved up to the leading system messages",
        "reasoning is dropped",
        "memories",
        "",
    ]


def test_reasoning_that_was_stripped_is_told():
    """The message stands, its reasoning does not."""
    signed = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    old = AIMessage([signed, {"type": "text", "text": "Noon."}])
    history = [HumanMessage("a"), AIMessage(LONG), HumanMessage("b"), old]
    history.append(HumanMessage("c" * 60))
    report = EpisodeTrimmer(285, target_tokens=285).explain(history)
    assert actions(report) == ["kept", "evicted", "kept", "stripped", "kept"]


def test_a_floor_over_budget_is_told_and_not_raised():
    """Explaining never raises for a budget that is too small."""
    report = EpisodeTrimmer(5).explain([HumanMessage("tide " * 20)])
    assert not report.within_budget
    assert [f.rule for f in report.verify([("user", "x")], [("user", "x")])] == [
        "law-1-budget"
    ]


def test_an_overhead_is_told():
    """What is sent beside the messages is in the report."""
    report = EpisodeTrimmer(500).explain(loop(1), TrimCall(overhead_tokens=40))
    assert (report.overhead_tokens, report.within_budget) == (40, True)


def test_the_share_that_repeats_the_prompt_before():
    """All of it but the new step repeats, unless something left in between."""
    trimmer = EpisodeTrimmer(2_000)
    assert trimmer.explain(loop(0)).repeated_share == 0
    assert 0.7 < trimmer.explain(loop(4)).repeated_share < 1
    assert trimmer.explain(loop(8)).repeated_share < 0.5
    assert trimmer.explain([]).repeated_share == 0


def test_the_proof_finds_what_breaks_a_law():
    """A foreign output is held to the laws, whoever made it."""
    history = [SystemMessage("metric"), *loop(2), HumanMessage("And?")]
    report = EpisodeTrimmer(1_000).explain(history)
    assert report.verify(history, history) == []

    def broken(after):
        return {fault.rule for fault in report.verify(history, after)}

    assert broken(history[1:]) == {"law-2-pins"}
    assert broken([*history[:2], *history[3:]]) == {"result-without-call"}
    assert broken([history[0]]) == {"law-4-present"}
    assert broken([]) == {"law-2-pins", "law-4-present"}
    assert broken([history[0], history[-1], history[1]]) == {"law-5-order"}
    assert broken([*history[:-1], HumanMessage("Other")]) == {
        "law-4-present",
        "law-5-order",
    }


def test_the_proof_wants_the_user_in_front_once_something_left():
    """The rule holds for evictions, not for what came without them."""
    history = [AIMessage("Hello. " * 40), HumanMessage("Go."), AIMessage("Yes.")]
    history.append(HumanMessage("Now."))
    report = EpisodeTrimmer(40).explain(history)
    found = report.verify(history, [history[2], history[3]])
    assert [fault.rule for fault in found] == ["law-3-front"]
    assert report.verify([SystemMessage("a")], [SystemMessage("a")]) == []


def test_another_budget_is_tried_without_side_effects():
    """`what_if` gives the report of another trimmer, target in proportion."""
    trimmer, history = EpisodeTrimmer(2_000, target_tokens=500), loop(6)
    expected = EpisodeTrimmer(400, target_tokens=100).explain(history)
    assert trimmer.explain(history).what_if(400) == expected
    assert trimmer.what_if(history, 400) == expected
    assert trimmer.max_tokens == 2_000
    with pytest.raises(InvalidInputError, match="max_tokens"):
        trimmer.what_if(history, 0)


def test_a_report_survives_json_but_holds_no_messages_then():
    """The fields come back equal; another budget needs the messages."""
    report = EpisodeTrimmer(200).explain(loop(2))
    again = TrimReport.model_validate_json(report.model_dump_json())
    assert again == report
    assert hash(again) == hash(report)
    assert again != "report"
    with pytest.raises(InvalidInputError, match="explain"):
        again.what_if(400)


def test_tables_escape_what_they_show():
    """A notebook shows text, never markup from a memory's name."""
    report = EpisodeTrimmer(200).explain(loop(2))
    rows = tuple(r.model_copy(update={"key": "<b>"}) for r in report.rows)
    shown = report.model_copy(update={"rows": rows})._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "evicted" in str(report)
