"""The `memkit` command: look into trimming and memories without writing code.

The modules `transcripts`, `compare`, `methods` and `page` need no extra and can be used
from scripts; the command itself needs the extra `cli`.
"""

from __future__ import annotations

import io
import logging
import sys

from langchain_memkit.exceptions import MissingExtraError

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process.

    Raises:
        SystemExit: Always, with the exit code that `memkit --help` documents.
    """
    try:
        from langchain_memkit.cli.app import app  # noqa: PLC0415 - needs the extra
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in {"typer", "rich"}:
            raise
        sys.exit(f"memkit: {MissingExtraError('cli', package)}")
    # a terminal that cannot show a sign gets a question mark, not a traceback
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # what a method logs while it is measured would tear the tables apart
    logging.getLogger("langchain_memkit").addHandler(logging.NullHandler())
    app(prog_name="memkit")
