"""What the replay has to know about each message of a history: flat and small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = [
    "CLIPPED",
    "GONE",
    "HIDDEN",
    "KEPT",
    "LOOSE",
    "RESULT",
    "STANDS",
    "STEP",
    "STUBBED",
    "SYSTEM",
    "TALK",
    "TURN",
    "Facts",
    "Prices",
]

TURN, STEP, TALK, RESULT, SYSTEM, LOOSE = range(6)
"""A user's message, an assistant's with or without calls, a result, a constraint.

`LOOSE` is only ever what a message is moved to: one that is its own result."""

KEPT, STUBBED, CLIPPED, GONE, HIDDEN = range(5)
"""Forms of a message: as it is, a stub, a clip, evicted, taken out by a repair."""

STANDS = bytes(form < GONE for form in range(256))
"""Translates forms to whether a message is sent, in that form or another."""


@dataclass(slots=True)
class Facts:
    """The messages of a history, by position.

    Attributes:
        codes: `TURN`, `STEP`, `TALK`, `RESULT` or `SYSTEM` of each.
        costs: Tokens of each.
        calls: Ids of the calls that a `STEP` makes.
        answers: Id of the call that a `RESULT` answers.
        pinned: Those that stand verbatim.
        persisted: Results whose content can be had from elsewhere.
        signed: Assistant messages with signed reasoning.
        late: Results that an earlier trimming moved up to their call.
        blank: Assistant messages that say nothing.
        moved: Those that leave with another rung of the ladder than their own.
    """

    codes: bytearray = field(default_factory=bytearray)
    costs: list[int] = field(default_factory=list)
    calls: dict[int, tuple[str, ...]] = field(default_factory=dict)
    answers: dict[int, str] = field(default_factory=dict)
    pinned: set[int] = field(default_factory=set)
    persisted: set[int] = field(default_factory=set)
    signed: set[int] = field(default_factory=set)
    late: set[int] = field(default_factory=set)
    blank: set[int] = field(default_factory=set)
    moved: dict[int, int] = field(default_factory=dict)


class Prices(Protocol):
    """Tells what a message would cost in another form.

    Laws:
        1. Equal questions have equal answers.
    """

    def stub(self, index: int) -> int:
        """Price a result as a stub.

        Args:
            index: Position of the result.

        Returns:
            Tokens; what it costs now where it is a stub already.
        """

    def clip(self, index: int, room: int) -> int:
        """Price a result cut to fit a room.

        Args:
            index: Position of the result.
            room: Tokens it may take.

        Returns:
            Tokens; those of its stub where nothing else fits.
        """

    def head(
        self, index: int, *, results: Sequence[int], mended: bool, bare: bool
    ) -> int:
        """Price an assistant message that is repaired or has lost its reasoning.

        Args:
            index: Position of the message.
            results: Positions of its results.
            mended: Whether its unanswered calls are answered or taken out.
            bare: Whether its signed reasoning is taken out.

        Returns:
            Tokens, those of stand-in results included; 0 where nothing is left of it.
        """
