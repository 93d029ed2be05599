"""Each example runs as a stranger would run it, and shows what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_LINES = 60
SHOWN = {
    "agent.py": ["61 calls, longest prompt", "recall ", "Page "],
    "agent_session.py": [
        "policy word for word in 37 of 37 prompts",
        "the user's rule word for word in 37 of 37 prompts",
        "valid history in 37 of 37 prompts",
        "result older than the newest steps",
        "word for word: True",
        "among them ['coffee-order']",
        "still there: The regatta is on 12 June.",
        "The fuel pump is open from 7 to 18.",
    ],
    "chain.py": ["Had soup for lunch.", "-> At eight.", "My boat is the Heron."],
    "governance.py": ["| by kind | 301 |"],
    "retriever.py": [
        "A tail keeps a kite",
        "28 tokens instead of 59",
        "full text: Kites are flown",
        "not_found",
    ],
    "retriever_agent.py": ["Day 41: wind 5", "The log begins: Day 1: wind 1"],
    "memory_postgresql.py": ["skipped: set MEMORY_URL"],
}
LONG = {"agent_session.py"}


def run(name, *arguments, **environment):
    """Run an example in a fresh interpreter that turns warnings into errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_shows_what_it_promises(name, monkeypatch):
    """It ends well and prints the lines that its docstring speaks of."""
    monkeypatch.delenv("MEMORY_URL", raising=False)
    result = run(name)
    assert result.returncode == 0, result.stderr
    assert not [text for text in SHOWN[name] if text not in result.stdout]


def test_memories_in_postgresql_are_shared(postgres_url):
    """With a server, both writers' recalls are counted, and nothing is left."""
    url = postgres_url.replace("postgresql://", "postgresql+psycopg://", 1)
    result = run("memory_postgresql.py", MEMORY_URL=url)
    assert result.returncode == 0, result.stderr
    assert "recalls counted: 100" in result.stdout
    assert "found: ['fuel']" in result.stdout
    assert "left: 0" in result.stdout


def test_examples_are_short_and_say_what_one_will_see():
    """A reader takes an example in at one glance."""
    for example in EXAMPLES.glob("*.py"):
        text = example.read_text(encoding="utf-8")
        assert text.startswith('"""'), example
        assert 'if __name__ == "__main__":' in text, example
        if example.name not in LONG:
            assert text.count("\n") < MOST_LINES, example
