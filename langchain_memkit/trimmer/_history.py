"""A history as the replay sees it: facts about its messages, prices of other forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit.core.eviction import EpisodeKind
from langchain_memkit.core.facts import (
    LOOSE,
    RESULT,
    STEP,
    SYSTEM,
    TALK,
    TURN,
    Facts,
)
from langchain_memkit.core.keys import content_key
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.messages import (
    archive_text,
    call_ids,
    is_blank,
    is_pinned,
    kind_of,
    mark_of,
    recall_key,
    recalled_key,
    result_id,
    text_of,
)
from langchain_memkit.trimmer._clips import head_and_tail, largest_fit
from langchain_memkit.trimmer._coerce import is_aside
from langchain_memkit.trimmer._options import Options
from langchain_memkit.trimmer._shapes import (
    EMPTY_TEXT,
    clip_marker,
    form_of,
    has_signed_reasoning,
    mended,
    shown,
    standing_in,
    stub_text,
    without_reasoning,
)

__all__ = ["History"]

_CODES = {HumanMessage: TURN, AIMessage: TALK, ToolMessage: RESULT, SystemMessage: 4}
_BY_KIND = {
    EpisodeKind.CONSTRAINT: SYSTEM,
    EpisodeKind.USER_TURN: TURN,
    EpisodeKind.AGENT_REASONING: TALK,
}
_RESULTS = (EpisodeKind.ACTION_RESULT, EpisodeKind.OBSERVATION)
_MOVES = {
    (TURN, EpisodeKind.AGENT_REASONING): TALK,
    (TURN, EpisodeKind.ACTION_RESULT): LOOSE,
    (TURN, EpisodeKind.OBSERVATION): LOOSE,
    (TALK, EpisodeKind.USER_TURN): TURN,
    (TALK, EpisodeKind.ACTION_RESULT): LOOSE,
    (TALK, EpisodeKind.OBSERVATION): LOOSE,
}
_LEAST_EXCERPT_TOKENS = 8


class History:
    """Messages that are sent, in order, with what is known about each.

    Attributes:
        messages: The messages.
        facts: What the replay has to know, by the same positions.
        bases: What is shown for a message that is repaired from the start.
        kinds: Kinds that `classify` named.
        has_aside: Whether there is a message among them that is no part of the
            conversation; then nothing else may be asked of it.
        rendered: Stubs and clips that were made, with the room that a clip takes.
    """

    def __init__(self, options: Options, *, keyed: bool) -> None:
        """Start without messages.

        Args:
            options: What the trimmer was told.
            keyed: Whether a memory takes what leaves, so that stubs carry keys.
        """
        self.options = options
        self.keyed = keyed
        self.messages: list[BaseMessage] = []
        self.facts = Facts()
        self.bases: dict[int, BaseMessage] = {}
        self.kinds: dict[int, EpisodeKind] = {}
        self.has_aside = False
        self.rendered: dict[int, tuple[int, BaseMessage]] = {}

    def extend(self, messages: Sequence[BaseMessage]) -> None:
        """Take in further messages.

        Args:
            messages: What follows.

        Raises:
            CounterError: The counter raised, or returned no count.
            InvalidInputError: `classify` named no kind.
        """
        start = len(self.messages)
        self.messages.extend(messages)
        self._read(start)
        if self.has_aside:
            return
        self._ask(start)
        new: Sequence[BaseMessage] = messages
        if self.bases:
            bases = self.bases
            new = [bases.get(i, m) for i, m in enumerate(messages, start)]
        self.facts.costs.extend(self.options.tokens.costs(new))

    def truncated(self, length: int) -> History:
        """Keep the beginning.

        Args:
            length: How many messages.

        Returns:
            A history of these, with what was known about them.
        """
        twin, old = History(self.options, keyed=self.keyed), self.facts
        twin.messages = self.messages[:length]
        twin.facts = Facts(
            codes=old.codes[:length],
            costs=old.costs[:length],
            calls={k: v for k, v in old.calls.items() if k < length},
            answers={k: v for k, v in old.answers.items() if k < length},
            pinned={k for k in old.pinned if k < length},
            persisted={k for k in old.persisted if k < length},
            signed={k for k in old.signed if k < length},
            late={k for k in old.late if k < length},
            blank={k for k in old.blank if k < length},
            moved={k: v for k, v in old.moved.items() if k < length},
        )
        twin.bases = {k: v for k, v in self.bases.items() if k < length}
        twin.kinds = {k: v for k, v in self.kinds.items() if k < length}
        return twin

    def _read(self, start: int) -> None:
        codes, answers = self.facts.codes, self.facts.answers
        for i in range(start, len(self.messages)):
            message = self.messages[i]
            fields = message.__dict__
            content = fields["content"]
            code = _CODES.get(type(message), -1)
            if type(content) is not str or fields["additional_kwargs"]:
                codes.append(self._read_odd(i, message))
                continue
            if code == RESULT:
                answers[i] = fields["tool_call_id"]
            elif code == TALK:
                code = self._read_calls(i, fields)
            elif code < 0:
                code = self._read_odd(i, message)
            codes.append(code)
            if code != RESULT and (not content or content.isspace()):
                self._read_blank(i, code)

    def _read_calls(self, i: int, fields: dict[str, Any]) -> int:
        if fields["invalid_tool_calls"]:
            return self._read_odd(i, self.messages[i])
        found = fields["tool_calls"]
        if not found:
            return TALK
        if len(found) == 1:
            self.facts.calls[i] = (found[0].get("id") or "",)
        else:
            self.facts.calls[i] = tuple([call.get("id") or "" for call in found])
        return STEP

    def _read_odd(self, i: int, message: BaseMessage) -> int:
        code = self._code(i, message)
        if is_aside(message):
            self.has_aside = True
        elif message.additional_kwargs:
            self._read_marks(i, message)
        self._read_blank(i, code)
        return code

    def _code(self, i: int, message: BaseMessage) -> int:
        name = result_id(message)
        if name is not None:
            self.facts.answers[i] = name
            return RESULT
        code = _BY_KIND[kind_of(message)]
        if code != TALK:
            return code
        if self.options.reasoning == "auto" and has_signed_reasoning(message):
            self.facts.signed.add(i)
        elif self.options.reasoning == "drop":
            bare = without_reasoning(message, signed_only=False)
            if bare is not message:
                self.bases[i] = bare
        calls = call_ids(message)
        if not calls:
            return TALK
        self.facts.calls[i] = calls
        return STEP

    def _read_blank(self, i: int, code: int) -> None:
        message = self.base(i)
        if code not in (TURN, TALK) or not is_blank(message):
            return
        if code == TALK:
            self.facts.blank.add(i)
        else:
            self.bases[i] = shown(message, EMPTY_TEXT, form="stand_in", key=None)

    def _read_marks(self, i: int, message: BaseMessage) -> None:
        if is_pinned(message):
            self.facts.pinned.add(i)
        if recalled_key(message) is not None:
            self.facts.persisted.add(i)
        if mark_of(message).get("moved") is True:
            self.facts.late.add(i)

    def _ask(self, start: int) -> None:
        options, facts = self.options, self.facts
        asked: list[tuple[Callable[[BaseMessage], bool] | None, set[int]]] = [
            (options.pin, facts.pinned),
            (options.persisted, facts.persisted),
        ]
        for question, found in asked:
            if question is not None:
                new = enumerate(self.messages[start:], start)
                found.update(i for i, message in new if question(message))
        if options.classify is not None:
            for i in range(start, len(self.messages)):
                self._classify(i, options.classify(self.messages[i]))

    def _classify(self, i: int, named: EpisodeKind | str | None) -> None:
        code = self.facts.codes[i]
        if named is None or code == SYSTEM:
            return
        try:
            kind = EpisodeKind(named)
        except ValueError as error:
            rule = "must return an `EpisodeKind` or None"
            raise InvalidInputError("classify", rule, named) from error
        self.kinds[i] = kind
        if kind is EpisodeKind.CONSTRAINT:
            self.facts.pinned.add(i)
        elif (code, kind) in _MOVES:
            self.facts.moved[i] = _MOVES[code, kind]

    def base(self, i: int) -> BaseMessage:
        """Return what is shown for a message that is kept whole.

        Args:
            i: Its position.

        Returns:
            The message itself, unless it is repaired from the start.
        """
        return self.bases.get(i) or self.messages[i]

    def kind(self, i: int) -> EpisodeKind:
        """Tell what a message is.

        Args:
            i: Its position.

        Returns:
            The kind that `classify` named, else the one it has by itself.
        """
        if i in self.kinds:
            return self.kinds[i]
        message = self.messages[i]
        kind = kind_of(message)
        if kind in _RESULTS and message.name in self.options.observation_tools:
            return EpisodeKind.OBSERVATION
        return kind

    def key(self, i: int) -> str | None:
        """Name what fetches a content once it is left out.

        Args:
            i: Position of the message.

        Returns:
            The key, or None where there is no memory.
        """
        message = self.messages[i]
        known = None
        if message.additional_kwargs:
            known = recall_key(message) or recalled_key(message)
        if known or not self.keyed:
            return known
        return content_key(archive_text(message))

    def stub(self, index: int) -> int:
        """Price a result as a stub.

        Args:
            index: Position of the result.

        Returns:
            Tokens; what it costs now where it is a stub already.
        """
        message = self.messages[index]
        if message.additional_kwargs and form_of(message) in {"stub", "stand_in"}:
            return self.facts.costs[index]
        return self.options.tokens.reworded(message, stub_text(self.key(index)))

    def stubbed(self, index: int) -> BaseMessage:
        """Make the stub of a result.

        Args:
            index: Position of the result.

        Returns:
            A marked copy.
        """
        message, key = self.messages[index], self.key(index)
        return shown(message, stub_text(key), form="stub", key=key)

    def clip(self, index: int, room: int) -> int:
        """Price a result cut to fit a room.

        Args:
            index: Position of the result.
            room: Tokens it may take.

        Returns:
            Tokens; those of its stub where nothing else fits.
        """
        text = self._excerpt(index, room)
        if text is None:
            return self.stub(index)
        return self.options.tokens.reworded(self.messages[index], text)

    def clipped(self, index: int, room: int) -> BaseMessage:
        """Cut a result to fit a room.

        Args:
            index: Position of the result.
            room: Tokens it may take.

        Returns:
            A marked copy; a stub where nothing else fits.
        """
        text = self._excerpt(index, room)
        if text is None:
            return self.stubbed(index)
        return shown(self.messages[index], text, form="clip", key=self.key(index))

    def _excerpt(self, index: int, room: int) -> str | None:
        message = self.messages[index]
        if message.additional_kwargs and form_of(message) in {"stub", "clip"}:
            return None
        text, key, tokens = text_of(message), self.key(index), self.options.tokens
        frame = tokens.reworded(message, clip_marker(len(text), key))
        whole = tokens.reworded(message, text) - tokens.reworded(message, "")
        spare = room - frame
        if spare < _LEAST_EXCERPT_TOKENS or whole <= 0:
            return None

        def cut(keep: int) -> str:
            head, tail = head_and_tail(text, keep)
            left_out = len(text) - len(head) - len(tail)
            return f"{head}{clip_marker(left_out, key)}{tail}"

        keep = largest_fit(
            len(text),
            room=room,
            price=lambda n: tokens.reworded(message, cut(n)),
            guess=1 + spare * len(text) // whole,
        )
        return None if keep is None else cut(keep)

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
        head, stand_ins = self.reshaped(
            index, results=results, mended=mended, bare=bare
        )
        if is_blank(head):
            return 0
        tokens = self.options.tokens
        same = head is self.base(index)
        cost = self.facts.costs[index] if same else self._cost(index, head)
        return cost + sum(map(tokens.cost, stand_ins))

    def _cost(self, index: int, head: BaseMessage) -> int:
        tokens = self.options.tokens
        if tokens.additive:
            return tokens.cost(head)
        saved = tokens.cost(self.base(index)) - tokens.cost(head)
        return max(1, self.facts.costs[index] - saved)

    def reshaped(
        self, index: int, *, results: Sequence[int], mended: bool, bare: bool
    ) -> tuple[BaseMessage, list[BaseMessage]]:
        """Repair an assistant message, or take its reasoning out.

        Args:
            index: Position of the message.
            results: Positions of its results.
            mended: Whether its unanswered calls are answered or taken out.
            bare: Whether its signed reasoning is taken out.

        Returns:
            What is shown for it, and its stand-in results.
        """
        head = self.base(index)
        if bare:
            head = without_reasoning(head, signed_only=True)
        if not mended:
            return head, []
        given = Counter(self.facts.answers[r] for r in results if r != index)
        left = list((Counter(self.facts.calls.get(index, ())) - given).elements())
        return _mended(head, left), standing_in(head, left)


_mended = mended
