"""Exact figures beside 100 rollouts from each of the 57,600 states: `python -m benchmarks.rollouts`.

The rollouts are compiled and as fast as we could make them. They follow the same policy and end in the same figures:
success, and mean, variance, VaR and CVaR at 0.95 of the runs that succeed. Getting arrays ready for them is not timed.
"""

from __future__ import annotations

import sys

import numpy as np
from benchmarks import table
from benchmarks.adult_shaped import adult_shaped
from benchmarks.ours import Summaries, ours_build, ours_figures, ours_solve, ours_summaries
from benchmarks.timing import side_by_side, use_one_core
from numba import njit
from numpy.typing import NDArray

import safear as sa

ROLLOUTS = 100
LEVEL = 0.95
SEED = 88_172_645_463_325_252
NO_EDGE = 2**32 - 1
Words = NDArray[np.uint32]  # unsigned, so that compiled code need not ask whether an index counts from the end
Whole = NDArray[np.int64]


@njit(nogil=True)
def roll_out(first: Words, more: Words, edges: Words, goal: NDArray[np.bool_], figures: NDArray[np.float64]) -> None:
    """Run the policy `ROLLOUTS` times from every state, and write the five figures of each, in quanta.

    At a step, a state has the edge `first` and so many `more`, or none. An edge is four words: a limit, what it costs,
    where it leads, and whether that is a goal. It is taken if the 32 bits drawn are below its limit and no earlier edge
    was taken; the last one is taken if no other was. All runs from a state take a step before any takes the next, so
    that the processor can work on several at once.
    """
    horizon, states = first.shape
    state, spent = np.empty(ROLLOUTS, np.uint32), np.empty(ROLLOUTS, np.uint32)
    arrived = np.empty(ROLLOUTS, np.int64)
    counts = np.zeros(int(edges[:, 1].max()) * horizon + 1, np.int64)
    bits = np.uint64(SEED)
    for start in range(states):
        if goal[start]:
            figures[:, start] = 0.0
            figures[0, start] = 1.0
            continue
        state[:] = start
        spent[:] = 0
        going, successes = ROLLOUTS, 0
        for step in range(horizon):
            still = 0
            for run in range(going):
                here = state[run]
                edge = first[step, here]
                if edge == np.uint32(NO_EDGE):
                    continue
                last = edge + more[step, here]
                bits ^= bits << np.uint64(13)  # Marsaglia's xorshift
                bits ^= bits >> np.uint64(7)
                bits ^= bits << np.uint64(17)
                draw = np.uint32(bits >> np.uint64(32))
                while edge < last and draw >= edges[edge, 0]:
                    edge += np.uint32(1)
                paid = spent[run] + edges[edge, 1]
                if edges[edge, 3]:
                    arrived[successes] = paid
                    successes += 1
                else:
                    state[still], spent[still] = edges[edge, 2], paid
                    still += 1
            going = still
            if going == 0:
                break
        summarise(arrived[:successes], counts, figures[:, start])


@njit(nogil=True)
def summarise(costs: Whole, counts: Whole, figures: NDArray[np.float64]) -> None:
    """The figures of one state from the costs of the runs that succeeded; `counts` are 0 before and after."""
    figures[:] = 0.0
    successes = len(costs)
    if successes == 0:
        return
    total, squares, least, most = 0, 0, len(counts), 0
    for amount in costs:
        total += amount
        squares += amount * amount
        least, most = min(least, amount), max(most, amount)
        counts[amount] += 1
    mean = total / successes
    allowed = (1 - LEVEL) * successes  # so many runs may be beyond the value at risk
    beyond, excess, quantile = 0, 0, -1
    for amount in range(most, least - 1, -1):
        count = counts[amount]
        counts[amount] = 0
        if quantile < 0 and beyond + count > allowed + 1e-9:
            quantile = amount
            excess -= amount * beyond
        if quantile < 0:
            beyond += count
            excess += amount * count
    figures[0] = successes / ROLLOUTS
    figures[1] = mean
    figures[2] = squares / successes - mean * mean
    figures[3] = quantile
    figures[4] = quantile + excess / allowed


class Rollouts:
    """The arrays of a policy as rollouts like them: small, and by step and state."""

    def __init__(self, solution: sa.Solution) -> None:
        mdp, policy = solution.mdp, solution.policy
        rows = np.stack([policy.rows(h, np.arange(mdp.n_states), policy.accounts) for h in range(mdp.horizon)])
        self.mdp = mdp
        self.first = np.where(rows < 0, NO_EDGE, mdp.edge_start[rows]).astype(np.uint32)
        self.more = np.where(rows < 0, 0, mdp.edge_start[rows + 1] - mdp.edge_start[rows] - 1).astype(np.uint32)
        cumulated = np.cumsum(mdp.edge_chance)
        before = np.concatenate([[0.0], cumulated])[mdp.edge_start[:-1]]
        limit = (cumulated - before[mdp.edge_row]).clip(0, 1) * (2**32 - 1)
        edges = (limit.round(), mdp.edge_cost, mdp.edge_next, mdp.goal[mdp.edge_next])
        self.edges = np.stack(edges, axis=1).astype(np.uint32)

    def run(self) -> Summaries:
        """The figures of all states, in the problem's unit."""
        figures = np.empty((5, self.mdp.n_states))
        roll_out(self.first, self.more, self.edges, self.mdp.goal, figures)
        quantum = float(self.mdp.quantum)
        return tuple(figures * np.array([1, quantum, quantum**2, quantum, quantum])[:, None])


def check(exact: Summaries, sampled: Summaries) -> None:
    """Leave if the average of all sampled means is further from the exact one than chance allows."""
    success, mean, variance = exact[:3]
    far = np.sum(sampled[1] - mean) / np.sqrt(np.sum(variance / (ROLLOUTS * success)))
    if abs(far) > 5 or np.abs(sampled[0] - success).max() > 0.2:
        sys.exit(f"rollouts and exact figures disagree: the means by {far:.1f} standard errors")


def main() -> None:
    """Check, time, add to the table."""
    use_one_core()
    problem, objective = adult_shaped(), sa.MeanStd(0.5)
    rollouts = Rollouts(sa.solve(sa.compile_mdp(problem), objective, method="greedy"))
    plans = ours_solve(ours_build(problem), objective)
    exact, sampled = ours_figures(problem, plans, ours_summaries(plans)), rollouts.run()
    check(exact, sampled)
    times = side_by_side({"ours": lambda: ours_summaries(plans), "rollouts": rollouts.run})
    away = np.abs(sampled[1] - exact[1])[~rollouts.mdp.goal]
    note = (
        f"the means of the rollouts are off by {away.mean():.3f} on average and up to {away.max():.2f}; ours are exact"
    )
    record = table.compare(
        f"exact figures of {rollouts.mdp.n_states:,} starts",
        times["ours"],
        f"{ROLLOUTS} compiled rollouts each",
        times["rollouts"],
        at_least=1,
        note=note,
    )
    table.add([record])
    print(table.lay_out([record]))


if __name__ == "__main__":
    main()
