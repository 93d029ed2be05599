"""What a type checker sees of the public names: checked by mypy, never run."""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage

from langchain_memkit import (
    ApproximateCounter,
    CapsuleRetriever,
    ConsolidationReport,
    ContextBudget,
    EpisodeTrimmer,
    EvictionPlan,
    FileMemoryStore,
    ForgetConfig,
    ForgettingMemory,
    RetentionReport,
    SQLMemoryStore,
    estimate_tokens,
    format_capsules,
    plan_eviction,
    recall_key,
    recoverability,
    retain_within_budget,
    should_forget,
    trim_episodes,
    validate_history,
)
from langchain_memkit.protocols import Archive, MemoryStore, TokenCounter

messages: list[BaseMessage] = [HumanMessage("hi")]

assert_type(estimate_tokens("a"), int)
assert_type(recoverability(1.0, 2), float)
assert_type(retain_within_budget([], 10), RetentionReport)
assert_type(plan_eviction([], 10), EvictionPlan)
assert_type(should_forget(timedelta(days=1), 0.5, config=ForgetConfig()), bool)
assert_type(ContextBudget(max_tokens=10).split().history_tokens, int)

assert_type(EpisodeTrimmer(max_tokens=10).invoke(messages), list[BaseMessage])
assert_type(trim_episodes(messages, max_tokens=10), list[BaseMessage])
assert_type(recall_key(messages[0]), str | None)
validate_history(messages)

store: MemoryStore = FileMemoryStore("memories")
store = SQLMemoryStore("sqlite://")
memory = ForgettingMemory(store)
archive: Archive = memory
counter: TokenCounter = ApproximateCounter()
assert_type(memory.recall("tone"), str)
assert_type(memory.consolidate(), ConsolidationReport)
assert_type(memory.search("tone"), list[Document])

retriever = CapsuleRetriever(base_retriever=memory.as_retriever())
assert_type(retriever.invoke("tone"), list[Document])
assert_type(format_capsules(retriever.invoke("tone")), str)
