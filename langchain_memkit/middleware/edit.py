"""The trimmer as an edit for LangChain's `ContextEditingMiddleware`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain.agents.middleware.context_editing import TokenCounter
from langchain_core.messages import AnyMessage, BaseMessage

from langchain_memkit.core.models import check_positive
from langchain_memkit.trimmer import EpisodeTrimmer, TrimCall

__all__ = ["TrimEpisodesEdit"]


class TrimEpisodesEdit:
    """Trim by episodes where `ClearToolUsesEdit` clears by age.

    Unless an option names a counter, that of the middleware counts; with
    `token_count_method="model"` it also counts the system prompt. The middleware asks
    for edits without waiting, so with a `memory` on a slow disk or server prefer
    `EpisodeTrimMiddleware` in async agents.

    Example:
        >>> from langchain.agents import create_agent
        >>> from langchain.agents.middleware import ContextEditingMiddleware
        >>> from langchain_memkit.testing import ScriptedChatModel
        >>> model = ScriptedChatModel(script=["Fine."])
        >>> edit = TrimEpisodesEdit(max_tokens=40)
        >>> middleware = [ContextEditingMiddleware(edits=[edit])]
        >>> talk = [("user", "Hi."), ("ai", "Hello! " * 60), ("user", "How are kites?")]
        >>> agent = create_agent(model, middleware=middleware)
        >>> len(agent.invoke({"messages": talk})["messages"])
        4
        >>> len(model.calls[0].messages)
        2
    """

    def __init__(self, max_tokens: int, **trimmer_options: Any) -> None:  # noqa: ANN401 - those of `EpisodeTrimmer`
        """Choose the budget and how to trim.

        Args:
            max_tokens: Tokens of the messages, at least 1.
            **trimmer_options: Options of `EpisodeTrimmer`.

        Raises:
            InvalidInputError: An option breaks its rule.
            CounterError: The counter is none.
        """
        self._max_tokens = check_positive("max_tokens", max_tokens)
        self._options = trimmer_options
        self._own = EpisodeTrimmer(max_tokens, **trimmer_options)
        self._last: tuple[TokenCounter, EpisodeTrimmer] | None = None

    def apply(self, messages: list[AnyMessage], *, count_tokens: TokenCounter) -> None:
        """Trim a list of messages in place.

        Args:
            messages: The list; its messages are not changed.
            count_tokens: Counts messages, perhaps with what is sent beside them.

        Raises:
            BudgetExceededError: What has to stay is over budget.
            CounterError: The counter raised, or returned no count.
            StoreError: The memory could not take what leaves; nothing left.
        """
        if not messages:
            return
        if "token_counter" in self._options:
            messages[:] = cast("list[AnyMessage]", self._own.trim(messages).messages)
            return
        beside = count_tokens([])
        trimmer = self._counting_by(count_tokens, beside)
        result = trimmer.trim(messages, TrimCall(overhead_tokens=beside))
        messages[:] = cast("list[AnyMessage]", result.messages)

    def _counting_by(self, count_tokens: TokenCounter, beside: int) -> EpisodeTrimmer:
        known = self._last
        if known is not None and known[0] is count_tokens:
            return known[1]

        def count(found: Sequence[BaseMessage]) -> int:
            return count_tokens(found) - beside

        trimmer = EpisodeTrimmer(self._max_tokens, token_counter=count, **self._options)
        self._last = (count_tokens, trimmer)
        return trimmer
