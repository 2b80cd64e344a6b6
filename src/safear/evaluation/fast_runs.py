"""All runs of a policy from one state in compiled loops: the same as `propagate` gives, without a layer in Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.arrays import PolicyArrays
from safear.core.runs import Going, list_run_cells
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP, once_per_mdp

MOST_KEYS = 2**62  # states times amounts that one number can tell apart


class RunCells(NamedTuple):
    """Where runs may be: step, state, what was spent, the row taken (below 0: none), and how probable that is.

    Step by step and, within a step, sorted by state and what was spent. `weight` is the same as `chance` for other
    chances of the edges.
    """

    step: NDArray[np.int64]
    state: NDArray[np.int64]
    spent: NDArray[np.int64]
    row: NDArray[np.int64]
    chance: NDArray[np.float64]
    weight: NDArray[np.float64]


def is_fast(policy: Policy) -> bool:
    """Return whether compiled loops can follow a policy: they know its kind, and costs are not too fine."""
    return policy.arrays is not None and policy.mdp.n_states * find_span(policy.mdp) < MOST_KEYS


def require_arrays(policy: Policy) -> PolicyArrays:
    """Return the arrays of a policy that `is_fast`."""
    arrays = policy.arrays
    if arrays is None:
        raise TypeError(f"compiled loops do not know policies like {policy!r}")
    return arrays


@once_per_mdp
def find_span(mdp: MDP) -> int:
    """Return more than any run can have spent, in quanta."""
    return mdp.horizon * int(mdp.edge_cost.max(initial=0)) + 1


@once_per_mdp
def often_if_off(mdp: MDP) -> NDArray[np.float64]:
    """Return the chances of edges, with what nominally never happens as often as it may."""
    never = mdp.edge_chance == 0
    return np.where(never, mdp.edge_high, mdp.edge_chance) if never.any() else mdp.edge_chance


def way_to_go(
    mdp: MDP, *, often: NDArray[np.float64] | None = None, counts_spent: bool = True, possible: bool = False
) -> Going:
    """Say how compiled loops follow runs (see `propagate`); weights go by the chances `often`."""
    chances = np.ascontiguousarray(mdp.edge_chance if often is None else often, np.float64)
    return Going(chances, mdp.horizon, find_span(mdp), counts_spent, possible)


def follow_fast(policy: Policy, start: int, account: int) -> RunCells:
    """Return all cells of runs whose account opens with so much."""
    mdp = policy.mdp
    return RunCells(*list_run_cells(mdp.arrays, require_arrays(policy), way_to_go(mdp), start, account))
