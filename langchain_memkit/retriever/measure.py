"""Counting the tokens of a text, whatever the counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from langchain_core.messages import BaseMessage, HumanMessage

from langchain_memkit.core.tokens import estimate_tokens
from langchain_memkit.exceptions import CounterError
from langchain_memkit.protocols import TokenCounter

__all__ = ["AnyCounter", "is_estimate", "text_counter"]

AnyCounter = (
    Literal["approximate"] | TokenCounter | Callable[[Sequence[BaseMessage]], int]
)
"""What `token_counter` accepts."""


def is_estimate(counter: AnyCounter) -> bool:
    """Tell whether a counter is the default one, whose cost is known beforehand.

    Args:
        counter: What the user gave.

    Returns:
        Whether it counts a quarter of the code points.
    """
    return counter == "approximate"


def text_counter(counter: AnyCounter) -> Callable[[str], int]:
    """Turn any counter into one over a text.

    Args:
        counter: `"approximate"`, a `TokenCounter`, or a callable over messages.

    Returns:
        A function that counts the tokens of a text and checks the answer.

    Raises:
        CounterError: It is none of these.

    Example:
        >>> text_counter("approximate")("Kites")
        2
    """
    if is_estimate(counter):
        return estimate_tokens
    if isinstance(counter, TokenCounter):
        return _checked(counter.count_text)
    if callable(counter):
        return _checked(lambda text: counter([HumanMessage(content=text)]))
    raise CounterError(
        "token_counter",
        'must be "approximate", a TokenCounter or a callable over messages',
        counter,
    )


def _checked(count: Callable[[str], int]) -> Callable[[str], int]:
    def counted(text: str) -> int:
        try:
            tokens: object = count(text)
        except Exception as error:
            rule = f"must count any text, but raised {error!r}"
            raise CounterError("token_counter", rule, count) from error
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
            raise CounterError(
                "token_counter", "must return a whole number of at least 0", tokens
            )
        return tokens

    return counted
