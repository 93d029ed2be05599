"""An agent on a small budget: what leaves its history is recalled by key.

You will see how long the prompts were, and an old tool result that came back word for
word after it had left.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from langchain_memkit import (
    ApproximateCounter,
    ForgettingMemory,
    SQLMemoryStore,
    recall_key,
)
from langchain_memkit.middleware import (
    EpisodeTrimMiddleware,
    ForgettingMemoryMiddleware,
)
from langchain_memkit.testing import ScriptedChatModel
from langchain_memkit.testing.models import tool_loop

BUDGET_TOKENS = 2_500


@tool
def read_page(step: int) -> str:
    """Read a page of the logbook."""
    return f"Page {step}. " + f"Wind {step % 9} from the west, sea calm. " * 12


def main() -> None:
    """Run 60 steps, then fetch the first page that left."""
    memory = ForgettingMemory(SQLMemoryStore("sqlite://"))
    memory.remember("tone", "Answer in one sentence.", importance=0.9)
    model = ScriptedChatModel(script=tool_loop(60, tool="read_page"))
    middleware: list[AgentMiddleware[Any, Any]] = [
        ForgettingMemoryMiddleware(memory=memory, budget_tokens=64),
        EpisodeTrimMiddleware(max_tokens=BUDGET_TOKENS, memory=memory),
    ]
    agent = create_agent(model, [read_page], middleware=middleware)
    task = HumanMessage("Read the logbook and tell me about the wind.")
    agent.invoke({"messages": [task]}, {"recursion_limit": 500})

    sizes = [call.count(ApproximateCounter()) for call in model.calls]
    print(f"{len(sizes)} calls, longest prompt {max(sizes)} of {BUDGET_TOKENS} tokens")
    key = next(filter(None, map(recall_key, model.calls[-1].messages)))
    print(f"recall {key}: {memory.recall(key)[:40]}…")


if __name__ == "__main__":
    main()
