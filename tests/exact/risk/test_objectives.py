"""Objectives: their values, their texts, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import safear as sa
from doors import OBJECTIVE_EXAMPLES, CostObjective, rounding_error
from safear.errors import ObjectiveError
from safear.risk import Objective

AFTER_SUCCESS = """SuccessFirst(then=Mean(), tolerance=1e-12) cannot come after success
    give one of the other objectives, such as CVaR(0.95)"""


NUMBERS = st.floats(0, 1e6) | st.sampled_from([0.5, 1 / 3, 1e-7, 12.5, 2])
SHARES = st.floats(0, 1) | st.sampled_from([0, 0.95, 0.999, 1])
COSTS = st.one_of(
    st.just(sa.Mean()),
    *(NUMBERS.map(kind) for kind in (sa.MeanStd, sa.MeanLowerStd, sa.MeanVariance, sa.Entropic, sa.Budget)),
    SHARES.map(sa.VaR),
    SHARES.map(sa.CVaR),
    st.builds(sa.MeanCVaR, SHARES, SHARES),
)
SLACKS = st.floats(0, 1, exclude_max=True) | st.sampled_from([1e-12, 0.01 / 12, 0])
OBJECTIVES = COSTS | st.builds(sa.SuccessFirst) | st.builds(sa.SuccessFirst, COSTS, SLACKS)


@given(OBJECTIVES)
@example(sa.SuccessFirst())
@example(sa.SuccessFirst(sa.MeanCVaR(0.5, 0.95), 0.01 / 12))
def test_text_reads_back(objective: Objective) -> None:
    assert sa.parse_objective(str(objective)) == objective


def test_examples_read_back() -> None:
    assert [str(sa.parse_objective(text)) for text in OBJECTIVE_EXAMPLES] == list(OBJECTIVE_EXAMPLES)


@pytest.mark.parametrize(
    ("objective", "text"),
    [
        (sa.SuccessFirst(), "success-first"),
        (sa.SuccessFirst(tolerance=0.001), "success-first~0.001"),
        (sa.SuccessFirst(sa.CVaR(0.95)), "success-first:cvar:0.95"),
        (sa.SuccessFirst(sa.CVaR(0.95), 0.0005), "success-first:cvar:0.95~0.0005"),
    ],
)
def test_success_first_in_writing(objective: Objective, text: str) -> None:
    assert str(objective) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mean_lower_std:1", "objective 'mean_lower_std:1' is not known\n    did you mean 'mean-lower-std:0.5'?"),
        ("CVaR:0.95", "objective 'CVaR:0.95' is not known\n    did you mean 'cvar:0.95'?"),
        ("entropic:-1", "the risk aversion -1.0 is not a number of 0 or more"),
        ("budget:inf", "objective 'budget:inf': 'inf' is not a number\n    write 'budget:6'"),
        ("means", "objective 'means' is not known\n    did you mean 'mean'?"),
        ("mean-std", "objective 'mean-std' needs a number\n    write 'mean-std:0.5'"),
        ("mean-cvar:0.5", "objective 'mean-cvar:0.5': 'mean-cvar' needs two numbers\n    write 'mean-cvar:0.5:0.95'"),
        ("cvar:0.9:0.5", "objective 'cvar:0.9:0.5': 'cvar' needs a number\n    write 'cvar:0.95'"),
        ("cvar:95", "level: 95.0 is not between 0 and 1\n    0.95 is the worst 5%"),
        ("mean-cvar:2:0.9", "the weight 2.0 is not between 0 and 1"),
        ("budget:-1", "the budget -1.0 is not a cost of 0 or more"),
        ("success-first:success-first", AFTER_SUCCESS),
        (
            "success-first:cvar:0.95~x",
            "objective 'success-first:cvar:0.95~x': 'x' is not a number\n    write 'success-first:cvar:0.95~0.001'",
        ),
        (
            "success-first:",
            "objective 'success-first:' names no second objective\n    write 'success-first:cvar:0.95'",
        ),
        ("success-first:cvr:0.9", "objective 'cvr:0.9' is not known\n    did you mean 'cvar:0.95'?"),
        ("mean-std:", "objective 'mean-std:': '' is not a number\n    write 'mean-std:0.5'"),
        ("mean-std:half", "objective 'mean-std:half': 'half' is not a number\n    write 'mean-std:0.5'"),
        ("mean:1", "objective 'mean:1': 'mean' takes no number\n    write 'mean'"),
        ("mean-std:-1", "the risk aversion -1.0 is not a number of 0 or more"),
        ("mean-std:nan", "objective 'mean-std:nan': 'nan' is not a number\n    write 'mean-std:0.5'"),
        ("mean-lower-std:inf", "objective 'mean-lower-std:inf': 'inf' is not a number\n    write 'mean-lower-std:0.5'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ObjectiveError) as caught:
        sa.parse_objective(text)
    assert str(caught.value) == message


def test_values_on_a_distribution() -> None:
    problem = sa.load_example("health-insurance")
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    cost = sa.evaluate(sa.solve(mdp, sa.Mean()))
    runs = cost.all_runs
    assert sa.Mean().of(cost) == pytest.approx(1.9921875)
    assert sa.MeanStd(2).of(cost) == pytest.approx(runs.mean + 2 * runs.variance**0.5)
    upper = sum(
        chance * max(value - runs.mean, 0) ** 2 for value, chance in zip(runs.values, runs.chances, strict=True)
    )
    assert sa.MeanLowerStd(2).of(cost) == pytest.approx(runs.mean + 2 * upper**0.5)


UNROUNDED: list[CostObjective] = [
    sa.Mean(),
    sa.MeanStd(0.01),
    sa.MeanStd(3),
    sa.MeanLowerStd(2),
    sa.MeanVariance(0.01),
    sa.MeanVariance(1),
    sa.MeanVariance(20),
    sa.Entropic(0.1),
    sa.VaR(0.8),
    sa.CVaR(0.9),
    sa.CVaR(1),
    sa.MeanCVaR(0.3, 0.95),
]
RUNS = st.lists(st.tuples(st.integers(0, 2000), st.integers(-10, 10), st.integers(1, 9)), min_size=1, max_size=5)


@pytest.mark.parametrize("objective", UNROUNDED, ids=str)
@given(RUNS)
def test_no_value_is_off_by_more_than_it_says(objective: CostObjective, runs: list[tuple[int, int, int]]) -> None:
    """Each run's cost was rounded by at most 10; what is said of the rounded costs holds for the true ones."""
    rounded, shifts, weights = (np.array(column) for column in zip(*runs, strict=True))
    true = np.maximum(rounded + shifts, 0)

    def cost(units: np.ndarray[tuple[int], np.dtype[np.int64]]) -> sa.CostDistribution:
        order = np.argsort(units)
        none = np.empty(0)
        return sa.CostDistribution(units[order], weights[order] / weights.sum(), none.astype(np.int64), none)

    value = objective.of(cost(rounded))
    error = rounding_error(objective, float(np.abs(true - rounded).max()), value)
    assert abs(objective.of(cost(true)) - value) <= error * (1 + 1e-9) + 1e-9


