"""A day of an agent on a small budget, without a key and without a network.

You will see what left the agent's history and why, that the rules stayed word for word,
that what left comes back by its key, how a weak memory fades, and how documents are
packed as capsules.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import tool

from langchain_memkit import (
    ApproximateCounter,
    CapsuleRetriever,
    EpisodeTrimmer,
    FileMemoryStore,
    ForgetConfig,
    ForgettingMemory,
    TrimReport,
    format_capsules,
    recall_key,
    validate_history,
)
from langchain_memkit.middleware import (
    EpisodeTrimMiddleware,
    ForgettingMemoryMiddleware,
)
from langchain_memkit.testing import FakeClock, ScriptedChatModel

POLICY = "You run the harbour's berth desk. Never give out a skipper's phone number."
RULE = "Find berths for our regatta. We need shore power, and no pier north of 20."
PIERS = 36
NOTES = {
    5: "The crane lifts up to 20 tonnes.",
    11: "The fuel pump is open from 7 to 18.",
    17: "The pontoon is closed for repairs until June.",
    29: "Fuel is brought by barge on Fridays.",
}
BUDGET_TOKENS = 2_400
ROWS_A_KIND = 2
COUNT = ApproximateCounter()


@tool
def inspect_pier(pier: int) -> str:
    """Look a pier up in the harbour's register."""
    berths = "; ".join(
        f"berth {pier}-{n}: {6 + (pier + n) % 9} m, "
        f"{'shore power' if (pier * n) % 3 else 'no power'}, "
        f"{'free' if (pier + n) % 4 else 'taken until Sunday'}"
        for n in range(1, 9)
    )
    side = "north" if pier > PIERS // 2 else "south"
    return f"Pier {pier}, {side} side. {berths}.\n{NOTES.get(pier, '')}"


def desk_clerk(messages: Sequence[BaseMessage]) -> AIMessage:
    """Answer as a model would that goes from pier to pier."""
    last = messages[-1]
    pier = 0
    if isinstance(last, ToolMessage):
        pier = int(last.tool_call_id.removeprefix("pier-"))
    if pier == PIERS:
        return AIMessage("Piers 2, 5 and 11 have room and power for the regatta.")
    call = {
        "name": "inspect_pier",
        "args": {"pier": pier + 1},
        "id": f"pier-{pier + 1}",
    }
    return AIMessage(f"I look at pier {pier + 1} next.", tool_calls=[call])


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def work(memory: ForgettingMemory) -> tuple[ScriptedChatModel, list[BaseMessage]]:
    """Let the agent go through all piers; return its model and its full history."""
    model = ScriptedChatModel(script=desk_clerk)
    middleware: list[AgentMiddleware[Any, Any]] = [
        ForgettingMemoryMiddleware(memory=memory, budget_tokens=96),
        EpisodeTrimMiddleware(max_tokens=BUDGET_TOKENS, memory=memory),
    ]
    agent = create_agent(
        model, [inspect_pier], system_prompt=POLICY, middleware=middleware
    )
    state = agent.invoke(
        {"messages": [HumanMessage(RULE)]}, {"recursion_limit": 10 * PIERS}
    )
    return model, list(state["messages"])


def show_trimming(history: list[BaseMessage], memory: ForgettingMemory) -> TrimReport:
    """Print what the trimmer does to the whole history, and why."""
    full = [SystemMessage(POLICY), *history]
    report = EpisodeTrimmer(BUDGET_TOKENS, memory=memory).explain(full)
    print(f"{'message':22}{'what':18}{'became':10}{'tokens':>16}  why")
    shown: Counter[tuple[str, str]] = Counter()
    for row in report.rows:
        shown[row.kind, row.action] += 1
        if shown[row.kind, row.action] <= ROWS_A_KIND:
            start = f"#{row.index} {full[row.index].text[:14]}…"
            tokens = f"{row.tokens_before} -> {row.tokens_after}"
            print(f"{start:22}{row.kind:18}{row.action:10}{tokens:>16}  {row.reason}")
    rest = {
        f"{kind} {action}": n for (kind, action), n in shown.items() if n > ROWS_A_KIND
    }
    print("in all: " + ", ".join(f"{n} x {what}" for what, n in rest.items()))
    print(f"{report.tokens_before} tokens before, {report.tokens_after} after")
    return report


def show_prompts(model: ScriptedChatModel) -> None:
    """Print that every prompt was in budget, valid, and had the rules in it."""
    sizes = [call.count(COUNT) for call in model.calls]
    print(f"{len(sizes)} model calls, longest prompt {max(sizes)} of {BUDGET_TOKENS}")
    for name, text in (("policy", POLICY), ("the user's rule", RULE)):
        kept = sum(any(m.text == text for m in c.messages) for c in model.calls)
        print(f"{name} word for word in {kept} of {len(sizes)} prompts")
    valid = sum(not validate_history(call.messages) for call in model.calls)
    print(f"valid history in {valid} of {len(sizes)} prompts")


def show_recall(
    model: ScriptedChatModel, history: list[BaseMessage], memory: ForgettingMemory
) -> None:
    """Fetch a tool result that left, by the key that stands in its place."""
    stub = next(m for m in model.calls[-1].messages if recall_key(m))
    key = recall_key(stub) or ""
    text = memory.recall(key)
    print(f"in the prompt: {stub.text}")
    print(f"recalled:      {text[:56]}…")
    print(f"word for word: {any(text == m.text for m in history)}")


def show_decay(memory: ForgettingMemory, clock: FakeClock) -> None:
    """Let eight days pass: what is weak and unused fades, what is used stays."""
    clock.advance(timedelta(days=8))
    memory.recall("regatta-date")
    before = len(memory)
    report = memory.consolidate()
    pruned = [name for name in report.pruned if name == "coffee-order"]
    print(f"{before} memories, {len(report.pruned)} faded, among them {pruned}")
    print(f"still there: {memory.recall('regatta-date')}")


def show_capsules(history: list[BaseMessage]) -> None:
    """Pack the register, six piers a document, for a question, under a budget."""
    pages = [m.text.rstrip() for m in history if isinstance(m, ToolMessage)]
    documents = [
        Document("\n".join(pages[at : at + 6]), id=f"register-{at // 6}")
        for at in range(0, PIERS, 6)
    ]
    base: Runnable[str, list[Document]] = RunnableLambda(lambda _: documents)
    retriever = CapsuleRetriever(base_retriever=base, budget_tokens=128)
    rendered = format_capsules(retriever.invoke("When can we buy fuel?"))
    whole = sum(COUNT.count_text(document.page_content) for document in documents)
    packed = COUNT.count_text(rendered)
    print(f"{len(documents)} documents of {whole} tokens -> {packed} of 128")
    print(rendered)


def main() -> None:
    """Run the day."""
    clock = FakeClock(datetime(2030, 5, 1, 9, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as folder:
        store = FileMemoryStore(Path(folder, "memories"))
        memory = ForgettingMemory(store, ForgetConfig.weak_sooner(), clock=clock)
        memory.remember("regatta-date", "The regatta is on 12 June.", importance=0.9)
        memory.remember("coffee-order", "Two coffees, one black.", importance=0.1)

        title(f"1. An agent inspects {PIERS} piers on {BUDGET_TOKENS} tokens")
        model, history = work(memory)
        show_prompts(model)
        title("2. What left, and why")
        show_trimming(history, memory)
        title("3. What left comes back by its key")
        show_recall(model, history, memory)
        title("4. Eight days later, a turn of decay")
        show_decay(memory, clock)
        title("5. Documents as capsules")
        show_capsules(history)


if __name__ == "__main__":
    main()
