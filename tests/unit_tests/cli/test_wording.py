"""Messages are named as a reader of transcripts would name them."""

from langchain_core.messages import AIMessage, HumanMessage

from langchain_memkit.cli.replay import Call
from langchain_memkit.cli.wording import describe_departures, excerpt_of, kind_of


def test_departures_are_described_by_kind(conversation):
    """Numbers and kinds, in one line."""
    call = Call(9, 1, 1, True, True, True, None, gone=(0, 2, 4), cut=(3,))
    assert describe_departures(call, conversation) == (
        "1 system message left, 2 assistant messages left, 1 tool result shortened"
    )


def test_an_odd_message_is_a_message():
    """A kind is named for every type."""
    assert kind_of(AIMessage("x").model_copy(update={"type": "odd"})) == "message"


def test_an_excerpt_is_the_text_or_the_calls(conversation):
    """A message without text is known by what it calls."""
    assert excerpt_of(conversation[2], max_characters=12) == "I look at p…"
    conversation[2].content = ""
    assert excerpt_of(conversation[2]) == "calls look_up"
    assert excerpt_of(HumanMessage([{"type": "text", "text": "Hi"}])) == "Hi"
    assert excerpt_of(HumanMessage([{"type": "image"}])) == "[{'type': 'image'}]"
