"""One history trimmed once: what left it, what that came to, and what else would."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from langchain_core.messages import BaseMessage

from langchain_memkit.cli.compare import Budget
from langchain_memkit.cli.replay import Gauge
from langchain_memkit.cli.transcripts import Transcript
from langchain_memkit.cli.wording import excerpt_of, kind_of
from langchain_memkit.core.models import Count, FrozenModel
from langchain_memkit.exceptions import BudgetExceededError
from langchain_memkit.protocols import TokenCounter
from langchain_memkit.trimmer import EpisodeTrimmer, TrimReport, validate_history

__all__ = ["Departure", "Trimming", "trim_transcript"]

_SHORTENED = frozenset({"stubbed", "clipped", "stripped"})


class Departure(FrozenModel):
    """A message that is not sent as it was.

    Attributes:
        index: Its position in the history.
        kind: What it is.
        action: `evicted`, `stubbed`, `clipped`, `stripped`, `repaired` or `hoisted`.
        tokens_before: Tokens of the whole message.
        tokens_after: Tokens of what stands in its place.
        why: The reason that the trimmer gives.
        text: The beginning of its text.
    """

    index: Count
    kind: str
    action: str
    tokens_before: Count
    tokens_after: Count
    why: str
    text: str

    @property
    def is_shortened(self) -> bool:
        """Tell whether a part of it or a stub is still sent."""
        return self.action in _SHORTENED


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
        departures: What is not sent as it was, in order.
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
    max_tokens = budget.of(history, gauge=Gauge(history, counter))
    make = partial(
        EpisodeTrimmer,
        max_tokens,
        token_counter=counter,
        keep_last_steps=keep_last_steps,
    )
    overflow = ""
    try:
        sent = make().invoke(history)
    except BudgetExceededError as error:
        overflow = str(error)
        sent = make(on_overflow="keep").invoke(history)
    report = make(on_overflow="keep").explain(history)
    return Trimming(
        name=transcript.name,
        max_tokens=max_tokens,
        messages_before=len(history),
        messages_after=len(sent),
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        faults=tuple(str(fault) for fault in validate_history(sent)),
        overflow=overflow,
        departures=_departures(history, report),
    )


def _departures(
    history: Sequence[BaseMessage], report: TrimReport
) -> tuple[Departure, ...]:
    return tuple(
        Departure(
            index=row.index,
            kind=kind_of(history[row.index]),
            action=row.action,
            tokens_before=row.tokens_before,
            tokens_after=row.tokens_after,
            why=row.reason,
            text=excerpt_of(history[row.index]),
        )
        for row in report.rows
        if row.action != "kept"
    )
