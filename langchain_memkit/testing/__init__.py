"""Fakes and suites for users' tests and our own.

The suite for stores is in `langchain_memkit.testing.conformance`; it needs pytest.
"""

from langchain_memkit.testing.fakes import DictMemoryStore, FakeClock
from langchain_memkit.testing.models import ModelCall, ScriptedChatModel, tool_loop

__all__ = [
    "DictMemoryStore",
    "FakeClock",
    "ModelCall",
    "ScriptedChatModel",
    "tool_loop",
]
