"""What a trimmer remembers of conversations, so that a call costs the new messages."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from operator import itemgetter
from threading import Lock
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_memkit.core.facts import CLIPPED, RESULT, STANDS, STEP, STUBBED
from langchain_memkit.core.replay import Budget, Replay
from langchain_memkit.core.timeline import Timeline
from langchain_memkit.protocols import Archive
from langchain_memkit.trimmer._history import History
from langchain_memkit.trimmer._options import Options
from langchain_memkit.trimmer._view import render

__all__ = ["Session", "Sessions"]

_MOST_SESSIONS = 16
_MOST_MESSAGES = 250_000
_MOST_MEMORIES = 4
_DEEP_WHOLE = 256
_DEEP_WINDOW = 32
_READ_ALL = 4_096
_content = itemgetter("content")


def _freeze(value: list[Any]) -> int:
    try:
        return hash(marshal.dumps(value, 2))
    except ValueError:
        return hash(repr(value))


def _deep(message: BaseMessage) -> int:
    fields = message.__dict__
    inner = [fields["additional_kwargs"]]
    inner += [fields.get("tool_calls"), fields.get("invalid_tool_calls")]
    if type(fields["content"]) is not str:
        inner.append(fields["content"])
    return _freeze(inner) if any(inner) else 0


@dataclass(slots=True)
class _View:
    """What was sent before the last step: `sent` for all messages before `stop`."""

    epoch: int = -1
    stop: int = 0
    sent: list[BaseMessage] = field(default_factory=list)


_Rendered = dict[int, tuple[int, BaseMessage]]


def _standing(rendered: _Rendered, line: Timeline) -> _Rendered:
    form = line.form
    return {i: made for i, made in rendered.items() if form[i] in (STUBBED, CLIPPED)}


class Session:
    """One conversation: its history, its replay, and what it looked like.

    Attributes:
        history: The messages and what is known about them.
        replay: How far they were walked through.
        budgets: What held for what was walked through.
        sent: Keys that a memory took last.
    """

    def __init__(self, history: History) -> None:
        """Start with a history that is not walked through yet.

        Args:
            history: The history.
        """
        self.history = history
        self._seen = 0
        self._lists: dict[int, int] = {}
        self._window: dict[int, int] = {}
        self._watched: tuple[list[dict[str, object]], list[object]] = [], []
        self._watched_epoch = -1
        self.restart()

    def restart(self) -> None:
        """Forget how far it was walked through."""
        history = self.history
        rules = history.options.rules
        self.replay = Replay(history.facts, prices=history, rules=rules)
        self.budgets: list[Budget] = []
        self._archived: list[tuple[Archive, int]] = []
        self.sent: frozenset[str] = frozenset()
        self._view = _View()

    def walk(self, budgets: list[Budget]) -> None:
        """Walk through the messages that are new.

        Args:
            budgets: What holds, by rising start.
        """
        done = len(self.replay.line.form)
        if self.budgets != [b for b in budgets if b.start < done]:
            self.restart()
        length = len(self.history.messages)
        self.replay.advance(length, budgets)
        self.budgets = [b for b in budgets if b.start < length]

    def view(self, line: Timeline) -> list[BaseMessage]:
        """Make the messages that are sent, anew only from the first change on.

        Args:
            line: The forms of the messages.

        Returns:
            The messages in order.
        """
        history, view, codes = self.history, self._view, self.history.facts.codes
        if line is not self.replay.line:
            return render(history, line)
        end = len(codes)
        while end and codes[end - 1] == RESULT:
            end -= 1
        end = max(0, end - 1)
        if view.epoch != line.epoch or view.stop > end:
            history.rendered = _standing(history.rendered, line)
            view = self._view = _View(line.epoch)
        view.sent += render(history, line, view.stop, end)
        view.stop = end
        return view.sent + render(history, line, end)

    def archived_by(self, memory: Archive) -> int:
        """Tell how much of the log a memory took.

        Args:
            memory: The memory.

        Returns:
            Entries of the log.
        """
        return next((n for m, n in self._archived if m == memory), 0)

    def note_archived(self, memory: Archive, keys: Iterable[str]) -> None:
        """Note that a memory took everything that has left so far.

        Args:
            memory: The memory.
            keys: What it took just now.
        """
        rest = [(m, n) for m, n in self._archived if m != memory]
        taken = (memory, len(self.replay.line.log))
        self._archived = [taken, *rest][:_MOST_MEMORIES]
        self.sent = frozenset(keys)

    def remember(self) -> None:
        """Note what the messages look like now, to notice later what was edited."""
        messages, contents = self.history.messages, self.history.contents
        start, self._seen = self._seen, len(messages)
        if set(map(type, contents[start:])) - {str}:
            new = enumerate(contents[start:], start)
            lists = [i for i, content in new if type(content) is not str]
            self._lists |= {i: _deep(messages[i]) for i in lists}
        self._watch(start)
        length, known = len(messages), self._window
        window = length if length <= _DEEP_WHOLE else _DEEP_WINDOW
        self._window = {
            i: known[i] if i in known else _deep(messages[i])
            for i in range(length - window, length)
        }

    def matches(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether a list begins with the messages of this conversation.

        Args:
            messages: The list.

        Returns:
            True where it does and none of them was edited.
        """
        mine = self.history.messages
        length = len(mine)
        if len(messages) < length or not _same(mine, messages[:length]):
            return False
        return self._unedited()

    def _watch(self, start: int) -> None:
        """Choose whose content is looked at by the next call.

        In a long history that is what stands: what has left is not sent again.

        Args:
            start: Position of the first message that is new.
        """
        line, history = self.replay.line, self.history
        if self._seen <= _READ_ALL or not line.log:
            self._watched = history.fields, history.contents
            return
        if self._watched_epoch != line.epoch:
            self._watched, start = ([], []), 0
        fields, contents = self._watched
        stand = line.form[start:].translate(STANDS)
        fields += compress(history.fields[start:], stand)
        contents += compress(history.contents[start:], stand)
        self._watched_epoch = line.epoch

    def _unedited(self) -> bool:
        fields, contents = self._watched
        if list(map(_content, fields)) != contents:
            return False
        messages = self.history.messages
        return all(
            _deep(messages[i]) == was
            for known in (self._lists, self._window)
            for i, was in known.items()
        )

    def beginning(self, messages: Sequence[BaseMessage]) -> int:
        """Count the messages that a list has in common with this conversation.

        Args:
            messages: The list.

        Returns:
            How many of the first ones are equal and were not edited.
        """
        count = 0
        for i, (mine, theirs) in enumerate(
            zip(self.history.messages, messages, strict=False)
        ):
            history = self.history
            known = history.fields[i]["content"] == history.contents[i]
            deep = self._lists.get(i, self._window.get(i))
            if not known or (deep is not None and deep != _deep(mine)):
                break
            if mine is not theirs and not _equal(mine, theirs):
                break
            count += 1
        return count

    def adopt(self, messages: Sequence[BaseMessage]) -> None:
        """Take the objects of a list in place of the equal ones that are known.

        Args:
            messages: A list that begins with equal messages.
        """
        mine = self.history.messages
        last = len(mine) - 1
        if mine and (mine[0] is not messages[0] or mine[last] is not messages[last]):
            history = self.history
            mine[:] = messages[: len(mine)]
            history.fields = [message.__dict__ for message in mine]
            history.contents = list(map(_content, history.fields))
            history.rendered = {}
            self._watched_epoch = -1
            self._view = _View()

    def beginning_of_step(self) -> int:
        """Find where the last step begins, whose price is not final.

        Returns:
            How many messages lie before it.
        """
        codes = self.history.facts.codes
        end = len(codes)
        while end and codes[end - 1] == RESULT:
            end -= 1
        if end and codes[end - 1] == STEP:
            end -= 1
        return end

    def shortened(self, length: int) -> Session:
        """Keep the beginning of the conversation.

        Args:
            length: How many messages.

        Returns:
            A session that knows these, and was not walked through.
        """
        return Session(self.history.truncated(length))


