"""Memories in any `langgraph` store."""

from __future__ import annotations

from langchain_memkit.stores.langgraph.store import LangGraphMemoryStore

__all__ = ["LangGraphMemoryStore"]
