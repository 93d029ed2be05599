"""The tools by which a model remembers, recalls and forgets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from langchain_memkit.memory.answers import (
    forget_answer,
    recall_answer,
    remember_answer,
)
from langchain_memkit.memory.queries import MemoryQueries
from langchain_memkit.messages import mark_recalled

__all__ = ["make_tools", "make_tools_for"]

_LENGTH = 4000


class _Remember(BaseModel):
    name: str = Field(description="Short name to recall it by.")
    content: str = Field(description="The text to remember, complete by itself.")
    importance: float = Field(0.5, ge=0, le=1, description="From 0 to 1.")


class _Recall(BaseModel):
    name: str = Field(description="Name of a memory, or key of a text that was cut.")
    offset: int = Field(0, ge=0, description="Characters to skip.")
    length: int = Field(_LENGTH, ge=1, description="Most characters to return.")


class _Forget(BaseModel):
    name: str = Field(description="Name of the memory.")


class RecallTool(StructuredTool):
    """A tool whose results are marked, so that no trimmer archives them again."""

    def invoke(
        self,
        input: str | dict[str, Any] | ToolCall,  # noqa: A002 - the parent's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the parent's contract
    ) -> Any:  # noqa: ANN401 - as above
        """Run the tool and mark its result.

        Args:
            input: The arguments, or a tool call.
            config: The configuration of the run.
            **kwargs: Passed on.

        Returns:
            A marked message for a tool call, else the text.
        """
        return _marked(super().invoke(input, config, **kwargs))

    async def ainvoke(
        self,
        input: str | dict[str, Any] | ToolCall,  # noqa: A002 - the parent's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the parent's contract
    ) -> Any:  # noqa: ANN401 - as above
        """Do what `invoke` does, without blocking the event loop.

        Args:
            input: The arguments, or a tool call.
            config: The configuration of the run.
            **kwargs: Passed on.

        Returns:
            A marked message for a tool call, else the text.
        """
        return _marked(await super().ainvoke(input, config, **kwargs))


def make_tools(
    memory: MemoryQueries, *, also_recall: Sequence[MemoryQueries] = ()
) -> list[BaseTool]:
    """Make the tools `remember`, `recall` and `forget` for a model.

    What the model remembers has the source `assistant`. It can neither replace nor
    forget what the developer wrote, a pinned memory or a text that left its history.

    Args:
        memory: What the tools read and write.
        also_recall: Where `recall` looks next.

    Returns:
        The three tools.
    """
    places = (memory, *also_recall)
    return make_tools_for(lambda: places)


def make_tools_for(locate: Callable[[], Sequence[MemoryQueries]]) -> list[BaseTool]:
    """Make the same tools where the memory is only known when one of them is called.

    Args:
        locate: Tells, at each call, what the tools read and write, and then where
            `recall` looks next.

    Returns:
        The three tools.
    """

    def remember(name: str, content: str, importance: float = 0.5) -> str:
        memory = locate()[0]
        return remember_answer(memory, name, content, importance=importance).text

    def recall(
        name: str, offset: int = 0, length: int = _LENGTH
    ) -> tuple[str, str | None]:
        answer = recall_answer(locate(), name, offset=offset, length=length)
        return answer.text, answer.recalled

    def forget(name: str) -> str:
        return forget_answer(locate()[0], name).text

    async def aremember(name: str, content: str, importance: float = 0.5) -> str:
        return await asyncio.to_thread(remember, name, content, importance)

    async def arecall(
        name: str, offset: int = 0, length: int = _LENGTH
    ) -> tuple[str, str | None]:
        return await asyncio.to_thread(recall, name, offset, length)

    async def aforget(name: str) -> str:
        return await asyncio.to_thread(forget, name)

    return [
        StructuredTool(
            name="remember",
            description="Keep a text for later turns under a name.",
            args_schema=_Remember,
            func=remember,
            coroutine=aremember,
        ),
        RecallTool(
            name="recall",
            description=(
                "Fetch a remembered text, or one that was cut from this conversation, "
                "by its name or key. Long texts come in parts: use offset and length."
            ),
            args_schema=_Recall,
            func=recall,
            coroutine=arecall,
            response_format="content_and_artifact",
        ),
        StructuredTool(
            name="forget",
            description="Drop a memory that is wrong or no longer needed.",
            args_schema=_Forget,
            func=forget,
            coroutine=aforget,
        ),
    ]


def _marked(result: object) -> object:
    if isinstance(result, ToolMessage) and isinstance(result.artifact, str):
        return mark_recalled(result, result.artifact)
    return result
