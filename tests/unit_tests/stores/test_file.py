"""A folder of memories survives damage, hands and full disks."""

import copy
import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from filelock import FileLock

from langchain_memkit import (
    FileMemoryStore,
    ForgetConfig,
    ForgettingMemory,
    InvalidInputError,
    MemoryNotFoundError,
    StoreError,
    StoreVersionError,
    UnsafeNameError,
)
from langchain_memkit.protocols import ArchiveEntry

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=400)


@pytest.fixture
def memory(tmp_path):
    """Make a memory over an empty folder."""
    return ForgettingMemory(FileMemoryStore(tmp_path), clock=lambda: NOON)


def reopen(folder):
    """Open the folder as another process would."""
    return ForgettingMemory(FileMemoryStore(folder), clock=lambda: NOON)


def files(folder):
    """List the names of all files."""
    return sorted(path.name for path in Path(folder).iterdir())


def test_a_memory_is_a_plain_file(memory, tmp_path):
    """The text stands in `NAME.md` as it is, and nothing half-written beside it."""
    memory.remember("tone", "Answer\r\nbriefly. é")
    assert (tmp_path / "tone.md").read_bytes() == "Answer\r\nbriefly. é".encode()
    assert not [name for name in files(tmp_path) if ".tmp" in name]


def test_the_plain_ledger_is_read(tmp_path):
    """A ledger of epoch milliseconds, as other programs write it, is understood."""
    (tmp_path / "old.md").write_text("text", "utf-8")
    entry = {"importance": 0.25, "created_at": 0, "last_access_at": 1.5, "more": 1}
    (tmp_path / ".memory.json").write_text(json.dumps({"old": entry}), "utf-8")
    record = reopen(tmp_path).describe("old")
    assert (record.importance, record.pinned) == (0.25, False)
    assert record.last_access_at == datetime(1970, 1, 1, 0, 0, 0, 1500, UTC)


def test_a_plain_ledger_may_hold_a_memory_named_version(tmp_path):
    """A memory called `version` is not taken for the version of the form."""
    (tmp_path / "version.md").write_text("text", "utf-8")
    entry = {"importance": 0.5, "created_at": 0, "last_access_at": 0}
    (tmp_path / ".memory.json").write_text(json.dumps({"version": entry}), "utf-8")
    assert reopen(tmp_path).importance("version") == 0.5


@pytest.mark.parametrize("version", [10**6, 1000000.5])
def test_a_newer_ledger_is_refused_untouched(memory, tmp_path, version):
    """A ledger of a newer release is neither read nor overwritten."""
    memory.remember("n", "text")
    ledger = tmp_path / ".memory.json"
    newer = json.dumps({**json.loads(ledger.read_text("utf-8")), "version": version})
    ledger.write_text(newer, "utf-8")
    with pytest.raises(StoreVersionError, match="1000000"):
        memory.remember("m", "text")
    with pytest.raises(StoreVersionError):
        FileMemoryStore(tmp_path)
    assert ledger.read_text("utf-8") == newer
    assert "m.md" not in files(tmp_path)


