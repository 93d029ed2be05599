"""A summary without a model, for LangChain's `SummarizationMiddleware`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_memkit.core.models import check_count
from langchain_memkit.core.tokens import estimate_tokens
from langchain_memkit.memory import ForgettingMemory
from langchain_memkit.messages import (
    is_pinned,
    is_system,
    recall_key,
    recalled_key,
    resident_tokens,
    text_of,
)
from langchain_memkit.middleware.places import Namespace, Places
from langchain_memkit.middleware.residents import is_user_turn
from langchain_memkit.protocols import ArchiveEntry
from langchain_memkit.trimmer import entry_of

__all__ = ["EvidenceSummarizer"]

_RULES = "Rules that hold, word by word:"
_SAID = "What the user said:"
_LEFT = "What was left out; `recall` fetches it by its key:"
_LOST = "What was left out:"
_HEADINGS = {_RULES: "rules", _SAID: "said", _LEFT: "left", _LOST: "left"}
_PLAIN_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)


@dataclass(slots=True)
class _Notes:
    """The lines of a summary.

    Attributes:
        rules: Texts that hold verbatim.
        said: Texts of the user.
        left: One line for each other text.
    """

    rules: list[str]
    said: list[str]
    left: list[str]


class EvidenceSummarizer(Runnable[list[AnyMessage], str]):
    """Summarise without a model: rules verbatim, and the keys of what left.

    Give it to `SummarizationMiddleware` as `summarizer` (from langchain 1.5 on; earlier
    ones ignore it and ask the model), and `trim_tokens_to_summarize=None` with it, so
    that nothing is cut off before it is remembered. System and pinned messages stand
    word by word, also in every later summary; then what the user said, the latest first
    to stay; then one line for each tool result and answer, with the key it is
    remembered under.

    Example:
        >>> from langchain_core.messages import HumanMessage, SystemMessage
        >>> rule, ask = SystemMessage("Never delete files."), HumanMessage("Tidy up.")
        >>> print(EvidenceSummarizer().invoke([rule, ask]))
        Rules that hold, word by word:
        > Never delete files.
        <BLANKLINE>
        What the user said:
        > Tidy up.
    """

    def __init__(
        self,
        *,
        memory: ForgettingMemory | None = None,
        namespace: Namespace | None = None,
        max_tokens: int = 1_000,
    ) -> None:
        """Choose what takes what leaves, and how long a summary may be.

        Args:
            memory: Takes every text before it leaves; without one no keys are shown.
            namespace: Names the compartment of a run, given its runtime; `None` means
                the thread's id, or the memory itself where a run has no thread.
            max_tokens: Most tokens of a summary, at least 0; rules stand in any case.

        Raises:
            InvalidInputError: An option breaks its rule.
        """
        self._places = Places.make(memory, namespace)
        self._keeps = memory is not None
        self._max_tokens = check_count("max_tokens", max_tokens)

    def invoke(
        self,
        input: list[AnyMessage],  # noqa: A002 - the parent's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the parent's contract
    ) -> str:
        """Remember the messages and summarise them.

        Args:
            input: What leaves.
            config: The configuration of the run.
            **kwargs: Not used.

        Returns:
            The summary.

        Raises:
            StoreError: The memory could not take the messages.
        """
        del config, kwargs
        if self._keeps and (entries := _entries(input)):
            self._places.here()[0].archive(entries)
        return self._write(input)

    async def ainvoke(
        self,
        input: list[AnyMessage],  # noqa: A002 - the parent's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 - the parent's contract
    ) -> str:
        """Do what `invoke` does, without blocking the event loop.

        Args:
            input: What leaves.
            config: The configuration of the run.
            **kwargs: Not used.

        Returns:
            The summary.

        Raises:
            StoreError: The memory could not take the messages.
        """
        del config, kwargs
        if self._keeps and (entries := _entries(input)):
            memory, *_ = await asyncio.to_thread(self._places.here)
            await memory.aarchive(entries)
        return self._write(input)

    def _write(self, messages: Sequence[BaseMessage]) -> str:
        notes = _Notes([], [], [])
        for message in messages:
            _note(notes, message, keeps=self._keeps)
        rules = _section(_RULES, _quoted(dict.fromkeys(notes.rules)))
        room = self._max_tokens - estimate_tokens(rules)
        said = _section(_SAID, _quoted(_with_task(notes.said, room // 2)))
        room -= estimate_tokens(said)
        left = _latest(list(dict.fromkeys(notes.left)), room)
        heading = _LEFT if self._keeps else _LOST
        more = len(set(notes.left)) - len(left)
        lines = [*([f"- {more} earlier ones"] if more else []), *left]
        return "\n\n".join(filter(None, (rules, said, _section(heading, lines))))


def _entries(messages: Iterable[BaseMessage]) -> list[ArchiveEntry]:
    leaving = (m for m in messages if not (_is_kept(m) or _is_ours(m)))
    found = (entry_of(m) for m in leaving if resident_tokens(m) is None)
    return [entry for entry in found if entry is not None]


def _is_kept(message: BaseMessage) -> bool:
    return is_system(message) or is_pinned(message)


def _is_ours(message: BaseMessage) -> bool:
    if message.additional_kwargs.get("lc_source") != "summarization":
        return False
    return not _HEADINGS.keys().isdisjoint(text_of(message).split("\n"))


def _note(notes: _Notes, message: BaseMessage, *, keeps: bool) -> None:
    if resident_tokens(message) is not None:
        return
    if _is_ours(message):
        _read(notes, text_of(message))
    elif _is_kept(message):
        notes.rules.append(text_of(message))
    else:
        if is_user := is_user_turn(message):
            notes.said.append(text_of(message))
        line = _line(message, keeps=keeps)
        if line is not None and (keeps or not is_user):
            notes.left.append(line)


def _line(message: BaseMessage, *, keeps: bool) -> str | None:
    entry = entry_of(message)
    known = recall_key(message) or recalled_key(message)
    if entry is None and known is None:
        return None
    what = _PLAIN_NAME.fullmatch(message.name or "")
    name = f"{message.type} {what.group()}" if what else message.type
    size = f", {len(entry.content)} characters" if entry else ""
    key = known or (entry.key if entry and keeps else None)
    return f"- {name}{size}" + (f", key {key}" if key else "")


def _read(notes: _Notes, text: str) -> None:
    """Carry over what an earlier summary of ours says.

    Quoted lines begin with `>`, so no quoted text can pass for a heading.

    Args:
        notes: Where to.
        text: The summary.
    """
    section, quote = "", list[str]()
    for line in [*text.split("\n"), ""]:
        if line.startswith(">"):
            quote.append(line.removeprefix(">").removeprefix(" "))
            continue
        if quote and section in {"rules", "said"}:
            getattr(notes, section).append("\n".join(quote))
        quote = []
        section = _HEADINGS.get(line, section)
        if section == "left" and line.startswith("- ") and "key" in line:
            notes.left.append(line)


def _quoted(texts: Iterable[str]) -> list[str]:
    quotes = ["\n".join(f"> {line}" for line in text.split("\n")) for text in texts]
    return ["\n\n".join(quotes)] if quotes else []


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *lines]) if lines else ""


def _with_task(texts: Sequence[str], room: int) -> list[str]:
    """Keep the first text, which is the task, and the latest that fit beside it."""
    task = _latest(texts[:1], room)
    return task + _latest(texts[1:], room - sum(map(_cost, task)))


def _latest(texts: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for text in reversed(texts):
        room -= _cost(text)
        if room < 0:
            break
        kept.append(text)
    return kept[::-1]


def _cost(text: str) -> int:
    return estimate_tokens(text) + 1
