"""Where the replay of a history stands: which messages are in which form."""

from __future__ import annotations

import copy
from array import array
from bisect import bisect_left

from langchain_memkit.core.facts import (
    CLIPPED,
    GONE,
    HIDDEN,
    KEPT,
    STUBBED,
    Facts,
    Prices,
)

__all__ = ["Cursors", "Timeline"]

_RUNGS = 8
"""A log entry is a position times this, plus the rung."""


class Cursors:
    """How far each rung of the ladder has come; what lies before has left.

    Attributes:
        persisted: In the steps, for results that can be had from elsewhere.
        results: In the steps, for the other results.
        steps: In the steps, for those that leave whole.
        talks: In the messages without calls.
        turns: In the user turns.
        front: In the messages, for the first that stands.
    """

    __slots__ = ("front", "persisted", "results", "steps", "talks", "turns")

    def __init__(self) -> None:
        """Start at the beginning of the history."""
        self.persisted = self.results = self.steps = 0
        self.talks = self.turns = self.front = 0

    def rewind(self, step: int) -> None:
        """Go back, because a step changed.

        Args:
            step: Its position in the steps.
        """
        self.persisted = min(self.persisted, step)
        self.results = min(self.results, step)
        self.steps = min(self.steps, step)
        self.front = 0


class Timeline:
    """The forms and costs of all messages so far; positions are those of the facts.

    Attributes:
        end: How many messages were walked through; the lists may be longer.
        total: Tokens of everything in its present form.
        current: Tokens of each message in its present form.
        form: The form of each message.
        owner: The assistant message that a result belongs to, itself for all others,
            -1 for a result without a call.
        results: Results of each step, in order.
        open: The newest step that waits for a result of each id.
        hidden: Older steps that wait for a result of the same id.
        mended: Steps whose unanswered calls are repaired.
        bare: Messages whose signed reasoning is taken out.
        rooms: What each clipped result may take.
        blocked: Whether a step that could not leave stands before the first turn.
        epoch: Rises whenever a message before the last step changes its form.
        turn_tokens: Tokens of the user turns that may leave and have not.
        log: Everything that left or was shortened, in order, with its rung.
    """

    __slots__ = (
        "ais",
        "bare",
        "blocked",
        "current",
        "cursors",
        "end",
        "epoch",
        "facts",
        "first_turn",
        "form",
        "hidden",
        "last",
        "last_ai",
        "last_turn",
        "log",
        "mended",
        "missing",
        "open",
        "owner",
        "pending",
        "prices",
        "ranks",
        "removed_from",
        "results",
        "rooms",
        "steps",
        "talks",
        "thinkers",
        "total",
        "turn_tokens",
        "turns",
    )

    def __init__(self, facts: Facts, prices: Prices) -> None:
        """Start before the first message.

        Args:
            facts: What is known about the messages.
            prices: Tells the cost of other forms.
        """
        self.facts = facts
        self.prices = prices
        self.total = self.ais = self.end = 0
        self.current: list[int] = []
        self.form = bytearray()
        self.owner = array("q")
        self.results: dict[int, tuple[int, ...]] = {}
        self.open: dict[str, int] = {}
        self.hidden: dict[str, list[int]] = {}
        self.missing: dict[int, int] = {}
        self.mended: set[int] = set()
        self.bare: set[int] = set()
        self.rooms: dict[int, int] = {}
        self.steps = array("q")
        self.talks = array("q")
        self.ranks = array("q")
        self.turns = array("q")
        self.thinkers: list[int] = []
        self.first_turn = self.last_turn = self.last_ai = self.last = -1
        self.pending = self.removed_from = -1
        self.turn_tokens = 0
        self.blocked = False
        self.epoch = 0
        self.cursors = Cursors()
        self.log = array("q")

    def fork(self) -> Timeline:
        """Copy what an eviction changes, so that it can be tried.

        Returns:
            A timeline to evict from; feed no messages to it.
        """
        twin = copy.copy(self)
        twin.current = self.current.copy()
        twin.form = self.form.copy()
        twin.mended = self.mended.copy()
        twin.bare = self.bare.copy()
        twin.rooms = self.rooms.copy()
        twin.thinkers = self.thinkers.copy()
        twin.cursors = copy.copy(self.cursors)
        twin.log = self.log[:]
        return twin

    def is_held(self, head: int) -> bool:
        """Tell whether a step cannot leave whole.

        Args:
            head: Position of its assistant message.

        Returns:
            True where it or one of its results is pinned.
        """
        pinned = self.facts.pinned
        return bool(pinned) and (
            head in pinned or any(r in pinned for r in self.results.get(head, ()))
        )

    def shorten(self, index: int, *, rung: int) -> None:
        """Turn a result into a stub, where that saves something.

        Args:
            index: Position of the result.
            rung: The rung of the ladder it happens on.
        """
        price = self.prices.stub(index)
        if price < self.current[index]:
            self._set(index, price, STUBBED)
            self.log.append(index * _RUNGS + rung)

    def clip(self, index: int, room: int, *, rung: int) -> None:
        """Cut a result to fit a room.

        Args:
            index: Position of the result.
            room: Tokens it may take.
            rung: The rung of the ladder it happens on.
        """
        price = self.prices.clip(index, room)
        if price < self.current[index]:
            self._set(index, price, CLIPPED)
            self.rooms[index] = room
            self.log.append(index * _RUNGS + rung)

    def remove(self, head: int, *, rung: int) -> None:
        """Take a message out, with its results.

        Args:
            head: Position of the message.
            rung: The rung of the ladder it happens on.
        """
        for index in (head, *self.results.get(head, ())):
            if self.form[index] == KEPT:
                self.log.append(index * _RUNGS + rung)
            self._set(index, 0, GONE)
        if self.removed_from < 0 or head < self.removed_from:
            self.removed_from = head

    def reprice(self, head: int) -> None:
        """Work out anew what an assistant message costs.

        Args:
            head: Position of the message.
        """
        mended, bare = head in self.mended, head in self.bare
        price = self.facts.costs[head]
        if mended or bare:
            results = self.results.get(head, ())
            price = self.prices.head(head, results=results, mended=mended, bare=bare)
        self._set(head, price, KEPT if price else HIDDEN)

    def settle(self, head: int) -> None:
        """Repair what is known to stay unanswered, or empty.

        Args:
            head: Position of the assistant message.
        """
        self.mended.add(head)
        if self.form[head] != GONE:
            self.reprice(head)

    def rejoin(self, head: int) -> None:
        """Take a late result into account: its step stands again and is repaired anew.

        Args:
            head: Position of the assistant message.
        """
        self.epoch += 1
        self.mended.discard(head)
        gone = self.form[head] == GONE
        for index in self.results[head][:-1] if gone else ():
            self._set(index, self.facts.costs[index], KEPT)
            price = self.prices.stub(index)
            if price < self.current[index]:
                self._set(index, price, STUBBED)
        if head in self.missing:
            self.mended.add(head)
        self.reprice(head)
        self.cursors.rewind(bisect_left(self.steps, head))

    def _set(self, index: int, cost: int, form: int) -> None:
        self.total += cost - self.current[index]
        self.current[index] = cost
        self.form[index] = form

    def departures(self, start: int = 0) -> list[tuple[int, int]]:
        """List what left or was shortened.

        Args:
            start: How many entries of the log to skip.

        Returns:
            Position and rung of each, in order.
        """
        return [divmod(entry, _RUNGS) for entry in self.log[start:]]
