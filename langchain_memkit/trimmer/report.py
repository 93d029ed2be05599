"""What a trimming did to each message, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import Literal

from pydantic import PrivateAttr

from langchain_memkit.core.eviction import EpisodeKind
from langchain_memkit.core.models import Count, FrozenModel, Share
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.trimmer._coerce import MessagesLike
from langchain_memkit.trimmer._proof import proof
from langchain_memkit.trimmer.validation import HistoryFault

__all__ = ["Action", "TrimReport", "TrimRow"]

Action = Literal[
    "kept", "stubbed", "clipped", "evicted", "repaired", "stripped", "hoisted"
]
"""What became of a message."""

_HEADER = ("#", "kind", "action", "before", "after", "reason", "key")
_RIGHT = frozenset({"#", "before", "after"})


class TrimRow(FrozenModel):
    """What became of one message.

    Attributes:
        index: Its position in the input.
        id: Its id, where it has one.
        kind: What it is.
        action: What became of it.
        tokens_before: What it cost.
        tokens_after: What it costs now, stand-in results included.
        reason: Why, in a few words.
        key: What fetches its content, where a memory takes it.
        pinned: Whether it has to stand verbatim.
    """

    index: Count
    id: str | None = None
    kind: EpisodeKind
    action: Action
    tokens_before: Count
    tokens_after: Count
    reason: str
    key: str | None = None
    pinned: bool = False


class TrimReport(FrozenModel):
    """What became of a history.

    Attributes:
        max_tokens: The budget.
        target_tokens: What an eviction goes down to.
        overhead_tokens: Tokens of what is sent beside the messages.
        tokens_before: Tokens of the input.
        tokens_after: Tokens of the output.
        within_budget: Whether the output and the overhead fit.
        repeated_share: Share of the output that repeats the beginning of the prompt
            before, which a provider's prompt cache serves.
        rows: One a message, in the order of the input.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> from langchain_memkit import EpisodeTrimmer
        >>> report = EpisodeTrimmer(max_tokens=40).explain([HumanMessage("Hi.")])
        >>> print(report)
        #  kind       action  before  after  reason  key
        0  user_turn  kept         5      5
        5 of 5 tokens, budget 40, 0% of the prompt repeats the one before
    """

    max_tokens: Count
    target_tokens: Count
    overhead_tokens: Count = 0
    tokens_before: Count
    tokens_after: Count
    within_budget: bool
    repeated_share: Share = 0.0
    rows: tuple[TrimRow, ...] = ()
    _again: Callable[[int], TrimReport] | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Compare the fields.

        Args:
            other: Anything.

        Returns:
            Whether it is a report with the same fields.
        """
        if not isinstance(other, TrimReport):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        """Hash the fields.

        Returns:
            The hash.
        """
        return hash(tuple(self.__dict__.values()))

    def what_if(self, max_tokens: int) -> TrimReport:
        """Tell what another budget would do to the same messages; nothing changes.

        Args:
            max_tokens: The other budget, at least 1.

        Returns:
            The report that `explain` would give.

        Raises:
            InvalidInputError: The budget is below 1, or this report was read from
                JSON and has no messages at hand.
        """
        if self._again is None:
            rule = "must come from `explain`, as one from JSON holds no messages"
            raise InvalidInputError("report", rule, type(self).__name__)
        return self._again(max_tokens)

    def verify(self, before: MessagesLike, after: MessagesLike) -> list[HistoryFault]:
        """Prove the laws of the trimmer on an input and its output.

        Args:
            before: What was trimmed.
            after: What came out.

        Returns:
            The laws that do not hold, with the position in `after`; empty where all
            hold: budget, pins, validity, presence, order, and the user's message in
            front once something left.

        Raises:
            InvalidInputError: These are no messages.
        """
        pinned = frozenset(row.index for row in self.rows if row.pinned)
        left = any(row.action == "evicted" for row in self.rows)
        faults = proof(before, after, pinned=pinned, something_left=left)
        if not self.within_budget:
            spent = self.tokens_after + self.overhead_tokens
            detail = f"It takes {spent} tokens, over the budget of {self.max_tokens}."
            fault = HistoryFault(index=0, rule="law-1-budget", detail=detail)
            faults.insert(0, fault)
        return faults

    def _cells(self) -> Iterator[tuple[str, ...]]:
        for row in self.rows:
            numbers = str(row.tokens_before), str(row.tokens_after)
            key = row.key or ""
            yield (str(row.index), row.kind, row.action, *numbers, row.reason, key)

    def _summary(self) -> str:
        return (
            f"{self.tokens_after} of {self.tokens_before} tokens, "
            f"budget {self.max_tokens}, "
            f"{self.repeated_share:.0%} of the prompt repeats the one before"
        )

    def __str__(self) -> str:
        """Render a table for a terminal.

        Returns:
            A line a message, and the totals.
        """
        table = [_HEADER, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        right = [name in _RIGHT for name in _HEADER]
        lines = [
            "  ".join(
                cell.rjust(width) if is_right else cell.ljust(width)
                for cell, width, is_right in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in table
        ]
        return "\n".join([*lines, self._summary()])

    def _repr_html_(self) -> str:
        """Render a table for a notebook.

        Returns:
            HTML, with everything escaped.
        """
        head = "".join(f"<th>{name}</th>" for name in _HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        caption = escape(self._summary())
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )
