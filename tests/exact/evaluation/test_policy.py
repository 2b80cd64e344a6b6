"""Policies that look at what was spent: looked up, followed, evaluated and simulated, against the plain way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from compare import as_points
from doors import NOTHING
from lanes import scaled
from moody_policies import Ruled, by_pieces
from safear.errors import ObjectiveError, PersonError
from safear.evaluation import Policy, SpentPolicy, StatePolicy, evaluate_states, run_exactly
from strategies import problems

# ----------------------------------------------------------------------------------------------------------- looking up


class Drawn(dict[int, list[tuple[int, int]]]):
    """For some places: (account from which on, choice), rising."""

    def look_up(self, place: int, account: int) -> int:
        """The last piece that begins at or below the account; the lowest one if none does."""
        pieces = self.get(place, [])
        if not pieces:
            return NOTHING
        below = [choice for first, choice in pieces if first <= account]
        return below[-1] if below else pieces[0][1]

    def policy(self, order: np.random.Generator) -> SpentPolicy:
        """From pieces in any order."""
        rows = [(place, first, choice) for place, pieces in self.items() for first, choice in pieces]
        shuffled = [rows[i] for i in order.permutation(len(rows))]
        return by_pieces(LOAN, np.zeros(LOAN.n_states, np.int64), shuffled)


def loan() -> sa.MDP:
    problem = sa.load_example("loan")
    return replace(sa.compile_mdp(problem, start=problem.default_person), horizon=3)


def pieces_for(mdp: sa.MDP) -> st.SearchStrategy[Drawn]:
    """Pieces at any places, with gaps between stretches as for several people."""
    firsts = st.one_of(st.integers(-9, 40), st.integers(1000, 1010), st.sampled_from([-FAR, FAR, FAR + 1]))
    one = st.lists(st.tuples(firsts, st.integers(0, 3)), max_size=6, unique_by=lambda piece: piece[0])
    places = st.dictionaries(st.integers(0, mdp.horizon * mdp.n_states - 1), one.map(sorted), max_size=12)
    return places.map(lambda drawn: Drawn({place: limit(mdp, place, pieces) for place, pieces in drawn.items()}))


def limit(mdp: sa.MDP, place: int, pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same with choices that there are."""
    rows = int(np.diff(mdp.row_start)[place % mdp.n_states])
    return [(first, choice if choice < rows else NOTHING) for first, choice in pieces]


LOAN = loan()
FAR = 2**60  # so that no number can hold both a place and so much
ACCOUNTS = st.one_of(
    st.integers(-50, 60), st.integers(990, 1020), st.integers(FAR - 3, FAR + 9), st.integers(-FAR - 3, 3 - FAR)
)


@given(pieces_for(LOAN), st.integers(0, 2), st.lists(ACCOUNTS, min_size=1, max_size=4), st.integers(0, 9))
def test_the_piece_is_that_of_the_plain_search(drawn: Drawn, step: int, accounts: list[int], seed: int) -> None:
    policy = drawn.policy(np.random.default_rng(seed))
    pairs = [(state, account) for state in range(LOAN.n_states) for account in [*accounts, 10**12]]
    states, asked = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    expected = [drawn.look_up(step * LOAN.n_states + state, account) for state, account in pairs]
    found = policy.choose(step, states, asked)
    assert found.tolist() == expected
    assert found.dtype == np.uint8
    rows = [-1 if c == NOTHING else LOAN.row_start[s] + c for (s, _), c in zip(pairs, expected, strict=True)]
    assert policy.rows(step, states, asked).tolist() == rows


def test_without_pieces_there_is_nothing_to_do() -> None:
    policy = Drawn().policy(np.random.default_rng(0))
    assert policy.choose(1, np.array([0, 3]), np.array([5, -5])).tolist() == [NOTHING, NOTHING]
    assert policy.action() is None