SHARE: list[Callable[[Any], object]] = [sa.VaR, sa.CVaR, lambda x: sa.MeanCVaR(x, 0.9), lambda x: sa.MeanCVaR(0.5, x)]
AMOUNT: list[Callable[[Any], object]] = [sa.MeanStd, sa.MeanLowerStd, sa.MeanVariance, sa.Entropic, sa.Budget]
ALL: list[Callable[[Any], object]] = [*SHARE, *AMOUNT, lambda x: sa.SuccessFirst(tolerance=x)]


@pytest.mark.parametrize(
    ("make", "number"),
    [(make, number) for make in SHARE for number in (-1e-9, 1.01, math.nan)]
    + [(make, number) for make in ALL for number in ("0.5", None, [1], True, 1j, np.array(0.5), np.array([1, 2]))]
    + [(make, number) for make in ALL for number in (10**400, Decimal("NaN"), Fraction(10**400))]
    + [(make, number) for make in AMOUNT for number in (-0.01, math.nan, math.inf)],
)
def test_numbers_that_are_refused(make: Callable[[Any], object], number: object) -> None:
    with pytest.raises(ObjectiveError) as raised:
        make(number)
    assert len(str(raised.value)) < 2000


@pytest.mark.parametrize("make", ALL)
def test_a_number_of_too_many_digits_to_be_shown(make: Callable[[Any], object]) -> None:
    with pytest.raises(ObjectiveError, match="is not a float or a whole number"):
        make(10**5000)


