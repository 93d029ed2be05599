"""What both faces have in common: their settings, and fetching by key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from langchain_core.documents import Document
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from langchain_memkit.core.budget import ContextBudget
from langchain_memkit.core.excerpts import ExcerptWeights
from langchain_memkit.core.keys import content_sha256
from langchain_memkit.core.models import Count, Share, refuse_validation
from langchain_memkit.core.recent import Recent
from langchain_memkit.core.times import as_utc
from langchain_memkit.exceptions import (
    EvidenceChangedError,
    EvidenceNotFoundError,
    InvalidInputError,
)
from langchain_memkit.protocols import AccessLog, AccessTally, Docstore
from langchain_memkit.retriever.docstore import RecentDocstore
from langchain_memkit.retriever.drafts import (
    Draft,
    draft,
    log_keys,
    read_candidates,
)
from langchain_memkit.retriever.measure import is_estimate, text_counter
from langchain_memkit.retriever.packed import Packed
from langchain_memkit.retriever.plans import PackOptions
from langchain_memkit.retriever.reports import copy_document
from langchain_memkit.retriever.stopping import (
    StopWords,
    check_stop_words,
    stop_words_for,
)

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

__all__ = ["CapsuleSettings", "PositiveSetting"]

_REMEMBERED_HASHES = 10_000

PositiveSetting = Annotated[int, Field(strict=True, ge=1)]


class CapsuleSettings(BaseModel):
    """Settings of packing, and fetching of what was packed.

    Attributes:
        budget_tokens: Tokens for all capsules of a call; 0 packs nothing.
        budget: Its document share takes the place of `budget_tokens`.
        excerpt_tokens: Length of a prefix, or of the largest unit, in tokens.
        strategy: `query` picks the units that match the query best; its budget covers
            the text of `format_capsules`. `prefix` keeps the beginning of each
            document; its budget covers keys and excerpts.
        ranking: What comes first: `relevance`, the base retriever's order, or
            `recoverability`, recent and often packed documents.
        token_counter: `approximate` (a quarter of the characters), a `TokenCounter`,
            or a callable over a list of messages.
        access_log: Counts what was packed; `None` for none, so that the same call
            has the same answer.
        docstore: Keeps full documents under their keys; `None` for the last 10,000
            in memory.
        max_per_document: Most units of one document; `None` for no limit.
        min_score: Least share of the query's weight, from 0 to 1, that a document
            must cover to be packed by the `query` strategy.
        stop_words: Words that say nothing about what is asked: `auto` finds out the
            language, the English name of one (`german`) names it, a frozenset holds
            your own in lower case, `None` means none.
        weights: What makes a unit worth sending.
        clock: Tells the time; `None` for the system's.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    budget_tokens: Count = 2048
    budget: ContextBudget | None = None
    excerpt_tokens: PositiveSetting = 128
    strategy: Literal["query", "prefix"] = "query"
    ranking: Literal["relevance", "recoverability"] = "relevance"
    token_counter: Any = "approximate"  # noqa: S105 - counts, no secret
    access_log: Any = None
    docstore: Any = None
    max_per_document: PositiveSetting | None = None
    min_score: Share = 0.0
    stop_words: StopWords = "auto"
    weights: ExcerptWeights = ExcerptWeights()
    clock: Callable[[], datetime] | None = None
    _hashes: Recent[str] = PrivateAttr(
        default_factory=lambda: Recent(_REMEMBERED_HASHES)
    )

    def __init__(self, **data: Any) -> None:  # noqa: ANN401 - pydantic's own contract
        """Check the settings.

        Args:
            **data: The settings, by name.

        Raises:
            InvalidInputError: A setting breaks its rule.
            BudgetExceededError: The floors of `budget` are more than its window.
        """
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise refuse_validation(error) from error
        if self.budget is not None:
            self.budget_tokens = self.budget.split().document_tokens

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        text_counter(self.token_counter)
        check_stop_words(self.stop_words)
        if self.docstore is None:
            self.docstore = RecentDocstore()
        if not isinstance(self.docstore, Docstore):
            raise InvalidInputError("docstore", "must be a Docstore", self.docstore)
        if self.access_log is not None and not isinstance(self.access_log, AccessLog):
            raise InvalidInputError(
                "access_log", "must be an AccessLog", self.access_log
            )
        return self

    def fetch(self, key: str) -> Document:
        """Fetch the full document behind a capsule.

        Args:
            key: The capsule's `retrieval_key`.

        Returns:
            A copy of the document that was packed.

        Raises:
            EvidenceNotFoundError: Nothing is kept under the key.
            EvidenceChangedError: The document's text is not what was packed.
        """
        return self._verified(key, self.docstore.mget([key])[0])

    async def afetch(self, key: str) -> Document:
        """Do what `fetch` does, without blocking the event loop.

        Args:
            key: The capsule's `retrieval_key`.

        Returns:
            A copy of the document that was packed.

        Raises:
            EvidenceNotFoundError: Nothing is kept under the key.
            EvidenceChangedError: The document's text is not what was packed.
        """
        return self._verified(key, (await self.docstore.amget([key]))[0])

    def as_fetch_tool(self, *, name: str = "fetch_evidence") -> BaseTool:
        """Make a tool with which an agent fetches by key.

        Args:
            name: Name of the tool.

        Returns:
            A tool with the arguments `key`, `offset` and `length`, in characters; an
            unknown key is told to the model instead of being raised.
        """
        from langchain_memkit.retriever.tools import (  # noqa: PLC0415 - tools load slowly, and only agents use them
            fetch_tool,
        )

        return fetch_tool(self.fetch, afetch=self.afetch, name=name)

    def _verified(self, key: str, document: Document | None) -> Document:
        if document is None:
            raise EvidenceNotFoundError(key)
        actual = content_sha256(document.page_content)
        expected = self._hashes.get([key])[0]
        if expected is None:
            expected = actual if self._has_id_keys() else key
        if not actual.startswith(expected):
            raise EvidenceChangedError(key, expected, actual)
        return copy_document(document)

    def _has_id_keys(self) -> bool:
        return self.strategy == "prefix" and self.ranking == "recoverability"

    def _pack(self, documents: Sequence[Document], query: str, *, seen: str) -> Packed:
        now, names = self._now(), self._log_names(documents)
        tallies = self.access_log.read(names) if names else {}
        drafted = self._draft(documents, query, past=_Past(names, tallies, now, seen))
        wanted = drafted.wanted_keys()
        packed = drafted.finish(
            dict(zip(wanted, self.docstore.mget(wanted), strict=True))
        )
        self.docstore.mset(self._kept(documents, packed))
        if names and packed.capsules:
            self.access_log.record(_names_of(names, packed), at=now)
        return packed

    async def _apack(
        self, documents: Sequence[Document], query: str, *, seen: str
    ) -> Packed:
        now, names = self._now(), self._log_names(documents)
        tallies = await self.access_log.aread(names) if names else {}
        drafted = self._draft(documents, query, past=_Past(names, tallies, now, seen))
        wanted = drafted.wanted_keys()
        kept = await self.docstore.amget(wanted)
        packed = drafted.finish(dict(zip(wanted, kept, strict=True)))
        await self.docstore.amset(self._kept(documents, packed))
        if names and packed.capsules:
            await self.access_log.arecord(_names_of(names, packed), at=now)
        return packed

    def _now(self) -> datetime:
        if self.clock is None:
            return datetime.now(UTC)
        return as_utc(self.clock(), parameter="clock")

    def _log_names(self, documents: Sequence[Document]) -> list[str]:
        return log_keys(documents) if self.access_log is not None else []

    def _draft(
        self, documents: Sequence[Document], query: str, *, past: _Past
    ) -> Draft:
        texts = (document.page_content for document in documents)
        stop_words = stop_words_for(self.stop_words, query=query, texts=texts)
        candidates = read_candidates(
            documents,
            tallies=[past.tallies.get(n) for n in past.names]
            or [None] * len(documents),
            now=past.now,
            seen=past.seen,
        )
        return draft(query, candidates=candidates, options=self._options(stop_words))

    def _options(self, stop_words: Collection[str]) -> PackOptions:
        return PackOptions(
            budget_tokens=self.budget_tokens,
            excerpt_tokens=self.excerpt_tokens,
            strategy=self.strategy,
            ranking=self.ranking,
            count=text_counter(self.token_counter),
            is_estimate=is_estimate(self.token_counter),
            max_per_document=self.max_per_document,
            min_score=self.min_score,
            stop_words=stop_words,
            weights=self.weights,
        )

    def _kept(
        self, documents: Sequence[Document], packed: Packed
    ) -> list[tuple[str, Document]]:
        self._hashes.put((c.retrieval_key, c.sha256) for c in packed.capsules)
        return [(c.retrieval_key, documents[c.position]) for c in packed.capsules]


class _Past(NamedTuple):
    """What was before the call."""

    names: Sequence[str]
    tallies: Mapping[str, AccessTally]
    now: datetime
    seen: str


def _names_of(names: Sequence[str], packed: Packed) -> list[str]:
    return [names[capsule.position] for capsule in packed.capsules]
