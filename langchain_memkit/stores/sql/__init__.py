"""Memories in SQLite or PostgreSQL."""

from __future__ import annotations

from langchain_memkit.stores.sql.store import SQLMemoryStore

__all__ = ["SQLMemoryStore"]
