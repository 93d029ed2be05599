"""Whether what an answer quotes stands in the evidence that it was given."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Literal, NamedTuple

from langchain_memkit.core.models import FrozenModel
from langchain_memkit.retriever.reports import capsules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from langchain_core.documents import Document

    from langchain_memkit.core.capsules import EvidenceCapsule, RetentionReport

__all__ = ["Citation", "CitationReport", "verify_citations"]

_QUOTE = re.compile(r"“([^“”]+)”|„([^„“]+)“|«([^«»]+)»|「([^「」]+)」|\"([^\"]+)\"")
_NAMED_KEY = re.compile(r"\bkey\s*[=:]\s*[\"'`]?([^\s\"'`\])>]+)")
_BRACKETED = re.compile(r"[\[(]\s*[`\"']?([^\s\[\]()`\"']+)[`\"']?\s*[\])]")
_LOOKS_LIKE_KEY = re.compile(r"[0-9a-f]{8,64}")
_ELISION = re.compile(r"\s*(?:…|\.\.\.|\[…\]|\[\.\.\.\])\s*")
_NEAR_CHARACTERS = 60


class Citation(FrozenModel):
    """A quoted span or a key that an answer cites.

    Attributes:
        start: Where it stands in the answer.
        quote: What is quoted; empty where only a key is cited.
        key: The key cited, for a quote the one that follows it; empty where none is.
        fault: `unknown_key` for a key that no capsule has, `not_found` for a quote
            that no capsule holds, `other_capsule` for one that another capsule holds
            than the one cited; empty where all is well.
    """

    start: int
    quote: str = ""
    key: str = ""
    fault: Literal["", "unknown_key", "not_found", "other_capsule"] = ""


class CitationReport(FrozenModel):
    """What an answer cites.

    Attributes:
        citations: All quotes and keys, in order.

    Example:
        >>> CitationReport().is_faithful
        True
    """

    citations: tuple[Citation, ...] = ()

    @property
    def faults(self) -> tuple[Citation, ...]:
        """The citations that do not hold."""
        return tuple(citation for citation in self.citations if citation.fault)

    @property
    def is_faithful(self) -> bool:
        """Whether every quote and every key holds."""
        return not self.faults


def verify_citations(
    text: str,
    capsules: Iterable[Document] | Iterable[EvidenceCapsule] | RetentionReport,
    *,
    fetch: Callable[[str], Document] | None = None,
) -> CitationReport:
    """Check that quoted spans stand word for word in capsules, and keys are known.

    A quote is what stands between double quotation marks; white space counts as equal
    and `…` stands for what was left out. A key is cited as `[key]`, `(key)` or
    `key="key"`; one that follows a quote closely says where that quote is from.

    Args:
        text: The answer.
        capsules: Documents that carry capsules, capsules, or a report.
        fetch: Looks a full document up, as `CapsuleRetriever.fetch` does, where the
            model may have read more than the excerpts; `None` checks excerpts only.

    Returns:
        Every citation, with its fault if it has one.

    Raises:
        EvidenceNotFoundError: `fetch` does not know the key of a capsule.
        InvalidInputError: A document carries something else under `capsule`.

    Example:
        >>> from langchain_memkit import EvidenceCapsule
        >>> capsule = EvidenceCapsule(
        ...     id="a",
        ...     retrieval_key="1f2e3d4c",
        ...     excerpt="Kites need wind.",
        ...     tokens=9,
        ...     recoverability=0.2,
        ... )
        >>> verify_citations('They "need rain" [1f2e3d4c].', [capsule]).faults[0].fault
        'not_found'
    """
    sources = {
        capsule.retrieval_key: _plain(
            capsule.excerpt
            if fetch is None
            else fetch(capsule.retrieval_key).page_content
        )
        for capsule in capsules_of(capsules)
    }
    keys = _cited_keys(text, sources)
    quotes = [
        _judged_quote(match, keys=keys, sources=sources)
        for match in _QUOTE.finditer(text)
        if not any(at < match.start() < key.end for at, key in keys.items())
    ]
    inside = [(quote.start, quote.start + len(quote.quote)) for quote in quotes]
    alone = [
        Citation(start=at, key=key.name, fault=key.fault)
        for at, key in keys.items()
        if not any(start < at <= end for start, end in inside)
    ]
    return CitationReport(citations=tuple(sorted([*quotes, *alone], key=_start)))


class _CitedKey(NamedTuple):
    name: str
    end: int
    fault: Literal["", "unknown_key"]


def _start(citation: Citation) -> int:
    return citation.start


def _plain(text: str) -> str:
    return " ".join(text.split())


def _cited_keys(text: str, sources: Mapping[str, str]) -> dict[int, _CitedKey]:
    """Find cited keys: all that are named `key`, and bracketed ones that look so."""
    matches = list(_NAMED_KEY.finditer(text))
    matches += [
        match
        for match in _BRACKETED.finditer(text)
        if match[1] in sources or _LOOKS_LIKE_KEY.fullmatch(match[1])
    ]
    return {
        match.start(): _CitedKey(
            match[1], match.end(), "" if match[1] in sources else "unknown_key"
        )
        for match in matches
    }


def _judged_quote(
    match: re.Match[str], *, keys: Mapping[int, _CitedKey], sources: Mapping[str, str]
) -> Citation:
    quote = next(group for group in match.groups() if group is not None)
    near = range(match.end(), match.end() + _NEAR_CHARACTERS)
    following = min((at for at in keys if at in near), default=None)
    key = "" if following is None else keys[following].name
    holders = {name for name, source in sources.items() if _holds(source, quote)}
    fault: Literal["", "not_found", "other_capsule"] = ""
    if not holders:
        fault = "not_found"
    elif key in sources and key not in holders:
        fault = "other_capsule"
    return Citation(start=match.start(), quote=quote, key=key, fault=fault)


def _holds(source: str, quote: str) -> bool:
    return _has_parts(source, quote) or _has_parts(source, unescape(quote))


def _has_parts(source: str, quote: str) -> bool:
    at = 0
    for part in _ELISION.split(_plain(quote)):
        found = source.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True
