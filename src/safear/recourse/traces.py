"""Traces: the most probable ways in which a plan may go, each with its probability and cost, the others as one row."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from safear.evaluation.exact import Runs, find_start, run_exactly
from safear.mdp.model import MDP
from safear.solvers.policy import Policy
from safear.solvers.solution import Solution
from safear.spec.model import Person

NOISE = 1e-15  # probability that is left over by rounding


@dataclass(frozen=True, slots=True)
class TraceStep:
    """An action that was taken, how it ended, and what that cost."""

    action: str
    outcome: int
    works: bool
    cost: float


@dataclass(frozen=True, slots=True)
class Trace:
    """One way in which a run may go. `cost` is the total; a failure includes the failure cost."""

    steps: tuple[TraceStep, ...]
    chance: float
    cost: float
    success: bool


@dataclass(frozen=True, slots=True)
class OtherTraces:
    """All traces that are not shown: how likely together, how likely to succeed among all runs, and their costs."""

    chance: float
    success: float
    mean_cost: float
    least_cost: float
    largest_cost: float


@dataclass(frozen=True, slots=True)
class Traces:
    """The most probable traces, most probable first, and the rest (None if nothing is left)."""

    shown: tuple[Trace, ...]
    rest: OtherTraces | None


def find_traces(
    solution: Solution | Policy, start: Person | int | None = None, *, limit: int = 5, runs: Runs | None = None
) -> Traces:
    """The `limit` most probable traces of a policy for a person.

    Best first: the most probable unfinished trace is extended by one step until enough are finished. A trace never gets
    more probable by growing, so those that finish first are the most probable. `runs` spares a second evaluation.
    """
    policy = solution.policy if isinstance(solution, Solution) else solution
    mdp = policy.mdp
    origin = find_start(mdp, start)
    runs = run_exactly(policy, origin) if runs is None else runs
    order = count()
    # (-chance, tie breaker, state, quanta spent, edges so far)
    queue: list[tuple[float, int, int, int, tuple[int, ...]]] = [(-1.0, next(order), origin, 0, ())]
    finished: list[tuple[float, int, int, tuple[int, ...]]] = []
    while queue and len(finished) < limit:
        chance, _, state, spent, edges = heapq.heappop(queue)
        row = int(policy.rows(len(edges), np.array([state]))[0]) if len(edges) < mdp.horizon else -1
        if row < 0:
            finished.append((-chance, state, spent, edges))
            continue
        for edge in range(mdp.edge_start[row], mdp.edge_start[row + 1]):
            target, total = int(mdp.edge_next[edge]), spent + int(mdp.edge_cost[edge])
            heapq.heappush(queue, (chance * float(mdp.edge_chance[edge]), next(order), target, total, (*edges, edge)))
    shown = tuple(_read_trace(mdp, chance, state, spent, edges) for chance, state, spent, edges in finished)
    return Traces(shown, _sum_up_rest(runs, finished) if queue else None)


def _read_trace(mdp: MDP, chance: float, state: int, spent: int, edges: tuple[int, ...]) -> Trace:
    success = bool(mdp.goal[state])
    total = spent if success else spent + mdp.failure_cost
    return Trace(tuple(_read_step(mdp, edge) for edge in edges), chance, mdp.to_cost(total), success)


def _read_step(mdp: MDP, edge: int) -> TraceStep:
    number, outcome = int(mdp.row_action[mdp.edge_row[edge]]), int(mdp.edge_outcome[edge])
    works = outcome == 0 if mdp.problem is None else mdp.problem.actions[number].works(outcome)
    return TraceStep(mdp.actions[number], outcome, works, mdp.to_cost(int(mdp.edge_cost[edge])))


def _sum_up_rest(runs: Runs, finished: list[tuple[float, int, int, tuple[int, ...]]]) -> OtherTraces | None:
    """What the exact distribution holds beyond the traces that are shown."""
    mdp = runs.mdp
    left: dict[tuple[int, bool], float] = {}
    for state, spent, chance in zip(runs.state.tolist(), runs.spent.tolist(), runs.chance.tolist(), strict=True):
        key = (spent, bool(mdp.goal[state]))
        left[key] = left.get(key, 0.0) + chance
    for chance, state, spent, _ in finished:
        left[spent, bool(mdp.goal[state])] -= chance
    rest = {key: chance for key, chance in left.items() if chance > NOISE}
    total = sum(rest.values())
    if total <= NOISE:
        return None
    costs = {key: mdp.to_cost(key[0] if key[1] else key[0] + mdp.failure_cost) for key in rest}
    mean = sum(chance * costs[key] for key, chance in rest.items()) / total
    success = sum(chance for (_, good), chance in rest.items() if good)
    return OtherTraces(total, success, mean, min(costs.values()), max(costs.values()))
