"""The trimmer as a Runnable: options, inputs, calls beside other content, threads."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue

from langchain_memkit import (
    CounterError,
    EpisodeTrimmer,
    InvalidInputError,
    MemkitError,
    trim_episodes,
)
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.messages import mark_resident
from langchain_memkit.trimmer import TrimCall

count = ApproximateCounter()
LONG = "The tide turns at noon. " * 40


def call(name):
    return {"name": "tide", "args": {}, "id": name, "type": "tool_call"}


def loop(steps, result=LONG):
    history = [HumanMessage("When does the tide turn?", id="h")]
    for k in range(steps):
        history.append(AIMessage("", tool_calls=[call(f"c{k}")], id=f"a{k}"))
        history.append(ToolMessage(result, tool_call_id=f"c{k}", id=f"t{k}"))
    return history


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("target_tokens", -1),
        ("target_tokens", 101),
        ("pin", "rule"),
        ("persisted", 1),
        ("classify", 1),
        ("observation_tools", "search"),
        ("observation_tools", None),
        ("observation_tools", [1]),
        ("pin_first_user", "no"),
        ("memory", object()),
        ("keep_last_steps", -1),
        ("system_messages", "drop"),
        ("reasoning", "some"),
        ("on_overflow", "ignore"),
    ],
)
def test_an_option_that_breaks_its_rule_is_named(name, value):
    """Bad options are refused when the trimmer is made."""
    options = {"max_tokens": 100, name: value}
    with pytest.raises(InvalidInputError, match=f"`{name}`"):
        EpisodeTrimmer(**options)


@pytest.mark.parametrize("counter", ["exact", 7, None])
def test_what_is_no_counter_is_refused(counter):
    """A counter is the word, or something that can be called."""
    with pytest.raises(CounterError, match="token_counter"):
        EpisodeTrimmer(100, token_counter=counter)


@pytest.mark.parametrize(
    "counter",
    [
        lambda _: -1,
        lambda _: 1.5,
        lambda _: True,
        lambda message: len(message.content),
    ],
)
def test_law_12_a_counter_that_returns_no_count_or_raises_is_named(counter):
    """An error says that it was the counter, and nothing is sent untrimmed."""
    with pytest.raises(CounterError, match="token_counter"):
        trim_episodes([HumanMessage("Hi.")], max_tokens=5, token_counter=counter)


def test_classify_has_to_name_a_kind():
    """A kind that does not exist is refused by name."""
    with pytest.raises(InvalidInputError, match="classify"):
        trim_episodes([HumanMessage("Hi.")], max_tokens=99, classify=lambda _: "x")


@pytest.mark.parametrize(
    "odd", ["text", b"text", {"messages": []}, 7, [7], [{}], ["a", 3]]
)
def test_what_holds_no_messages_is_refused(odd):
    """A text or a dict is no list of messages."""
    with pytest.raises(MemkitError):
        EpisodeTrimmer(99).invoke(odd)


def test_prompt_values_dicts_and_tuples_are_accepted():
    """Everything that `trim_messages` takes is taken."""
    trimmer = EpisodeTrimmer(99)
    hello = HumanMessage("Hi.")
    assert trimmer.invoke(ChatPromptValue(messages=[hello])) == [hello]
    assert trimmer.invoke(m for m in [("user", "Hi.")]) == [hello]
    assert trimmer.invoke([hello, {"role": "user", "content": "Hi."}])[0] is hello


class Listener(BaseCallbackHandler):
    def __init__(self):
        self.runs = 0

    def on_chain_start(self, *args, **kwargs):
        self.runs += 1


async def test_callbacks_hear_of_a_run():
    """A run is reported where somebody listens."""
    listener, trimmer = Listener(), EpisodeTrimmer(99)
    config = {"callbacks": [listener]}
    assert trimmer.invoke([HumanMessage("Hi.")], config) == [HumanMessage("Hi.")]
    assert await trimmer.ainvoke([HumanMessage("Hi.")], config)
    assert listener.runs == 2


def test_copies_and_pickles_trim_alike():
    """A copy shares the options and remembers nothing."""
    trimmer, history = EpisodeTrimmer(500), loop(5)
    twins = [copy.copy(trimmer), copy.deepcopy(trimmer)]
    twins.append(pickle.loads(pickle.dumps(trimmer)))
    expected = trimmer.invoke(history)
    assert all(twin.invoke(history) == expected for twin in twins)
    assert all(twin.max_tokens == 500 for twin in twins)


def test_an_instruction_to_remove_is_never_sent():
    """It is no message, wherever it stands and whatever is remembered."""
    trimmer, history = EpisodeTrimmer(500), [HumanMessage("Hi."), AIMessage("Yes?")]
    gone = RemoveMessage(id="x")
    assert trimmer.invoke(history) == history
    assert trimmer.invoke([*history, gone]) == history
    assert EpisodeTrimmer(500).invoke([gone, *history]) == history
    assert len(trimmer._engine.sessions) == 1


def test_a_block_of_memories_is_no_turn_and_moves_no_cut():
    """It stands before the last user message, at a fixed price, beside the budget."""
    history = [*loop(5), HumanMessage("And now?")]
    block = mark_resident(HumanMessage("likes teal"), 50)
    plain = EpisodeTrimmer(550).trim(history)
    beside = EpisodeTrimmer(600).trim([*history[:-1], block, history[-1]])
    assert beside.messages == [*plain.messages[:-1], block, plain.messages[-1]]
    assert beside.overheads == [[0, 50]]
    assert beside.tokens == plain.tokens


def test_a_block_of_memories_stands_also_where_system_messages_are_hoisted():
    """Moving a system message up does not move the block."""
    block = mark_resident(HumanMessage("likes teal"), 50)
    history = [HumanMessage("a"), block, HumanMessage("b"), ("system", "metric")]
    out = EpisodeTrimmer(600, system_messages="hoist").invoke(history)
    assert [m.content for m in out] == ["metric", "a", "likes teal", "b"]


def test_an_overhead_lowers_the_budget_and_does_not_move_earlier_cuts():
    """What was cut under an earlier overhead stays as it was cut."""
    history, trimmer = loop(15), EpisodeTrimmer(3_000)
    first = trimmer.trim(history[:23], TrimCall(overhead_tokens=300))
    assert first.overheads == [[0, 300]]
    today = TrimCall(overhead_tokens=0, overheads=first.overheads)
    second = EpisodeTrimmer(3_000).trim(history[:25], today)
    assert second.overheads == [[0, 300], [25, 0]]
    assert len(EpisodeTrimmer(3_000).invoke(history[:23])) == 23
    assert second.messages[: len(first.messages)] == first.messages
    again = TrimCall(overhead_tokens=0, overheads=second.overheads)
    assert trimmer.trim(history, again).overheads == second.overheads
    retried = EpisodeTrimmer(3_000).trim(history[:23], again)
    assert retried.overheads == [[0, 300], [23, 0]]


def test_what_changed_is_told_by_message():
    """What left and what was replaced, to store a history as it is sent."""
    history = loop(9)
    result = EpisodeTrimmer(1_200).trim(history)
    gone = {m.id for m in result.removed}
    replaced = {m.id: m for m in result.replaced}
    stored = [replaced.get(m.id, m) for m in history if m.id not in gone]
    assert stored == result.messages
    assert result.tokens == count(result.messages)


async def test_the_async_twin_gives_the_same():
    """Nothing is decided differently where the memory is written without blocking."""
    trimmer, history = EpisodeTrimmer(700), loop(6)
    assert await trimmer.atrim(history) == trimmer.trim(history)
    assert await trimmer.ainvoke(history) == trimmer.invoke(history)


def test_law_13_threads_and_conversations_share_an_instance():
    """Many threads in many conversations get what each would get alone."""
    talks = [loop(k % 7 + 2, f"{k} {LONG}") for k in range(12)]
    ends = [talk[:end] for talk in talks for end in range(3, len(talk) + 1, 2)]
    trimmer = EpisodeTrimmer(800)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(trimmer.invoke, ends * 3))
    assert found == [EpisodeTrimmer(800).invoke(end) for end in ends] * 3


def test_law_13_a_long_history_is_read_where_it_stands():
    """In a long history what is still sent is looked at again, and growth is cheap."""
    history = [HumanMessage("Begin.")]
    for k in range(2_100):
        history += [AIMessage(f"answer {k}"), HumanMessage(f"question {k}")]
    trimmer = EpisodeTrimmer(12_000)
    trimmer.invoke(history[:-2])
    trimmer.invoke(history)
    history[-9].content = "question " * 2_000
    assert trimmer.invoke(history) == EpisodeTrimmer(12_000).invoke(history)


def test_law_13_the_number_of_remembered_messages_is_bounded(monkeypatch):
    """Long conversations push older ones out."""
    import langchain_memkit.trimmer._session as module

    monkeypatch.setattr(module, "_MOST_MESSAGES", 5)
    trimmer = EpisodeTrimmer(500)
    trimmer.invoke([HumanMessage("a"), AIMessage("b")])
    trimmer.invoke(
        [HumanMessage("c"), AIMessage("d"), HumanMessage("e"), AIMessage("f")]
    )
    assert len(trimmer._engine.sessions) == 1


def test_law_13_messages_that_refuse_to_be_compared_are_read_again():
    """An artifact without an answer to equality costs time, not the right answer."""

    class Stubborn:
        def __eq__(self, other):
            raise ValueError

        __hash__ = None

    def history():
        found = loop(3)
        found[2] = found[2].model_copy(update={"artifact": Stubborn()})
        found[1].tool_calls[0]["args"] = {"odd": object}
        return found

    trimmer = EpisodeTrimmer(700)
    lengths = [len(trimmer.invoke(history())) for _ in range(2)]
    assert lengths == [len(EpisodeTrimmer(700).invoke(history()))] * 2


def test_law_12_a_plain_callable_counts_steps_whole():
    """A counter that refuses results without calls is never handed any."""

    def strict(messages):
        calls = {c["id"] for m in messages for c in getattr(m, "tool_calls", [])}
        results = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
        assert calls == results
        return count(messages)

    history = [*loop(5), HumanMessage("And?")]
    dangling = [*history, AIMessage("", tool_calls=[call("x")]), HumanMessage("Well?")]
    for messages in (history, dangling):
        out = trim_episodes(messages, max_tokens=600, token_counter=strict)
        assert count(out) <= 600
    assert not EpisodeTrimmer(9, token_counter=strict).is_additive
    assert EpisodeTrimmer(9).count_tokens(history) == count(history)


def test_law_12_a_callable_with_a_price_a_call_leaves_alone_what_fits():
    """The count of the whole decides, not the sum of its parts."""

    def framed(messages):
        return 100 + count(messages)

    history = loop(3, "noon")
    budget = framed(history)
    assert trim_episodes(history, max_tokens=budget, token_counter=framed) == history


def test_an_overhead_that_changes_the_past_is_walked_through_anew():
    """Another record of overheads is another history of cuts."""
    trimmer, history = EpisodeTrimmer(1_000), loop(6)
    trimmer.trim(history)
    call_ = TrimCall(overhead_tokens=300)
    assert trimmer.trim(history, call_) == EpisodeTrimmer(1_000).trim(history, call_)


@pytest.mark.parametrize("name", ["tide-1", "it's", None])
def test_law_12_calls_with_odd_names_are_counted_as_they_are_written(name):
    """Quotes and signs in ids and names change what a call costs."""
    odd = AIMessage("", tool_calls=[call(name)])
    named = AIMessage("", tool_calls=[{**call("a"), "name": "it's"}])
    history = [HumanMessage("?"), odd, named]
    result = EpisodeTrimmer(500).trim([*history, HumanMessage("!")])
    assert result.tokens == count(result.messages)


def test_a_chunk_loses_the_call_that_nobody_answered():
    """Invalid calls of a streamed message leave from all places where they stand."""
    from langchain_core.messages import AIMessageChunk

    chunks = [
        {"name": "tide", "args": "[1", "id": "bad", "index": 0},
        {"name": "tide", "args": "{}", "id": "good", "index": 1},
    ]
    said = AIMessageChunk(content="Let me see.", tool_call_chunks=chunks)
    answer = ToolMessage("noon", tool_call_id="good")
    history = [HumanMessage("?"), said, answer, HumanMessage("!")]
    out = EpisodeTrimmer(500).invoke(history)
    assert [c["id"] for c in out[1].tool_call_chunks] == ["good"]
    assert out[1].invalid_tool_calls == []


def test_a_message_with_fields_of_its_own_is_copied_with_them():
    """Extra fields of a message stand in its stub."""
    history = loop(3)
    history[2] = ToolMessage(LONG, tool_call_id="c0", id="t0", note="mine")
    out = EpisodeTrimmer(700, target_tokens=690, keep_last_steps=1).invoke(history)
    assert (out[2].content, out[2].note) == ("[left out]", "mine")


def test_a_clip_is_never_cut_inside_a_character():
    """Flags, marks and joiners stay whole where the text is cut."""
    text = (
        "\N{REGIONAL INDICATOR SYMBOL LETTER S}\N{REGIONAL INDICATOR SYMBOL LETTER E}"
    )
    family = "e\u0301" * 900
    for odd in (text * 400, family):
        out = EpisodeTrimmer(120).invoke(loop(1, odd))
        assert count(out) <= 120
        assert "\n\u0301" not in out[2].content


def test_a_result_of_one_character_more_than_fits_becomes_a_stub():
    """Where a counter prices every excerpt over the room, the result is left out."""

    def dear(messages):
        return sum(9 if m.content in {"", "[left out]"} else 200 for m in messages)

    out = EpisodeTrimmer(300, token_counter=dear).invoke(loop(1))
    assert out[2].content == "[left out]"


def test_law_9_a_stranger_in_a_block_list_is_no_reasoning():
    """Plain strings among content blocks are left alone."""
    said = AIMessage(["Noon.", {"type": "reasoning", "extras": {"signature": "s"}}])
    history = [HumanMessage("a"), AIMessage(LONG), HumanMessage("b"), said]
    out = EpisodeTrimmer(300, target_tokens=300).invoke([*history, HumanMessage(LONG)])
    assert out[2].content == ["Noon."]


def test_law_13_a_plain_callable_is_remembered_up_to_the_last_step():
    """The price of a step that may still grow is asked for anew."""

    def framed(messages):
        return 5 + count(messages)

    history = loop(6)
    trimmer = EpisodeTrimmer(900, token_counter=framed)
    for end in (1, 3, 4, 5, 6, 9, 13):
        fresh = EpisodeTrimmer(900, token_counter=framed)
        assert trimmer.invoke(history[:end]) == fresh.invoke(history[:end])
    block = mark_resident(HumanMessage("likes teal"), 1)
    assert trimmer.trim([block, *history]).overheads == [[0, framed([block])]]


def test_classify_is_told_in_the_report_also_where_it_moves_nothing():
    """A step that is called a user turn stays a step, and the report says its kind."""
    trimmer = EpisodeTrimmer(
        900, classify=lambda m: "user_turn" if m.type == "ai" else None
    )
    assert trimmer.explain(loop(1)).rows[1].kind == "user_turn"


def test_a_pin_of_code_holds_for_a_recalled_or_marked_message_too():
    """Marks and questions add up."""
    history = loop(2)
    trimmer = EpisodeTrimmer(700, pin=lambda m: m.id == "t0", persisted=lambda _: True)
    assert history[2] in trimmer.invoke([*history, HumanMessage("x" * 900)])
