"""The pages that list laws and names list what is there, and all of it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from langchain_memkit.testing import conformance

ROOT = Path(__file__).parents[2]
LAWS = (ROOT / "docs" / "laws.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
PROOF = re.compile(r"`((?:test|check)_\w+)`")
UNLISTED = {"__version__", "Source"}
HOMES = ("", ".middleware", ".classic", ".testing", ".protocols", ".exceptions")


def sections():
    """Map each numbered law of the trimmer to its section of the page."""
    parts = re.split(
        r"^### (\d+) .*$", LAWS.partition("\n## The ladder")[0], flags=re.MULTILINE
    )
    return dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))


def written():
    """Name the functions of the tests and of the suites that users run."""
    files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("langchain_memkit/testing/*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return {name for text in texts for name in re.findall(r"def (\w+)", text)}


def test_every_proof_that_is_named_exists():
    """No law leans on a test that was renamed or dropped."""
    assert set(PROOF.findall(LAWS)) - written() == set()


def test_the_trimmer_has_thirteen_laws():
    """The page lists all of them, in order."""
    assert list(sections()) == list(range(1, 14))


@pytest.mark.parametrize("number", range(1, 14))
def test_every_law_has_a_test_of_its_own(number):
    """One that carries the number of the law in its name."""
    assert re.search(rf"`test_law_{number}_\w+`", sections()[number])


def test_every_law_of_the_suites_is_named():
    """What users run on their stores is what the page promises."""
    laws = (*conformance.STORE_LAWS, *conformance.MEMORY_LAWS)
    checks = {law.__name__ for law in laws}
    assert checks - set(PROOF.findall(LAWS)) == set()


@pytest.mark.parametrize("home", HOMES)
def test_every_public_name_is_in_the_reference(home):
    """A name that can be imported can be looked up."""
    names = set(import_module(f"langchain_memkit{home}").__all__) - UNLISTED
    entry = re.compile(r"^::: langchain_memkit\.(?:\w+\.)*(\w+)$", re.MULTILINE)
    assert names - set(entry.findall(REFERENCE)) == set()


def test_the_reference_lists_nothing_else():
    """Each entry names something that is there."""
    for path in re.findall(r"^::: ([\w.]+)$", REFERENCE, re.MULTILINE):
        module, _, name = path.rpartition(".")
        assert hasattr(import_module(module), name), path
