"""A plot of one conversation as SVG: prompt tokens a call, and what left when."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_memkit.cli.compare import Run
from langchain_memkit.cli.printable import escape
from langchain_memkit.cli.wording import describe_departures

__all__ = ["draw_plot"]

_WIDTH, _LEFT, _RIGHT, _TOP, _HEIGHT = 960, 132, 16, 14, 230
_LANE, _GAP = 24, 46
_CLEAR = 0.6  # of a stride lie at least between the first two marks of calls
_STEPS = (1, 2, 2.5, 5, 10)


def draw_plot(runs: Sequence[Run], *, colors: Sequence[int]) -> str:
    """Draw the runs of one conversation.

    Args:
        runs: One run a method, all of one conversation.
        colors: For each run, the number of its color class.

    Returns:
        An `<svg>` that refers to nothing outside itself; its colors are the CSS
        classes `c0`, `c1` and so on.
    """
    most = max((call.tokens for run in runs for call in run.calls), default=0)
    top = max(most, runs[0].budget_tokens, 1)
    lanes = [(run, color) for run, color in zip(runs, colors, strict=True) if color]
    height = _TOP + _HEIGHT + _GAP + _LANE * len(lanes)
    name = escape(f"Prompt tokens a call: {runs[0].transcript.name}")
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{name}">',
        *_axes(top, len(runs[0].calls)),
        *(_line(run, color, top) for run, color in zip(runs, colors, strict=True)),
        *_budget_line(runs[0].budget_tokens, top),
    ]
    for number, (run, color) in enumerate(lanes):
        parts += _lane(run, color, _TOP + _HEIGHT + _GAP + _LANE * number)
    return "".join([*parts, "</svg>"])


def _x(place: float, calls: int) -> float:
    return _LEFT + (place + 0.5) * (_WIDTH - _LEFT - _RIGHT) / max(1, calls)


def _y(tokens: float, top: int) -> float:
    return _TOP + _HEIGHT * (1 - tokens / (top * 1.04))


def _step(most: float, ticks: int) -> float:
    raw = max(1.0, most / ticks)
    magnitude = 10.0 ** (len(str(int(raw))) - 1)
    return next(s * magnitude for s in _STEPS if s * magnitude >= raw)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'


def _axes(top: int, calls: int) -> list[str]:
    step, parts, bottom = _step(top, 4), [], _TOP + _HEIGHT
    for number in range(int(top / step) + 1):
        y = _y(number * step, top)
        parts.append(
            f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
            + _text(_LEFT - 8, y + 4, f"{int(number * step):,}", "end")
        )
    stride = max(1, int(_step(calls, 10)))
    parts += [
        _text(_x(place, calls), bottom + 18, f"{place + 1}", "mid")
        for place in range(calls)
        if place == 0 or ((place + 1) % stride == 0 and place > stride * _CLEAR)
    ]
    parts.append(_text(_LEFT - 8, bottom + 18, "call", "end"))
    return parts


def _budget_line(budget_tokens: int, top: int) -> list[str]:
    y = _y(budget_tokens, top)
    return [
        f'<path class="budget" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>',
        _text(_LEFT + 6, y - 5, f"budget {budget_tokens:,}", "note"),
    ]


def _line(run: Run, color: int, top: int) -> str:
    spots = [
        (_x(place, len(run.calls)), _y(call.tokens, top))
        for place, call in enumerate(run.calls)
    ]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
    marks = "".join(
        f'<circle class="c{color}{"" if run.calls[place].is_usable else " bad"}" '
        f'cx="{x:.1f}" cy="{y:.1f}" r="2.6">'
        f"<title>{escape(_tip(run, place))}</title></circle>"
        for place, (x, y) in enumerate(spots)
    )
    return f'<path class="line c{color}" d="M{path}"/>{marks}' if spots else ""


def _tip(run: Run, place: int) -> str:
    call = run.calls[place]
    share = call.cached_tokens / max(1, call.tokens)
    return (
        f"{run.method}, call {place + 1}: {call.tokens:,} tokens, {share:.0%} cached"
        f"{'' if call.is_usable else ', not usable'}"
    )


def _lane(run: Run, color: int, y: float) -> list[str]:
    calls = len(run.calls)
    parts = [
        _text(_LEFT - 8, y + 4, run.method, "end"),
        f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>',
    ]
    for place, call in enumerate(run.calls):
        number = len(call.gone) + len(call.cut)
        if number:
            radius = min(3.0 + number**0.5, _LANE / 2 - 1)
            text = describe_departures(call, run.transcript.messages)
            parts.append(
                f'<circle class="c{color} left" cx="{_x(place, calls):.1f}" '
                f'cy="{y:.1f}" r="{radius:.1f}">'
                f"<title>call {place + 1}: {escape(text)}</title></circle>"
            )
    return parts
