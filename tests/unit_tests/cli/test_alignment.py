"""What a prompt lacks is found, however it was made."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_memkit.cli import alignment
from langchain_memkit.cli.alignment import find_absent, identity


def test_the_same_objects_are_there():
    """What stands in the prompt is neither gone nor cut."""
    first, second, third = (HumanMessage(text) for text in "abc")
    history = [first, second, third]
    assert find_absent(history, [first, third]) == ({1}, set())


def test_equal_copies_are_there():
    """A method may copy messages."""
    history = [HumanMessage("a"), HumanMessage("b")]
    assert find_absent(history, [history[1].model_copy()]) == ({0}, set())


def test_a_shorter_result_of_the_same_call_is_cut():
    """The stub of a result stands for it, not for another one."""
    history = [ToolMessage(text, tool_call_id=text) for text in ("one", "two")]
    stub = ToolMessage("…", tool_call_id="two")
    assert find_absent(history, [stub]) == ({0}, {1})


def test_an_assistant_message_without_its_thinking_is_cut():
    """The same calls make it the same message."""
    history = [HumanMessage("a"), AIMessage([{"type": "thinking", "thinking": "Hm"}])]
    assert find_absent(history, [history[0], AIMessage("")]) == (set(), {1})


def test_a_message_of_nowhere_stands_for_nothing():
    """A summary that a method put in hides no departure."""
    history = [HumanMessage("a"), HumanMessage("b")]
    prompt = [HumanMessage("summary"), AIMessage("summary"), history[1]]
    assert find_absent(history, prompt) == ({0}, set())


def test_repeated_messages_are_counted():
    """One of two equal messages leaves one gone."""
    history = [HumanMessage("yes"), HumanMessage("yes")]
    assert find_absent(history, [HumanMessage("yes")]) == ({1}, set())
    assert find_absent(history, [history[1]]) == ({0}, set())


def test_a_long_history_is_gone_through_once(monkeypatch):
    """Many stubs cost no more than their number."""
    history = [ToolMessage(f"text {n}", tool_call_id=f"{n}") for n in range(3000)]
    prompt = [ToolMessage("…", tool_call_id=m.tool_call_id) for m in history]
    asked = []
    monkeypatch.setattr(alignment, "identity", lambda m: asked.append(1) or identity(m))
    assert find_absent(history, prompt) == (set(), set(range(3000)))
    assert len(asked) < 5 * len(history)


def test_identity_tells_what_is_sent_apart():
    """Content, calls and call ids each make a difference."""
    call = {"name": "f", "args": {}, "id": "1"}
    messages = [
        AIMessage("a"),
        AIMessage(["a"]),
        AIMessage("a", tool_calls=[call]),
        HumanMessage("a"),
        ToolMessage("a", tool_call_id="1"),
        ToolMessage("a", tool_call_id="2"),
    ]
    assert len({identity(m) for m in messages}) == len(messages)
