"""Memories as plain files of one folder."""

from __future__ import annotations

from langchain_memkit.stores.file.store import FileMemoryStore

__all__ = ["FileMemoryStore"]
