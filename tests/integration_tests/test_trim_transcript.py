"""The example over transcripts prints what its docstring says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "trim_transcript.py"


def message(number):
    """Make a question or an answer of some length."""
    role = ("user", "assistant")[number % 2]
    return {"role": role, "content": f"Thing {number}: " + "wind and string " * 20}


@pytest.fixture
def run(tmp_path):
    """Run the example on conversations."""

    def example(*conversations, options=()):
        file = tmp_path / "runs.jsonl"
        file.write_text("\n".join(map(json.dumps, conversations)))
        return subprocess.run(
            [sys.executable, EXAMPLE, file, *options],
            capture_output=True,
            check=False,
            text=True,
        )

    return example


def test_one_conversation_gets_a_row_a_departure(run):
    """A summary, the rows, the sum."""
    lines = run([message(n) for n in range(9)]).stdout.splitlines()
    assert "valid" in lines[0]
    assert len(lines) > 3
    assert all(line.startswith("  #") for line in lines[1:-1])
    assert lines[-1] == "1 conversations: 1 valid"


def test_several_conversations_get_a_row_each(run):
    """Also where a budget cannot be kept."""
    both = [[message(n) for n in range(size)] for size in (3, 9)]
    done = run(*both, options=["--max-tokens", "90"])
    assert len(done.stdout.splitlines()) == 3
    assert done.stdout.endswith("2 conversations: 2 valid\n")
    done = run(*both, options=["--max-tokens", "9"])
    assert done.stdout.count("over budget") == 2
    assert done.stderr == ""


def test_a_mistake_ends_with_a_message(run):
    """No traceback."""
    done = run([3])
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
