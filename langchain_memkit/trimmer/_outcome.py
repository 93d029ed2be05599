"""What one call decided, before anything left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_memkit.core.facts import GONE, HIDDEN, RESULT, STEP, TALK
from langchain_memkit.core.replay import Budget
from langchain_memkit.core.timeline import Timeline
from langchain_memkit.messages import is_system
from langchain_memkit.protocols import Archive, ArchiveEntry
from langchain_memkit.trimmer._history import History
from langchain_memkit.trimmer._session import Session
from langchain_memkit.trimmer._shapes import form_of
from langchain_memkit.trimmer._view import hoist, render
from langchain_memkit.trimmer.evidence import entry_of

__all__ = ["Outcome", "describe_floor", "entries_of", "sent_of"]


@dataclass(slots=True)
class Outcome:
    """What one call decided.

    Attributes:
        session: The conversation, which nobody else works on meanwhile.
        line: The forms of its messages.
        budget: What holds for this call.
        aside: Blocks of memories and their places.
        overheads: The record for the next call.
        messages: What is sent.
        tokens: Tokens of the conversation in these forms.
    """

    session: Session
    line: Timeline
    budget: Budget
    aside: list[tuple[int, BaseMessage]]
    overheads: list[list[int]]
    messages: list[BaseMessage]
    tokens: int

    @property
    def history(self) -> History:
        """Return the history that was decided on.

        Returns:
            The session's history.
        """
        return self.session.history

    @property
    def is_over(self) -> bool:
        """Tell whether the floor is over budget.

        Returns:
            True where nothing is left that could leave.
        """
        return self.tokens > self.budget.limit

    def previous_call(self) -> int:
        """Find where the model was called before.

        Returns:
            How many messages there were then; 0 where it never was.
        """
        codes = self.history.facts.codes
        for end in range(len(codes) - 1, 0, -1):
            if codes[end] != RESULT and codes[end - 1] not in (STEP, TALK):
                return end
        return 0

    def removed(self) -> Iterator[BaseMessage]:
        """Yield the input messages that left.

        Yields:
            In order.
        """
        form = self.line.form
        gone = (i for i in range(len(form)) if form[i] == GONE)
        yield from (self.history.messages[i] for i in gone)

    def replaced(self) -> Iterator[BaseMessage]:
        """Yield the messages that stand in place of an input message.

        Yields:
            In order of what is sent.
        """
        known = {id(message) for message in self.history.messages}
        for message in self.messages:
            if id(message) not in known and form_of(message) in _IN_PLACE:
                yield message


_IN_PLACE = frozenset({"stub", "clip", "bare", "mended"})


def sent_of(
    session: Session, line: Timeline, aside: Sequence[tuple[int, BaseMessage]] = ()
) -> list[BaseMessage]:
    """Make what is sent, blocks of memories included.

    Args:
        session: The conversation.
        line: The forms of its messages.
        aside: Blocks of memories and their places.

    Returns:
        The messages.
    """
    sent, history = session.view(line), session.history
    if history.options.hoist:
        sent = hoist(sent)
    for place, block in reversed(aside):
        tail = render(history, line, place)
        if history.options.hoist:
            tail = [message for message in tail if not is_system(message)]
        sent.insert(len(sent) - len(tail), block)
    return sent


def entries_of(outcome: Outcome, memory: Archive) -> list[ArchiveEntry]:
    """List what a memory has to take before it leaves.

    Args:
        outcome: What was decided.
        memory: The memory.

    Returns:
        Each content once, but for what the memory took at earlier calls.
    """
    session, history = outcome.session, outcome.history
    entries: dict[str, ArchiveEntry] = {}
    for index, _rung in outcome.line.departures(session.archived_by(memory)):
        entry = entry_of(history.messages[index], kind=history.kind(index))
        if entry is not None:
            entries[entry.key] = entry
    return [entry for key, entry in entries.items() if key not in session.sent]


def describe_floor(outcome: Outcome) -> tuple[str, ...]:
    """Describe what has to stay.

    Args:
        outcome: What was decided.

    Returns:
        A short description of each message that stands.
    """
    history, line = outcome.history, outcome.line
    standing = (i for i in range(len(line.form)) if line.form[i] not in (GONE, HIDDEN))
    return tuple(
        f"{history.messages[i].type} message {i} ({line.current[i]} tokens)"
        for i in standing
    )
