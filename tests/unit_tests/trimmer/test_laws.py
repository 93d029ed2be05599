"""The laws of the trimmer, one by one, on small histories."""

import logging

import pytest
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableLambda

from langchain_memkit import (
    BudgetExceededError,
    EpisodeKind,
    EpisodeTrimmer,
    InvalidInputError,
    StoreError,
    pin,
    recall_key,
    trim_episodes,
    validate_history,
)
from langchain_memkit.core.keys import content_key
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.messages import mark_of, mark_recalled, text_of
from langchain_memkit.protocols import ArchiveEntry

count = ApproximateCounter()
LONG = "The tide turns at noon. " * 40


def call(name):
    return {"name": "tide", "args": {}, "id": name, "type": "tool_call"}


def step(name, result=LONG, said=""):
    return [
        AIMessage(said, tool_calls=[call(name)]),
        ToolMessage(result, tool_call_id=name),
    ]


def loop(steps, result=LONG):
    first = HumanMessage("When does the tide turn?")
    return [first, *(m for k in range(steps) for m in step(f"c{k}", result))]


def forms(messages):
    return [mark_of(m).get("form") for m in messages if m.type == "tool"]


class Shelf:
    def __init__(self, error=None):
        self.entries, self.error = [], error

    def archive(self, entries):
        if self.error:
            raise self.error
        self.entries += entries

    async def aarchive(self, entries):
        self.archive(entries)


def test_law_1_the_error_names_the_floor_and_the_shortfall():
    """What has to stay is listed where it is over budget."""
    with pytest.raises(BudgetExceededError, match="12 more") as caught:
        trim_episodes([HumanMessage("tide " * 20)], max_tokens=17)
    assert caught.value.floor_tokens == 29
    assert caught.value.pinned == ("human message 0 (29 tokens)",)


def test_law_1_keep_logs_a_warning_and_sends_the_best_effort(caplog):
    """Nothing is silent: the best effort comes with a logged warning."""
    history = [HumanMessage("tide " * 20)]
    with caplog.at_level(logging.WARNING):
        out = trim_episodes(history, max_tokens=17, on_overflow="keep")
    assert out == history
    assert "29 tokens, over the budget of 17" in caplog.text


async def test_law_1_a_fallback_is_given_the_messages():
    """The caller's own Runnable answers where the floor does not fit."""
    fallback = RunnableLambda(lambda messages: [HumanMessage(str(len(messages)))])
    trimmer = EpisodeTrimmer(17, on_overflow=fallback)
    history = [HumanMessage("tide " * 20)]
    assert trimmer.invoke(history) == [HumanMessage("1")]
    assert await trimmer.ainvoke(history) == [HumanMessage("1")]


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ([ToolMessage("9", tool_call_id="c")], "valid history"),
        ([], "valid history"),
        ([HumanMessage("short")], "system and pinned"),
    ],
)
def test_law_1_a_fallback_is_held_to_pins_and_validity(answer, rule):
    """A fallback that loses a rule or parts a call from its result is refused."""
    fallback = RunnableLambda(lambda _: answer)
    history = [SystemMessage("Be brief."), HumanMessage("tide " * 20)]
    with pytest.raises(InvalidInputError, match=rule):
        trim_episodes(history, max_tokens=17, on_overflow=fallback)


def test_law_2_a_pin_keeps_its_whole_step():
    """A pinned result stands word for word, with the call that it answers."""
    history = loop(8)
    history[2] = pin(history[2])
    out = trim_episodes(history, max_tokens=700)
    assert history[2] in out
    assert validate_history(out) == []


def test_law_2_a_question_pins_and_a_dict_cannot():
    """Code names pins; extra keys of a dict from outside do not."""
    rule = {
        "role": "user",
        "content": "rule " * 30,
        "langchain_memkit": {"pinned": True},
    }
    history = [HumanMessage("Begin."), rule, AIMessage(LONG), HumanMessage("Go on.")]
    assert len(trim_episodes(history, max_tokens=40)) == 2
    out = trim_episodes(history, max_tokens=60, pin=lambda m: "rule" in m.content)
    assert [m.content[:4] for m in out] == ["Begi", "rule", "Go o"]


def test_law_3_late_results_return_to_their_call():
    """A late result stands at its call, marked, and no word of the user is lost."""
    history = [HumanMessage("Start."), AIMessage("", tool_calls=[call("j")])]
    history += [HumanMessage("Still there?"), ToolMessage("done", tool_call_id="j")]
    out = trim_episodes(history, max_tokens=500)
    assert [m.content for m in out] == ["Start.", "", "done", "Still there?"]
    assert mark_of(out[2]) == {"moved": True}


