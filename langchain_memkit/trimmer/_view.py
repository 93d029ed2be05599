"""The messages that are sent, made from a history and the forms of its messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

from langchain_core.messages import BaseMessage

from langchain_memkit.core.facts import CLIPPED, STANDS
from langchain_memkit.core.timeline import Timeline
from langchain_memkit.messages import is_system
from langchain_memkit.trimmer._history import History
from langchain_memkit.trimmer._shapes import moved

__all__ = ["hoist", "late_results", "render"]


def render(
    history: History, line: Timeline, start: int = 0, stop: int | None = None
) -> list[BaseMessage]:
    """Make the messages that are sent.

    Args:
        history: The history.
        line: The forms of its messages.
        start: Position of the message to begin with.
        stop: Position of the message to stop before, None for the end.

    Returns:
        The messages in order; those that are kept whole are the same objects.
    """
    messages, bases = history.messages, history.bases
    form, owner, results = line.form, line.owner, line.results
    odd = line.mended or line.bare
    sent: list[BaseMessage] = []
    end = len(form) if stop is None else stop
    for i in compress(range(start, end), form[start:end].translate(STANDS)):
        if owner[i] != i:
            continue
        stand_ins: Sequence[BaseMessage] = ()
        if odd and (i in line.mended or i in line.bare):
            head, stand_ins = _reshaped(history, line, i)
            sent.append(head)
        elif form[i]:
            sent.append(_shorter(history, line, i))
        else:
            sent.append(bases.get(i) or messages[i] if bases else messages[i])
        if i in results:
            found = results[i]
            if len(found) == 1 and found[0] == i + 1 and not form[i + 1]:
                sent.append(messages[i + 1])  # the commonest case, without the detour
            else:
                sent.extend(_results(history, line, i))
            sent += stand_ins
    return sent


def _reshaped(
    history: History, line: Timeline, i: int
) -> tuple[BaseMessage, list[BaseMessage]]:
    return history.reshaped(
        i,
        results=line.results.get(i, ()),
        mended=i in line.mended,
        bare=i in line.bare,
    )


def _shorter(history: History, line: Timeline, i: int) -> BaseMessage:
    room = line.rooms[i] if line.form[i] == CLIPPED else -1
    known = history.rendered.get(i)
    if known is None or known[0] != room:
        made = history.clipped(i, room) if room >= 0 else history.stubbed(i)
        known = history.rendered[i] = (room, made)
    return known[1]


def _results(history: History, line: Timeline, head: int) -> Iterator[BaseMessage]:
    late = late_results(line, head)
    for r in line.results[head]:
        if r == head:
            continue
        message = (
            history.messages[r] if not line.form[r] else _shorter(history, line, r)
        )
        yield moved(message, "moved") if r in late else message


def late_results(line: Timeline, head: int) -> Sequence[int]:
    """Name the results that have to pass another message to stand at their call.

    Args:
        line: The forms of the messages.
        head: Position of the assistant message.

    Returns:
        The first result before which something else is sent, and all after it.
    """
    results, before = line.results[head], head
    for k, r in enumerate(results):
        if any(line.owner[j] >= 0 for j in range(before + 1, r)):
            return results[k:]
        before = r
    return ()


def hoist(messages: list[BaseMessage]) -> list[BaseMessage]:
    """Move later system messages into the leading block.

    Args:
        messages: The messages; the list is not changed.

    Returns:
        The list itself where there is nothing to move.
    """
    first = next((i for i, m in enumerate(messages) if not is_system(m)), None)
    if first is None or not any(map(is_system, messages[first:])):
        return messages
    later = [moved(m, "hoisted") for m in messages[first:] if is_system(m)]
    rest = [m for m in messages[first:] if not is_system(m)]
    return [*messages[:first], *later, *rest]
