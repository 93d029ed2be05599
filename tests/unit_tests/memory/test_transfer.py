"""Memories move out, in and over from elsewhere without losing a character."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.documents import Document

from langchain_memkit import (
    FileMemoryStore,
    ForgettingMemory,
    InvalidInputError,
    StoreError,
    StoreVersionError,
    copy_memories,
    export_memories,
    import_memories,
    migrate_time_weighted,
)
from langchain_memkit.core.keys import content_key
from langchain_memkit.testing import DictMemoryStore, FakeClock
from langchain_memkit.testing.store_laws import ODD_TEXTS

HEADER = {"format": "langchain-memkit memories", "version": 1}


def new_memory():
    """Make a memory in a dictionary."""
    return ForgettingMemory(DictMemoryStore(), clock=FakeClock())


@pytest.fixture
def memory():
    """Make a memory with odd texts and a compartment."""
    memory = new_memory()
    memory.remember_many(
        [(f"odd {name}", text, 0.3) for name, text in ODD_TEXTS.items()]
    )
    memory.recall("odd nul")
    memory.scoped(("user", "4/2")).remember("n", "x", source="user", pinned=True)
    return memory


def everything(memory):
    """Return all that a memory and its compartments hold."""
    return [sorted(p.store.scan(content=True), key=repr) for p in memory.compartments()]


def test_an_export_comes_back_equal(memory, tmp_path):
    """Texts, times, counts and compartments survive; a second import is none."""
    path = tmp_path / "out.jsonl"
    assert export_memories(memory, path) == len(ODD_TEXTS) + 1
    other = new_memory()
    for _ in range(2):
        assert import_memories(other, path) == len(ODD_TEXTS) + 1
        assert everything(other) == everything(memory)
    assert [file.name for file in tmp_path.iterdir()] == ["out.jsonl"]


def test_progress_is_told(tmp_path, capsys):
    """A callback hears of each memory, and a bar is drawn where one is asked for."""
    memory = new_memory()
    memory.remember_many([(f"n{at}", "x", 0.5) for at in range(1000)])
    heard = []
    path = tmp_path / "out.jsonl"
    export_memories(memory, path, on_progress=lambda *at: heard.append(at))
    assert heard == [(at, 1000) for at in range(1, 1001)]
    import_memories(new_memory(), path, show_progress=True)
    assert "1000/1000" in capsys.readouterr().err
    export_memories(new_memory(), path, show_progress=True)
    assert "0 memories" in capsys.readouterr().err


def test_a_copy_moves_a_plain_folder(tmp_path):
    """A folder with a plain ledger becomes memories of any other store."""
    (tmp_path / "old.md").write_text("text", "utf-8")
    entry = {"importance": 0.25, "created_at": 1000, "last_access_at": 2000}
    (tmp_path / ".memory.json").write_text(json.dumps({"old": entry}), "utf-8")
    target = new_memory()
    source = ForgettingMemory(FileMemoryStore(tmp_path))
    assert copy_memories(source, target) == 1
    record = target.describe("old")
    assert record.importance == 0.25
    assert record.last_access_at == datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)


GOOD = {
    "name": "n",
    "content": "x",
    "importance": 0.5,
    "source": "user",
    "pinned": False,
    "evicted": False,
    "created_at": "2030-01-01T00:00:00+00:00",
    "last_access_at": "2030-01-01T00:00:00",
    "access_count": 0,
}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([""], "line 1"),
        (["[]"], "line 1"),
        (["{}"], "export of memories"),
        ([json.dumps({**HEADER, "version": "1"})], "export of memories"),
        ([json.dumps(HEADER), json.dumps(GOOD), "nope"], "line 3"),
        ([json.dumps(HEADER), json.dumps({**GOOD, "importance": 2})], "importance"),
        ([json.dumps(HEADER), json.dumps({**GOOD, "name": "../n"})], "line 2"),
        ([json.dumps(HEADER), json.dumps({**GOOD, "namespace": [""]})], "namespace"),
    ],
)
def test_a_bad_line_is_named_before_anything_is_stored(tmp_path, lines, words):
    """The error says which line, and the memory is as it was."""
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    memory = new_memory()
    with pytest.raises(InvalidInputError, match=words):
        import_memories(memory, path)
    assert len(memory) == 0


def test_blank_lines_are_no_memories(tmp_path):
    """An export that was edited by hand may have gaps."""
    path = tmp_path / "in.jsonl"
    path.write_text(f"{json.dumps(HEADER)}\n\n{json.dumps(GOOD)}\n\n", "utf-8")
    memory = new_memory()
    assert import_memories(memory, path) == 1
    assert memory.describe("n").last_access_at == datetime(2030, 1, 1, tzinfo=UTC)


def test_a_newer_export_is_refused(tmp_path):
    """A file of a newer release is not half understood."""
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({**HEADER, "version": 2}), "utf-8")
    with pytest.raises(StoreVersionError, match="version 2"):
        import_memories(new_memory(), path)


def test_a_file_that_cannot_be_used_is_a_clear_error(memory, tmp_path):
    """Neither a missing file, nor bytes, nor a missing folder is another error."""
    with pytest.raises(StoreError, match="missing"):
        import_memories(memory, tmp_path / "missing")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(StoreError, match="bytes"):
        import_memories(memory, tmp_path / "bytes")
    with pytest.raises(StoreError, match="nowhere"):
        export_memories(memory, tmp_path / "nowhere" / "out")


def test_an_export_that_fails_leaves_the_old_one(memory, tmp_path):
    """A store that fails half-way leaves no half file."""
    path = tmp_path / "out.jsonl"
    path.write_text("old", "utf-8")

    def fail(done, total):
        raise StoreError("dict", "gone")

    with pytest.raises(StoreError, match="gone"):
        export_memories(memory, path, on_progress=fail)
    assert path.read_text("utf-8") == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_time_weighted_stream_is_taken_over():
    """Times, importance and safe ids stay; equal texts become one memory."""
    local = datetime.now(UTC).astimezone()
    past = local - timedelta(days=2)
    stream = [
        Document(
            id="kite",
            page_content="red",
            metadata={
                "last_accessed_at": local.replace(tzinfo=None),
                "created_at": past.replace(tzinfo=None),
                "importance": 0.9,
            },
        ),
        Document(page_content="blue", metadata={"created_at": 1.5, "importance": 42}),
        Document(id="a/b", page_content="blue"),
    ]
    memory = new_memory()
    names = migrate_time_weighted(memory, stream, importance=0.4)
    assert names == ["kite", content_key("blue"), content_key("blue")]
    record = memory.describe("kite")
    assert (record.created_at, record.last_access_at) == (past, local)
    assert (record.importance, record.source) == (0.9, "user")
    assert memory.importance(names[1]) == 0.4
    assert len(memory) == 2
    with pytest.raises(InvalidInputError):
        migrate_time_weighted(memory, stream, importance=2)
