"""The command reaches memories in PostgreSQL by their address."""

import json

from typer.testing import CliRunner

from langchain_memkit.cli.app import app
from langchain_memkit.cli.stores import open_memory, opened_memory


def run(*arguments):
    """Run the command and return what it printed."""
    result = CliRunner().invoke(app, ["memory", *map(str, arguments)])
    assert result.exit_code == 0
    return result.stdout


def test_an_operator_looks_into_a_database(postgres_url, tmp_path):
    """List, show, search, consolidate, and move to a folder."""
    with opened_memory(postgres_url, create=True) as memory:
        memory.remember("tone", "Answer briefly.", 0.9)
        memory.scoped(("user", "42")).remember("city", "Ghent.")
    listed = json.loads(run("ls", postgres_url, "--json"))
    assert [m["name"] for m in listed["memories"]] == ["tone"]
    assert listed["compartments"] == [["user", "42"]]
    assert run("show", postgres_url, "tone", "--raw") == "Answer briefly."
    assert "Answer briefly." in run("search", postgres_url, "answer")
    assert "0 would be forgotten" in run("consolidate", postgres_url, "--dry-run")
    run("export", postgres_url, tmp_path / "out.jsonl")
    run("import", tmp_path / "folder", tmp_path / "out.jsonl")
    assert open_memory(str(tmp_path / "folder"), namespace=["user", "42"])
