"""The ways to keep a history in budget that `memkit compare` measures."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from langchain_core.messages import BaseMessage, trim_messages

from langchain_memkit.cli.compare import Method
from langchain_memkit.cli.replay import Gauge, Send
from langchain_memkit.protocols import TokenCounter
from langchain_memkit.trimmer import EpisodeTrimmer

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

__all__ = ["available_methods"]


def available_methods() -> tuple[list[Method], list[str]]:
    """List the methods that can be measured here.

    Returns:
        The methods, and a note for each that is left out.
    """
    methods = [
        Method("everything", "the whole history, as a scale", _everything),
        Method("trim_messages", f"the documented recipe: {_RECIPE}", _recipe),
    ]
    if find_spec("langchain") is None:
        note = 'is left out: langchain is not installed; pip install "langchain"'
        return [*methods, _OURS], [f"clear_tool_uses {note}"]
    about = f"ClearToolUsesEdit(trigger=budget, keep={_KEPT_RESULTS}) of langchain"
    return [*methods, Method("clear_tool_uses", about, _clearing), _OURS], []


_KEPT_RESULTS = 3
_RECIPE = 'strategy="last", include_system, start_on="human", end_on=("human", "tool")'


def _everything(budget_tokens: int, counter: TokenCounter, gauge: Gauge) -> Send:
    del budget_tokens, counter, gauge
    return list


def _recipe(budget_tokens: int, counter: TokenCounter, gauge: Gauge) -> Send:
    del counter

    def send(messages: list[BaseMessage]) -> list[BaseMessage]:
        return trim_messages(
            messages,
            max_tokens=budget_tokens,
            token_counter=gauge,
            strategy="last",
            include_system=True,
            start_on="human",
            end_on=("human", "tool"),
        )

    return send


def _clearing(budget_tokens: int, counter: TokenCounter, gauge: Gauge) -> Send:
    from langchain.agents.middleware import ClearToolUsesEdit  # noqa: PLC0415 - optional

    del counter
    edit = ClearToolUsesEdit(trigger=budget_tokens, keep=_KEPT_RESULTS)

    def send(messages: list[BaseMessage]) -> list[BaseMessage]:
        edit.apply(cast("list[AnyMessage]", messages), count_tokens=gauge)
        return messages

    return send


def _episodes(budget_tokens: int, counter: TokenCounter, gauge: Gauge) -> Send:
    del gauge
    trimmer = EpisodeTrimmer(budget_tokens, token_counter=counter, on_overflow="keep")
    return trimmer.invoke


_OURS = Method("memkit", "EpisodeTrimmer with its defaults", _episodes)
