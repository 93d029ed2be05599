"""A rule that was stated once survives 300 steps; cut by age, the same run loses it.

You will see, for each way to keep the history in budget, how many of the model's calls
had the rule in front of them.
"""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, trim_messages
from langchain_core.tools import tool

from langchain_memkit import ApproximateCounter, EpisodeTrimmer
from langchain_memkit.testing import ScriptedChatModel
from langchain_memkit.testing.models import tool_loop

RULE = "Rename the 300 files one by one. Never touch anything in the vault folder."
STEPS = 300
BUDGET_TOKENS = 2_000


def by_age(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Keep the newest messages."""
    return trim_messages(
        messages,
        max_tokens=BUDGET_TOKENS,
        token_counter=ApproximateCounter(),
        strategy="last",
    )


def by_kind(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Keep what its kind says."""
    return EpisodeTrimmer(max_tokens=BUDGET_TOKENS).invoke(messages)


@tool
def rename(step: int) -> str:
    """Rename a file."""
    return f"File {step} is renamed. " + "Its links were checked. " * 9


def main() -> None:
    """Run the agent once, and look at each call as each way would send it."""
    model = ScriptedChatModel(script=tool_loop(STEPS, tool="rename"))
    state = create_agent(model, [rename]).invoke(
        {"messages": [HumanMessage(RULE)]}, {"recursion_limit": 3 * STEPS}
    )
    history: list[BaseMessage] = state["messages"]
    calls = [n for n, m in enumerate(history) if isinstance(m, AIMessage)]
    print(f"| way | calls with the rule, of {len(calls)} |\n|---|---|")
    for name, fit in (("by age", by_age), ("by kind", by_kind)):
        seen = sum(RULE in str(fit(history[:n])) for n in calls)
        print(f"| {name} | {seen} |")


if __name__ == "__main__":
    main()
