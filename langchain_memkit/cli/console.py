"""What all commands share: where they print, how they fail, how they count."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from langchain_memkit.cli.printable import clean, one_line
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.counters.tiktoken import TiktokenCounter
from langchain_memkit.exceptions import (
    BudgetExceededError,
    InvalidInputError,
    MemkitError,
    MemoryNotFoundError,
)
from langchain_memkit.protocols import TokenCounter

__all__ = [
    "EXIT_CODES",
    "CounterName",
    "exit_code_of",
    "make_console",
    "make_counter",
    "make_table",
    "print_json",
    "print_lines",
]

EXIT_CODES = (
    "Exit codes: 0 done; 1 a store or an extra failed or is missing; 2 wrong use, or a "
    "file that cannot be read; 3 what must stay does not fit the budget; 4 no such "
    "memory; 130 interrupted."
)
_CODES: tuple[tuple[type[MemkitError], int], ...] = (
    (BudgetExceededError, 3),
    (MemoryNotFoundError, 4),
    (InvalidInputError, 2),
)
_WIDTH_OF_A_FILE = 132


class CounterName(StrEnum):
    """The counters that a command can be told to use."""

    APPROXIMATE = "approximate"
    SCRIPT_AWARE = "script-aware"
    TIKTOKEN = "tiktoken"


def make_counter(name: CounterName) -> TokenCounter:
    """Make a counter, and see that it works.

    Args:
        name: Which one.

    Returns:
        The counter.

    Raises:
        CounterError: Its table cannot be loaded.
        MissingExtraError: It is not installed.
    """
    counter: TokenCounter = (
        TiktokenCounter()
        if name is CounterName.TIKTOKEN
        else ApproximateCounter(script_aware=name is CounterName.SCRIPT_AWARE)
    )
    counter.count_text("Kites need wind.")
    return counter


def exit_code_of(error: MemkitError) -> int:
    """Tell with which code the process ends.

    Args:
        error: What went wrong.

    Returns:
        One of those that `EXIT_CODES` documents.
    """
    return next((code for kind, code in _CODES if isinstance(error, kind)), 1)


def make_console(*, stderr: bool = False) -> Console:
    """Make a console that takes texts as they are.

    Args:
        stderr: Whether it writes to the standard error.

    Returns:
        The console; into a file or a pipe it writes lines of a fixed width.
    """
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_A_FILE
    return console


def make_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()
) -> Table:
    """Lay out cells as a table.

    Args:
        head: Names of the columns.
        rows: Cells of foreign text; each becomes one clean line.
        numbers: Places of the columns that stand to the right.

    Returns:
        The table.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(head):
        is_number = place in numbers
        table.add_column(
            Text(name),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(one_line(cell, max_characters=120)) for cell in row))
    return table


def print_lines(*lines: str) -> None:
    """Print lines of foreign text, cleaned.

    Args:
        *lines: The lines.
    """
    for line in lines:
        typer.echo(clean(line))


def print_json(value: object) -> None:
    """Print a value as JSON, in ASCII, so that no text can move the cursor.

    Args:
        value: What JSON can hold.
    """
    json.dump(value, sys.stdout, indent=1)
    typer.echo()
