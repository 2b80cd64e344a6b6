"""The exact distribution of what a policy costs one person.

All (state, spent) pairs that a run may be in are carried forward with their probabilities, step by step:

    P_{h+1}(s', x + c) = sum of P_h(s, x) * p    over the outcomes (p, c, s') of what the policy does at (s, x)

Nothing is sampled and no cost is rounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.errors import TooLargeError
from safear.evaluation.fast_runs import follow_fast, is_fast
from safear.evaluation.policy import Choose, Planned, Policy, policy_of
from safear.mdp.arrays import MDP, stretches
from safear.problem.model import Record
from safear.risk.distribution import CostDistribution, merge_units
from safear.steady import dot


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
    if step == 0 and is_fast(policy):
        cells = follow_fast(policy, state, account)
        over = cells.row < 0
        return Runs(mdp, state, cells.state[over], cells.spent[over], cells.chance[over])
    layers = list(propagate(mdp, policy.choosing(account), state, step))
    return Runs(mdp, state, *_ended(layers))


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
    layers = list(propagate(mdp, choose, origin, counts_spent=policy.looks_at_spent, possible=True))
    state, _, chance = _ended(layers)
    chances = np.bincount(state, chance, mdp.n_states)
    goals = np.unique(state[mdp.goal[state]])
    return Ends(goals, chances[goals])


def may_succeed(policy: Policy, state: int, *, step: int, account: int) -> bool:
    """Return whether a run that is there, as in `run_on`, may reach a goal at some chances within the intervals."""
    mdp, choose = policy.mdp, policy.choosing(account)
    layers = propagate(mdp, choose, state, step, counts_spent=policy.looks_at_spent, possible=True)
    return any(mdp.goal[layer.state].any() for layer in layers)


def _ended(layers: Sequence[Layer]) -> Iterator[NDArray[Any]]:
    """State, spent and chance of all ways that runs are over."""
    over = [layer.row < 0 for layer in layers]
    for name in ("state", "spent", "chance"):
        yield np.concatenate([getattr(layer, name)[stopped] for layer, stopped in zip(layers, over, strict=True)])


def run_moved(policy: Policy, mdp: MDP) -> Runs:
    """All ways runs may end if chances and costs are those of another MDP with the same states and rows.

    The policy decides as it would after the same history in its own MDP, whatever that has cost here.
    """
    own, start = policy.mdp, policy.mdp.start
    choose = policy.choosing(int(policy.accounts[start]))
    base = (mdp.horizon + 1) * (int(mdp.edge_cost.max(initial=0)) + 1)  # what is spent here rides along below it
    both = replace(mdp, edge_cost=own.edge_cost * base + mdp.edge_cost)
    layers = list(propagate(both, lambda step, states, spent: choose(step, states, spent // base), start))
    state, spent, chance = _ended(layers)
    return Runs(mdp, start, state, spent % base, chance)


class Layer(NamedTuple):
    """Where runs may be at a step: pairs of a state and what was spent, sorted, each with its chance.

    `row` is what is done there, below 0 where the run is over. Moves go from pair number `origin` along an `edge` with
    the probability `flow` to pair number `target` of the next layer.
    """

    step: int
    state: NDArray[np.int64]
    spent: NDArray[np.int64]
    chance: NDArray[np.float64]
    row: NDArray[np.int64]
    origin: NDArray[np.int64]
    edge: NDArray[np.int64]
    flow: NDArray[np.float64]
    target: NDArray[np.int64]


def require_few_moves(policy: Policy, start: int, *, most: int) -> None:
    """Raise a TooLargeError if the runs of a policy make more moves than that in all; little memory is used to tell."""
    choose = policy.choosing(int(policy.accounts[start]))
    deque(propagate(policy.mdp, choose, start, possible=True, most=most), maxlen=0)


def propagate(
    mdp: MDP,
    choose: Choose,
    start: int,
    step: int = 0,
    *,
    counts_spent: bool = True,
    possible: bool = False,
    most: int | None = None,
) -> Iterator[Layer]:
    """P_{h+1}(s', x + c) = sum of P_h(s, x) * p, layer by layer, from a state at a step until all runs are over.

    With `counts_spent` false, x stays 0: runs that differ only in what they have spent are one. With `possible`, runs
    also go where their intervals allow it though their chances are 0. Raises a TooLargeError before there would be
    more than `most` moves in all.
    """
    state, spent, chance = np.array([start]), np.zeros(1, dtype=np.int64), np.ones(1)
    moves = 0
    for now in range(step, mdp.horizon + 1):
        row = choose(now, state, spent) if now < mdp.horizon else np.full(len(state), -1)
        going = np.flatnonzero(row >= 0)
        counts = mdp.edge_start[row[going] + 1] - mdp.edge_start[row[going]]
        moves += int(counts.sum())
        if most is not None and moves > most:
            cause = f"its runs make more than {most:,} moves: they have spent too many different amounts on the way"
            raise TooLargeError.at((), cause, "round the costs, or shorten the horizon")
        origin, edge = np.repeat(going, counts), stretches(mdp.edge_start, row[going])
        if not possible:
            happens = mdp.edge_chance[edge] > 0
            origin, edge = origin[happens], edge[happens]
        target, flow = mdp.edge_next[edge], chance[origin] * mdp.edge_chance[edge]
        total = spent[origin] + mdp.edge_cost[edge] if counts_spent else np.zeros_like(edge)
        order = np.lexsort((total, target))
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (np.diff(target[order]) != 0) | (np.diff(total[order]) != 0)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.cumsum(is_first) - 1
        yield Layer(now, state, spent, chance, row, origin, edge, flow, place)
        if not len(going):
            return
        kept = order[is_first]
        state, spent = target[kept], total[kept]
        chance = np.bincount(place, flow, len(kept)).astype(np.float64)  # in the order of the moves
