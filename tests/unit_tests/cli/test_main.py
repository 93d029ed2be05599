"""The command starts with its extra, and says what to install without it."""

import subprocess
import sys

import pytest

from langchain_memkit.cli import main

REPLACED = "import sys; sys.modules[{!r}] = None; from langchain_memkit.cli import main"


def run(code):
    """Run a statement in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra_it_says_what_to_install(package):
    """One line, no traceback, exit code 1."""
    done = run(f"{REPLACED.format(package)}; main()")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert 'pip install "langchain-memkit[cli]"' in done.stderr


def test_the_reader_and_the_comparison_need_no_extra():
    """Scripts may use them where the command cannot run."""
    code = "; import langchain_memkit.cli.page, langchain_memkit.cli.transcripts"
    blocked = "import sys; sys.modules['typer'] = sys.modules['rich'] = None"
    assert run(blocked + code).returncode == 0


def test_a_missing_extra_ends_the_process(monkeypatch):
    """The message is what the process ends with."""
    monkeypatch.delitem(sys.modules, "langchain_memkit.cli.app", raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"memkit: `typer` is not installed"):
        main()


def test_another_missing_module_is_not_hidden(monkeypatch):
    """Only the extra's own packages are explained away."""
    monkeypatch.setitem(sys.modules, "langchain_memkit.cli.app", None)
    with pytest.raises(ModuleNotFoundError, match="app"):
        main()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_answers(monkeypatch, capsys, option):
    """The entry point runs, and help tells the exit codes."""
    monkeypatch.setattr(sys, "argv", ["memkit", option])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "Exit codes" in said if option == "--help" else "memkit 0." in said