def test_values_by_hand() -> None:
    """Half of the runs cost 1 and three tenths 3; those that fail have spent 0 and pay 6."""
    chances, none = np.array([0.5, 0.3]), np.array([0])
    cost = sa.CostDistribution(np.array([1, 3]), chances, none, np.array([0.2]), 6)
    mean, variance = 0.5 + 0.9 + 1.2, 0.5 + 2.7 + 7.2 - 2.6**2
    assert sa.Mean().of(cost) == pytest.approx(mean)
    assert sa.MeanStd(0.5).of(cost) == pytest.approx(mean + 0.5 * variance**0.5)
    assert sa.MeanLowerStd(0.5).of(cost) == pytest.approx(mean + 0.5 * (0.3 * 0.4**2 + 0.2 * 3.4**2) ** 0.5)
    assert sa.MeanVariance(0.5).of(cost) == pytest.approx(mean + 0.5 * variance)
    terms = 0.5 * math.exp(0.5) + 0.3 * math.exp(1.5) + 0.2 * math.exp(3)
    assert sa.Entropic(0.5).of(cost) == pytest.approx(math.log(terms) / 0.5)
    assert sa.Budget(2.9).of(cost) == pytest.approx(0.5)
    assert sa.Budget(3).of(cost) == pytest.approx(0.2)
    assert (sa.VaR(0.5).of(cost), sa.VaR(0.6).of(cost), sa.VaR(0.9).of(cost)) == (1, 3, 6)
    assert sa.CVaR(0.7).of(cost) == pytest.approx((0.1 * 3 + 0.2 * 6) / 0.3)
    assert sa.MeanCVaR(0.25, 0.7).of(cost) == pytest.approx(0.75 * mean + 0.25 * 5)
    assert sa.SuccessFirst(sa.CVaR(0.7)).of(cost) == pytest.approx(5)


@pytest.mark.parametrize(
    ("objective", "error"),
    [
        (sa.Mean(), 3.0),
        (sa.MeanStd(2), 9.0),
        (sa.MeanLowerStd(0.5), 4.5),
        (sa.MeanVariance(2), 3 * (1 + 2 * math.sqrt(2 * 8) + 2 * 3)),
        (sa.Budget(7), 0.0),
        (sa.CVaR(0.9), 3.0),
    ],
    ids=str,
)
def test_the_largest_error_by_hand(objective: CostObjective, error: float) -> None:
    """Totals are off by 3, and the value is 8: b * std <= sqrt(b * value) = 4 for the variance with b = 2."""
    assert rounding_error(objective, 3.0, 8.0) == pytest.approx(error)
    if isinstance(objective, sa.MeanVariance):  # a value below 0 by rounding is no reason to fail
        assert rounding_error(objective, 3.0, -1e-18) == pytest.approx(3 * (1 + 2 * 3))


def test_ends_of_what_is_allowed() -> None:
    assert (sa.MeanStd(0).risk_aversion, sa.MeanStd(1e6).risk_aversion, sa.Budget(0).limit) == (0, 1e6, 0)
    assert (sa.CVaR(0).level, sa.CVaR(1).level) == (0, 1)
    assert (sa.MeanCVaR(0, 0).weight, sa.MeanCVaR(1, 1).weight, sa.SuccessFirst(tolerance=0).slack) == (0, 1, 0)
    with pytest.raises(ObjectiveError, match="is above 1e\\+06"):
        sa.MeanStd(1e6 + 1)
    for tolerance in (-1e-9, 1.0, math.nan):
        with pytest.raises(ObjectiveError, match="is not a probability below 1"):
            sa.SuccessFirst(tolerance=tolerance)


def test_what_comes_before_costs() -> None:
    assert (sa.CVaR(0.9).slack, sa.CVaR(0.9).cost_objective) == (None, sa.CVaR(0.9))
    first = sa.SuccessFirst(sa.CVaR(0.9), 0.01)
    assert (first.slack, first.cost_objective) == (0.01, sa.CVaR(0.9))
    assert sa.SuccessFirst().slack == 1e-12
