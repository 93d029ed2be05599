"""One way to ask any token counter what a message costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.exceptions import CounterError
from langchain_memkit.messages import call_ids, result_id
from langchain_memkit.protocols import TokenCounter
from langchain_memkit.trimmer._shapes import mended, standing_in, with_text

__all__ = ["Count", "Tokens", "tokens_of"]

Count = TokenCounter | Callable[[Sequence[BaseMessage]], int]
"""What can be given as a token counter, beside `"approximate"`."""

_ASSISTANT_CHARACTERS = 9
_ROLE_CHARACTERS: dict[type, int] = {
    HumanMessage: 4,
    AIMessage: _ASSISTANT_CHARACTERS,
    ToolMessage: 4,
}
_CALL_FIELDS = ("name", "args", "id", "type")
_CALL_FRAME = len("{'name': '', 'args': , 'id': '', 'type': 'tool_call'}")
_PLAIN = "must be a whole number of at least 0 for a list of messages"


def tokens_of(counter: str | Count) -> Tokens:
    """Make a counter answer for single messages.

    Args:
        counter: `"approximate"`, a `TokenCounter`, or a callable over a list.

    Returns:
        The adapter that suits it.

    Raises:
        CounterError: It is none of these.
    """
    if counter == "approximate":
        counter = ApproximateCounter()
    if type(counter) is ApproximateCounter and not counter.script_aware:
        return _Quarter(counter)
    if isinstance(counter, str) or not callable(counter):
        rule = 'must be "approximate", a `TokenCounter` or a callable over a list'
        raise CounterError("token_counter", rule, counter)
    if getattr(counter, "additive", False) is True:
        return Tokens(counter)
    return _Foreign(counter)


class Tokens:
    """A counter whose count of a list is the sum over its messages."""

    additive = True

    def __init__(self, counter: Count) -> None:
        """Take a counter.

        Args:
            counter: What counts.
        """
        self._counter = counter

    def whole(self, messages: Sequence[BaseMessage]) -> int:
        """Count a list.

        Args:
            messages: In order, calls and results together.

        Returns:
            Tokens.

        Raises:
            CounterError: The counter raised, or returned no count.
        """
        try:
            count: object = self._counter(messages)
        except Exception as error:
            rule = f"must count any list of messages, but raised {error!r}"
            raise CounterError("token_counter", rule, self._counter) from error
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise CounterError("token_counter", _PLAIN, count)
        return count

    def cost(self, message: BaseMessage) -> int:
        """Count one message.

        Args:
            message: Any message.

        Returns:
            Tokens.
        """
        return self.whole([message])

    def costs(
        self,
        messages: Sequence[BaseMessage],
        fields: Sequence[dict[str, Any]] | None = None,  # noqa: ARG002 - a short cut
    ) -> list[int]:
        """Count messages one by one.

        Args:
            messages: In order.
            fields: The fields of each, where the caller has them at hand.

        Returns:
            Tokens of each.
        """
        return [self.cost(message) for message in messages]

    def reworded(self, message: BaseMessage, text: str) -> int:
        """Count a message as if it said something else.

        Args:
            message: Any message.
            text: What it would say.

        Returns:
            Tokens.
        """
        return self.cost(with_text(message, text))


class _Quarter(Tokens):
    """The default counter, without its detours for plain messages.

    It must agree with `ApproximateCounter` on every message; a property test says so.
    """

    def costs(
        self,
        messages: Sequence[BaseMessage],
        fields: Sequence[dict[str, Any]] | None = None,
    ) -> list[int]:
        fields = fields or [message.__dict__ for message in messages]
        roles = [_ROLE_CHARACTERS.get(kind, 0) for kind in map(type, messages)]
        found: list[int] = []
        for role, field in zip(roles, fields, strict=True):
            content = field["content"]
            if not role or type(content) is not str:
                found.append(self.cost(messages[len(found)]))
                continue
            characters = role + len(content)
            if role == _ASSISTANT_CHARACTERS:
                if field["tool_calls"]:
                    characters += _written(field["tool_calls"])
            elif "tool_call_id" in field:
                characters += len(field["tool_call_id"])
            if field["name"]:
                characters += len(field["name"])
            found.append((characters + 15) // 4)
        return found

    def reworded(self, message: BaseMessage, text: str) -> int:
        if type(message) is not ToolMessage:
            return super().reworded(message, text)
        fixed = len(message.tool_call_id) + len(message.name or "") + 4
        return (len(text) + fixed + 15) // 4


def _written(calls: list[ToolCall]) -> int:
    """Measure the `repr` of tool calls, without writing out what is the same in all.

    Args:
        calls: The calls.

    Returns:
        Characters.
    """
    length = 2 * len(calls)
    for call in calls:
        name = call["id"]
        if tuple(call) != _CALL_FIELDS or not (name and name.isidentifier()):
            return len(repr(calls))
        if not call["name"].isidentifier():
            return len(repr(calls))
        length += len(call["name"]) + len(name) + len(repr(call["args"])) + _CALL_FRAME
    return length


class _Foreign(Tokens):
    """A callable that may count a list as more or less than its messages.

    It is only handed lists in which calls and results stand together: single messages
    without calls, or a step. A result is priced as a user's message of the same text,
    and its step's message bears the rest. What comes out is an estimate, so the whole
    output is counted in the end.
    """

    additive = False

    def cost(self, message: BaseMessage) -> int:
        if isinstance(message, HumanMessage | SystemMessage):
            return self.whole([message])
        return self.whole([HumanMessage(message.content)])

    def costs(
        self,
        messages: Sequence[BaseMessage],
        fields: Sequence[dict[str, Any]] | None = None,  # noqa: ARG002 - as above
    ) -> list[int]:
        found: list[int] = []
        for group in _groups(messages):
            results = [self.cost(message) for message in group[1:]]
            found += [self._head(group, sum(results)), *results]
        return found

    def _head(self, group: Sequence[BaseMessage], results: int) -> int:
        head = group[0]
        if result_id(head) is not None:
            return self.cost(head)
        if not call_ids(head):
            return self.whole([head])
        if len(group) == 1:
            return self._alone(head)
        ids = [name for name in map(result_id, group[1:]) if name is not None]
        left = list((Counter(call_ids(head)) - Counter(ids)).elements())
        stand_ins = standing_in(head, left)
        whole = self.whole([mended(head, left), *group[1:], *stand_ins])
        return max(0, whole - results - sum(map(self.cost, stand_ins)))

    def _alone(self, head: BaseMessage) -> int:
        left = list(call_ids(head))
        stand_ins = standing_in(head, left)
        if not stand_ins:
            return self.whole([head])
        whole = self.whole([mended(head, left), *stand_ins])
        return max(0, whole - sum(map(self.cost, stand_ins)))

    def reworded(self, message: BaseMessage, text: str) -> int:  # noqa: ARG002 - the base's
        return self.whole([HumanMessage(text)])


def _groups(messages: Sequence[BaseMessage]) -> Iterator[list[BaseMessage]]:
    group: list[BaseMessage] = []
    left: Counter[str] = Counter()
    for message in messages:
        name = result_id(message)
        if group and name is not None and left[name] > 0:
            left[name] -= 1
            group.append(message)
            continue
        if group:
            yield group
        group, left = [message], Counter(call_ids(message))
    if group:
        yield group
