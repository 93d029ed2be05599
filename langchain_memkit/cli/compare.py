"""Methods side by side on whole conversations: one row each, and every call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_memkit.cli.replay import (
    Call,
    Gauge,
    Send,
    Validate,
    call_points,
    replay,
)
from langchain_memkit.cli.transcripts import Transcript
from langchain_memkit.core.models import Count, FrozenModel, Share
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.protocols import TokenCounter

__all__ = [
    "Budget",
    "Method",
    "Row",
    "Run",
    "compare",
    "count_calls",
    "parse_budget",
    "summarize",
]

_CACHED_PRICE = 0.1

Make = Callable[[int, TokenCounter, Gauge], Send]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to keep a history in budget.

    Attributes:
        name: What tables and plots call it.
        about: How it is set up, in a few words.
        make: Given the budget, the counter, and a gauge of the conversation, returns
            what turns a history into a prompt.
    """

    name: str
    about: str
    make: Make


@dataclass(frozen=True, slots=True)
class Budget:
    """What a prompt may come to: tokens, or a share of each conversation.

    Attributes:
        text: How it was written.
        tokens: The same for every conversation; None where it is a share.
        share: Of a conversation's tokens beyond its system messages, on top of these.
    """

    text: str
    tokens: int | None = None
    share: float = 0.0

    def of(self, messages: Sequence[BaseMessage], *, gauge: Gauge) -> int:
        """Return the budget of one conversation.

        Args:
            messages: The whole conversation.
            gauge: Counts its messages.

        Returns:
            Tokens, at least 1.
        """
        if self.tokens is not None:
            return self.tokens
        system = gauge([m for m in messages if m.type == "system"])
        return max(1, system + int((gauge(messages) - system) * self.share))


def parse_budget(text: str) -> Budget:
    """Read a budget as a user writes it.

    Args:
        text: A whole number of tokens, or a share such as `25%`.

    Returns:
        The budget.

    Raises:
        InvalidInputError: It is neither, or not above zero, or a share above 100 %.

    Example:
        >>> parse_budget("25%").share
        0.25
    """
    digits = text.strip().removesuffix("%").strip().replace(",", "").replace("_", "")
    whole, _, rest = digits.partition(".")
    is_share = text.strip().endswith("%")
    is_number = whole.isascii() and whole.isdigit() and len(whole) <= _LONGEST_NUMBER
    is_number = is_number and (not rest or (rest.isascii() and rest.isdigit()))
    value = float(digits) if is_number else 0.0
    if value <= 0 or (is_share and value > _WHOLE) or (rest and not is_share):
        rule = "must be a number of tokens such as 8000, or a share such as 25%"
        raise InvalidInputError("budget", rule, text)
    if is_share:
        return Budget(text=f"{value:g}%", share=value / _WHOLE)
    return Budget(text=f"{int(value):,} tokens", tokens=int(value))


_WHOLE = 100
_LONGEST_NUMBER = 12


class Row(FrozenModel):
    """What one method came to, over every call of every conversation.

    Attributes:
        method: Its name.
        calls: How many model calls were replayed.
        valid: Share of calls whose prompt a provider would take.
        usable: Share of calls whose prompt is valid, fits, and has the system
            messages, the last message, and a user message.
        met: Share of calls whose prompt fits.
        prompt_tokens: Tokens sent, all calls together.
        cached: Share of these that repeat the previous prompt's beginning.
        cost_tokens: Tokens sent, with the repeated ones at the price of cached tokens.
        fresh: Of the newest five tool results, the share that stands word for word,
            over the calls where not everything fits; None where there are none.
    """

    method: str
    calls: Count
    valid: Share
    usable: Share
    met: Share
    prompt_tokens: Count
    cached: Share
    cost_tokens: Count
    fresh: Share | None


@dataclass(frozen=True, slots=True)
class Run:
    """One conversation, kept in budget by one method.

    Attributes:
        transcript: The conversation.
        method: The method's name.
        budget_tokens: The budget.
        calls: Every model call, in order.
    """

    transcript: Transcript
    method: str
    budget_tokens: int
    calls: tuple[Call, ...]


def compare(  # noqa: PLR0913 - all by keyword
    transcripts: Sequence[Transcript],
    *,
    budget: Budget,
    methods: Sequence[Method],
    counter: TokenCounter,
    validate: Validate,
    on_call: Callable[[], object] = lambda: None,
) -> list[Run]:
    """Replay every call of conversations with every method.

    Args:
        transcripts: The conversations.
        budget: What prompts should fit in.
        methods: What to measure.
        counter: Counts tokens, message by message.
        validate: Lists the faults of a prompt.
        on_call: Called after each replayed call; `count_calls` says how often.

    Returns:
        A run for each conversation and method, conversation by conversation.

    Example:
        ```python
        methods, _ = available_methods()
        runs = compare(
            read_transcripts("runs.jsonl"),
            budget=parse_budget("25%"),
            methods=methods,
            counter=ApproximateCounter(),
            validate=validate_history,
        )
        rows = summarize(runs)
        ```
    """
    runs = []
    for transcript in transcripts:
        gauge = Gauge(transcript.messages, counter)
        budget_tokens = budget.of(transcript.messages, gauge=gauge)
        for method in methods:
            calls = []
            for call in replay(
                transcript.messages,
                method.make(budget_tokens, counter, gauge),
                budget_tokens=budget_tokens,
                gauge=gauge,
                validate=validate,
            ):
                calls.append(call)
                on_call()
            runs.append(Run(transcript, method.name, budget_tokens, tuple(calls)))
    return runs


def count_calls(transcripts: Sequence[Transcript], methods: Sequence[Method]) -> int:
    """Count the calls that `compare` will replay.

    Args:
        transcripts: The conversations.
        methods: What is to be measured.

    Returns:
        How often `on_call` will be called.
    """
    return len(methods) * sum(len(call_points(t.messages)) for t in transcripts)


def summarize(runs: Sequence[Run], *, cached_price: float = _CACHED_PRICE) -> list[Row]:
    """Add up the runs of each method.

    Args:
        runs: What `compare` returned.
        cached_price: Price of a repeated token beside that of a new one, 0 to 1.

    Returns:
        A row a method, in the order in which they were measured.
    """
    names = dict.fromkeys(run.method for run in runs)
    return [
        _row(name, [c for r in runs if r.method == name for c in r.calls], cached_price)
        for name in names
    ]


def _row(name: str, calls: Sequence[Call], cached_price: float) -> Row:
    number = max(1, len(calls))
    tokens = sum(call.tokens for call in calls)
    cached = sum(call.cached_tokens for call in calls)
    fresh = [call.fresh for call in calls if call.fresh is not None]
    return Row(
        method=name,
        calls=len(calls),
        valid=sum(call.is_valid for call in calls) / number,
        usable=sum(call.is_usable for call in calls) / number,
        met=sum(call.is_met for call in calls) / number,
        prompt_tokens=tokens,
        cached=cached / max(1, tokens),
        cost_tokens=round(tokens - (1 - cached_price) * cached),
        fresh=sum(fresh) / len(fresh) if fresh else None,
    )