def test_law_3_a_call_without_a_result_gets_a_marked_stand_in():
    """A call that every client sends is answered; the last one may be pending."""
    history = [HumanMessage("Start."), AIMessage("", tool_calls=[call("j")])]
    assert trim_episodes(history, max_tokens=500) == history
    out = trim_episodes([*history, HumanMessage("Well?")], max_tokens=500)
    assert out[2].content == "[no result]"
    assert mark_of(out[2]) == {"form": "stand_in"}


@pytest.mark.parametrize("kind", ["tool_use", "tool_call", "function_call"])
def test_law_3_a_call_that_not_every_client_sends_is_taken_out(kind):
    """A call in a content block only leaves with its block, the text stays."""
    block = {"type": kind, "id": "f", "call_id": "f", "name": "tide", "input": {}}
    said = AIMessage([{"type": "text", "text": "Let me see."}, block])
    said.tool_calls = []
    history = [HumanMessage("Start."), said, HumanMessage("Well?")]
    out = trim_episodes(history, max_tokens=500)
    assert out[1].content == [{"type": "text", "text": "Let me see."}]


def test_law_3_raw_calls_leave_with_what_repeats_them():
    """Raw OpenAI calls that were not parsed are calls too."""
    said = AIMessage("Let me see.")
    said.additional_kwargs = {"tool_calls": [{"id": "r"}, "odd"]}
    out = trim_episodes([said, HumanMessage("Well?")], max_tokens=500)
    assert out[0].additional_kwargs["tool_calls"] == ["odd"]


def test_law_3_an_empty_message_of_the_user_is_filled_and_one_of_the_model_left_out():
    """Nothing empty is sent, and the user's turn stays a turn."""
    history = [HumanMessage(""), AIMessage(" "), HumanMessage("Well?")]
    out = trim_episodes(history, max_tokens=500)
    assert [m.content for m in out] == ["[empty message]", "Well?"]


def test_law_5_hoisting_moves_later_system_messages_up():
    """Late system messages join the leading ones, marked."""
    history = [HumanMessage("a"), SystemMessage("metric"), HumanMessage("b")]
    kept = trim_episodes(history, max_tokens=500)
    hoisted = trim_episodes(history, max_tokens=500, system_messages="hoist")
    assert kept == history
    assert [m.content for m in hoisted] == ["metric", "a", "b"]
    assert mark_of(hoisted[0]) == {"hoisted": True}


def test_law_6_old_results_become_stubs_before_a_step_leaves():
    """Stubbing alone is enough here, so no step leaves and the newest stay whole."""
    history = loop(8)
    out = trim_episodes(history, max_tokens=count(history) - 50, keep_last_steps=2)
    assert len(out) == len(history)
    assert forms(out) == ["stub"] * 5 + [None] * 3


def test_law_6_persisted_results_become_stubs_first():
    """What can be had again leaves before what cannot."""
    history = loop(8)
    trimmer = EpisodeTrimmer(
        count(history) - 50,
        target_tokens=count(history) - 300,
        keep_last_steps=2,
        persisted=lambda m: (
            m.tool_call_id in {"c3", "c4"} if m.type == "tool" else False
        ),
    )
    assert forms(trimmer.invoke(history)) == [None] * 3 + ["stub"] * 2 + [None] * 3


def test_law_6_then_steps_leave_and_the_current_one_is_clipped():
    """All older steps go before the current result is cut, at both ends verbatim."""
    history = loop(3, "".join(f"line {k}\n" for k in range(400)))
    out = trim_episodes(history, max_tokens=200)
    assert len(out) == 3
    head, tail = out[2].content.split("\n[... ")
    assert history[6].content.startswith(head)
    assert history[6].content.endswith(tail.split(" ...]\n")[1])


def test_law_6_the_largest_result_is_clipped_first():
    """A small result of the same step stays whole."""
    head = AIMessage("", tool_calls=[call("a"), call("b")])
    small = ToolMessage("9 to 5", tool_call_id="b")
    history = [HumanMessage("?"), head, ToolMessage(LONG, tool_call_id="a"), small]
    out = trim_episodes(history, max_tokens=150)
    assert out[3] is small
    assert mark_of(out[2])["form"] == "clip"


def test_law_6_a_clip_without_room_is_a_stub():
    """Where no excerpt fits, the result is left out whole."""
    history = [HumanMessage("?"), *step("a")]
    assert trim_episodes(history, max_tokens=40)[2].content == "[left out]"


def test_law_6_user_turns_leave_last_and_the_first_of_them_at_the_very_end():
    """The first message outlives the others; without the soft pin it goes first."""
    history = [HumanMessage(f"turn {k} " + "x" * 60) for k in range(4)]
    out = trim_episodes(history, max_tokens=50)
    assert [m.content[:6] for m in out] == ["turn 0", "turn 3"]
    loose = trim_episodes(history, max_tokens=50, pin_first_user=False)
    assert [m.content[:6] for m in loose] == ["turn 2", "turn 3"]
    assert len(trim_episodes(history, max_tokens=30)) == 1


