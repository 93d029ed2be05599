"""What a trimmer was told, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from langchain_memkit.core.eviction import EpisodeKind
from langchain_memkit.core.models import (
    check_choice,
    check_count,
    check_flag,
    check_positive,
)
from langchain_memkit.core.replay import Rules
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.protocols import Archive
from langchain_memkit.trimmer._counting import Count, Tokens, tokens_of

__all__ = ["Classify", "OnOverflow", "Options", "Predicate", "check_archive"]

Predicate = Callable[[BaseMessage], bool]
Classify = Callable[[BaseMessage], EpisodeKind | str | None]
OnOverflow = (
    Literal["raise", "keep"] | Runnable[Sequence[BaseMessage], Sequence[BaseMessage]]
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a trimmer.

    Attributes:
        max_tokens: Tokens that an output may take.
        target_tokens: What an eviction goes down to.
        tokens: Counts.
        pin: Names messages that stand verbatim.
        persisted: Names results whose content can be had from elsewhere.
        classify: Names what a message is, where it is not what it seems.
        observation_tools: Names of tools whose results are observations.
        memory: Takes what leaves.
        rules: How a history is replayed.
        hoist: Whether later system messages move to the front.
        reasoning: What happens to reasoning blocks.
        on_overflow: What happens where the floor is over budget.
    """

    max_tokens: int
    target_tokens: int
    tokens: Tokens
    pin: Predicate | None
    persisted: Predicate | None
    classify: Classify | None
    observation_tools: frozenset[str]
    memory: Archive | None
    rules: Rules
    hoist: bool
    reasoning: str
    on_overflow: OnOverflow

    @classmethod
    def make(  # noqa: PLR0913 - the options are the contract
        cls,
        *,
        max_tokens: int,
        target_tokens: int | None,
        token_counter: str | Count,
        pin: Predicate | None,
        persisted: Predicate | None,
        classify: Classify | None,
        observation_tools: Iterable[str],
        memory: Archive | None,
        keep_last_steps: int,
        pin_first_user: bool,
        system_messages: str,
        reasoning: str,
        on_overflow: OnOverflow,
    ) -> Options:
        """Check what `EpisodeTrimmer` was told.

        Args:
            max_tokens: As there, and so are all others.
            target_tokens: As there.
            token_counter: As there.
            pin: As there.
            persisted: As there.
            classify: As there.
            observation_tools: As there.
            memory: As there.
            keep_last_steps: As there.
            pin_first_user: As there.
            system_messages: As there.
            reasoning: As there.
            on_overflow: As there.

        Returns:
            The options.

        Raises:
            InvalidInputError: One of them breaks a rule.
        """
        check_positive("max_tokens", max_tokens)
        target = max_tokens // 2 if target_tokens is None else target_tokens
        check_count("target_tokens", target)
        if target > max_tokens:
            rule = f"must be at most `max_tokens`, which is {max_tokens}"
            raise InvalidInputError("target_tokens", rule, target)
        asked = {"pin": pin, "persisted": persisted, "classify": classify}
        for name, value in asked.items():
            if value is not None and not callable(value):
                raise InvalidInputError(name, "must take a message", value)
        check_choice("system_messages", system_messages, ("keep", "hoist"))
        check_choice("reasoning", reasoning, ("auto", "keep", "drop"))
        if not isinstance(on_overflow, Runnable):
            check_choice("on_overflow", on_overflow, ("raise", "keep"))
        return cls(
            max_tokens=max_tokens,
            target_tokens=target,
            tokens=tokens_of(token_counter),
            pin=pin,
            persisted=persisted,
            classify=classify,
            observation_tools=_names(observation_tools),
            memory=check_archive("memory", memory),
            rules=Rules(
                keep_last_steps=check_count("keep_last_steps", keep_last_steps),
                pin_first_turn=check_flag("pin_first_user", pin_first_user),
                sends_overflow=on_overflow == "keep",
            ),
            hoist=system_messages == "hoist",
            reasoning=reasoning,
            on_overflow=on_overflow,
        )

    def with_budget(self, max_tokens: int) -> Options:
        """Choose another budget, and a target in the same proportion.

        Args:
            max_tokens: The other budget.

        Returns:
            The options.

        Raises:
            InvalidInputError: The budget is below 1.
        """
        check_positive("max_tokens", max_tokens)
        target = self.target_tokens * max_tokens // self.max_tokens
        return replace(self, max_tokens=max_tokens, target_tokens=target)


def _names(given: Iterable[str]) -> frozenset[str]:
    named: object = given
    listed = list(named) if isinstance(named, Iterable) else [None]
    names = [one for one in listed if isinstance(one, str)]
    if isinstance(named, str) or len(names) < len(listed):
        rule = "must be a collection of names"
        raise InvalidInputError("observation_tools", rule, given)
    return frozenset(names)


def check_archive(parameter: str, value: Archive | None) -> Archive | None:
    """Refuse what cannot archive.

    Args:
        parameter: Name used in the error.
        value: What was given.

    Returns:
        The value.

    Raises:
        InvalidInputError: It has no `archive` and `aarchive`.
    """
    if value is None:
        return None
    if not (hasattr(value, "archive") and hasattr(value, "aarchive")):
        rule = "must have `archive` and `aarchive`"
        raise InvalidInputError(parameter, rule, value)
    return value
