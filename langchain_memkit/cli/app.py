"""The application behind `memkit`: its commands, and how a mistake ends."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import langchain_memkit
from langchain_memkit.cli.compare_command import compare_command
from langchain_memkit.cli.console import EXIT_CODES, exit_code_of
from langchain_memkit.cli.memory_commands import memory_app
from langchain_memkit.cli.printable import clean
from langchain_memkit.cli.transfer_commands import export_command, import_command
from langchain_memkit.cli.trim_command import trim_command
from langchain_memkit.exceptions import MemkitError

__all__ = ["app"]


class _Root(TyperGroup):
    """Ends with a message and a code where the package refuses something."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the base's own contract
        """Run the command that was asked for.

        Args:
            ctx: Made by typer.

        Returns:
            What the command returned.

        Raises:
            Exit: The package refused something; the message is on standard error.
        """
        try:
            return super().invoke(ctx)
        except MemkitError as error:
            typer.echo(f"memkit: {clean(str(error))}", err=True)
            raise typer.Exit(exit_code_of(error)) from error


app = typer.Typer(
    cls=_Root,
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("trim", epilog=EXIT_CODES)(trim_command)
app.command("compare", epilog=EXIT_CODES)(compare_command)
memory_app.command("export", epilog=EXIT_CODES)(export_command)
memory_app.command("import", epilog=EXIT_CODES)(import_command)
app.add_typer(memory_app, name="memory")


def _show_version(*, value: bool) -> None:
    if value:
        typer.echo(f"memkit {langchain_memkit.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    """Look into what a history loses to a budget, and into memories that fade."""
