"""Units of a text: what may be sent alone.

A unit is a short line whole, a sentence of a long line, or some clauses of a long
sentence. A sentence of a few words goes with the next one, as long as both are no
longer than a unit may be. Units are trimmed of white space and cover all else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from langchain_memkit.core.graphemes import floor_cut, is_safe_cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Span", "join_spans", "split_units"]

Span = tuple[int, int]
"""Half-open code points `(start, end)` of a text."""

_LINE_CHARACTERS = 240
_SENTENCE_CHARACTERS = 40

# A run of stops is always taken whole, so that a megabyte of dots stays linear; whether
# it ends a sentence is seen from what follows.
_STOPS = re.compile(
    r"[.!?…。！？।॥؟۔։።]++[\"'”’)\]」』）]*+(\s*+)"  # noqa: RUF001
)
_SPACED_STOPS = frozenset(".!?…")
_CLAUSE_END = re.compile(r"[,;:–—]\s++|[、，；：،؛]\s*+|\s[-–—]\s")  # noqa: RUF001


def split_units(text: str, *, most_characters: int) -> list[Span]:
    r"""Split a text into what may be sent alone.

    Args:
        text: Any text.
        most_characters: Longest unit, at least 1; a single grapheme may be longer.

    Returns:
        The units in order, none of them empty or only white space.

    Example:
        >>> split_units("Kites need wind.\nTides turn.", most_characters=99)
        [(0, 16), (17, 28)]
    """
    longest_line = min(_LINE_CHARACTERS, most_characters)
    units: list[Span] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        first, last = _strip(text, (start, end))
        if first < last <= first + longest_line:
            units.append((first, last))
        elif first < last:
            units += _split_line(text, (first, last), most=most_characters)
        start = end + 1
    return units


def _strip(text: str, span: Span) -> Span:
    start, end = span
    tail = text[start:end].lstrip()
    if not tail:
        return end, end
    first = end - len(tail)
    last = first + len(tail.rstrip())
    if not text.isascii():
        while not is_safe_cut(text, first):
            first -= 1
        while not is_safe_cut(text, last):
            last += 1
    return first, last


def _split_line(text: str, line: Span, *, most: int) -> Iterator[Span]:
    for first, last in _sentences(text, line):
        while last - first > most:
            window = first, first + most
            cut = _sentence_cut(text, window) or _clause_cut(text, window)
            yield from _filled(_strip(text, (first, cut)))
            first = cut  # noqa: PLW2901 - the rest of the sentence
        yield from _filled(_strip(text, (first, last)))


def _filled(span: Span) -> tuple[Span, ...]:
    return (span,) if span[0] < span[1] else ()


def _sentences(text: str, line: Span) -> Iterator[Span]:
    start, end = line
    for stops in _STOPS.finditer(text, start, end):
        cut = stops.end()
        if cut - start < _SENTENCE_CHARACTERS or end - cut < _SENTENCE_CHARACTERS:
            continue
        if _ends_sentence(text, stops):
            yield start, cut
            start = cut
    yield start, end


def _ends_sentence(text: str, stops: re.Match[str]) -> bool:
    if not stops[1] and text[stops.start()] in _SPACED_STOPS:
        return False
    return text.isascii() or is_safe_cut(text, stops.end())


def _sentence_cut(text: str, span: Span) -> int | None:
    """Find the last end of a sentence, however short, that the span holds."""
    start, end = span
    ends = [
        stops.end()
        for stops in _STOPS.finditer(text, start, end + 1)
        if stops.start(1) <= end and _ends_sentence(text, stops)
    ]
    return ends[-1] if ends else None


def _clause_cut(text: str, span: Span) -> int:
    start, end = span
    middle = (start + end) // 2
    cuts = [stop.end() for stop in _CLAUSE_END.finditer(text, middle, end)]
    space = text.rfind(" ", middle, end) + 1
    wanted = cuts[-1] if cuts else space or end
    return floor_cut(text, max(wanted, start + 1), floor=start)


def join_spans(text: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Join the spans between which only white space stands.

    Args:
        text: The text that they belong to.
        spans: Spans that do not overlap, in any order.

    Returns:
        The spans in order, neighbours joined.

    Example:
        >>> join_spans("a b, c", [(5, 6), (0, 1), (2, 4)])
        ((0, 6),)
    """
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)
