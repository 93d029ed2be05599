"""A counter on tiktoken's tables, for the models that use them."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_memkit.core.models import check_choice, check_count
from langchain_memkit.core.tokens import estimate_tokens
from langchain_memkit.counters._countable import (
    Countable,
    approximate_tokens,
    countable,
)
from langchain_memkit.exceptions import (
    CounterError,
    InvalidInputError,
    MissingExtraError,
)

if TYPE_CHECKING:
    import tiktoken

__all__ = ["TiktokenCounter"]

_logger = logging.getLogger(__name__)
_TOKENS_PER_MESSAGE = 4
_TABLE_FILES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "o200k_harmony": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "p50k_base": "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "p50k_edit": "ec7223a39ce59f226a68acc30dc1af2788490e15",
}


class TiktokenCounter:
    """Count tokens with one of tiktoken's encodings.

    Per message: the tokens of its texts, of each tool call's name and JSON arguments,
    and of its tool call id and name, plus 4 for the role and the frame. Text such as
    `<|endoftext|>` is ordinary text. Nothing is fetched: the table must already lie in
    tiktoken's cache, for instance in the folder that `TIKTOKEN_CACHE_DIR` names.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> counter = TiktokenCounter(fallback="approximate")
        >>> counter([HumanMessage("Kites need wind.")]) in (8, 9)
        True
    """

    additive: Literal[True] = True
    """The count of a list is the sum of the counts of its messages."""

    def __init__(
        self,
        *,
        encoding: str | None = None,
        model: str | None = None,
        fallback: Literal["approximate"] | None = None,
        tokens_per_image: int = 85,
        tokens_per_file: int = 1_000,
    ) -> None:
        """Load the table.

        Args:
            encoding: Name of an encoding; `o200k_base` where neither it nor a model
                is given.
            model: Name of a model, in place of an encoding.
            fallback: `"approximate"` counts with `ApproximateCounter`, after a logged
                warning, where tiktoken, the model or the table is not there.
            tokens_per_image: Flat price of an image, at least 0.
            tokens_per_file: Flat price of a file, audio or video, at least 0.

        Raises:
            InvalidInputError: Both an encoding and a model are given, the fallback is
                unknown, or a price is no whole number of at least 0.
            CounterError: The model or encoding is unknown, or its table is not in
                tiktoken's cache.
            MissingExtraError: tiktoken is not installed.
        """
        if encoding is not None and model is not None:
            rule = "must be left out where `encoding` is given"
            raise InvalidInputError("model", rule, model)
        if fallback is not None:
            check_choice("fallback", fallback, ("approximate",))
        self.tokens_per_image = check_count("tokens_per_image", tokens_per_image)
        self.tokens_per_file = check_count("tokens_per_file", tokens_per_file)
        self._encoding: tiktoken.Encoding | None = None
        try:
            self._encoding = _load(encoding, model)
        except (CounterError, MissingExtraError) as error:
            if fallback is None:
                raise
            _logger.warning("counting approximately instead: %s", error)

    def __repr__(self) -> str:
        """Name what is counted with.

        Returns:
            A short description.
        """
        name = self._encoding.name if self._encoding else "approximate"
        return f"TiktokenCounter({name})"

    def count_text(self, text: str) -> int:
        """Count the tokens of a text.

        Args:
            text: Any text; special tokens inside it are ordinary text.

        Returns:
            Tokens, at least 0; the empty text has none.
        """
        if self._encoding is None:
            return estimate_tokens(text)
        return len(self._encoding.encode_ordinary(text))

    def count_messages(self, messages: Sequence[BaseMessage]) -> int:
        """Count the tokens of a list of messages.

        Args:
            messages: The messages, in order.

        Returns:
            Tokens, at least 0.
        """
        return sum(map(self._count_one, messages))

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Do what `count_messages` does.

        Args:
            messages: The messages, in order.

        Returns:
            Tokens, at least 0.
        """
        return self.count_messages(messages)

    def _count_one(self, message: BaseMessage) -> int:
        if self._encoding is None:
            return approximate_tokens(
                message,
                tokens_per_image=self.tokens_per_image,
                tokens_per_file=self.tokens_per_file,
            )
        parts = countable(message)
        texts = [*parts.texts, *_call_texts(parts)]
        if isinstance(message, ToolMessage):
            texts.append(message.tool_call_id)
        if message.name:
            texts.append(message.name)
        flat = parts.images * self.tokens_per_image + parts.files * self.tokens_per_file
        return sum(map(self.count_text, texts)) + flat + _TOKENS_PER_MESSAGE


def _call_texts(parts: Countable) -> list[str]:
    return [
        text
        for call in parts.calls
        for text in (call["name"], json.dumps(call["args"], default=str))
    ]


def _load(encoding: str | None, model: str | None) -> tiktoken.Encoding:
    try:
        import tiktoken  # noqa: PLC0415 - an extra, needed only on use
    except ImportError as error:
        raise MissingExtraError("tiktoken", "tiktoken") from error
    name = encoding or "o200k_base"
    if model is not None:
        name = _encoding_of(model)
    known = tiktoken.list_encoding_names()
    if name not in known:
        rule = f"must be one of {', '.join(sorted(known))}"
        raise CounterError("encoding", rule, name)
    _require_table(name)
    try:
        return tiktoken.get_encoding(name)
    except (OSError, ValueError) as error:
        rule = f"must name a table that can be loaded ({error})"
        raise CounterError("encoding", rule, name) from error


def _encoding_of(model: str) -> str:
    from tiktoken.model import encoding_name_for_model  # noqa: PLC0415 - as above

    try:
        return encoding_name_for_model(model)
    except KeyError as error:
        rule = "must be a model that tiktoken knows; pass `encoding` instead"
        raise CounterError("model", rule, model) from error


def _require_table(name: str) -> None:
    if name not in _TABLE_FILES:
        return
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get(
        "DATA_GYM_CACHE_DIR"
    )
    cache = Path(folder or Path(tempfile.gettempdir(), "data-gym-cache"))
    if not (cache / _TABLE_FILES[name]).is_file():
        rule = (
            f"must have its table in tiktoken's cache, which is {cache}; nothing is "
            "fetched while counting, so load it once with "
            f"tiktoken.get_encoding({name!r}) where there is a network, or pass "
            'fallback="approximate"'
        )
        raise CounterError("encoding", rule, name)
