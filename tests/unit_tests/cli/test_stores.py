"""A store named on the command line is opened, and none is made by a typing error."""

from datetime import timedelta

import pytest

from langchain_memkit import FileMemoryStore, ForgettingMemory, SQLMemoryStore
from langchain_memkit.cli.stores import compartments, make_config, open_memory
from langchain_memkit.exceptions import InvalidInputError


@pytest.fixture(params=["folder", "sqlite"])
def address(request, tmp_path):
    """The address of a store with a memory at the top and one in a compartment."""
    where = str(tmp_path / "store")
    where = where if request.param == "folder" else f"sqlite:///{where}.db"
    memory = open_memory(where, create=True)
    memory.remember("tone", "Answer briefly.")
    memory.scoped(("user", "4/2")).remember("city", "Ghent.")
    return where


def test_a_store_is_opened_by_its_address(address):
    """Folders and databases are told apart by their address."""
    memory = open_memory(address, config=make_config(**POLICY))
    kind = SQLMemoryStore if "://" in address else FileMemoryStore
    assert type(memory.store) is kind
    assert memory.store.read(["tone"])[0].content == "Answer briefly."
    assert memory.config.ttl == timedelta(days=9)


LONG = f"sqlite:///{'x' * 300}"
POLICY = {"ttl_days": 9, "min_importance": 0.5, "weak_days": None}


def test_a_compartment_is_opened_by_its_labels(address):
    """What the store lists can be opened."""
    (labels,) = compartments(open_memory(address))
    memory = open_memory(address, namespace=labels)
    assert memory.store.read(["city"])[0].content == "Ghent."


def test_an_unknown_compartment_is_refused(address):
    """A typing error shows what there is."""
    with pytest.raises(InvalidInputError, match="there are: user/4/2"):
        open_memory(address, namespace=["usr"])
    assert compartments(open_memory(address)) == (("user", "4/2"),)


def test_a_compartment_of_an_empty_store_is_refused(tmp_path):
    """Also where there is none to name."""
    ForgettingMemory(FileMemoryStore(tmp_path)).remember("a", "b")
    with pytest.raises(InvalidInputError, match="there are: none"):
        open_memory(str(tmp_path), namespace=["usr"])


def test_a_folder_of_compartments_only_is_a_store(tmp_path):
    """The top may hold nothing itself."""
    FileMemoryStore(tmp_path).scoped(("user",))
    assert len(open_memory(str(tmp_path))) == 0


@pytest.mark.parametrize(
    "name",
    ["no", "plain", "plain/notes.md", "x" * 300, "sqlite:///no.db", "sqlite://", LONG],
)
def test_a_store_that_is_not_there_is_not_made(tmp_path, monkeypatch, name):
    """Looking leaves no litter, and takes no folder for a store."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "notes.md").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInputError, match="STORE"):
        open_memory(name)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_namespace_that_a_database_was_made_with_is_reached(tmp_path):
    """A store of another namespace is opened with `root`."""
    url = f"sqlite:///{tmp_path}/m.db"
    ForgettingMemory(SQLMemoryStore(url, "app")).remember("a", "b")
    assert len(open_memory(url)) == 0
    assert len(open_memory(url, root="app")) == 1


def test_a_folder_has_no_root(tmp_path):
    """An option that would do nothing is refused."""
    with pytest.raises(InvalidInputError, match="root"):
        open_memory(str(tmp_path), root="app", create=True)


@pytest.mark.parametrize(
    "options",
    [
        {"ttl_days": -1},
        {"ttl_days": 0},
        {"ttl_days": float("nan")},
        {"ttl_days": float("inf")},
        {"weak_days": -1},
        {"weak_days": 1e300},
        {"min_importance": 2},
    ],
)
def test_a_policy_that_cannot_be_is_refused(options):
    """Durations and importances have their ranges."""
    with pytest.raises(InvalidInputError):
        make_config(**{**POLICY, **options})


def test_weak_memories_may_fade_sooner():
    """Days become durations."""
    config = make_config(ttl_days=30, min_importance=0.4, weak_days=0.5)
    assert config.weak_grace == timedelta(hours=12)
    assert config.min_importance == 0.4