def _same(mine: Sequence[BaseMessage], theirs: Sequence[BaseMessage]) -> bool:
    with suppress(Exception):  # an artifact may refuse to be compared
        return mine == theirs
    return False


def _equal(mine: BaseMessage, theirs: BaseMessage) -> bool:
    with suppress(Exception):  # as above
        return bool(mine == theirs)
    return False


class Sessions:
    """A bounded number of conversations, the last used kept.

    A conversation is taken out while it is worked on, so that no two threads meet in
    it; one that asks for it meanwhile starts afresh and finds the same.
    """

    def __init__(self, options: Options) -> None:
        """Start empty.

        Args:
            options: What the trimmer was told.
        """
        self._options = options
        self._lock = Lock()
        self._known: list[Session] = []

    def __len__(self) -> int:
        """Count the conversations.

        Returns:
            How many are remembered.
        """
        return len(self._known)

    def take(self, messages: Sequence[BaseMessage], *, keyed: bool) -> Session:
        """Find the conversation that a list continues.

        Args:
            messages: The list.
            keyed: Whether stubs carry keys.

        Returns:
            A session that nobody else has, whose messages the list begins with.
        """
        with self._lock:
            return self._take(messages, keyed=keyed)

    def _take(self, messages: Sequence[BaseMessage], *, keyed: bool) -> Session:
        additive = self._options.tokens.additive
        known = [s for s in self._known if s.history.keyed is keyed]
        found = next((s for s in known if s.matches(messages)), None)
        if found is not None:
            self._known.remove(found)
            found.adopt(messages)
            if additive:
                return found
        else:
            shared = [(s.beginning(messages), k) for k, s in enumerate(known)]
            length, k = max(shared, default=(0, 0))
            if not length:
                return Session(History(self._options, keyed=keyed))
            found = known[k].shortened(length)
            found.adopt(messages)
        return found if additive else found.shortened(found.beginning_of_step())

    def give(self, session: Session) -> None:
        """Remember a conversation, as the one used last.

        Args:
            session: The conversation.
        """
        session.remember()
        with self._lock:
            self._known.insert(0, session)
            del self._known[_MOST_SESSIONS:]
            total = sum(len(s.history.messages) for s in self._known)
            while total > _MOST_MESSAGES and len(self._known) > 1:
                total -= len(self._known.pop().history.messages)
