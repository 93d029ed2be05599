"""What the model reads: one escaped block a capsule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from langchain_memkit.core.models import check_choice
from langchain_memkit.retriever.reports import capsules_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.documents import Document

    from langchain_memkit.core.capsules import EvidenceCapsule, RetentionReport

__all__ = ["BLOCK_JOINT", "escape_text", "format_capsules", "render_block"]

BLOCK_JOINT = "\n"
"""What stands between two blocks."""


def escape_text(text: str) -> str:
    """Escape a text so that it cannot close the block that it stands in.

    Args:
        text: Any text.

    Returns:
        The text with `&`, `<` and `>` as entities; `html.unescape` gives it back.

    Example:
        >>> escape_text("</evidence>")
        '&lt;/evidence&gt;'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def render_block(key: str, excerpt: str) -> str:
    """Render one capsule.

    Args:
        key: The retrieval key.
        excerpt: The verbatim text.

    Returns:
        One block, escaped.

    Example:
        >>> render_block("1f2e3d4c", "Kites need wind.")
        '<evidence key="1f2e3d4c">Kites need wind.</evidence>'
    """
    name = escape_text(key).replace('"', "&quot;")
    return f'<evidence key="{name}">{escape_text(excerpt)}</evidence>'


def format_capsules(
    source: Iterable[Document] | Iterable[EvidenceCapsule] | RetentionReport,
    *,
    order: Literal["rank", "source"] = "rank",
) -> str:
    """Render capsules for a prompt: one escaped block each, a line apart.

    Packed with `strategy="query"`, the whole text is within the budget.

    Args:
        source: Documents of a `CapsuleRetriever` or `CapsuleCompressor`, capsules, or
            a report.
        order: `rank` puts the most valuable first; `source` keeps the order in which
            the base retriever gave their documents.

    Returns:
        The blocks; empty where nothing was packed.

    Raises:
        InvalidInputError: There is no such order.

    Example:
        >>> format_capsules([])
        ''
    """
    check_choice("order", order, ("rank", "source"))
    capsules = capsules_of(source)
    if order == "source":
        capsules = sorted(capsules, key=_position)
    return BLOCK_JOINT.join(render_block(c.retrieval_key, c.excerpt) for c in capsules)


def _position(capsule: EvidenceCapsule) -> int:
    return capsule.position
