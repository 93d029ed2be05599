import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.scripts import estimate_script_tokens

KNOWN = [  # text, tokens of o200k_base
    ("The ferry leaves the northern pier at noon, before the gate closes.", 14),
    ("渡轮中午从北码头出发，闸门关闭后到达的乘客必须等待傍晚的航班。", 23),
    ("フェリーは正午に北の桟橋を出発し、門が閉まった後に着いた乗客は待ちます。", 30),
    ("여객선은 정오에 북쪽 부두에서 출발하며 늦게 도착한 승객은 기다려야 합니다.", 24),
    ('[{"sku": "KX-104-B", "qty": 12, "price": 40.25, "in_stock": true}]', 29),
]


@pytest.mark.parametrize(("text", "tokens"), KNOWN)
def test_the_estimate_is_near_the_real_count(text, tokens):
    """Short texts of each script are within a quarter of what `o200k_base` counts."""
    assert abs(estimate_script_tokens(text) / tokens - 1) <= 0.25


@pytest.mark.parametrize(
    "text",
    ["你好世界" * 25, "안녕하세요 세계" * 12, "こんにちは世界" * 14, "🚀🧪" * 25],
)
def test_wide_scripts_are_never_priced_as_latin(text):
    """Each character of these scripts costs at least 0.6 tokens."""
    assert estimate_script_tokens(text) >= 0.6 * len(text.replace(" ", ""))


def test_long_words_cost_by_their_letters():
    """A word of many letters costs more than one of few."""
    words = ["tide", "harbours", "navigation", "internationalisation"]
    costs = [estimate_script_tokens(f"{word} " * 10) for word in words]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


@given(st.text())
def test_only_the_empty_text_is_free(text):
    """Every text that is not empty costs at least one token."""
    assert (estimate_script_tokens(text) > 0) == bool(text)


@given(st.text())
def test_the_estimate_is_deterministic(text):
    """The same text has the same estimate."""
    assert estimate_script_tokens(text) == estimate_script_tokens(text)


@given(st.text(max_size=40), st.integers(2, 5))
def test_repeating_a_text_never_makes_it_cheaper(text, times):
    """A text repeated on new lines costs at least as much as once."""
    repeated = "\n".join([text] * times)
    assert estimate_script_tokens(repeated) >= estimate_script_tokens(text)
