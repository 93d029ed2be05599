"""Units of many texts, valued against a query."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from langchain_memkit.core.models import FrozenModel
from langchain_memkit.core.terms import TermPlaces
from langchain_memkit.core.units import Span, split_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_memkit.core.terms import QueryTerm

__all__ = ["ExcerptWeights", "ScoredTexts", "TextUnits", "value_units"]

_USUAL_UNIT_CHARACTERS = 120
_LEAST_SPLIT_TEXTS = 12
_SPLIT_BUDGETS = 4


_Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class ExcerptWeights(FrozenModel):
    """What makes a unit worth sending.

    Formula: with shares of the query's idf weight from 0 to 1, a unit is worth
    `(own + near * (window - own) + document * whole + rank * prior) ** power
    * characters ** length`, where `own` is the share of the unit, `window` that of
    the unit and its neighbours, `whole` that of its text, and `prior`
    `1 / log2(2 + position)` in the base retriever's order.

    Chosen on every other question of sets of papers, encyclopedia paragraphs and
    dialogues, by coordinate search for the evidence kept at 256 to 2,048 tokens; the
    other questions gave the same answer within noise. Each optimum is flat: a third
    more or less changes less than 0.005.

    Attributes:
        near: Weight of terms that only the neighbouring units hold; as all of these
            from 0 to 10.
        document: Weight of terms that stand anywhere in the text.
        rank: Weight of the base retriever's order.
        power: Above 1 prefers few good units to many fair ones.
        length: Above 0 prefers long units; 1 would make them free.

    Example:
        >>> ExcerptWeights(rank=0).rank
        0.0
    """

    near: _Weight = 0.4
    document: _Weight = 0.1
    rank: _Weight = 0.35
    power: _Weight = 3.0
    length: _Weight = 0.6


@dataclass(frozen=True, slots=True)
class TextUnits:
    """One text, split and valued; not split where others are worth more.

    Attributes:
        spans: Its units in order.
        masks: A bit for each query term that stands in a unit.
        values: What each unit is worth.
        share: Share of the query's weight that the whole text covers, from 0 to 1.
    """

    spans: Sequence[Span]
    masks: Sequence[int]
    values: Sequence[float]
    share: float


@dataclass(frozen=True, slots=True)
class ScoredTexts:
    """Many texts, valued against one query.

    Attributes:
        texts: The units of each text, in the order of the texts.
        share_of: Tells the share of the query's weight that a mask covers.
    """

    texts: Sequence[TextUnits]
    share_of: Callable[[int], float]

    @property
    def matches(self) -> bool:
        """Whether the query matches anything."""
        return any(text.share for text in self.texts)


def value_units(
    terms: Sequence[QueryTerm],
    texts: Sequence[str],
    *,
    unit_characters: int,
    budget_characters: int,
    weights: ExcerptWeights | None = None,
) -> ScoredTexts:
    r"""Split the most promising texts into units and value each against a query.

    Texts are split best first until they hold four budgets of text, 12 at least: what
    is worth less has no chance beside them.

    Args:
        terms: The terms of the query.
        texts: The texts, best first in the order of who found them.
        unit_characters: Longest unit, at least 1.
        budget_characters: How much text can be sent.
        weights: See `ExcerptWeights`; `None` means the defaults.

    Returns:
        The units of each text, valued.

    Example:
        >>> from langchain_memkit.core.terms import query_terms
        >>> scored = value_units(
        ...     query_terms("wind"),
        ...     ["Sun.\nWind."],
        ...     unit_characters=99,
        ...     budget_characters=99,
        ... )
        >>> sun, wind = scored.texts[0].values
        >>> sun < wind
        True
    """
    weights = weights or ExcerptWeights()
    places = TermPlaces(terms, texts)
    rarity = _Rarity(places.counts, characters=sum(map(len, texts)))
    shares = list(map(rarity.share, places.masks))
    bases = [
        weights.document * share + weights.rank / math.log2(2 + at)
        for at, share in enumerate(shares)
    ]
    promising = _promising(
        texts,
        bounds=[base + share for base, share in zip(bases, shares, strict=True)],
        enough=_SPLIT_BUDGETS * budget_characters,
    )
    valuer = _Valuer(rarity, weights=weights, unit_characters=unit_characters)
    return ScoredTexts(
        [
            valuer.value(texts[at], places.within(at), base=bases[at], share=share)
            if at in promising
            else TextUnits((), (), (), share)
            for at, share in enumerate(shares)
        ],
        rarity.share,
    )


def _promising(
    texts: Sequence[str], *, bounds: Sequence[float], enough: int
) -> frozenset[int]:
    best = sorted(range(len(texts)), key=lambda at: -bounds[at])
    held = 0
    for count, at in enumerate(best):
        if count >= _LEAST_SPLIT_TEXTS and held >= enough:
            return frozenset(best[:count])
        held += len(texts[at])
    return frozenset(best)


class _Rarity:
    """The idf of each term over all units, and the share of it that a mask holds.

    Units are not counted but estimated from the characters, and each place of a term
    is taken as one unit, so that nothing has to be split to know what is rare.
    """

    __slots__ = ("_shares", "_total", "_weights")

    def __init__(self, counts: Sequence[int], *, characters: int) -> None:
        units = characters / _USUAL_UNIT_CHARACTERS
        self._weights = [_idf(count, units) for count in counts]
        self._total = sum(self._weights)
        self._shares = {0: 0.0}

    def share(self, mask: int) -> float:
        known = self._shares.get(mask)
        if known is None:
            held = sum(w for bit, w in enumerate(self._weights) if mask >> bit & 1)
            known = self._shares[mask] = min(1.0, held / self._total)
        return known


def _idf(count: int, units: float) -> float:
    if not count:
        return 0.0
    return math.log(1 + max(0.1, units - count + 0.5) / (count + 0.5))


class _Valuer:
    """Splits a text and values its units."""

    __slots__ = ("_lengths", "_rarity", "_unit_characters", "_weights")

    def __init__(
        self, rarity: _Rarity, *, weights: ExcerptWeights, unit_characters: int
    ) -> None:
        self._rarity = rarity
        self._weights = weights
        self._unit_characters = unit_characters
        self._lengths: dict[int, float] = {}

    def value(
        self, text: str, found: Sequence[Sequence[int]], *, base: float, share: float
    ) -> TextUnits:
        spans = split_units(text, most_characters=self._unit_characters)
        masks = _masks(spans, found)
        around = (0, *masks, 0)
        worths: dict[tuple[int, int], float] = {}
        values = []
        for at, (start, end) in enumerate(spans):
            seen = masks[at], around[at] | around[at + 2]
            worth = worths.get(seen)
            if worth is None:
                worth = worths[seen] = self._worth(*seen, base=base)
            values.append(worth * self._length(end - start))
        return TextUnits(spans, masks, values, share)

    def _worth(self, own: int, near: int, *, base: float) -> float:
        held = self._rarity.share(own)
        beside = self._rarity.share(own | near) - held
        worth = held + self._weights.near * beside + base
        return math.pow(worth, self._weights.power)

    def _length(self, characters: int) -> float:
        known = self._lengths.get(characters)
        if known is None:
            known = self._lengths[characters] = math.pow(
                characters, self._weights.length
            )
        return known


def _masks(spans: Sequence[Span], found: Sequence[Sequence[int]]) -> list[int]:
    starts = [start for start, _ in spans]
    masks = [0] * len(spans)
    for bit, places in enumerate(found):
        for at in places:
            masks[bisect_right(starts, at) - 1] |= 1 << bit
    return masks
