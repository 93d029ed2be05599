"""Measure time and memory of the trimmer side by side with `trim_messages`.

    python benchmarks/trimming.py [--repeats 5] [FILES…]

FILES are `*.jsonl.gz`, one conversation a line with `messages` in OpenAI's format;
without them conversations are made from templates. They are joined to histories of
1,000, 10,000 and 100,000 messages and trimmed to half of their tokens. "Cold" is the
first call, "warm" the next one with a turn appended. Memory is what `tracemalloc` finds
after the first call beyond the messages: the trimmer's own, and the stubs it sends.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shlex
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
    trim_messages,
)
from langchain_core.messages.utils import count_tokens_approximately

from langchain_memkit import EpisodeTrimmer

SIZES = (1_000, 10_000, 100_000)
TURN = (AIMessage("I look that up now."), HumanMessage("Thank you, go on."))
WORDS = [
    "tide",
    "harbour",
    "ferry",
    "pilot",
    "buoy",
    "wind",
    "noon",
    "crate",
    "depot",
    "ladder",
    "rope",
    "sail",
]


def make_conversations(seed: int = 7) -> list[list[BaseMessage]]:
    """Make conversations of an agent from templates.

    Args:
        seed: Of the random numbers.

    Returns:
        A hundred conversations.
    """
    draw = random.Random(seed)

    def text(words: int) -> str:
        return " ".join(draw.choices(WORDS, k=words))

    found: list[list[BaseMessage]] = []
    for k in range(100):
        raw: list[dict[str, object]] = []
        for turn in range(draw.randint(2, 6)):
            raw.append({"role": "user", "content": text(25)})
            for step in range(draw.randint(0, 3)):
                name = f"call_{k}_{turn}_{step}"
                function = {"name": "look_up", "arguments": f'{{"q": "{text(3)}"}}'}
                call = {"id": name, "type": "function", "function": function}
                raw.append({"role": "assistant", "content": "", "tool_calls": [call]})
                raw.append({"role": "tool", "tool_call_id": name, "content": text(160)})
            raw.append({"role": "assistant", "content": text(40)})
        found.append(convert_to_messages(raw))
    return found


def read_conversations(files: Sequence[Path]) -> list[list[BaseMessage]]:
    """Read conversations.

    Args:
        files: Where they are.

    Returns:
        Those with more than one turn of the user.
    """
    found = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            found += [convert_to_messages(json.loads(x)["messages"]) for x in lines]
    return [c for c in found if sum(isinstance(m, HumanMessage) for m in c) > 1]


def join(talks: Sequence[Sequence[BaseMessage]], size: int) -> list[BaseMessage]:
    """Join conversations to one history that ends with an assistant's message.

    Args:
        talks: What is joined, over and over.
        size: How many messages.

    Returns:
        The history, every message an object of its own.
    """
    pool = [m for talk in talks for m in talk if not isinstance(m, SystemMessage)]
    history: list[BaseMessage] = [SystemMessage("Help at the harbour. " * 60)]
    while len(history) < size:
        history += [m.model_copy() for m in pool[: size - len(history)]]
    last = max(i for i, m in enumerate(history) if isinstance(m, HumanMessage))
    return history[:last]


def seconds(run: Callable[[], object]) -> float:
    """Time one run.

    Args:
        run: What is timed.

    Returns:
        Seconds.
    """
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def time_all(history: list[BaseMessage], budget: int, repeats: int) -> list[float]:
    """Time `trim_messages` and the trimmer, cold and warm.

    Args:
        history: What is trimmed.
        budget: Tokens it may take.
        repeats: How often; the best counts.

    Returns:
        Seconds of the three.
    """
    theirs, cold, warm = [], [], []
    for _ in range(repeats):
        fresh = [message.model_copy() for message in history]
        longer = [*fresh, *(message.model_copy() for message in TURN)]
        trimmer = EpisodeTrimmer(budget, on_overflow="keep")
        recipe = partial(
            trim_messages,
            longer,
            max_tokens=budget,
            token_counter=count_tokens_approximately,
            strategy="last",
            include_system=True,
            start_on="human",
        )
        theirs.append(seconds(recipe))
        cold.append(seconds(partial(trimmer.invoke, fresh)))
        warm.append(seconds(partial(trimmer.invoke, longer)))
    return [min(theirs), min(cold), min(warm)]


def measure_memory(history: list[BaseMessage], budget: int) -> tuple[float, float]:
    """Find what a call leaves allocated beyond the messages.

    Args:
        history: What is trimmed.
        budget: Tokens it may take.

    Returns:
        Megabytes of the trimmer's own memory, and of the stubs that it sends.
    """
    trimmer = EpisodeTrimmer(budget, on_overflow="keep")
    tracemalloc.start()
    sent = trimmer.invoke(history)
    snapshot = tracemalloc.take_snapshot()
    tracemalloc.stop()
    assert sent
    makers = tracemalloc.Filter(inclusive=True, filename_pattern="*_shapes.py")
    stubs = snapshot.filter_traces([makers]).statistics("filename")
    everything = snapshot.statistics("filename")
    made = sum(entry.size for entry in stubs)
    return (sum(entry.size for entry in everything) - made) / 1e6, made / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    conversations = read_conversations(options.files) or make_conversations()
    print("$", shlex.join(["python", *sys.argv]))
    print()
    print(
        "| messages | trim_messages, ms | cold, ms | warm, ms | cold ratio | "
        "warm ratio | memory, MB | stubs sent, MB |"
    )
    print("|" + "---|" * 8)
    cold_of: dict[int, float] = {}
    for size in SIZES:
        history = join(conversations, size)
        budget = count_tokens_approximately(history) // 2
        theirs, cold, warm = time_all(history, budget, options.repeats)
        own, stubs = measure_memory(history, budget)
        cold_of[size] = cold
        print(
            f"| {size:,} | {theirs * 1e3:.1f} | {cold * 1e3:.1f} | {warm * 1e3:.2f} | "
            f"{cold / theirs:.3f} | {warm / theirs:.4f} | {own:.1f} | {stubs:.1f} |",
            flush=True,
        )
    growth = cold_of[SIZES[2]] / cold_of[SIZES[1]]
    print(f"\n100,000 messages take {growth:.1f} times as long as 10,000, cold.")


if __name__ == "__main__":
    main()
