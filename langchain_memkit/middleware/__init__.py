"""Middleware for `create_agent`: a budget for the prompt, and memories that fade."""

from __future__ import annotations

from langchain_memkit.exceptions import MissingExtraError

try:
    import langchain.agents.middleware.types  # noqa: F401
except ImportError as error:
    raise MissingExtraError("agents", "langchain") from error

from langchain_memkit.middleware.edit import TrimEpisodesEdit
from langchain_memkit.middleware.memory import ForgettingMemoryMiddleware
from langchain_memkit.middleware.summary import EvidenceSummarizer
from langchain_memkit.middleware.trim import EpisodeTrimMiddleware

__all__ = [
    "EpisodeTrimMiddleware",
    "EvidenceSummarizer",
    "ForgettingMemoryMiddleware",
    "TrimEpisodesEdit",
]
