"""What the middlewares keep of a thread: plain JSON values, private to them."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from langchain.agents.middleware.types import AgentState, PrivateStateAttr

__all__ = ["ResidentState", "Residents", "TrimRecord", "TrimState", "merge_entries"]


class Residents(TypedDict):
    """The memories that go into each prompt of a user turn.

    Attributes:
        turn: Names the user turn.
        text: The block as it is sent, empty where there is none.
        tokens: What it is priced at.
        on_store: The compartment on the agent's own store that the model can recall
            from, for a trimmer without a memory of its own to use; `None` where there
            is another memory or no recall tool.
    """

    turn: str
    text: str
    tokens: int
    on_store: list[str] | None


class TrimRecord(TypedDict):
    """What earlier cuts were made with, so that they stay as they were.

    Attributes:
        max_tokens: The budget that the overheads are held against.
        overheads: From how many messages on which tokens of it were taken by
            everything else in the prompt.
    """

    max_tokens: int
    overheads: list[list[int]]


def merge_entries(
    left: dict[str, Any] | None, right: dict[str, Any] | None
) -> dict[str, Any]:
    """Let each middleware of an agent replace its own entry only.

    Args:
        left: The entries so far, by name of the middleware.
        right: The new ones.

    Returns:
        All of them.

    Example:
        >>> merge_entries({"a": 1, "b": 1}, {"b": 2})
        {'a': 1, 'b': 2}
    """
    return {**(left or {}), **(right or {})}


class ResidentState(AgentState[Any]):
    """State of `ForgettingMemoryMiddleware`.

    Attributes:
        memkit_residents: The present turn's block of each such middleware, by name.
    """

    memkit_residents: NotRequired[
        Annotated[dict[str, Residents], PrivateStateAttr, merge_entries]
    ]


class TrimState(AgentState[Any]):
    """State of `EpisodeTrimMiddleware`.

    Attributes:
        memkit_overheads: The record of each such middleware, by name.
        memkit_residents: What a memory middleware sends along, if there is one.
    """

    memkit_overheads: NotRequired[
        Annotated[dict[str, TrimRecord], PrivateStateAttr, merge_entries]
    ]
    memkit_residents: NotRequired[
        Annotated[dict[str, Residents], PrivateStateAttr, merge_entries]
    ]
