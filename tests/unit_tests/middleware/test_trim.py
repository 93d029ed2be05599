import asyncio
import copy
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command
from pydantic import BaseModel, Field

from langchain_memkit import (
    ApproximateCounter,
    BudgetExceededError,
    ContextBudget,
    ForgettingMemory,
    InvalidInputError,
    LangGraphMemoryStore,
    SQLMemoryStore,
    StoreError,
    validate_history,
)
from langchain_memkit.core.keys import content_key
from langchain_memkit.messages import recall_key, resident_tokens
from langchain_memkit.middleware import (
    EpisodeTrimMiddleware,
    EvidenceSummarizer,
    ForgettingMemoryMiddleware,
)
from langchain_memkit.testing import ScriptedChatModel, tool_loop

THREAD = {"configurable": {"thread_id": "t1"}}
COUNT = ApproximateCounter()


def agent_of(script, *middleware, tools=(), profile=None, **options):
    model = ScriptedChatModel(script=script, profile=profile)
    options.setdefault("checkpointer", InMemorySaver())
    agent = create_agent(model, list(tools), middleware=list(middleware), **options)
    return agent, model


def say(text="Go."):
    return {"messages": [HumanMessage(text)]}


def looping(look_up, steps, *middleware, **options):
    """Run an agent that looks things up, and return it with its model."""
    script = tool_loop(steps, tool="look_up")
    agent, model = agent_of(script, *middleware, tools=[look_up], **options)
    agent.invoke(say(), THREAD)
    return agent, model


def stubs(messages):
    return [m for m in messages if recall_key(m) is not None]


class Refusing:
    """An archive whose disk is full."""

    def archive(self, entries):
        raise StoreError("disk", "full")

    async def aarchive(self, entries):
        raise StoreError("disk", "full")


# What the model is sent


def test_every_call_is_within_the_budget_as_sent(memory, look_up):
    """System prompt, tools, memories and messages together keep the budget."""
    memory.remember("tone", "Answer briefly.")
    trim = EpisodeTrimMiddleware(max_tokens=1_500, memory=memory, keep_last_steps=1)
    residents = ForgettingMemoryMiddleware(memory=memory, budget_tokens=100)
    _, model = looping(look_up, 30, residents, trim, system_prompt="Keep it. " * 60)
    counts = [call.count(COUNT) for call in model.calls]
    assert max(counts) <= 1_500
    assert all(validate_history(call.messages) == [] for call in model.calls)
    assert any(stubs(call.messages) for call in model.calls)


def test_the_state_keeps_everything(look_up):
    """By default only the view of the model is trimmed."""
    agent, model = looping(look_up, 30, EpisodeTrimMiddleware(max_tokens=1_000))
    stored = agent.get_state(THREAD).values["messages"]
    assert len(stored) == 62
    assert [m.text for m in stored if m.type == "tool"] == [
        look_up.func(step) for step in range(1, 31)
    ]
    assert len(model.calls[-1].messages) < 62


def test_between_evictions_each_prompt_extends_the_last(look_up):
    """The provider's prompt cache holds but for the few calls that cut."""
    _, model = looping(look_up, 40, EpisodeTrimMiddleware(max_tokens=2_000))
    pairs = zip(model.calls, model.calls[1:], strict=False)
    kept = [a.prefix_of(b) == len(a.messages) for a, b in pairs]
    assert kept.count(False) <= 8


def test_system_prompt_and_tools_are_charged():
    """A system prompt that fills half of the budget leaves the other half."""
    talk = [HumanMessage("x " * 100), AIMessage("y " * 100), HumanMessage("now")]
    agent, model = agent_of(
        ["Fine."], EpisodeTrimMiddleware(max_tokens=330), system_prompt="rule " * 200
    )
    agent.invoke({"messages": talk}, THREAD)
    assert model.calls[0].count(COUNT) <= 330
    assert model.calls[0].messages[-1].text == "now"


def test_the_reserve_stays_free(look_up):
    """What is kept for the answer is not filled with messages."""
    trim = EpisodeTrimMiddleware(max_tokens=1_500, reserve_tokens=500)
    _, model = looping(look_up, 20, trim)
    assert max(call.count(COUNT) for call in model.calls) <= 1_000


