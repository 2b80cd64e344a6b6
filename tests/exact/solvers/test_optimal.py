"""The optimal methods against brute force over all history-dependent policies, closed forms and each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st

import oracle
import safear as sa
from compare import read_both, rows_of
from doors import CostObjective, Span, largest_spent, optimal, sweep_targets
from gambles import (
    DOCUMENTS,
    LONGER,
    TIGHT,
    by_hand,
    close,
    compiled,
    gamble,
    gambles,
    least,
    one_feature,
    proved,
    toss_and_choose,
)
from lanes import scaled
from oracle import Distribution, Number, Oracle, State, TooManyError
from safear.mdp import compile_blocks
from safear.risk import Objective
from strategies import problems

Measure: TypeAlias = Callable[[Distribution], Number]

MOST = 400  # distributions to enumerate; what has more is drawn again
LEVELS = (0.0, 0.3, 0.5, 0.8, 0.9, 0.95, 0.999, 1.0)
AVERSIONS = (0.0, 0.1, 0.5, 1.0, 3.0)


def enumerated(judge: Oracle, start: State) -> list[Distribution]:
    """All distributions, or another draw."""
    try:
        return judge.all_distributions(start, most=MOST)
    except TooManyError:
        reject()


# --------------------------------------------------------------------------------------------------------- brute force

CASES: dict[str, list[tuple[Objective, Measure]]] = {
    "mean": [(sa.Mean(), oracle.mean_of_all)],
    "var": [(sa.VaR(level), oracle.var_of_all(level)) for level in LEVELS],
    "cvar": [(sa.CVaR(level), oracle.cvar_of_all(level)) for level in LEVELS],
    "mean-cvar": [
        (sa.MeanCVaR(weight, level), oracle.mean_cvar(weight, level))
        for weight, level in [(0, 0.8), (0.25, 0.95), (0.5, 0.8), (0.75, 1), (0.9, 0), (1, 0.9)]
    ],
    "mean-std": [(sa.MeanStd(b), oracle.mean_std(b)) for b in (0, 0.25, 1, 3, 40)],
    "mean-variance": [(sa.MeanVariance(b), oracle.mean_variance(b)) for b in (0, 0.02, 0.1, 0.5, 3)],
    "entropic": [(sa.Entropic(b), oracle.entropic(b)) for b in (0, 1e-3, 0.1, 0.5, 3, 50)],
    "budget": [(sa.Budget(limit), oracle.budget_miss(limit)) for limit in (0, 0.5, 2, 3.3, 5, 8, 12, 1000)],
}


@pytest.mark.parametrize("kind", CASES)
@settings(max_examples=scaled(60))
@given(document=DOCUMENTS)
def test_no_policy_of_all_is_better(kind: str, document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(kind != "budget" or mdp.cost_error == 0)  # see below
    every = enumerated(judge, start)
    for objective, measure in CASES[kind]:
        value, bound = proved(sa.solve(mdp, objective, tolerance=TIGHT))
        expected = float(oracle.best(every, measure))
        assert value == close(expected), objective
        assert bound <= expected + 1e-9, objective
        assert value - bound <= 1e-9 * max(1, expected), objective


RUIN = ("var", "cvar", "mean-cvar")


@pytest.mark.parametrize("kind", RUIN)
@settings(max_examples=scaled(40))
@given(document=DOCUMENTS, failure=st.sampled_from([11, 30, 1_000, 10**6, 10**9]))
def test_nor_if_a_failure_costs_far_more_than_can_be_spent(kind: str, document: dict[str, Any], failure: int) -> None:
    """No target between the most that can be spent and the failure cost is tried; nothing better lies there."""
    document = {**document, "goal": {**document["goal"], "failure_cost": failure}}
    problem, judge, start = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    every = enumerated(judge, start)
    for objective, measure in CASES[kind]:
        assert optimal.count_columns(mdp, objective) <= 3 * int(largest_spent(mdp)[mdp.start]) + 2
        assert least(mdp, objective) == close(float(oracle.best(every, measure))), objective


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999, 1.0])
def test_the_failure_cost_adds_no_columns(level: float) -> None:
    """At 0.95 the plan fails so rarely that no target is as high as the failure cost; at 0.999 the two are apart."""
    documents = [gamble(8, 3) for _ in range(4)]
    for document, failure in zip(documents, (10**3, 10**5, 10**7, 10**9), strict=True):
        document["goal"]["failure_cost"] = failure
    counts = [optimal.count_columns(compiled(document), sa.CVaR(level)) for document in documents]
    assert len(set(counts)) == 1


@settings(max_examples=scaled(30))
@given(
    document=DOCUMENTS,
    then=st.sampled_from([sa.VaR(0.8), sa.CVaR(0.9), sa.MeanCVaR(0.5, 0.7)]),
    tolerance=st.sampled_from([None, 0.0, 0.2]),
    failure=st.sampled_from([0, 11, 1_000]),
)
def test_the_columns_that_are_counted_are_those_that_are_swept(
    document: dict[str, Any], then: CostObjective, tolerance: float | None, failure: int
) -> None:
    mdp = compiled({**document, "goal": {**document["goal"], "failure_cost": failure}})
    objective = then if tolerance is None else sa.SuccessFirst(then=then, tolerance=tolerance)
    swept = []

    def sweep_and_count(*given: Any, **named: Any) -> Any:
        swept.append(named["targets"][1])
        return sweep_targets(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "sweep_targets", sweep_and_count)
        optimal.find_optimal(mdp, objective, tolerance=TIGHT)
    assert sum(swept) == optimal.count_columns(mdp, objective)


THEN: list[tuple[CostObjective, Measure]] = [
    (sa.Mean(), oracle.mean_of_all),
    (sa.CVaR(0.9), oracle.cvar_of_all(0.9)),
    (sa.VaR(0.8), oracle.var_of_all(0.8)),
    (sa.MeanCVaR(0.5, 0.7), oracle.mean_cvar(0.5, 0.7)),
    (sa.MeanStd(1), oracle.mean_std(1)),
    (sa.MeanVariance(0.3), oracle.mean_variance(0.3)),
    (sa.Entropic(0.5), oracle.entropic(0.5)),
    (sa.Budget(4), oracle.budget_miss(4)),
]


@pytest.mark.parametrize("place", range(len(THEN)), ids=[str(then) for then, _ in THEN])
@settings(max_examples=scaled(50))
@given(document=DOCUMENTS)
def test_success_comes_first(place: int, document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    then, measure = THEN[place]
    best = oracle.most_successful(enumerated(judge, start))
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(not (isinstance(then, sa.Budget) and mdp.cost_error))
    objective = sa.SuccessFirst(then=then)
    solution = sa.solve(mdp, objective, tolerance=TIGHT)
    ours = sa.evaluate(solution)
    assert ours.success == pytest.approx(float(oracle.success(best[0])), rel=0, abs=1e-12)
    expected = float(oracle.best(best, measure))
    value, bound = proved(solution)
    assert value == close(expected)
    assert objective.of(ours) == then.of(ours)
    assert bound <= expected + 1e-9
    assert value - bound <= 1e-9 * max(1, expected)


@settings(max_examples=scaled(40))
@given(gambles(), st.sampled_from([0.4, 1, 2]), st.sampled_from([1, 2.3, 4, 7]))
def test_a_budget_with_rounded_costs_errs_on_the_safe_side(
    document: dict[str, Any], resolution: float, limit: float
) -> None:
    every = enumerated(Oracle(document), Oracle(document).start())
    exact = float(oracle.best(every, oracle.budget_miss(limit)))
    solution = sa.solve(compiled({**document, "cost": {"resolution": resolution}}), sa.Budget(limit))
    assert solution.bound - 1e-9 <= exact <= solution.value + 1e-9
    assert sa.Budget(limit).of(sa.evaluate(solution)) <= solution.value + 1e-9


@pytest.mark.parametrize(
    "seed, kind, place",
    [(1, "var", 4), (1, "cvar", 3), (5, "mean-std", 3), (91, "mean-variance", 3), (5, "budget", 4), (55, "budget", 5)],
)
def test_it_pays_to_look_at_what_was_spent(seed: int, kind: str, place: int) -> None:
    """What is drawn tells a solver that does not look at it from one that does."""
    judge = Oracle(gamble(seed))
    objective, measure = CASES[kind][place]
    plain = [judge.distribution(policy, judge.start()) for policy in judge.policies(judge.start())]
    value, _ = proved(sa.solve(compiled(gamble(seed)), objective))
    assert value < float(oracle.best(plain, measure)) - 1e-6


def test_what_is_drawn_is_hard() -> None:
    """Many of the problems have dead ends and failures that make things worse."""
    dead_ends = setbacks = 0
    for document in map(gamble, range(100)):
        judge = Oracle(document)
        states = [state for state in judge.reachable(judge.start()) if not judge.is_goal(state)]
        dead_ends += any(not judge.offered(state) for state in states)
        outcomes = [outcome for action in document["actions"].values() for outcome in action["outcomes"]]
        setbacks += any(outcome.get("change") in ({"x": "-1"}, {"x": "ruin"}) for outcome in outcomes)
    assert dead_ends >= 20
    assert setbacks >= 20


# ------------------------------------------------------------------------------ how objectives and methods relate


@settings(max_examples=scaled(50))
@given(LONGER)
def test_no_greedy_policy_is_better(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    for aversion in AVERSIONS:
        objective = sa.MeanStd(aversion)
        greedy = sa.solve(mdp, objective, method="greedy")
        assert greedy.method == "greedy"
        real = objective.of(sa.evaluate(greedy))
        assert least(mdp, objective) <= real + 1e-9 * max(1, real)


@settings(max_examples=scaled(50))
@given(LONGER)
def test_objectives_that_are_the_same(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    mean = least(mdp, sa.Mean())
    for same in (
        sa.CVaR(0),
        sa.MeanStd(0),
        sa.MeanVariance(0),
        sa.Entropic(0),
        sa.MeanCVaR(0, 0.9),
        sa.MeanCVaR(0, 1),
        sa.MeanCVaR(0.7, 0),
    ):
        assert least(mdp, same) == close(mean), same
    for level in LEVELS:
        assert least(mdp, sa.MeanCVaR(1, level)) == close(least(mdp, sa.CVaR(level))), level
    worst = least(mdp, sa.CVaR(1))
    assert least(mdp, sa.VaR(1)) == worst
    assert worst == close(_least_worst_case(mdp))


def _least_worst_case(mdp: sa.MDP) -> float:
    """W_h(s) = min over rows of max over edges that happen of cost + W_(h+1)(s')."""
    worst = [0 if goal else mdp.failure_cost for goal in mdp.goal]
    rows = rows_of(mdp)
    for step in reversed(range(mdp.horizon)):
        later = list(worst)
        for state in range(mdp.n_states):
            edges = [range(mdp.edge_start[row], mdp.edge_start[row + 1]) for row in rows(state, step)]
            sides = [[edge for edge in row if mdp.edge_chance[edge] > 0] for row in edges]
            if sides:
                worst[state] = min(max(mdp.edge_cost[e] + later[mdp.edge_next[e]] for e in side) for side in sides)
    return mdp.to_cost(int(worst[mdp.locate()]))


@settings(max_examples=scaled(50))
@given(LONGER)
def test_more_risk_aversion_never_makes_it_less(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    rising: list[list[Objective]] = [
        [sa.VaR(level) for level in LEVELS],
        [sa.CVaR(level) for level in LEVELS],
        [sa.MeanCVaR(0.4, level) for level in LEVELS],
        [sa.MeanCVaR(weight, 0.8) for weight in (0, 0.2, 0.5, 1)],
        [sa.MeanStd(aversion) for aversion in AVERSIONS],
        [sa.MeanVariance(aversion) for aversion in AVERSIONS],
        [sa.Entropic(aversion) for aversion in AVERSIONS],
    ]
    for objectives in rising:
        values = [least(mdp, objective) for objective in objectives]
        for low, high in itertools.pairwise(values):
            assert low <= high + 1e-9 * max(1, high), objectives
    for level in LEVELS:
        tail = least(mdp, sa.CVaR(level))
        assert least(mdp, sa.VaR(level)) <= tail + 1e-9 * max(1, tail), level


@settings(max_examples=scaled(50))
@given(LONGER)
def test_a_larger_budget_is_missed_less_often(document: dict[str, Any]) -> None:
    mdp = compiled(document)
    assume(mdp.cost_error == 0)
    missed = [least(mdp, sa.Budget(limit)) for limit in (0, 0.5, 1, 2, 3.3, 5, 8, 12, 20, 10_000)]
    for more, less in itertools.pairwise(missed):
        assert less <= more + 1e-12
    success = sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success
    assert missed[-1] == pytest.approx(1 - success, rel=0, abs=1e-12)


SEVERAL: tuple[Objective, ...] = (
    sa.Mean(),
    sa.VaR(0.8),
    sa.CVaR(0.8),
    sa.MeanCVaR(0.5, 0.9),
    sa.MeanStd(1),
    sa.MeanVariance(0.3),
    sa.Entropic(0.5),
    sa.Budget(4),
    sa.SuccessFirst(then=sa.CVaR(0.8)),
)


@pytest.mark.parametrize("objective", SEVERAL, ids=str)
@settings(max_examples=scaled(15))
@given(document=st.one_of(gambles(), problems(tiny=True)))
@example(document=gamble(2855))  # the largest total of one person is less than that of the one before
def test_whole_blocks_and_reachable_agree(objective: Objective, document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem)
    assume(not (isinstance(objective, sa.Budget) and mdp.cost_error))
    whole = sa.solve(mdp, objective, tolerance=TIGHT)
    seen = 0
    for block in compile_blocks(problem):
        parts = sa.solve(block, objective, tolerance=TIGHT)
        for state in range(block.n_states):
            person = block.person(state)
            value, bound = proved(sa.solve(sa.compile_mdp(problem, start=person), objective, tolerance=TIGHT))
            for solution, position in ((whole, mdp.locate(person)), (parts, state)):
                assert len(solution.values) == len(solution.bounds) == solution.mdp.n_states
                assert solution.values[position] == close(value)
                assert solution.value_of(person) == solution.value_of(position) == solution.values[position]
                assert solution.bounds[position] <= value + 1e-9
                assert solution.bounds[position] == close(bound)
                assert objective.of(sa.evaluate(solution, person)) == close(value)
            seen += 1
    assert seen == mdp.n_states


# ------------------------------------------------------------------------------------------------------------- by hand


def retry_or_pay() -> sa.MDP:
    """Three steps: try for 1 (if it fails it may have cost 2), or pay 4, which ruins one in ten."""
    return one_feature(
        {
            "try": {
                "cost": 1,
                "when": "x == low",
                "outcomes": [{"chance": 0.5, "change": {"x": "goal"}}, {"chance": 0.3}, {"chance": 0.2, "cost": 2}],
            },
            "pay": {
                "cost": 4,
                "when": "x == low",
                "outcomes": [{"chance": 0.9, "change": {"x": "goal"}}, {"change": {"x": "ruin"}}],
            },
        },
        horizon=3,
        failure_cost=20,
    )


def test_a_budget_is_kept_by_looking_at_what_is_left() -> None:
    # W(h, r): the highest chance to succeed from step h with r left of the budget. To pay has 0.9 if r >= 4, else 0.
    #   W(2, r) = 0.5 by trying, for 1 <= r < 4
    #   W(1, 4) = max(try: 0.5 + 0.3 W(2, 3) + 0.2 W(2, 2) = 0.75, pay: 0.9) = 0.9
    #   W(1, 3) = try: 0.5 + 0.3 W(2, 2) + 0.2 W(2, 1) = 0.75
    #   W(0, 5) = max(try: 0.5 + 0.3 W(1, 4) + 0.2 W(1, 3) = 0.92, pay: 0.9) = 0.92
    # Without looking: to try at first and then always to pay has 0.5 + 0.3 * 0.9 = 0.77, always to try 0.875.
    mdp = retry_or_pay()
    solution = sa.solve(mdp, sa.Budget(5))
    assert proved(solution) == pytest.approx((0.08, 0.08), abs=1e-12)
    policy = solution.policy
    assert policy.action() == "try"
    assert policy.action(step=1, spent=1) == "pay"
    assert policy.action(step=1, spent=2) == "try"
    assert policy.action({"x": "low"}, step=2, spent=3) == "try"
    assert policy.action({"x": "goal"}, step=1, spent=1) is None
    cost = sa.evaluate(solution)
    # 1: 0.5; 1 + 4: 0.3 * 0.9; 2 + 1: 0.2 * 0.5; 2 + 1 + 1: 0.2 * 0.3 * 0.5; 2 + 2 + 1: 0.2 * 0.2 * 0.5
    succeeded = [(value, chance) for value, chance, good in cost.points() if good]
    assert [value for value, _ in succeeded] == [1, 3, 4, 5]
    assert [chance for _, chance in succeeded] == pytest.approx([0.5, 0.1, 0.03, 0.27 + 0.02])


def test_value_at_risk_by_hand() -> None:
    # Within 5 the best plan has 0.92 (above); within 4 it has 0.9: to pay. Within 1: 0.5, to try.
    # Within 2: 0.5 + 0.3 * 0.5 = 0.65. Within 3: 0.5 + 0.3 * 0.65 + 0.2 * 0.5 = 0.795.
    mdp = retry_or_pay()
    for level, expected in [(0, 1), (0.5, 1), (0.51, 2), (0.65, 2), (0.795, 3), (0.8, 4), (0.9, 4), (0.91, 5)]:
        assert least(mdp, sa.VaR(level)) == expected, level
    assert least(mdp, sa.VaR(0.92)) == 5
    # Nothing is sure. To pay at once costs at most 4 + 20; whoever tries first may have spent 2 more than that.
    assert least(mdp, sa.VaR(1)) == least(mdp, sa.CVaR(1)) == 24


def two_tries(failure_cost: float, chance: Any = 0.5) -> sa.MDP:
    """1 with a half, 2 with a quarter, else 2 and the failure cost."""
    return one_feature(
        {"go": {"cost": 1, "chance": chance, "change": {"x": "goal"}}}, horizon=2, failure_cost=failure_cost
    )


@pytest.mark.parametrize(
    ("failure_cost", "level", "expected"),
    [
        # The mean is 2.25 and the deviation 1.64. No target is above m + sqrt(a / (1 - a)) d, or above 2 + 3.
        (3, 0.0, [Span(0.0, 4)]),
        (3, 0.5, [Span(0.0, 5)]),
        (3, 0.9, [Span(0.0, 6)]),
        (3, 1.0, [Span(0.0, 6)]),
        # 4 and 4.64: while that is less than 10, nothing above 2 is tried.
        (10, 0.5, [Span(0.0, 3)]),
        (10, 0.6, [Span(0.0, 3), Span(8.0, 3, first=2, moved=4)]),
        (10, 0.65, [Span(0.0, 3), Span(8.0, 4, first=2, moved=4)]),
        (10, 0.7, [Span(0.0, 3), Span(8.0, 5, first=2, moved=4)]),
        (10, 1.0, [Span(0.0, 3), Span(8.0, 5, first=2, moved=4)]),
        # 2.5 and 2.06; one sweep over all is less work than two, up to 4.
        (4, 0.9, [Span(0.0, 7)]),
        (5, 0.9, [Span(0.0, 3), Span(3.0, 5, first=2, moved=4)]),
    ],
)
def test_which_targets_are_swept(failure_cost: int, level: float, expected: list[Span]) -> None:
    mdp = two_tries(failure_cost)
    assert mdp.quantum == 1
    assert optimal.find_spans(mdp, level, optimal.Among()) == expected


def test_which_targets_are_swept_against_the_worst_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean is 4 at worst, and CVaR at most 4 / (1 - a)."""
    mdp, robust = two_tries(10, [0.5, 0.6, 0.7]), optimal.Among(robust=True)
    assert optimal.find_spans(mdp, 0.45, robust) == [Span(0.0, 9)]
    assert optimal.find_spans(mdp, 0.58, robust) == [Span(0.0, 11)]
    assert optimal.find_spans(mdp, 0.9, robust) == [Span(0.0, 13)]
    monkeypatch.setattr(optimal, "FEW", 12)
    assert optimal.find_spans(mdp, 0.9, robust) == [Span(0.0, 13)]
    monkeypatch.setattr(optimal, "FEW", 10)
    assert optimal.find_spans(mdp, 0.9, robust) == [Span(0.0, 3), Span(8.0, 5, first=2, moved=4)]
    assert optimal.find_spans(mdp, 0.45, robust) == [Span(0.0, 9)]
    monkeypatch.setattr(optimal, "FEW", 7)
    assert optimal.find_spans(mdp, 0.45, robust) == [Span(0.0, 3)]
    assert optimal.find_spans(mdp, 0.58, robust) == [Span(0.0, 3), Span(8.0, 3, first=2, moved=4)]


@pytest.mark.parametrize("level", [0.3, 0.6, 0.8])
def test_where_all_hope_for_one_outcome_the_robust_bound_is_the_value(level: float) -> None:
    """The least chance is the worst for everything."""
    robust, worst = two_tries(10, [0.5, 0.6, 0.7]), two_tries(10)
    for objective in (sa.CVaR(level), sa.MeanCVaR(0.4, level)):
        solution = sa.solve(robust, objective, robust=True)
        expected = least(worst, objective)
        assert (solution.value, solution.bound) == (close(expected), close(expected))


@pytest.mark.parametrize(
    ("objective", "columns"), [(sa.Budget(0), 1), (sa.Budget(1), 2), (sa.Budget(9), 3), (sa.MeanStd(1), 3)]
)
def test_no_more_columns_are_counted_than_can_be_spent(objective: Objective, columns: int) -> None:
    assert optimal.count_columns(two_tries(10), objective) == columns


def test_a_budget_of_nothing_pays_for_nothing() -> None:
    """To try is free, to pay is surer."""
    free, pay = ({"cost": cost, "chance": chance, "change": {"x": "goal"}} for cost, chance in ((0, 0.5), (1, 0.9)))
    mdp = one_feature({"try": free, "pay": pay}, horizon=1, failure_cost=5)
    assert [least(mdp, sa.Budget(limit)) for limit in (0, 1)] == pytest.approx([0.5, 0.1])


def test_a_budget_that_rounding_may_exceed_is_not_spent() -> None:
    """0.6 is rounded to 1. Within 0.7 - 0.4 there is only what is free; within 0.7 + 0.4, both."""
    document = gamble(0, 1) | {"cost": {"resolution": 1}, "goal": {"favourable": "yes", "failure_cost": 5}}
    free, pay = ({"cost": cost, "chance": chance, "change": {"x": "goal"}} for cost, chance in ((0, 0.5), (0.6, 0.9)))
    solution = sa.solve(compiled(document | {"actions": {"try": free, "pay": pay}}), sa.Budget(0.7))
    assert (solution.value, solution.bound) == pytest.approx((0.5, 0.1))
    assert solution.policy.action() == "try"


def test_the_worst_of_all_is_however_rare() -> None:
    mdp = by_hand([[(1 - 1e-13, 0, 1), (1e-13, 5, 1)]], horizon=1)
    for level, expected in ((0.999, 0), (1.0, 5)):
        assert optimal.find_optimal(mdp, sa.VaR(level), tolerance=TIGHT).values[0] == expected


P, PRICE, HORIZON, FAILURE = 0.4, 1.5, 7, 11.0


def retries() -> sa.MDP:
    """The same try up to seven times, or one that is worse in every way."""
    return one_feature(
        {
            "go": {"cost": PRICE, "chance": P, "change": {"x": "goal"}},
            "worse": {"cost": 2 * PRICE, "chance": P / 2, "change": {"x": "goal"}},
        },
        horizon=HORIZON,
        failure_cost=FAILURE,
    )


def _expected(steps: int) -> float:
    """E of the cost of so many tries: c (1 - q^n) / p + q^n F."""
    q = 1 - P
    return PRICE * (1 - q**steps) / P + q**steps * FAILURE


@pytest.mark.parametrize("level", [0.0, 0.3, 0.4, 0.5, 0.9, 0.97, 0.98, 1.0])
def test_retrying_has_a_geometric_tail(level: float) -> None:
    # P(C <= k c) = 1 - q^k, and 1 - q^7 = 0.972. After k failures everything starts anew with H - k steps:
    # E[max(C - k c, 0)] = q^k E of H - k tries.
    mdp, q = retries(), 1 - P
    tries = 1 if level == 0 else HORIZON + 1 if level == 1 else math.ceil(math.log(1 - level) / math.log(q) - 1e-9)
    if tries > HORIZON:
        var = cvar = HORIZON * PRICE + FAILURE
    else:
        var = tries * PRICE
        cvar = var + q**tries * _expected(HORIZON - tries) / (1 - level)
        if level == 0:
            cvar = _expected(HORIZON)
    assert least(mdp, sa.VaR(level)) == pytest.approx(var, rel=1e-12)
    assert least(mdp, sa.CVaR(level)) == pytest.approx(cvar, rel=1e-12)
    assert least(mdp, sa.MeanCVaR(0.3, level)) == pytest.approx(0.7 * _expected(HORIZON) + 0.3 * cvar, rel=1e-12)


@pytest.mark.parametrize("aversion", [0.01, 0.2, 0.34, 1.0, 5.0])
def test_retrying_has_an_entropic_risk_in_closed_form(aversion: float) -> None:
    # E[exp(b C)] = p z (1 - (q z)^H) / (1 - q z) + (q z)^H exp(b F) with z = exp(b c)
    z = math.exp(aversion * PRICE)
    ratio = (1 - P) * z
    moment = P * z * (1 - ratio**HORIZON) / (1 - ratio) + ratio**HORIZON * math.exp(aversion * FAILURE)
    assert least(retries(), sa.Entropic(aversion)) == pytest.approx(math.log(moment) / aversion, rel=1e-12)


@pytest.mark.parametrize("aversion", [0.01, 0.3, 1.0, 5.0])
def test_retrying_has_a_deviation_in_closed_form(aversion: float) -> None:
    # With N = min(tries, H): E[N^2] = sum of (2 k + 1) q^k over k < H, and C = c N + F where all fail.
    q = 1 - P
    squares = PRICE**2 * sum((2 * k + 1) * q**k for k in range(HORIZON))
    squares += q**HORIZON * (2 * HORIZON * PRICE * FAILURE + FAILURE**2)
    mean = _expected(HORIZON)
    variance = squares - mean**2
    # One try only: what is worse in every way may still deviate less.
    mdp = one_feature(
        {"go": {"cost": PRICE, "chance": P, "change": {"x": "goal"}}}, horizon=HORIZON, failure_cost=FAILURE
    )
    assert least(mdp, sa.Mean()) == pytest.approx(mean, rel=1e-12)
    assert least(mdp, sa.MeanStd(aversion)) == pytest.approx(mean + aversion * math.sqrt(variance), rel=1e-12)
    assert least(mdp, sa.MeanVariance(aversion)) == pytest.approx(mean + aversion * variance, rel=1e-12)


@pytest.mark.parametrize("limit", [0, 1.49, 1.5, 4, 4.5, 10.5, 100])
def test_retrying_within_a_budget(limit: float) -> None:
    tries = min(math.floor(limit / PRICE), HORIZON)
    assert least(retries(), sa.Budget(limit)) == pytest.approx((1 - P) ** tries, rel=1e-12)


def test_a_budget_of_decimals_holds_its_decimals() -> None:
    """0.1 + 0.2 is 0.3, and what is a little less than three tries pays for two."""
    mdp = one_feature({"go": {"cost": 0.1, "chance": 0.5, "change": {"x": "goal"}}}, horizon=5)
    for limit, tries in [(0.3, 3), (0.1 + 0.2, 3), (3 * 0.1, 3), (0.7 - 0.4, 3), (0.29, 2), (0.2999, 2)]:
        assert least(mdp, sa.Budget(limit)) == pytest.approx(0.5**tries, rel=1e-12), limit


# ---------------------------------------------------------------------------------------------------------- simulation


def _simulated_like_computed(solution: sa.Solution, seed: int) -> None:
    exact = sa.evaluate(solution)
    runs = sa.simulate(solution, rollouts=20_000, rng=np.random.default_rng(seed)).distribution
    error = exact.all_runs.std / math.sqrt(20_000)
    assert abs(runs.all_runs.mean - exact.all_runs.mean) <= 5 * error + 1e-9
    error = math.sqrt(exact.success * (1 - exact.success) / 20_000)
    assert abs(runs.success - exact.success) <= 5 * error + 1e-9
    possible = {(cost, good) for cost, _, good in exact.points()}
    assert {(cost, good) for cost, _, good in runs.points()} <= possible


def test_simulated_runs_look_at_what_was_spent() -> None:
    _simulated_like_computed(sa.solve(retry_or_pay(), sa.Budget(5)), 1)
    _simulated_like_computed(sa.solve(toss_and_choose(), sa.MeanStd(2)), 2)


@pytest.mark.parametrize("objective", SEVERAL, ids=str)
@pytest.mark.parametrize("seed", [3, 17, 42, 99])
def test_simulated_runs_cost_what_was_computed(objective: Objective, seed: int) -> None:
    _simulated_like_computed(sa.solve(compiled(gamble(seed, 6)), objective), seed)
