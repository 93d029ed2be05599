"""A user compares methods on own transcripts, and is told what was measured."""

import gzip
import json

import pytest
from langchain_core.messages import messages_to_dict
from rich.console import Console
from typer.testing import CliRunner

from langchain_memkit.cli import compare_command, console, progress
from langchain_memkit.cli.app import app
from langchain_memkit.exceptions import CounterError, MissingExtraError

NAMES = ["everything", "trim_messages", "clear_tool_uses", "memkit"]


@pytest.fixture
def file(conversation, tmp_path):
    """The conversation as a file."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(messages_to_dict(conversation)))
    return path


def run(*arguments):
    """Run the command."""
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_compare_prints_a_row_a_method(file):
    """Each method, its figures, and what was measured with what."""
    result = run(file, "--budget", "50%")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == NAMES
    assert lines[4].split()[1:5] == ["7", "100.0%", "100.0%", "100.0%"]
    assert "1 with 15 messages" in result.stdout
    assert "langchain-core 1." in result.stdout


def test_compare_prints_json(file):
    """Scripts get the same figures."""
    result = run(file, "--budget", "300", "--cached-price", "1", "--json")
    read = json.loads(result.stdout)
    assert [row["method"] for row in read["rows"]] == NAMES
    assert all(row["cost_tokens"] == row["prompt_tokens"] for row in read["rows"])
    assert read["about"]["budget"] == "300 tokens"


def test_several_files_are_measured_together(file, tmp_path):
    """Packed files too."""
    packed = tmp_path / "more.json.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    read = json.loads(run(file, packed, "--budget", "50%", "--json").stdout)
    assert read["about"]["conversations"] == "2 with 30 messages"
    assert {row["calls"] for row in read["rows"]} == {14}


def test_the_page_is_written(file, tmp_path):
    """One file, and the command says where."""
    page = tmp_path / "out.html"
    result = run(file, "--budget", "50%", "--html", page)
    assert f"The page is in {page}." in result.stdout
    assert page.read_text().startswith("<!doctype html>")


def test_the_page_goes_beside_json(file, tmp_path):
    """Standard output stays JSON."""
    page = tmp_path / "out.html"
    assert json.loads(run(file, "--budget", "9", "--html", page, "--json").stdout)
    assert page.exists()


def test_a_bar_shows_progress_on_a_terminal(file, monkeypatch):
    """On standard error, and only where somebody looks."""
    screen = Console(stderr=True, force_terminal=True, width=60)
    monkeypatch.setattr(progress, "make_console", lambda **_: screen)
    assert "model calls" in run(file, "--budget", "50%").stderr
    monkeypatch.undo()
    assert run(file, "--budget", "50%").stderr == ""


def test_a_missing_package_is_told(file, monkeypatch):
    """Versions name what is not installed."""
    monkeypatch.setattr(compare_command, "_PACKAGES", ("no-such-package",))
    assert "no no-such-package" in run(file, "--budget", "50%").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "lots"], "budget"),
        (["--budget", "9", "--cached-price", "2"], "cached_price"),
        (["--budget", "9", "--html", "FILE"], "must not be one of the FILES"),
        (["--budget", "9", "--html", "FOLDER"], "a file in a folder that exists"),
        (["--budget", "9", "--html", "FOLDER/no/x.html"], "a folder that exists"),
        (["--budget", "9", "--html", "x" * 300], "can be written"),
        (["missing.json", "--budget", "9"], "can be read"),
        ([], "budget"),
        (["--budget", "9", "--counter", "guess"], "guess"),
    ],
)
def test_a_mistake_ends_with_a_message(file, tmp_path, arguments, said):
    """Exit code 2, no traceback, and the transcript is untouched."""
    before = file.read_bytes()
    paths = {"FILE": str(file), "FOLDER": str(tmp_path)}
    for name, path in paths.items():
        arguments = [argument.replace(name, path) for argument in arguments]
    result = run(file, *arguments)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert said in result.stderr
    assert file.read_bytes() == before


def test_the_standard_input_is_read_and_not_overwritten(file, tmp_path):
    """A dash is no file that a page could replace."""
    arguments = ["compare", "-", "--budget", "50%", "--html", str(tmp_path / "x.html")]
    result = CliRunner().invoke(app, arguments, input=file.read_text())
    assert result.exit_code == 0
    assert "memkit" in result.stdout


def test_counters_can_be_chosen(file):
    """Another counter gives other figures."""
    tokens = [
        json.loads(run(file, "--budget", "50%", "--json", *options).stdout)["rows"][0]
        for options in ([], ["--counter", "script-aware"])
    ]
    assert tokens[0]["prompt_tokens"] != tokens[1]["prompt_tokens"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CounterError("encoding", "must be there", "x"), 2),
        (MissingExtraError("tiktoken", "tiktoken"), 1),
    ],
)
def test_a_counter_that_cannot_count_ends_the_command(file, monkeypatch, error, code):
    """Before anything is measured."""

    class Broken:
        def count_text(self, text):
            raise error

    monkeypatch.setattr(console, "TiktokenCounter", Broken)
    result = run(file, "--budget", "50%", "--counter", "tiktoken")
    assert result.exit_code == code
    assert str(error) in result.stderr
