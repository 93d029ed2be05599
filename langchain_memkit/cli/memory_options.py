"""The arguments and options that several memory commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "MinImportance",
    "Namespace",
    "Root",
    "Store",
    "TtlDays",
    "WeakDays",
]

Store = Annotated[
    str,
    typer.Argument(
        help="A folder, or an address: sqlite:///memories.db, postgresql://host/name. "
        "Keep passwords out of it: PGPASSWORD and .pgpass work.",
    ),
]
Namespace = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="LABEL",
        help="A compartment; once for each label, as in -n user -n 42.",
    ),
]
Root = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The namespace that SQLMemoryStore was made with."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TtlDays = Annotated[float, typer.Option(help="Idle days after which any memory fades.")]
MinImportance = Annotated[
    float, typer.Option(help="Below this importance a memory is weak.")
]
WeakDays = Annotated[
    float | None,
    typer.Option(help="Idle days after which a weak memory fades; else --ttl-days."),
]
