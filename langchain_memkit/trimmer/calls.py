"""What one call of a trimmer is given beside the messages, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_memkit.core.models import check_count
from langchain_memkit.core.replay import Budget
from langchain_memkit.protocols import Archive

__all__ = ["TrimCall", "TrimResult", "budgets_of", "overheads_of"]


@dataclass(frozen=True, slots=True)
class TrimCall:
    """What is sent beside the messages, and who takes what leaves.

    Attributes:
        overhead_tokens: Tokens of what is sent beside the messages: a system prompt,
            tool schemas, an output reserve. The budget of this call is lower by it.
        overheads: The `overheads` of an earlier result on the same conversation: pairs
            of a number of messages and the overhead from there on. What was cut then
            stays cut as it was, whatever the overhead is now.
        memory: Takes what leaves in place of the trimmer's own memory. Give the same
            object for the same conversation, or one that equals it, and nothing is
            handed over twice.
    """

    overhead_tokens: int = 0
    overheads: Sequence[Sequence[int]] = ()
    memory: Archive | None = None


@dataclass(frozen=True, slots=True)
class TrimResult:
    """What is sent, and what it takes to store it like that.

    Attributes:
        messages: What is sent.
        overheads: What to hand to the next call: plain lists of numbers.
        removed: Input messages that left; none where a fallback answered.
        replaced: Messages that stand in place of the input message of the same id:
            stubs, clips, and messages without their reasoning.
        tokens: Tokens of the conversation, without blocks of memories and before a
            fallback answered.
    """

    messages: list[BaseMessage]
    overheads: list[list[int]]
    removed: tuple[BaseMessage, ...]
    replaced: tuple[BaseMessage, ...]
    tokens: int


def overheads_of(call: TrimCall, length: int, extra: int) -> list[list[int]]:
    """Bring the record of overheads up to date.

    Args:
        call: What the call was given.
        length: How many messages there are now.
        extra: Tokens of blocks of memories among the messages.

    Returns:
        The record, with today's overhead at its end where it changed.

    Raises:
        InvalidInputError: An overhead is no whole number of at least 0.
    """
    now = check_count("overhead_tokens", call.overhead_tokens) + extra
    record: list[list[int]] = []
    for start, overhead in call.overheads:
        check_count("overheads", start)
        if start < length:
            record.append([start, check_count("overheads", overhead)])
    if not record:
        return [[0, now]]
    record[0][0] = 0
    if record[-1][1] != now:
        record.append([length, now])
    return record


def budgets_of(
    record: Sequence[Sequence[int]], *, max_tokens: int, target_tokens: int
) -> list[Budget]:
    """Tell what holds along a history.

    Args:
        record: Overheads, each with the number of messages from which it holds.
        max_tokens: Tokens that everything may take.
        target_tokens: What an eviction goes down to, where there is no overhead.

    Returns:
        The budgets, by rising start.
    """
    return [
        Budget(
            start=start,
            limit=max(0, max_tokens - overhead),
            target=max(0, max_tokens - overhead) * target_tokens // max_tokens,
        )
        for start, overhead in record
    ]
