"""`check_mdp` finds each way to break an MDP."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import safear as sa
from safear.errors import MDPError, PersonError
from safear.evaluation import evaluate_states, run_exactly
from safear.mdp import check_mdp
from safear.recourse import find_traces, make_plan


@pytest.fixture
def mdp() -> sa.MDP:
    return sa.compile_mdp(sa.load_example("loan"))


def changed(array: Any, position: int, value: Any) -> Any:
    result = array.copy()
    result[position] = value
    return result


def test_sound(mdp: sa.MDP) -> None:
    check_mdp(mdp)


@pytest.mark.parametrize(
    ("field", "position", "value", "message"),
    [
        ("edge_chance", 0, 0.5, "row[0]: has chances that do not add up to 1"),
        ("edge_chance", 0, float("nan"), "edge_chance[0]: is not in [0, 1]"),
        ("edge_chance", 3, -0.1, "edge_chance[3]: is not in [0, 1]"),
        ("edge_low", 3, 1.1, "edge_low[3]: is not in [0, chance]"),
        ("edge_low", 3, -0.1, "edge_low[3]: is not in [0, chance]"),
        ("edge_high", 3, 0.0, "edge_high[3]: is not in [chance, 1], or not above 0"),
        ("edge_high", 3, 1.1, "edge_high[3]: is not in [chance, 1], or not above 0"),
        ("states", 3, 0, "states: should increase"),
        ("depth", 3, -1, "depth[3]: is negative"),
    ],
)
def test_broken(mdp: sa.MDP, field: str, position: int, value: Any, message: str) -> None:
    broken = replace(mdp, **{field: changed(getattr(mdp, field), position, value)})
    with pytest.raises(MDPError) as caught:
        check_mdp(broken)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": 0}, "horizon: 0 is not positive"),
        ({"failure_cost": -1}, "failure_cost: -1 is negative"),
        ({"quantum": Decimal(0)}, "quantum: 0 is not positive"),
        ({"states": np.zeros(3, dtype=np.int64)}, "states: should increase, one for each of"),
    ],
)
def test_broken_in_other_ways(mdp: sa.MDP, change: dict[str, Any], message: str) -> None:
    with pytest.raises(MDPError) as caught:
        check_mdp(replace(mdp, **change))
    assert message in str(caught.value)


def test_goals_have_no_actions(mdp: sa.MDP) -> None:
    with pytest.raises(MDPError, match="a goal state has actions"):
        check_mdp(replace(mdp, goal=np.ones_like(mdp.goal)))


def test_a_run_must_begin_somewhere(mdp: sa.MDP) -> None:
    with pytest.raises(MDPError, match="depth: is 0 nowhere, so no run can start"):
        check_mdp(replace(mdp, depth=np.ones_like(mdp.depth)))


def make_tries(**changes: Any) -> sa.MDP:
    """Two states: try (cost 2, works 1 time in 4) until the goal."""
    arrays: dict[str, Any] = {
        "horizon": 2,
        "goal": [False, True],
        "row_start": [0, 1, 1],
        "row_action": [0],
        "edge_start": [0, 2],
        "edge_next": [1, 0],
        "edge_chance": [0.25, 0.75],
        "edge_cost": [2, 2],
        "edge_outcome": [0, 1],
        "depth": [0, 0],
        "actions": ("try",),
        "failure_cost": 8,
    }
    return sa.MDP(**(arrays | changes))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_next": [10**9, 0]}, "edge_next[0]: is not a state from 0 to 1"),
        ({"edge_next": [-1, -5]}, "edge_next[0]: is not a state from 0 to 1 (2 in all)"),
        ({"edge_next": [[1, 0]]}, "edge_next: has length 1 x 2, not 1"),
        ({"edge_cost": [2]}, "edge_cost: has length 1, not 2\n    give one entry for each of the edges"),
        ({"edge_cost": [2, -1]}, "edge_cost[1]: is negative"),
        ({"edge_low": [0.0]}, "edge_low: has length 1, not 2"),
        ({"edge_chance": [0.5] * 3}, "edge_chance: has length 3, not 2"),
        ({"depth": [0]}, "depth: has length 1, not 2"),
        ({"goal": [True]}, "row_start: has length 3, not 2\n    give one entry for each of the states, and one more"),
        ({"row_start": [0, -1, 1]}, "row_start: should increase from 0 to 1"),
        ({"edge_start": [0, 3]}, "edge_start: should increase from 0 to 2"),
        (
            {"row_start": [0, 2, 2], "row_action": [0, 0], "edge_start": [0, 2, 2]},
            "edge_start[1]: a row without an edge",
        ),
        ({"row_action": [1]}, "row_action[0]: is not an action"),
    ],
)
def test_loops_are_kept_within_the_arrays(change: dict[str, Any], message: str) -> None:
    """They look at no index and no length again: what is wrong ends the process, or gives any number."""
    with pytest.raises(MDPError) as caught:
        make_tries(**change)
    assert message in str(caught.value)


@pytest.mark.parametrize(("cost", "failure_cost"), [(2**62, 8), (2, 2**63 - 1)])
def test_totals_are_numbers_that_loops_can_add(cost: int, failure_cost: int) -> None:
    with pytest.raises(MDPError) as caught:
        make_tries(edge_cost=[1, cost], failure_cost=failure_cost)
    assert str(caught.value) == (
        f"edge_cost: up to {cost:,} per step, and {failure_cost:,} for a failure, are too much to add up\n"
        "    use a coarser quantum: a run may cost 9,223,372,036,854,775,806 quanta at most"
    )
    make_tries(edge_cost=[1, 2], failure_cost=2**63 - 2 - 2 * make_tries().horizon)
    with pytest.raises(MDPError, match="are too much to add up"):  # numbers that would overflow themselves
        make_tries(edge_cost=[1, 2**62], horizon=np.int64(2), failure_cost=np.int64(8))


def test_a_choice_is_a_byte() -> None:
    """And one of its values says that nothing is chosen."""

    def offer(count: int) -> sa.MDP:
        return make_tries(
            row_start=[0, count, count],
            row_action=range(count),
            edge_start=range(count + 1),
            edge_next=[0] * (count - 1) + [1],
            edge_chance=[1] * count,
            edge_cost=[1] * count,
            edge_outcome=[0] * count,
            actions=tuple(map(str, range(count))),
        )

    assert sa.evaluate(sa.solve(offer(254), sa.Mean()), 0).mean == 1
    with pytest.raises(MDPError, match="a state with more than 254 rows"):
        offer(255)


def test_an_mdp_made_by_hand_is_solved() -> None:
    made = make_tries()
    check_mdp(made)
    solution = sa.solve(made, sa.Mean())
    assert solution.planned_value(0) == 2 + 0.75 * (2 + 0.75 * 8)
    assert sa.evaluate(solution, 0).success == 1 - 0.75**2
    assert evaluate_states(solution).success.tolist() == [1 - 0.75**2, 1]
    assert make_plan(solution, 0).lines()[0] == "1. Try: costs 2 units, works 25 times in 100."
    assert [trace.cost for trace in find_traces(solution, 0).shown] == [12, 2, 4]
    everywhere, alone = evaluate_states(solution), run_exactly(solution, 0)
    assert everywhere.sparsity.tolist() == everywhere.proximity.tolist() == [1, 0]
    assert alone.sparsity == alone.proximity == 1
    assert (made.person(1), made.unit, made.goal_name) == ({"state": "1"}, "units", None)
    with pytest.raises(PersonError, match="no person is given"):
        made.locate()
    with pytest.raises(PersonError, match="was not compiled from a problem"):
        made.locate({"a": "b"})
