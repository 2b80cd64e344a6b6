"""The entrance to the solvers: which method does what, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import safear as sa
from safear.errors import ObjectiveError
from safear.solvers import Episodic
from small_problems import ladder

OPTIMAL_ALONE = [
    sa.VaR(0.8),
    sa.CVaR(0.8),
    sa.MeanCVaR(0.5, 0.9),
    sa.MeanVariance(0.3),
    sa.Entropic(0.5),
    sa.Budget(4),
    sa.SuccessFirst(),
]
REFUSED: list[tuple[object, dict[str, Any], str]] = [
    (sa.MeanLowerStd(0.5), {"method": "optimal"}, "no optimal method for 'mean-lower-std:0.5'"),
    (sa.MeanStd(0.5), {"method": "gredy"}, "did you mean 'greedy'"),
    (sa.MeanStd(0.5), {"method": "episodic"}, "needs a random generator"),
    ("mean", {}, "is not an objective"),
    *((objective, {"method": "greedy"}, f"'{objective}' needs method 'optimal'") for objective in OPTIMAL_ALONE),
    *((sa.MeanStd(1), {"tolerance": tolerance}, "tolerance") for tolerance in (-1e-9, 1, math.nan)),
]


@pytest.mark.parametrize(("objective", "options", "told"), REFUSED)
def test_what_is_refused(objective: Any, options: dict[str, Any], told: str) -> None:
    mdp = sa.compile_mdp(sa.load_example("loan"))
    with pytest.raises(ObjectiveError) as refused:
        sa.solve(mdp, objective, **options)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("objective", "method"),
    [(sa.SuccessFirst(), "optimal"), (sa.MeanStd(0), "optimal"), (sa.MeanLowerStd(1), "greedy")],
)
def test_which_method_is_used_if_none_is_given(objective: Any, method: str) -> None:
    assert sa.solve(sa.compile_mdp(sa.load_example("loan")), objective).method == method


@pytest.mark.parametrize("method", ["optimal", "greedy", Episodic(episodes=1)], ids=str)
def test_what_is_planned_is_in_the_unit_of_the_costs(method: Any) -> None:
    problem = ladder({"go": {"cost": 2.5, "change": {"a": "yes"}}}, failure_cost=3)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.quantum == 0.5
    assert sa.solve(mdp, sa.MeanStd(1), method=method, rng=np.random.default_rng(0)).planned_value() == 2.5


def test_the_tolerance_may_be_nothing() -> None:
    problem = ladder({"go": {"cost": 2, "chance": 0.5, "change": {"a": "yes"}}}, horizon=2, failure_cost=4)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    # 2 with 1/2, 4 with 1/4, 8 with 1/4: the mean is 4, the variance 6.
    assert sa.solve(mdp, sa.MeanStd(1), tolerance=0).value == pytest.approx(4 + 6**0.5)
