"""The block of memories in a prompt: what it says and where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memkit.core.retention import EvidenceCapsule
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.memory import ForgettingMemory, render_memories
from langchain_memkit.messages import (
    is_human,
    is_system,
    mark_resident,
    resident_tokens,
)

__all__ = ["insert_block", "is_user_turn", "make_block", "read_residents", "turn_of"]

_NO_USERS = frozenset({AIMessage, ToolMessage, SystemMessage})
"""Told apart at once, as a long tool loop is made of them."""

_LEAD = "What is remembered from before. It is background, and nobody says it now:"
_CUT_LEAD = (
    'Of what is marked cut="true" only the beginning is here: recall it by name.'
)


def read_residents(places: Sequence[ForgettingMemory], *, budget_tokens: int) -> str:
    """Write down the memories that a user turn starts with.

    The most recoverable come first, ties in the order of the places; of equal names
    the first place's stands for both.

    Args:
        places: What the run reads.
        budget_tokens: Most tokens of the block, as a message.

    Returns:
        The text of the block; empty where no memory fits.

    Raises:
        StoreError: A store could not be read.
    """
    found: dict[str, EvidenceCapsule] = {}
    for place in places:
        for capsule in place.resident(budget_tokens).capsules:
            found.setdefault(capsule.retrieval_key, capsule)
    chosen = sorted(found.values(), key=lambda capsule: -capsule.recoverability)
    counter = ApproximateCounter()
    while chosen:
        lead = [_LEAD, _CUT_LEAD] if any(c.is_cut for c in chosen) else [_LEAD]
        text = "\n".join([*lead, render_memories(chosen)])
        if counter([make_block(text, tokens=budget_tokens)]) <= budget_tokens:
            return text
        chosen.pop()
    return ""


def make_block(text: str, *, tokens: int) -> HumanMessage:
    """Make the message that carries the memories.

    Args:
        text: What `read_residents` wrote.
        tokens: What it is priced at.

    Returns:
        The message, marked as no user turn.
    """
    return mark_resident(HumanMessage(text), tokens)


def is_user_turn(message: BaseMessage) -> bool:
    """Tell whether a user wrote a message.

    Args:
        message: Any message.

    Returns:
        False for blocks of memories and for summaries of LangChain's middleware, which
        are human messages too.
    """
    is_summary = message.additional_kwargs.get("lc_source") == "summarization"
    return is_human(message) and resident_tokens(message) is None and not is_summary


def turn_of(messages: Sequence[BaseMessage]) -> str | None:
    """Name the user turn that a history is in.

    Args:
        messages: The history.

    Returns:
        Id of the last message that a user wrote, or its place and text where it has
        none; `None` where there is no such message.

    Example:
        >>> turn_of([HumanMessage("hi", id="m1")])
        'm1'
    """
    place = _last_user_turn(messages)
    if place is None:
        return None
    return messages[place].id or f"{place}: {messages[place].text}"


def _last_user_turn(messages: Sequence[BaseMessage]) -> int | None:
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if type(message) not in _NO_USERS and is_user_turn(message):
            return place
    return None


def insert_block(
    messages: Sequence[AnyMessage], block: HumanMessage
) -> list[AnyMessage]:
    """Put a block just before the last message that a user wrote.

    Args:
        messages: The prompt; it is not changed.
        block: The block.

    Returns:
        The prompt with the block; without a user's message it stands after the leading
        system messages.
    """
    place = _last_user_turn(messages)
    if place is None:
        systems = map(is_system, messages)
        place = next((i for i, found in enumerate(systems) if not found), len(messages))
    return [*messages[:place], block, *messages[place:]]
