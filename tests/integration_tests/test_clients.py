"""What real clients would send of trimmed histories: no orphan, no lost result."""

from functools import cache

import pytest
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit import EpisodeTrimmer
from langchain_memkit.counters.approximate import ApproximateCounter

count = ApproximateCounter()


def call(name, **args):
    return {"name": "look_up", "args": args, "id": name, "type": "tool_call"}


def step(name, result, said=""):
    return [
        AIMessage(said, tool_calls=[call(name, place=name)]),
        ToolMessage(result, tool_call_id=name),
    ]


def parallel(names, result):
    head = AIMessage("Both at once.", tool_calls=[call(name) for name in names])
    return [head, *(ToolMessage(result, tool_call_id=name) for name in names)]


def thinking(name, result):
    blocks = [
        {"type": "thinking", "thinking": "The tide first.", "signature": "c2ln"},
        {"type": "text", "text": "I look at the tide."},
        {"type": "tool_use", "id": name, "name": "look_up", "input": {}},
    ]
    return [
        AIMessage(blocks, tool_calls=[call(name)]),
        ToolMessage(result, tool_call_id=name),
    ]


LOG = "buoy,height,wind\n" * 60
HISTORIES = {
    "loop": [
        SystemMessage("Watch the harbour."),
        HumanMessage("When can the ferry leave?"),
        *(message for k in range(9) for message in step(f"c{k}", LOG, "Next.")),
    ],
    "dialogue": [
        SystemMessage("Watch the harbour."),
        AIMessage("Good morning."),
        HumanMessage("When can the ferry leave?"),
        *parallel(["a1", "a2"], LOG),
        AIMessage("At noon."),
        HumanMessage("And the second one?"),
        *parallel(["b1", "b2", "b3"], LOG),
        AIMessage("At two."),
        HumanMessage("Thank you. The third?"),
    ],
    "broken": [
        HumanMessage("Call the pilot."),
        AIMessage("", tool_calls=[call("never")]),
        HumanMessage("Still there?"),
        AIMessage("Yes.", tool_calls=[call("late"), call("later")]),
        HumanMessage("And?"),
        ToolMessage(LOG, tool_call_id="later"),
        ToolMessage("The pilot is aboard.", tool_call_id="late"),
        ToolMessage("Nobody asked.", tool_call_id="orphan"),
        HumanMessage("Good."),
    ],
    "thinking": [
        SystemMessage("Watch the harbour."),
        HumanMessage("When can the ferry leave?"),
        *(message for k in range(8) for message in thinking(f"t{k}", LOG)),
    ],
}


@cache
def made(package, name, **options):
    """Make a client once; it is never called."""
    return getattr(pytest.importorskip(package), name)(**options)


def anthropic(messages):
    """Return the ids of calls and results as Anthropic gets them."""
    options = {"model": "claude-sonnet-4-5", "api_key": "none"}
    client = made("langchain_anthropic", "ChatAnthropic", **options)
    sent = client._get_request_payload(messages)["messages"]
    assert all(message["content"] for message in sent)
    blocks = [b for m in sent if isinstance(m["content"], list) for b in m["content"]]
    return (
        [b["id"] for b in blocks if b["type"] == "tool_use"],
        [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"],
    )


def openai_chat(messages):
    """Return the ids of calls and results as OpenAI's chat completions get them."""
    client = made("langchain_openai", "ChatOpenAI", model="gpt-4o", api_key="none")
    sent = client._get_request_payload(messages)["messages"]
    return (
        [c["id"] for message in sent for c in message.get("tool_calls") or ()],
        [message["tool_call_id"] for message in sent if message["role"] == "tool"],
    )


def openai_responses(messages):
    """Return the ids of calls and results as OpenAI's responses get them."""
    options = {"model": "gpt-4o", "api_key": "none", "use_responses_api": True}
    client = made("langchain_openai", "ChatOpenAI", **options)
    sent = client._get_request_payload(messages)["input"]
    kinds = ("function_call", "function_call_output")
    return tuple(
        [item["call_id"] for item in sent if item.get("type") == kind] for kind in kinds
    )


def google(messages):
    """Return the names of calls and results as Gemini gets them."""
    options = {"model": "gemini-2.5-flash", "google_api_key": "none"}
    client = made("langchain_google_genai", "ChatGoogleGenerativeAI", **options)
    prepared = client._prepare_request(messages)
    parts = [part for content in prepared["contents"] for part in content.parts]
    return (
        [part.function_call.name for part in parts if part.function_call],
        [part.function_response.name for part in parts if part.function_response],
    )


@pytest.mark.filterwarnings("ignore")  # of the clients, none of them ours
@pytest.mark.parametrize("client", [anthropic, openai_chat, openai_responses, google])
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES.keys())
def test_law_3_clients_send_every_call_with_its_result(client, history):
    """At any budget each call that a client sends is answered, and none is lost."""
    for share in (0.2, 0.4, 0.6, 0.8, 1.5):
        budget = int(share * count(history))
        for mode in ("keep", "hoist"):
            trimmer = EpisodeTrimmer(budget, system_messages=mode, on_overflow="keep")
            out = trimmer.invoke(history)
            calls, results = client(out)
            assert sorted(calls) == sorted(results)
            assert len(results) == sum(isinstance(m, ToolMessage) for m in out)
