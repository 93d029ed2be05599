import json

import pytest
from langchain.agents.middleware.types import ModelRequest
from langchain.agents.structured_output import (
    AutoStrategy,
    ProviderStrategy,
    ToolStrategy,
)
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from langchain_memkit import ApproximateCounter, BudgetExceededError, ContextBudget
from langchain_memkit.messages import mark_resident
from langchain_memkit.middleware.overhead import block_tokens, request_tokens, settle
from langchain_memkit.middleware.window import Window
from langchain_memkit.testing import ScriptedChatModel

COUNT = ApproximateCounter()


class Report(BaseModel):
    """What was found."""

    lines: list[str]


def request_of(**options):
    return ModelRequest(model=ScriptedChatModel(script=[]), messages=[], **options)


def window_of(**options):
    return Window.make(
        **{"max_tokens": None, "fraction": None, "budget": None, "reserve_tokens": 0}
        | options
    )


def test_an_empty_request_costs_nothing():
    """Without system prompt, tools and schema there is no overhead."""
    assert request_tokens(request_of(), COUNT) == 0


def test_system_prompt_and_tools_are_counted(look_up):
    """Tools of both forms cost what their JSON costs."""
    schema = convert_to_openai_tool(look_up)
    system = SystemMessage("Be brief.")
    request = request_of(system_message=system, tools=[look_up, schema])
    one = COUNT([SystemMessage(json.dumps(schema))])
    assert request_tokens(request, COUNT) == COUNT([system]) + 2 * one


@pytest.mark.parametrize(
    "answer",
    [Report, AutoStrategy(Report), ToolStrategy(Report), ProviderStrategy(Report)],
)
def test_the_schema_of_the_answer_is_counted(answer):
    """However it is asked for, the schema of the answer has its price."""
    assert request_tokens(request_of(response_format=answer), COUNT) > 20


def test_a_block_is_priced_at_its_budget():
    """What a block holds makes no difference while it is within its budget."""
    known = {"mem": {"turn": "1", "text": "likes teal", "tokens": 64, "on_store": None}}
    block = mark_resident(HumanMessage("likes teal"), 64)
    assert block_tokens([], known, count=COUNT) == (64, 0)
    assert block_tokens([block], known, count=COUNT) == (64, 64)
    assert block_tokens([block], {}, count=COUNT) == (64, 64)
    empty = {"mem": {"turn": "1", "text": "", "tokens": 64, "on_store": None}}
    assert block_tokens([], empty, count=COUNT) == (64, 0)


def test_a_block_over_its_budget_has_its_own_price():
    """A counter that finds more than the budget is believed."""
    known = {
        "mem": {"turn": "1", "text": "likes teal " * 40, "tokens": 64, "on_store": None}
    }
    total, _ = block_tokens([], known, count=COUNT)
    assert total > 100


@pytest.mark.parametrize(
    ("now", "past", "settled"),
    [
        (500, [], 500),
        (500, [[0, 500]], 500),
        (500, [[0, 503]], 503),
        (500, [[0, 508]], 502),
        (500, [[0, 499]], 502),
        (500, [[0, 503], [9, 900]], 502),
    ],
)
def test_only_a_little_less_counts_as_the_same(now, past, settled):
    """The last overhead stands while it is enough and by a 128th too much at most."""
    assert settle(now, past, max_tokens=640) == settled


def test_a_context_budget_holds_its_shares_back():
    """Memories beyond their share come off the messages, and below it they do not."""
    budget = ContextBudget(max_tokens=1_000, reserve_tokens=100)
    window = window_of(budget=budget)
    share = budget.split(overhead_tokens=50)
    plain = window.overhead(request_tokens=50, block_tokens=0)
    assert plain == 1_000 - share.history_tokens
    assert window.overhead(request_tokens=50, block_tokens=45) == plain
    assert window.overhead(request_tokens=50, block_tokens=75) == plain + 30


def test_a_context_budget_that_cannot_be_met_is_an_error():
    """Floors above the window are refused as the budget refuses them."""
    budget = ContextBudget(max_tokens=100, history_floor_tokens=80)
    with pytest.raises(BudgetExceededError):
        window_of(budget=budget).overhead(request_tokens=50, block_tokens=0)


def test_each_way_to_give_a_window():
    """A number, a share of the profile, or a budget."""
    profile = {"max_input_tokens": 1_000}
    assert window_of(max_tokens=700).tokens(profile) == 700
    assert window_of(fraction=0.5).tokens(profile) == 500
    assert window_of(budget=ContextBudget(max_tokens=300)).tokens(profile) == 300
