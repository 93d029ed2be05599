"""Each rule of the house is shown to bite: a violation is planted, and caught."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import langchain_memkit

HERE = Path(langchain_memkit.__file__).parent
ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

pytestmark = pytest.mark.skipif(
    not (BIN / "lint-imports").exists(), reason="the linters are not installed"
)

IMPORTS = [
    ("exceptions.py", "import langchain_memkit.core.tokens"),
    ("core/tokens.py", "import langchain_memkit.protocols"),
    ("core/tokens.py", "import langchain_core"),
    ("core/tokens.py", "import sqlalchemy"),
    ("protocols.py", "import langchain_memkit.counters.approximate"),
    ("protocols.py", "import sqlalchemy"),
    ("counters/approximate.py", "import langchain_memkit.counters.tiktoken"),
    ("counters/approximate.py", "import tiktoken"),
    ("cli/formats.py", "import typer"),
]


@pytest.fixture
def house(tmp_path):
    """Copy the package and its settings to where they can be spoilt."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE, tmp_path / "langchain_memkit", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(house, tool, *arguments):
    """Run a tool of the environment in the copy."""
    return subprocess.run(
        [BIN / tool, *arguments],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(house), "PATH": str(BIN), "HOME": str(house)},
    )


def plant(house, name, line):
    """Add a line to the end of a module."""
    module = house / "langchain_memkit" / name
    module.write_text(f"{module.read_text(encoding='utf-8')}\n{line}\n", "utf-8")


def test_the_contracts_hold(house):
    """The package as it is keeps every import contract."""
    result = run(house, "lint-imports", "--no-cache")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(("module", "line"), IMPORTS, ids=lambda x: x)
def test_an_upward_or_foreign_import_is_caught(house, module, line):
    """An import that no floor allows breaks a contract."""
    plant(house, module, line)
    result = run(house, "lint-imports", "--no-cache")
    assert result.returncode == 1, result.stdout
    assert "BROKEN" in result.stdout


def test_a_module_that_no_floor_names_is_caught(house):
    """A new module has to be given a floor."""
    (house / "langchain_memkit" / "attic.py").write_text('"""An attic."""\n', "utf-8")
    assert run(house, "lint-imports", "--no-cache").returncode == 1


def test_the_linter_bites(house):
    """A function without types and a bare `except` do not pass."""
    plant(
        house,
        "core/tokens.py",
        "def loose(x):\n    try:\n        return x\n    except:\n        pass",
    )
    result = run(house, "ruff", "check", "langchain_memkit")
    assert result.returncode == 1
    assert "E722" in result.stdout
    assert "ANN001" in result.stdout


def test_the_formatter_bites(house):
    """A badly formatted line does not pass."""
    plant(house, "core/tokens.py", "x = { 'a':1 }")
    assert run(house, "ruff", "format", "--check", "langchain_memkit").returncode == 1


def test_the_type_checker_bites(house):
    """A wrong type does not pass."""
    plant(house, "core/tokens.py", 'WRONG: int = estimate_tokens("a") + "b"')
    module = "langchain_memkit/core/tokens.py"
    result = run(house, "mypy", "--strict", "--cache-dir", "cache", module)
    assert result.returncode == 1
    assert "operator" in result.stdout
