"""Many units of many texts under one budget."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from langchain_memkit.core.excerpts import TextUnits

__all__ = ["PackCosts", "PackText", "Pick", "pack_units"]

_OFFERED_BUDGETS = 8


@dataclass(frozen=True, slots=True)
class PackCosts:
    """What packing costs, in any one unit of length.

    Attributes:
        document: What a text pays once: its tags and its key.
        join: What stands between two segments of a text.
    """

    document: int
    join: int


@dataclass(frozen=True, slots=True)
class Pick:
    """One unit that was picked.

    Attributes:
        text: Index of its text.
        unit: Index of the unit inside the text.
    """

    text: int
    unit: int


@dataclass(frozen=True, slots=True)
class PackText:
    """A text whose units may be picked.

    Attributes:
        units: Its units, valued.
        lengths: What each unit costs, in the unit of length of the budget.
        tie_break: Higher goes first among equally good units.
        skip: Units that are not to be picked.
    """

    units: TextUnits
    lengths: Sequence[int]
    tie_break: float = 0.0
    skip: frozenset[int] = frozenset()


def pack_units(
    texts: Sequence[PackText],
    *,
    budget: int,
    costs: PackCosts,
    most_units: int | None = None,
    in_order: bool = False,
) -> tuple[Pick, ...]:
    """Pick units greedily by value over cost.

    A unit costs its length; the first of a text also the tags and the key, one that
    stands apart a joint; a neighbour of a picked unit pays its text and the white
    space between. Ties go to the higher tie break, then to the earlier text and unit.
    Of a text longer than eight budgets only the best eight budgets are offered.

    Args:
        texts: What may be picked, best text first.
        budget: What may be spent, at least 0.
        costs: What tags, keys and joints cost.
        most_units: Most units of one text; `None` for no limit.
        in_order: Whether to pick in the given order until a unit does not fit,
            because the values say nothing.

    Returns:
        The picks, most valuable for its cost first; any leading part of them fits
        too.

    Example:
        >>> from langchain_memkit.core.excerpts import TextUnits
        >>> units = TextUnits(((0, 4), (5, 9)), (0, 1), (1.0, 2.0), 1.0)
        >>> costs = PackCosts(document=3, join=1)
        >>> pack_units([PackText(units, (4, 4))], budget=8, costs=costs)
        (Pick(text=0, unit=1),)
    """
    packer = _Packer(texts, costs=costs, most_units=most_units)
    if in_order:
        return tuple(packer.pack_in_order(budget))
    return tuple(packer.pack_by_value(budget))


def _promising(text: PackText, *, enough: int) -> Iterable[int]:
    """Choose the units that are offered: of a huge text not all of them."""
    units = [unit for unit in range(len(text.lengths)) if unit not in text.skip]
    if sum(text.lengths) <= enough:
        return units
    values, lengths = text.units.values, text.lengths
    units.sort(key=lambda unit: -values[unit] / lengths[unit])
    ends = accumulate(lengths[unit] for unit in units)
    return units[: bisect_left(list(ends), enough) + 1]


class _Packer:
    """The greedy choice: a heap of offers, each valid until its price changes."""

    __slots__ = ("_costs", "_most_units", "_picked", "_prices", "_texts")

    def __init__(
        self,
        texts: Sequence[PackText],
        *,
        costs: PackCosts,
        most_units: int | None,
    ) -> None:
        self._texts = texts
        self._costs = costs
        self._most_units = most_units
        self._picked: list[set[int]] = [set() for _ in texts]
        self._prices: dict[tuple[int, int], int] = {}

    def pack_in_order(self, budget: int) -> Iterator[Pick]:
        for text, unit in self._open_units():
            if len(self._picked[text]) == self._most_units:
                continue
            budget -= self._cost(text, unit)
            if budget < 0:
                return
            self._picked[text].add(unit)
            yield Pick(text, unit)

    def pack_by_value(self, budget: int) -> Iterator[Pick]:
        heap = [
            self._offer(at, unit)
            for at, text in enumerate(self._texts)
            for unit in _promising(text, enough=_OFFERED_BUDGETS * budget)
        ]
        heapq.heapify(heap)
        while heap:
            _, _, text, unit, cost = heapq.heappop(heap)
            if self._prices.get((text, unit)) != cost:
                continue
            del self._prices[text, unit]
            if cost > budget or len(self._picked[text]) == self._most_units:
                continue
            budget -= cost
            yield Pick(text, unit)
            for other in self._take(text, unit):
                heapq.heappush(heap, self._offer(text, other))

    def _open_units(self) -> Iterator[tuple[int, int]]:
        for at, text in enumerate(self._texts):
            for unit in range(len(text.units.spans)):
                if unit not in text.skip:
                    yield at, unit

    def _take(self, text: int, unit: int) -> list[int]:
        """Mark a unit as picked and tell whose price that changes."""
        picked = self._picked[text]
        picked.add(unit)
        is_first = len(picked) == 1
        units = len(self._texts[text].lengths)
        changed = range(units) if is_first else (unit - 1, unit + 1)
        return [other for other in changed if (text, other) in self._prices]

    def _offer(self, text: int, unit: int) -> tuple[float, float, int, int, int]:
        cost = self._prices[text, unit] = self._cost(text, unit)
        offered = self._texts[text]
        density = offered.units.values[unit] / max(1, cost)
        return -density, -offered.tie_break, text, unit, cost

    def _cost(self, text: int, unit: int) -> int:
        length, picked = self._texts[text].lengths[unit], self._picked[text]
        if not picked:
            return length + self._costs.document
        spans = self._texts[text].units.spans
        has_left, has_right = unit - 1 in picked, unit + 1 in picked
        if has_left:
            length += spans[unit][0] - spans[unit - 1][1]
        if has_right:
            length += spans[unit + 1][0] - spans[unit][1]
        return length + self._costs.join * (1 - has_left - has_right)
