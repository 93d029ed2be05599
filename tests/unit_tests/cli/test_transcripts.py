"""Files of every shape give the same conversations."""

import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.cli.transcripts import (
    Transcript,
    parse_transcripts,
    read_transcripts,
)
from langchain_memkit.exceptions import InvalidInputError

ASK = {"role": "user", "content": "Why do kites fly?"}
ANSWER = {"role": "assistant", "content": "The wind lifts them."}
CONVERSATION = [ASK, ANSWER]
LINES = "\n".join(map(json.dumps, CONVERSATION))


def texts(transcripts):
    """Show what was read."""
    return [(t.name, [m.content for m in t.messages]) for t in transcripts]


READ = [ASK["content"], ANSWER["content"]]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CONVERSATION),
        json.dumps(CONVERSATION, indent=2),
        json.dumps({"messages": CONVERSATION}),
        json.dumps({"values": {"messages": CONVERSATION}}),
        json.dumps([CONVERSATION]),
        json.dumps([{"messages": CONVERSATION, "id": "one"}]),
        LINES,
        f"\n{LINES}\r\n\n",
    ],
)
def test_one_conversation_has_the_name_of_the_file(text):
    """All ways to write one conversation are the same."""
    assert texts(parse_transcripts(text, name="run")) == [("run", READ)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([CONVERSATION, CONVERSATION]),
        "\n".join([json.dumps(CONVERSATION)] * 2),
        "\n".join([json.dumps({"messages": CONVERSATION})] * 2),
    ],
)
def test_several_conversations_are_numbered(text):
    """Each of several has a name of its own."""
    found = texts(parse_transcripts(text, name="run"))
    assert found == [("run#1", READ), ("run#2", READ)]


def test_conversations_with_ids_are_named_by_them():
    """An id goes before a number; one that is no label is passed over."""
    rows = [{"id": one, "messages": CONVERSATION} for one in ("a", 7, " ", [1])]
    found = parse_transcripts(json.dumps(rows), name="run")
    assert [t.name for t in found] == ["run#a", "run#7", "run#3", "run#4"]


def test_a_system_prompt_beside_the_messages_is_read():
    """An Anthropic request is a conversation."""
    text = json.dumps({"system": "Be brief.", "messages": CONVERSATION})
    (found,) = parse_transcripts(text)
    assert [m.type for m in found.messages] == ["system", "human", "ai"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not nothing"),
        (" \n", "not nothing"),
        ("{", "must be JSON"),
        ('[\n {"role":', "must be JSON"),
        ("[" * 100_000, "must be JSON"),
        (f"{LINES}\nnope", "run line 3. must be JSON"),
        ("3", "must be a conversation"),
        ('{"a": 1}', "must be a conversation"),
        ('{"values": {"a": 1}}', "must be a conversation"),
        ("[]", "must hold at least one message"),
        ('{"messages": []}', "must hold at least one message"),
        (json.dumps([[ASK], ASK]), "run, message 1. must be a message"),
        (json.dumps([[ASK], [[3]]]), "run, conversation 2, conversation 1"),
        (json.dumps({"messages": [ASK, 3]}), "run, message 2"),
    ],
)
def test_what_is_no_transcript_is_refused_with_its_place(text, said):
    """The error says what was expected, and where."""
    with pytest.raises(InvalidInputError, match=said):
        parse_transcripts(text, name="run")


_KEYS = ("role", "content", "type", "data", "messages", "tool_calls", "id", "lc")
_KEYS += ("kwargs", "values", "system", "function", "name", "input")
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.sampled_from(["user", "tool", "ai", "constructor", "x", "tool_use"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_any_json_is_read_or_refused(value):
    """There is no third way: neither another error nor an empty answer."""
    try:
        found = parse_transcripts(json.dumps(value))
    except InvalidInputError:
        return
    assert found
    assert all(type(t) is Transcript and t.messages for t in found)


@pytest.mark.parametrize("name", ["run.json", "run.jsonl.gz", "run"])
def test_a_file_is_read_packed_or_not(tmp_path, name):
    """Gzip is told by content, and a byte order mark does not matter."""
    data = b"\xef\xbb\xbf" + LINES.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert texts(read_transcripts(path)) == [("run", READ)]


def test_a_dash_reads_the_input(monkeypatch):
    """A transcript can come through a pipe."""
    pipe = io.TextIOWrapper(io.BytesIO(LINES.encode()))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert texts(read_transcripts("-")) == [("stdin", READ)]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe", "UTF-8"),
        (gzip.compress(LINES.encode())[:-9], "can be read"),
        (b"\x1f\x8b\x08junk that is no gzip", "can be read"),
        (LINES.encode() * 9, "at most 500 bytes"),
        (gzip.compress(b" " * 9_999), "at most 500 bytes"),
    ],
    ids=["no text", "cut short", "no gzip", "long", "swelling"],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, data, said):
    """A damaged, foreign or swelling file ends with a message."""
    path = tmp_path / "run.json"
    path.write_bytes(data)
    with pytest.raises(InvalidInputError, match=said):
        read_transcripts(path, max_bytes=500)


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_path_that_is_no_file_is_refused(tmp_path, name):
    """So does a wrong path."""
    with pytest.raises(InvalidInputError, match=r"FILE.*can be read"):
        read_transcripts(tmp_path / name)


def test_a_file_named_like_its_ending_keeps_its_name(tmp_path):
    """A name is never empty."""
    path = Path(tmp_path, ".json")
    path.write_text(LINES)
    assert read_transcripts(path)[0].name == str(path)
