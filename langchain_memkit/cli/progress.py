"""A progress bar, for whoever waits in front of a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from langchain_memkit.cli.console import make_console

__all__ = ["progress"]


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error, where that is a terminal.

    Args:
        label: What is counted.

    Yields:
        What to call with how many are done, and of how many.
    """
    console = make_console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None  # noqa: ARG005 - nobody looks
        return
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
