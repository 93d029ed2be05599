import subprocess
import sys
from importlib.metadata import version

import pytest

import langchain_memkit

HEAVY = (
    "langchain",
    "langgraph",
    "tiktoken",
    "sqlalchemy",
    "langchain_core.tracers",
)


def loaded_by(statement):
    """Run a statement in a fresh interpreter and list the modules it loaded."""
    code = f"import sys\n{statement}\nprint(*sorted(sys.modules))"
    run = subprocess.run(  # our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return run.stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    """The root is lazy: no LangChain, no drivers."""
    loaded = set(loaded_by("import langchain_memkit"))
    assert not loaded & {*HEAVY, "langchain_core", "pydantic"}


def test_the_core_loads_no_langchain():
    """The pure policies run without LangChain."""
    modules = "retention, eviction, decay, tokens"
    loaded = loaded_by(f"from langchain_memkit.core import {modules}")
    assert not [
        name
        for name in loaded
        if name.startswith("lang") and not name.startswith("langchain_memkit")
    ]


def test_every_root_name_imports_without_its_extra():
    """Optional dependencies are needed on use, not on import."""
    block = "\n".join(
        f"sys.modules[{name!r}] = None"
        for name in ("tiktoken", "sqlalchemy", "langgraph", "langchain", "psycopg")
    )
    loaded_by(f"{block}\nfrom langchain_memkit import *")


@pytest.mark.parametrize("name", langchain_memkit.__all__)
def test_every_public_name_is_there(name):
    """What `__all__` promises can be had, and has a docstring."""
    value = getattr(langchain_memkit, name)
    assert name.startswith("__") or value.__doc__


def test_the_list_of_names_is_the_table_of_homes():
    """Each public name has one home, and each home's names are public."""
    homes = [name for names in langchain_memkit._HOMES.values() for name in names]
    assert sorted([*homes, "__version__"]) == sorted(langchain_memkit.__all__)


def test_an_unknown_name_is_an_attribute_error():
    """The lazy root behaves as any module."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = langchain_memkit.no_such_name


def test_dir_lists_the_public_names():
    """Completion in a shell sees all names before they are loaded."""
    assert set(langchain_memkit.__all__) <= set(dir(langchain_memkit))


def test_the_version_is_the_installed_one():
    """The version has one source."""
    assert langchain_memkit.__version__ == version("langchain-memkit")
