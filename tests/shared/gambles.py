"""Problems in which plans differ, drawn and made by hand, and what an optimal solution proves."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import safear as sa
from safear.risk import Objective
from strategies import problems

TIGHT = 1e-11  # the gap that the exactness tests ask for
CHEAP, DEAR = (0, 0.5, 1, 1, 1.5, 2), (2, 3, 4, 4.25, 6)
RISKY = ((5, 5), (5, 3, 2), (4, 3, 3), (3, 4, 3), (6, 2, 2))  # tenths
SAFE = ((10,), (9, 1), (8, 2), (7, 2, 1))


def gamble(seed: int, horizon: int | None = None) -> dict[str, Any]:
    """Try or pay: what fails costs as much as it turns out, and may throw back or ruin; a problem where plans differ.

    Made from one number: drawn piece by piece, most problems would have one sensible plan or none.
    """
    rng = random.Random(seed)
    actions: dict[str, Any] = {}
    for name in ("try", "pay", "else")[: rng.choice([2, 2, 2, 3])]:
        outcomes = []
        for place, tenths in enumerate(rng.choice({"try": RISKY, "pay": SAFE, "else": RISKY + SAFE}[name])):
            move = rng.choice(["+1", *["goal"] * 4] if place == 0 else [*[""] * 6, "-1", "+1", "ruin"])
            outcome: dict[str, Any] = {"chance": tenths / 10}
            if move:
                outcome["change"] = {"x": move}
            if place and rng.random() < 0.9:
                outcome["cost"] = rng.choice(CHEAP + DEAR)
            outcomes.append(outcome)
        prices = DEAR if name == "pay" else CHEAP
        cases = [{"when": "group == a", "cost": rng.choice(prices)}, rng.choice(prices)]
        actions[name] = {"cost": rng.choice([cases, *prices]), "outcomes": outcomes}
        if rng.random() < 0.8:  # else there is a way out of ruin
            actions[name]["when"] = rng.choice(["x > ruin", "x > ruin", "x > ruin", "x == low"])
    drawn_horizon = rng.choice([2, 3, 3, 3, 3])
    return {
        "safear": 1,
        "title": "Gamble",
        "horizon": drawn_horizon if horizon is None else horizon,
        "features": {
            "x": {"kind": "ordinal", "levels": ["ruin", "low", "mid", "goal"]},
            "group": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
        },
        # Now and then a failure costs far more than can be spent, so that totals lie far apart.
        "goal": {"favourable": "yes", "failure_cost": rng.choice([0, 2, 7.5, 20]) * (40 if seed % 4 == 0 else 1)},
        "classifier": {"rule": "x == goal"},
        "actions": actions,
        "people": {"someone": {"x": rng.choice(["low", "low", "mid"]), "group": "a"}},
    }


def gambles(horizon: int | None = None) -> st.SearchStrategy[dict[str, Any]]:
    return st.integers(0, 10**6).map(lambda seed: gamble(seed, horizon))


DOCUMENTS = st.one_of(gambles(), gambles(), gambles(), problems(tiny=True))
LONGER = st.one_of(gambles(4), gambles(6), problems())


def compiled(document: dict[str, Any]) -> sa.MDP:
    problem = sa.parse_problem(document)
    return sa.compile_mdp(problem, start=problem.default_person)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def proved(solution: sa.Solution) -> tuple[float, float]:
    """Value and bound of an optimal solution; the value is what its policy really has."""
    assert solution.method == "optimal"
    assert solution.gap == solution.value - solution.bound >= 0
    assert solution.objective.of(sa.evaluate(solution)) == close(solution.value), solution.objective
    return solution.value, solution.bound


def least(mdp: sa.MDP, objective: Objective) -> float:
    """The optimal value."""
    value, bound = proved(sa.solve(mdp, objective, tolerance=TIGHT))
    assert bound == close(value)
    return value


def one_feature(actions: dict[str, Any], *, horizon: int, failure_cost: float = 0) -> sa.MDP:
    """A problem with one feature: ruin, low, mid, goal; the person is at low."""
    document = {
        "safear": 1,
        "title": "by hand",
        "horizon": horizon,
        "features": {"x": {"kind": "ordinal", "levels": ["ruin", "low", "mid", "goal"]}},
        "goal": {"favourable": "yes", "failure_cost": failure_cost},
        "classifier": {"rule": "x == goal"},
        "actions": actions,
        "people": {"p": {"x": "low"}},
    }
    return compiled(document)


def toss_and_choose() -> sa.MDP:
    """A toss costs 0 or 10; afterwards the goal costs 1 or, for no reason, 4."""
    return one_feature(
        {
            "toss": {
                "cost": 0,
                "when": "x == low",
                "outcomes": [{"chance": 0.5, "change": {"x": "mid"}}, {"cost": 10, "change": {"x": "mid"}}],
            },
            "cheap": {"cost": 1, "when": "x == mid", "change": {"x": "goal"}},
            "dear": {"cost": 4, "when": "x == mid", "change": {"x": "goal"}},
        },
        horizon=2,
    )


def by_hand(*states: list[list[tuple[float, int, int]]], horizon: int, failure_cost: int = 0) -> sa.MDP:
    """Each state has rows, each row outcomes: chance, cost and the next state; the last state is the goal."""
    rows = [row for state in states for row in state]
    edges = [edge for row in rows for edge in row]
    return sa.MDP(
        horizon=horizon,
        goal=np.arange(len(states) + 1) == len(states),
        row_start=np.cumsum([0, *map(len, states), 0]),
        row_action=np.concatenate([np.arange(len(state)) for state in states]).astype(np.uint8),
        edge_start=np.cumsum([0, *map(len, rows)]),
        edge_next=np.array([after for _, _, after in edges]),
        edge_chance=np.array([chance for chance, _, _ in edges]),
        edge_cost=np.array([cost for _, cost, _ in edges]),
        edge_outcome=np.concatenate([np.arange(len(row)) for row in rows]).astype(np.uint8),
        depth=np.zeros(len(states) + 1, dtype=np.int16),
        actions=tuple(f"row {i}" for i in range(max(map(len, states)))),
        failure_cost=failure_cost,
        stops=True,
    )
