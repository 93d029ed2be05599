"""The command starts with its extra, and says what to install without it."""

import io
import os
import runpy
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


def test_a_terminal_of_few_signs_is_no_mistake(tmp_path):
    """What cannot be encoded is replaced."""
    file = tmp_path / "run.json"
    file.write_text('[{"role": "user", "content": "x"}]', encoding="utf-8")
    code = "from langchain_memkit.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "trim", file, "--max-tokens", "9"],
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0
    assert b"1 ? 1" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_an_interruption_has_its_code():
    """No traceback where a user presses Ctrl-C."""
    code = (
        "import signal; from langchain_memkit.cli import main; "
        "import langchain_memkit.cli.trim_command as t; "
        "t.read_transcripts = lambda file: signal.raise_signal(signal.SIGINT); "
        "import sys; sys.argv = ['memkit', 'trim', 'x']; main()"
    )
    done = run(code)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_the_module_is_the_command(monkeypatch, capsys):
    """It also runs where scripts are not on the path."""
    monkeypatch.setattr(sys, "argv", ["memkit", "--version"])
    with pytest.raises(SystemExit):
        runpy.run_module("langchain_memkit.cli", run_name="__main__")
    assert capsys.readouterr().out.startswith("memkit 0.")


def test_importing_the_module_does_nothing(capsys):
    """A tool that imports all modules starts no command."""
    runpy.run_module("langchain_memkit.cli.__main__")
    assert capsys.readouterr().out == ""


def test_a_stream_of_another_kind_is_left_alone(monkeypatch):
    """A program may catch what the command prints."""
    monkeypatch.setattr(sys, "argv", ["memkit", "--version"])
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(SystemExit):
        main()
    assert sys.stdout.getvalue().startswith("memkit 0.")


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
