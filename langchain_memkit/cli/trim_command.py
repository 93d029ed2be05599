"""`memkit trim`: what a budget takes from a history, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from langchain_memkit.cli.compare import parse_budget
from langchain_memkit.cli.console import (
    CounterName,
    make_console,
    make_counter,
    make_table,
    print_json,
    print_lines,
)
from langchain_memkit.cli.printable import clean, one_line
from langchain_memkit.cli.transcripts import Transcript, read_transcripts
from langchain_memkit.cli.trimming import Departure, Trimming, trim_transcript
from langchain_memkit.exceptions import InvalidInputError

__all__ = ["trim_command"]

_OVER_BUDGET = 3
_SUMMARY = (
    "conversation",
    "budget",
    "messages",
    "tokens",
    "left",
    "shortened",
    "repaired",
    "state",
)
_DEPARTURES = ("message", "kind", "what", "tokens", "why", "text")


def trim_command(  # noqa: PLR0913 - the options of a command
    file: Annotated[
        str,
        typer.Argument(help="A transcript: JSON or JSONL, .gz too; - is the input."),
    ],
    *,
    max_tokens: Annotated[
        str,
        typer.Option(
            help="What may be sent: tokens such as 8000, or a share such as 25%: of "
            "the tokens beyond the system messages, on top of these."
        ),
    ] = "50%",
    what_if: Annotated[
        list[str] | None,
        typer.Option(help="Also tell what this budget would come to; repeatable."),
    ] = None,
    conversation: Annotated[
        str | None,
        typer.Option(help="One of several conversations: its number, or its name."),
    ] = None,
    keep_last_steps: Annotated[
        int, typer.Option(help="Newest steps that leave after all others.")
    ] = 5,
    counter: Annotated[
        CounterName, typer.Option(help="How tokens are counted.")
    ] = CounterName.APPROXIMATE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Trim a transcript once and tell what left, why, and what that came to.

    A file of several conversations gets a line for each. The file is not changed, and
    no model is called. Exit code 3: what has to stay does not fit the budget.
    """
    budgets = [parse_budget(text) for text in (max_tokens, *(what_if or ()))]
    counting = make_counter(counter)
    chosen = _choose(read_transcripts(file), conversation)
    # one list a conversation: the budget that was asked for, then each what-if
    trimmings = [
        [
            trim_transcript(
                one, budget, counter=counting, keep_last_steps=keep_last_steps
            )
            for budget in budgets
        ]
        for one in chosen
    ]
    if as_json:
        print_json([_as_json(group) for group in trimmings])
    else:
        _print(trimmings)
    over = [group[0] for group in trimmings if group[0].overflow]
    for trimming in over:
        said = clean(f"memkit: {one_line(trimming.name)}: {trimming.overflow}")
        typer.echo(said, err=True)
    if over:
        raise typer.Exit(_OVER_BUDGET)


def _choose(
    transcripts: Sequence[Transcript], conversation: str | None
) -> Sequence[Transcript]:
    if conversation is None:
        return transcripts
    names = [one.name for one in transcripts]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    for keys in (names, numbers, [name.partition("#")[2] for name in names]):
        if conversation in keys:
            return [transcripts[keys.index(conversation)]]
    rule = f"must be the name or number of one of {len(names):,} conversations"
    raise InvalidInputError("conversation", rule, conversation)


def _as_json(group: Sequence[Trimming]) -> dict[str, object]:
    first, *others = (trimming.model_dump(mode="json") for trimming in group)
    for other in others:
        del other["departures"]
    return {**first, **({"what_if": others} if others else {})}


def _print(trimmings: Sequence[Sequence[Trimming]]) -> None:
    console = make_console()
    rows = [_summary(trimming) for group in trimmings for trimming in group]
    console.print(make_table(_SUMMARY, rows, numbers=range(1, 7)))
    if len(trimmings) > 1:
        valid = sum(not group[0].faults for group in trimmings)
        fitting = sum(not group[0].overflow for group in trimmings)
        counts = f"{len(trimmings):,} conversations: {valid:,} valid, {fitting:,} fit"
        print_lines("", f"{counts}; --conversation N tells what left one of them")
        return
    ((first, *_),) = trimmings
    print_lines("")
    if first.departures:
        departures = [_departure(one) for one in first.departures]
        console.print(make_table(_DEPARTURES, departures, numbers=(0, 3)))
    else:
        print_lines("Nothing left.")


def _summary(trimming: Trimming) -> list[str]:
    left = sum(one.action == "evicted" for one in trimming.departures)
    shortened = sum(one.is_shortened for one in trimming.departures)
    state = "; ".join(trimming.faults) or "valid"
    return [
        one_line(trimming.name, max_characters=48),
        f"{trimming.max_tokens:,}",
        f"{trimming.messages_before:,} → {trimming.messages_after:,}",
        f"{trimming.tokens_before:,} → {trimming.tokens_after:,}",
        f"{left:,}",
        f"{shortened:,}",
        f"{len(trimming.departures) - left - shortened:,}",
        f"{state}, over budget" if trimming.overflow else state,
    ]


def _departure(one: Departure) -> list[str]:
    tokens = f"{one.tokens_before:,} → {one.tokens_after:,}"
    text = one_line(one.text, max_characters=44)
    return [f"#{one.index}", one.kind, one.action, tokens, one.why, text]
