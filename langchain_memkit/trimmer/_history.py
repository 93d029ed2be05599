"""A history as the replay sees it: facts about its messages, prices of other forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_memkit.messages import is_blank, text_of
from langchain_memkit.trimmer._clips import head_and_tail, largest_fit
from langchain_memkit.trimmer._reading import Reading
from langchain_memkit.trimmer._shapes import (
    clip_marker,
    form_of,
    mended,
    shown,
    standing_in,
    stub_text,
    without_reasoning,
)

__all__ = ["History"]

_LEAST_EXCERPT_TOKENS = 8


class History(Reading):
    """Messages that are sent, and what each would cost in another form."""

    def stub(self, index: int) -> int:
        """Price a result as a stub.

        Args:
            index: Position of the result.

        Returns:
            Tokens; what it costs now where it is a stub already.
        """
        message = self.messages[index]
        if message.additional_kwargs and form_of(message) in {"stub", "stand_in"}:
            return self.facts.costs[index]
        return self.options.tokens.reworded(message, stub_text(self.key(index)))

    def stubbed(self, index: int) -> BaseMessage:
        """Make the stub of a result.

        Args:
            index: Position of the result.

        Returns:
            A marked copy.
        """
        message, key = self.messages[index], self.key(index)
        return shown(message, stub_text(key), form="stub", key=key)

    def clip(self, index: int, room: int) -> int:
        """Price a result cut to fit a room.

        Args:
            index: Position of the result.
            room: Tokens it may take.

        Returns:
            Tokens; those of its stub where nothing else fits.
        """
        text = self._excerpt(index, room)
        if text is None:
            return self.stub(index)
        return self.options.tokens.reworded(self.messages[index], text)

    def clipped(self, index: int, room: int) -> BaseMessage:
        """Cut a result to fit a room.

        Args:
            index: Position of the result.
            room: Tokens it may take.

        Returns:
            A marked copy; a stub where nothing else fits.
        """
        text = self._excerpt(index, room)
        if text is None:
            return self.stubbed(index)
        return shown(self.messages[index], text, form="clip", key=self.key(index))

    def _excerpt(self, index: int, room: int) -> str | None:
        message = self.messages[index]
        if message.additional_kwargs and form_of(message) in {"stub", "clip"}:
            return None
        text, key, tokens = text_of(message), self.key(index), self.options.tokens
        frame = tokens.reworded(message, clip_marker(len(text), key))
        whole = tokens.reworded(message, text) - tokens.reworded(message, "")
        spare = room - frame
        if spare < _LEAST_EXCERPT_TOKENS or whole <= 0:
            return None

        def cut(keep: int) -> str:
            head, tail = head_and_tail(text, keep)
            left_out = len(text) - len(head) - len(tail)
            return f"{head}{clip_marker(left_out, key)}{tail}"

        keep = largest_fit(
            len(text),
            room=room,
            price=lambda n: tokens.reworded(message, cut(n)),
            guess=1 + spare * len(text) // whole,
        )
        return None if keep is None else cut(keep)

    def head(
        self, index: int, *, results: Sequence[int], mended: bool, bare: bool
    ) -> int:
        """Price an assistant message that is repaired or has lost its reasoning.

        Args:
            index: Position of the message.
            results: Positions of its results.
            mended: Whether its unanswered calls are answered or taken out.
            bare: Whether its signed reasoning is taken out.

        Returns:
            Tokens, those of stand-in results included; 0 where nothing is left of it.
        """
        head, stand_ins = self.reshaped(
            index, results=results, mended=mended, bare=bare
        )
        if is_blank(head):
            return 0
        tokens = self.options.tokens
        same = head is self.base(index)
        cost = self.facts.costs[index] if same else self._cost(index, head)
        return cost + sum(map(tokens.cost, stand_ins))

    def _cost(self, index: int, head: BaseMessage) -> int:
        tokens = self.options.tokens
        if tokens.additive:
            return tokens.cost(head)
        saved = tokens.cost(self.base(index)) - tokens.cost(head)
        return max(1, self.facts.costs[index] - saved)

    def reshaped(
        self, index: int, *, results: Sequence[int], mended: bool, bare: bool
    ) -> tuple[BaseMessage, list[BaseMessage]]:
        """Repair an assistant message, or take its reasoning out.

        Args:
            index: Position of the message.
            results: Positions of its results.
            mended: Whether its unanswered calls are answered or taken out.
            bare: Whether its signed reasoning is taken out.

        Returns:
            What is shown for it, and its stand-in results.
        """
        head = self.base(index)
        if bare:
            head = without_reasoning(head, signed_only=True)
        if not mended:
            return head, []
        given = Counter(self.facts.answers[r] for r in results if r != index)
        left = list((Counter(self.facts.calls.get(index, ())) - given).elements())
        return _mended(head, left), standing_in(head, left)


_mended = mended