@given(
    st.dictionaries(st.integers(-9, 40), st.integers(0, 2), min_size=1, max_size=8),
    st.integers(0, 2),
    st.integers(0, LOAN.n_states - 1),
    st.integers(-15, 45),
)
@example({0: 0, 5: 1, 9: 1, 12: 0, 20: 2}, 1, 2, 10)  # the same from 5 to 11
@example({0: 0, 5: 1, 9: 1, 12: 0, 20: 2}, 2, 3, 15)
@example({0: 0, 5: 1, 9: 1, 12: 0, 20: 2}, 0, 1, -3)
@example({0: 0, 5: 1, 9: 1, 12: 0, 20: 2}, 1, 0, 30)
def test_the_same_is_done_from_the_lowest_to_the_highest_account_that_is_told(
    pieces: dict[int, int], step: int, state: int, account: int
) -> None:
    drawn = Drawn({place: [(0, 7), (20, 8)] for place in range(LOAN.horizon * LOAN.n_states)})
    place = step * LOAN.n_states + state
    drawn[place] = sorted(pieces.items())
    policy = drawn.policy(np.random.default_rng(0))
    low, high = policy.steady(step, state, account)
    assert low is None or low <= account
    assert high is None or high >= account
    choice = drawn.look_up(place, account)
    ends = (-100 if low is None else low), (100 if high is None else high)
    assert {drawn.look_up(place, between) for between in range(ends[0], ends[1] + 1)} == {choice}
    assert low is None or drawn.look_up(place, low - 1) != choice
    assert high is None or drawn.look_up(place, high + 1) != choice


def test_with_one_piece_everywhere_nothing_depends_on_what_was_spent() -> None:
    rows = [(place, 0, 0) for place in range(LOAN.horizon * LOAN.n_states)]
    policy = by_pieces(LOAN, np.zeros(LOAN.n_states, np.int64), rows)
    assert not policy.looks_at_spent
    assert policy.steady(0, 0, 3) == (None, None)
    assert by_pieces(LOAN, policy.opening, [*rows, (len(rows) - 1, 5, 1)]).looks_at_spent


@pytest.mark.parametrize(("step", "state"), [(-1, 0), (3, 0), (0, -1), (0, LOAN.n_states)])
def test_nobody_asks_beyond_steps_and_states(step: int, state: int) -> None:
    policy = sa.solve(LOAN, sa.CVaR(0.9)).policy
    with pytest.raises(IndexError, match=f"there is no state {state} at step {step}"):
        policy.choose(step, np.array([0, state]), np.array([5, 5]))
    with pytest.raises(IndexError, match="no account for it"):
        policy.choose(0, np.array([0, 1]), np.array([5]))


# -------------------------------------------------------------------------------------------------- what to do, by name


