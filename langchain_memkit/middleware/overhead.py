"""What a prompt holds beside its messages, and what that costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain.agents.middleware.types import ModelRequest
from langchain.agents.structured_output import (
    AutoStrategy,
    OutputToolBinding,
    ProviderStrategy,
    ToolStrategy,
)
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_memkit.messages import resident_tokens
from langchain_memkit.middleware.residents import make_block
from langchain_memkit.middleware.state import Residents

__all__ = ["block_tokens", "request_tokens", "settle"]

CountTokens = Callable[[Sequence[BaseMessage]], int]

_SLACK = 128
"""Overheads that differ by less than this part of the budget count as equal."""


def request_tokens(request: ModelRequest[Any], count: CountTokens) -> int:
    """Count the system prompt, the schemas of the tools and of the answer.

    A schema is counted as a system message of its JSON.

    Args:
        request: The call.
        count: Counts messages.

    Returns:
        Tokens.
    """
    texts = [json.dumps(schema, ensure_ascii=False) for schema in _schemas(request)]
    tokens = sum(count([SystemMessage(text)]) for text in texts)
    if request.system_message is None:
        return tokens
    return tokens + count([request.system_message])


def _schemas(request: ModelRequest[Any]) -> Iterator[Mapping[str, Any]]:
    for tool in request.tools:
        yield convert_to_openai_tool(tool)
    answer: Any = request.response_format
    if isinstance(answer, ProviderStrategy):
        yield answer.to_model_kwargs()
    elif answer is not None:
        if isinstance(answer, AutoStrategy):
            answer = answer.schema
        strategy = answer if isinstance(answer, ToolStrategy) else ToolStrategy(answer)
        for spec in strategy.schema_specs:
            yield convert_to_openai_tool(OutputToolBinding.from_schema_spec(spec).tool)


def block_tokens(
    messages: Sequence[BaseMessage],
    known: Mapping[str, Residents],
    *,
    count: CountTokens,
) -> tuple[int, int]:
    """Price the blocks of memories of a prompt.

    A block is priced at its budget, whatever it holds, or at its tokens where a counter
    finds more.

    Args:
        messages: The prompt so far.
        known: What the private state says of this turn's blocks.
        count: Counts messages.

    Returns:
        The price of all blocks, and of those that stand among the messages already.
    """
    humans = [m for m in messages if isinstance(m, HumanMessage)]
    seen = [m for m in humans if resident_tokens(m) is not None]
    visible = sum(max(resident_tokens(m) or 0, count([m])) for m in seen)
    total = 0
    for entry in known.values():
        block = make_block(entry["text"], tokens=entry["tokens"])
        written = count([block]) if entry["text"] else 0
        total += max(entry["tokens"], written)
    return max(total, visible), visible


def settle(now: int, past: Sequence[Sequence[int]], *, max_tokens: int) -> int:
    """Choose the overhead to reckon with, so that small changes need no note.

    Args:
        now: Today's overhead.
        past: The record of earlier ones.
        max_tokens: The budget.

    Returns:
        The last one where it is enough and by very little too much; else today's, with
        a little to spare where it has changed before.

    Example:
        >>> settle(1_000, [[0, 1_020]], max_tokens=10_000)
        1020
    """
    if not past:
        return now
    last, slack = past[-1][1], max_tokens // _SLACK
    return last if now <= last <= now + slack else now + slack // 2