DAMAGES = {
    "half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "no json": lambda data: b"\xff\xfe nonsense",
    "a list": lambda data: b"[]",
    "deep": lambda data: b"[" * 100_000,
    "wrong shape": lambda data: b'{"version": 1, "memories": 3}',
    "version zero": lambda data: b'{"version": "x"}',
    "version a text": lambda data: data.replace(b'"version": 1', b'"version": "2"'),
    "version below 1": lambda data: data.replace(b'"version": 1', b'"version": -1'),
    "bad entry": lambda data: data.replace(b'"importance": 0.9', b'"importance": 9'),
    "bad time": lambda data: data.replace(
        b'"created_at_us": ', b'"created_at_us": 999'
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_ledger_loses_no_memory(memory, tmp_path, damage):
    """Every text is still there, its importance too, and the damage is kept aside."""
    memory.remember("first", "one", 0.9)
    memory.remember("second", "two", 0.9)
    memory.remember("third", "three", 0.9)
    ledger = tmp_path / ".memory.json"
    damaged = damage(ledger.read_bytes())
    ledger.write_bytes(damaged)
    again = reopen(tmp_path)
    assert [again.recall(name) for name in ("first", "second", "third")] == [
        "one",
        "two",
        "three",
    ]
    assert again.importance("first") == 0.9
    kept = [name for name in files(tmp_path) if "damaged" in name]
    assert [(tmp_path / name).read_bytes() for name in kept] == [damaged]
    assert again.consolidate(now=NOON).pruned == ()


def test_a_missing_ledger_comes_back_from_its_backup(memory, tmp_path):
    """A deleted ledger is not an empty one."""
    memory.remember("n", "text", 0.9)
    memory.remember("m", "text", 0.9)
    (tmp_path / ".memory.json").unlink()
    again = reopen(tmp_path)
    assert (again.importance("n"), again.live_at()) == (0.9, ["m", "n"])


def test_without_any_ledger_the_files_are_pinned_memories(memory, tmp_path):
    """What is not known is kept: files alone make memories that do not fade."""
    memory.remember("n", "text", 0.1)
    for path in tmp_path.glob(".memory.json*"):
        path.unlink()
    again = reopen(tmp_path)
    assert again.describe("n").pinned
    assert again.consolidate(now=LATER).pruned == ()
    assert again.recall("n") == "text"


def test_a_backup_of_a_newer_release_is_not_read(memory, tmp_path):
    """A ledger is rebuilt from the files alone where the backup is newer."""
    memory.remember("n", "text", 0.1)
    (tmp_path / ".memory.json").write_bytes(b"{")
    (tmp_path / ".memory.json.bak").write_bytes(b'{"version": 99}')
    assert reopen(tmp_path).describe("n").importance == 0.5


def test_a_file_put_there_by_hand_is_a_pinned_memory(memory, tmp_path):
    """It is recalled and found, it never fades, and only forgetting deletes it."""
    (tmp_path / "by hand.md").write_bytes("café\r\n".encode())
    assert memory.recall("by hand") == "café\r\n"
    record = memory.describe("by hand")
    assert (record.pinned, record.source, record.access_count) == (True, "developer", 1)
    assert memory.consolidate(now=LATER).pruned == ()
    assert [d.id for d in memory.search("CAFÉ")] == ["by hand"]
    memory.forget("by hand")
    assert "by hand.md" not in files(tmp_path)


def test_a_file_that_is_no_utf8_comes_back_byte_by_byte(memory, tmp_path):
    """Odd bytes of a file put there by hand become lone surrogates."""
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    text = memory.recall("latin")
    assert text.encode("utf-8", "surrogateescape") == b"caf\xe9"
    memory.remember("copy", text)
    assert memory.recall("copy") == text


def test_a_stale_copy_brings_nothing_back(memory, tmp_path):
    """A file restored from a backup stays forgotten, also after its tombstone ended."""
    memory.remember("n", "secret")
    copy = (tmp_path / "n.md").read_bytes()
    memory.forget("n")
    (tmp_path / "n.md").write_bytes(copy)
    with pytest.raises(MemoryNotFoundError):
        reopen(tmp_path).recall("n")
    reopen(tmp_path).consolidate(now=LATER)
    assert reopen(tmp_path).live_at() == []
    memory.remember("n", "again")
    assert reopen(tmp_path).recall("n") == "again"


def test_a_forgotten_text_is_in_no_file(memory, tmp_path):
    """After forgetting nothing of the text is left in the folder."""
    memory.remember("n", "pin is 0000")
    memory.remember("m", "likes teal")
    memory.forget("n")
    assert not any(b"pin is" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_file_deleted_by_hand_is_gone(memory, tmp_path):
    """The folder decides: an entry without a file is no memory."""
    memory.remember("n", "text")
    (tmp_path / "n.md").unlink()
    assert (memory.live_at(), len(memory)) == ([], 0)
    with pytest.raises(MemoryNotFoundError):
        memory.recall("n")


def test_names_that_differ_in_case_are_refused(memory, tmp_path):
    """Two names that are one file elsewhere cannot both be remembered."""
    memory.remember("Note", "text")
    for items in ([("note", "x", 0.5)], [("a", "x", 0.5), ("A", "x", 0.5)]):
        with pytest.raises(UnsafeNameError, match="case"):
            memory.remember_many(items)
    assert memory.live_at() == ["Note"]


def test_links_and_folders_are_refused_and_ignored(memory, tmp_path):
    """A link is neither followed, listed, replaced nor deleted."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("outside", "utf-8")
    (tmp_path / "link.md").symlink_to(outside)
    (tmp_path / "folder.md").mkdir()
    for name in ("link", "folder"):
        for call in (memory.recall, memory.forget, lambda n: memory.remember(n, "x")):
            with pytest.raises(UnsafeNameError, match="link"):
                call(name)
    assert memory.live_at() == []
    assert outside.read_text("utf-8") == "outside"


def test_a_file_in_another_normal_form_is_found(memory, tmp_path):
    """A name put there in NFD is the same memory as in NFC."""
    (tmp_path / "cafe\u0301.md").write_text("text", "utf-8")
    assert memory.live_at() == ["caf\u00e9"]
    assert memory.recall("caf\u00e9") == "text"
    memory.remember("caf\u00e9", "new")
    assert [name for name in files(tmp_path) if name.endswith(".md")] == [
        "cafe\u0301.md"
    ]


def test_files_with_unsafe_names_are_ignored(memory, tmp_path):
    """What no name could reach is neither listed nor deleted."""
    (tmp_path / "a:b.md").write_text("x", "utf-8")
    (tmp_path / "notes.txt").write_text("x", "utf-8")
    assert memory.live_at() == []
    assert memory.consolidate(now=LATER).kept == 0
    assert {"a:b.md", "notes.txt"} <= set(files(tmp_path))


def test_a_text_beyond_the_cap_is_refused(tmp_path):
    """The error names the cap, and nothing is written or read."""
    store = FileMemoryStore(tmp_path, max_content_bytes=4)
    memory = ForgettingMemory(store)
    with pytest.raises(InvalidInputError, match="at most 4 bytes"):
        memory.remember_many([("ok", "x", 0.5), ("long", "ééé", 0.5)])
    assert len(memory) == 0
    (tmp_path / "big.md").write_bytes(b"12345")
    with pytest.raises(StoreError, match="longer than 4"):
        memory.recall("big")


@pytest.mark.parametrize("successes", [0, 1, 2])
def test_a_failing_replacement_loses_nothing(memory, tmp_path, monkeypatch, successes):
    """Whichever step fails, old memories stand and objects agree."""
    memory.remember("old", "old text")
    real, left = Path.replace, [successes]

    def fail(self, target):
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        left[0] -= 1
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(StoreError, match="No space"):
        memory.remember_many([("old", "new text", 0.5), ("more", "x", 0.5)])
    monkeypatch.undo()
    again = reopen(tmp_path)
    assert memory.live_at() == again.live_at()
    assert "old" in again.live_at()
    assert again.recall("old") in {"old text", "new text"}
    assert not [name for name in files(tmp_path) if ".tmp" in name]


def test_a_text_that_cannot_be_put_in_place_takes_the_ledger_back(
    memory, tmp_path, monkeypatch
):
    """Where only the last step fails, nothing has changed at all."""
    memory.remember("old", "text", 0.9)
    real = Path.replace

    def fail(self, target):
        if target.name == "new.md":
            raise PermissionError(13, "in use")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(StoreError, match="in use"):
        memory.remember("new", "x")
    monkeypatch.undo()
    entries = json.loads((tmp_path / ".memory.json").read_text("utf-8"))["memories"]
    assert list(entries) == ["old"]


def test_a_disk_that_does_not_sync_leaves_nothing_behind(memory, tmp_path, monkeypatch):
    """A text that did not reach the disk is not stored, and its rest is cleared."""

    def fail(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError, match="Input/output"):
        memory.remember("n", "x")
    monkeypatch.undo()
    assert not [name for name in files(tmp_path) if ".tmp" in name]


def test_a_text_that_goes_while_it_is_listed_is_left_out(memory, tmp_path):
    """A file deleted between listing and reading is no error."""
    memory.remember_many([("a", "x", 0.5), ("b", "y", 0.5)])
    scanning = memory.store.scan(content=True)
    assert next(scanning).name == "a"
    (tmp_path / "b.md").unlink()
    assert list(scanning) == []


def test_a_full_disk_is_a_clear_error(tmp_path):
    """Where a file cannot be written whole, the error says so and all is as before."""
    script = """
import resource, signal, sys
from langchain_memkit import FileMemoryStore, ForgettingMemory, StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = ForgettingMemory(FileMemoryStore(sys.argv[1]))
memory.remember("old", "text")
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
try:
    memory.remember("new", "x" * 5000)
except StoreError as error:
    assert sys.argv[1] in str(error), error
else:
    raise SystemExit("stored beyond the limit")
assert memory.live_at() == ["old"]
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    assert reopen(tmp_path).recall("old") == "text"
    assert not [name for name in files(tmp_path) if ".tmp" in name]


def test_what_cannot_be_deleted_is_kept_and_reported(memory, tmp_path, monkeypatch):
    """The next consolidation tries again; forgetting such a memory is an error."""
    memory.remember_many([("a", "x", 0.5), ("b", "x", 0.5)])
    real = Path.unlink

    def refuse(self, missing_ok=False):
        if self.name == "a.md":
            raise PermissionError(13, "in use")
        real(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    report = memory.consolidate(now=LATER)
    assert (report.pruned, report.failed, report.kept) == (("b",), ("a",), 1)
    with pytest.raises(StoreError, match="'a' could not be deleted"):
        memory.forget("a")
    monkeypatch.undo()
    assert memory.consolidate(now=LATER).pruned == ("a",)


@pytest.mark.parametrize("step", ["before", "after"])
def test_a_kill_while_forgetting_brings_nothing_back(
    memory, tmp_path, monkeypatch, step
):
    """Either the memory lives on, or archiving does not bring it back."""
    entry = ArchiveEntry("k", "text", 0.5, "tool")
    memory.archive([entry])
    real = Path.unlink

    class KilledError(BaseException):
        pass

    def kill(self, missing_ok=False):
        if self.suffix == ".md":
            if step == "after":
                real(self)
            raise KilledError
        real(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", kill)
    with pytest.raises(KilledError):
        memory.forget("k")
    monkeypatch.undo()
    again = reopen(tmp_path)
    again.archive([entry])
    assert again.live_at() == (["k"] if step == "before" else [])
    again.consolidate(now=LATER)
    assert again.live_at() == []


def test_what_a_killed_writer_left_is_cleared(memory, tmp_path):
    """Half-written files disappear on the next opening."""
    memory.remember("n", "text")
    (tmp_path / ".memory.tmp-0123456789abcdef").write_text("half", "utf-8")
    assert reopen(tmp_path).recall("n") == "text"
    assert not [name for name in files(tmp_path) if ".tmp" in name]


def test_no_name_is_taken_for_what_a_writer_left(memory, tmp_path):
    """A memory named like a half-written file outlasts the next opening."""
    names = [".memory.tmp-0123456789abcdef", ".memory.tmp-", ".memory.json"]
    memory.remember_many([(name, "text", 0.5) for name in names])
    assert [reopen(tmp_path).recall(name) for name in names] == ["text"] * 3


def test_a_lock_that_is_never_released_is_a_clear_error(tmp_path):
    """The wait ends, and the error says what was waited for."""
    store = FileMemoryStore(tmp_path, lock_timeout=timedelta(milliseconds=10))
    with FileLock(tmp_path / ".memory.lock"):
        with pytest.raises(StoreError, match="held the lock"):
            ForgettingMemory(store).remember("n", "x")
        assert store.read(["n"]) == ()


def test_what_a_killed_writer_left_waits_for_a_busy_folder(memory, tmp_path):
    """Opening does not fail because another process writes just then."""
    (tmp_path / ".memory.tmp-0123456789abcdef").write_text("half", "utf-8")
    with FileLock(tmp_path / ".memory.lock"):
        FileMemoryStore(tmp_path, lock_timeout=timedelta(milliseconds=10))


def test_a_path_that_is_no_folder_is_a_clear_error(tmp_path):
    """A store that cannot be opened says which and why."""
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(StoreError, match="file"):
        FileMemoryStore(tmp_path / "file")


@pytest.mark.parametrize("root", ["", None, 7, "a\0b"])
def test_what_is_no_path_is_refused(root):
    """An unset setting never becomes the folder that the process runs in."""
    with pytest.raises(InvalidInputError, match="root"):
        FileMemoryStore(root)


def test_a_folder_that_vanishes_is_a_clear_error(memory, tmp_path):
    """A folder that is gone is not an empty one."""
    memory.remember("n", "x")
    for path in tmp_path.iterdir():
        path.unlink()
    tmp_path.rmdir()
    with pytest.raises(StoreError):
        memory.live_at()
    tmp_path.mkdir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_can_be_read(memory, tmp_path):
    """Looking works; a write is a clear error."""
    memory.remember("n", "x")
    tmp_path.chmod(0o500)
    try:
        assert reopen(tmp_path).live_at() == ["n"]
        with pytest.raises(StoreError):
            memory.recall("n")
    finally:
        tmp_path.chmod(0o700)


def test_threads_lose_nothing(tmp_path):
    """Six threads with objects of their own write thirty memories."""

    def write(writer):
        memory = ForgettingMemory(FileMemoryStore(tmp_path))
        for n in range(5):
            memory.remember(f"{writer} {n}", "text")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reopen(tmp_path)) == 30


def test_compartments_are_folders_below(memory, tmp_path):
    """Labels of any kind lead to folders inside, and are listed as they were."""
    labels = ("Ann", "../..", "x" * 300)
    memory.scoped(labels).remember("n", "x")
    assert memory.store.namespaces() == (labels,)
    assert files(tmp_path)[-1] == "@%41nn"
    assert [len(place) for place in memory.compartments()] == [0, 1]
    policy = ForgetConfig(ttl=timedelta(days=1))
    scope = ForgettingMemory(memory.store, policy).scoped(("Ann",))
    assert scope.store.namespaces() == (labels[1:],)


def test_nothing_is_written_where_nothing_is_archived(memory, tmp_path):
    """Archiving what is known touches no file."""
    entry = ArchiveEntry("k", "text", 0.5, "tool")
    memory.archive([entry])
    before = (tmp_path / ".memory.json").stat()
    memory.archive([entry])
    memory.archive([])
    after = (tmp_path / ".memory.json").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_file_system_without_links_has_no_backup(memory, tmp_path, monkeypatch):
    """The ledger itself is written all the same."""

    def refuse(source, target):
        raise OSError(1, "not supported")

    monkeypatch.setattr(os, "link", refuse)
    memory.remember("n", "x")
    memory.remember("m", "x")
    assert ".memory.json.bak" not in files(tmp_path)
    assert reopen(tmp_path).live_at() == ["m", "n"]


def test_a_copy_of_a_store_is_the_same_place(memory):
    """Copying a store copies no file."""
    assert copy.deepcopy(memory.store) is memory.store


def test_the_store_shows_its_folder(memory, tmp_path):
    """What is printed says where the memories are."""
    assert str(tmp_path) in repr(memory)
