"""The tool with which an agent reads the full text behind a capsule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from langchain_core.tools import StructuredTool, ToolException

from langchain_memkit.core.graphemes import floor_cut
from langchain_memkit.exceptions import EvidenceChangedError, EvidenceNotFoundError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_core.documents import Document
    from langchain_core.tools import BaseTool

__all__ = ["fetch_tool"]

_DESCRIPTION = (
    "Read the full text behind a piece of evidence, word for word, by the key that "
    "stands in its tag. Long texts are read in parts: go on at the offset told."
)
_PART_CHARACTERS = 4_000

Key = Annotated[str, "The key of the evidence."]
Offset = Annotated[int, "Index of the first character to read."]
Length = Annotated[int, "Most characters to read."]


def fetch_tool(
    fetch: Callable[[str], Document],
    *,
    afetch: Callable[[str], Awaitable[Document]],
    name: str,
) -> BaseTool:
    """Make a tool that fetches by key; what goes wrong is told to the model.

    Args:
        fetch: Looks a document up.
        afetch: Does so without blocking the event loop.
        name: Name of the tool.

    Returns:
        A tool with the arguments `key`, `offset` and `length`.
    """

    def read(key: Key, offset: Offset = 0, length: Length = _PART_CHARACTERS) -> str:
        try:
            return part_of(fetch(key).page_content, offset=offset, length=length)
        except (EvidenceNotFoundError, EvidenceChangedError) as error:
            raise ToolException(str(error)) from error

    async def aread(
        key: Key, offset: Offset = 0, length: Length = _PART_CHARACTERS
    ) -> str:
        try:
            found = await afetch(key)
            return part_of(found.page_content, offset=offset, length=length)
        except (EvidenceNotFoundError, EvidenceChangedError) as error:
            raise ToolException(str(error)) from error

    return StructuredTool.from_function(
        func=read,
        coroutine=aread,
        name=name,
        description=_DESCRIPTION,
        handle_tool_error=True,
    )


def part_of(text: str, *, offset: int, length: int) -> str:
    """Cut a part out of a text and say how much is left.

    Args:
        text: The full text.
        offset: Where the part starts; outside the text it is moved inside.
        length: Most characters; below 1 counts as 1.

    Returns:
        The part, followed by a line in brackets where the text goes on.

    Example:
        >>> print(part_of("Kites need wind.", offset=6, length=4))
        need
        [6 characters are left, read on at offset 10]
    """
    start = min(max(0, offset), len(text))
    wanted = start + max(1, length)
    end = len(text) if wanted >= len(text) else floor_cut(text, wanted, floor=start)
    left = len(text) - end
    if not left:
        return text[start:]
    return f"{text[start:end]}\n[{left} characters are left, read on at offset {end}]"
