import copy
from pickle import dumps, loads

import pytest

import langchain_memkit
from langchain_memkit import exceptions

BUILTINS = [
    (exceptions.InvalidInputError("k", "must be 1", 2), ValueError),
    (exceptions.UnsafeNameError("name", "must be safe", "../x"), ValueError),
    (exceptions.CounterError("token_counter", "must count", len), ValueError),
    (exceptions.BudgetExceededError(10, 12, 2, ("rule",)), ValueError),
    (exceptions.MemoryNotFoundError("tides"), LookupError),
    (exceptions.EvidenceNotFoundError("abc"), LookupError),
    (exceptions.EvidenceChangedError("abc", "1", "2"), ValueError),
    (exceptions.StoreError("file:x", "is full"), OSError),
    (exceptions.StoreVersionError("file:x", "is newer"), OSError),
    (exceptions.MissingExtraError("sql", "sqlalchemy"), ImportError),
]
ERRORS = [error for error, _ in BUILTINS]


@pytest.mark.parametrize(("error", "builtin"), BUILTINS, ids=lambda x: type(x).__name__)
def test_each_error_is_ours_and_refines_a_builtin(error, builtin):
    """`except MemkitError` and `except` of the builtin both catch it."""
    assert isinstance(error, exceptions.MemkitError)
    assert isinstance(error, builtin)
    assert str(error)


@pytest.mark.parametrize("rebuild", [copy.deepcopy, lambda e: loads(dumps(e))])
@pytest.mark.parametrize("error", ERRORS, ids=lambda x: type(x).__name__)
def test_each_error_comes_back_from_another_process(error, rebuild):
    """Pickling and copying keep the message and the attributes."""
    again = rebuild(error)
    assert (type(again), str(again)) == (type(error), str(error))
    assert vars(again) == vars(error)


def test_the_message_names_parameter_rule_and_value():
    """A reader sees what to change."""
    error = exceptions.InvalidInputError("k", "must be at least 1", 0)
    assert str(error) == "`k` must be at least 1, got 0"


def test_a_long_value_is_shortened():
    """A megabyte of input does not end up in a log."""
    assert len(exceptions.shorten("x" * 10**6)) == 120


def test_a_budget_error_lists_what_makes_the_floor():
    """The figures and the pins are attributes and stand in the message."""
    error = exceptions.BudgetExceededError(10, 12, 2, ("system message",))
    assert (error.max_tokens, error.floor_tokens, error.shortfall_tokens) == (10, 12, 2)
    assert "system message" in str(error)
    assert str(exceptions.BudgetExceededError(10, 12, 2)).endswith("than there is")


def test_every_error_is_public():
    """All error classes are at the root."""
    assert set(exceptions.__all__) <= set(langchain_memkit.__all__)
