import copy

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ContextEditingMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_memkit import (
    ApproximateCounter,
    BudgetExceededError,
    CounterError,
    InvalidInputError,
    validate_history,
)
from langchain_memkit.messages import recall_key
from langchain_memkit.middleware import TrimEpisodesEdit
from langchain_memkit.testing import ScriptedChatModel, tool_loop


def history(steps, look_up):
    messages = [HumanMessage("Go.")]
    for step in range(1, steps + 1):
        messages.append(tool_loop(steps, tool="look_up")([messages[-1]]))
        name = f"step-{step}"
        messages.append(ToolMessage(look_up.func(step), tool_call_id=name))
    return messages


def test_the_edit_trims_in_place(look_up):
    """The list is changed, its messages are not."""
    messages = history(20, look_up)
    before = copy.deepcopy(messages)
    kept = list(messages)
    edit = TrimEpisodesEdit(max_tokens=1_000)
    assert edit.apply(messages, count_tokens=count_tokens_approximately) is None
    assert count_tokens_approximately(messages) <= 1_000
    assert validate_history(messages) == []
    assert kept == before


def test_an_agent_stays_in_budget(memory, look_up):
    """In LangChain's middleware every call is trimmed, and what left is remembered."""
    model = ScriptedChatModel(script=tool_loop(20, tool="look_up"))
    edit = TrimEpisodesEdit(max_tokens=1_000, memory=memory)
    middleware = ContextEditingMiddleware(edits=[edit])
    agent = create_agent(model, [look_up], middleware=[middleware])
    result = agent.invoke({"messages": [HumanMessage("Go.")]})
    assert len(result["messages"]) == 42
    for call in model.calls:
        assert count_tokens_approximately(call.messages) <= 1_000
        for stub in filter(recall_key, call.messages):
            step = int(stub.tool_call_id.rpartition("-")[2])
            assert memory.recall(recall_key(stub)) == look_up.func(step)


def test_a_counter_that_counts_the_system_prompt_is_understood(look_up):
    """What the middleware's counter finds beside the messages is no message's."""

    def count(messages):
        return 300 + count_tokens_approximately(messages)

    messages = history(20, look_up)
    TrimEpisodesEdit(max_tokens=1_000).apply(messages, count_tokens=count)
    assert 500 < count(messages) <= 1_000


def test_a_chosen_counter_counts(look_up):
    """An own counter takes the place of the middleware's."""
    counter = ApproximateCounter(script_aware=True)
    messages = history(20, look_up)
    edit = TrimEpisodesEdit(max_tokens=1_000, token_counter=counter)
    edit.apply(messages, count_tokens=lambda _: 1 / 0)
    assert counter(messages) <= 1_000


def test_the_work_is_not_repeated(look_up):
    """The same counter finds the trimmer of the last call; another gets its own."""
    calls = []

    def count(messages):
        calls.append(len(messages))
        return count_tokens_approximately(messages)

    edit, messages = TrimEpisodesEdit(max_tokens=100_000), history(20, look_up)
    edit.apply(list(messages), count_tokens=count)
    first = len(calls)
    edit.apply(list(messages), count_tokens=count)
    assert len(calls) - first < first / 2
    other = list(messages)
    edit.apply(other, count_tokens=count_tokens_approximately)
    assert other == messages


def test_nothing_to_trim_changes_nothing():
    """No messages stay none, and what fits stays as it is."""
    edit = TrimEpisodesEdit(max_tokens=100)
    for messages in ([], [HumanMessage("Go."), AIMessage("Gone.")]):
        before = list(messages)
        edit.apply(messages, count_tokens=count_tokens_approximately)
        assert messages == before


def test_what_cannot_fit_is_an_error():
    """The list is left as it was."""
    messages = [HumanMessage("word " * 400)]
    with pytest.raises(BudgetExceededError):
        TrimEpisodesEdit(max_tokens=20).apply(
            messages, count_tokens=count_tokens_approximately
        )
    assert len(messages[0].text) == 2_000


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"max_tokens": 0}, InvalidInputError),
        ({"max_tokens": 10, "reasoning": "perhaps"}, InvalidInputError),
        ({"max_tokens": 10, "token_counter": "guess"}, CounterError),
    ],
)
def test_bad_options_are_refused(options, error):
    """Options are checked at once."""
    with pytest.raises(error):
        TrimEpisodesEdit(**options)
