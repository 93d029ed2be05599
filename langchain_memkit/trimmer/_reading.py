"""What is read from the messages of a history, once each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Self

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
)
from langchain_memkit.trimmer._coerce import is_aside
from langchain_memkit.trimmer._options import Options
from langchain_memkit.trimmer._shapes import (
    EMPTY_TEXT,
    has_signed_reasoning,
    shown,
    without_reasoning,
)

__all__ = ["Reading"]

_CODES: dict[type, int] = {
    HumanMessage: TURN,
    AIMessage: TALK,
    ToolMessage: RESULT,
    SystemMessage: 4,
}
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
_content = itemgetter("content")


class Reading:
    """Messages that are sent, in order, with what is known about each.

    Attributes:
        messages: The messages.
        facts: What the replay has to know, by the same positions.
        bases: What is shown for a message that is repaired from the start.
        kinds: Kinds that `classify` named.
        fields: The fields of each message.
        contents: What each message said when it was read.
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
        self.fields: list[dict[str, Any]] = []
        self.contents: list[object] = []
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
        tokens, bases = self.options.tokens, self.bases
        if bases:
            shown = [bases.get(i) or m for i, m in enumerate(messages, start)]
            self.facts.costs += tokens.costs(shown)
        else:
            self.facts.costs += tokens.costs(messages, self.fields[start:])

    def truncated(self, length: int) -> Self:
        """Keep the beginning.

        Args:
            length: How many messages.

        Returns:
            A history of these, with what was known about them.
        """
        twin, old = type(self)(self.options, keyed=self.keyed), self.facts
        twin.messages = self.messages[:length]
        twin.fields = self.fields[:length]
        twin.contents = self.contents[:length]
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
        messages, answers, odd = self.messages, self.facts.answers, self._read_odd
        new = messages[start:] if start else messages
        fields = [message.__dict__ for message in new]
        contents = list(map(_content, fields))
        self.fields += fields
        self.contents += contents
        codes = [_CODES.get(kind, -1) for kind in map(type, new)]
        triples = zip(codes, fields, contents, strict=True)
        for i, (code, field, content) in enumerate(triples, start):
            if type(content) is not str or field["additional_kwargs"] or code < 0:
                codes[i - start] = odd(i, messages[i])
            elif code == RESULT:
                answers[i] = field["tool_call_id"]
            elif code == TALK and (field["tool_calls"] or field["invalid_tool_calls"]):
                codes[i - start] = self._read_calls(i, field)
            elif not content or content.isspace():
                self._read_blank(i, code)
        self.facts.codes += bytes(codes)

    def _read_calls(self, i: int, fields: dict[str, Any]) -> int:
        if fields["invalid_tool_calls"]:
            return self._read_odd(i, self.messages[i])
        found = fields["tool_calls"]
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