def test_law_6_user_turns_stay_where_an_earlier_call_was_refused():
    """A call that raised sent nothing, so no turn of the user left for it."""
    history = [HumanMessage("Begin."), HumanMessage("tide " * 60), HumanMessage("Go.")]
    out = trim_episodes(history, max_tokens=60)
    assert [m.content for m in out] == ["Begin.", "Go."]


def test_law_6_in_a_long_history_all_but_the_newest_turns_leave_at_once():
    """One batch is kinder to the prompt cache than a cut at every turn."""
    history = [HumanMessage(f"turn {k:02}") for k in range(40)]
    out = trim_episodes(history, max_tokens=count(history) - 1)
    assert [m.content[-2:] for m in out] == ["00", *(f"{k}" for k in range(24, 40))]


def test_law_6_classify_moves_a_message_to_another_rung():
    """A pasted file leaves as a result, a promise of the model as a turn."""
    pasted, promise = HumanMessage("data " * 99), AIMessage("I shall. " * 20)
    history = [HumanMessage("Begin."), pasted, promise, AIMessage("Yes. " * 40)]
    history += [HumanMessage("aside " * 20), HumanMessage("Now."), *step("z")]
    history += [HumanMessage("Go on.")]
    kinds = {
        pasted.content: "observation",
        promise.content: EpisodeKind.USER_TURN,
        "aside " * 20: EpisodeKind.AGENT_REASONING,
        LONG: "constraint",
    }
    out = trim_episodes(
        history, max_tokens=350, classify=lambda m: kinds.get(str(m.content))
    )
    assert [m.content[:5] for m in out] == [
        "Begin",
        "I sha",
        "Now.",
        "",
        LONG[:5],
        "Go on",
    ]


def test_law_6_a_message_that_is_its_own_result_becomes_a_stub_in_place():
    """A pasted file shrinks before anything leaves, unless it is the last question."""
    pasted = HumanMessage("data " * 99)
    history = [HumanMessage("Begin."), pasted, *loop(5, "ok"), HumanMessage("Go on.")]
    found = trim_episodes(
        history,
        max_tokens=count(history) - 20,
        target_tokens=count(history) - 20,
        keep_last_steps=1,
        classify=lambda m: "action_result" if m is pasted else None,
    )
    assert found[1].content == "[left out]"
    last = trim_episodes(
        [*history, pasted],
        max_tokens=300,
        classify=lambda m: "action_result" if m is pasted else None,
    )
    assert last[-1] is pasted


def test_law_7_a_clip_is_never_cut_again():
    """Where the original is gone, a clip stays or becomes a stub."""
    clipped = trim_episodes([HumanMessage("?"), *step("a")], max_tokens=150)
    assert forms(clipped) == ["clip"]
    assert trim_episodes(clipped, max_tokens=150) == clipped
    assert trim_episodes(clipped, max_tokens=100)[2].content == "[left out]"


def test_law_8_the_prompt_after_an_eviction_extends_the_one_before():
    """Between evictions nothing before the new messages changes."""
    history, trimmer = loop(30), EpisodeTrimmer(2_000)
    before, breaks = [], 0
    for end in range(3, len(history) + 1, 2):
        out = trimmer.invoke(history[:end])
        breaks += out[: len(before)] != before
        before = out
    assert 1 <= breaks <= 9


def test_law_10_nothing_leaves_where_the_memory_cannot_take_it():
    """The store's error is raised, and the next call tries again."""
    shelf = Shelf(StoreError("shelf", "full"))
    trimmer, history = EpisodeTrimmer(400, memory=shelf), loop(4)
    with pytest.raises(StoreError, match="full"):
        trimmer.invoke(history)
    shelf.error = None
    trimmer.invoke(history)
    assert content_key(LONG) in {entry.key for entry in shelf.entries}


async def test_law_10_each_content_is_handed_over_once():
    """What a memory took at one call is not handed over at the next."""
    shelf = Shelf()
    trimmer, history = EpisodeTrimmer(800, memory=shelf), loop(6)
    history = [
        m.model_copy(update={"content": f"{k} {LONG}"}) for k, m in enumerate(history)
    ]
    await trimmer.ainvoke(history[:9])
    await trimmer.ainvoke(history)
    await trimmer.ainvoke(history)
    keys = [entry.key for entry in shelf.entries]
    assert len(keys) == len(set(keys)) > 4


