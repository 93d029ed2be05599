"""Every code block of the README and the docs runs, and prints what it says."""

import contextlib
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import typer

from langchain_memkit.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$|[\d *]+) memkit (.*)$", re.MULTILINE)
README_WORDS = 600
EXAMPLE_BY_LINE = 30


def steps(page):
    """Pair each Python block of a page with the output block that follows it."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [
        (code, after[1] if after[0] == "text" else None)
        for (kind, code), after in pairwise([*blocks, ("", "")])
        if kind == "python"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_blocks_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__docs__"}
    for code, expected in steps(page):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(page), "exec"), namespace)
        if expected is not None:
            assert out.getvalue().rstrip() == expected.rstrip()


@pytest.mark.parametrize(
    "line",
    [line for page in PAGES for line in COMMAND.findall(page.read_text("utf-8"))],
)
def test_shell_commands_name_what_the_command_knows(line, capsys):
    """Each command and option of a console block is one that `memkit` has."""
    command = typer.main.get_command(app)
    arguments = [*shlex.split(line), "--help"]  # help is shown once all was parsed
    assert command.main(arguments, standalone_mode=False) == 0
    assert "Usage" in capsys.readouterr().out


def test_the_readme_is_short_and_shows_code_early():
    """A reader sees running code by line 30, and is done within 600 words."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) < README_WORDS
    assert text[: text.index("```python")].count("\n") < EXAMPLE_BY_LINE


def test_links_inside_the_project_lead_somewhere():
    """Every relative link names a file that is there."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text):
            assert (page.parent / target).exists(), (page, target)