def try_or_pay(**more: object) -> sa.Problem:
    """With much left try for 1, else pay 4; with three levels so that states are met late."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "try or pay",
            "horizon": 3,
            "features": {
                "x": {"kind": "ordinal", "levels": ["low", "mid", "goal"]},
                "group": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
            },
            "goal": {"favourable": "yes", "failure_cost": 9},
            "classifier": {"rule": "x == goal"},
            "actions": {
                "try": {"cost": 0.5, "chance": 0.5, "change": {"x": "+1"}},
                "pay": {"cost": 2, "change": {"x": "+1"}},
            },
            "people": {"p": {"x": "low", "group": "a"}},
            **more,
        }
    )


def by_account(mdp: sa.MDP, opening: int, limit: int) -> SpentPolicy:
    """Pay (1) while at least `limit` quanta are left on the account, else try (0)."""
    places = [place for place, acts in enumerate(mdp.acting[: mdp.horizon].ravel()) if acts]
    rows = [(place, *piece) for place in places for piece in ((-1, 0), (limit, 1))]
    return by_pieces(mdp, np.full(mdp.n_states, opening), rows)


def test_what_was_spent_decides() -> None:
    problem = try_or_pay()
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.quantum == Fraction(1, 2)
    policy = by_account(mdp, opening=8, limit=6)
    assert policy.looks_at_spent
    assert policy.action() == "pay"
    low = mdp.locate()
    said = [policy.action(low, step=1, spent=spent) for spent in (0, 0.5, 1, 1.25, 1.5, 2, 1000)]
    assert said == ["pay", "pay", "pay", "pay", "try", "try", "try"]
    rows = policy.choosing(8)(1, np.full(4, low), np.array([0, 2, 3, 100]))
    assert [mdp.actions[mdp.row_action[row]] for row in rows] == ["pay", "pay", "try", "try"]
    assert policy.action({"x": "mid", "group": "a"}, step=1, spent=0.5, start={"x": "low", "group": "a"}) == "pay"
    assert policy.action({"x": "goal", "group": "a"}, step=2, spent=0.5) is None
    assert as_points(sa.evaluate(policy)) == pytest.approx(
        {(Fraction(5, 2), True): 0.5, (Fraction(3), True): 0.25, (Fraction(12), False): 0.25}
    )


def test_a_sum_of_floats_counts_as_what_it_means() -> None:
    problem = try_or_pay(
        actions={
            "try": {"cost": 0.1, "chance": 0.5, "change": {"x": "+1"}},
            "pay": {"cost": 0.3, "change": {"x": "+1"}},
        }
    )
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.quantum == Fraction(1, 10)
    policy = by_account(mdp, opening=9, limit=7)
    assert 0.7 - 0.4 < 0.3 < 0.1 + 0.1 + 0.1
    assert policy.action(mdp.locate(), step=1, spent=0.2) == "pay"
    for spent in (0.3, 0.1 + 0.1 + 0.1, 0.7 - 0.4):
        assert policy.action(mdp.locate(), step=1, spent=spent) == "try"


@pytest.mark.parametrize("spent", [-0.5, math.nan, math.inf, -math.inf])
def test_what_cannot_have_been_spent(spent: float) -> None:
    problem = try_or_pay()
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for policy in (by_account(mdp, 8, 6), sa.solve(mdp, sa.Mean()).policy):
        with pytest.raises(ObjectiveError, match=f"{spent} cannot have been spent"):
            policy.action(step=1, spent=spent)


@pytest.mark.parametrize("step", [-1, 3, 100])
def test_a_step_out_of_range(step: int) -> None:
    problem = try_or_pay()
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    with pytest.raises(ObjectiveError, match=f"step {step} is not between 0 and 2"):
        by_account(mdp, 8, 6).action(step=step)


def test_a_state_before_it_can_be_reached() -> None:
    problem = try_or_pay()
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    policy = by_account(mdp, 8, 6)
    with pytest.raises(ObjectiveError, match="cannot be reached before step 1"):
        policy.action({"x": "mid", "group": "a"}, step=0)
    assert policy.action({"x": "mid", "group": "a"}, step=1) == "pay"
    with pytest.raises(PersonError, match="compiled from another person"):
        policy.action({"x": "mid", "group": "a"}, step=1, start={"x": "mid", "group": "a"})


def test_a_block_needs_to_know_where_the_run_began() -> None:
    problem = try_or_pay()
    block = sa.compile_mdp(problem, block={"group": "a"})
    low, mid = ({"x": level, "group": "a"} for level in ("low", "mid"))
    policy = by_account(block, 8, 6)
    opening = policy.opening.copy()
    opening[block.locate(mid)] = 5
    policy = replace(policy, opening=opening)
    assert (policy.action(low), policy.action(mid)) == ("pay", "try")
    with pytest.raises(PersonError, match="no person is given"):
        policy.action(mid, step=1, spent=0.5)
    assert policy.action(mid, step=1, spent=0.5, start=low) == "pay"
    assert policy.action(mid, step=1, spent=0.5, start=mid) == "try"
    assert policy.action(block.locate(mid), step=1, spent=1.5, start=block.locate(low)) == "try"


def test_a_state_policy_does_not_look_at_the_account() -> None:
    problem = sa.load_example("loan")
    block = sa.compile_mdp(problem)
    policy = sa.solve(block, sa.MeanStd(0.5), method="greedy").policy
    assert isinstance(policy, StatePolicy)
    assert not policy.looks_at_spent
    assert policy.steady(0, block.starts[0], 5) == (None, None)
    states = np.arange(block.n_states)
    said = set()
    for step in (0, 5, 23):
        chosen = policy.choose(step, states, policy.accounts)
        assert np.array_equal(chosen, policy.choose(step, states, policy.accounts + 10**6))
        assert np.array_equal(chosen, policy.choose(step, states, policy.accounts - 10**6))
        for state in states.tolist():
            action = policy.action(state, step=step)  # no start is asked for
            assert policy.action(state, step=step, spent=17.3) == action
            said.add(action)
    assert len(said) > 2


# -------------------------------------------------------------------------------------------- policies that are none


NO_ROW = "names none of the 2 rows of state 0 at step 1"
WRONG: dict[str, tuple[Callable[[sa.MDP], Policy], str]] = {
    "steps": (lambda mdp: table(mdp, steps=2), r"choices: has the shape \(2, 6\), not \(3, 6\)"),
    "states": (lambda mdp: table(mdp, states=5), r"choices: has the shape \(3, 5\), not \(3, 6\)"),
    "a row that nobody has": (lambda mdp: table(mdp, does=200), f"choices: {NO_ROW}"),
    "a row of another state": (lambda mdp: table(mdp, does=2), f"choices: {NO_ROW}"),
    "no byte": (lambda mdp: table(mdp, does=257), "choices: holds what is no uint8"),
    "places": (lambda mdp: pieces(mdp, starts=[0, 1]), r"piece_start: has the shape \(2,\), not \(19,\)"),
    "before all pieces": (lambda mdp: pieces(mdp, starts=[-1] * 6 + [0] * 13), "at step 0"),
    "falling": (lambda mdp: pieces(mdp, starts=[*[0] * 7, 2, 1, *[2] * 10]), "of state 1 at step 1"),
    "too many pieces": (lambda mdp: pieces(mdp, starts=[0] * 7 + [3] * 12), NO_ROW),
    "fewer accounts": (lambda mdp: pieces(mdp, firsts=[0]), r"first: has the shape \(1,\), not \(2,\)"),
    "accounts that fall": (lambda mdp: pieces(mdp, firsts=[5, 0]), f"choice: {NO_ROW}"),
    "a row by account": (lambda mdp: pieces(mdp, does=2), f"choice: {NO_ROW}"),
    "openings": (lambda mdp: replace(pieces(mdp), opening=np.zeros(5, np.int64)), "opening: has the shape"),
}


class Wild(Ruled):
    """A policy of one's own that says what its rule says."""

    def choose(self, step: int, states: NDArray[np.int64], accounts: NDArray[np.int64]) -> NDArray[np.uint8]:
        return cast("NDArray[np.uint8]", self.rule(step, states, accounts))


