"""The exact distribution of what a policy costs one person.

All (state, spent) pairs that a run may be in are carried forward with their probabilities, step by step:

    P_{h+1}(s', x + c) = sum of P_h(s, x) * p    over the outcomes (p, c, s') of what the policy does at (s, x)

Nothing is sampled and no cost is rounded. The core does it (`core.runs`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Cells, Going, follow_policy
from safear.core.runs import Runs as Followed
from safear.errors import TooLargeError
from safear.evaluation.policy import NO_ARRAYS, Choose, Opened, Planned, Policy, policy_of
from safear.mdp.arrays import MDP, once_per_mdp
from safear.problem.model import Record
from safear.risk.distribution import CostDistribution, merge_units
from safear.steady import dot

MOST_KEYS = 2**62  # pairs of a state and an amount that one number can tell apart
NO_LIMIT = 2**62  # to the moves of runs


@dataclass(frozen=True, eq=False)
class Runs:
    """All ways runs may end: final state, what was spent (in quanta), probability, success."""

    mdp: MDP
    start: int
    state: NDArray[np.int64]
    spent: NDArray[np.int64]
    chance: NDArray[np.float64]

    @property
    def succeeded(self) -> NDArray[np.bool_]:
        """Which of them ended at a goal."""
        return self.mdp.goal[self.state]

    @cached_property
    def distribution(self) -> CostDistribution:
        """The distribution of the total cost."""
        good = self.succeeded
        return CostDistribution(
            *merge_units(self.spent[good], self.chance[good]),
            *merge_units(self.spent[~good], self.chance[~good]),
            failure_cost=self.mdp.failure_cost,
            quantum=self.mdp.quantum,
        )

    @property
    def sparsity(self) -> float | None:
        """The expected number of features that differ at the end of a successful run; None if there is none."""
        return self._expected_distance(ordered=False)

    @property
    def proximity(self) -> float | None:
        """The expected distance at the end of a successful run: |levels| for ordered features, 1 for others."""
        return self._expected_distance(ordered=True)

    def _expected_distance(self, *, ordered: bool) -> float | None:
        good = self.succeeded
        if not good.any():
            return None
        total = self.mdp.distance(self.state[good], np.array([self.start]), ordered=ordered)
        return dot(total, self.chance[good]) / float(self.chance[good].sum())


def evaluate(solution: Planned | Policy, start: Record | int | None = None) -> CostDistribution:
    """The exact distribution of the total cost of a policy for a person."""
    return run_exactly(solution, start).distribution


def run_exactly(solution: Planned | Policy, start: Record | int | None = None) -> Runs:
    """All ways runs of a policy may end for a person, with their probabilities."""
    policy = policy_of(solution)
    origin = policy.mdp.locate_start(start)
    return run_on(policy, origin, account=int(policy.accounts[origin]))


def run_on(policy: Policy, state: int, *, step: int = 0, account: int) -> Runs:
    """The same for a run that is at a state at a step, with so much left on its account; spent is what is to come."""
    mdp = policy.mdp
    return Runs(mdp, state, *_find_ended(follow(mdp, policy.choosing(account), state, step)))


class Ends(NamedTuple):
    """The goals at which runs may end, each once, and how probable each is at the nominal chances: 0 if not at all."""

    state: NDArray[np.int64]
    chance: NDArray[np.float64]


def find_possible_ends(solution: Planned | Policy, start: Record | int | None = None) -> Ends:
    """Every goal at which a run may end if chances lie anywhere in their intervals."""
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    choose = policy.choosing(int(policy.accounts[origin]))
    runs = follow(mdp, choose, origin, counts_spent=policy.looks_at_spent, possible=True)
    state, _, chance = _find_ended(runs)
    chances = np.bincount(state, chance, mdp.n_states).astype(np.float64)
    goals = np.flatnonzero(mdp.goal & (np.bincount(state, minlength=mdp.n_states) > 0))
    return Ends(goals, chances[goals])


def may_succeed(policy: Policy, state: int, *, step: int, account: int) -> bool:
    """Return whether a run that is there, as in `run_on`, may reach a goal at some chances within the intervals."""
    mdp, choose = policy.mdp, policy.choosing(account)
    cells = follow(mdp, choose, state, step, counts_spent=policy.looks_at_spent, possible=True).cells
    return bool(mdp.goal[cells.state].any())


def run_moved(policy: Policy, mdp: MDP) -> Runs:
    """All ways runs may end if chances and costs are those of another MDP with the same states and rows.

    The policy decides as it would after the same history in its own MDP, whatever that has cost here.
    """
    own, start = policy.mdp, policy.mdp.start
    choose = policy.choosing(int(policy.accounts[start]))
    if not policy.looks_at_spent:
        return Runs(mdp, start, *_find_ended(follow(mdp, choose, start)))
    base = mdp.horizon * int(mdp.edge_cost.max(initial=0)) + 1
    both = replace(mdp, edge_cost=add_digits(own.edge_cost, mdp.edge_cost, base, mdp.horizon))
    runs = follow(both, lambda step, states, spent: choose(step, states, spent // base), start)
    state, spent, chance = _find_ended(runs)
    return Runs(mdp, start, state, spent % base, chance)


def add_digits(cost: NDArray[np.int64], digits: NDArray[np.int64], base: int, horizon: int) -> NDArray[np.int64]:
    """Return costs with something else that adds up to less than `base` in any run as their last digits."""
    if horizon * (int(cost.max(initial=0)) + 1) * base >= 2**63:
        cause = "costs are too fine: what a run has spent, with what else is counted, is too large a number"
        raise TooLargeError.at((), cause, "round the costs, or shorten the horizon")
    return cost * base + digits


def require_few_moves(policy: Policy, start: int, *, most: int) -> None:
    """Raise a TooLargeError if the runs of a policy make more moves than that in all."""
    choose = policy.choosing(int(policy.accounts[start]))
    try:
        follow(policy.mdp, choose, start, possible=True, most=most)
    except OverflowError:
        cause = f"its runs make more than {most:,} moves: they have spent too many different amounts on the way"
        raise TooLargeError.at((), cause, "round the costs, or shorten the horizon") from None


def list_steps(runs: Followed) -> list[tuple[slice, slice]]:
    """Return which cells and which moves belong to each step."""
    begin = np.searchsorted(runs.cells.step, np.arange(runs.cells.step[0], runs.cells.step[-1] + 2))
    first = np.searchsorted(runs.moves.origin, begin)
    steps = zip(pairwise(begin.tolist()), pairwise(first.tolist()), strict=True)
    return [(slice(*cells), slice(*moves)) for cells, moves in steps]


def total_costs(cells: Cells, mdp: MDP) -> NDArray[np.int64]:
    """What runs would cost that ended in each cell, in quanta."""
    return np.asarray(cells.spent) + np.where(mdp.goal[cells.state], 0, mdp.failure_cost)


def _find_ended(runs: Followed) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return state, spent and chance of the cells in which runs are over."""
    over, cells = np.asarray(runs.cells.row) < 0, runs.cells
    return np.asarray(cells.state)[over], np.asarray(cells.spent)[over], np.asarray(cells.chance)[over]


