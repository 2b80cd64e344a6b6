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
    return _Loops.are_there or _load_loops(policy)


class _Loops:
    """Whether this process has the compiled loops."""

    are_there = False


def _load_loops(policy: Policy) -> bool:
    """Load the loops by following a policy, if that pays. Others know by the code that this leaves on the disk."""
    from safear.evaluation.run_kernels import list_run_cells  # noqa: PLC0415  # Numba is loaded

    starts = policy.mdp.starts.tolist()
    if not starts or not compiling_pays(list_run_cells):
        return False
    follow_fast(policy, starts[0], int(policy.accounts[starts[0]]))
    _Loops.are_there = True
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
