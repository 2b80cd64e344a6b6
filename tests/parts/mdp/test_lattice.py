"""The lattice of costs, and the most that can be spent."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import common_quantum, find_lattice, largest_spent
from lanes import scaled
from safear.errors import ProblemError
from small_problems import ladder
from strategies import problems

# ------------------------------------------------------------------- The cost lattice is exact, or says that it is not


def problem(price: object, **more: Any) -> sa.Problem:
    return ladder({"go": {"cost": price, "chance": 0.5, "change": {"a": "1"}}}, levels="01", horizon=2, **more)


@given(st.lists(st.fractions(min_value=0, max_value=100, max_denominator=1000), min_size=1, max_size=6))
def test_the_quantum_divides_all_and_is_the_largest(costs: list[Fraction]) -> None:
    quantum = common_quantum(costs)
    units = [cost / quantum for cost in costs]
    assert all(unit.denominator == 1 for unit in units)
    assert common_quantum([Fraction(unit) for unit in units]) == 1


@pytest.mark.parametrize("cost", ["0.6666666666666666", "123456789012.25", "1e-12", "1e15", "0"])
def test_costs_are_kept_exactly(cost: str) -> None:
    mdp = sa.compile_mdp(problem(cost), start={"a": "0"})
    assert all(int(units) * mdp.quantum == Fraction(cost) for units in mdp.edge_cost)


@pytest.mark.parametrize("cost", ["0.6666666666666666666666666666666666666", "1.00000000000000000000000001"])
def test_one_cost_of_many_digits_is_a_lattice_of_its_own(cost: str) -> None:
    """A single cost is its own quantum; together with another it may be too fine."""
    assert find_lattice(problem(cost)).quantum == Fraction(cost)
    with pytest.raises(ProblemError, match=r"too fine to add up exactly\n    round them"):
        find_lattice(problem(cost, goal={"failure_cost": 1}))
    rounded = problem(cost, goal={"failure_cost": 1}, cost={"resolution": "0.01"})
    assert find_lattice(rounded).error <= Fraction("0.01")


@pytest.mark.parametrize("cost", ["1e16", "1e30", "1e200"])
def test_absurd_costs_are_refused(cost: str) -> None:
    with pytest.raises(ProblemError, match="is above 1e\\+15"):
        problem(cost)


# --------------------------------------------------------------------- The most that can be spent, against its formula


@settings(max_examples=scaled(40))
@given(problems())
def test_the_most_that_is_spent_from_every_state(document: dict[str, Any]) -> None:
    mdp = sa.compile_mdp(sa.parse_problem(document))

    @cache
    def most(step: int, state: int) -> int:
        rows = range(*mdp.row_start[state : state + 2].tolist())
        if mdp.goal[state] or step == mdp.horizon or not rows:
            return 0
        edges = [edge for row in rows for edge in range(*mdp.edge_start[row : row + 2].tolist())]
        return max(int(mdp.edge_cost[edge]) + most(step + 1, int(mdp.edge_next[edge])) for edge in edges)

    assert largest_spent(mdp).tolist() == [most(0, state) for state in range(mdp.n_states)]