def test_the_schema_of_the_answer_is_charged(look_up):
    """A response format takes its part of the budget."""

    class Report(BaseModel):
        lines: list[str] = Field(description="A line for each record. " * 20)

    call = {"name": "Report", "args": {"lines": ["a"]}, "id": "r", "type": "tool_call"}
    loop = tool_loop(20, tool="look_up")

    def script(messages):
        answer = loop(messages)
        return AIMessage("", tool_calls=[call]) if answer == "Done." else answer

    trim = EpisodeTrimMiddleware(max_tokens=900)
    agent, model = agent_of(script, trim, tools=[look_up], response_format=Report)
    result = agent.invoke(say(), THREAD)
    assert result["structured_response"].lines == ["a"]
    assert len(model.calls[0].tools) == 2
    assert max(call.count(COUNT) for call in model.calls) <= 900


@pytest.mark.parametrize("last", [True, False])
def test_memories_are_charged_wherever_their_middleware_stands(memory, look_up, last):
    """Residents have their price before they are in the prompt and after."""
    for number in range(30):
        memory.remember(f"note {number}", f"The kite number {number} is red. " * 5)
    trim = EpisodeTrimMiddleware(max_tokens=1_600, memory=memory)
    residents = ForgettingMemoryMiddleware(memory=memory, budget_tokens=400)
    order = [trim, residents] if last else [residents, trim]
    agent, model = looping(look_up, 20, *order)
    assert max(call.count(COUNT) for call in model.calls) <= 1_600
    for call in model.calls:
        kinds = [resident_tokens(m) for m in call.messages]
        assert kinds.count(400) == 1
    record = agent.get_state(THREAD).values["memkit_overheads"]
    assert len(record["EpisodeTrimMiddleware"]["overheads"]) == 1


def test_a_fraction_is_taken_of_the_models_window(look_up):
    """The profile of the model tells the window."""
    trim = EpisodeTrimMiddleware(fraction=0.5)
    _, model = looping(look_up, 20, trim, profile={"max_input_tokens": 3_000})
    assert 1_000 < max(call.count(COUNT) for call in model.calls) <= 1_500


def test_windows_of_many_sizes_do_not_pile_up(look_up):
    """Each call may have a window of its own, as where models change."""
    trim = EpisodeTrimMiddleware(fraction=0.5)
    for tokens in range(2_000, 3_200, 100):
        _, model = looping(look_up, 8, trim, profile={"max_input_tokens": tokens})
        assert max(call.count(COUNT) for call in model.calls) <= tokens // 2


def test_a_fraction_without_a_profile_is_an_error(look_up):
    """Where the model tells no window, a number has to be given."""
    with pytest.raises(InvalidInputError, match="max_input_tokens"):
        looping(look_up, 1, EpisodeTrimMiddleware(fraction=0.5))


def test_a_context_budget_leaves_room_for_its_other_parts(memory, look_up):
    """History, memories, tools and reserve come to the window."""
    for number in range(30):
        memory.remember(f"note {number}", f"The kite number {number} is red. " * 5)
    budget = ContextBudget(
        max_tokens=3_000, reserve_tokens=500, memory_share=0.1, document_share=0.2
    )
    trim = EpisodeTrimMiddleware(budget=budget, memory=memory)
    residents = ForgettingMemoryMiddleware(memory=memory, budget=budget)
    _, model = looping(look_up, 30, residents, trim)
    counts = [call.count(COUNT) for call in model.calls]
    assert 1_500 < max(counts) <= 2_000


async def test_no_messages_are_no_matter():
    """A run without messages is passed on."""
    agent, model = agent_of(["Hm.", "Hm."], EpisodeTrimMiddleware(max_tokens=100))
    agent.invoke({"messages": []}, {"configurable": {"thread_id": "a"}})
    await agent.ainvoke({"messages": []}, {"configurable": {"thread_id": "b"}})
    assert [call.messages for call in model.calls] == [(), ()]


def test_nothing_is_noted_before_anything_left(look_up):
    """While everything fits, no private state is written."""
    agent, _ = looping(look_up, 2, EpisodeTrimMiddleware(max_tokens=10_000))
    assert not agent.get_state(THREAD).values.get("memkit_overheads")


async def test_what_cannot_fit_stops_the_run():
    """The history is neither sent untrimmed nor emptied."""
    agent, model = agent_of(["Hm."], EpisodeTrimMiddleware(max_tokens=20))
    with pytest.raises(BudgetExceededError) as caught:
        agent.invoke(say("word " * 400), THREAD)
    with pytest.raises(BudgetExceededError):
        await agent.ainvoke(None, THREAD)
    assert caught.value.shortfall_tokens > 400
    assert model.calls == []


