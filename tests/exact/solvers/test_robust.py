"""Robust plans against brute force over plans and adversaries, in fractions; and what must hold between optima."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.typing import NDArray

import oracle as o
import safear as sa
from compare import columns_of, read_both
from doors import (
    CERTAIN,
    EXCEEDED,
    EXCESS,
    CostObjective,
    Loss,
    bound_between,
    evaluate_worst,
    find_worst_chances,
    fine_costs,
    follow,
    highest_success,
    robust,
    sweep_targets,
)
from gambles import by_hand
from oracle import Distribution, TooManyError
from safear.errors import ObjectiveError, TooLargeError
from safear.evaluation import evaluate_ranges
from safear.risk import Objective
from small_problems import drawn_guesses
from strategies import FEWER, problems

Worst = Callable[[Sequence[Distribution]], Any]
MOST = 60  # plans, and laws of a plan

OBJECTIVES: dict[Objective, Worst] = {
    sa.Mean(): o.worst_of(o.mean_of_all),
    sa.Entropic(0.4): o.worst_of(o.entropic(0.4)),
    sa.Budget(3): o.worst_of(o.budget_miss(3)),
    sa.VaR(0.6): o.worst_of(o.var_of_all(0.6)),
    sa.CVaR(1.0): o.worst_mean_cvar(1, 1),
    sa.CVaR(0.7): o.worst_mean_cvar(1, 0.7),
    sa.MeanCVaR(0.5, 0.7): o.worst_mean_cvar(0.5, 0.7),
}


def brute_force(document: dict[str, Any], worst: Worst, **options: Any) -> float:
    """The least worst case of all plans."""
    _, judge, start = read_both(document)
    return float(min(worst(laws) for laws in judge.all_laws(start, most=MOST, **options)))


def compiled(document: dict[str, Any]) -> sa.MDP:
    problem = read_both(document)[0]
    return sa.compile_mdp(problem, start=problem.default_person)


def assert_certified(solution: sa.Solution, exact: float) -> None:
    """Where only possible totals were tried, nothing exceeds the value, and no plan is below the bound."""
    if isinstance(solution.objective, sa.CVaR | sa.MeanCVaR) and solution.objective.level < 1:
        assert solution.bound <= exact + 1e-9
        assert solution.value >= exact - 1e-9
        return
    assert solution.value == pytest.approx(exact, abs=1e-9)
    assert solution.bound == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_brute_force_over_plans_and_adversaries(objective: Objective) -> None:
    tried = tight = 0
    for seed in range(40):
        try:
            exact = brute_force(drawn_guesses(seed), OBJECTIVES[objective])
        except TooManyError:
            continue
        solution = sa.solve(compiled(drawn_guesses(seed)), objective, robust=True)
        assert_certified(solution, exact)
        tried += 1
        tight += solution.value == pytest.approx(exact, abs=1e-9)
    assert tried >= 20
    assert tight >= tried - 2


@pytest.mark.parametrize("objective", [sa.CVaR(0.7), sa.MeanCVaR(0.5, 0.7), sa.CVaR(0.95)], ids=str)
def test_the_value_for_one_person_is_the_worst_case_of_their_plan(objective: Objective) -> None:
    for seed in range(120):
        mdp = compiled(drawn_guesses(seed))
        if mdp.has_intervals and not mdp.goal[mdp.start]:
            solution = sa.solve(mdp, objective, robust=True)
            assert solution.value == pytest.approx(evaluate_worst(solution, objective), rel=1e-9)
            assert solution.bound <= solution.value


def test_the_unit_of_costs_does_not_matter() -> None:
    between = 0
    for seed in range(30):
        mdp = compiled(drawn_guesses(seed))
        finer = replace(mdp, quantum=mdp.quantum / 4)
        one, other = (sa.solve(each, sa.CVaR(0.7), robust=True) for each in (mdp, finer))
        assert (4 * other.value, 4 * other.bound) == pytest.approx((one.value, one.bound))
        between += one.bound < one.value - 1e-6
    assert between


def test_worst_chances_that_take_too_much_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mdp = compiled(drawn_guesses(3))
    assert find_worst_chances(mdp, None).shape == (mdp.horizon, mdp.n_edges)
    assert not any(
        isinstance(found, np.ndarray) and found.ndim > 1 and found.dtype == float for found in mdp.found.values()
    )  # none are kept
    room = 8 * mdp.horizon * mdp.n_edges
    monkeypatch.setattr(robust, "MAX_BYTES", room)
    find_worst_chances(mdp, None)
    monkeypatch.setattr(robust, "MAX_BYTES", room - 1)
    with pytest.raises(TooLargeError, match="worst chances"):
        find_worst_chances(mdp, None)


def test_the_bound_between_two_targets_is_where_the_steepest_fall_ends() -> None:
    # Falling by 2 per unit from 9 at 1, it may be down at 5 from 3 on; from 5 at 4, it may be down at 1 from 6 on.
    assert bound_between(np.array([1.0, 4.0]), np.array([[9.0, 5.0]]), of_target=0.5, of_loss=2).tolist() == [6.5]
    targets, scores = np.array([1.0, 4.0, 9.0]), np.array([[9.0, 5.0, 1.0], [9.0, 3.0, 2.5]])
    assert bound_between(targets, scores, of_target=0.5, of_loss=2).tolist() == [4.0, 4.625]
    assert bound_between(targets[:1], scores[:, :1], of_target=0.5, of_loss=2).tolist() == [np.inf, np.inf]


@FEWER
@given(problems(max_horizon=2, tiny=True))
def test_problems_of_any_form(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    assume(mdp.has_intervals)
    for objective, worst in OBJECTIVES.items():
        try:
            exact = brute_force(document, worst)
        except TooManyError:
            assume(False)
        assert_certified(sa.solve(mdp, objective, robust=True), exact)


@pytest.mark.parametrize("objective", [sa.Mean(), sa.VaR(0.6), sa.CVaR(0.7)], ids=str)
def test_success_first_keeps_the_highest_worst_success_from_everywhere_on(objective: CostObjective) -> None:
    tried = 0
    for seed in range(40):
        document = drawn_guesses(seed)
        try:
            exact = brute_force(document, OBJECTIVES[objective], success_first=True)
        except TooManyError:
            continue
        _, judge, start = read_both(document)
        mdp = compiled(document)
        solution = sa.solve(mdp, sa.SuccessFirst(objective), robust=True)
        assert solution.bound <= exact + 1e-9 <= solution.value + 2e-9
        assert highest_success(mdp, robust=True) == pytest.approx(float(judge.worst_success(start)), abs=1e-12)
        tried += 1
    assert tried >= 20


@FEWER
@given(problems(max_horizon=3))
def test_the_worst_case_is_no_better_than_the_nominal_one(document: dict[str, Any]) -> None:
    """And a plan at the nominal chances is within its own worst case."""
    mdp = compiled(document)
    for objective in (*OBJECTIVES, sa.SuccessFirst(sa.Mean())):
        robust, nominal = (sa.solve(mdp, objective, robust=flag) for flag in (True, False))
        assert robust.robust
        assert not nominal.robust
        if isinstance(objective, sa.SuccessFirst):
            continue
        assert robust.value >= nominal.value - 1e-9
        assert objective.of(sa.evaluate(robust)) <= robust.value + 1e-9
        assert robust.bound <= robust.value


@FEWER
@given(problems(max_horizon=3))
def test_without_intervals_it_is_the_nominal_optimum_to_the_last_bit(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    mdp = replace(mdp, edge_low=mdp.edge_chance, edge_high=mdp.edge_chance)
    for objective in (*OBJECTIVES, sa.SuccessFirst(sa.CVaR(0.7))):
        robust, nominal = (sa.solve(mdp, objective, robust=flag) for flag in (True, False))
        assert robust.planned.tobytes() == nominal.planned.tobytes()
        ours, theirs = (
            list(follow(mdp, choose, mdp.start).cells.row)
            for choose in (one.policy.choosing(int(one.policy.accounts[mdp.start])) for one in (robust, nominal))
        )
        assert ours == theirs


@pytest.mark.parametrize(
    ("objective", "method"),
    [
        (sa.MeanStd(0.5), "optimal"),
        (sa.MeanVariance(0.5), "optimal"),
        (sa.MeanLowerStd(0.5), "greedy"),
        (sa.SuccessFirst(sa.MeanStd(0.5)), "optimal"),
        (sa.Mean(), "greedy"),
        (sa.Mean(), "episodic"),
    ],
    ids=str,
)
def test_what_has_no_robust_form_is_refused_with_the_reason(objective: Objective, method: Any) -> None:
    with pytest.raises(ObjectiveError) as caught:
        sa.solve(compiled(drawn_guesses(0)), objective, method=method, robust=True)
    [mistake] = caught.value.mistakes
    assert mistake.code == "not_robust"
    assert mistake.remedy


WORST = [
    sa.VaR(0.9),
    sa.CVaR(0.9),
    sa.CVaR(1.0),
    sa.MeanCVaR(0.4, 0.9),
    sa.MeanCVaR(0.4, 1.0),
    sa.Budget(40),
    sa.SuccessFirst(sa.CVaR(0.8)),
]


@pytest.mark.parametrize("objective", WORST, ids=str)
def test_the_value_is_the_worst_case_of_the_plan(objective: Objective, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where costs are so fine that it was searched with rounded ones, and then followed with the real ones."""
    rounded = 0
    for seed in range(12):
        document = drawn_guesses(seed)
        document["horizon"] = 5
        exact = sa.solve(compiled(document), objective, robust=True)
        worst = evaluate_worst(exact, objective)
        assert exact.bound - 1e-9 <= worst <= exact.value + 1e-9
        if isinstance(objective, sa.VaR | sa.Budget):  # nothing is lost between two totals
            assert worst == pytest.approx(exact.value, abs=1e-9)
        draw = random.Random(seed)
        for action in document["actions"].values():
            for outcome in action["outcomes"]:
                outcome["cost"] = draw.randint(8000, 30_000) / 1000
        document["goal"]["failure_cost"] = 60
        with monkeypatch.context() as patch:
            patch.setattr(fine_costs, "MAX_WORK", 1000)
            found = sa.solve(compiled(document), objective, robust=True)
        rounded += found.search_unit is not None
        assert found.bound <= found.value == pytest.approx(evaluate_worst(found, objective))
        level = getattr(objective, "level", 0.9)
        ranges = evaluate_ranges(found, level=level)
        if ranges is not None and isinstance(objective, sa.VaR | sa.CVaR):
            figure = ranges.var if isinstance(objective, sa.VaR) else ranges.tail
            assert found.value == pytest.approx(figure.high)
    assert rounded >= 6


