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

__all__ = [
    "Answer",
    "ConsolidationReport",
    "ForgettingMemory",
    "MemoryRecord",
    "forget_answer",
    "make_tools",
    "make_tools_for",
    "recall_answer",
    "remember_answer",
    "render_memories",
]