# Counters


@pytest.mark.parametrize("more", [0, 1])
def test_a_plain_callable_keeps_the_budget_of_the_whole(look_up, more):
    """A counter that finds more in the whole than in its parts is believed."""

    def count(messages):
        return count_tokens_approximately(messages) + more * len(messages) ** 2 // 4

    trim = EpisodeTrimMiddleware(max_tokens=1_500, token_counter=count)
    _, model = looping(look_up, 20, trim, system_prompt="Keep it. " * 20)
    assert max(count(call.messages) for call in model.calls) <= 1_500


async def test_a_plain_callable_serves_async_runs(look_up):
    """The same holds without blocking the event loop."""

    def count(messages):
        return count_tokens_approximately(messages) + len(messages) ** 2 // 4

    trim = EpisodeTrimMiddleware(max_tokens=1_500, token_counter=count)
    script = tool_loop(20, tool="look_up")
    agent, model = agent_of(
        script, trim, tools=[look_up], system_prompt="Keep it. " * 20
    )
    await agent.ainvoke(say(), THREAD)
    assert max(count(call.messages) for call in model.calls) <= 1_500


# Changing overheads


def test_a_changed_overhead_moves_no_earlier_cut(look_up):
    """A longer system prompt leaves what was cut as it was; without the record not."""
    prompts = {"text": "Short."}

    @dynamic_prompt
    def prompt(request):
        return prompts["text"]

    saver = InMemorySaver()
    first = EpisodeTrimMiddleware(max_tokens=1_500)
    _, model = looping(look_up, 30, prompt, first, checkpointer=saver)
    before = model.calls[-1].messages[1:]
    prompts["text"] = "Longer than before by a few dozen tokens. " * 9
    views = []
    for name in (first.name, "without the record"):
        trim = EpisodeTrimMiddleware(max_tokens=1_500, name=name)
        agent, model = agent_of(
            ["Done."], prompt, trim, tools=[look_up], checkpointer=saver
        )
        agent.invoke(say("And now?"), THREAD)
        views.append([m.text for m in model.calls[0].messages[1 : len(before) + 1]])
    record = agent.get_state(THREAD).values["memkit_overheads"]
    assert [view == [m.text for m in before] for view in views] == [True, False]
    assert len(record[first.name]["overheads"]) == 2


def test_small_changes_of_the_overhead_need_no_note(look_up):
    """A prompt that varies by a few tokens leaves one line in the record."""
    turns = []

    @dynamic_prompt
    def prompt(request):
        turns.append(1)
        return "Now it is " + "x" * (len(turns) % 7)

    trim = EpisodeTrimMiddleware(max_tokens=1_500)
    agent, model = looping(look_up, 30, prompt, trim)
    record = agent.get_state(THREAD).values["memkit_overheads"]
    assert len(record["EpisodeTrimMiddleware"]["overheads"]) <= 2
    assert max(call.count(COUNT) for call in model.calls) <= 1_500


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_margin_never_makes_a_run_fail(is_async):
    """Where only today's exact overhead leaves room, it is used."""
    record = {"trim": {"max_tokens": 400, "overheads": [[0, 203]]}}
    trim = EpisodeTrimMiddleware(max_tokens=400, reserve_tokens=200, name="trim")
    for words, fits in ((156, True), (160, False)):
        agent, model = agent_of(["Hm."], trim)
        values = {"memkit_overheads": record, "messages": []}
        agent.update_state(THREAD, values, as_node="model")
        with nullcontext() if fits else pytest.raises(BudgetExceededError):
            if is_async:
                await agent.ainvoke(say("word " * words), THREAD)
            else:
                agent.invoke(say("word " * words), THREAD)
        assert [call.count(COUNT) for call in model.calls] == [199] * fits


