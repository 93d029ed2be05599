"""A chat model that follows a script and keeps what it was sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ToolMessage,
    message_to_dict,
)
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, SkipValidation

from langchain_memkit.protocols import TokenCounter

__all__ = ["ModelCall", "ScriptedChatModel", "tool_loop"]

Script = Callable[[Sequence[BaseMessage]], AIMessage | str]
"""Answers the messages of one call."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a model was sent in one call.

    Attributes:
        messages: The whole prompt, system message included.
        tools: Schemas of the tools that were bound, in OpenAI's format.
    """

    messages: tuple[BaseMessage, ...]
    tools: tuple[dict[str, Any], ...] = field(default=())

    def count(self, counter: TokenCounter) -> int:
        """Count the prompt as it was sent.

        Args:
            counter: Counts messages and texts.

        Returns:
            Tokens of the messages and of the JSON of each tool.
        """
        tools = [json.dumps(tool, ensure_ascii=False) for tool in self.tools]
        return counter.count_messages(self.messages) + sum(
            map(counter.count_text, tools)
        )

    def prefix_of(self, later: ModelCall) -> int:
        """Tell how much of a later prompt repeats this one from its beginning.

        Args:
            later: What was sent later.

        Returns:
            Messages that both begin with, compared in all that providers see.
        """
        shared = 0
        for one, other in zip(self.messages, later.messages, strict=False):
            if one is not other and message_to_dict(one) != message_to_dict(other):
                break
            shared += 1
        return shared


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers by a script, with tools, streamed or not.

    The script is a list of answers, given one after the other, or a function of the
    messages, which suits several threads and resumed runs. A text is an answer without
    tool calls. An answer may also be an exception, which is raised.

    Attributes:
        script: The answers.
        calls: What was sent, call by call.

    Example:
        >>> model = ScriptedChatModel(script=["Kites need wind."])
        >>> model.invoke("What do kites need?").text
        'Kites need wind.'
        >>> len(model.calls)
        1
    """

    script: SkipValidation[Script | Sequence[AIMessage | str | Exception]]
    calls: list[ModelCall] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted-chat-model"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's own contract
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools, so that each call keeps their schemas.

        Args:
            tools: Tools of any form that LangChain knows.
            tool_choice: Taken and kept away from the script.
            **kwargs: Likewise.

        Returns:
            This model with the tools bound.
        """
        del tool_choice, kwargs
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's own contract
    ) -> ChatResult:
        del stop, run_manager
        message = self._answer(messages, kwargs.get("tools", ()))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's own contract
    ) -> Iterator[ChatGenerationChunk]:
        del stop, run_manager  # LangChain itself tells the callbacks
        message = self._answer(messages, kwargs.get("tools", ()))
        for part in _chunks(message):
            yield ChatGenerationChunk(message=part)

    def _answer(
        self, messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]
    ) -> AIMessage:
        turn = len(self.calls)
        self.calls.append(ModelCall(tuple(messages), tuple(tools)))
        answer = self.script(messages) if callable(self.script) else self.script[turn]
        if isinstance(answer, Exception):
            raise answer
        return AIMessage(answer) if isinstance(answer, str) else answer.model_copy()


def tool_loop(
    steps: int, *, tool: str, answer: str = "Done.", prefix: str = "step"
) -> Script:
    """Write the script of an agent that calls one tool again and again.

    Each call has the argument `step`, from 1 on, and the id `PREFIX-STEP`. The script
    only looks at the last message, so it goes on after an interruption and in another
    process, whatever was left out of the history.

    Args:
        steps: How often the tool is called in a user turn.
        tool: Its name.
        answer: What is said in the end.
        prefix: What the ids begin with.

    Returns:
        A script for `ScriptedChatModel`.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> script = tool_loop(2, tool="look_up")
        >>> script([HumanMessage("Go.")]).tool_calls[0]["args"]
        {'step': 1}
    """

    def script(messages: Sequence[BaseMessage]) -> AIMessage | str:
        last = messages[-1]
        name = last.tool_call_id if isinstance(last, ToolMessage) else ""
        done = int(name.rpartition("-")[2]) if name.startswith(f"{prefix}-") else 0
        if done >= steps:
            return answer
        step = done + 1
        call = tool_call(name=tool, args={"step": step}, id=f"{prefix}-{step}")
        return AIMessage("", tool_calls=[call])

    return script


def _chunks(message: AIMessage) -> Iterator[AIMessageChunk]:
    """Part an answer: its content first, then each call, then the end.

    Args:
        message: The answer.

    Yields:
        Chunks that add up to it.
    """
    yield AIMessageChunk(content=message.content, id=message.id)
    for index, call in enumerate(message.tool_calls):
        part = tool_call_chunk(
            name=call["name"],
            args=json.dumps(call["args"]),
            id=call["id"],
            index=index,
        )
        yield AIMessageChunk(content="", id=message.id, tool_call_chunks=[part])
    yield AIMessageChunk(content="", id=message.id, chunk_position="last")