def test_law_10_a_stub_shows_the_key_and_an_entry_its_source():
    """The key in the stub's text is the one in its metadata."""
    shelf = Shelf()
    out = trim_episodes(
        loop(4), max_tokens=600, target_tokens=500, keep_last_steps=1, memory=shelf
    )
    key = content_key(LONG)
    assert out[2].content == f"[left out; recall key: {key}]"
    assert recall_key(out[2]) == key
    assert shelf.entries[0] == ArchiveEntry(key, LONG, 0.5, "tool")


def test_law_10_what_was_recalled_is_not_archived_again():
    """A recalled text leaves first, under the key that it already has."""
    shelf, history = Shelf(), loop(8)
    history[8] = mark_recalled(history[8], "harbour-note")
    out = trim_episodes(
        history,
        max_tokens=count(history) - 20,
        target_tokens=count(history) - 100,
        keep_last_steps=1,
        memory=shelf,
    )
    assert recall_key(out[8]) == "harbour-note"
    assert shelf.entries == []


def thought(said, provider="anthropic"):
    block = {"type": "thinking", "thinking": "hm " * 30, "signature": "c2ln"}
    return AIMessage(
        [block, {"type": "text", "text": said}],
        response_metadata={"model_provider": provider},
    )


def test_law_11_signed_reasoning_goes_with_what_preceded_it():
    """It is stripped at an eviction, but not in the open tool loop."""
    open_step = thought("I look.")
    open_step.tool_calls = [call("z")]
    history = [HumanMessage("Begin."), AIMessage(LONG), HumanMessage("And?")]
    history += [thought("Old."), HumanMessage("Now?"), open_step]
    history += [ToolMessage("noon", tool_call_id="z")]
    out = trim_episodes(history, max_tokens=345, target_tokens=345)
    assert [text_of(m) for m in out][2] == "Old."
    assert [len(m.content) for m in out if m.type == "ai"] == [1, 2]
    kept = trim_episodes(history, max_tokens=345, target_tokens=345, reasoning="keep")
    assert history[3] in kept


def test_law_11_other_providers_keep_their_reasoning_unless_it_is_dropped():
    """Signatures of others are left alone; `drop` takes all reasoning out."""
    history = [HumanMessage("Begin."), AIMessage(LONG), HumanMessage("And?")]
    history += [thought("Old.", "google_genai"), HumanMessage("Now?")]
    out = trim_episodes(history, max_tokens=150, target_tokens=150)
    assert history[3] in out
    bare = trim_episodes(history, max_tokens=1_000, reasoning="drop")
    assert bare[3].content == [{"type": "text", "text": "Old."}]
    plain = AIMessage([{"type": "text", "text": "Noon."}])
    assert trim_episodes([plain], max_tokens=99, reasoning="drop")[0] is plain


def test_law_13_an_edit_in_place_is_noticed():
    """A message, an argument or a block that was edited gives the right answer too."""
    history = [HumanMessage([{"type": "text", "text": "Begin."}]), *loop(3, "ok")[1:]]
    trimmer = EpisodeTrimmer(300)
    trimmer.invoke(history)
    edits = [
        lambda: setattr(history[2], "content", LONG),
        lambda: history[3].tool_calls[0]["args"].update(place="x" * 400),
        lambda: history[0].content[0].update(text="B" * 300),
    ]
    for edit in edits:
        edit()
        assert trimmer.invoke(history) == EpisodeTrimmer(300).invoke(history)


def test_law_13_equal_copies_are_recognised_and_returned():
    """Messages from a checkpoint are known by what they say, and come back as given."""
    counter_calls = []

    class Counting(ApproximateCounter):
        def __call__(self, messages):
            counter_calls.extend(messages)
            return super().__call__(messages)

    trimmer = EpisodeTrimmer(2_000, token_counter=Counting())
    history = loop(6)
    trimmer.invoke(history)
    first = len(counter_calls)
    copies = [m.model_copy() for m in history]
    out = trimmer.invoke([*copies, HumanMessage("Go on.")])
    assert out[0] is copies[0]
    assert len(counter_calls) == first + 1


def test_law_13_the_memory_of_conversations_is_bounded():
    """Many conversations leave a bounded number behind."""
    trimmer = EpisodeTrimmer(500)
    for k in range(60):
        trimmer.invoke([HumanMessage(f"talk {k}"), AIMessage("yes")])
    assert len(trimmer._engine.sessions) == 16


def test_any_role_of_a_chat_message_finds_its_place():
    """Developers instruct, users ask, others talk."""
    history = [
        ChatMessage("Be brief.", role="developer"),
        ChatMessage("Hi", role="user"),
    ]
    history += [ChatMessage(LONG, role="critic"), ChatMessage("Well?", role="human")]
    out = trim_episodes(history, max_tokens=60)
    assert [m.content for m in out] == ["Be brief.", "Hi", "Well?"]