def follow(
    mdp: MDP,
    choose: Choose,
    start: int,
    step: int = 0,
    *,
    often: NDArray[np.float64] | None = None,
    counts_spent: bool = True,
    possible: bool = False,
    most: int = NO_LIMIT,
) -> Followed:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p, from a state at a step until all runs are over.

    With `counts_spent` false, x stays 0: runs that differ only in what they have spent are one. With `possible`, runs
    also go where their intervals allow it though their chances are 0. Weights go by the chances `often`. Raises an
    OverflowError before there would be more than `most` moves in all.
    """
    policy = choose.policy.arrays if isinstance(choose, Opened) else None
    account, rule = (choose.account, None) if isinstance(choose, Opened) and policy is not None else (0, choose)
    going = way_to_go(mdp, step, often=often, counts_spent=counts_spent, possible=possible, rule=rule, most=most)
    return follow_policy(mdp.arrays, policy or NO_ARRAYS, going, start, account)


def way_to_go(
    mdp: MDP,
    step: int = 0,
    *,
    often: NDArray[np.float64] | None = None,
    counts_spent: bool = True,
    possible: bool = False,
    rule: Choose | None = None,
    most: int = NO_LIMIT,
) -> Going:
    """Say how the core follows runs (see `follow`)."""
    chances = np.ascontiguousarray(mdp.edge_chance if often is None else often, np.float64)
    span = find_span(mdp) if counts_spent else 1
    return Going(chances, step, mdp.horizon, span, counts_spent, possible, rule, most)


@once_per_mdp
def find_span(mdp: MDP) -> int:
    """Return more than any run can have spent, in quanta; 0 if one number cannot hold both a state and so much."""
    span = mdp.horizon * int(mdp.edge_cost.max(initial=0)) + 1
    return span if mdp.n_states * span < MOST_KEYS else 0


@once_per_mdp
def often_if_off(mdp: MDP) -> NDArray[np.float64]:
    """Return the chances of edges, with what nominally never happens as often as it may."""
    never = mdp.edge_chance == 0
    return np.where(never, mdp.edge_high, mdp.edge_chance) if never.any() else mdp.edge_chance