def test_another_window_moves_no_earlier_cut(look_up):
    """A thread that goes on with a smaller or larger window keeps its cuts."""
    saver = InMemorySaver()
    _, model = looping(
        look_up,
        30,
        EpisodeTrimMiddleware(max_tokens=1_500, target_tokens=750),
        checkpointer=saver,
    )
    before = [m.text for m in model.calls[-1].messages]
    for window in (3_000, 1_200, 2_000):
        trim = EpisodeTrimMiddleware(max_tokens=window, target_tokens=window // 2)
        agent, model = agent_of(["Fine."], trim, checkpointer=saver)
        agent.invoke(say("And?"), THREAD)
        texts = [m.text for m in model.calls[0].messages]
        assert model.calls[0].count(COUNT) <= window
        assert texts[: len(before)] == before or window == 1_200


def test_the_record_is_plain_json_and_private(look_up):
    """Private state is lists, numbers and texts, and no output."""
    trim = EpisodeTrimMiddleware(max_tokens=1_000, name="trim")
    agent, _ = looping(look_up, 10, trim)
    record = agent.get_state(THREAD).values["memkit_overheads"]
    assert json.loads(json.dumps(record)) == record
    assert set(record) == {"trim"}
    assert set(agent.invoke(say(), THREAD)) == {"messages"}


# What leaves


def test_what_left_is_recalled_by_its_key(memory, look_up):
    """Each stub's key fetches the exact text, and so does that of what is gone."""
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=memory)
    _, model = looping(look_up, 30, trim)
    own = memory.scoped(("t1",))
    for call in model.calls:
        for stub in stubs(call.messages):
            step = int(stub.tool_call_id.rpartition("-")[2])
            assert own.recall(recall_key(stub)) == look_up.func(step)
    shown = {m.tool_call_id for m in model.calls[-1].messages if m.type == "tool"}
    for step in range(1, 31):
        if f"step-{step}" not in shown:
            key = content_key(look_up.func(step))
            assert own.recall(key) == look_up.func(step)
            assert own.describe(key).evicted


def test_each_text_is_archived_once(memory, look_up):
    """However often a history is trimmed again, its evictions are written once."""
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=memory)
    looping(look_up, 30, trim)
    own = memory.scoped(("t1",))
    assert 20 < memory.events.count("archive") == len(own)


def test_the_recall_tool_comes_with_a_memory(memory, look_up):
    """With a memory the model can fetch what its stubs name; without, not."""
    _, model = looping(look_up, 1, EpisodeTrimMiddleware(max_tokens=900, memory=memory))
    names = [tool["function"]["name"] for tool in model.calls[0].tools]
    assert names == ["recall", "look_up"]
    _, model = looping(look_up, 1, EpisodeTrimMiddleware(max_tokens=900))
    names = [tool["function"]["name"] for tool in model.calls[0].tools]
    assert names == ["look_up"]


@pytest.mark.parametrize("persist", [False, True])
def test_on_the_agents_store_both_share_one_memory(look_up, persist):
    """Without a memory of its own, a trimmer keeps what the memory tools can fetch."""
    store = InMemoryStore()
    trim = EpisodeTrimMiddleware(max_tokens=1_600, persist=persist, keep_last_steps=1)
    _, model = looping(look_up, 20, ForgettingMemoryMiddleware(), trim, store=store)
    found = [stub for call in model.calls for stub in stubs(call.messages)]
    memory = ForgettingMemory(LangGraphMemoryStore(store, ("langchain_memkit",)))
    for stub in found:
        step = int(stub.tool_call_id.rpartition("-")[2])
        assert memory.scoped(("t1",)).recall(recall_key(stub)) == look_up.func(step)
    assert found


@pytest.mark.parametrize("tools", [False, True])
def test_what_no_tool_can_fetch_has_no_key(memory, look_up, tools):
    """Another memory, or one without tools, is not taken for the trimmer's."""
    trim = EpisodeTrimMiddleware(max_tokens=1_600, keep_last_steps=1)
    other = ForgettingMemoryMiddleware(memory=memory if tools else None, tools=tools)
    _, model = looping(look_up, 20, other, trim, store=InMemoryStore())
    assert not any(stubs(call.messages) for call in model.calls)
    assert "[left out]" in [m.text for m in model.calls[-1].messages]


def test_no_tool_is_offered_twice(memory, look_up):
    """Both middlewares together offer one recall tool."""
    both = [
        ForgettingMemoryMiddleware(memory=memory),
        EpisodeTrimMiddleware(max_tokens=2_000, memory=memory),
    ]
    _, model = looping(look_up, 1, *both)
    names = [tool["function"]["name"] for tool in model.calls[0].tools]
    assert sorted(names) == ["forget", "look_up", "recall", "remember"]


