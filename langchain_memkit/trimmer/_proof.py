"""A proof of the trimmer's laws that knows nothing of how it trims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_memkit.messages import (
    is_blank,
    is_human,
    is_pinned,
    is_system,
    mark_of,
    resident_tokens,
    result_id,
)
from langchain_memkit.trimmer._coerce import MessagesLike, to_messages
from langchain_memkit.trimmer._shapes import EMPTY_TEXT, form_of
from langchain_memkit.trimmer.validation import HistoryFault, validate_history

__all__ = ["proof"]


def proof(
    before: MessagesLike,
    after: MessagesLike,
    *,
    pinned: frozenset[int],
    something_left: bool,
) -> list[HistoryFault]:
    """Find the laws that do not hold between an input and an output.

    Args:
        before: What was trimmed.
        after: What came out.
        pinned: Positions in `before` that have to stand verbatim.
        something_left: Whether a message left.

    Returns:
        What does not hold.
    """
    old, new = to_messages(before), to_messages(after)
    faults = [*_pins(old, new, pinned), *validate_history(new), *_present(old, new)]
    faults += _order(old, new)
    if something_left:
        faults += _front(old, new, pinned)
    return faults


def _fault(index: int, rule: str, detail: str) -> HistoryFault:
    return HistoryFault(index=index, rule=rule, detail=detail)


def _identity(message: BaseMessage) -> tuple[str, str]:
    return message.type, str(message.content)


def _pins(
    old: Sequence[BaseMessage], new: Sequence[BaseMessage], pinned: frozenset[int]
) -> Iterator[HistoryFault]:
    wanted = Counter(
        _identity(m) for i, m in enumerate(old) if i in pinned or is_system(m)
    )
    there = Counter(map(_identity, new))
    for (kind, content), number in (wanted - there).items():
        detail = f"A pinned {kind} message is missing {number} times: {content[:60]!r}."
        yield _fault(0, "law-2-pins", detail)


def _present(
    old: Sequence[BaseMessage], new: Sequence[BaseMessage]
) -> Iterator[HistoryFault]:
    sent = [m for m in old if not isinstance(m, RemoveMessage)]
    users = [m for m in sent if is_human(m) and resident_tokens(m) is None]
    texts = {str(m.content) for m in new if is_human(m)} | {""}
    if users and not texts & {str(users[-1].content), EMPTY_TEXT}:
        yield _fault(0, "law-4-present", "The last user message is missing.")
    if not new and not all(result_id(m) is not None or is_blank(m) for m in sent):
        yield _fault(0, "law-4-present", "Nothing is left.")
    if users and all(map(is_system, new)):
        yield _fault(0, "law-4-present", "Only system messages are left.")


def _order(
    old: Sequence[BaseMessage], new: Sequence[BaseMessage]
) -> Iterator[HistoryFault]:
    at = 0
    for i, message in enumerate(new):
        marks = mark_of(message)
        inserted = form_of(message) == "stand_in" and not any(m is message for m in old)
        if marks.get("moved") or marks.get("hoisted") or inserted:
            continue
        match = next((k for k in range(at, len(old)) if _is_from(message, old[k])), -1)
        if match < 0:
            detail = "It is not the next message of the input, and no mark says why."
            yield _fault(i, "law-5-order", detail)
        else:
            at = match + 1


def _is_from(message: BaseMessage, source: BaseMessage) -> bool:
    if message is source:
        return True
    fixed = (type(message), message.id, message.name, result_id(message))
    if fixed != (type(source), source.id, source.name, result_id(source)):
        return False
    return form_of(message) is not None or message.content == source.content


def _front(
    old: Sequence[BaseMessage], new: Sequence[BaseMessage], pinned: frozenset[int]
) -> Iterator[HistoryFault]:
    first = next((i for i, m in enumerate(new) if not is_system(m)), None)
    if first is None or not any(map(is_human, old)):
        return
    fixed = {_identity(old[i]) for i in pinned if i < len(old)}
    results = takewhile(lambda m: result_id(m) is not None, new[first + 1 :])
    unit = [new[first], *results]  # a pinned result keeps its call
    is_fixed = any(is_pinned(m) or _identity(m) in fixed for m in unit)
    if not (is_human(new[first]) or is_fixed):
        detail = "The first message after an eviction is not the user's."
        yield _fault(first, "law-3-front", detail)