def test_fine_costs_are_searched_with_rounded_ones_and_the_value_allows_for_it() -> None:
    document = drawn_guesses(1)
    document["horizon"] = 6
    for number, action in enumerate(document["actions"].values()):
        action["cost"] = 1000.01 + number / 7
        for outcome in action["outcomes"]:
            outcome.pop("cost", None)
    document["goal"]["failure_cost"] = 5000
    mdp = compiled(document)
    solution = sa.solve(mdp, sa.CVaR(0.9), robust=True)
    assert solution.search_unit is not None
    assert solution.bound <= solution.value <= solution.bound + 14 * solution.search_unit
    assert objective_of(solution) <= solution.value


def objective_of(solution: sa.Solution) -> float:
    return solution.objective.of(sa.evaluate(solution))


# ------------------------------------------------------------------------------------------ target by target, plainly


def draw_intervals(seed: int) -> sa.MDP:
    """Three states and a goal, rows of one to four outcomes; chances in eighths, so that sums and ties are exact."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 4, 3)
    outcomes = rng.choice([1, 2, 2, 2, 3, 4], rows.sum())
    eighths = np.concatenate([rng.multinomial(8, np.full(count, 1 / count)) for count in outcomes])
    less, more = (rng.integers(0, 4, len(eighths)) * np.repeat(rng.random(len(outcomes)) < 0.8, outcomes) for _ in "01")
    return sa.MDP(
        horizon=3,
        goal=np.array([False, False, False, True]),
        row_start=np.cumsum([0, *rows, 0]),
        row_action=np.concatenate([np.arange(count) for count in rows]).astype(np.uint8),
        edge_start=np.cumsum([0, *outcomes]),
        edge_next=rng.integers(0, 4, len(eighths)),
        edge_chance=eighths / 8,
        edge_low=np.maximum(eighths - less, 0) / 8,
        edge_high=np.minimum(eighths + more, 8) / 8,
        edge_cost=rng.choice([0, 1, 2, 3, 9], len(eighths)),
        edge_outcome=np.concatenate([np.arange(count) for count in outcomes]).astype(np.uint8),
        depth=np.zeros(4, dtype=np.int16),
        actions=("one", "two", "three"),
        failure_cost=int(rng.choice([0, 5, 20])),
    )


def corners(lows: list[float], highs: list[float]) -> list[tuple[float, ...]]:
    """The extreme chances within the bounds: all but one of them are at an end."""
    found = []
    for free in range(len(lows)):
        ends = [(0.0,) if i == free else (low, high) for i, (low, high) in enumerate(zip(lows, highs, strict=True))]
        for chances in itertools.product(*ends):
            rest = 1 - sum(chances)
            if lows[free] <= rest <= highs[free]:
                found.append((*chances[:free], rest, *chances[free + 1 :]))
    return found


class Plainly:
    """The least worst case of loss_weight * E[loss(C - w)] + mean_weight * E[C], and of what is equal the mean."""

    def __init__(self, mdp: sa.MDP, loss: Loss, weights: tuple[float, float], allowed: NDArray[np.bool_]) -> None:
        self.mdp, self.loss, self.weights, self.allowed = mdp, loss, weights, allowed
        self.best = cache(self._best)

    def _best(self, step: int, state: int, w: float) -> tuple[float, float, int]:
        """Score, mean, and which of the rows has them."""
        mdp, (loss_weight, mean_weight) = self.mdp, self.weights
        first, last = mdp.row_start[state : state + 2].tolist()
        if step == mdp.horizon or first == last:
            total = 0.0 if mdp.goal[state] else float(mdp.failure_cost)
            loss = float(self.loss.at_end(np.array([total - w]), goal=bool(mdp.goal[state]))[0])
            return (loss_weight * loss if loss_weight else 0.0) + mean_weight * total, total, 0
        rows = [row for row in range(first, last) if self.allowed[step, row]]
        return min((*self._worst(step, row, w), row - first) for row in rows)

    def _worst(self, step: int, row: int, w: float) -> tuple[float, float]:
        mdp = self.mdp
        edges = slice(*mdp.edge_start[row : row + 2].tolist())
        costs, after = mdp.edge_cost[edges].tolist(), mdp.edge_next[edges].tolist()
        later = [self.best(step + 1, target, w - cost) for cost, target in zip(costs, after, strict=True)]
        ahead = [(self.weights[1] * cost + one[0], cost + one[1]) for cost, one in zip(costs, later, strict=True)]
        return max(
            tuple(sum(p * figures[i] for p, figures in zip(chances, ahead, strict=True) if p) for i in range(2))
            for chances in corners(mdp.edge_low[edges].tolist(), mdp.edge_high[edges].tolist())
        )


@pytest.mark.parametrize("weights", [(1.0, 0.0), (2.0, 0.5)], ids=str)
@pytest.mark.parametrize("loss", [EXCESS, EXCEEDED, CERTAIN], ids=["excess", "exceeded", "certain"])
@pytest.mark.parametrize("seed", range(6))
def test_every_target_has_the_least_worst_case(seed: int, loss: Loss, weights: tuple[float, float]) -> None:
    mdp, low, count = draw_intervals(seed), -2.5, 24
    allowed = np.random.default_rng(seed).random((mdp.horizon, mdp.n_rows)) < 0.7
    allowed[:, mdp.row_start[:3]] = True
    found = sweep_targets(mdp, loss, targets=(low, count), weights=weights, allowed=allowed, chances="worst")
    plainly, of_mean = Plainly(mdp, loss, weights, allowed), Plainly(mdp, EXCESS, (0.0, 1.0), allowed)
    for state in range(mdp.n_states):
        assert found.mean[state, 0] == of_mean.best(0, state, 0.0)[1]
        for column in range(1, count + 1):
            score, mean, _ = plainly.best(0, state, low + column - 1)
            assert found.score[state, column] == score
            assert found.mean[state, column] == mean or score == np.inf
    for place, first, choice in zip(*columns_of(found.policy), strict=True):
        step, state = divmod(place, mdp.n_states)
        score, _, number = plainly.best(step, state, low + first) if first >= 0 else of_mean.best(step, state, 0.0)
        assert choice == number or score == np.inf


def one_step(*rows: list[tuple[float, float, int]]) -> sa.MDP:
    """One step to the goal; each row has the least and the highest chance of its outcomes, and what they cost."""
    counts, edges = [len(row) for row in rows], np.array([edge for row in rows for edge in row])
    lows, highs, costs = edges.T
    return sa.MDP(
        horizon=1,
        goal=np.array([False, True]),
        row_start=np.array([0, len(rows), len(rows)]),
        row_action=np.arange(len(rows), dtype=np.uint8),
        edge_start=np.cumsum([0, *counts]),
        edge_next=np.ones(len(edges), dtype=np.int64),
        edge_chance=(lows + highs) / 2,
        edge_low=lows,
        edge_high=highs,
        edge_cost=costs.astype(np.int64),
        edge_outcome=np.concatenate([np.arange(count) for count in counts]).astype(np.uint8),
        depth=np.array([0, 1], dtype=np.int16),
        actions=tuple(f"row {i}" for i in range(len(rows))),
    )


def test_one_chance_may_be_known_and_others_not() -> None:
    """Half of the time 0; the other half 2 or 6, nobody knows which: at worst 3 on average, less than 4 for sure."""
    for chances in ((0.0, 0.5, 0.5), (1.0, 0.0, 0.0)):
        sure = [(chance, chance, 4) for chance in chances]
        mdp = one_step(sure, [(0.5, 0.5, 0), (0, 0.5, 2), (0, 0.5, 6)])
        found = sweep_targets(mdp, EXCESS, targets=(0.0, 7), chances="worst")
        assert found.mean[0].tolist() == [3, 3, 3, 3, 4, 4, 4, 3]
        assert found.score[0, 1:].tolist() == [3, 2.5, 2, 1, 0, 0, 0]


def test_what_is_equal_goes_to_the_first_row() -> None:
    for cost in (0, 3):
        mdp = one_step([(0.25, 0.5, cost), (0.5, 0.75, cost)], [(1, 1, cost)])
        found = sweep_targets(mdp, EXCESS, targets=(0.0, 5), chances="worst")
        assert [part.tolist() for part in columns_of(found.policy)] == [[0], [-1], [0]]


def test_there_is_room_for_the_pieces_of_many_states() -> None:
    mdp = by_hand(*[[[(1.0, 1, 1300)]]] * 1300, horizon=1)
    mdp = replace(mdp, edge_low=mdp.edge_chance, edge_high=mdp.edge_chance)
    found = sweep_targets(mdp, EXCESS, targets=(0.0, 1), chances="worst")
    place, first, choice = (part.tolist() for part in columns_of(found.policy))
    assert (place, first, choice) == (list(range(1300)), [-1] * 1300, [0] * 1300)
