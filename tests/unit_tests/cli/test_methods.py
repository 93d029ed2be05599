"""The methods are what their names say, and none changes what it is given."""

import pytest

from langchain_memkit.cli.methods import available_methods
from langchain_memkit.cli.replay import Gauge
from langchain_memkit.counters.approximate import ApproximateCounter
from langchain_memkit.trimmer import validate_history

COUNT = ApproximateCounter()
NAMES = ["everything", "trim_messages", "clear_tool_uses", "memkit"]


@pytest.fixture
def prompts(conversation):
    """What each method sends of the whole conversation at half its tokens."""
    methods, notes = available_methods()
    assert notes == []
    budget, gauge = COUNT(conversation) // 2, Gauge(conversation, COUNT)
    return {m.name: m.make(budget, COUNT, gauge)(conversation[:-1]) for m in methods}


def test_all_methods_are_there_in_order(prompts):
    """The last one is this package's."""
    assert list(prompts) == NAMES


def test_everything_is_everything(prompts, conversation):
    """The scale is the whole history."""
    assert prompts["everything"] == conversation[:-1]


def test_the_recipe_cuts_by_age(prompts, conversation):
    """With one user message and a long loop it leaves the system message alone."""
    assert prompts["trim_messages"] == conversation[:1]


def test_clearing_replaces_old_results(prompts):
    """All but the newest three results are cleared."""
    results = [m.content for m in prompts["clear_tool_uses"] if m.type == "tool"]
    assert results[:3] == ["[cleared]"] * 3
    assert all(text.startswith("Page") for text in results[3:])


def test_this_package_fits_and_is_valid(prompts, conversation):
    """The question and the last message stand, in budget."""
    sent = prompts["memkit"]
    assert validate_history(sent) == []
    assert COUNT(sent) <= COUNT(conversation) // 2
    assert sent[1] == conversation[1]
    assert sent[-1].tool_call_id == conversation[-2].tool_call_id


@pytest.mark.parametrize("name", NAMES)
def test_no_method_changes_what_it_is_given(conversation, name):
    """Messages are the user's."""
    before = [m.model_dump() for m in conversation]
    (method,) = [m for m in available_methods()[0] if m.name == name]
    method.make(100, COUNT, Gauge(conversation, COUNT))(list(conversation))
    assert [m.model_dump() for m in conversation] == before


def test_without_langchain_its_method_is_left_out(monkeypatch):
    """A note says what is missing."""
    monkeypatch.setattr("langchain_memkit.cli.methods.find_spec", lambda name: None)
    methods, (note,) = available_methods()
    assert [m.name for m in methods] == [n for n in NAMES if n != "clear_tool_uses"]
    assert note.startswith("clear_tool_uses is left out: langchain is not installed")
