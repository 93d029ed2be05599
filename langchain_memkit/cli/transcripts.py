"""Transcripts from files: JSON or JSONL, gzipped or not, one conversation or many."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from langchain_core.messages import BaseMessage

from langchain_memkit.cli.formats import is_message, read_messages
from langchain_memkit.exceptions import InvalidInputError

__all__ = ["MAX_BYTES", "Transcript", "parse_transcripts", "read_transcripts"]

MAX_BYTES = 512 * 2**20
"""The largest file that is read, counted after unpacking."""

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation of a file.

    Attributes:
        name: The file's name, and the conversation's own id or number where the file
            holds several.
        messages: Its messages, in order; at least one.
    """

    name: str
    messages: tuple[BaseMessage, ...]


def read_transcripts(
    path: str | Path, *, max_bytes: int = MAX_BYTES
) -> list[Transcript]:
    """Read every conversation of a file.

    Args:
        path: The file; `-` reads the standard input. Gzip is recognised by content.
        max_bytes: Refuse what is longer than this after unpacking.

    Returns:
        The conversations, in order; at least one.

    Raises:
        InvalidInputError: The file cannot be read, is too long, is no UTF-8 or JSON,
            or holds something other than conversations.

    Example:
        ```python
        for transcript in read_transcripts("runs.jsonl.gz"):
            print(transcript.name, len(transcript.messages))
        ```
    """
    try:
        if str(path) == "-":
            data = _read(sys.stdin.buffer, max_bytes)
        else:
            with Path(path).open("rb") as file:
                data = _read(file, max_bytes)
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        rule = f"must be a file that can be read ({reason})"
        raise InvalidInputError("FILE", rule, str(path)) from error
    except UnicodeDecodeError as error:
        rule = f"must be UTF-8 text; byte {error.start} is not"
        raise InvalidInputError("FILE", rule, str(path)) from error
    return parse_transcripts(text, name="stdin" if str(path) == "-" else _stem(path))


def parse_transcripts(text: str, *, name: str = "transcript") -> list[Transcript]:
    """Read every conversation of a JSON or JSONL text.

    A text holds one conversation (an array or lines of messages, or an object with
    `messages`) or several (an array or lines of those). An object's `system` is read
    as Anthropic's system prompt, its `id` names the conversation, and its `values`
    may hold the `messages` as the state of a LangGraph thread does.

    Args:
        text: The text.
        name: What to call it, in names of conversations and in errors.

    Returns:
        The conversations, in order; at least one.

    Raises:
        InvalidInputError: The text is no JSON, or holds something other than
            conversations.

    Example:
        >>> parse_transcripts('[{"role": "user", "content": "Hello"}]')[0].name
        'transcript'
    """
    values = _parse(text, name)
    alone = all(is_message(value) for _, value in values)
    found = [_Raw(name, [value for _, value in values])] if alone else []
    if not alone:
        for where, value in values:
            found += _split(value, where)
    return [_build(raw, number, len(found), name) for number, raw in enumerate(found)]


@dataclass(frozen=True, slots=True)
class _Raw:
    where: str
    messages: Sequence[object]
    system: object = None
    id: object = None


def _read(file: BinaryIO, max_bytes: int) -> bytes:
    data = file.read(max_bytes + 1)
    if data.startswith(_GZIP_MAGIC):
        with gzip.open(io.BytesIO(data)) as packed:
            data = packed.read(max_bytes + 1)
    if len(data) > max_bytes:
        rule = f"must be at most {max_bytes:,} bytes long after unpacking"
        raise InvalidInputError("FILE", rule, getattr(file, "name", "stdin"))
    return data


def _stem(path: str | Path) -> str:
    name = Path(path).name
    for suffix in (".gz", ".jsonl", ".json", ".ndjson"):
        name = name.removesuffix(suffix)
    return name or str(path)


def _parse(text: str, name: str) -> list[tuple[str, object]]:
    if not text.strip():
        raise InvalidInputError(name, "must hold JSON or JSONL, not nothing", text)
    try:
        return [(name, _loads(text))]
    except InvalidInputError as whole:
        lines = [line for line in enumerate(text.split("\n"), 1) if line[1].strip()]
        if len(lines) == 1 or not _is_json(lines[0][1]):
            raise InvalidInputError(name, whole.rule, whole.value) from whole
    return [
        (f"{name} line {number}", _loads(line, where=f"{name} line {number}"))
        for number, line in lines
    ]


def _loads(text: str, where: str = "") -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        rule = f"must be JSON ({error})"
        raise InvalidInputError(where, rule, text[:60]) from error
    return value


def _is_json(line: str) -> bool:
    try:
        _loads(line)
    except InvalidInputError:
        return False
    return True


def _split(value: object, where: str) -> Iterator[_Raw]:
    if isinstance(value, list):
        yield from _split_list(value, where)
        return
    state = value.get("values") if isinstance(value, dict) else None
    holder = state if isinstance(state, dict) else value
    messages = holder.get("messages") if isinstance(holder, dict) else None
    if not isinstance(value, dict) or not isinstance(messages, list):
        rule = (
            "must be a conversation: a list of messages, or an object with `messages`"
        )
        raise InvalidInputError(where, rule, value)
    yield _Raw(where, messages, system=value.get("system"), id=value.get("id"))


def _split_list(values: list[object], where: str) -> Iterator[_Raw]:
    if all(is_message(value) for value in values):
        yield _Raw(where, values)
        return
    if any(is_message(value) for value in values):
        odd = next(n for n, value in enumerate(values, 1) if not is_message(value))
        rule = "must be a message, as others of this list are"
        place = f"{where}, message {odd}"
        raise InvalidInputError(place, rule, values[odd - 1])
    for number, value in enumerate(values, 1):
        yield from _split(value, f"{where}, conversation {number}")


def _build(raw: _Raw, number: int, total: int, name: str) -> Transcript:
    messages = read_messages(raw.messages, where=raw.where, system=raw.system)
    if not messages:
        raise InvalidInputError(raw.where, "must hold at least one message", [])
    named = isinstance(raw.id, str | int) and str(raw.id).strip()
    label = raw.id if named else number + 1
    return Transcript(f"{name}#{label}" if total > 1 else name, tuple(messages))
