"""What providers refuse, and where a history may be cut."""

import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit import InvalidInputError, safe_cut_points, validate_history


def call(name):
    return {"name": "tide", "args": {}, "id": name, "type": "tool_call"}


ASK = HumanMessage("When?")
CALL = AIMessage("", tool_calls=[call("a")])
RESULT = ToolMessage("noon", tool_call_id="a")
RULE = SystemMessage("Be brief.")


@pytest.mark.parametrize(
    ("history", "rules"),
    [
        ([], []),
        ([RULE, ASK, CALL, RESULT], []),
        ([ASK, CALL], []),
        ([ASK, RESULT], ["result-without-call"]),
        ([ASK, CALL, ASK, RESULT], ["call-without-result", "result-without-call"]),
        ([ASK, CALL, RESULT, RESULT], ["result-without-call"]),
        ([ASK, CALL, ASK], ["call-without-result"]),
        ([HumanMessage(" "), AIMessage("")], ["empty-message"]),
        ([AIMessage([]), ASK], ["empty-message"]),
        ([ASK, RemoveMessage(id="x")], ["no-message"]),
        ([SystemMessage(""), ASK, CALL, ToolMessage("", tool_call_id="a")], []),
    ],
)
def test_law_3_the_common_rules(history, rules):
    """Each result at its call, each call answered, nothing empty."""
    assert [fault.rule for fault in validate_history(history)] == rules


@pytest.mark.parametrize(
    ("provider", "history", "rules"),
    [
        ("openai", [CALL, RESULT], []),
        ("openai", [AIMessage("", tool_calls=[call(None)])], ["call-without-id"]),
        ("anthropic", [RULE], ["no-user-message"]),
        ("anthropic", [AIMessage("Hi."), ASK], ["front-not-user"]),
        ("anthropic", [ASK, RULE, ASK], ["late-system-message"]),
        ("google", [RULE, ASK], []),
        ("google", [ASK, RULE], ["late-system-message"]),
    ],
)
def test_law_3_each_provider_adds_its_own(provider, history, rules):
    """What only one provider refuses is found on request."""
    faults = validate_history(history, provider=provider)
    assert [fault.rule for fault in faults] == rules


def test_an_unknown_provider_is_refused():
    """The error names the providers that are known."""
    with pytest.raises(InvalidInputError, match="anthropic, google, openai"):
        validate_history([], provider="other")


@pytest.mark.parametrize(
    ("history", "points"),
    [
        ([], [0]),
        ([ASK, CALL, RESULT, ASK], [0, 1, 3, 4]),
        ([ASK, CALL], [0, 1]),
        ([ASK, CALL, ASK, RESULT, ASK], [0, 1, 4, 5]),
        ([ASK, CALL, ASK], [0, 1, 2, 3]),
        ([RESULT, CALL, RESULT, RESULT], [0, 1, 3, 4]),
        ([CALL, CALL, RESULT], [0, 1, 3]),
    ],
)
def test_law_3_no_cut_parts_a_call_from_its_result(history, points):
    """A cut lies neither between a call and its result nor after a pending call."""
    assert safe_cut_points(history) == points


def test_dicts_and_tuples_are_taken_as_trim_messages_takes_them():
    """A transcript in plain Python is checked as well."""
    assert validate_history([("user", "Hi."), {"role": "ai", "content": "Yes?"}]) == []
