"""The search for a simple plan, beside going through all plans of its family one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import safear as sa
from recourse.ladders import ladders
from safear.evaluation.forward import evaluate, propagate
from safear.evaluation.policy import Policy
from safear.recourse.nearly import Limits
from safear.recourse.offer import make_offer
from safear.recourse.plan_making import RARE_STEP, count_rules
from safear.recourse.simplest import Search
from safear.recourse.sketch import OPEN, RunCells, Sketch, find_options, settle

MOST = 4_000


def every_plan(base: Policy, start: int) -> list[Policy]:
    """All plans that the search knows of: each option in each state that runs come to often enough."""
    used: dict[int, list[tuple[int, ...]]] = {}
    for layer in propagate(base.mdp, base.choosing(int(base.accounts[start])), start):
        for cell in zip(layer.state.tolist(), layer.spent.tolist(), layer.row.tolist(), layer.chance, strict=True):
            if cell[2] >= 0:
                used.setdefault(cell[0], []).append((layer.step, *cell))
    known = {state: RunCells(*map(np.array, zip(*cells, strict=True))) for state, cells in used.items()}
    done, waiting = [], [Sketch.of(base, start)]
    while waiting:
        sketch = waiting.pop()
        open_at: dict[int, float] = {}
        for layer in propagate(base.mdp, sketch.choosing(is_open=True), start):
            for state, row, chance in zip(layer.state.tolist(), layer.row.tolist(), layer.chance.tolist(), strict=True):
                if row == OPEN:
                    open_at[state] = open_at.get(state, 0.0) + chance
        told = [state for state, chance in open_at.items() if chance >= RARE_STEP]
        if told:
            waiting += [sketch.decide(told[0], option) for option in find_options(sketch, told[0], known)]
        else:
            done.append(settle(sketch))
        if len(done) + len(waiting) > MOST:
            reject()
    return done


@settings(max_examples=40)
@given(
    document=ladders(2, 5),
    tolerance=st.sampled_from([0.0, 0.02, 0.2, 1.0]),
    objective=st.sampled_from(["mean", "cvar:0.8", "mean-cvar:0.5:0.95", "mean-std:1", "budget:3"]),
)
def test_no_plan_of_the_family_has_fewer_rules(document: dict[str, Any], tolerance: float, objective: str) -> None:
    problem = sa.parse_problem(document)
    best = make_offer(sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.parse_objective(objective)))
    limits, rules = Limits.of(best, tolerance), count_rules(best.policy)
    found = Search(best.policy, best.start, limits).find(rules, most_cells=60_000)
    plans = [
        (count_rules(plan), limits.objective.of(cost))
        for plan in every_plan(best.policy, best.start)
        if limits.allow(cost := evaluate(plan))
    ]
    least = min((plan for plan in plans if plan[0] < rules), default=None)
    if found is None:
        assert least is None
    else:
        assert least is not None
        assert found.rules == least[0]
        assert found.value <= least[1] + 1e-9
