"""What a message is to the package: kind, calls, results, marks."""

import pytest
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit.messages import (
    archive_text,
    block_call_id,
    call_ids,
    is_blank,
    kind_of,
    mark_of,
    pin,
    recall_key,
    resident_tokens,
    says_something,
    text_of,
    without_marks,
)


def call(name):
    return {"name": "tide", "args": {}, "id": name, "type": "tool_call"}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (SystemMessage("a"), "constraint"),
        (ChatMessage("a", role="system"), "constraint"),
        (ChatMessage("a", role="user"), "user_turn"),
        (ChatMessage("a", role="assistant"), "agent_reasoning"),
        (FunctionMessage("a", name="f"), "action_result"),
        (AIMessage("a"), "agent_reasoning"),
    ],
)
def test_every_message_has_a_kind(message, kind):
    """Classes and roles are mapped, whatever the class."""
    assert kind_of(message) == kind


def ai(content="", **fields):
    return AIMessage(content, **fields)


BLOCK = {"type": "tool_use", "id": "a", "name": "tide", "input": {}}
LEGACY = {"function_call": {"name": "tide", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "ids"),
    [
        (HumanMessage("a"), ()),
        (ai(tool_calls=[call("a"), call(None)]), ("a", "")),
        (ai([BLOCK], tool_calls=[call("a")]), ("a",)),
        (ai([BLOCK, BLOCK, "text"], tool_calls=[call("a")]), ("a", "a")),
        (ai(additional_kwargs=LEGACY), ("fn:tide",)),
        (ai(tool_calls=[call("a")], additional_kwargs=LEGACY), ("a",)),
        (ai(additional_kwargs={"function_call": "odd"}), ()),
    ],
)
def test_each_call_is_found_once(message, ids):
    """A call that stands in two places of a message is one call."""
    assert call_ids(message) == ids


@pytest.mark.parametrize("block", ["text", {"type": "text"}, {"type": ["odd"]}, {}])
def test_other_blocks_make_no_call(block):
    """Only blocks that call a tool have the id of a call."""
    assert block_call_id(block) is None


@pytest.mark.parametrize(
    ("message", "blank"),
    [
        (HumanMessage(""), True),
        (HumanMessage([{"type": "text", "text": None}, " "]), True),
        (HumanMessage(["hi"]), False),
        (HumanMessage([{"type": "image", "url": "x"}]), False),
        (ai(tool_calls=[call("a")]), False),
        (ai(additional_kwargs={"refusal": "No."}), False),
    ],
)
def test_blank_is_what_providers_refuse_as_empty(message, blank):
    """Neither text nor any other block nor a call."""
    assert is_blank(message) is blank


def test_content_of_no_known_form_says_nothing():
    """A message that was built without checks does not break anything."""
    odd = HumanMessage("x").model_copy(update={"content": None})
    assert (text_of(odd), says_something(odd)) == ("", False)
    assert text_of(HumanMessage([{"type": "text", "text": None}, "a"])) == "a"
    assert archive_text(odd) == "null"


def test_marks_live_in_metadata_and_can_be_taken_off():
    """Text that looks like a key is no key, and marks of others are dropped."""
    message = HumanMessage("recall key: 0123456789abcdef", additional_kwargs={"x": 1})
    assert recall_key(message) is None
    assert without_marks(message) is message
    assert without_marks(pin(message)) == message
    odd = HumanMessage("a", additional_kwargs={"langchain_memkit": "pinned"})
    assert mark_of(odd) == {}
    assert resident_tokens(odd) is None


def test_a_result_answers_by_id():
    """Results know their call by id, a legacy one by name."""
    from langchain_memkit.messages import result_id

    assert result_id(ToolMessage("a", tool_call_id="c")) == "c"
    assert result_id(FunctionMessage("a", name="f")) == "fn:f"
