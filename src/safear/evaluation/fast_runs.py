"""All runs of a policy from one state in compiled loops: the same as `propagate` gives, without a layer in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.policy import Policy, PolicyArrays
from safear.loading import compiling_pays, is_numba_loaded
from safear.mdp.arrays import MDP, once_per_mdp

if TYPE_CHECKING:
    from safear.evaluation.run_kernels import CellArrays, Going

MOST_KEYS = 2**62  # states times amounts that one number can tell apart


def is_fast(policy: Policy) -> bool:
    """Whether compiled loops follow a policy: they are at hand (see `compiling_pays`), and they know its kind.

    All that is made of such runs, the search for simple plans above all, goes by this.
    """
    mdp = policy.mdp
    if not is_numba_loaded() or policy.arrays is None or mdp.n_states * find_span(mdp) >= MOST_KEYS:
        return False
    from safear.evaluation.run_kernels import list_run_cells  # noqa: PLC0415  # Numba is loaded

    if not compiling_pays(list_run_cells):
        return False
    if not list_run_cells.signatures and len(mdp.starts):  # by whose code on the disk others know that it pays
        start = int(mdp.starts[0])
        follow_fast(policy, start, int(policy.accounts[start]))
    return True


def require_arrays(policy: Policy) -> PolicyArrays:
    """The arrays of a policy that `is_fast`."""
    arrays = policy.arrays
    if arrays is None:
        raise TypeError(f"compiled loops do not know policies like {policy!r}")
    return arrays


@once_per_mdp
def find_span(mdp: MDP) -> int:
    """More than any run can have spent, in quanta."""
    return mdp.horizon * int(mdp.edge_cost.max(initial=0)) + 1


@once_per_mdp
def often_if_off(mdp: MDP) -> NDArray[np.float64]:
    """The chances of edges, with what nominally never happens as often as it may."""
    never = mdp.edge_chance == 0
    return np.where(never, mdp.edge_high, mdp.edge_chance) if never.any() else mdp.edge_chance


def way_to_go(
    mdp: MDP, *, often: NDArray[np.float64] | None = None, counts_spent: bool = True, possible: bool = False
) -> Going:
    """How runs are followed in compiled loops (see `propagate`); weights go by the chances `often`."""
    from safear.evaluation.run_kernels import Going  # noqa: PLC0415  # loads Numba

    chances = mdp.edge_chance if often is None else often
    return Going(chances, mdp.horizon, find_span(mdp), counts_spent, possible)


def follow_fast(policy: Policy, start: int, account: int) -> CellArrays:
    """All cells of runs whose account opens with so much."""
    from safear.evaluation.run_kernels import list_run_cells  # noqa: PLC0415  # loads Numba

    mdp = policy.mdp
    found: CellArrays = list_run_cells(mdp.arrays, require_arrays(policy), way_to_go(mdp), start, account)
    return found
