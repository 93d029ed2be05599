"""An agent that is shown capsules and fetches the full text behind one by its key.

You will see the capsules that the agent's search tool returned, and the part of the
full text that it read because the capsule was not enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from langchain_memkit import CapsuleRetriever, format_capsules
from langchain_memkit.testing import ScriptedChatModel

LOG = "\n".join(
    f"Day {day}: wind {day % 9} from the west, {day * 7} miles." for day in range(1, 60)
)
NOTES = [Document(LOG, id="log"), Document("Kites need wind.", id="kites")]
BASE = RunnableLambda[str, list[Document]](lambda _query: NOTES)
retriever = CapsuleRetriever(base_retriever=BASE, budget_tokens=40)


@tool
def search(query: str) -> str:
    """Search the ship's papers."""
    return format_capsules(retriever.invoke(query))


def answer(messages: Sequence[BaseMessage]) -> AIMessage | str:
    """Play the model: search, fetch what was found by its key, answer from it."""
    seen = messages[-1].text
    if isinstance(messages[-1], HumanMessage):
        call = {"name": "search", "args": {"query": seen}, "id": "1"}
        return AIMessage("", tool_calls=[call])
    if key := re.search('key="([0-9a-f]+)"', seen):
        part = {"key": key[1], "offset": 0, "length": 100}
        call = {"name": "fetch_evidence", "args": part, "id": "2"}
        return AIMessage("", tool_calls=[call])
    return f"The log begins: {seen.splitlines()[0]}"


def main() -> None:
    """Ask about one day."""
    model = ScriptedChatModel(script=answer)
    agent = create_agent(model, [search, retriever.as_fetch_tool()])
    question = HumanMessage("How many miles on day 41?")
    for message in agent.invoke({"messages": [question]})["messages"][2:]:
        print(f"{message.type}: {message.text}")


if __name__ == "__main__":
    main()
