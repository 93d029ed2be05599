"""Run every benchmark on one folder of data and write one report, plots included.

    python benchmarks/all.py FOLDER [--out OUT] [--only WORD] [--most QUESTIONS]

FOLDER holds `trajectories/*.jsonl.gz`, conversations in OpenAI's format, and
`retrieval/NAME.docs.jsonl.gz` with `NAME.questions.jsonl.gz`. The report is
`OUT/report.md`; `OUT/compare.html` plots the prompts of the conversations. A step whose
peer is not installed says so in the report; a step that fails ends the run with 1.
"""

from __future__ import annotations

import argparse
import platform
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
PEERS = (
    "langchain-memkit",
    "langchain-core",
    "langchain",
    "langchain-classic",
    "langgraph",
    "langchain-trimwise",
    "rank-bm25",
    "wordllama",
    "sqlalchemy",
    "tiktoken",
)


@dataclass(frozen=True, slots=True)
class Step:
    """A benchmark and the heading of its part of the report.

    Attributes:
        title: The heading.
        command: What follows the name of the interpreter.
    """

    title: str
    command: tuple[str, ...]


def plan(data: Path, out: Path, *, most: int) -> list[Step]:
    """List the benchmarks.

    Args:
        data: The folder of data.
        out: Where results go.
        most: Questions of a set; the embeddings filter takes a second for each.

    Returns:
        The steps, in the order of the report.
    """
    transcripts = sorted(map(str, (data / "trajectories").glob("*.jsonl.gz")))
    retrieval = (str(data / "retrieval"), "--most", str(most))
    capsules = str(HERE / "capsules.py")
    page = str(out / "compare.html")
    compare = ("-m", "langchain_memkit.cli", "compare", *transcripts)
    return [
        Step("Counters", (str(HERE / "counters.py"),)),
        Step("Trimming: time and memory", (str(HERE / "trimming.py"), *transcripts)),
        Step("Prompts at a quarter", (*compare, "--budget", "25%", "--html", page)),
        Step("Prompts at a half", (*compare, "--budget", "50%")),
        Step("Capsules over BM25", (capsules, *retrieval)),
        Step(
            "Capsules over embeddings",
            (capsules, *retrieval, "--retriever", "wordllama"),
        ),
        Step("Capsules: time", (capsules, *retrieval, "--time")),
        Step("Memory", (str(HERE / "memory.py"), "--kills", "20")),
    ]


def versions() -> str:
    """List the versions of all peers.

    Returns:
        A line of Markdown each.
    """
    lines = [f"- Python {platform.python_version()} on {platform.machine()}"]
    for name in PEERS:
        try:
            lines.append(f"- {name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"- {name} is not installed")
    return "\n".join(lines)


def run(step: Step) -> tuple[bool, str]:
    """Run a step.

    Args:
        step: The benchmark.

    Returns:
        Whether it ended well, and its part of the report.
    """
    started = time.perf_counter()
    result = subprocess.run(
        [sys.executable, *step.command], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - started
    output = result.stdout.strip() if result.returncode == 0 else result.stderr.strip()
    command = shlex.join(["python", *step.command])
    print(f"{step.title}: {seconds:.0f} s, exit {result.returncode}", flush=True)
    fence = "" if "|---" in output else "```"
    body = "\n".join(filter(None, (fence, output, fence)))
    return (
        result.returncode == 0,
        f"## {step.title}\n\n`{command}`, {seconds:.0f} s\n\n{body}\n",
    )


def main() -> int:
    """Run the benchmarks and write the report.

    Returns:
        1 where a step failed, else 0.
    """
    parser = argparse.ArgumentParser(description="Run all benchmarks.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path(".build/bench"))
    parser.add_argument("--only", default="", help="a word of the titles to run")
    parser.add_argument("--most", type=int, default=60, help="questions of a set")
    arguments = parser.parse_args()
    if not (arguments.data / "trajectories").is_dir():
        parser.error(f"{arguments.data} has no folder `trajectories`")
    arguments.out.mkdir(parents=True, exist_ok=True)
    steps = [
        step
        for step in plan(arguments.data, arguments.out, most=arguments.most)
        if arguments.only.lower() in step.title.lower()
    ]
    report = arguments.out / "report.md"
    parts, failed = [f"# Benchmarks\n\n{versions()}\n"], 0
    for step in steps:
        is_well, text = run(step)
        failed += not is_well
        parts.append(text)
        report.write_text("\n".join(parts), encoding="utf-8")
    print(f"The report is in {report}.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
