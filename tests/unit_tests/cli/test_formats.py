"""Messages of every format become the LangChain messages that they stand for."""

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)

from langchain_memkit.cli.formats import is_message, read_messages
from langchain_memkit.exceptions import InvalidInputError

CALL = {"name": "find", "args": {"q": "kite"}, "id": "c1", "type": "tool_call"}
HISTORY = [
    SystemMessage("Be brief."),
    HumanMessage("Find kites."),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("Two kites.", tool_call_id="c1", name="find"),
    AIMessage([{"type": "text", "text": "There are two."}]),
    ChatMessage("Note.", role="developer"),
    FunctionMessage("Done.", name="end"),
]


def openai_call(arguments, **changes):
    """Make an assistant message with one call."""
    function = {"name": "find", "arguments": arguments}
    call = {"id": "c1", "type": "function", "function": function, **changes}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize(
    "write",
    [messages_to_dict, lambda ms: [m.model_dump() for m in ms], dumpd],
    ids=["messages_to_dict", "model_dump", "dumpd"],
)
def test_langchain_messages_come_back_as_they_were(write):
    """What LangChain writes is read back equal."""
    found = read_messages(write(HISTORY))
    assert [m.model_dump() for m in found] == [m.model_dump() for m in HISTORY]


def test_a_chunk_becomes_a_whole_message():
    """A streamed message that was saved is read as a message."""
    (found,) = read_messages(messages_to_dict([AIMessageChunk("Hello")]))
    assert type(found) is AIMessage


def test_openai_roles_become_types():
    """Every role of a chat request has its message."""
    roles = ["system", "developer", "user", "assistant"]
    found = read_messages([{"role": role, "content": "x"} for role in roles])
    assert [m.type for m in found] == ["system", "system", "human", "ai"]
    assert found[1].additional_kwargs == {"__openai_role__": "developer"}


def test_openai_calls_and_results_are_read():
    """Arguments are parsed; a result keeps its call id, name and status."""
    answer = {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "two"}
    asked, answered = read_messages(
        [openai_call('{"q": "kite"}'), {**answer, "status": "error"}]
    )
    assert asked.tool_calls == [CALL]
    assert (answered.tool_call_id, answered.name) == ("c1", "find")
    assert answered.status == "error"


@pytest.mark.parametrize("arguments", ['{"q": ', "[1]", "[" * 100_000])
def test_broken_arguments_make_an_invalid_call(arguments):
    """A call that a model wrote badly is kept, as LangChain keeps it."""
    (found,) = read_messages([openai_call(arguments)])
    assert found.tool_calls == []
    assert found.invalid_tool_calls[0]["args"] == arguments


@pytest.mark.parametrize("arguments", [None, "", {}, "{}"])
def test_no_arguments_are_an_empty_object(arguments):
    """A call without arguments is a call."""
    (found,) = read_messages([openai_call(arguments)])
    assert found.tool_calls[0]["args"] == {}


def test_legacy_function_calls_are_kept():
    """The old form stands where LangChain looks for it."""
    call = {"name": "find", "arguments": "{}"}
    asked, done = read_messages(
        [
            {"role": "assistant", "content": None, "function_call": call},
            {"role": "function", "name": "find", "content": "two"},
        ]
    )
    assert asked.additional_kwargs == {"function_call": call}
    assert (done.type, done.name) == ("function", "find")


def test_a_refusal_is_the_text():
    """A refused answer is not an empty message."""
    message = {"role": "assistant", "content": None, "refusal": "I cannot."}
    assert read_messages([message])[0].content == "I cannot."


def test_anthropic_results_become_messages_of_their_own():
    """Results of one user message come apart, its text stays behind them."""
    blocks = [
        {"type": "tool_result", "tool_use_id": "a", "content": "one"},
        {"type": "tool_result", "tool_use_id": "b", "is_error": True},
        {"type": "text", "text": "Go on."},
    ]
    first, second, rest = read_messages([{"role": "user", "content": blocks}])
    assert (first.content, first.tool_call_id, first.status) == ("one", "a", "success")
    assert (second.content, second.status) == ("", "error")
    assert rest.content == [{"type": "text", "text": "Go on."}]


def test_anthropic_results_alone_make_no_user_message():
    """Nothing is made up where only results stand."""
    blocks = [{"type": "tool_result", "tool_use_id": "a", "content": "one"}]
    assert [m.type for m in read_messages([{"role": "user", "content": blocks}])] == [
        "tool"
    ]


def test_anthropic_calls_and_thinking_are_read():
    """Calls are found in the blocks, and the blocks stay."""
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "kite"}},
    ]
    (found,) = read_messages([{"role": "assistant", "content": blocks}])
    assert found.tool_calls == [CALL]
    assert found.content == blocks
    assert found.response_metadata == {"model_provider": "anthropic"}


def test_the_anthropic_system_prompt_leads():
    """The prompt beside the messages becomes the first message."""
    found = read_messages([{"role": "user", "content": "Hi"}], system="Be brief.")
    assert [(m.type, m.content) for m in found] == [
        ("system", "Be brief."),
        ("human", "Hi"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        "text",
        {},
        {"role": "robot", "content": "x"},
        {"role": ["user"], "content": "x"},
        {"role": "user", "content": 5},
        {"role": "user", "content": [5]},
        {"role": "tool", "content": "no call id"},
        openai_call("{}", function=None),
        {"role": "assistant", "content": "", "tool_calls": [7]},
        {"type": "robot", "data": {}},
        {"type": ["ai"], "data": {}},
        {"type": "ai", "data": 5},
        {"type": "tool", "data": {"content": "no call id"}},
        {"lc": 1, "type": "constructor", "id": [], "kwargs": {}},
        {"lc": 1, "type": "constructor", "id": ["os", "Popen"], "kwargs": {}},
    ],
)
def test_what_is_no_message_is_refused_with_its_place(value):
    """The error says which message of which conversation it is."""
    good = {"role": "user", "content": "Hello"}
    with pytest.raises(InvalidInputError, match="run 7, message 2"):
        read_messages([good, value], where="run 7")


def test_a_conversation_is_no_message():
    """An object with messages is taken for a conversation whatever else it has."""
    assert not is_message({"role": "user", "messages": []})
    assert is_message({"type": "human", "content": ""})
