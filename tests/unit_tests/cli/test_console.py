"""What commands share keeps foreign text harmless and fits where it is printed."""

import io

import pytest
from rich.console import Console

from langchain_memkit.cli import console
from langchain_memkit.cli.console import (
    EXIT_CODES,
    CounterName,
    exit_code_of,
    make_console,
    make_counter,
    make_table,
)
from langchain_memkit.exceptions import (
    BudgetExceededError,
    InvalidInputError,
    MemoryNotFoundError,
    MissingExtraError,
    StoreError,
)


def printed(table):
    """Print a table as into a terminal."""
    file = io.StringIO()
    Console(file=file, width=60, force_terminal=True).print(table)
    return file.getvalue()


def test_cells_are_text_not_markup():
    """What looks like markup, an emoji code or an escape is shown."""
    text = printed(make_table(["[b]name"], [["[red]x[/red] :smile: \x1b[2J"]]))
    assert "[b]name" in text
    assert "[red]x[/red] :smile: \N{REPLACEMENT CHARACTER}[2J" in text


def test_a_file_gets_wide_lines_and_a_terminal_its_own(monkeypatch):
    """Tables in a log are not folded to 80 columns."""
    assert make_console().width == 132

    class Narrow(Console):
        def __init__(self, **options):
            super().__init__(**options, force_terminal=True, width=50)

    monkeypatch.setattr(console, "Console", Narrow)
    assert make_console(stderr=True).width == 50


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreError("x", "y"), 1),
        (MissingExtraError("cli", "typer"), 1),
        (InvalidInputError("x", "y", 1), 2),
        (BudgetExceededError(1, 2, 1), 3),
        (MemoryNotFoundError("x"), 4),
    ],
)
def test_every_error_has_a_documented_code(error, code):
    """The help tells what a script can tell apart."""
    assert exit_code_of(error) == code
    assert f" {code} " in EXIT_CODES


def test_counters_are_made_by_name():
    """Aware of scripts or not."""
    plain = make_counter(CounterName.APPROXIMATE)
    aware = make_counter(CounterName.SCRIPT_AWARE)
    assert plain.count_text("風が吹く") < aware.count_text("風が吹く")
