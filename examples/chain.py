"""Chains that remember: one of Runnables, and a classic one where it is installed.

You will see the memories that stand in the prompt, turn by turn, and one that fades.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from langchain_core.prompts import ChatPromptTemplate

from langchain_memkit import (
    EpisodeTrimmer,
    ForgetConfig,
    ForgettingMemory,
    MissingExtraError,
    SQLMemoryStore,
)
from langchain_memkit.testing import FakeClock, ScriptedChatModel


def main() -> None:
    """Run three turns, a week apart."""
    clock = FakeClock(datetime(2030, 1, 1, tzinfo=UTC))
    store = SQLMemoryStore("sqlite://")
    memory = ForgettingMemory(store, ForgetConfig.weak_sooner(), clock=clock)
    memory.remember("tone", "Answer in one sentence.", importance=0.9)
    memory.remember("lunch", "Had soup for lunch.", importance=0.1)

    prompt = ChatPromptTemplate.from_messages(
        [("system", "You know:\n{memories}"), ("human", "{question}")]
    )
    model = ScriptedChatModel(script=["At six.", "At seven.", "At eight."])
    chain = memory.as_runnable() | prompt | EpisodeTrimmer(max_tokens=500) | model
    for _ in range(3):
        answer = chain.invoke({"question": "When is high tide?"})
        print(model.calls[-1].messages[0].text, "->", answer.text, "\n")
        clock.advance(timedelta(days=7))
    run_classic(memory)


def run_classic(memory: ForgettingMemory) -> None:
    """Save a turn through the adapter for classic chains."""
    try:
        from langchain_memkit.classic import ForgettingChainMemory  # noqa: PLC0415 - an extra
    except MissingExtraError as error:
        print(f"skipped the classic chain: {error}")
        return
    classic = ForgettingChainMemory(memory=memory)
    classic.save_context({"input": "My boat is the Heron."}, {"output": "Noted."})
    print(classic.load_memory_variables({"input": "Which boat?"}))


if __name__ == "__main__":
    main()
