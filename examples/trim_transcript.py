"""Trim transcripts to a budget: what left and why, tokens before and after, validity.

    python examples/trim_transcript.py FILE [--max-tokens N]

FILE is JSON or JSONL in OpenAI's format (Anthropic's and LangChain's do, too). One
conversation gets a row for each message that is not sent as it was, several get one row
each. Without `--max-tokens` each may keep half of its tokens.
"""

import argparse
import logging

from langchain_memkit import ApproximateCounter, EpisodeTrimmer, validate_history
from langchain_memkit.cli.transcripts import Transcript, read_transcripts
from langchain_memkit.cli.wording import excerpt_of
from langchain_memkit.exceptions import MemkitError


def trim(transcript: Transcript, max_tokens: int | None, *, show_rows: bool) -> bool:
    """Trim one conversation, print what that did, and tell whether it is valid."""
    history = list(transcript.messages)
    half = max(1, ApproximateCounter()(history) // 2)
    budget = half if max_tokens is None else max_tokens
    trimmer = EpisodeTrimmer(budget, on_overflow="keep")
    faults = validate_history(trimmer.invoke(history))
    report = trimmer.explain(history)
    changed = [row for row in report.rows if row.action != "kept"]
    tokens = f"{report.tokens_before:>7,} → {report.tokens_after:>6,} of {budget:>6,}"
    fits = "fits" if report.within_budget else "over budget"
    state = f"{'not valid' if faults else 'valid'}, {fits}"
    print(f"{transcript.name!a:.60} {tokens} tokens, {len(changed)} changed, {state}")
    for row in changed if show_rows else ():
        start = f"  #{row.index:<4}{row.kind:16}{row.action:9}{row.tokens_before:>7,}"
        text = excerpt_of(history[row.index], max_characters=40)
        print(f"{start} → {row.tokens_after:>5,}  {row.reason}: {text}")
    return not faults


def main() -> None:
    """Read the file and trim what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--max-tokens", type=int)
    given = parser.parse_args()
    logging.getLogger("langchain_memkit").setLevel(logging.ERROR)  # the rows tell it
    try:
        found = read_transcripts(given.file)
        rows = len(found) == 1
        valid = [trim(one, given.max_tokens, show_rows=rows) for one in found]
    except MemkitError as error:
        parser.error(str(error))
    print(f"{len(valid)} conversations: {sum(valid)} valid")


if __name__ == "__main__":
    main()
