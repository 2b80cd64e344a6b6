"""All states at once against one state at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import safear as sa
from safear.errors import ObjectiveError, TooLargeError
from safear.evaluation import evaluate_states, run_exactly
from safear.mdp import compile_blocks
from safear.risk import Objective
from safear.solvers.solve import Method
from strategies import problems

PLANS: list[tuple[Objective, Method]] = [
    (sa.MeanStd(0.5), "greedy"),
    (sa.MeanStd(0.5), "optimal"),
    (sa.CVaR(0.9), "optimal"),
    (sa.Budget(3), "optimal"),
]


@given(
    problems(),
    st.sampled_from([0.0, 0.5, 0.8, 0.95, 1.0]),
    st.sampled_from(PLANS),
    st.sampled_from([None, None, 30, 10**6]),
)
def test_every_state_as_if_alone(
    document: dict[str, Any], level: float, plan: tuple[Objective, Method], failure_cost: int | None
) -> None:
    """A failure cost of 10^6 takes no more room than one of 30."""
    if failure_cost is not None:
        document = {**document, "goal": {**document["goal"], "failure_cost": failure_cost}}
    problem = sa.parse_problem(document)
    for mdp in compile_blocks(problem):
        solution = sa.solve(mdp, plan[0], method=plan[1])
        together = evaluate_states(solution)
        for state in range(mdp.n_states):
            alone = run_exactly(solution, state)
            cost = alone.distribution
            ours, theirs = together.distribution(state).points(), cost.points()
            assert [(total, success) for total, _, success in ours] == [
                (total, success) for total, _, success in theirs
            ]
            assert [point[1] for point in ours] == pytest.approx([point[1] for point in theirs], abs=1e-12)
            assert together.success[state] == pytest.approx(cost.success, abs=1e-12)
            pairs: list[tuple[Any, float | None]] = [
                (together.mean, cost.mean),
                (together.variance, cost.variance),
                (together.var(level), cost.var(level)),
                (together.cvar(level), cost.cvar(level)),
                (together.tail_mean(level), cost.tail_mean(level)),
                (together.std, cost.std),
                (together.all_runs.mean, cost.all_runs.mean),
                (together.all_runs.variance, cost.all_runs.variance),
                (together.all_runs.var(level), cost.all_runs.var(level)),
                (together.all_runs.cvar(level), cost.all_runs.cvar(level)),
                (together.all_runs.tail_mean(level), cost.all_runs.tail_mean(level)),
                (together.sparsity, alone.sparsity),
                (together.proximity, alone.proximity),
            ]
            for figures, figure in pairs:
                assert np.isfinite(figures.data).all()
                if figure is None:
                    assert np.ma.getmaskarray(figures)[state]
                else:
                    assert figures[state] == pytest.approx(figure, rel=1e-9, abs=1e-9)


def test_refused_for_an_mdp_of_one_person() -> None:
    problem = sa.load_example("loan")
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    with pytest.raises(ObjectiveError, match="compiled from one person"):
        evaluate_states(solution)


def test_refused_when_it_does_not_fit() -> None:
    solution = sa.solve(sa.compile_mdp(sa.load_example("loan")), sa.Mean())
    with pytest.raises(TooLargeError, match="resolution"):
        evaluate_states(solution, max_bytes=1000)
