"""Messages as other programs write them down, read into LangChain messages.

Read are OpenAI chat messages, Anthropic messages, and LangChain messages as
`messages_to_dict`, `model_dump` and `dumpd` write them. Nothing is deserialized by a
class name that a file chose.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
    messages_from_dict,
)
from pydantic import ValidationError

from langchain_memkit.exceptions import InvalidInputError

__all__ = ["is_message", "read_messages"]

_LANGCHAIN_TYPES = {
    **{name: name for name in ("human", "ai", "system", "chat", "function", "tool")},
    **{
        f"{name}MessageChunk": f"{name}MessageChunk"
        for name in ("Human", "AI", "System", "Chat", "Function", "Tool")
    },
    **{
        f"{name}Message": name.lower()
        for name in ("Human", "AI", "System", "Chat", "Function", "Tool")
    },
}
_ANTHROPIC_BLOCKS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking"}
)
_Blocks = list[str | dict[Any, Any]]


def is_message(value: object) -> bool:
    """Tell whether a value from JSON looks like one message of a known format.

    Args:
        value: Anything that JSON can hold.

    Returns:
        Whether it has a role, or a LangChain type beside its data or content.

    Example:
        >>> is_message({"role": "user", "content": "Hello"})
        True
    """
    if not isinstance(value, dict) or isinstance(value.get("messages"), list):
        return False
    typed = "type" in value and ("data" in value or "content" in value)
    return "role" in value or typed or _is_envelope(value)


def read_messages(
    values: Sequence[object], *, where: str = "messages", system: object = None
) -> list[BaseMessage]:
    """Read the messages of one conversation.

    Args:
        values: The messages as JSON has them.
        where: What to call the conversation in an error.
        system: An Anthropic system prompt, text or blocks, which leads.

    Returns:
        The messages, in order; an Anthropic message with several tool results
        becomes one message for each.

    Raises:
        InvalidInputError: A value is no message, or a message lacks what its format
            asks for.

    Example:
        >>> read_messages([{"role": "user", "content": "Hello"}])[0].type
        'human'
    """
    found: list[BaseMessage] = []
    if system:
        found += _read_one({"role": "system", "content": system}, f"{where}, system")
    for number, value in enumerate(values, 1):
        found += _read_one(value, f"{where}, message {number}")
    return found


def _read_one(value: object, where: str) -> list[BaseMessage]:
    if not isinstance(value, dict) or not is_message(value):
        rule = "must be a message: an object with a `role`, or a LangChain `type`"
        raise InvalidInputError(where, rule, value)
    try:
        if "role" in value and value.get("type") != "chat":
            return list(_from_role(value, where))
        return [_from_langchain(value, where)]
    except InvalidInputError:
        raise
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "message"
        rule = f"must be a valid message; `{field}`: {first['msg'].lower()}"
        raise InvalidInputError(where, rule, first["input"]) from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # langchain-core's own checks of odd fields raise all of these
        rule = f"must be a valid message ({error!r})"
        raise InvalidInputError(where, rule, value) from error


def _is_envelope(value: Mapping[str, object]) -> bool:
    return value.get("lc") == 1 and isinstance(value.get("kwargs"), dict)


def _from_langchain(value: dict[str, Any], where: str) -> BaseMessage:
    if _is_envelope(value):
        path = value.get("id")
        kind, data = path[-1] if isinstance(path, list) and path else "", "kwargs"
    else:
        kind, data = value.get("type"), "data"
    known = _LANGCHAIN_TYPES.get(kind) if isinstance(kind, str) else None
    fields = value.get(data, value)
    if known is None or not isinstance(fields, dict):
        rule = "must have one of the LangChain types human, ai, system, chat, tool"
        raise InvalidInputError(where, f"{rule} or function, with its data", kind)
    fields = {name: item for name, item in fields.items() if name != "type"}
    fields["content"] = fields.get("content") or ""
    (message,) = messages_from_dict([{"type": known, "data": fields}])
    return message_chunk_to_message(message)


def _from_role(value: dict[str, Any], where: str) -> Iterator[BaseMessage]:
    role, content = value["role"], _content(value.get("content"), where)
    named = {"name": value["name"]} if value.get("name") else {}
    match role:
        case "system":
            yield SystemMessage(content=content, **named)
        case "developer":
            marked = {"__openai_role__": "developer"}
            yield SystemMessage(content=content, additional_kwargs=marked, **named)
        case "user" | "human":
            yield from _from_user(content, named)
        case "assistant" | "ai" | "model":
            yield _from_assistant(value, content, named)
        case "tool":
            answers = value.get("tool_call_id")
            status = "error" if value.get("status") == "error" else "success"
            yield ToolMessage(
                content=content, tool_call_id=answers, status=status, **named
            )
        case "function":
            yield FunctionMessage(content=content, name=str(value.get("name", "")))
        case _:
            rule = "must have one of the roles system, developer, user, assistant, tool"
            raise InvalidInputError(where, f"{rule} or function", role)


def _content(value: object, where: str) -> str | _Blocks:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, dict | str) for item in value):
        return value
    rule = "must have a `content` that is a text or a list of blocks"
    raise InvalidInputError(where, rule, value)


def _is_block(block: object, *types: str) -> bool:
    return isinstance(block, dict) and block.get("type") in types


def _from_user(content: str | _Blocks, named: dict[str, Any]) -> Iterator[BaseMessage]:
    if isinstance(content, str):
        yield HumanMessage(content=content, **named)
        return
    rest: _Blocks = []
    for block in content:
        if isinstance(block, dict) and _is_block(block, "tool_result"):
            yield ToolMessage(
                content=block.get("content") or "",
                tool_call_id=block.get("tool_use_id"),
                status="error" if block.get("is_error") else "success",
            )
        else:
            rest.append(block)
    if rest or not content:
        yield HumanMessage(content=rest, **named)


def _from_assistant(
    value: dict[str, Any], content: str | _Blocks, named: dict[str, Any]
) -> AIMessage:
    calls: list[Any] = []
    broken: list[Any] = []
    for call in _calls(value, content):
        (broken if isinstance(call["args"], str) else calls).append(call)
    extra = {"function_call": value["function_call"]} if _is_legacy(value) else {}
    is_anthropic = any(_is_block(block, *_ANTHROPIC_BLOCKS) for block in content)
    return AIMessage(
        content=content or value.get("refusal") or "",
        tool_calls=calls,
        invalid_tool_calls=[
            {**call, "type": "invalid_tool_call", "error": None} for call in broken
        ],
        additional_kwargs=extra,
        response_metadata={"model_provider": "anthropic"} if is_anthropic else {},
        **named,
    )


def _is_legacy(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("function_call"), dict)


def _calls(
    value: Mapping[str, object], content: str | _Blocks
) -> Iterator[dict[str, Any]]:
    listed = value.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        inner = call.get("function", call)
        args = inner.get("arguments", inner.get("args", {}))
        yield _call(inner.get("name"), args, call.get("id"))
    for block in content:
        if isinstance(block, dict) and _is_block(block, "tool_use"):
            yield _call(block.get("name"), block.get("input"), block.get("id"))


def _call(name: object, args: object, call_id: object) -> dict[str, Any]:
    given = args or {}
    if isinstance(given, str):
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            given = args
    parsed = given if isinstance(given, dict) else str(args)
    return {"name": name, "args": parsed, "id": call_id, "type": "tool_call"}
