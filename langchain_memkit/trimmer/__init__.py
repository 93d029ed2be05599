"""Fit a history into a token budget: what leaves, in which order, and why."""

from langchain_memkit.trimmer.calls import TrimCall, TrimResult
from langchain_memkit.trimmer.episode_trimmer import EpisodeTrimmer, trim_episodes
from langchain_memkit.trimmer.evidence import entry_of
from langchain_memkit.trimmer.report import TrimReport, TrimRow
from langchain_memkit.trimmer.validation import (
    HistoryFault,
    safe_cut_points,
    validate_history,
)

__all__ = [
    "EpisodeTrimmer",
    "HistoryFault",
    "TrimCall",
    "TrimReport",
    "TrimResult",
    "TrimRow",
    "entry_of",
    "safe_cut_points",
    "trim_episodes",
    "validate_history",
]
