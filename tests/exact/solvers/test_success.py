"""Success first against brute force."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

import oracle
import safear as sa
from compare import read_both
from doors import allowed_rows, highest_success, sweep_success
from lanes import scaled
from small_problems import ladder
from strategies import problems


@settings(max_examples=scaled(40))
@given(problems(tiny=True))
def test_no_policy_succeeds_more_often_or_as_often_for_less(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.SuccessFirst())
    ours = sa.evaluate(solution)
    outcomes = []
    for policy in judge.policies(start):
        distribution = judge.distribution(policy, start)
        outcomes.append((oracle.success(distribution), oracle.mean(distribution)))
    best = max(success for success, _ in outcomes)
    least = min(mean for success, mean in outcomes if success == best and mean is not None)
    assert ours.success == pytest.approx(float(best), abs=1e-12)
    assert ours.all_runs.mean == pytest.approx(float(least), abs=1e-9)
    assert solution.planned_value() == pytest.approx(float(least), abs=1e-9)


@settings(max_examples=scaled(40))
@given(problems())
def test_rows_are_allowed_where_they_keep_the_best_success(document: dict[str, Any]) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))
    success, allowed = sweep_success(mdp)
    chances = [Fraction(chance).limit_denominator(10**8) for chance in mdp.edge_chance.tolist()]

    @cache
    def best(step: int, state: int) -> Fraction:
        rows = range(*mdp.row_start[state : state + 2].tolist())
        if mdp.goal[state] or step == mdp.horizon or not rows:
            return Fraction(bool(mdp.goal[state]))
        return max(of_row(step, row) for row in rows)

    def of_row(step: int, row: int) -> Fraction:
        edges = range(*mdp.edge_start[row : row + 2].tolist())
        return sum((chances[edge] * best(step + 1, int(mdp.edge_next[edge])) for edge in edges), Fraction(0))

    assert success == pytest.approx([float(best(0, state)) for state in range(mdp.n_states)], abs=1e-12)
    for step in range(mdp.horizon):
        expected = [of_row(step, row) == best(step, int(mdp.row_state[row])) for row in range(mdp.n_rows)]
        assert allowed[step].tolist() == expected


def test_the_highest_success_that_nobody_can_take_away() -> None:
    """A guess is good, unless it is at its worst."""
    problem = ladder(
        {
            "known": {"cost": 1, "chance": 0.5, "change": {"a": "yes"}},
            "guessed": {"cost": 1, "chance": [0.3, 0.8, 0.9], "change": {"a": "yes"}},
        }
    )
    for mdp in (sa.compile_mdp(problem, start=problem.default_person), sa.compile_mdp(problem)):
        assert highest_success(mdp, problem.default_person) == 0.8
        assert highest_success(mdp, problem.default_person, robust=True) == 0.5
    for robust, first in ((False, "guessed"), (True, "known")):
        mdp = sa.compile_mdp(problem, start=problem.default_person)
        assert sa.solve(mdp, sa.SuccessFirst(), robust=robust).policy.action() == first


def test_a_step_may_give_away_so_much_of_the_highest_success() -> None:
    chances = {"high": 0.8, "nearly": 0.78, "low": 0.4}
    problem = ladder({name: {"cost": 1, "chance": chance, "change": {"a": "yes"}} for name, chance in chances.items()})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert allowed_rows(mdp, None) is None  # everything
    for slack, expected in [(0.0, [True, False, False]), (0.03, [True, True, False]), (0.6, [True, True, True])]:
        allowed = allowed_rows(mdp, slack)
        assert allowed is not None
        assert allowed.tolist() == [expected]