def table(mdp: sa.MDP, *, steps: int = 3, states: int = 6, does: int = 0) -> StatePolicy:
    """Nothing, but for what is done in the first state at the second step."""
    choices: NDArray[Any] = np.full((steps, states), NOTHING)
    choices[1, 0] = does
    return StatePolicy(mdp, choices)


def pieces(
    mdp: sa.MDP, *, starts: Sequence[int] = (*[0] * 7, *[2] * 12), firsts: Sequence[int] = (0, 5), does: int = 1
) -> SpentPolicy:
    """The same by account."""
    numbers = np.zeros(6, np.int64), np.array(starts), np.array(firsts)
    return SpentPolicy(mdp, *numbers, np.array([0, does], np.uint8))


@pytest.mark.parametrize(
    "ask", [lambda plan: sa.evaluate(plan, 0), evaluate_states, lambda plan: plan.action(0, step=1, start=0)]
)
@pytest.mark.parametrize("name", WRONG)
def test_what_names_no_row_is_refused(name: str, ask: Callable[[Policy], object]) -> None:
    """Loops of the core look at no index twice."""
    mdp = sa.compile_mdp(try_or_pay())
    assert (mdp.n_states, np.diff(mdp.row_start).tolist()) == (6, [2, 2, 2, 2, 0, 0])
    make, says = WRONG[name]
    with pytest.raises(ObjectiveError, match=says):
        ask(make(mdp))


@pytest.mark.parametrize("ask", [lambda plan: sa.evaluate(plan, 5), evaluate_states, lambda plan: plan.action(5)])
def test_everybody_has_an_opening(ask: Callable[[Policy], object]) -> None:
    mdp = sa.compile_mdp(try_or_pay())
    with pytest.raises(ObjectiveError) as caught:
        ask(replace(pieces(mdp), opening=np.zeros(5, np.int64)))
    assert str(caught.value) == "opening: has the shape (5,), not (6,)\n    give one for each state of the MDP"


@pytest.mark.parametrize("does", [-1, 2, 200, 257])
def test_a_policy_of_one_s_own_names_rows_that_there_are(does: int) -> None:
    mdp = sa.compile_mdp(try_or_pay())
    wild = Wild(mdp, lambda step, states, _: np.where(mdp.goal[states], NOTHING, does * step))
    assert wild.action(0) == "try"
    rng = np.random.default_rng(0)
    for ask in (
        lambda: sa.evaluate(wild, 0),
        lambda: sa.simulate(wild, 0, rollouts=9, rng=rng),
        lambda: wild.action(0, step=1, start=0),
    ):
        with pytest.raises(ObjectiveError, match=r"choose: names none of the 2 rows of state . at step 1"):
            ask()


