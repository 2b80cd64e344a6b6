"""The search for a simple plan, beside going through all plans of its family one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import safear as sa
from doors import (
    FOLLOW,
    RARE_STEP,
    Limits,
    Rows,
    RunCells,
    Search,
    count_rules,
    find_options,
    list_acting,
    make_offer,
    propagate,
    settle,
)
from ladders import draw_ladder, ladders
from lanes import scaled
from safear.evaluation import Policy, evaluate

MOST = 4_000
OPEN = -2  # in place of a row: nothing is decided


def every_plan(base: Policy, start: int) -> list[Policy]:
    """All plans that the search knows of: each option in each state that runs come to often enough, and in time."""
    mdp, follow = base.mdp, base.choosing(int(base.accounts[start]))
    used: dict[int, list[tuple[int, ...]]] = {}
    for layer in propagate(mdp, follow, start):
        for cell in zip(layer.state.tolist(), layer.spent.tolist(), layer.row.tolist(), layer.chance, strict=True):
            if cell[2] >= 0:
                used.setdefault(cell[0], []).append((layer.step, *cell))
    known = {state: RunCells(*map(np.array, zip(*cells, strict=True))) for state, cells in used.items()}
    done, waiting = list[Policy](), list[dict[int, Rows]]([{}])
    while waiting:
        decided = waiting.pop()
        told = [
            state for state, (often, hope) in find_open(base, start, decided).items() if often >= RARE_STEP and hope
        ]
        if told:
            waiting += [{**decided, told[0]: option} for option in find_options(base, start, told[0], known)]
        else:
            done.append(settle(decided, base, start))
        if len(done) + len(waiting) > MOST:
            reject()
    return done


def find_open(base: Policy, start: int, decided: dict[int, Rows]) -> dict[int, tuple[float, bool]]:
    """The states in which a sketch is open: how often runs come there first, and whether a goal can then be reached."""
    mdp, follow, acts = base.mdp, base.choosing(int(base.accounts[start])), list_acting(base.mdp)
    found: dict[int, tuple[float, bool]] = {}

    def choose(step: int, states: Any, spent: Any) -> Any:
        rows = follow(step, states, spent)
        for place, state in enumerate(states.tolist()):
            if state not in decided:
                rows[place] = OPEN if acts[step, state] else -1
            elif decided[state][step] != FOLLOW:
                rows[place] = decided[state][step]
        return rows

    for layer in propagate(mdp, choose, start):
        for state, row, chance in zip(layer.state.tolist(), layer.row.tolist(), layer.chance.tolist(), strict=True):
            if row == OPEN:
                often, hope = found.get(state, (0.0, False))
                found[state] = often + chance, hope or layer.step + int(mdp.steps_to_goal[state]) <= mdp.horizon
    return found


@settings(max_examples=scaled(40))
@given(
    document=ladders(2, 5),
    tolerance=st.sampled_from([0.0, 0.02, 0.2, 1.0]),
    objective=st.sampled_from(["mean", "cvar:0.8", "mean-cvar:0.5:0.95", "mean-std:1", "budget:3"]),
)
def test_no_plan_of_the_family_has_fewer_rules(document: dict[str, Any], tolerance: float, objective: str) -> None:
    found, least = search_and_enumerate(document, tolerance, objective)
    assert (found and found[0]) == (least and least[0])


@pytest.mark.xfail(reason="the search misses a plan with as few rules that costs a quarter of a percent less")
def test_no_plan_of_the_family_with_as_few_rules_costs_less() -> None:
    """Found by new examples; this is the only one known, whatever time the search has."""
    found, least = search_and_enumerate(draw_ladder(np.random.default_rng(1070330397), 2, 5), 1.0, "mean")
    assert found is not None
    assert least is not None
    assert found[1] <= least[1] + 1e-9


def search_and_enumerate(
    document: dict[str, Any], tolerance: float, objective: str
) -> tuple[tuple[int, float] | None, tuple[int, float] | None]:
    """Return rules and value of the plan that is found, and of the best of all plans with fewer rules."""
    problem = sa.parse_problem(document)
    best = make_offer(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.parse_objective(objective)))
    limits, rules = Limits.of(best, tolerance), count_rules(best.policy)
    found = Search(best.policy, best.start, limits).find(rules, most_cells=600_000)
    plans = [
        (count_rules(plan), limits.objective.of(cost))
        for plan in every_plan(best.policy, best.start)
        if limits.allow(cost := evaluate(plan))
    ]
    least = min((plan for plan in plans if plan[0] < rules), default=None)
    return found and (found.rules, found.value), least
