"""The replay of a history, on plain numbers."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memkit.core.facts import (
    GONE,
    HIDDEN,
    RESULT,
    STEP,
    SYSTEM,
    TALK,
    TURN,
    Facts,
)
from langchain_memkit.core.replay import Budget, Replay, Rules


class Flat:
    """Prices: a stub costs 2, a clip its room, a repair 5, bare reasoning 1."""

    def stub(self, index):
        return 2

    def clip(self, index, room):
        return max(2, room)

    def head(self, index, *, results, mended, bare):
        return 1 if bare else 5 * mended


kinds = st.sampled_from([TURN, STEP, TALK, RESULT, RESULT, SYSTEM])
histories = st.lists(st.tuples(kinds, st.integers(1, 60), st.sampled_from("ab")))
budgets = st.integers(min_value=0, max_value=400)
RULES = Rules(keep_last_steps=2, sends_overflow=True)


def facts_of(history):
    facts = Facts()
    for k, (code, cost, name) in enumerate(history):
        facts.codes.append(code)
        facts.costs.append(cost)
        if code == STEP:
            facts.calls[k] = (name,)
        if code == RESULT:
            facts.answers[k] = name
    return facts


def outcome(history, limit, stops=None, rules=RULES):
    replay = Replay(facts_of(history), prices=Flat(), rules=rules)
    budget = Budget(0, limit, limit // 2)
    for stop in stops or [len(history)]:
        replay.advance(stop, [budget])
    return replay.outcome(budget)


@given(histories, budgets)
def test_totals_add_up(history, limit):
    """The total is the sum over the messages in their present form."""
    line = outcome(history, limit)
    assert line.total == sum(line.current)
    assert all(not line.current[k] for k, f in enumerate(line.form) if f >= GONE)


@given(histories, budgets)
def test_walking_on_step_by_step_comes_to_the_same(history, limit):
    """Where it stopped in between makes no difference."""
    stops = list(range(1, len(history) + 1)) or [0]
    slow, fast = outcome(history, limit, stops), outcome(history, limit)
    assert (slow.form, slow.current, slow.log) == (fast.form, fast.current, fast.log)


@given(histories, budgets)
def test_system_messages_and_the_last_turn_never_leave(history, limit):
    """What must stay is in its own form, at any budget."""
    line = outcome(history, limit)
    turns = [k for k, (code, *_) in enumerate(history) if code == TURN]
    fixed = [k for k, (code, *_) in enumerate(history) if code == SYSTEM]
    assert all(line.form[k] == 0 for k in [*fixed, *turns[-1:]])


@given(histories, budgets)
def test_an_outcome_leaves_the_walk_where_it_stood(history, limit):
    """Asking what would be sent changes nothing."""
    replay = Replay(facts_of(history), prices=Flat(), rules=RULES)
    budget = Budget(0, limit, limit // 2)
    replay.advance(len(history), [budget])
    before = (bytes(replay.line.form), replay.line.total, len(replay.line.log))
    replay.outcome(budget)
    line = replay.line
    assert (bytes(line.form), line.total, len(line.log)) == before


def test_budgets_hold_from_their_start():
    """A budget that falls later does not move an earlier cut."""
    history = [(TURN, 10, "a"), *[(TALK, 10, "a"), (TURN, 10, "a")] * 4]
    replay = Replay(facts_of(history), prices=Flat(), rules=RULES)
    replay.advance(len(history), [Budget(0, 60, 40), Budget(8, 50, 30)])
    assert [k for k, f in enumerate(replay.line.form) if f == GONE] == [1]
    line = replay.outcome(Budget(8, 50, 30))
    assert [k for k, f in enumerate(line.form) if f == GONE] == [1, 3, 5, 7]


def test_a_late_result_brings_its_step_back_as_stubs():
    """A step that left returns with a result that comes late, its others short."""
    history = [(TURN, 5, ""), (STEP, 5, ""), (RESULT, 50, "a"), (TURN, 5, "")]
    history += [(TALK, 90, ""), (TURN, 5, ""), (TURN, 5, ""), (RESULT, 20, "b")]
    facts = facts_of(history)
    facts.calls[1] = ("a", "b")
    replay = Replay(facts, prices=Flat(), rules=RULES)
    budget = Budget(0, 60, 20)
    replay.advance(7, [budget])
    assert replay.line.form[1] == GONE
    replay.advance(8, [budget])
    assert list(replay.outcome(budget).form)[1:3] == [0, 1]


def test_a_late_result_of_a_small_step_comes_back_whole():
    """What is no larger than a stub is not made one."""
    history = [(TURN, 5, ""), (STEP, 40, ""), (RESULT, 1, "a"), (TURN, 5, "")]
    history += [(TALK, 90, ""), (TURN, 5, ""), (TURN, 5, ""), (RESULT, 9, "b")]
    facts = facts_of(history)
    facts.calls[1] = ("a", "b")
    replay = Replay(facts, prices=Flat(), rules=RULES)
    replay.advance(7, [Budget(0, 70, 20)])
    assert replay.line.form[1] == GONE
    replay.advance(8, [Budget(0, 70, 20)])
    assert list(replay.line.form)[1:3] == [0, 0]


def test_an_orphan_is_hidden():
    """A result that answers no call takes no part."""
    line = outcome([(TURN, 5, ""), (RESULT, 50, "a")], 10)
    assert (list(line.form), line.total) == ([0, HIDDEN], 5)


def test_turns_stay_where_they_could_not_have_helped():
    """A call that would be refused anyway lets no turn leave."""
    history = [(TURN, 10, ""), (TURN, 90, ""), (TURN, 10, "")]
    kept = outcome(history, 50, rules=Rules(sends_overflow=False))
    assert list(kept.form) == [0, GONE, 0]
    sent = outcome(history, 50, rules=Rules(sends_overflow=True))
    assert list(sent.form) == [GONE, GONE, 0]
    loose = Rules(pin_first_turn=False)
    assert list(outcome(history, 50, rules=loose).form) == [GONE, GONE, 0]


def test_a_turn_that_already_left_is_passed_over():
    """A turn that left on another rung is not counted twice."""
    facts = facts_of([(TALK, 10, ""), (TURN, 10, ""), (TALK, 50, "")])
    facts.codes += bytes([TURN] * 3)
    facts.costs += [10] * 3
    facts.moved[0] = TURN
    replay = Replay(facts, prices=Flat(), rules=Rules(keep_last_steps=0))
    replay.advance(6, [Budget(0, 60, 60)])
    assert [k for k, f in enumerate(replay.line.form) if f == GONE] == [0, 2]
    assert replay.line.turn_tokens == 30
    line = replay.outcome(Budget(0, 25, 25))
    assert [k for k, f in enumerate(line.form) if f == GONE] == [0, 2, 3, 4]


def test_a_repair_of_what_left_changes_nothing():
    """A step that left before its calls were given up stays away."""
    history = [(TURN, 5, ""), (STEP, 50, "a"), (TURN, 5, ""), (TURN, 5, "")]
    replay = Replay(facts_of(history), prices=Flat(), rules=RULES)
    replay.advance(2, [Budget(0, 20, 20)])
    replay.line.remove(1, rung=0)
    replay.advance(4, [Budget(0, 20, 20)])
    assert replay.line.form[1] == GONE


def test_two_clips_of_one_result_only_ever_shrink_it():
    """A room that is larger than the clip changes nothing."""
    replay = Replay(facts_of([(TURN, 50, "")]), prices=Flat(), rules=RULES)
    replay.advance(1, [Budget(0, 90, 90)])
    replay.line.clip(0, 20, rung=0)
    replay.line.clip(0, 30, rung=0)
    assert replay.line.rooms == {0: 20}


def test_a_result_that_was_moved_up_keeps_its_step_while_nothing_follows():
    """It may have been the last message, so that trimming twice changes nothing."""
    history = [(TURN, 5, ""), (STEP, 40, "a"), (RESULT, 40, "a"), (TURN, 5, "")]
    facts = facts_of(history)
    facts.late.add(2)
    replay = Replay(facts, prices=Flat(), rules=RULES)
    replay.advance(4, [Budget(0, 100, 50)])
    assert list(replay.outcome(Budget(0, 60, 30)).form) == [0, 0, 2, 0]
