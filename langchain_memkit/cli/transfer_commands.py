"""`memkit memory export` and `import`: memories out of a store and in as JSONL."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from langchain_memkit.cli.console import print_lines
from langchain_memkit.cli.memory_options import Namespace, Root, Store
from langchain_memkit.cli.progress import progress
from langchain_memkit.cli.stores import opened_memory
from langchain_memkit.exceptions import InvalidInputError
from langchain_memkit.memory import export_memories, import_memories

__all__ = ["export_command", "import_command"]


def export_command(
    store: Store,
    file: Annotated[str, typer.Argument(help="The file of JSON lines to write.")],
    *,
    namespace: Namespace = None,
    root: Root = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
) -> None:
    """Write all memories, compartments below included, with their texts and times."""
    if os.path.lexists(file) and not force:
        rule = "must not be there yet, or be replaced with --force"
        raise InvalidInputError("FILE", rule, file)
    with (
        opened_memory(store, namespace=namespace, root=root) as memory,
        progress("memories") as tell,
    ):
        number = export_memories(memory, file, on_progress=tell)
    print_lines(f"{number:,} exported to {file}")


def import_command(
    store: Store,
    file: Annotated[str, typer.Argument(help="What memkit memory export wrote.")],
    *,
    namespace: Namespace = None,
    root: Root = None,
) -> None:
    """Read what export wrote; again changes nothing. A missing store is made."""
    if not os.path.isfile(file):  # noqa: PTH113 - does not raise for a long name
        raise InvalidInputError("FILE", "must be a file that exists", file)
    with (
        opened_memory(store, namespace=namespace, root=root, create=True) as memory,
        progress("memories") as tell,
    ):
        number = import_memories(memory, file, on_progress=tell)
    print_lines(f"{number:,} imported from {file}")
