import sys

import pytest
import tiktoken
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_memkit import (
    ApproximateCounter,
    CounterError,
    InvalidInputError,
    MissingExtraError,
    TiktokenCounter,
)

CALL = {"name": "look_up", "args": {"q": "tide"}, "id": "c1", "type": "tool_call"}


@pytest.fixture
def bytes_table(monkeypatch):
    """Make every encoding one of single bytes, so that no table is needed."""
    encoding = tiktoken.Encoding(
        name="bytes",
        pat_str=r"[\s\S]",
        mergeable_ranks={bytes([n]): n for n in range(256)},
        special_tokens={"<|endoftext|>": 256},
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: encoding)
    monkeypatch.setattr(
        "langchain_memkit.counters.tiktoken._TABLE_FILES", {}, raising=True
    )


@pytest.fixture
def no_tables(monkeypatch, tmp_path):
    """Point tiktoken at an empty cache."""
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))


@pytest.mark.usefixtures("bytes_table")
def test_texts_calls_ids_and_names_are_counted():
    """A message costs its parts and four tokens for the frame."""
    counter = TiktokenCounter()
    assert counter.count_text("tide") == 4
    assert counter([HumanMessage("tide")]) == 8
    assert counter([HumanMessage("tide", name="ana")]) == 11
    assert counter([ToolMessage("tide", tool_call_id="c1")]) == 10
    assert counter([AIMessage("", tool_calls=[CALL])]) == 4 + 7 + len('{"q": "tide"}')
    assert repr(counter) == "TiktokenCounter(bytes)"
    assert counter.additive


@pytest.mark.usefixtures("bytes_table")
def test_special_tokens_and_lone_surrogates_are_ordinary_text():
    """Neither makes the counter raise."""
    counter = TiktokenCounter(model="gpt-4o")
    assert counter.count_text("<|endoftext|>") == 13
    assert counter.count_text("\ud800") > 0


@pytest.mark.usefixtures("no_tables")
def test_a_missing_table_is_a_clear_error_and_nothing_is_fetched():
    """The error names the table, the folder and the way out."""
    with pytest.raises(CounterError, match="o200k_base") as caught:
        TiktokenCounter()
    assert "fallback" in str(caught.value)


@pytest.mark.usefixtures("no_tables")
def test_a_table_in_the_cache_is_loaded(monkeypatch, tmp_path):
    """Where the file lies in the cache, tiktoken is asked to load it."""
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").touch()
    asked = []
    monkeypatch.setattr(tiktoken, "get_encoding", asked.append)
    TiktokenCounter()
    assert asked == ["o200k_base"]


def test_the_default_cache_is_the_one_of_tiktoken(monkeypatch, tmp_path):
    """Without a setting the table is looked for in the temporary folder."""
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with pytest.raises(CounterError, match="data-gym-cache"):
        TiktokenCounter(encoding="cl100k_base")


@pytest.mark.usefixtures("no_tables")
def test_the_fallback_counts_approximately_and_says_so(caplog):
    """With a fallback the counter works, after a warning."""
    counter = TiktokenCounter(fallback="approximate")
    messages = [HumanMessage("When is high tide?")]
    assert counter(messages) == ApproximateCounter()(messages)
    assert counter.count_text("tide") == 1
    assert "counting approximately" in caplog.text
    assert repr(counter) == "TiktokenCounter(approximate)"


@pytest.mark.parametrize("option", ["model", "encoding"])
def test_unknown_names_are_refused(option):
    """A model or encoding that tiktoken does not know is named in the error."""
    with pytest.raises(CounterError, match=f"`{option}`.*'nope'"):
        TiktokenCounter(**{option: "nope"})
    assert TiktokenCounter(**{option: "nope"}, fallback="approximate")([]) == 0


def test_a_damaged_table_is_a_clear_error(monkeypatch):
    """What tiktoken raises while loading becomes an error of ours."""

    def broken(_):
        msg = "no such host"
        raise OSError(msg)

    monkeypatch.setattr(tiktoken, "get_encoding", broken)
    monkeypatch.setattr("langchain_memkit.counters.tiktoken._TABLE_FILES", {})
    with pytest.raises(CounterError, match="no such host"):
        TiktokenCounter()


def test_encoding_and_model_exclude_each_other():
    """Both at once is a contradiction."""
    with pytest.raises(InvalidInputError, match="model"):
        TiktokenCounter(encoding="o200k_base", model="gpt-4o")


def test_an_unknown_fallback_is_refused():
    """There is one fallback."""
    with pytest.raises(InvalidInputError, match="fallback"):
        TiktokenCounter(fallback="guess")


def test_a_missing_extra_says_what_to_install(monkeypatch):
    """Without tiktoken the error names the extra, and the fallback works."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingExtraError, match=r"langchain-memkit\[tiktoken\]"):
        TiktokenCounter()
    assert TiktokenCounter(fallback="approximate").count_text("tide") == 1