def test_a_recalled_text_is_not_archived_again(memory, look_up):
    """What the recall tool returned leaves without being written anew."""
    loop, asked = tool_loop(24, tool="look_up"), []

    def script(messages):
        if messages[-1].type == "tool" and messages[-1].name == "recall":
            return loop(asked)
        if asked or not stubs(messages):
            return loop(messages)
        asked.append(messages[-1])
        args = {"name": recall_key(stubs(messages)[0])}
        call = {"name": "recall", "args": args, "id": "r", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])

    trim = EpisodeTrimMiddleware(max_tokens=1_200, memory=memory, keep_last_steps=1)
    agent, model = agent_of(script, trim, tools=[look_up])
    stored = agent.invoke(say(), THREAD)["messages"]
    (recalled,) = [m for m in stored if m.type == "tool" and m.name == "recall"]
    assert recalled.text in {look_up.func(step) for step in range(1, 24)}
    assert recalled.text not in [m.text for m in model.calls[-1].messages]
    own = memory.scoped(("t1",))
    texts = [own.recall(name) for name in own.live_at()]
    assert texts.count(recalled.text) == 1


def test_a_faded_key_is_answered_by_a_sentence(memory, look_up):
    """Once a text has faded, the recall tool says so and the run goes on."""
    trim = EpisodeTrimMiddleware(max_tokens=1_200, memory=memory, keep_last_steps=1)
    _, model = looping(look_up, 9, trim)
    key = recall_key(stubs(model.calls[-1].messages)[0])
    memory.scoped(("t1",)).forget(key)
    call = {"name": "recall", "args": {"name": key}, "id": "r", "type": "tool_call"}
    trim = EpisodeTrimMiddleware(max_tokens=1_200, memory=memory, keep_last_steps=1)
    again, _ = agent_of([AIMessage("", tool_calls=[call]), "Done."], trim)
    answer = again.invoke(say(), THREAD)["messages"][2]
    assert "has faded" in answer.text


def test_a_failing_archive_lets_nothing_leave(look_up):
    """The store's error is raised, and the model is not called with less."""
    memory = Refusing()
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=memory)
    script = tool_loop(30, tool="look_up")
    agent, model = agent_of(script, trim, tools=[look_up])
    with pytest.raises(StoreError, match="full"):
        agent.invoke(say(), THREAD)
    stored = agent.get_state(THREAD).values["messages"]
    assert len(stored) == len(model.calls[-1].messages) + 2


# Persisting


def history(steps, look_up):
    messages = [HumanMessage("Go.", id="h1")]
    for step in range(1, steps + 1):
        answer = tool_loop(steps, tool="look_up")(
            messages if step == 1 else [messages[-1]]
        )
        result = ToolMessage(look_up.func(step), tool_call_id=f"step-{step}")
        messages += [answer.model_copy(update={"id": f"a{step}"}), result]
        result.id = f"r{step}"
    return messages


def test_persisting_changes_nothing_where_everything_fits(look_up):
    """No state is written, no message removed and put back."""
    trim = EpisodeTrimMiddleware(max_tokens=10_000, persist=True)
    assert trim.before_model({"messages": history(3, look_up)}, None) is None
    assert trim.before_model({"messages": []}, None) is None


def test_persisting_writes_the_smallest_change(memory, look_up):
    """Only what left is removed and only what was shortened is replaced."""
    messages = history(30, look_up)
    trim = EpisodeTrimMiddleware(max_tokens=2_000, memory=memory, persist=True)
    changes = trim.before_model({"messages": messages}, None)["messages"]
    after = add_messages(copy.deepcopy(messages), changes)
    assert COUNT(after) <= 2_000
    assert validate_history(after) == []
    assert {type(message) for message in changes} == {RemoveMessage, ToolMessage}
    kept = {m.id: m for m in messages}
    changed = [m for m in after if kept[m.id] != m]
    assert len(changes) == len(messages) - len(after) + len(changed)


def test_persisting_removes_nothing_that_was_not_archived(look_up):
    """A failing store leaves the state as it is, and no error text in it."""
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=Refusing(), persist=True)
    with pytest.raises(StoreError, match="full"):
        trim.before_model({"messages": history(30, look_up)}, None)


def test_persisting_starts_the_record_anew(look_up):
    """What is stored was cut by the last overhead, so only that one holds for it."""
    record = {"max_tokens": 1_000, "overheads": [[0, 600], [5, 100]]}
    state = {"messages": history(30, look_up), "memkit_overheads": {"trim": record}}
    trim = EpisodeTrimMiddleware(max_tokens=1_000, persist=True, name="trim")
    update = trim.before_model(state, None)
    assert update["memkit_overheads"]["trim"]["overheads"] == [[0, 100]]