# ----------------------------------------------------------------------------------------------------- what comes of it


def drawn_policy(mdp: sa.MDP, seed: int) -> SpentPolicy:
    """Any policy that looks at the account: pieces for each step and state, and an opening for each state."""
    rng = np.random.default_rng(seed)
    most = max(int(mdp.edge_cost.max(initial=0)) * mdp.horizon, 1)
    counts = np.diff(mdp.row_start)
    rows = list[tuple[int, int, int]]()
    for step in range(mdp.horizon):
        for state in np.flatnonzero(mdp.acting[step]).tolist():
            first = np.unique(rng.integers(-most, most + 1, size=rng.integers(1, 5)))
            choices = rng.integers(0, counts[state], size=len(first))
            rows += [(step * mdp.n_states + state, *piece) for piece in zip(first, choices, strict=True)]
    return by_pieces(mdp, rng.integers(-1, most + 1, size=mdp.n_states), rows)


def histories(
    policy: Policy, start: int, state: int, step: int = 0, spent: int = 0, chance: float = 1.0
) -> Iterator[tuple[int, bool, float]]:
    """Every run that may happen as (spent, success, chance): the person asks for each action by name."""
    mdp = policy.mdp
    action = None
    if step < mdp.horizon:
        action = policy.action(state, step=step, spent=mdp.to_cost(spent), start=start)
    if action is None:
        yield spent, bool(mdp.goal[state]), chance
        return
    rows = range(*mdp.row_start[state : state + 2].tolist())
    row = next(row for row in rows if mdp.actions[mdp.row_action[row]] == action)
    for edge in range(*mdp.edge_start[row : row + 2].tolist()):
        after, now = spent + int(mdp.edge_cost[edge]), chance * float(mdp.edge_chance[edge])
        yield from histories(policy, start, int(mdp.edge_next[edge]), step + 1, after, now)


def enumerated(policy: Policy, start: int) -> dict[tuple[Fraction, bool], float]:
    mdp = policy.mdp
    masses: dict[tuple[Fraction, bool], float] = {}
    for spent, success, chance in histories(policy, start, start):
        if chance == 0:  # the middle of an interval may be at its end
            continue
        cost = (spent + (0 if success else mdp.failure_cost)) * mdp.quantum
        masses[cost, success] = masses.get((cost, success), 0.0) + chance
    return masses


@settings(max_examples=scaled(50))
@given(problems(max_horizon=3), st.integers(0, 10**6))
def test_the_distribution_is_that_of_all_histories(document: dict[str, Any], seed: int) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    policy = drawn_policy(mdp, seed)
    expected = enumerated(policy, mdp.locate())
    assert sum(expected.values()) == pytest.approx(1)
    assert as_points(sa.evaluate(policy)) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=scaled(40))
@given(problems(), st.integers(0, 10**6))
def test_all_states_at_once_as_one_by_one(document: dict[str, Any], seed: int) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))
    policy = drawn_policy(mdp, seed)
    together = evaluate_states(policy)
    assert together.succeeded.sum(axis=1) + together.failed.sum(axis=1) == pytest.approx(np.ones(mdp.n_states))
    for state in range(mdp.n_states):
        runs = run_exactly(policy, state)
        assert as_points(together.distribution(state)) == pytest.approx(as_points(runs.distribution), abs=1e-12)
        for figures, figure in ((together.sparsity, runs.sparsity), (together.proximity, runs.proximity)):
            if figure is None:
                assert np.ma.getmaskarray(figures)[state]
            else:
                assert figures[state] == pytest.approx(figure, abs=1e-9)


@settings(max_examples=scaled(10))
@given(problems(), st.integers(0, 10**6))
def test_simulation_is_near(document: dict[str, Any], seed: int) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.n_rows > 0)
    policy = drawn_policy(mdp, seed)
    exact = sa.evaluate(policy)
    rollouts = 4000
    sampled = sa.simulate(policy, rollouts=rollouts, rng=np.random.default_rng(seed)).distribution
    error = math.sqrt(exact.all_runs.variance / rollouts)
    assert abs(sampled.all_runs.mean - exact.all_runs.mean) <= 5 * error + 1e-9
    error = math.sqrt(exact.success * (1 - exact.success) / rollouts)
    assert abs(sampled.success - exact.success) <= 5 * error + 1e-9
    assert set(as_points(sampled)) <= set(as_points(exact))
