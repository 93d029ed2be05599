"""Every code block of the README and the docs runs, and prints what it says."""

import contextlib
import io
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
