"""What comes back from a retriever, as short verbatim capsules under a budget."""

from langchain_memkit.retriever.access import InMemoryAccessLog
from langchain_memkit.retriever.citations import (
    Citation,
    CitationReport,
    verify_citations,
)
from langchain_memkit.retriever.docstore import RecentDocstore
from langchain_memkit.retriever.faces import CapsuleCompressor, CapsuleRetriever
from langchain_memkit.retriever.rendering import format_capsules
from langchain_memkit.retriever.reports import report_of
from langchain_memkit.retriever.store_log import MemoryAccessLog

__all__ = [
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
]
