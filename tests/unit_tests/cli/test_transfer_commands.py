"""Memories move from store to store as a file."""

import json
from datetime import UTC, datetime

import pytest
from rich.console import Console
from typer.testing import CliRunner

from langchain_memkit.cli import progress
from langchain_memkit.cli.app import app
from langchain_memkit.cli.stores import open_memory

DAY = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    """A folder with a memory at the top and one in a compartment."""
    where = str(tmp_path / "store")
    memory = open_memory(where, create=True)
    memory.remember("tone", "Answer briefly.", 0.9, now=DAY)
    memory.scoped(("user", "42")).remember("city", "Ghent.", now=DAY)
    return where


def run(*arguments):
    """Run the command."""
    return CliRunner().invoke(app, ["memory", *map(str, arguments)])


def test_what_is_exported_can_be_imported(store, tmp_path):
    """Another kind of store holds the same, times and compartments included."""
    file, other = tmp_path / "out.jsonl", f"sqlite:///{tmp_path}/m.db"
    assert run("export", store, file).stdout.startswith("2 exported to ")
    assert run("import", other, file).stdout.startswith("2 imported from ")
    memory = open_memory(other)
    assert memory.describe("tone") == open_memory(store).describe("tone")
    assert memory.scoped(("user", "42")).recall("city") == "Ghent."


def test_importing_again_changes_nothing(store, tmp_path):
    """A copy that broke off can be run again."""
    file = tmp_path / "out.jsonl"
    run("export", store, file)
    before = json.loads(run("ls", store, "--json").stdout)
    assert run("import", store, file).exit_code == 0
    assert json.loads(run("ls", store, "--json").stdout) == before


def test_a_compartment_is_exported_alone(store, tmp_path):
    """Labels lead to it, also into another one."""
    file = tmp_path / "out.jsonl"
    run("export", store, file, "-n", "user", "-n", "42")
    run("import", store, file, "-n", "copy")
    assert open_memory(store, namespace=["copy"]).recall("city") == "Ghent."


def test_a_file_is_replaced_only_when_asked(store, tmp_path):
    """An export does not cost another file."""
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    result = run("export", store, file)
    assert (result.exit_code, file.read_text()) == (2, "mine")
    assert "--force" in result.stderr
    assert run("export", store, file, "--force").exit_code == 0
    assert "mine" not in file.read_text()


@pytest.mark.parametrize("text", ["", "{}", "nope", "[1]"])
def test_what_is_no_export_is_refused(store, tmp_path, text):
    """Nothing is stored of it."""
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    result = run("import", store, file)
    assert result.exit_code == 2
    assert len(open_memory(store)) == 1


def test_a_missing_file_makes_no_store(tmp_path):
    """A typing error leaves no litter."""
    result = run("import", tmp_path / "new", tmp_path / "missing.jsonl")
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_bar_shows_progress_on_a_terminal(store, tmp_path, monkeypatch):
    """On standard error, and only where somebody looks."""
    screen = Console(stderr=True, force_terminal=True, width=60)
    monkeypatch.setattr(progress, "make_console", lambda **_: screen)
    assert "memories" in run("export", store, tmp_path / "a.jsonl").stderr
    monkeypatch.undo()
    assert run("export", store, tmp_path / "b.jsonl").stderr == ""
