"""Trim transcripts to a budget: what left and why, tokens before and after, validity.

    python examples/trim_transcript.py FILE [--max-tokens N]

FILE is JSON or JSONL in OpenAI's format (Anthropic's and LangChain's do, too). One
conversation gets a row for each message that left or was cut, several get one row each.
Without `--max-tokens` each may keep half of its tokens.
"""

import argparse
import logging

from langchain_memkit import ApproximateCounter
from langchain_memkit.cli.compare import Budget
from langchain_memkit.cli.printable import one_line
from langchain_memkit.cli.transcripts import read_transcripts
from langchain_memkit.cli.trimming import Trimming, trim_transcript
from langchain_memkit.exceptions import MemkitError


def main() -> None:
    """Read the file, trim what is in it, and print what that did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--max-tokens", type=int)
    given = parser.parse_args()
    logging.getLogger("langchain_memkit").setLevel(logging.ERROR)  # the rows tell it
    counter = ApproximateCounter()
    trimmings = []
    try:
        for transcript in read_transcripts(given.file):
            half = max(1, counter(transcript.messages) // 2)
            budget = Budget("", half if given.max_tokens is None else given.max_tokens)
            trimmings.append(trim_transcript(transcript, budget, counter=counter))
    except MemkitError as error:
        parser.error(str(error))
    for trimming in trimmings:
        print(summary(trimming))
    if len(trimmings) == 1:
        for gone in trimmings[0].departures:
            what = f"{gone.kind} {'cut' if gone.shortened else 'left'}"
            start = f"  #{gone.message:<4}{what:23}{gone.tokens:>7,}  {gone.why}"
            print(f"{start:78}{gone.text[:40]}")
    valid = sum(not trimming.faults for trimming in trimmings)
    fitting = sum(not trimming.overflow for trimming in trimmings)
    print(f"{len(trimmings)} conversations: {valid} valid, {fitting} within budget")


def summary(trimming: Trimming) -> str:
    """Tell on one line what trimming came to."""
    name = one_line(trimming.name, max_characters=40)
    tokens = f"{trimming.tokens_before:>7,} → {trimming.tokens_after:>6,} tokens"
    state = "; ".join(trimming.faults) or "valid"
    over = ", over budget" if trimming.overflow else ""
    return f"{name:42}{tokens}, {len(trimming.departures):>3} changed, {state}{over}"


if __name__ == "__main__":
    main()
