"""Traces: the most probable ways in which a plan may go, each with its probability and cost, the others as one row."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

from safear.evaluation.forward import Runs, propagate, run_exactly
from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.solvers.solution import Solution

ROUNDING = 1e-9  # the share of a probability that subtraction may leave over


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

    @property
    def spent(self) -> float:
        """What its steps cost."""
        return math.fsum(step.cost for step in self.steps)


@dataclass(frozen=True, slots=True)
class OtherTraces:
    """All traces that are not shown: how likely together, to succeed and to fail, and their costs.

    `success_costs` are the least and the largest of those that succeed, None if none does.
    """

    chance: float
    success: float
    failure: float
    mean_cost: float
    least_cost: float
    largest_cost: float
    success_costs: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Traces:
    """The most probable traces, most probable first, and the rest (None if nothing is left)."""

    shown: tuple[Trace, ...]
    rest: OtherTraces | None


Suffix = tuple[float, tuple[int, ...]]  # a probability, and the edges to the end


def find_traces(
    solution: Solution | Policy, start: Record | int | None = None, *, limit: int = 5, runs: Runs | None = None
) -> Traces:
    """The `limit` most probable traces of a policy for a person.

    Backward over the steps, for each situation that the plan can be in: the most probable ways on are among the most
    probable ways on from its outcomes. `runs` spares a second exact evaluation.
    """
    policy = policy_of(solution)
    mdp = policy.mdp
    origin = mdp.locate_start(start)
    runs = run_exactly(policy, origin) if runs is None else runs
    choosing = policy.choosing(int(policy.accounts[origin]))
    layers = propagate(mdp, choosing, origin, counts_spent=policy.looks_at_spent)
    best: list[list[Suffix]] = []  # by pair of the layer
    for layer in reversed(list(layers)):
        ways: list[list[Suffix]] = [[(1.0, ())] if row < 0 else [] for row in layer.row.tolist()]
        moves = zip(*(column.tolist() for column in (layer.origin, layer.edge, layer.target)), strict=True)
        for pair, edge, target in moves:
            chance = float(mdp.edge_chance[edge])
            ways[pair] += [(chance * later, (edge, *edges)) for later, edges in best[target]]
        best = [heapq.nlargest(limit + 1, on, key=lambda way: way[0]) for on in ways]  # one more tells of a rest
    [ways_on] = best
    found = ways_on[:limit]
    shown = tuple(_read_trace(mdp, origin, chance, edges) for chance, edges in found)
    return Traces(shown, _sum_up_rest(runs, found) if len(ways_on) > limit else None)


def _read_end(mdp: MDP, origin: int, edges: tuple[int, ...]) -> tuple[int, bool]:
    """The total cost of a trace in quanta, a failure with the failure cost, and whether it succeeds."""
    success = bool(mdp.goal[int(mdp.edge_next[edges[-1]]) if edges else origin])
    spent = int(mdp.edge_cost[list(edges)].sum())
    return (spent if success else spent + mdp.failure_cost), success


def _read_trace(mdp: MDP, origin: int, chance: float, edges: tuple[int, ...]) -> Trace:
    total, success = _read_end(mdp, origin, edges)
    return Trace(tuple(_read_step(mdp, edge) for edge in edges), chance, mdp.to_cost(total), success)


def _read_step(mdp: MDP, edge: int) -> TraceStep:
    action = mdp.actions[int(mdp.row_action[mdp.edge_row[edge]])]
    return TraceStep(action, int(mdp.edge_outcome[edge]), mdp.works(edge), mdp.to_cost(int(mdp.edge_cost[edge])))


def _sum_up_rest(runs: Runs, shown: list[Suffix]) -> OtherTraces | None:
    """What the exact distribution holds beyond the traces that are shown."""
    mdp, exact = runs.mdp, runs.distribution
    good = zip(exact.succeeded_units.tolist(), exact.succeeded_chances.tolist(), strict=True)
    bad = zip((exact.failed_units + exact.failure_cost).tolist(), exact.failed_chances.tolist(), strict=True)
    points = {(units, True): chance for units, chance in good} | {(units, False): chance for units, chance in bad}
    left = dict(points)
    for chance, edges in shown:
        left[_read_end(mdp, runs.start, edges)] -= chance
    rest = {key: chance for key, chance in left.items() if chance > ROUNDING * points[key]}
    total = sum(rest.values())
    if not rest:
        return None
    mean = sum(chance * mdp.to_cost(units) for (units, _), chance in rest.items()) / total
    everything = [units for units, _ in rest]
    successes = [units for units, success in rest if success]
    return OtherTraces(
        chance=total,
        success=sum(chance for (_, success), chance in rest.items() if success),
        failure=sum(chance for (_, success), chance in rest.items() if not success),
        mean_cost=mean,
        least_cost=mdp.to_cost(min(everything)),
        largest_cost=mdp.to_cost(max(everything)),
        success_costs=(mdp.to_cost(min(successes)), mdp.to_cost(max(successes))) if successes else None,
    )
