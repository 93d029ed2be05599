"""Laws of the trim middleware on generated conversations and changing overheads."""

from hypothesis import given
from hypothesis import strategies as st
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import add_messages

from langchain_memkit import (
    ApproximateCounter,
    BudgetExceededError,
    validate_history,
)
from langchain_memkit.middleware import EpisodeTrimMiddleware
from langchain_memkit.testing import ScriptedChatModel

COUNT = ApproximateCounter()
MODEL = ScriptedChatModel(script=[])
PARTS = st.lists(
    st.one_of(
        st.integers(0, 60).map(lambda words: ("turn", words)),
        st.lists(st.integers(0, 150), min_size=1, max_size=3).map(
            lambda sizes: ("step", sizes)
        ),
    ),
    max_size=14,
)
SYSTEMS = st.lists(st.integers(0, 120), min_size=1, max_size=4)
BUDGETS = st.integers(400, 1_500)


def messages_of(number, part):
    """Make the messages of one part, by its place in the conversation."""
    kind, size = part
    if kind == "turn":
        said = AIMessage(f"Answer {number}.", id=f"e{number}")
        return [said, HumanMessage(f"Turn {number} {'w ' * size}", id=f"h{number}")]
    names = [f"c{number}-{k}" for k in range(len(size))]
    calls = [{"name": "look_up", "args": {}, "id": name} for name in names]
    results = [
        ToolMessage(f"{name} {'r ' * words}", tool_call_id=name, id=f"r{name}")
        for name, words in zip(names, size, strict=True)
    ]
    return [AIMessage("", tool_calls=calls, id=f"a{number}"), *results]


def send(middleware, state, system):
    """Make one model call, apply what it notes, and return what was sent."""
    sent = []

    def handler(request):
        sent.extend(request.messages)
        return ModelResponse([AIMessage("Hm.")])

    request = ModelRequest(
        model=MODEL,
        messages=state["messages"],
        system_message=system,
        state=state,
        runtime=None,
    )
    response = middleware.wrap_model_call(request, handler)
    if isinstance(response, ExtendedModelResponse):
        state.update(response.command.update)
    return sent


def grow(parts, systems):
    """Yield a state as it grows, with the system prompt of each call."""
    messages = [HumanMessage("Begin.", id="h")]
    yield messages, SystemMessage("s " * systems[0])
    for number, part in enumerate(parts):
        messages = messages + messages_of(number, part)
        yield messages, SystemMessage("s " * systems[number % len(systems)])


@given(PARTS, SYSTEMS, BUDGETS)
def test_every_prompt_is_valid_and_in_budget(parts, systems, budget):
    """Whatever is said and whatever else is sent, the whole keeps the budget."""
    middleware, state = EpisodeTrimMiddleware(max_tokens=budget), {}
    for messages, system in grow(parts, systems):
        state["messages"] = messages
        try:
            sent = send(middleware, state, system)
        except BudgetExceededError:
            continue
        assert COUNT([system, *sent]) <= budget
        assert validate_history(sent) == []
        assert state["messages"] is messages


@given(PARTS, SYSTEMS, BUDGETS)
def test_a_fresh_process_sends_the_same(parts, systems, budget):
    """With the record of a thread, another instance finds what the first found."""
    middleware, state = EpisodeTrimMiddleware(max_tokens=budget), {}
    for messages, system in grow(parts, systems):
        state["messages"] = messages
        twin = dict(state)
        try:
            sent = send(middleware, state, system)
        except BudgetExceededError:
            continue
        fresh = EpisodeTrimMiddleware(max_tokens=budget)
        assert send(fresh, twin, system) == sent
        assert twin == state


@given(PARTS, SYSTEMS, BUDGETS)
def test_nothing_that_left_comes_back(parts, systems, budget):
    """Once out of the prompt, or shortened, a message stays so, on any overhead."""
    middleware, state = EpisodeTrimMiddleware(max_tokens=budget), {}
    known, shown = set(), {}
    for messages, system in grow(parts, systems):
        state["messages"] = messages
        try:
            sent = send(middleware, state, system)
        except BudgetExceededError:
            return
        for message in sent:
            was = shown.get(message.id, "" if message.id in known else message.content)
            assert len(message.content) <= len(was)
        known = {message.id for message in messages}
        shown = {message.id: message.content for message in sent}


@given(PARTS, st.integers(0, 120), BUDGETS)
def test_a_stored_history_is_sent_like_a_kept_one(parts, system, budget):
    """With an unchanged overhead, `persist` changes the state and no prompt."""
    kept, stored = {}, {"messages": []}
    plain = EpisodeTrimMiddleware(max_tokens=budget)
    persisting = EpisodeTrimMiddleware(max_tokens=budget, persist=True)
    seen = 0
    for messages, prompt in grow(parts, [system]):
        kept["messages"] = messages
        stored["messages"] = add_messages(stored["messages"], messages[seen:])
        seen = len(messages)
        try:
            sent = send(plain, kept, prompt)
            update = persisting.before_model(stored, None) or {}
        except BudgetExceededError:
            return
        if update:
            history = add_messages(stored["messages"], update.pop("messages"))
            stored |= {**update, "messages": history}
        again = send(persisting, stored, prompt)
        assert [m.content for m in again] == [m.content for m in sent]
        assert len(stored["messages"]) <= len(messages)
