"""A conversation of our own, and ways to keep it in budget that need no package."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_memkit.cli.compare import Method, compare, parse_budget
from langchain_memkit.cli.transcripts import Transcript
from langchain_memkit.counters.approximate import ApproximateCounter


def step(number, text):
    """Make a call and its result."""
    call = {"name": "look_up", "args": {"page": number}, "id": f"c{number}"}
    return [
        AIMessage(f"I look at page {number}.", tool_calls=[call]),
        ToolMessage(text, tool_call_id=f"c{number}", name="look_up"),
    ]


@pytest.fixture
def conversation():
    """A question, and six pages that were read to answer it."""
    pages = [m for n in range(6) for m in step(n, f"Page {n}: " + "wind " * 40)]
    return [
        SystemMessage("Be brief."),
        HumanMessage("Why do kites fly?"),
        *pages,
        AIMessage("The wind lifts them."),
    ]


def newest(budget_tokens, counter, gauge):
    """Keep what is newest, and part calls from their results."""
    return lambda messages: messages[-4:]


def shortened(budget_tokens, counter, gauge):
    """Replace the text of old results."""

    def send(messages):
        return [
            m.model_copy(update={"content": "left out"}) if m.type == "tool" else m
            for m in messages[:-2]
        ] + messages[-2:]

    return send


@pytest.fixture
def methods():
    """Three methods, the last one taken for this package's."""
    return [
        Method("everything", "all of it", lambda *_: list),
        Method("newest", "the last four", newest),
        Method("shortened", "old results cut", shortened),
    ]


def faults(messages):
    """Find results whose call is missing."""
    known = {c["id"] for m in messages for c in getattr(m, "tool_calls", ())}
    return [m for m in messages if m.type == "tool" and m.tool_call_id not in known]


@pytest.fixture
def measure(methods):
    """Compare the methods on conversations."""

    def run(*conversations, budget="50%", methods=methods):
        named = enumerate(conversations, 1)
        return compare(
            [Transcript(f"run#{n}", tuple(one)) for n, one in named],
            budget=parse_budget(budget),
            methods=methods,
            counter=ApproximateCounter(),
            validate=faults,
        )

    return run
