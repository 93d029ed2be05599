"""The laws of the trimmer, on generated histories of every odd kind."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit import (
    BudgetExceededError,
    EpisodeTrimmer,
    TrimReport,
    pin,
    recall_key,
    validate_history,
)
from langchain_memkit.core.keys import content_key
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.messages import (
    MARK,
    archive_text,
    is_human,
    is_pinned,
    is_system,
    mark_of,
    result_id,
    says_something,
)
from langchain_memkit.trimmer._counting import tokens_of
from langchain_memkit.trimmer._shapes import _twin

count = ApproximateCounter()
IDS = ("a", "b", "c", "")
TEXTS = st.sampled_from(
    ["", " ", "ok", "kites " * 9, "wind\n" * 40, "\ud800 odd", "👩‍👩‍👧" * 30]
)


def call(name):
    return {"name": "look", "args": {"q": "x" * 9}, "id": name, "type": "tool_call"}


def bad_call(name):
    return {"name": "look", "args": "{", "id": name, "error": "cut", "type": "invalid"}


def block(kind, name):
    field = "call_id" if kind == "function_call" else "id"
    return {"type": kind, field: name, "name": "look", "input": {}}


IMAGE = {"type": "image", "base64": "A" * 99, "mime_type": "image/png"}
THOUGHT = {"type": "thinking", "thinking": "hm " * 9, "signature": "s" * 30}
SERVER = {"type": "server_tool_use", "id": "srv", "name": "search", "input": {}}
LEGACY = {"function_call": {"name": "look", "arguments": "{}"}}

humans = st.one_of(
    TEXTS.map(HumanMessage),
    TEXTS.map(lambda t: HumanMessage([{"type": "text", "text": t}, IMAGE])),
    TEXTS.map(lambda t: ChatMessage(t, role="user")),
    st.just(HumanMessage([])),
    TEXTS.map(lambda t: pin(HumanMessage(t + "!"))),
)
talks = st.one_of(
    TEXTS.map(AIMessage),
    TEXTS.map(lambda t: AIMessage([{"type": "text", "text": t}])),
    TEXTS.map(lambda t: AIMessage([THOUGHT, {"type": "text", "text": t}])),
    st.just(AIMessage([THOUGHT])),
    st.just(AIMessage([SERVER, {"type": "text", "text": "found"}])),
    TEXTS.map(lambda t: AIMessageChunk(content=t)),
    TEXTS.map(lambda t: ChatMessage(t, role="critic")),
)
systems = st.one_of(
    TEXTS.map(SystemMessage), TEXTS.map(lambda t: ChatMessage(t, role="developer"))
)
ids = st.lists(st.sampled_from(IDS), min_size=1, max_size=3)
steps = st.one_of(
    st.builds(lambda t, n: AIMessage(t, tool_calls=[call(i) for i in n]), TEXTS, ids),
    ids.map(lambda n: AIMessage("", invalid_tool_calls=[bad_call(i) for i in n])),
    st.builds(
        lambda k, n: AIMessage([THOUGHT, *(block(k, i) for i in n)]),
        st.sampled_from(["tool_use", "tool_call", "function_call"]),
        ids,
    ),
    st.just(AIMessage("", additional_kwargs=LEGACY)),
    ids.map(
        lambda n: AIMessageChunk(
            content="",
            tool_call_chunks=[
                {"name": "look", "args": "{}", "id": i, "index": k}
                for k, i in enumerate(n)
            ],
        )
    ),
)
results = st.one_of(
    st.builds(lambda t, i: ToolMessage(t, tool_call_id=i), TEXTS, st.sampled_from(IDS)),
    st.builds(
        lambda t, i: ToolMessage([{"type": "text", "text": t}, IMAGE], tool_call_id=i),
        TEXTS,
        st.sampled_from(IDS),
    ),
    TEXTS.map(lambda t: FunctionMessage(t, name="look")),
)


@st.composite
def answered(draw):
    names = draw(ids)
    head = AIMessage(draw(TEXTS), tool_calls=[call(i) for i in names])
    texts = st.sampled_from(["", "r", "result " * 30, "row,value\n" * 60])
    return [head, *(ToolMessage(draw(texts), tool_call_id=i) for i in names)]


pieces = st.one_of(
    humans.map(lambda m: [m]),
    talks.map(lambda m: [m]),
    answered(),
    answered(),
    steps.map(lambda m: [m]),
    results.map(lambda m: [m]),
    systems.map(lambda m: [m]),
    st.just([RemoveMessage(id="gone")]),
)
histories = st.lists(pieces, max_size=14).map(
    lambda found: [
        m.model_copy(update={"id": f"m{k}"} if k % 3 else {})
        for k, m in enumerate(m for piece in found for m in piece)
    ]
)
tidy = st.lists(
    st.one_of(
        st.sampled_from(["go on", "why? " * 9]).map(lambda t: [HumanMessage(t)]),
        st.sampled_from(["yes", "because " * 9]).map(lambda t: [AIMessage(t)]),
        answered(),
        answered(),
    ),
    max_size=24,
).map(lambda found: [HumanMessage("Begin."), *(m for p in found for m in p)])
budgets = st.integers(min_value=1, max_value=600)
MODES = st.sampled_from(["keep", "hoist"])


def trimmed(history, budget, **options):
    options = {"on_overflow": "keep", **options}
    return EpisodeTrimmer(budget, **options).invoke(history)


def visible(history):
    return [m for m in history if not isinstance(m, RemoveMessage)]


def plain(message: BaseMessage):
    kwargs = {k: v for k, v in message.additional_kwargs.items() if k != MARK}
    return (type(message), str(message.content), str(kwargs))


@given(histories, budgets)
def test_law_1_the_budget_holds_or_the_error_says_so(history, budget):
    """The whole output fits, or what has to stay is named with its size."""
    spent = count(trimmed(history, budget))
    floor = 0
    try:
        spent = count(trimmed(history, budget, on_overflow="raise"))
    except BudgetExceededError as error:
        floor = error.floor_tokens
    assert spent <= budget or floor > budget


@given(histories, budgets)
def test_law_2_pins_stand_verbatim_once(history, budget):
    """Every system and pinned message is there, as often and as it was given."""
    out = trimmed(history, budget)
    for wanted in (is_system, is_pinned):
        assert [plain(m) for m in out if wanted(m)] == [
            plain(m)
            for m in visible(history)
            if wanted(m) and (result_id(m) is None or any(m is o for o in out))
        ]


@given(histories, budgets, MODES)
def test_law_3_the_output_is_valid(history, budget, mode):
    """No provider finds a fault, whatever the input was."""
    out = trimmed(history, budget, system_messages=mode)
    assert validate_history(out) == []


@given(histories, budgets)
def test_law_3_the_front_is_the_users_when_something_left(history, budget):
    """After an eviction the first message that is not the system's is the user's."""
    out = trimmed(history, budget)
    everything = trimmed(history, 1 << 40)
    front = next((m for m in out if not is_system(m)), None)
    if len(out) < len(everything) and any(map(is_human, history)) and front:
        at_front = is_human(front) or is_pinned(front)
        assert at_front or result_id(visible(history)[-1]) is not None


@given(histories, budgets)
def test_law_4_the_last_user_message_and_the_last_message_stay(history, budget):
    """The model sees what it is asked and what came last."""
    out, everything = trimmed(history, budget), trimmed(history, 1 << 40)
    users = [m for m in everything if is_human(m)]
    if users:
        assert plain(users[-1]) in map(plain, out)
        assert any(not is_system(m) for m in out)
    if everything:
        assert bool(out)


@given(histories, budgets)
def test_law_5_what_is_kept_keeps_its_order(history, budget):
    """The same objects stand in the order of the input, but for repairs."""
    place = {id(m): k for k, m in enumerate(history)}
    out = [place[id(m)] for m in trimmed(history, budget) if id(m) in place]
    moved = [m for m in trimmed(history, budget) if mark_of(m).get("moved")]
    assert moved or out == sorted(out)


@given(histories, budgets, MODES)
def test_law_7_trimming_twice_changes_nothing(history, budget, mode):
    """What was trimmed is its own trimming."""
    once = trimmed(history, budget, system_messages=mode)
    late = any(mark_of(m).get("moved") for m in once)
    if late and count(once) > budget:
        return  # the last message is another one, now that the late result moved up
    assert trimmed(once, budget, system_messages=mode) == once


@given(st.one_of(histories, tidy), budgets, st.integers(min_value=0, max_value=5))
def test_law_8_a_fresh_process_finds_what_a_long_lived_one_finds(history, budget, keep):
    """The answer depends on the history alone, at each of its lengths."""
    options = {"on_overflow": "keep", "keep_last_steps": keep}
    old = EpisodeTrimmer(budget, **options)
    for end in range(len(history) + 1):
        fresh = EpisodeTrimmer(budget, **options).invoke(history[:end])
        assert old.invoke(history[:end]) == fresh


@given(tidy, budgets)
def test_law_8_what_left_does_not_come_back(history, budget):
    """At each call of the model no message returns that an earlier one went without."""
    away = set()
    trimmer = EpisodeTrimmer(budget, on_overflow="keep")
    for end, message in enumerate(history, 1):
        follows = history[end : end + 1]
        if isinstance(message, AIMessage) or isinstance(
            next(iter(follows), None), ToolMessage
        ):
            continue
        here = {id(m) for m in trimmer.invoke(history[:end])}
        assert not away & here
        away |= {id(m) for m in history[:end]} - here


@given(histories, budgets)
def test_law_9_the_input_is_left_alone(history, budget):
    """Neither the list nor a message of it is changed."""
    before = copy.deepcopy(history)
    trimmed(history, budget)
    assert history == before


@given(histories)
def test_law_9_what_fits_and_is_valid_comes_back_equal(history):
    """Nothing is done where nothing is to be done."""
    if not validate_history(history):
        out = trimmed(history, 1 << 40)
        assert out == history
        assert all(a is b for a, b in zip(out, history, strict=True))


@given(histories, budgets)
def test_law_12_a_callable_is_held_to_the_count_of_the_whole(history, budget):
    """A counter that is not additive bounds the whole output all the same."""

    def odd(messages):
        return 7 + count(messages) + len(messages) // 3

    out = trimmed(history, budget, token_counter=odd)
    if not out or odd(out) <= budget:
        return
    with pytest.raises(BudgetExceededError) as caught:
        EpisodeTrimmer(budget, token_counter=odd).invoke(history)
    assert caught.value.floor_tokens > budget


@given(histories, budgets, MODES)
def test_the_report_adds_up_and_its_proof_finds_nothing(history, budget, mode):
    """A row a message, the tokens of the output, and no law broken but the budget."""
    trimmer = EpisodeTrimmer(budget, system_messages=mode, on_overflow="keep")
    report, out = trimmer.explain(history), trimmer.invoke(history)
    assert [row.index for row in report.rows] == list(range(len(history)))
    assert report.tokens_after == count(out)
    assert sum(row.tokens_after for row in report.rows) == report.tokens_after
    rules = {fault.rule for fault in report.verify(history, out)}
    late = visible(history)[-1:] and result_id(visible(history)[-1]) is not None
    allowed = {"law-1-budget"} if count(out) > budget else set()
    assert rules <= allowed | ({"law-3-front"} if late else set())
    assert TrimReport.model_validate_json(report.model_dump_json()) == report


@given(histories, budgets, st.sampled_from(["auto", "keep", "drop"]))
def test_law_11_reasoning_goes_as_it_was_told(history, budget, how):
    """Dropped reasoning is nowhere, kept reasoning stands in every kept message."""
    out = trimmed(history, budget, reasoning=how)
    assert validate_history(out) == []
    blocks = [b for m in out if isinstance(m.content, list) for b in m.content]
    thoughts = [b for b in blocks if isinstance(b, dict) and b["type"] == "thinking"]
    if how == "drop":
        assert not thoughts
    if how == "keep":
        assert not any(mark_of(m).get("form") == "bare" for m in out)
    assert trimmed(out, budget, reasoning=how) == out or count(out) > budget


class Shelf:
    """An archive that writes down what it was handed."""

    def __init__(self):
        self.taken = {}
        self.times = 0

    def archive(self, entries):
        self.times += 1
        for entry in entries:
            assert self.taken.setdefault(entry.key, entry) == entry

    async def aarchive(self, entries):
        self.archive(entries)


@given(histories, budgets)
def test_law_10_what_left_was_taken_first_and_keys_lead_to_it(history, budget):
    """Each text that is not sent any more was handed over, under the key shown."""
    shelf = Shelf()
    out = trimmed(history, budget, memory=shelf)
    options = {"memory": Shelf(), "on_overflow": "keep"}
    rows = EpisodeTrimmer(budget, **options).explain(history).rows
    for row in rows:
        message = history[row.index]
        if row.action in {"stubbed", "clipped", "evicted"} and says_something(message):
            assert content_key(archive_text(message)) in shelf.taken
    for message in out:
        if mark_of(message).get("form") in {"stub", "clip"}:
            assert recall_key(message) in shelf.taken


@given(histories)
def test_law_12_the_default_counter_is_read_right(history):
    """The short cuts for plain messages come to what the counter itself says."""
    costs = tokens_of("approximate").costs(history)
    assert costs == [count([message]) for message in history]


@given(histories)
def test_stubs_are_what_model_copy_would_make(history):
    """The fast copy of a message equals the slow one, and leaves the message alone."""
    for message in history:
        update = {"content": "x", "additional_kwargs": {"y": 1}}
        twin, slow = _twin(message, update), message.model_copy(update=update)
        assert twin == slow
        assert twin.model_dump() == slow.model_dump()
        assert twin.model_fields_set == slow.model_fields_set
