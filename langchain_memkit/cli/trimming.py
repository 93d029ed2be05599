"""One history trimmed once: what left it, what that came to, and what else would."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_memkit.cli.alignment import find_absent
from langchain_memkit.cli.compare import Budget
from langchain_memkit.cli.replay import Gauge
from langchain_memkit.cli.transcripts import Transcript
from langchain_memkit.cli.wording import excerpt_of, kind_of
from langchain_memkit.core.models import Count, FrozenModel
from langchain_memkit.exceptions import BudgetExceededError
from langchain_memkit.protocols import TokenCounter
from langchain_memkit.trimmer import EpisodeTrimmer, validate_history

__all__ = ["Departure", "Trimming", "trim_transcript"]

_REASONS = {
    ("tool result", False): "its step left, after all older results",
    ("tool result", True): "tool results are the first to go",
    ("assistant message", False): "steps leave after the results",
    ("assistant message", True): "reasoning that what left had preceded",
    ("user message", False): "user turns leave after all steps",
}


class Departure(FrozenModel):
    """A message that is sent no more, or sent shortened.

    Attributes:
        message: Its number in the history, from 1.
        kind: What it is.
        tokens: Tokens of the whole message.
        shortened: Whether a part of it or a stub stands in its place.
        why: The rule by which it went.
        text: The beginning of its text.
    """

    message: Count
    kind: str
    tokens: Count
    shortened: bool
    why: str
    text: str


class Trimming(FrozenModel):
    """What trimming a history to a budget comes to.

    Attributes:
        name: The conversation.
        max_tokens: The budget.
        messages_before: Messages of the history.
        messages_after: Messages that are sent.
        tokens_before: Tokens of the history.
        tokens_after: Tokens that are sent.
        faults: What a provider would refuse; none for a valid history.
        overflow: Why it does not fit; empty where it does.
        departures: What left or was shortened, in order.
    """

    name: str
    max_tokens: Count
    messages_before: Count
    messages_after: Count
    tokens_before: Count
    tokens_after: Count
    faults: tuple[str, ...]
    overflow: str
    departures: tuple[Departure, ...]


def trim_transcript(
    transcript: Transcript,
    budget: Budget,
    *,
    counter: TokenCounter,
    keep_last_steps: int = 5,
) -> Trimming:
    """Trim a conversation once, and tell what that did.

    Args:
        transcript: The conversation.
        budget: What may be sent.
        counter: Counts tokens.
        keep_last_steps: Newest steps that leave after all others.

    Returns:
        What left; where the budget cannot be kept, the best that can be done.

    Raises:
        InvalidInputError: An option breaks its rule.

    Example:
        >>> from langchain_memkit import ApproximateCounter
        >>> from langchain_memkit.cli.compare import parse_budget
        >>> from langchain_memkit.cli.transcripts import parse_transcripts
        >>> text = '[{"role": "user", "content": "Kites need wind."}]'
        >>> trimming = trim_transcript(
        ...     parse_transcripts(text)[0],
        ...     parse_budget("100"),
        ...     counter=ApproximateCounter(),
        ... )
        >>> (trimming.tokens_before, trimming.tokens_after)
        (8, 8)
    """
    history = list(transcript.messages)
    gauge = Gauge(history, counter)
    max_tokens = budget.of(history, gauge=gauge)
    overflow = ""
    try:
        sent = _trim(history, max_tokens, counter, keep_last_steps, keeps=False)
    except BudgetExceededError as error:
        overflow = str(error)
        sent = _trim(history, max_tokens, counter, keep_last_steps, keeps=True)
    return Trimming(
        name=transcript.name,
        max_tokens=max_tokens,
        messages_before=len(history),
        messages_after=len(sent),
        tokens_before=counter.count_messages(history),
        tokens_after=counter.count_messages(sent),
        faults=tuple(str(fault) for fault in validate_history(sent)),
        overflow=overflow,
        departures=_departures(history, sent, gauge),
    )


def _trim(
    history: Sequence[BaseMessage],
    max_tokens: int,
    counter: TokenCounter,
    keep_last_steps: int,
    *,
    keeps: bool,
) -> list[BaseMessage]:
    trimmer = EpisodeTrimmer(
        max_tokens,
        token_counter=counter,
        keep_last_steps=keep_last_steps,
        on_overflow="keep" if keeps else "raise",
    )
    return trimmer.invoke(list(history))


def _departures(
    history: Sequence[BaseMessage], sent: Sequence[BaseMessage], gauge: Gauge
) -> tuple[Departure, ...]:
    gone, cut = find_absent(history, sent)
    return tuple(
        Departure(
            message=place + 1,
            kind=kind_of(history[place]),
            tokens=gauge.count_one(history[place]),
            shortened=place in cut,
            why=_REASONS.get((kind_of(history[place]), place in cut), "repaired"),
            text=excerpt_of(history[place]),
        )
        for place in sorted(gone | cut)
    )
