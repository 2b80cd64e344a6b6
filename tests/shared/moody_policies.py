"""Policies to tell plans of: optimal ones, and some that change their mind as often as they can."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import NOTHING
from safear.evaluation import Policy, SpentPolicy
from safear.risk import Objective
from strategies import problems

Rule = Callable[[int, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]

OBJECTIVES: tuple[Objective, ...] = (sa.Mean(), sa.CVaR(0.8), sa.VaR(0.7), sa.Budget(5), sa.MeanStd(0.5))
CHANCES: list[object] = [0.5, 0.5, [0, 0, 0.6], [0.4, 1, 1], {"worked": 5, "tried": 5}]


@dataclass(frozen=True, eq=False)
class Ruled(Policy):
    """Takes the row of number rule(step, states, spent) of those that a state has."""

    mdp: sa.MDP
    rule: Rule

    @property
    def accounts(self) -> NDArray[np.int64]:
        return np.full(self.mdp.n_states, 100, dtype=np.int64)

    @property
    def looks_at_spent(self) -> bool:
        return True

    def choose(self, step: int, states: NDArray[np.int64], accounts: NDArray[np.int64]) -> NDArray[np.uint8]:
        offered = np.diff(self.mdp.row_start)[states]
        wanted = self.rule(step, states, 100 - accounts)
        return np.where(offered > 0, wanted % np.maximum(offered, 1), NOTHING).astype(np.uint8)


@st.composite
def entangled(draw: st.DrawFn) -> dict[str, Any]:
    """Problems in which one comes to a state at many times and with much or little spent."""
    levels = ["0", "1", "2"]
    outcome = st.tuples(st.integers(0, 3), st.sampled_from(levels))
    pairs = draw(st.lists(st.tuples(outcome, outcome), min_size=2, max_size=3))
    actions = {
        f"do {number}": {
            "cost": 1,
            "outcomes": [
                {"cost": cost, "change": {"a": level}} | ({} if place else {"chance": draw(st.sampled_from(CHANCES))})
                for place, (cost, level) in enumerate(pair)
            ],
        }
        for number, pair in enumerate(pairs)
    }
    return {
        "safear": 1,
        "title": "entangled",
        "horizon": draw(st.integers(2, 6)),
        "goal": {"favourable": "yes", "failure_cost": draw(st.integers(0, 20))},
        "features": {"a": {"kind": "nominal", "levels": levels}},
        "actions": actions,
        "classifier": {"rule": "a == 2"},
        "people": {"p": {"a": "0"}},
    }


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Optimal ones, and some that change their mind as often as they can."""
    problem = sa.parse_problem(draw(problems() if draw(st.integers(0, 2)) == 0 else entangled()))
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    if draw(st.booleans()):
        return sa.solve(mdp, draw(st.sampled_from(OBJECTIVES))).policy
    moods = np.random.default_rng(draw(st.integers(0, 1000))).integers(0, 3, 31)
    return Ruled(mdp, lambda step, states, spent: moods[(7 * step + 3 * states + spent) % len(moods)])


def in_pieces(policy: Policy) -> Policy:
    """A policy of a kind that compiled loops do not know, as one that they do."""
    if policy.arrays is not None:
        return policy
    mdp, rows = policy.mdp, list[tuple[int, int, int]]()
    every, opening = np.arange(mdp.n_states), int(policy.accounts[mdp.start])
    most = mdp.horizon * int(mdp.edge_cost.max(initial=0))
    for step, account in product(range(mdp.horizon), range(opening - most, opening + 1)):
        choice = policy.choose(step, every, np.full(mdp.n_states, account))
        acts = np.flatnonzero(choice != NOTHING).tolist()
        rows += [(step * mdp.n_states + state, account, int(choice[state])) for state in acts]
    return by_pieces(mdp, np.full(mdp.n_states, opening), rows)


def by_pieces(mdp: sa.MDP, opening: NDArray[np.int64], rows: Iterable[tuple[int, int, int]]) -> SpentPolicy:
    """A policy of pieces in any order: (step * n_states + state, account from which on, choice)."""
    place, first, choice = np.array(list(rows), dtype=np.int64).reshape(-1, 3).T
    return SpentPolicy.from_pieces(mdp, opening, place, first, choice.astype(np.uint8))
