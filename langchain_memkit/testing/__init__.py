"""Fakes and suites for users' tests and our own."""

from langchain_memkit.testing.models import ModelCall, ScriptedChatModel

__all__ = ["ModelCall", "ScriptedChatModel"]
