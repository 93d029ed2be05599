"""Decide, without a model call, what stays in a context window, fades and comes back.

Public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_memkit.core.budget import BudgetSplit, ContextBudget
    from langchain_memkit.core.decay import ForgetConfig, should_forget
    from langchain_memkit.core.eviction import (
        ContextEpisode,
        EpisodeKind,
        EvictionPlan,
        plan_eviction,
    )
    from langchain_memkit.core.excerpts import ExcerptWeights
    from langchain_memkit.core.retention import (
        EvidenceCapsule,
        RetentionCandidate,
        RetentionReport,
        recoverability,
        retain_within_budget,
    )
    from langchain_memkit.core.tokens import estimate_tokens
    from langchain_memkit.counters.approximate import ApproximateCounter
    from langchain_memkit.counters.tiktoken import TiktokenCounter
    from langchain_memkit.exceptions import (
        BudgetExceededError,
        CounterError,
        EvidenceChangedError,
        EvidenceNotFoundError,
        InvalidInputError,
        MemkitError,
        MemoryNotFoundError,
        MissingExtraError,
        StoreError,
        StoreVersionError,
        UnsafeNameError,
    )
    from langchain_memkit.memory import (
        ConsolidationReport,
        ForgettingMemory,
        MemoryRecord,
        copy_memories,
        export_memories,
        import_memories,
        migrate_time_weighted,
        render_memories,
    )
    from langchain_memkit.messages import is_pinned, pin, recall_key, without_marks
    from langchain_memkit.retriever import (
        CapsuleCompressor,
        CapsuleRetriever,
        Citation,
        CitationReport,
        InMemoryAccessLog,
        MemoryAccessLog,
        RecentDocstore,
        format_capsules,
        report_of,
        verify_citations,
    )
    from langchain_memkit.stores.file import FileMemoryStore
    from langchain_memkit.stores.langgraph import LangGraphMemoryStore
    from langchain_memkit.stores.sql import SQLMemoryStore
    from langchain_memkit.trimmer import (
        EpisodeTrimmer,
        HistoryFault,
        TrimReport,
        safe_cut_points,
        trim_episodes,
        validate_history,
    )

__version__ = "0.1.0"

_HOMES = {
    "core.budget": ("BudgetSplit", "ContextBudget"),
    "core.decay": ("ForgetConfig", "should_forget"),
    "core.eviction": (
        "ContextEpisode",
        "EpisodeKind",
        "EvictionPlan",
        "plan_eviction",
    ),
    "core.excerpts": ("ExcerptWeights",),
    "core.retention": (
        "EvidenceCapsule",
        "RetentionCandidate",
        "RetentionReport",
        "recoverability",
        "retain_within_budget",
    ),
    "core.tokens": ("estimate_tokens",),
    "counters.approximate": ("ApproximateCounter",),
    "counters.tiktoken": ("TiktokenCounter",),
    "exceptions": (
        "BudgetExceededError",
        "CounterError",
        "EvidenceChangedError",
        "EvidenceNotFoundError",
        "InvalidInputError",
        "MemkitError",
        "MemoryNotFoundError",
        "MissingExtraError",
        "StoreError",
        "StoreVersionError",
        "UnsafeNameError",
    ),
    "retriever": (
        "CapsuleCompressor",
        "CapsuleRetriever",
        "Citation",
        "CitationReport",
        "InMemoryAccessLog",
        "MemoryAccessLog",
        "RecentDocstore",
        "format_capsules",
        "report_of",
        "verify_citations",
    ),
    "memory": (
        "ConsolidationReport",
        "ForgettingMemory",
        "MemoryRecord",
        "copy_memories",
        "export_memories",
        "import_memories",
        "migrate_time_weighted",
        "render_memories",
    ),
    "stores.file": ("FileMemoryStore",),
    "stores.langgraph": ("LangGraphMemoryStore",),
    "stores.sql": ("SQLMemoryStore",),
    "messages": ("is_pinned", "pin", "recall_key", "without_marks"),
    "trimmer": (
        "EpisodeTrimmer",
        "HistoryFault",
        "TrimReport",
        "safe_cut_points",
        "trim_episodes",
        "validate_history",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ApproximateCounter",
    "BudgetExceededError",
    "BudgetSplit",
    "CapsuleCompressor",
    "CapsuleRetriever",
    "Citation",
    "CitationReport",
    "ConsolidationReport",
    "ContextBudget",
    "ContextEpisode",
    "CounterError",
    "EpisodeKind",
    "EpisodeTrimmer",
    "EvictionPlan",
    "EvidenceCapsule",
    "EvidenceChangedError",
    "EvidenceNotFoundError",
    "ExcerptWeights",
    "FileMemoryStore",
    "ForgetConfig",
    "ForgettingMemory",
    "HistoryFault",
    "InMemoryAccessLog",
    "InvalidInputError",
    "LangGraphMemoryStore",
    "MemkitError",
    "MemoryAccessLog",
    "MemoryNotFoundError",
    "MemoryRecord",
    "MissingExtraError",
    "RecentDocstore",
    "RetentionCandidate",
    "RetentionReport",
    "SQLMemoryStore",
    "StoreError",
    "StoreVersionError",
    "TiktokenCounter",
    "TrimReport",
    "UnsafeNameError",
    "__version__",
    "copy_memories",
    "estimate_tokens",
    "export_memories",
    "format_capsules",
    "import_memories",
    "is_pinned",
    "migrate_time_weighted",
    "pin",
    "plan_eviction",
    "recall_key",
    "recoverability",
    "render_memories",
    "report_of",
    "retain_within_budget",
    "safe_cut_points",
    "should_forget",
    "trim_episodes",
    "validate_history",
    "verify_citations",
    "without_marks",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use.

    Args:
        name: A name of `__all__`.

    Returns:
        What it names.

    Raises:
        AttributeError: There is no such name.
    """
    if name not in _HOME_OF:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value: object = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names.

    Returns:
        The names, sorted.
    """
    return sorted({*globals(), *__all__})
