"""Words that say nothing about what is asked, by language.

The lists are those of the package `stop-words`. They are generous, so only words of up
to five letters are taken from them: function words are short, and what is longer is
left to its rarity. That kept as much evidence as the whole lists did, and a query for a
"computer system" keeps its words.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from langchain_memkit.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = ["StopWords", "check_stop_words", "stop_words_for"]

StopWords = str | frozenset[str] | None
"""`auto`, the English name of a language, own words, or none."""

_LONGEST_CHARACTERS = 5
_SAMPLE_CHARACTERS = 600
_SAMPLE_TEXTS = 3
_WORD = re.compile(r"\w+")


def check_stop_words(value: StopWords) -> StopWords:
    """Refuse what names no language.

    Args:
        value: What the user gave.

    Returns:
        The value.

    Raises:
        InvalidInputError: There is no list for the language.

    Example:
        >>> check_stop_words("german")
        'german'
    """
    if isinstance(value, str) and value != "auto" and value not in _lists():
        rule = f"must be 'auto' or one of {', '.join(sorted(_lists()))}"
        raise InvalidInputError("stop_words", rule, value)
    return value


def stop_words_for(
    value: StopWords, *, query: str, texts: Iterable[str]
) -> Collection[str]:
    """Choose the stop words of a call.

    Args:
        value: What the user gave; `auto` takes the language whose stop words are most
            frequent in the query and the first texts.
        query: What is asked for.
        texts: What was found, best first.

    Returns:
        Words in lower case.

    Example:
        >>> "der" in stop_words_for("auto", query="Wo ist der Hund?", texts=[])
        True
    """
    if value is None:
        return frozenset()
    if isinstance(value, frozenset):
        return value
    if value != "auto":
        return _lists()[value]
    first = [text[:_SAMPLE_CHARACTERS] for text in islice(texts, _SAMPLE_TEXTS)]
    words = _WORD.findall(" ".join([query, *first]).lower())
    languages = _languages()
    hits = Counter(name for word in words for name in languages.get(word, ()))
    best = min(hits, key=lambda name: (-hits[name], name), default=None)
    return _lists()[best] if best else frozenset()


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    import stop_words  # type: ignore[import-untyped]  # noqa: PLC0415 - read on first use

    return {
        name: frozenset(
            word.lower()
            for word in stop_words.get_stop_words(name)
            if len(word) <= _LONGEST_CHARACTERS
        )
        for name in stop_words.AVAILABLE_LANGUAGES
    }


@cache
def _languages() -> Mapping[str, tuple[str, ...]]:
    """Tell for each stop word whose it is."""
    owners: dict[str, list[str]] = {}
    for name, words in _lists().items():
        for word in words:
            owners.setdefault(word, []).append(name)
    return {word: tuple(names) for word, names in owners.items()}
