import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from langchain_memkit import ApproximateCounter
from langchain_memkit.testing import ModelCall, ScriptedChatModel, tool_loop

CALL = {"name": "look_up", "args": {"topic": "kites"}, "id": "c1", "type": "tool_call"}


@tool
def look_up(topic: str) -> str:
    """Look a topic up."""
    return topic


def test_answers_come_in_the_order_of_the_script():
    """A list is read one answer a call, texts and messages alike."""
    model = ScriptedChatModel(script=["one", AIMessage("two")])
    assert [model.invoke("?").text, model.invoke("?").text] == ["one", "two"]


def test_a_function_sees_the_messages():
    """A script may be a function of what was sent."""
    model = ScriptedChatModel(script=lambda messages: f"{len(messages)} sent")
    assert model.invoke([SystemMessage("s"), HumanMessage("h")]).text == "2 sent"


def test_an_exception_in_the_script_is_raised_once():
    """A failing call is part of a script, and counts as one."""
    model = ScriptedChatModel(script=[TimeoutError("slow"), "fine"])
    with pytest.raises(TimeoutError, match="slow"):
        model.invoke("?")
    assert model.invoke("?").text == "fine"


def test_tools_are_kept_with_each_call():
    """What was bound is counted with the prompt."""
    model = ScriptedChatModel(script=["fine", "fine"])
    model.bind_tools([look_up], tool_choice="any").invoke("?")
    model.invoke("?")
    with_tools, without = model.calls
    assert with_tools.tools[0]["function"]["name"] == "look_up"
    counter = ApproximateCounter()
    assert with_tools.count(counter) > without.count(counter)


@pytest.mark.parametrize("content", ["Looking.", [{"type": "text", "text": "Look."}]])
def test_a_stream_adds_up_to_the_answer(content):
    """Chunks joined are the answer, tool calls included."""
    answer = AIMessage(content, tool_calls=[CALL], id="a1")
    chunks = list(ScriptedChatModel(script=[answer]).stream("?"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert (whole.text, whole.tool_calls, whole.id) == (answer.text, [CALL], "a1")


async def test_async_calls_follow_the_script_too():
    """The same script serves async calls and streams."""
    model = ScriptedChatModel(script=["one", "two"])
    assert (await model.ainvoke("?")).text == "one"
    assert "".join([chunk.text async for chunk in model.astream("?")]) == "two"


def test_the_script_is_not_handed_out_itself():
    """An answer that is changed later leaves the script as it was."""
    answer = AIMessage("fine")
    model = ScriptedChatModel(script=lambda _: answer)
    assert model.invoke("?") is not answer


def test_a_shared_prefix_is_counted_in_messages():
    """Equal beginnings count, whatever follows."""
    first = ModelCall((HumanMessage("a"), HumanMessage("b")))
    later = ModelCall((HumanMessage("a"), HumanMessage("c"), HumanMessage("d")))
    assert first.prefix_of(later) == 1


def test_a_whole_prompt_may_be_the_prefix():
    """Where the later prompt goes on, all of the earlier one is shared."""
    first = ModelCall((HumanMessage("a"),))
    assert first.prefix_of(ModelCall((HumanMessage("a"), HumanMessage("b")))) == 1


async def test_chunks_are_told_to_callbacks():
    """A streamed answer reaches the callbacks of the run, chunk by chunk."""
    model = ScriptedChatModel(script=["fine"])
    kinds = [event["event"] async for event in model.astream_events("?", version="v2")]
    assert kinds.count("on_chat_model_stream") == 2


def test_a_tool_loop_goes_on_from_the_last_result():
    """The next step follows from the last message alone."""
    script = tool_loop(3, tool="look_up")
    (call,) = script([ToolMessage("x", tool_call_id="step-2")]).tool_calls
    assert (call["name"], call["args"], call["id"]) == (
        "look_up",
        {"step": 3},
        "step-3",
    )
    assert script([ToolMessage("x", tool_call_id="step-3")]) == "Done."


def test_a_tool_loop_starts_after_anything_else():
    """A user's message or another tool's result starts the loop."""
    script = tool_loop(3, tool="look_up")
    for message in (HumanMessage("Go."), ToolMessage("x", tool_call_id="other-2")):
        assert script([message]).tool_calls[0]["id"] == "step-1"
