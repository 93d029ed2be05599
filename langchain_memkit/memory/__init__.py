"""Memories that fade unless they are used."""

from __future__ import annotations

from langchain_memkit.memory.answers import (
    Answer,
    forget_answer,
    recall_answer,
    remember_answer,
)
from langchain_memkit.memory.forgetting import ForgettingMemory
from langchain_memkit.memory.reports import ConsolidationReport, MemoryRecord
from langchain_memkit.memory.residents import render_memories
from langchain_memkit.memory.tools import make_tools, make_tools_for
from langchain_memkit.memory.transfer import (
    copy_memories,
    export_memories,
    import_memories,
    migrate_time_weighted,
)

__all__ = [
    "Answer",
    "ConsolidationReport",
    "ForgettingMemory",
    "MemoryRecord",
    "copy_memories",
    "export_memories",
    "forget_answer",
    "import_memories",
    "make_tools",
    "make_tools_for",
    "migrate_time_weighted",
    "recall_answer",
    "remember_answer",
    "render_memories",
]
