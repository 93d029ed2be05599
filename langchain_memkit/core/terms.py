"""The words of a query, and where they stand in a text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["QueryTerm", "TermPlaces", "find_term", "fold_case", "query_terms"]

_STEM_CHARACTERS = 4
_WHOLE_WORD_CHARACTERS = 3
_MOST_TERMS = 64

_WORD = re.compile(r"\w+")
# Thai, Lao, Burmese, Khmer, kana, Han, Hangul: no spaces between words, or endings
# that change a word's tail.
_UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word of a query, in the form in which texts are searched for it.

    Attributes:
        needle: The stem of a word, or two characters of a script without spaces.
        anywhere: Whether it counts inside a word too.
    """

    needle: str
    anywhere: bool = False


def fold_case(text: str) -> str:
    """Lower the case of a text without moving any code point.

    Args:
        text: Any text.

    Returns:
        A text of the same length.

    Example:
        >>> len(fold_case("İzmir"))
        5
    """
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _stem(word: str) -> str:
    if len(word) <= _STEM_CHARACTERS or word.isdigit():
        return word
    ending = 2 if len(word) > _STEM_CHARACTERS + 1 else 1
    return word[: max(_STEM_CHARACTERS, len(word) - ending)]


def _bigrams(run: str) -> Iterator[QueryTerm]:
    for at in range(max(1, len(run) - 1)):
        yield QueryTerm(run[at : at + 2], anywhere=True)


def query_terms(
    query: str, *, stop_words: Collection[str] = frozenset()
) -> tuple[QueryTerm, ...]:
    """Read the words that a query asks for.

    Words are Unicode words without their last one or two letters, so that their other
    forms are found too; a script without spaces is read by pairs of characters.

    Args:
        query: Any text.
        stop_words: Words in lower case that say nothing; heeded unless the query
            holds nothing else.

    Returns:
        The distinct terms in order, at most 64.

    Example:
        >>> [term.needle for term in query_terms("Which kites need wind?")]
        ['whic', 'kite', 'need', 'wind']
    """
    words = _WORD.findall(fold_case(query))
    telling = [word for word in words if word not in stop_words]
    terms: dict[QueryTerm, None] = {}
    for word in telling or words:
        runs = _UNSPACED.findall(word)
        found = [term for run in runs for term in _bigrams(run)]
        terms.update(dict.fromkeys(found or [QueryTerm(_stem(word))]))
    return tuple(terms)[:_MOST_TERMS]


def find_term(folded: str, term: QueryTerm) -> list[int]:
    """Find where a term stands: at the start of words, short words whole.

    Args:
        folded: A text whose case is folded.
        term: What to look for.

    Returns:
        The starts, ascending.

    Example:
        >>> find_term("tidy tides", QueryTerm("tide"))
        [5]
    """
    needle, size = term.needle, len(term.needle)
    is_open = term.anywhere or size > _WHOLE_WORD_CHARACTERS
    last = len(folded) - size
    starts: list[int] = []
    at = folded.find(needle)
    while at >= 0:
        begins = term.anywhere or at == 0 or not folded[at - 1].isalnum()
        if begins and (is_open or at == last or not folded[at + size].isalnum()):
            starts.append(at)
        at = folded.find(needle, at + size)
    return starts


class TermPlaces:
    """Where the terms of a query stand in many texts, found in one pass a term.

    Example:
        >>> places = TermPlaces([QueryTerm("tide")], ["Tidy.", "The tides, a tide."])
        >>> places.masks, places.counts, places.within(1)
        ([0, 1], [2], [[4, 13]])
    """

    __slots__ = ("_hits", "_starts", "counts", "masks")

    def __init__(self, terms: Sequence[QueryTerm], texts: Sequence[str]) -> None:
        """Search the texts, laid end to end with a line break between.

        Args:
            terms: What to look for; none holds a line break.
            texts: The texts.
        """
        folded = "\n".join(map(fold_case, texts))
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]
        self._hits = [find_term(folded, term) for term in terms]
        self.counts = [len(hits) for hits in self._hits]
        """How often each term stands anywhere."""
        self.masks = self._masks_of(len(texts))
        """A bit for each term that stands in a text."""

    def _masks_of(self, texts: int) -> list[int]:
        masks = [0] * texts
        for bit, hits in enumerate(self._hits):
            at = 0
            while at < len(hits):
                text = bisect_right(self._starts, hits[at]) - 1
                masks[text] |= 1 << bit
                at = bisect_left(hits, self._starts[text + 1], at)
        return masks

    def within(self, text: int) -> list[list[int]]:
        """Tell where each term stands in one text.

        Args:
            text: Index of the text.

        Returns:
            The starts of each term, counted from the beginning of the text.
        """
        start, end = self._starts[text], self._starts[text + 1]
        return [
            [
                hit - start
                for hit in hits[bisect_left(hits, start) : bisect_left(hits, end)]
            ]
            for hits in self._hits
        ]
