"""What of a message a counter has to price, and the price that needs no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    ToolCall,
    ToolMessage,
)

from langchain_memkit.core.scripts import estimate_script_tokens
from langchain_memkit.core.tokens import CHARACTERS_PER_TOKEN

__all__ = ["Countable", "approximate_tokens", "countable", "role_of"]

_TOKENS_PER_MESSAGE = 3

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}
_IMAGES = frozenset(
    {"image", "image_url", "input_image", "computer_screenshot", "image_generation"}
)
_FILES = frozenset(
    {"file", "input_file", "document", "audio", "input_audio", "video", "media"}
)
_CALLS = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}
_OPAQUE = frozenset(
    {
        "encrypted_content",
        "encrypted_index",
        "signature",
        "thought_signature",
        "thoughtSignature",
    }
)
_ARGUMENTS = frozenset({"args", "arguments", "input"})
_PAYLOADS = frozenset({"b64_json", "base64", "data", "file_data"})
_SHORT_PAYLOAD = 1024


@dataclass(slots=True)
class Countable:
    """The parts of a message that cost tokens.

    Attributes:
        texts: Texts, and the `repr` of blocks that are neither text nor binary.
        calls: Tool calls that no content block repeats.
        images: Images at any depth.
        files: Files, audio and video at any depth.
    """

    texts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    images: int = 0
    files: int = 0


def role_of(message: BaseMessage) -> str:
    """Name the role that a message is sent with.

    Args:
        message: Any message.

    Returns:
        The role in OpenAI's terms.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> role_of(HumanMessage("hi"))
        'user'
    """
    kind = message.type
    if kind == "system":
        return str(message.additional_kwargs.get("__openai_role__", "system"))
    if isinstance(message, ChatMessage):
        return message.role
    return _ROLES.get(kind, kind)


def countable(message: BaseMessage) -> Countable:
    """Take a message apart into what costs tokens.

    Args:
        message: Any message; it is not changed.

    Returns:
        Its texts, calls, images and files.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> countable(HumanMessage("hi")).texts
        ['hi']
    """
    parts = Countable()
    content: object = message.content
    if isinstance(content, str):
        parts.texts.append(content)
    elif isinstance(content, list):
        for block in content:
            _add_block(parts, block)
    else:
        parts.texts.append(repr(content))
    if isinstance(message, AIMessage) and message.tool_calls:
        shown = _call_ids(content)
        parts.calls.extend(c for c in message.tool_calls if c["id"] not in shown)
    return parts


def approximate_tokens(
    message: BaseMessage,
    *,
    tokens_per_image: int,
    tokens_per_file: int,
    script_aware: bool = False,
) -> int:
    """Price a message without a table: its characters by four, plus 3.

    Args:
        message: Any message; it is not changed.
        tokens_per_image: Flat price of an image.
        tokens_per_file: Flat price of a file.
        script_aware: Price words, digits, signs and scripts apart instead.

    Returns:
        Tokens, at least 3.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> approximate_tokens(
        ...     HumanMessage("hi"), tokens_per_image=0, tokens_per_file=0
        ... )
        5
    """
    if not script_aware and isinstance(message.content, str):
        return -(-_plain_characters(message) // CHARACTERS_PER_TOKEN) + (
            _TOKENS_PER_MESSAGE
        )
    parts = countable(message)
    texts = parts.texts
    if parts.calls:
        texts.append(repr(parts.calls))
    if isinstance(message, ToolMessage):
        texts.append(message.tool_call_id)
    texts.append(role_of(message))
    if message.name:
        texts.append(message.name)
    flat = parts.images * tokens_per_image + parts.files * tokens_per_file
    return _price(texts, script_aware) + flat + _TOKENS_PER_MESSAGE


def _plain_characters(message: BaseMessage) -> int:
    """Add up what `countable` finds in a plain text, without taking it apart."""
    characters = len(message.content) + len(role_of(message))
    if isinstance(message, AIMessage):
        if message.tool_calls:
            characters += len(repr(message.tool_calls))
    elif isinstance(message, ToolMessage):
        characters += len(message.tool_call_id)
    return characters + len(message.name) if message.name else characters


def _price(texts: list[str], script_aware: bool) -> int:  # noqa: FBT001 - an inner helper
    if script_aware:
        return sum(map(estimate_script_tokens, texts))
    return -(-sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def _call_ids(content: object) -> set[object]:
    if not isinstance(content, list):
        return set()
    dicts = (block for block in content if isinstance(block, dict))
    return {b.get(_CALLS[b["type"]]) for b in dicts if b.get("type") in _CALLS}


def _add_block(parts: Countable, block: object) -> None:
    if isinstance(block, str):
        parts.texts.append(block)
    elif isinstance(block, Mapping) and block.get("type") == "text":
        text = block.get("text")
        parts.texts.append(text if isinstance(text, str) else str(text or ""))
    else:
        lean = _without_binaries(parts, block)
        if lean is not None:
            parts.texts.append(repr(lean))


def _without_binaries(parts: Countable, value: object) -> object:
    if isinstance(value, Mapping):
        return _lean_mapping(parts, value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        lean = (_without_binaries(parts, item) for item in value)
        return [item for item in lean if item is not None]
    return value


def _lean_mapping(parts: Countable, block: Mapping[str, object]) -> object:
    kind = block.get("type")
    if isinstance(kind, str) and kind in _IMAGES:
        parts.images += 1
        return None
    if isinstance(kind, str) and kind in _FILES and not _is_plain_text(block):
        parts.files += 1
        return None
    lean: dict[str, object] = {}
    for key, value in block.items():
        if key in _ARGUMENTS:
            lean[key] = value
        elif key in _OPAQUE or (kind == "redacted_thinking" and key == "data"):
            continue
        elif key in _PAYLOADS and _is_payload(value):
            parts.files += 1
        else:
            lean[key] = _without_binaries(parts, value)
    return lean


def _is_plain_text(block: Mapping[str, object]) -> bool:
    source = block.get("source")
    if isinstance(source, Mapping):
        return source.get("type") in {"text", "content"}
    return source == "text" or block.get("source_type") == "text"


def _is_payload(value: object) -> bool:
    if isinstance(value, bytes):
        return True
    return (
        isinstance(value, str)
        and len(value) > _SHORT_PAYLOAD
        and not any(map(str.isspace, value[:_SHORT_PAYLOAD]))
    )
