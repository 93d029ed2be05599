"""Units of many texts, valued against a query."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_memkit.core.terms import find_term, fold_case, query_terms
from langchain_memkit.core.units import Span, split_units

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from langchain_memkit.core.terms import QueryTerm

__all__ = ["ExcerptWeights", "ScoredTexts", "TextUnits", "value_units"]


@dataclass(frozen=True, slots=True)
class ExcerptWeights:
    """What makes a unit worth sending.

    Formula: with shares of the query's idf weight from 0 to 1, a unit is worth
    `(own + near * (window - own) + document * lexical + rank * prior) ** power
    * characters ** length`, where `own` is the share of the unit, `window` that of
    the unit and its neighbours, `lexical` the BM25 score of its document over the
    best one, and `prior` `1 / (1 + position / rank_scale)` in the base's order.

    Attributes:
        near: Weight of terms that only the neighbouring units hold.
        document: Weight of the document's lexical score.
        rank: Weight of the base retriever's order.
        rank_scale: Position at which the prior has halved.
        power: Above 1 prefers few good units to many fair ones.
        length: Above 0 prefers long units; 1 would make them free.
    """

    near: float = 0.5
    document: float = 0.5
    rank: float = 0.5
    rank_scale: float = 10.0
    power: float = 1.5
    length: float = 0.35


@dataclass(frozen=True, slots=True)
class TextUnits:
    """One text, split and valued.

    Attributes:
        spans: Its units in order.
        masks: A bit for each query term that stands in a unit.
        values: What each unit is worth.
        share: Share of the query's weight that the whole text covers, from 0 to 1.
    """

    spans: tuple[Span, ...]
    masks: tuple[int, ...]
    values: tuple[float, ...]
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


_BM25_SATURATION = 1.2
_BM25_LENGTH = 0.75


def value_units(
    query: str,
    texts: Sequence[str],
    *,
    unit_characters: int,
    stop_words: Collection[str] = frozenset(),
    weights: ExcerptWeights | None = None,
) -> ScoredTexts:
    r"""Split texts into units and value each against a query.

    Args:
        query: What is asked for.
        texts: The texts, best first in the order of who found them.
        unit_characters: Longest unit, at least 1.
        stop_words: Words in lower case that say nothing.
        weights: See `ExcerptWeights`; `None` means the defaults.

    Returns:
        The units of each text, valued.

    Example:
        >>> scored = value_units("wind", ["Sun.\nWind."], unit_characters=99)
        >>> sun, wind = scored.texts[0].values
        >>> sun < wind
        True
    """
    weights = weights or ExcerptWeights()
    terms = query_terms(query, stop_words=stop_words)
    found = [_find_terms(text, terms) for text in texts]
    spans = [
        tuple(split_units(text, most_characters=unit_characters)) for text in texts
    ]
    masks = [_masks(*pair) for pair in zip(spans, found, strict=True)]
    rarity = _Rarity(masks, len(terms))
    lexical = _lexical_scores(found, texts, rarity)
    scored = [
        TextUnits(
            spans=spans[at],
            masks=masks[at],
            values=_values(spans[at], masks[at], rarity, weights, base),
            share=rarity.share(_union(masks[at])),
        )
        for at, base in enumerate(_bases(lexical, weights))
    ]
    return ScoredTexts(scored, rarity.share)


def _find_terms(text: str, terms: Sequence[QueryTerm]) -> list[list[int]]:
    folded = fold_case(text)
    return [find_term(folded, term) for term in terms]


def _masks(spans: Sequence[Span], found: Sequence[Sequence[int]]) -> tuple[int, ...]:
    starts = [start for start, _ in spans]
    masks = [0] * len(spans)
    for bit, places in enumerate(found):
        for at in places:
            masks[bisect_right(starts, at) - 1] |= 1 << bit
    return tuple(masks)


def _union(masks: Sequence[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


class _Rarity:
    """The idf of each term over all units, and the share of it that a mask holds."""

    __slots__ = ("_shares", "_total", "weights")

    def __init__(self, masks: Sequence[Sequence[int]], terms: int) -> None:
        units = sum(map(len, masks))
        counts = Counter(mask for of_text in masks for mask in of_text)
        self.weights = [
            _idf(sum(n for mask, n in counts.items() if mask >> bit & 1), units)
            for bit in range(terms)
        ]
        self._total = sum(self.weights)
        self._shares = {0: 0.0}

    def share(self, mask: int) -> float:
        known = self._shares.get(mask)
        if known is None:
            held = sum(w for bit, w in enumerate(self.weights) if mask >> bit & 1)
            known = self._shares[mask] = (
                min(1.0, held / self._total) if self._total else 0.0
            )
        return known


def _idf(count: int, units: int) -> float:
    if not count:
        return 0.0
    return math.log(1 + (units - count + 0.5) / (count + 0.5))


def _lexical_scores(
    found: Sequence[Sequence[Sequence[int]]], texts: Sequence[str], rarity: _Rarity
) -> list[float]:
    usual = sum(map(len, texts)) / max(1, len(texts)) or 1.0
    scores = []
    for places, text in zip(found, texts, strict=True):
        damping = _BM25_SATURATION * (1 + _BM25_LENGTH * (len(text) / usual - 1))
        scores.append(
            sum(
                weight * len(at) / (len(at) + damping)
                for weight, at in zip(rarity.weights, places, strict=True)
                if at
            )
        )
    best = max(scores, default=0.0)
    return [score / best if best else 0.0 for score in scores]


def _bases(lexical: Sequence[float], weights: ExcerptWeights) -> list[float]:
    return [
        weights.document * score + weights.rank / (1 + at / weights.rank_scale)
        for at, score in enumerate(lexical)
    ]


def _values(
    spans: Sequence[Span],
    masks: Sequence[int],
    rarity: _Rarity,
    weights: ExcerptWeights,
    base: float,
) -> tuple[float, ...]:
    values = []
    around = (0, *masks, 0)
    for at, (start, end) in enumerate(spans):
        own = rarity.share(masks[at])
        window = rarity.share(around[at] | masks[at] | around[at + 2])
        worth = own + weights.near * (window - own) + base
        values.append(worth**weights.power * (end - start) ** weights.length)
    return tuple(values)
