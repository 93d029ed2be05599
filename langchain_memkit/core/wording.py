"""Words of a text in any script, and how well a text matches a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from unicodedata import normalize

__all__ = ["rank_texts", "search_terms"]

_ASCII_WORD = re.compile("[a-z0-9]+")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LONGEST_TERM = 40
_SATURATION = 1.2
_LENGTH_SHARE = 0.75


def _split(word: str) -> Iterable[str]:
    at = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        text = run[0]
        yield from map("".join, pairwise(text)) if len(text) > 1 else (text,)
        at = run.end()
    if at < len(word):
        yield word[at:]


def search_terms(text: str) -> list[str]:
    """Split a text into the terms that a search compares.

    Words are runs of letters and digits, compared without case; runs of a script that
    has no spaces between words become pairs of neighbouring characters. A term is cut
    at 40 code points.

    Args:
        text: Any text.

    Returns:
        The terms, in their order, repeated where they repeat.

    Example:
        >>> search_terms("Don't run pre-edit!")
        ['don', 't', 'run', 'pre', 'edit']
    """
    if text.isascii():
        return [word[:_LONGEST_TERM] for word in _ASCII_WORD.findall(text.lower())]
    plain = normalize("NFKC", text).casefold()
    return [
        term[:_LONGEST_TERM] for word in _WORD.findall(plain) for term in _split(word)
    ]


def rank_texts(texts: Mapping[str, str], query: str) -> list[tuple[str, float]]:
    """Rank the texts that share a term with a query.

    Formula: BM25 with `k1 = 1.2` and `b = 0.75`; ties go to the smaller key.

    Args:
        texts: The texts, by key.
        query: What is looked for.

    Returns:
        Keys and scores above 0, best first.

    Example:
        >>> rank_texts({"a": "a red kite", "b": "a boat"}, "kite")[0][0]
        'a'
    """
    wanted = sorted(set(search_terms(query)))
    counts = {key: Counter(search_terms(text)) for key, text in texts.items()}
    weights = {term: _rarity(term, list(counts.values())) for term in wanted}
    mean = sum(map(Counter.total, counts.values())) / max(len(counts), 1) or 1.0
    scored = ((key, _score(found, weights, mean)) for key, found in counts.items())
    return sorted(
        ((key, score) for key, score in scored if score > 0),
        key=lambda pair: (-pair[1], pair[0]),
    )


def _rarity(term: str, counts: Sequence[Counter[str]]) -> float:
    having = sum(term in found for found in counts)
    return math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))


def _score(found: Counter[str], weights: Mapping[str, float], mean: float) -> float:
    length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * found.total() / mean
    return sum(
        weight * found[term] * (_SATURATION + 1) / (found[term] + _SATURATION * length)
        for term, weight in weights.items()
    )
