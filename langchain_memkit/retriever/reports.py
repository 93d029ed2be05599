"""Capsules inside documents: how they are written there and read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain_memkit.core.capsules import (
    CandidateOutcome,
    EvidenceCapsule,
    Outcome,
    RetentionReport,
)
from langchain_memkit.core.models import Count, FrozenModel

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from langchain_memkit.retriever.packed import Packed

__all__ = [
    "CAPSULE_FIELD",
    "REPORT_FIELD",
    "attach_capsules",
    "capsule_documents",
    "capsules_of",
    "copy_document",
    "report_of",
]

CAPSULE_FIELD = "capsule"
"""Metadata field that holds a document's capsule."""

REPORT_FIELD = "capsule_report"
"""Metadata field that holds the totals and what became of the document."""


class _Fate(FrozenModel):
    """What became of one candidate, as written beside its capsule."""

    position: Count
    id: str
    outcome: Outcome


class _Entry(_Fate):
    """A document's part of the report."""

    budget_tokens: Count
    retained_tokens: Count
    candidates_examined: Count
    dropped: Count
    rank: Count | None
    left_out: tuple[_Fate, ...] = ()


_TOTALS = ("budget_tokens", "retained_tokens", "candidates_examined", "dropped")


def attach_capsules(documents: Sequence[Document], packed: Packed) -> list[Document]:
    """Copy documents and attach to each its capsule and its part of the report.

    Args:
        documents: What was examined, in order.
        packed: What was packed.

    Returns:
        Copies in the same order; their metadata hold plain JSON values beside what
        was there.
    """
    ranks = {capsule.position: at for at, capsule in enumerate(packed.capsules)}
    totals = packed.totals()
    return [
        _with_capsule(
            document,
            capsule=packed.capsules[ranks[at]] if at in ranks else None,
            entry={**totals, **packed.fate_of(at), "rank": ranks.get(at)},
        )
        for at, document in enumerate(documents)
    ]


def capsule_documents(documents: Sequence[Document], packed: Packed) -> list[Document]:
    """Make one short document a capsule, best first.

    Args:
        documents: What was examined, in order.
        packed: What was packed.

    Returns:
        Copies whose content is the excerpt; the first also tells what became of the
        documents that have no capsule.
    """
    held = {capsule.position for capsule in packed.capsules}
    left_out = [packed.fate_of(at) for at in range(len(documents)) if at not in held]
    totals = packed.totals()
    return [
        _with_capsule(
            documents[capsule.position].model_copy(
                update={"page_content": capsule.excerpt}
            ),
            capsule=capsule,
            entry={
                **totals,
                **packed.fate_of(capsule.position),
                "rank": rank,
                **({} if rank else {"left_out": left_out}),
            },
        )
        for rank, capsule in enumerate(packed.capsules)
    ]


def report_of(documents: Iterable[Document]) -> RetentionReport:
    """Read back the report of one call from the documents that it returned.

    Args:
        documents: What a `CapsuleRetriever` or `CapsuleCompressor` returned; others
            are passed over.

    Returns:
        The report; empty where no document carries one.

    Raises:
        InvalidInputError: What a document carries is no capsule.

    Example:
        >>> report_of([]).capsules
        ()
    """
    carried = [document.metadata for document in documents]
    entries = [
        _Entry.model_validate(data[REPORT_FIELD])
        for data in carried
        if REPORT_FIELD in data
    ]
    if not entries:
        return RetentionReport(budget_tokens=0, retained_tokens=0)
    fates = [fate for entry in entries for fate in (entry, *entry.left_out)]
    by_position = {fate.position: fate for fate in fates}
    return RetentionReport(
        **{name: getattr(entries[0], name) for name in _TOTALS},
        capsules=tuple(_ranked_capsules(carried)),
        outcomes=tuple(
            CandidateOutcome(id=fate.id, outcome=fate.outcome)
            for _, fate in sorted(by_position.items())
        ),
    )


def capsules_of(
    source: Iterable[Document] | Iterable[EvidenceCapsule] | RetentionReport,
) -> list[EvidenceCapsule]:
    """Collect capsules, best first, each key once.

    Args:
        source: Documents that carry capsules, capsules, or a report.

    Returns:
        The capsules.

    Raises:
        InvalidInputError: What a document carries is no capsule.
    """
    if isinstance(source, RetentionReport):
        return list(source.capsules)
    items = list(source)
    given = [item for item in items if isinstance(item, EvidenceCapsule)]
    rest = [item for item in items if not isinstance(item, EvidenceCapsule)]
    carried = _ranked_capsules([cast("Document", item).metadata for item in rest])
    return list({c.retrieval_key: c for c in (*carried[::-1], *given[::-1])}.values())[
        ::-1
    ]


def _ranked_capsules(carried: Sequence[Mapping[str, Any]]) -> list[EvidenceCapsule]:
    holders = [d for d in carried if isinstance(d.get(CAPSULE_FIELD), Mapping)]
    holders.sort(key=_rank)
    return [EvidenceCapsule.model_validate(data[CAPSULE_FIELD]) for data in holders]


def _rank(data: Mapping[str, Any]) -> int:
    entry = data.get(REPORT_FIELD)
    rank = entry.get("rank") if isinstance(entry, Mapping) else None
    return rank if isinstance(rank, int) else 0


def _with_capsule(
    document: Document,
    *,
    capsule: EvidenceCapsule | None,
    entry: Mapping[str, object],
) -> Document:
    copied = copy_document(document)
    copied.metadata.pop(CAPSULE_FIELD, None)
    if capsule is not None:
        copied.metadata[CAPSULE_FIELD] = capsule.model_dump(mode="json")
    copied.metadata[REPORT_FIELD] = entry
    return copied


def copy_document(document: Document) -> Document:
    """Copy a document and the containers in its metadata.

    Args:
        document: Any document; foreign objects in its metadata are shared, because
            some refuse to be copied.

    Returns:
        An equal document that can be changed without changing the other.

    Example:
        >>> from langchain_core.documents import Document
        >>> copy_document(Document("Tides.")).page_content
        'Tides.'
    """
    metadata = _copy_containers(document.metadata, {})
    return document.model_copy(update={"metadata": metadata})


def _copy_containers(value: Any, copies: dict[int, Any]) -> Any:  # noqa: ANN401 - metadata of any type
    """Copy a value; `copies` holds what was met already, so that cycles end."""
    kind = type(value)
    if id(value) in copies:
        return copies[id(value)]
    if kind is dict:
        copied = copies[id(value)] = {}
        copied.update((key, _copy_containers(v, copies)) for key, v in value.items())
        return copied
    if kind is list:
        items = copies[id(value)] = []
        items.extend(_copy_containers(item, copies) for item in value)
        return items
    if kind in (tuple, set):
        return kind(_copy_containers(item, copies) for item in value)
    return value