def test_persisting_stores_no_repair(look_up):
    """A call without its result stays in the state: the result may still come."""
    call = {"name": "look_up", "args": "{", "id": "late", "type": "invalid_tool_call"}
    open_call = AIMessage(
        "Wait.", invalid_tool_calls=[call | {"error": "?"}], id="open"
    )
    messages = [*history(30, look_up), open_call, HumanMessage("Go on.", id="h2")]
    trim = EpisodeTrimMiddleware(max_tokens=1_000, persist=True)
    changes = trim.before_model({"messages": messages}, None)["messages"]
    assert "open" not in [message.id for message in changes]
    agent, model = agent_of(["Fine."], trim)
    agent.invoke({"messages": messages}, THREAD)
    assert validate_history(model.calls[0].messages) == []


async def test_persisting_without_blocking(memory, look_up):
    """The async hook writes the same change."""
    messages = history(30, look_up)
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=memory, persist=True)
    update = await trim.abefore_model({"messages": messages}, None)
    assert update == trim.before_model({"messages": messages}, None)
    assert await trim.abefore_model({"messages": []}, None) is None


def test_persisting_never_empties_a_state():
    """Where nothing fits the run stops with the error."""
    trim = EpisodeTrimMiddleware(max_tokens=20, persist=True)
    state = {"messages": [HumanMessage("word " * 400, id="1")]}
    with pytest.raises(BudgetExceededError):
        trim.before_model(state, None)


@pytest.mark.parametrize("how", [{"max_tokens": 1_500}, {"fraction": 0.5}])
def test_a_persisted_run_sends_what_a_transient_one_sends(memory, look_up, how):
    """Both views are equal at every call; the stored history is short."""
    profile = {"max_input_tokens": 3_000}
    sent = []
    for persist in (False, True):
        trim = EpisodeTrimMiddleware(**how, memory=memory, persist=persist)
        residents = ForgettingMemoryMiddleware(memory=memory, budget_tokens=100)
        agent, model = looping(
            look_up, 30, residents, trim, profile=profile, system_prompt="Keep it."
        )
        sent.append([[m.text for m in call.messages] for call in model.calls])
        stored = agent.get_state(THREAD).values["messages"]
    assert sent[0] == sent[1]
    assert len(stored) < 40


def test_persisting_knows_what_else_was_sent_before_anything_left(look_up):
    """The overhead of the first call is noted, so that state and view are cut alike."""
    trim = EpisodeTrimMiddleware(max_tokens=10_000, persist=True)
    agent, _ = looping(look_up, 2, trim)
    record = agent.get_state(THREAD).values["memkit_overheads"][trim.name]
    assert record["overheads"][0][1] > 20


def test_a_fallbacks_answer_is_not_stored(memory, look_up):
    """What a fallback made of the history is sent, but the state stays whole."""
    fallback = RunnableLambda(lambda _: [HumanMessage("In short.")])
    options = {"max_tokens": 60, "memory": memory, "on_overflow": fallback}
    state = {"messages": [*history(9, look_up), HumanMessage("word " * 90, id="h2")]}
    trim = EpisodeTrimMiddleware(**options, persist=True)
    assert trim.before_model(state, None) is None
    agent, model = agent_of(["Fine."], EpisodeTrimMiddleware(**options))
    agent.invoke(state, THREAD)
    assert [m.text for m in model.calls[0].messages] == ["In short."]


def test_a_subclass_keeps_its_hooks(look_up):
    """Persisting works in subclasses, whose own hooks win."""

    class Own(EpisodeTrimMiddleware):
        def before_model(self, state, runtime):
            return super().before_model(state, runtime) or {"jump_to": None}

    trim = Own(max_tokens=1_000, persist=True)
    assert isinstance(trim, Own)
    assert trim.before_model({"messages": history(3, look_up)}, None) == {
        "jump_to": None
    }
    assert "messages" in trim.before_model({"messages": history(30, look_up)}, None)


def test_the_kind_of_a_persisting_one_makes_another():
    """The class of an instance can be used again."""
    kind = type(EpisodeTrimMiddleware(max_tokens=1_000, persist=True))
    assert type(kind(max_tokens=1_000, persist=True)) is kind


