"""What comes back from a retriever, as short verbatim capsules under a budget."""

from langchain_memkit.retriever.access import InMemoryAccessLog
from langchain_memkit.retriever.docstore import RecentDocstore
from langchain_memkit.retriever.faces import CapsuleCompressor, CapsuleRetriever
from langchain_memkit.retriever.rendering import format_capsules
from langchain_memkit.retriever.reports import report_of

__all__ = [
    "CapsuleCompressor",
    "CapsuleRetriever",
    "InMemoryAccessLog",
    "RecentDocstore",
    "format_capsules",
    "report_of",
]
