"""Many units under one budget."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.excerpts import TextUnits
from langchain_memkit.core.packing import PackCosts, PackText, Pick, pack_units
from langchain_memkit.core.units import join_spans

COSTS = PackCosts(document=37, join=3)


@st.composite
def pack_texts(draw):
    """Make a text of x between spaces, and its units."""
    lengths = draw(st.lists(st.integers(1, 40), max_size=8))
    spans, at = [], 0
    for length in lengths:
        spans.append((at, at + length))
        at += length + draw(st.integers(1, 3))
    values = draw(st.lists(st.floats(0, 9), min_size=len(spans), max_size=len(spans)))
    skip = draw(st.frozensets(st.integers(0, 8), max_size=2))
    units = TextUnits(spans, [0] * len(spans), values, 1.0)
    return PackText(units, lengths, draw(st.floats(0, 1)), skip)


TEXTS = st.lists(pack_texts(), max_size=5)
BUDGETS = st.integers(0, 400)


def cost_of(texts, picks):
    """Price a packing from scratch: tags, segments and joints."""
    total = 0
    for at, text in enumerate(texts):
        spans = [text.units.spans[p.unit] for p in picks if p.text == at]
        content = [" "] * (max((end for _, end in text.units.spans), default=0))
        for start, end in text.units.spans:
            content[start:end] = "x" * (end - start)
        segments = join_spans("".join(content), spans)
        total += sum(end - start for start, end in segments)
        total += COSTS.join * max(0, len(segments) - 1) + COSTS.document * bool(spans)
    return total


@given(TEXTS, BUDGETS, st.booleans())
def test_the_budget_holds_for_any_leading_part(texts, budget, in_order):
    """What was picked costs no more than the budget, priced from scratch."""
    picks = pack_units(texts, budget=budget, costs=COSTS, in_order=in_order)
    assert all(cost_of(texts, picks[:n]) <= budget for n in range(len(picks) + 1))


@given(TEXTS, BUDGETS, st.booleans())
def test_each_unit_is_picked_once_and_never_a_skipped_one(texts, budget, in_order):
    """Picks are distinct, exist, and are not to be skipped."""
    picks = pack_units(texts, budget=budget, costs=COSTS, in_order=in_order)
    assert len(set(picks)) == len(picks)
    assert all(p.unit in range(len(texts[p.text].units.spans)) for p in picks)
    assert not any(p.unit in texts[p.text].skip for p in picks)


@given(TEXTS)
def test_a_large_budget_takes_everything(texts):
    """Where all fits, all is picked."""
    picks = pack_units(texts, budget=10_000, costs=COSTS)
    wanted = {
        Pick(at, unit)
        for at, text in enumerate(texts)
        for unit in range(len(text.units.spans))
        if unit not in text.skip
    }
    assert set(picks) == wanted


@given(TEXTS, BUDGETS)
def test_the_same_texts_give_the_same_picks(texts, budget):
    """Picking is deterministic."""
    one = pack_units(texts, budget=budget, costs=COSTS)
    assert one == pack_units(list(texts), budget=budget, costs=COSTS)


@given(TEXTS, BUDGETS, st.integers(1, 3), st.booleans())
def test_no_text_has_more_units_than_allowed(texts, budget, most, in_order):
    """`most_units` bounds each text."""
    picks = pack_units(
        texts, budget=budget, costs=COSTS, most_units=most, in_order=in_order
    )
    assert all(sum(p.text == at for p in picks) <= most for at in range(len(texts)))


def one_unit(value, length=10, tie_break=0.0):
    return PackText(TextUnits([(0, length)], [0], [value], 1.0), [length], tie_break)


def test_value_over_cost_decides():
    """The unit that is worth most for its cost goes first."""
    texts = [one_unit(5.0, length=90), one_unit(4.0), one_unit(1.0)]
    picks = pack_units(texts, budget=500, costs=COSTS)
    assert [pick.text for pick in picks] == [1, 0, 2]


def test_ties_go_to_the_tie_break_then_to_the_order():
    """Equal units go by recoverability, then as the base found them."""
    texts = [one_unit(1.0), one_unit(1.0), one_unit(1.0, tie_break=0.5)]
    picks = pack_units(texts, budget=500, costs=COSTS)
    assert [pick.text for pick in picks] == [2, 0, 1]


def test_a_neighbour_pays_only_its_text():
    """Beside a picked unit another fits where a new document would not."""
    units = TextUnits([(0, 10), (11, 21)], [0, 0], [2.0, 1.0], 1.0)
    picks = pack_units([PackText(units, [10, 10])], budget=58, costs=COSTS)
    assert len(picks) == 2


def test_a_huge_text_offers_its_best_units():
    """Beyond eight budgets of better units, none is looked at."""
    spans = [(at * 11, at * 11 + 10) for at in range(1000)]
    values = [float(at % 100) for at in range(1000)]
    units = TextUnits(spans, [0] * 1000, values, 1.0)
    picks = pack_units([PackText(units, [10] * 1000)], budget=60, costs=COSTS)
    assert [values[pick.unit] for pick in picks] == [99.0, 98.0]


def test_in_order_stops_at_what_does_not_fit():
    """Plain order leaves nothing out in the middle."""
    texts = [one_unit(1.0), one_unit(9.0, length=200), one_unit(9.0)]
    picks = pack_units(texts, budget=150, costs=COSTS, in_order=True)
    assert picks == (Pick(0, 0),)