def test_only_persisting_adds_a_node(look_up):
    """The transient middleware costs no step of the graph."""
    names = []
    for persist in (False, True):
        trim = EpisodeTrimMiddleware(max_tokens=1_000, persist=persist)
        agent, _ = agent_of(["Hm."], trim)
        names.append("EpisodeTrimMiddleware.before_model" in agent.nodes)
    assert names == [False, True]


# Sharing


def test_two_instances_keep_their_own_records(look_up):
    """Told apart by name, both trim and both keep a record."""
    wide = EpisodeTrimMiddleware(max_tokens=1_500, name="wide")
    narrow = EpisodeTrimMiddleware(max_tokens=1_200, name="narrow")
    agent, model = looping(look_up, 20, wide, narrow)
    record = agent.get_state(THREAD).values["memkit_overheads"]
    assert {name: entry["max_tokens"] for name, entry in record.items()} == {
        "wide": 1_500,
        "narrow": 1_200,
    }
    assert max(call.count(COUNT) for call in model.calls) <= 1_200


def test_two_threads_share_one_instance(memory, look_up):
    """Conversations in parallel neither meet nor change each other's prompts."""
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=memory)
    _, model = looping(look_up, 25, trim)
    expected = [[m.text for m in call.messages] for call in model.calls]
    barrier = threading.Barrier(4)

    def run(number):
        agent, model = agent_of(tool_loop(25, tool="look_up"), trim, tools=[look_up])
        barrier.wait()
        agent.invoke(say(), {"configurable": {"thread_id": f"p{number}"}})
        return [[m.text for m in call.messages] for call in model.calls]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [expected] * 4
    assert len(memory) == 0
    sizes = {len(memory.scoped((f"p{number}",))) for number in range(4)}
    assert sizes == {len(memory.scoped(("t1",)))}


def test_copies_work(look_up):
    """Copied shallow or deep, the middleware trims."""
    for persist in (False, True):
        trim = EpisodeTrimMiddleware(max_tokens=1_000, persist=persist)
        for twin in (copy.copy(trim), copy.deepcopy(trim)):
            _, model = looping(look_up, 20, twin)
            assert max(call.count(COUNT) for call in model.calls) <= 1_000


def test_a_command_of_a_tool_is_part_of_the_history(look_up):
    """Messages that a tool adds by a command are trimmed like others."""
    agent, model = looping(look_up, 2, EpisodeTrimMiddleware(max_tokens=2_000))
    agent.invoke(Command(update={"messages": [SystemMessage("New rule.")]}), THREAD)
    agent.invoke(say("And?"), THREAD)
    assert "New rule." in [m.text for m in model.calls[-1].messages]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_tokens": 0},
        {"max_tokens": 10, "fraction": 0.5},
        {"fraction": 0},
        {"fraction": 1.5},
        {"max_tokens": 10, "reserve_tokens": -1},
        {"max_tokens": 10, "keep_last_steps": -1},
        {"fraction": 0.5, "target_tokens": -1},
        {"max_tokens": 10, "memory": "notes"},
    ],
)
def test_bad_options_are_refused(options):
    """Options are checked before any run."""
    with pytest.raises(InvalidInputError):
        EpisodeTrimMiddleware(**options)


class Apart(ForgettingMemory):
    """A memory that must not be touched where an event loop runs."""

    def _check(self):
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()

    def scoped(self, namespace):
        self._check()
        return super().scoped(namespace)

    def archive(self, entries):
        self._check()
        super().archive(entries)

    def consolidate(self, **options):
        self._check()
        return super().consolidate(**options)


@pytest.mark.parametrize("persist", [False, True])
async def test_async_runs_never_touch_a_store_in_the_event_loop(look_up, persist):
    """Opening, archiving, consolidating and recalling all happen in threads."""
    memory = Apart(SQLMemoryStore("sqlite://"))
    trim = EpisodeTrimMiddleware(max_tokens=1_000, memory=memory, persist=persist)
    residents = ForgettingMemoryMiddleware(memory=memory, budget_tokens=50)
    script = tool_loop(20, tool="look_up")
    agent, model = agent_of(script, residents, trim, tools=[look_up])
    await agent.ainvoke(say(), THREAD)
    recall = next(tool for tool in trim.tools if tool.name == "recall")
    assert "no memory" in await recall.ainvoke({"name": "tone"})
    summarizer = EvidenceSummarizer(memory=memory, namespace=lambda _: ("new",))
    assert "key" in await summarizer.ainvoke([HumanMessage("Go.")])
    assert len(model.calls) == 21
