"""`memkit memory`: look into the memories of a store, and tidy them up."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from langchain_memkit.cli.console import (
    EXIT_CODES,
    make_console,
    make_table,
    print_json,
    print_lines,
)
from langchain_memkit.cli.memory_options import (
    AsJson,
    MinImportance,
    Namespace,
    Root,
    Store,
    TtlDays,
    WeakDays,
)
from langchain_memkit.cli.memory_reports import (
    COLUMNS,
    list_entries,
    measure,
    show_entry,
)
from langchain_memkit.cli.printable import clean, one_line
from langchain_memkit.cli.stores import (
    compartments,
    make_config,
    opened_memory,
    show_namespace,
)
from langchain_memkit.exceptions import MemoryNotFoundError
from langchain_memkit.memory import ConsolidationReport
from langchain_memkit.memory.reports import record_of
from langchain_memkit.stores.names import check_name

__all__ = ["memory_app", "print_consolidation"]

memory_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=EXIT_CODES,
    help="Look into the memories of a store: none of these commands refreshes one.",
)


@memory_app.command("ls", epilog=EXIT_CODES)
def list_command(  # noqa: PLR0913 - the options of a command
    store: Store,
    *,
    namespace: Namespace = None,
    root: Root = None,
    ttl_days: TtlDays = 30,
    min_importance: MinImportance = 0.5,
    weak_days: WeakDays = None,
    as_json: AsJson = False,
) -> None:
    """List the memories and the compartments of a store."""
    config = make_config(
        ttl_days=ttl_days, min_importance=min_importance, weak_days=weak_days
    )
    with opened_memory(store, namespace=namespace, root=root, config=config) as memory:
        entries, below = list_entries(memory), compartments(memory)
    if as_json:
        listed = [entry.model_dump(mode="json") for entry in entries]
        print_json({"memories": listed, "compartments": below})
        return
    rows = map(show_entry, entries)
    if entries:
        make_console().print(make_table(COLUMNS, rows, numbers=(1, 5)))
    number = len(entries)
    print_lines(f"{number:,} {'memory' if number == 1 else 'memories'}")
    for labels in below:
        options = " ".join(f"-n {shlex.quote(one_line(label))}" for label in labels)
        print_lines(f"compartment {one_line(show_namespace(labels))}: {options}")


@memory_app.command("show", epilog=EXIT_CODES)
def show_command(
    store: Store,
    name: Annotated[str, typer.Argument(help="The name of a memory.")],
    *,
    namespace: Namespace = None,
    root: Root = None,
    raw: Annotated[
        bool, typer.Option(help="Print the text alone; into a file, as it is.")
    ] = False,
) -> None:
    """Show a memory and what is known of it, without refreshing it."""
    with opened_memory(store, namespace=namespace, root=root) as memory:
        found = memory.store.read([check_name(name)])
    if not found:
        raise MemoryNotFoundError(name)
    text = found[0].content
    if raw:
        # a terminal obeys control characters, a file only keeps them
        data = (clean(text) if sys.stdout.isatty() else text).encode(errors="replace")
        typer.echo(data, nl=False)
        return
    facts = record_of(found[0]).model_dump(mode="json").items()
    rows = [(field, str(value)) for field, value in facts]
    make_console().print(make_table(("field", "value"), rows))
    print_lines("", text)


@memory_app.command("search", epilog=EXIT_CODES)
def search_command(  # noqa: PLR0913 - the options of a command
    store: Store,
    query: Annotated[str, typer.Argument(help="Words to find.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Most results.")] = 10,
    namespace: Namespace = None,
    root: Root = None,
    ttl_days: TtlDays = 30,
    min_importance: MinImportance = 0.5,
    weak_days: WeakDays = None,
    as_json: AsJson = False,
) -> None:
    """Find live memories by words, best first, without refreshing them."""
    config = make_config(
        ttl_days=ttl_days, min_importance=min_importance, weak_days=weak_days
    )
    with opened_memory(store, namespace=namespace, root=root, config=config) as memory:
        found = memory.search(query, k)
    if as_json:
        print_json([{**d.metadata, "content": d.page_content} for d in found])
        return
    rows = [
        (str(d.id), f"{d.metadata['score']:.2f}", one_line(d.page_content))
        for d in found
    ]
    if rows:
        make_console().print(make_table(("name", "score", "text"), rows, numbers=(1,)))
    else:
        print_lines("Nothing found.")


@memory_app.command("stats", epilog=EXIT_CODES)
def stats_command(  # noqa: PLR0913 - the options of a command
    store: Store,
    *,
    namespace: Namespace = None,
    root: Root = None,
    ttl_days: TtlDays = 30,
    min_importance: MinImportance = 0.5,
    weak_days: WeakDays = None,
    as_json: AsJson = False,
) -> None:
    """Count what a store holds: live, faded, by source, in tokens."""
    config = make_config(
        ttl_days=ttl_days, min_importance=min_importance, weak_days=weak_days
    )
    with opened_memory(store, namespace=namespace, root=root, config=config) as memory:
        stats = measure(memory).model_dump(mode="json")
    if as_json:
        print_json(stats)
        return
    rows = [(name.replace("_", " "), _show(value)) for name, value in stats.items()]
    make_console().print(make_table(("what", "value"), rows))


@memory_app.command("consolidate", epilog=EXIT_CODES)
def consolidate_command(  # noqa: PLR0913 - the options of a command
    store: Store,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be forgotten.")
    ] = False,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="The compartments below, too.")
    ] = False,
    namespace: Namespace = None,
    root: Root = None,
    ttl_days: TtlDays = 30,
    min_importance: MinImportance = 0.5,
    weak_days: WeakDays = None,
    as_json: AsJson = False,
) -> None:
    """Forget for good what has faded under the policy that the options state."""
    config = make_config(
        ttl_days=ttl_days, min_importance=min_importance, weak_days=weak_days
    )
    with opened_memory(store, namespace=namespace, root=root, config=config) as memory:
        places = [(), *(compartments(memory) if recursive else ())]
        scopes = [memory.scoped(labels) if labels else memory for labels in places]
        reports = [scope.consolidate(dry_run=dry_run) for scope in scopes]
    done = list(zip(places, reports, strict=True))
    if as_json:
        print_json(
            [{"namespace": n, **report.model_dump(mode="json")} for n, report in done]
        )
        return
    for labels, report in done:
        print_consolidation(show_namespace((*(namespace or ()), *labels)), report)


def _show(value: object) -> str:
    if isinstance(value, dict):
        pairs = [f"{number:,} {name}" for name, number in value.items()]
        return ", ".join(pairs) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value or "never")


def print_consolidation(place: str, report: ConsolidationReport) -> None:
    """Print what a consolidation did, or would do.

    Args:
        place: The compartment, for people.
        report: What `consolidate` returned.
    """
    verb = "would be forgotten" if report.dry_run else "forgotten"
    print_lines(
        f"{one_line(place)}: {len(report.pruned):,} {verb}, {report.kept:,} kept"
    )
    names = [*report.pruned, *report.failed]
    states = ["" if name in report.pruned else "could not be deleted" for name in names]
    rows = [
        (name, report.reasons[name], state)
        for name, state in zip(names, states, strict=True)
    ]
    if rows:
        make_console().print(make_table(("name", "why", ""), rows))
