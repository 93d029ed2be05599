"""Which calls a message makes, and which call it answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    ToolMessage,
)

from langchain_memkit.messages._content import says_something

__all__ = ["LEGACY_CALL", "block_call_id", "call_ids", "is_blank", "result_id"]

LEGACY_CALL = "fn:"
"""What the id of a legacy `function_call` starts with; its name follows."""

_CALL_BLOCKS = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}


def block_call_id(block: object) -> str | None:
    """Return the id of the call that a content block makes.

    Args:
        block: A content block.

    Returns:
        The id, `""` where the call has none, or None where it is no call.

    Example:
        >>> block_call_id({"type": "tool_use", "id": "t1"})
        't1'
    """
    if isinstance(block, Mapping):
        kind = block.get("type")
        field = _CALL_BLOCKS.get(kind) if isinstance(kind, str) else None
        if field is not None:
            return _plain(block.get(field))
    return None


def _plain(value: object) -> str:
    return value if isinstance(value, str) else ""


def call_ids(message: BaseMessage) -> tuple[str, ...]:
    """List the ids of the calls that a message makes, one entry a call.

    Calls are those of `tool_calls` and `invalid_tool_calls`, of content blocks that
    these do not repeat, of raw OpenAI `tool_calls`, and a legacy `function_call`, whose
    id is `fn:` and its name. Tools that the provider runs itself are no calls.

    Args:
        message: Any message.

    Returns:
        The ids in order; a call without one has `""`.

    Example:
        >>> call = {"name": "f", "args": {}, "id": "c1", "type": "tool_call"}
        >>> call_ids(AIMessage("", tool_calls=[call]))
        ('c1',)
    """
    if not isinstance(message, AIMessage):
        return ()
    ids = [_plain(c.get("id")) for c in message.tool_calls]
    ids += [_plain(c.get("id")) for c in message.invalid_tool_calls]
    _add_new(ids, _block_ids(message))
    if message.additional_kwargs:
        _add_raw(ids, message)
    return tuple(ids)


def _block_ids(message: AIMessage) -> Iterator[str]:
    content: object = message.content
    for block in content if isinstance(content, list) else ():
        found = block_call_id(block)
        if found is not None:
            yield found


def _add_new(ids: list[str], found: Iterable[str]) -> None:
    known = Counter(ids)
    for one in found:
        if known[one] > 0:
            known[one] -= 1
        else:
            ids.append(one)


def _add_raw(ids: list[str], message: AIMessage) -> None:
    raw = message.additional_kwargs.get("tool_calls")
    if not ids and isinstance(raw, list):
        ids += [_plain(c.get("id")) for c in raw if isinstance(c, Mapping)]
    legacy = message.additional_kwargs.get("function_call")
    if isinstance(legacy, Mapping):
        name = _plain(legacy.get("name"))
        calls = (*message.tool_calls, *message.invalid_tool_calls)
        if all(call["name"] != name for call in calls):
            ids.append(LEGACY_CALL + name)


def result_id(message: BaseMessage) -> str | None:
    """Return the id of the call that a message answers.

    Args:
        message: Any message.

    Returns:
        The id, or None where the message is no result.

    Example:
        >>> result_id(ToolMessage("9 to 5", tool_call_id="c1"))
        'c1'
    """
    if isinstance(message, ToolMessage):
        return message.tool_call_id
    if isinstance(message, FunctionMessage):
        return LEGACY_CALL + message.name
    return None


def is_blank(message: BaseMessage) -> bool:
    """Tell whether a message says nothing: no text, no other block, no call.

    Args:
        message: Any message.

    Returns:
        True where a provider would refuse it as empty.

    Example:
        >>> is_blank(AIMessage(" "))
        True
    """
    if says_something(message):
        return False
    if message.additional_kwargs.keys() & {"audio", "refusal"}:
        return False
    return not call_ids(message)
