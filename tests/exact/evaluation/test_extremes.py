"""The best and the worst case of a plan against all vertices of what an adversary can do after every history."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import AT_ONCE, BATCH, columns_at_once, evaluate_worst, extremes, search_least, spread_between
from safear.evaluation import FigureRanges, evaluate_ranges
from safear.mdp import check_mdp
from safear.risk import Objective
from small_problems import guessed_loan, ladder

Law = dict[tuple[int, bool], Fraction]  # {(total cost, success): chance}
Choose = Callable[[int, int, int], int]  # (step, state, spent) -> row, below 0 at the end
LEVELS = st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.95, 1.0])
MOST_LAWS = 150


def vertices(low: list[Fraction], high: list[Fraction]) -> set[tuple[Fraction, ...]]:
    """The corners of {p: low <= p <= high, sum p = 1}: all but one at an end, and the last whatever is left."""
    found = set()
    for free in range(len(low)):
        others = [(Fraction(0),) if place == free else (low[place], high[place]) for place in range(len(low))]
        for ends in itertools.product(*others):
            left = 1 - sum(ends, Fraction(0))
            if low[free] <= left <= high[free]:
                found.add((*ends[:free], left, *ends[free + 1 :]))
    return found


def all_laws(mdp: sa.MDP, choose: Choose) -> list[Law]:
    """Every law of the total cost that an adversary can bring about who picks a corner after every history."""

    def from_here(state: int, step: int, spent: int) -> set[frozenset[tuple[tuple[int, bool], Fraction]]]:
        row = -1 if step == mdp.horizon or mdp.goal[state] else choose(step, state, spent)
        if row < 0:
            success = bool(mdp.goal[state])
            return {frozenset({((spent + (0 if success else mdp.failure_cost), success), Fraction(1))})}
        edges = range(mdp.edge_start[row], mdp.edge_start[row + 1])
        later = [from_here(int(mdp.edge_next[e]), step + 1, spent + int(mdp.edge_cost[e])) for e in edges]
        tenths = [[Fraction(round(float(bound[e]) * 10), 10) for e in edges] for bound in (mdp.edge_low, mdp.edge_high)]
        found = set()
        for chances in vertices(*tenths):
            assume(np.prod([len(laws) for laws in later]) <= MOST_LAWS)
            for picked in itertools.product(*later):
                law: Law = {}
                for chance, part in zip(chances, picked, strict=True):
                    for end, share in part:
                        law[end] = law.get(end, Fraction(0)) + chance * share
                found.add(frozenset((end, share) for end, share in law.items() if share))
        assume(len(found) <= MOST_LAWS)
        return found

    return [dict(law) for law in from_here(mdp.start, 0, 0)]


def figures_of(laws: list[Law], level: float) -> dict[str, tuple[Fraction, Fraction]]:
    """The least and the most of each figure over the laws and whatever is between them."""
    part = 1 - Fraction(str(level))
    totals = sorted({Fraction(total) for law in laws for total, _ in law})
    success = [sum((p for (_, good), p in law.items() if good), Fraction(0)) for law in laws]
    mean = [sum((total * p for (total, _), p in law.items()), Fraction(0)) for law in laws]

    def exceeds(law: Law, t: Fraction) -> Fraction:
        return sum((p for (total, _), p in law.items() if total > t), Fraction(0))

    def excess(law: Law, t: Fraction) -> Fraction:
        return sum(((total - t) * p for (total, _), p in law.items() if total > t), Fraction(0))

    # At level 0 the smallest possible total is meant, not minus infinity.
    var = [next(t for t in totals if exceeds(law, t) <= part and exceeds(law, t) < 1) for law in laws]
    if not part:
        return {"success": ends(success), "mean": ends(mean), "var": ends(var), "tail": ends(var)}
    targets = set(totals)
    for one, other in itertools.combinations(laws, 2):  # where the adversary may change his mind between two totals
        for low, high in itertools.pairwise(totals):
            gap = excess(one, low) - excess(other, low)
            turn = exceeds(one, low) - exceeds(other, low)
            if turn and low < low + gap / turn < high:
                targets.add(low + gap / turn)
    cvar = [min(t + excess(law, t) / part for t in totals) for law in laws]
    worst = min(t + max(excess(law, t) for law in laws) / part for t in targets)
    return {"success": ends(success), "mean": ends(mean), "var": ends(var), "tail": (min(cvar), worst)}


def ends(figures: list[Fraction]) -> tuple[Fraction, Fraction]:
    return min(figures), max(figures)


@st.composite
def small_mdps(draw: st.DrawFn) -> sa.MDP:
    """Up to four states, two actions and three outcomes, with chances between tenths."""
    states = draw(st.integers(2, 4))
    goal = np.array([False, *draw(st.lists(st.booleans(), min_size=states - 1, max_size=states - 1))])
    rows, edges = [0], [0]
    actions, following, costs, chances = [], [], [], []
    for state in range(states):
        for action in range(0 if goal[state] else draw(st.integers(1 if state == 0 else 0, 2))):
            count = draw(st.integers(1, 3))
            cuts = sorted(draw(st.lists(st.integers(0, 10), min_size=count - 1, max_size=count - 1)))
            parts = np.diff([0, *cuts, 10])
            below, above = (draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)) for _ in range(2))
            bounds = [(max(p - b, 0), p, min(p + a, 10)) for p, b, a in zip(parts, below, above, strict=True)]
            bounds = [bound for bound in bounds if bound[2] > 0]  # what cannot happen is no edge
            for least, middle, most in bounds:
                chances.append((least / 10, middle / 10, most / 10))
                following.append(draw(st.integers(0, states - 1)))
                costs.append(draw(st.integers(0, 4)))
            actions.append(action)
            edges.append(len(chances))
        rows.append(len(actions))
    low, nominal, high = np.array(chances).T
    return sa.MDP(
        horizon=draw(st.integers(1, 3)),
        goal=goal,
        row_start=np.array(rows),
        row_action=np.array(actions, dtype=np.uint8),
        edge_start=np.array(edges),
        edge_next=np.array(following),
        edge_chance=nominal,
        edge_low=low,
        edge_high=high,
        edge_cost=np.array(costs),
        edge_outcome=np.zeros(len(costs), dtype=np.uint8),
        depth=np.array([0] + [1] * (states - 1), dtype=np.int16),
        actions=("one", "other"),
        failure_cost=draw(st.integers(0, 6)),
    )


def assert_same(found: FigureRanges, expected: dict[str, tuple[Fraction, Fraction]]) -> None:
    for name, (low, high) in expected.items():
        ours = getattr(found, name)
        assert (ours.low, ours.high) == pytest.approx((float(low), float(high)), abs=1e-9), name


@given(small_mdps(), LEVELS, st.sampled_from([sa.Mean(), sa.CVaR(0.5), sa.CVaR(0.8), sa.VaR(0.5)]))
def test_ranges_are_those_of_all_adversaries(mdp: sa.MDP, level: float, objective: sa.CVaR | sa.Mean) -> None:
    check_mdp(mdp)
    policy = sa.solve(mdp, objective).policy
    account = int(policy.accounts[mdp.start])

    def choose(step: int, state: int, spent: int) -> int:
        return int(policy.choosing(account)(step, np.array([state]), np.array([spent]))[0])

    found = evaluate_ranges(policy, level=level)
    laws = all_laws(mdp, choose)
    if found is None:
        assert len(laws) == 1
    else:
        assert_same(found, figures_of(laws, level))


@given(small_mdps(), LEVELS)
def test_ranges_hold_the_nominal_figures(mdp: sa.MDP, level: float) -> None:
    policy = sa.solve(mdp, sa.CVaR(0.8)).policy
    found, cost = evaluate_ranges(policy, level=level), sa.evaluate(policy)
    assume(found is not None)
    assert found is not None
    costs = cost.all_runs
    figures = (cost.success, costs.mean, costs.var(level), costs.cvar(level))
    for figure, held in zip(figures, (found.success, found.mean, found.var, found.tail), strict=True):
        assert held.low - 1e-9 <= figure <= held.high + 1e-9
    assert found.mean.high <= found.tail.high + 1e-9
    assert found.var.high <= found.tail.high + 1e-9


@given(small_mdps(), st.sampled_from([0.0, 0.3, 0.8, 0.95]))
def test_a_robust_value_is_the_worst_case_of_its_plan(mdp: sa.MDP, level: float) -> None:
    """Two engines that share no code: a compiled sweep over targets, and this one over pairs that can be."""
    wanted: list[tuple[sa.Mean | sa.VaR | sa.CVaR, str]] = [
        (sa.Mean(), "mean"),
        (sa.VaR(level), "var"),
        (sa.CVaR(level), "tail"),
    ]
    for objective, figure in wanted:
        solution = sa.solve(mdp, objective, robust=True)
        found = evaluate_ranges(solution, level=level)
        worst = objective.of(sa.evaluate(solution)) if found is None else getattr(found, figure).high
        assert worst == pytest.approx(solution.value, abs=1e-9)
        nominal = evaluate_ranges(sa.solve(mdp, objective), level=level)
        if nominal is not None:
            assert getattr(nominal, figure).high >= solution.bound - 1e-9


@pytest.mark.parametrize("before", [0, 4, 1000])
@pytest.mark.parametrize("at_once", [1, 2, 32])
def test_the_worst_tail_is_reached_between_two_adversaries(
    before: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 10 for sure, or 20 with a chance of 0.3 and else nothing: the worst half is the worst if the adversary brings
    # about the first with 2/7, and the best target, 40/7, is no possible total. What was paid before changes nothing.
    monkeypatch.setattr(extremes, "AT_ONCE", at_once)
    mdp = sa.MDP(
        horizon=2,
        goal=np.array([False, False, False, True]),
        row_start=np.array([0, 1, 2, 3, 3]),
        row_action=np.zeros(3, dtype=np.uint8),
        edge_start=np.array([0, 2, 3, 5]),
        edge_next=np.array([1, 2, 3, 3, 3]),
        edge_chance=np.array([0.5, 0.5, 1.0, 0.3, 0.7]),
        edge_low=np.array([0.0, 0.0, 1.0, 0.3, 0.7]),
        edge_high=np.array([1.0, 1.0, 1.0, 0.3, 0.7]),
        edge_cost=np.array([before, before, 10, 20, 0]),
        edge_outcome=np.zeros(5, dtype=np.uint8),
        depth=np.array([0, 1, 1, 2], dtype=np.int16),
        actions=("go",),
    )
    solution = sa.solve(mdp, sa.Mean())
    found = evaluate_ranges(solution, level=0.5)
    assert found is not None
    assert found.tail.high == evaluate_worst(solution, sa.CVaR(0.5)) == pytest.approx(before + 100 / 7, rel=1e-12)
    assert found.tail.low == pytest.approx(before + 10, rel=1e-12)
    # Half of it and half of the mean: 5 + t / 2 + 10 - t for the first, 3 + t / 2 + 0.3 (20 - t) else, equal at 60/7.
    assert evaluate_worst(solution, sa.MeanCVaR(0.5, 0.5)) == pytest.approx(before + 75 / 7, rel=1e-12)


@pytest.mark.parametrize("horizon", [1, 4, 30])
def test_retries_with_an_interval(horizon: int) -> None:
    actions = {"try": {"cost": 0.3, "chance": [0.6, 0.9], "change": {"a": "yes"}}}
    problem = ladder(actions, horizon=horizon, failure_cost=2)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    found = evaluate_ranges(solution, level=0.95)
    assert found is not None
    for bounds, chance in ((("low", "high"), 0.6), (("high", "low"), 0.9)):
        fail = (1 - chance) ** horizon
        assert getattr(found.success, bounds[0]) == pytest.approx(1 - fail, abs=1e-12)
        mean = 0.3 * (1 - fail) / chance + 2 * fail
        assert getattr(found.mean, bounds[1]) == pytest.approx(mean, abs=1e-12)


def unsure(chances: list[float], horizon: int = 2) -> sa.Solution:
    """A try costs 1.5 and may work; to fail costs 4.5. A less lucky adversary is worse whatever is asked."""
    actions = {"try": {"cost": 1.5, "chance": chances, "change": {"a": "yes"}}}
    problem = ladder(actions, horizon=horizon, failure_cost=4.5)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.quantum == Fraction(3, 2)
    return sa.solve(mdp, sa.Mean())


@pytest.mark.parametrize(
    ("objective", "worst"),
    [
        (sa.Budget(1), 1.0),
        (sa.Budget(1.5), 0.5),
        (sa.Budget(2.9), 0.5),
        (sa.Budget(3), 0.25),
        (sa.Budget(100), 0.25),
        (sa.VaR(0), 1.5),
        (sa.VaR(0.5), 1.5),
        (sa.VaR(0.6), 3.0),
        (sa.VaR(0.75), 3.0),
        (sa.VaR(0.8), 7.5),
        (sa.VaR(1), 7.5),
        (sa.CVaR(0), 3.375),
        (sa.CVaR(0.5), 5.25),
        (sa.CVaR(0.6), 5.8125),
        (sa.CVaR(0.8), 7.5),
        (sa.CVaR(1), 7.5),
        (sa.MeanCVaR(0.25, 0.6), 0.75 * 3.375 + 0.25 * 5.8125),
        (sa.MeanCVaR(0.25, 1), 0.75 * 3.375 + 0.25 * 7.5),
    ],
)
def test_the_worst_of_two_tries(objective: Objective, worst: float) -> None:
    # At the worst 1.5 with 1/2, 3 with 1/4, and 7.5, after two tries in vain, with 1/4.
    assert evaluate_worst(unsure([0.5, 0.7, 0.9]), objective) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize(
    ("level", "var", "tail"),
    [
        (0, (1.5, 7.5), (1.5, 7.5)),
        (0.5, (1.5, 7.5), (1.5, 7.5)),
        (1, (1.5, 7.5), (1.5, 7.5)),
    ],
)
def test_what_may_always_and_may_never_work(level: float, var: tuple[float, float], tail: tuple[float, float]) -> None:
    found = evaluate_ranges(unsure([0, 0.7, 1]), level=level)
    assert found is not None
    assert [(some.low, some.high) for some in (found.success, found.mean, found.var, found.tail)] == [
        (0.0, 1.0),
        (1.5, 7.5),
        var,
        tail,
    ]


def test_the_worst_case_at_level_one_happens_however_seldom() -> None:
    solution = unsure([0.99, 0.995, 0.999], 8)
    assert evaluate_worst(solution, sa.VaR(1)) == evaluate_worst(solution, sa.CVaR(1)) == 8 * 1.5 + 4.5
    found = evaluate_ranges(solution, level=1)
    assert found is not None
    assert found.var.low == found.tail.low == found.var.high == found.tail.high == 8 * 1.5 + 4.5
    assert evaluate_worst(solution, sa.VaR(1 - 1e-9)) == 5 * 1.5  # 0.01 ** 5 of all runs try more often


def test_a_plan_that_meets_no_interval_has_no_ranges() -> None:
    actions = {
        "walk": {"cost": 1, "chance": 0.9, "change": {"a": "yes"}},
        "run": {"cost": 5, "chance": [0.6, 0.9], "change": {"a": "yes"}},
    }
    problem = ladder(actions, horizon=2, failure_cost=20)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert evaluate_ranges(sa.solve(mdp, sa.Mean()), level=0.95) is None


# ---------------------------------------------------------------------------------------------- the search for a target


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("count", "at_once"), [(1, 1), (2, 5), (7, 2), (90, 3), (700, 64)])
def test_the_search_finds_the_least_of_all_targets(count: int, at_once: int, seed: int) -> None:
    """A sum that falls in steps of any height: none is looked at twice, nor too many at a time."""
    rng = np.random.default_rng(seed)
    targets = np.cumsum(rng.choice([0.1, 1.0, 9.0], count))
    falling = 5 + np.cumsum(rng.choice([0.0, 0.1, 1.0, 30.0], count))[::-1]
    asked: list[float] = []

    def look(some: NDArray[np.float64]) -> NDArray[np.float64]:
        assert 0 < len(some) <= at_once
        asked.extend(some.tolist())
        found: NDArray[np.float64] = falling[np.searchsorted(targets, some)]
        return found

    for weight in (1.0, 0.25):
        asked.clear()
        expected = float((weight * targets + falling).min())
        assert search_least(targets, look, at_once=at_once, weight=weight) == pytest.approx(expected, rel=1e-9)
        assert len(set(asked)) == len(asked)


def test_the_search_leaves_out_what_cannot_be_less() -> None:
    """Where it falls only at the start, the targets after that are tried once, and no more."""
    targets = np.arange(5000.0)
    asked: list[float] = []

    def look(some: NDArray[np.float64]) -> NDArray[np.float64]:
        asked.extend(some.tolist())
        return 7000 + np.maximum(10.0 - some, 0.0) * 20

    assert search_least(targets, look, at_once=64) == 7010
    assert len(asked) < 60


def test_places_between_two() -> None:
    assert spread_between(0, 4, 10).tolist() == [1, 2, 3]
    assert spread_between(0, 100, 3).tolist() == [25, 50, 75]
    assert spread_between(3, 4, 5).tolist() == []
    assert [columns_at_once(pairs) for pairs in (1, BATCH // 2, BATCH, 10 * BATCH)] == [AT_ONCE, 2, 1, 1]


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_menu_has_the_ranges_of_its_plans(level: float) -> None:
    menu = sa.recommend(guessed_loan(), level=level)
    assert len(menu) > 1
    assert [offer.ranges for offer in menu] == [evaluate_ranges(offer.solution, level=level) for offer in menu]
