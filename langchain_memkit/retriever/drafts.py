"""One call, step by step: what has to be looked up between is left to the face."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_memkit.core.keys import content_sha256
from langchain_memkit.core.retention import recoverability
from langchain_memkit.retriever.ages import ages_in_hours
from langchain_memkit.retriever.assembly import Keyed, pack_prefixes, pack_query
from langchain_memkit.retriever.keys import choose_keys, hash_keys, is_key_of
from langchain_memkit.retriever.plans import Candidates, Plan, plan_units, unfit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from langchain_core.documents import Document

    from langchain_memkit.core.capsules import Outcome
    from langchain_memkit.protocols import AccessTally
    from langchain_memkit.retriever.packed import Packed
    from langchain_memkit.retriever.plans import PackOptions

__all__ = ["Draft", "draft", "log_keys", "read_candidates"]


def log_keys(documents: Sequence[Document]) -> list[str]:
    """Name documents for an access log: by their content, whatever their id.

    Args:
        documents: Any documents.

    Returns:
        One name a document.
    """
    return [content_sha256(document.page_content) for document in documents]


def read_candidates(
    documents: Sequence[Document],
    *,
    tallies: Sequence[AccessTally | None],
    now: datetime,
    seen: str = "",
) -> Candidates:
    """Take from documents what packing looks at.

    Args:
        documents: What the base retriever returned.
        tallies: What the access log says of each.
        now: The time of the call, with a time zone.
        seen: What the model has read already.

    Returns:
        The candidates, in the order of the documents.
    """
    ages = ages_in_hours(
        [document.metadata for document in documents],
        last_uses=[tally.last_at if tally else None for tally in tallies],
        now=now,
    )
    counts = [tally.count if tally else 0 for tally in tallies]
    return Candidates(
        contents=[document.page_content for document in documents],
        ids=[None if d.id is None else str(d.id) for d in documents],
        recoverabilities=list(map(recoverability, ages, counts)),
        ages_hours=ages,
        access_counts=counts,
        seen=seen,
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """Capsules that only lack their keys.

    Attributes:
        wanted: Keys that each candidate may have, best first, by its index.
        candidates: What was examined.
        options: How to pack.
        plan: Units picked by the query; `None` where prefixes are packed.
    """

    wanted: Mapping[int, Sequence[str]]
    candidates: Candidates
    options: PackOptions
    plan: Plan | None

    def wanted_keys(self) -> list[str]:
        """List the keys that have to be looked up.

        Returns:
            Each key once.
        """
        return list(dict.fromkeys(key for keys in self.wanted.values() for key in keys))

    def finish(self, kept: Mapping[str, Document | None]) -> Packed:
        """Choose the keys and build the capsules.

        Args:
            kept: What stands under the wanted keys already.

        Returns:
            What was packed.
        """
        contents = self.candidates.contents
        ids = set(self.candidates.ids)
        texts = {key: held.page_content for key, held in kept.items() if held}
        valid = {k: text for k, text in texts.items() if k in ids or is_key_of(k, text)}
        keys = choose_keys(self.wanted, contents=contents, kept=valid)
        keyed = Keyed(self.candidates, keys, self.options)
        if self.plan is not None:
            return pack_query(keyed, self.plan)
        return pack_prefixes(keyed, _unfit_prefixes(keyed))


def draft(query: str, *, candidates: Candidates, options: PackOptions) -> Draft:
    """Decide what is packed, as far as that goes without keys.

    Args:
        query: What is asked for.
        candidates: What may be packed.
        options: How to pack.

    Returns:
        The draft.
    """
    contents = candidates.contents
    if options.strategy == "query":
        plan = plan_units(query, candidates=candidates, options=options)
        picked = dict.fromkeys(unit.candidate for unit in plan.picks)
        wanted = {at: hash_keys(content_sha256(contents[at])) for at in picked}
        return Draft(wanted, candidates, options, plan)
    wanted = {at: hash_keys(content_sha256(text)) for at, text in enumerate(contents)}
    if options.ranking == "recoverability":
        uses = Counter(candidates.ids)
        for at, name in enumerate(candidates.ids):
            if name and not name.isspace() and uses[name] == 1:
                wanted[at] = (name, *wanted[at])
    return Draft(wanted, candidates, options, None)


def _unfit_prefixes(keyed: Keyed) -> dict[int, Outcome]:
    """Tell what has no prefix: as the reference packs it, only what has no own key."""
    contents, seen = keyed.candidates.contents, keyed.candidates.seen
    by_order = keyed.options.ranking == "relevance"
    outcomes = unfit(contents if by_order else list(keyed.keys.values()))
    for at, content in enumerate(contents):
        if seen and content in seen:
            outcomes.setdefault(at, "seen")
    return outcomes
