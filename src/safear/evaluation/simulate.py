"""Seeded simulation of a policy: a cross-check of the exact evaluation, and what the paper did."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.arguments import WHOLE, show, takes
from safear.errors import ObjectiveError
from safear.evaluation.forward import Runs
from safear.evaluation.policy import Planned, Policy, policy_of
from safear.problem.model import Record


@takes(rollouts=WHOLE)
def simulate(
    solution: Planned | Policy,
    start: Record | int | None = None,
    *,
    rollouts: int,
    rng: np.random.Generator,
) -> Runs:
    """Run a policy `rollouts` times; each run is one entry of the result, with chance 1 / rollouts."""
    if rollouts < 1:
        raise ObjectiveError.at((), f"{rollouts} rollouts are too few; at least 1 is needed", code="too_few")
    if not isinstance(rng, np.random.Generator):
        raise ObjectiveError.at(
            (), f"{show(rng)} is not a random generator", "give rng=np.random.default_rng(0)", code="no_generator"
        )
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    state, spent = run_all(policy, np.full(rollouts, origin), rng)
    return Runs(mdp, origin, state, spent, np.full(rollouts, 1 / rollouts))


def run_all(
    policy: Policy, starts: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One run from each of many states: where it ends, and what it has spent in quanta."""
    mdp = policy.mdp
    state, spent = starts.astype(np.int64), np.zeros(len(starts), dtype=np.int64)
    # Chances cumulated over all edges: each row is a stretch of it, and one search finds the edge for all runs at once.
    cumulated = np.concatenate([[0.0], np.cumsum(mdp.edge_chance)])
    opening = policy.accounts[starts]
    for step in range(mdp.horizon):
        rows = policy.rows(step, state, opening - spent)
        going = np.flatnonzero(rows >= 0)
        if not len(going):
            break
        first, last = mdp.edge_start[rows[going]], mdp.edge_start[rows[going] + 1]
        drawn = cumulated[first] + rng.random(len(going)) * (cumulated[last] - cumulated[first])
        drawn = np.minimum(drawn, np.nextafter(cumulated[last], 0.0))  # rounded up, it may belong to what never happens
        edge = np.clip(np.searchsorted(cumulated, drawn, side="right") - 1, first, last - 1)
        spent[going] += mdp.edge_cost[edge]
        state[going] = mdp.edge_next[edge]
    return state, spent
