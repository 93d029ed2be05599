"""`memkit compare`: this package beside what LangChain offers, on own transcripts."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from langchain_memkit.cli.compare import (
    Budget,
    Method,
    Row,
    Run,
    compare,
    count_calls,
    parse_budget,
    summarize,
)
from langchain_memkit.cli.console import (
    CounterName,
    make_console,
    make_counter,
    make_table,
    print_json,
    print_lines,
)
from langchain_memkit.cli.methods import available_methods
from langchain_memkit.cli.page import COLUMNS, render_page, show_cells
from langchain_memkit.cli.progress import progress
from langchain_memkit.cli.transcripts import Transcript, read_transcripts
from langchain_memkit.core.models import check_share
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.protocols import TokenCounter
from langchain_memkit.trimmer import validate_history

__all__ = ["compare_command"]

_PACKAGES = ("langchain-memkit", "langchain-core", "langchain")


def compare_command(  # noqa: PLR0913 - the options of a command
    files: Annotated[
        list[str],
        typer.Argument(help="Transcripts: JSON or JSONL, .gz too; - is the input."),
    ],
    *,
    budget: Annotated[
        str,
        typer.Option(
            help="What a prompt may come to: tokens such as 8000, or a share such as "
            "25%: of each conversation's tokens beyond its system messages, on top "
            "of these."
        ),
    ],
    counter: Annotated[
        CounterName, typer.Option(help="How tokens are counted.")
    ] = CounterName.APPROXIMATE,
    cached_price: Annotated[
        float,
        typer.Option(help="Price of a cached token beside that of a new one, 0 to 1."),
    ] = 0.1,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write one self-contained page with plots here."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON.")
    ] = False,
) -> None:
    """Replay every model call of transcripts with this package and with others.

    Each call of each conversation is made as the conversation grows, by sending
    everything, by the documented recipe of trim_messages, by LangChain's clearing of
    tool results (where langchain is installed), and by this package with its defaults.
    No model is called.
    """
    chosen = parse_budget(budget)
    check_share("cached_price", cached_price)
    _refuse_overwriting(html, files)
    counting = make_counter(counter)
    transcripts = [one for file in files for one in read_transcripts(file)]
    methods, notes = available_methods()
    runs = _measure(transcripts, chosen, methods, counting)
    rows = summarize(runs, cached_price=cached_price)
    about = _about(transcripts, chosen, counter, cached_price, methods)
    if html is not None:
        _write(html, render_page(rows, runs=runs, about=about, notes=notes))
    if as_json:
        figures = [row.model_dump(mode="json") for row in rows]
        print_json({"about": dict(about), "notes": notes, "rows": figures})
        return
    _print(rows, about, notes)
    if html is not None:
        print_lines(f"\nThe page is in {html}.")


def _refuse_overwriting(html: Path | None, files: Sequence[str]) -> None:
    if html is None:
        return
    inputs = [os.path.realpath(file) for file in files if file != "-"]
    if os.path.realpath(html) in inputs:
        raise InvalidInputError("html", "must not be one of the FILES", str(html))
    # os.path does not raise where a name is too long
    folder = html.absolute().parent
    if os.path.isdir(html) or not os.path.isdir(folder):  # noqa: PTH112
        rule = "must be a file in a folder that exists"
        raise InvalidInputError("html", rule, str(html))


def _measure(
    transcripts: Sequence[Transcript],
    budget: Budget,
    methods: Sequence[Method],
    counter: TokenCounter,
) -> list[Run]:
    total, done = count_calls(transcripts, methods), count(1)
    with progress("model calls") as tell:
        return compare(
            transcripts,
            budget=budget,
            methods=methods,
            counter=counter,
            validate=validate_history,
            on_call=lambda: tell(next(done), total),
        )


def _about(
    transcripts: Sequence[Transcript],
    budget: Budget,
    counter: CounterName,
    cached_price: float,
    methods: Sequence[Method],
) -> list[tuple[str, str]]:
    messages = sum(len(one.messages) for one in transcripts)
    share = ": the system messages and that share of the other tokens"
    return [
        ("conversations", f"{len(transcripts):,} with {messages:,} messages"),
        ("budget", budget.text + (share if budget.tokens is None else "")),
        ("counter", counter.value),
        ("cost", f"cached tokens at {cached_price:g} of the price"),
        *((method.name, method.about) for method in methods),
        ("versions", ", ".join([f"Python {platform.python_version()}", *_versions()])),
    ]


def _versions() -> list[str]:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return found


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        rule = f"must be a file that can be written ({error.strerror})"
        raise InvalidInputError("html", rule, str(path)) from error


def _print(
    rows: Sequence[Row], about: Sequence[tuple[str, str]], notes: Sequence[str]
) -> None:
    numbers = range(1, len(COLUMNS))
    console = make_console()
    console.print(make_table(list(COLUMNS), map(show_cells, rows), numbers=numbers))
    print_lines("", *notes)
    console.print(make_table(["column", "meaning"], list(COLUMNS.items())[2:]))
    print_lines("")
    console.print(make_table(["measured", ""], about))
