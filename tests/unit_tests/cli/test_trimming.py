"""Trimming a transcript once tells everything that it did."""

import pytest

from langchain_memkit import ApproximateCounter
from langchain_memkit.cli.compare import parse_budget
from langchain_memkit.cli.transcripts import Transcript
from langchain_memkit.cli.trimming import Trimming, trim_transcript
from langchain_memkit.exceptions import InvalidInputError

COUNT = ApproximateCounter()


@pytest.fixture
def trim(conversation):
    """Trim the conversation to a budget."""

    def run(budget, **options):
        transcript = Transcript("run", tuple(conversation))
        return trim_transcript(
            transcript, parse_budget(budget), counter=COUNT, **options
        )

    return run


def test_in_budget_nothing_happens(trim, conversation):
    """What fits is left alone."""
    trimming = trim("100000")
    assert trimming.tokens_before == trimming.tokens_after == COUNT(conversation)
    assert (trimming.departures, trimming.overflow, trimming.faults) == ((), "", ())


def test_figures_agree_with_each_other(trim):
    """What is sent fits, is valid, and is what did not leave."""
    trimming = trim("50%")
    left = sum(one.action == "evicted" for one in trimming.departures)
    assert trimming.tokens_after <= trimming.max_tokens < trimming.tokens_before
    assert trimming.messages_before - trimming.messages_after == left
    assert (trimming.overflow, trimming.faults) == ("", ())


def test_departures_tell_what_and_why(trim, conversation):
    """Each names the message, its kind, its rule and its text."""
    for one in trim("50%").departures:
        message = conversation[one.index]
        assert one.tokens_before == COUNT([message]) > one.tokens_after
        assert one.is_shortened == (one.tokens_after > 0)
        assert one.text[:9] == message.text[:9]
        expected = "tool result" if message.type == "tool" else "assistant message"
        assert one.kind == expected
        assert one.why


def test_what_does_not_fit_is_told(trim):
    """The best that can be done, and why it is not enough."""
    trimming = trim("5")
    assert trimming.tokens_after > trimming.max_tokens == 5
    assert "got 5" in trimming.overflow


def test_the_newest_steps_can_be_held_longer(trim):
    """An option of the trimmer is passed on."""
    held = [d.index for d in trim("80%", keep_last_steps=2).departures]
    assert held
    assert max(held) < 11
    with pytest.raises(InvalidInputError, match="keep_last_steps"):
        trim("50%", keep_last_steps=-1)


def test_a_trimming_survives_json(trim):
    """Scripts read it back."""
    trimming = trim("50%")
    assert Trimming.model_validate_json(trimming.model_dump_json()) == trimming
