"""A comparison as one page of HTML that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from langchain_core.messages import BaseMessage

from langchain_memkit.cli.compare import Row, Run
from langchain_memkit.cli.plot import draw_plot
from langchain_memkit.cli.printable import escape, one_line
from langchain_memkit.cli.wording import describe_departures, excerpt_of, kind_of

__all__ = ["COLUMNS", "render_page", "show_cells"]

COLUMNS = {
    "method": "how the history is kept in budget",
    "calls": "model calls replayed, as the conversation grows",
    "valid": "share of prompts that a provider takes: each call answered, no orphan",
    "usable": "valid, within the budget, with the system messages, a user message and "
    "the last message",
    "in budget": "share of prompts that fit",
    "tokens": "sent, all calls together",
    "cached": "share of them that repeats the beginning of the previous prompt",
    "cost": "tokens with the repeated ones at the price of cached ones",
    "fresh": "newest five tool results that stand word for word, where not all fits",
}
_MOST_PLOTS = 8
_MOST_DEPARTURES = 300
_READING = (
    "Plots: the lines are prompt tokens a call, a hollow mark stands for a prompt that "
    "is not usable, and the dots below for what left the prompt or was shortened, "
    "larger for more messages."
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def show_cells(row: Row) -> list[str]:
    """Write a row's figures for people.

    Args:
        row: Of `summarize`.

    Returns:
        A text for each of `COLUMNS`.
    """
    return [
        row.method,
        f"{row.calls:,}",
        f"{row.valid:.1%}",
        f"{row.usable:.1%}",
        f"{row.met:.1%}",
        f"{row.prompt_tokens:,}",
        f"{row.cached:.1%}",
        f"{row.cost_tokens:,}",
        "none" if row.fresh is None else f"{row.fresh:.0%}",
    ]


def render_page(
    rows: Sequence[Row],
    *,
    runs: Sequence[Run],
    about: Sequence[tuple[str, str]],
    notes: Sequence[str] = (),
) -> str:
    """Write the page.

    Args:
        rows: One a method; the last one is this package's.
        runs: Every conversation with every method, conversation by conversation.
        about: Names and values that say what was measured, shown at the top.
        notes: What was left out, and why.

    Returns:
        A whole HTML document: no script, no resource from elsewhere, every text of a
        transcript escaped.
    """
    width = len(rows)
    groups = [runs[start : start + width] for start in range(0, len(runs), width)]
    longest = sorted(groups, key=_size, reverse=True)[:_MOST_PLOTS]
    shown = [group for group in groups if any(group is one for one in longest)]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>memkit compare</title><style>{style}</style></head><body><main>",
            "<h1>What each way of keeping a history in budget sends</h1>",
            f'<p class="soft">{_headline(groups)}</p>',
            _summary(rows),
            *(f"<p>{escape(note)}</p>" for note in notes),
            _definitions(COLUMNS.items()),
            _conversations(groups) if len(groups) > 1 else "",
            f'<p class="soft">{_READING}</p>',
            *(_section(group) for group in shown),
            f"<footer>{_definitions(about)}</footer></main></body></html>\n",
        ]
    )


def _size(group: Sequence[Run]) -> int:
    return max((call.tokens for run in group for call in run.calls), default=0)


def _headline(groups: Sequence[Sequence[Run]]) -> str:
    number, calls = len(groups), sum(len(group[0].calls) for group in groups)
    more = f", the {_MOST_PLOTS} longest drawn below" if number > _MOST_PLOTS else ""
    return f"{_plural(number, 'conversation')}{more} · {_plural(calls, 'model call')}"


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _table(head: Iterable[str], body: Iterable[str]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    rows = f"<thead><tr>{cells}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<div class="scroll"><table>{rows}</table></div>'


def _summary(rows: Sequence[Row]) -> str:
    return _table(COLUMNS, [_summary_row(rows, place) for place in range(len(rows))])


def _summary_row(rows: Sequence[Row], place: int) -> str:
    row, color = rows[place], _color(place, len(rows))
    name, *cells = show_cells(row)
    parts = [f'<td><span class="key k{color}"></span>{escape(name)}</td>']
    for cell in cells:
        is_share = cell.endswith("%")
        bar = f' class="share" style="--part:{cell}"' if is_share else ""
        parts.append(f"<td{bar}>{escape(cell)}</td>")
    kind = ' class="ours"' if place == len(rows) - 1 else ""
    return f"<tr{kind}>{''.join(parts)}</tr>"


def _color(place: int, total: int) -> int:
    # this package keeps its color where a method is left out
    return 3 if place == total - 1 else place


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    items = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs)
    return f"<dl>{''.join(items)}</dl>"


def _conversations(groups: Sequence[Sequence[Run]]) -> str:
    names = [run.method for run in groups[0]]
    head = ["conversation", "messages", "budget"]
    head += [f"{name}: {what}" for name in names for what in ("usable", "tokens")]
    body = [f"<tr>{''.join(_conversation_cells(group))}</tr>" for group in groups]
    summary = f"<summary>All {_plural(len(groups), 'conversation')}</summary>"
    return f"<details>{summary}{_table(head, body)}</details>"


def _conversation_cells(group: Sequence[Run]) -> Iterable[str]:
    transcript = group[0].transcript
    yield f'<td class="text">{escape(one_line(transcript.name))}</td>'
    yield f"<td>{len(transcript.messages):,}</td><td>{group[0].budget_tokens:,}</td>"
    for run in group:
        usable = sum(call.is_usable for call in run.calls) / max(1, len(run.calls))
        tokens = sum(call.tokens for call in run.calls)
        yield f"<td>{usable:.0%}</td><td>{tokens:,}</td>"


def _section(group: Sequence[Run]) -> str:
    transcript = group[0].transcript
    colors = [_color(place, len(group)) for place in range(len(group))]
    legend = "".join(
        f'<li><span class="key k{color}"></span>{escape(run.method)}</li>'
        for run, color in zip(group, colors, strict=True)
    )
    counts = f"{_plural(len(transcript.messages), 'message')}, "
    counts += f"{_plural(len(group[0].calls), 'call')}"
    return (
        f"<section><h2>{escape(one_line(transcript.name))}</h2>"
        f'<p class="soft">{counts}</p>'
        f'<ul class="legend">{legend}</ul>{draw_plot(group, colors=colors)}'
        f"{''.join(_departures(run) for run in group[1:])}</section>"
    )


def _departures(run: Run) -> str:
    rows, messages = [], run.transcript.messages
    calls = [(n, c) for n, c in enumerate(run.calls, 1) if c.gone or c.cut]
    for number, call in calls:
        what = describe_departures(call, messages)
        rows.append(
            f'<tr><td><b>call {number}</b></td><td></td><td class="text">'
            f"<b>{escape(what)}; {call.tokens:,} tokens sent</b></td></tr>"
        )
        places = sorted({*call.gone, *call.cut})
        rows += [_departure(messages[i], i, i in call.cut) for i in places]
    total = sum(len(call.gone) + len(call.cut) for _, call in calls)
    title = f"{escape(run.method)}: {_plural(total, 'message')} left or shortened, "
    title += f"at {_plural(len(calls), 'call')}"
    if not rows:
        return f"<details><summary>{title}</summary><p>Nothing left.</p></details>"
    more = f"<p>… and {len(rows) - _MOST_DEPARTURES:,} lines more.</p>"
    more = more if len(rows) > _MOST_DEPARTURES else ""
    table = _table(("message", "kind", "what left"), rows[:_MOST_DEPARTURES])
    return f"<details><summary>{title}</summary>{table}{more}</details>"


def _departure(message: BaseMessage, place: int, is_cut: bool) -> str:  # noqa: FBT001
    kind = f"{kind_of(message)}{', shortened' if is_cut else ''}"
    text = excerpt_of(message, max_characters=160)
    return (
        f"<tr><td>#{place}</td><td>{escape(kind)}</td>"
        f'<td class="text">{escape(text)}</td></tr>'
    )
