"""What the memory tools answer a model: plain sentences, never an exception."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_memkit.core.keys import is_content_key
from langchain_memkit.exceptions import InvalidInputError, MemoryNotFoundError
from langchain_memkit.memory.queries import MemoryQueries
from langchain_memkit.memory.reports import MemoryRecord

__all__ = ["Answer", "forget_answer", "recall_answer", "remember_answer"]

_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers.

    Attributes:
        text: What the model reads.
        recalled: Name of the memory whose text it holds; `None` where it holds none.
    """

    text: str
    recalled: str | None = None


def recall_answer(
    memories: Sequence[MemoryQueries], name: str, *, offset: int = 0, length: int = 4000
) -> Answer:
    """Look a name up in several memories and return a part of its text.

    Args:
        memories: Where to look, in this order; at least one.
        name: What the model asks for.
        offset: Characters to skip, at least 0.
        length: Most characters to return, at least 1.

    Returns:
        The text as it is where all of it fits; else the part, and a line that says how
        to go on; or why there is none.

    Raises:
        StoreError: A store could not be read or written.
    """
    offset, length = max(offset, 0), max(length, 1)
    for memory in memories:
        try:
            text = memory.recall(name)
        except MemoryNotFoundError:
            continue
        except InvalidInputError as error:
            return Answer(f"No memory can have this name: {error}.")
        return Answer(_part(text, offset, length), name)
    found = [d.metadata["name"] for m in memories for d in m.search(name, _SUGGESTIONS)]
    hint = f" Names that match: {', '.join(map(repr, found))}." if found else ""
    return Answer(
        f"There is no memory {name!r}: it was never remembered, was forgotten, or has "
        f"faded because nobody used it.{hint}"
    )


def remember_answer(
    memory: MemoryQueries, name: str, content: str, *, importance: float = 0.5
) -> Answer:
    """Remember a text on behalf of a model, unless the name is not the model's.

    Args:
        memory: Where to store it.
        name: What the model calls it.
        content: Its text.
        importance: From 0 to 1.

    Returns:
        That it was stored, or why not.

    Raises:
        StoreError: The store could not be read or written.
    """
    if is_content_key(name):  # it would stand in the way of the text it names
        return Answer(
            f"Not remembered: {name!r} has the form of a key. Choose another."
        )
    try:
        if (taken := _taken(memory, name)) is not None:
            return Answer(f"Not remembered: {taken}. Choose another name.")
        memory.remember(name, content, importance, source="assistant")
    except InvalidInputError as error:
        return Answer(f"Not remembered: {error}.")
    return Answer(f"Remembered as {name!r}.")


def forget_answer(memory: MemoryQueries, name: str) -> Answer:
    """Forget a memory on behalf of a model, unless it is not the model's to forget.

    Args:
        memory: Where it is.
        name: Its name.

    Returns:
        That it was forgotten, or why not.

    Raises:
        StoreError: The store could not be read or written.
    """
    try:
        if (taken := _taken(memory, name)) is not None:
            return Answer(f"Not forgotten: {taken}.")
        memory.forget(name)
    except MemoryNotFoundError:
        return Answer(f"There is no memory {name!r}.")
    except InvalidInputError as error:
        return Answer(f"No memory can have this name: {error}.")
    return Answer(f"Forgot {name!r}.")


def _taken(memory: MemoryQueries, name: str) -> str | None:
    """Say why a model may not change a memory; what it reads may try to make it."""
    try:
        record = memory.describe(name)
    except MemoryNotFoundError:
        return None
    return _reason(record)


def _reason(record: MemoryRecord) -> str | None:
    if record.evicted:
        return f"{record.name!r} holds a part of the conversation"
    if record.pinned or record.source == "developer":
        return f"{record.name!r} belongs to the developer"
    return None


def _part(text: str, offset: int, length: int) -> str:
    end = min(offset + length, len(text))
    if offset == 0 and end == len(text):
        return text
    if offset >= len(text):
        return f"[nothing: the text has {len(text)} characters]"
    where = f"characters {offset} to {end} of {len(text)}"
    more = f"; go on with offset={end}" if end < len(text) else ""
    return f"{text[offset:end]}\n[{where}{more}]"
