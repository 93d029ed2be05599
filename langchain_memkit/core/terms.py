"""The words of a query, and where they stand in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["QueryTerm", "find_term", "fold_case", "query_terms"]

_STEM_CHARACTERS = 4
_WHOLE_WORD_CHARACTERS = 3

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
        The distinct terms in order.

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
    return tuple(terms)


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
    starts: list[int] = []
    at = folded.find(needle)
    while at >= 0:
        if term.anywhere or _is_word(folded, at, size):
            starts.append(at)
        at = folded.find(needle, at + size)
    return starts


def _is_word(folded: str, at: int, size: int) -> bool:
    if at and folded[at - 1].isalnum():
        return False
    if size > _WHOLE_WORD_CHARACTERS:
        return True
    end = at + size
    return end == len(folded) or not folded[end].isalnum()
