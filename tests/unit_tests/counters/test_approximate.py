import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.utils import count_tokens_approximately

from langchain_memkit import ApproximateCounter, InvalidInputError
from langchain_memkit.protocols import TokenCounter

CALL = {"name": "look_up", "args": {"query": "tides"}, "id": "c1", "type": "tool_call"}
PAYLOAD = "QUJD" * 100_000
PLAIN = [
    HumanMessage("When is high tide?"),
    HumanMessage("When?", name="ana"),
    SystemMessage("Answer briefly."),
    SystemMessage("Be kind.", additional_kwargs={"__openai_role__": "developer"}),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("At six.", tool_call_id="c1", name="look_up"),
    FunctionMessage("At six.", name="look_up"),
    ChatMessage("Hello.", role="moderator"),
    AIMessageChunk("At six."),
    HumanMessage([{"type": "text", "text": "Look:"}, "here"]),
    HumanMessage([{"type": "text", "text": "Look:"}], name="ana"),
    HumanMessage([{"type": "image_url", "image_url": {"url": "data:,x"}}]),
    AIMessage([{"type": "tool_use", "id": "c1", "name": "look_up", "input": {}}]),
]


@pytest.mark.parametrize("message", PLAIN, ids=lambda m: m.type)
def test_law_12_ordinary_messages_cost_what_langchain_says(message):
    """Where langchain-core is right, the counts are equal."""
    assert ApproximateCounter()([message]) == count_tokens_approximately([message])


@given(st.lists(st.sampled_from(PLAIN)))
def test_law_12_counts_add_up(messages):
    """The count of a list is the sum of the counts of its messages."""
    counter = ApproximateCounter()
    assert counter(messages) == sum(counter([m]) for m in messages)
    assert counter(messages) == counter.count_messages(messages)


def test_law_12_calls_beside_content_blocks_are_counted_once():
    """A call costs the same beside a text block as beside a plain text."""
    counter = ApproximateCounter()
    plain = AIMessage("Looking.", tool_calls=[CALL])
    blocks = AIMessage([{"type": "text", "text": "Looking."}], tool_calls=[CALL])
    both = AIMessage(
        [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {"query": "t"}}],
        tool_calls=[CALL],
    )
    assert counter([plain]) == counter([blocks])
    assert counter([both]) == count_tokens_approximately([both])


@pytest.mark.parametrize(
    "message",
    [
        ToolMessage([{"type": "image", "base64": PAYLOAD}], tool_call_id="s"),
        HumanMessage([{"type": "file", "base64": PAYLOAD}]),
        HumanMessage([{"type": "audio", "data": PAYLOAD}]),
        HumanMessage([{"type": "blob", "data": PAYLOAD}]),
        HumanMessage([{"type": "blob", "data": b"\x00" * 5000}]),
        HumanMessage(
            [
                {
                    "type": "tool_result",
                    "content": [{"type": "image", "source": {"data": PAYLOAD}}],
                }
            ]
        ),
    ],
)
def test_law_12_binaries_have_a_flat_price_at_any_depth(message):
    """Neither bytes nor base64 are priced as text, and none of them is free."""
    assert 10 <= ApproximateCounter()([message]) <= 1_100


def test_law_12_the_flat_prices_can_be_chosen():
    """Images and files cost what the caller says."""
    counter = ApproximateCounter(tokens_per_image=7, tokens_per_file=11)
    empty = counter([HumanMessage([])])
    image, file = {"type": "image"}, {"type": "file"}
    assert counter([HumanMessage([image, image, file])]) == empty + 7 + 7 + 11


@pytest.mark.parametrize(
    "document",
    [
        {"type": "document", "source": {"type": "text", "data": "tide " * 400}},
        {"type": "file", "source_type": "text", "text": "tide " * 400},
        {"type": "text-plain", "text": "tide " * 400},
        {"type": "data", "data": "tide table " * 180},
    ],
)
def test_law_12_plain_text_documents_are_priced_as_text(document):
    """A document block that holds text costs its text."""
    assert ApproximateCounter()([HumanMessage([document])]) >= 500


def test_law_12_opaque_signatures_cost_nothing():
    """Signatures and encrypted contents are not read by the model as text."""
    counter = ApproximateCounter()
    bare = AIMessage([{"type": "thinking", "thinking": "Hm."}])
    signed = AIMessage(
        [{"type": "thinking", "thinking": "Hm.", "signature": "x" * 999}]
    )
    hidden = AIMessage([{"type": "redacted_thinking", "data": "x" * 999}])
    assert counter([bare]) == counter([signed])
    assert counter([hidden]) < 20


def test_law_12_arguments_named_like_signatures_are_priced():
    """What a call says is text, whatever its keys are called."""
    block = {"type": "tool_use", "id": "a", "input": {"signature": "x" * 400}}
    assert ApproximateCounter()([AIMessage([block])]) > 100


@pytest.mark.parametrize("text", [None, 7])
def test_law_12_a_text_of_none_is_tolerated(text):
    """Blocks whose text is missing or no text do not raise."""
    assert ApproximateCounter()([HumanMessage([{"type": "text", "text": text}])]) >= 3


def test_law_12_unhashable_types_and_odd_contents_are_tolerated():
    """A block type that is no text, and a content that is no list, have a price."""
    odd = HumanMessage("x").model_copy(update={"content": {"a": 1}})
    assert ApproximateCounter()([odd]) > 3
    assert ApproximateCounter()([HumanMessage([{"type": ["a"], "b": [1]}])]) > 3


def test_special_tokens_are_ordinary_text():
    """Text that looks like a control token is counted."""
    assert ApproximateCounter().count_text("<|endoftext|>") == 4


def test_the_script_aware_price_differs_where_scripts_do():
    """Chinese costs more than a quarter of its characters, ASCII text about that."""
    message = HumanMessage("你好世界" * 25)
    assert ApproximateCounter()([message]) < 40
    assert ApproximateCounter(script_aware=True)([message]) > 60


def test_a_counter_plays_the_role_and_shows_itself():
    """It is a `TokenCounter`, additive, with a readable form."""
    counter = ApproximateCounter(script_aware=True)
    assert isinstance(counter, TokenCounter)
    assert counter.additive
    assert repr(counter) == "ApproximateCounter(script_aware=True)"


@pytest.mark.parametrize("name", ["tokens_per_image", "tokens_per_file"])
def test_bad_prices_are_refused(name):
    """Flat prices are whole numbers of at least 0."""
    with pytest.raises(InvalidInputError, match=name):
        ApproximateCounter(**{name: -1})
