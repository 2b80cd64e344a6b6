"""Traces: the ways in which a plan may go that are shown, each with its probability and cost, the others as one row.

The likeliest are shown, and one of the worst: of all that cost at least what the worst runs cost on average (the tail),
the likeliest. Both are found backward over the situations that a run may be in. The likeliest way on from one is its
likeliest outcome with what is likeliest from there, and an end that does not count has none:

    V_h(s, x) = max over the outcomes (p, c, s') of p * V_{h+1}(s', x + c),    V = 1 at ends that count
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Cells
from safear.evaluation.forward import Runs, follow, list_steps, run_exactly, total_costs
from safear.evaluation.policy import Policy, policy_of
from safear.mdp.arrays import MDP
from safear.problem.model import Record
from safear.solvers.solution import Solution

ROUNDING = 1e-9  # the share of a figure that additions may be off by
NO_WAY = -1.0  # in place of a probability, which may be too small for a number but 0


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
    """The most probable traces, most probable first, then one of the worst unless it is among them; the rest, if any.

    Traces that cost at least `bad` are among the worst 1 - level; None where more than these cost so much, or where no
    level was asked for.
    """

    shown: tuple[Trace, ...]
    rest: OtherTraces | None
    bad: float | None = None

    def is_worst(self, trace: Trace) -> bool:
        """Whether a trace is one of the worst."""
        return self.bad is not None and trace.cost >= self.bad


Way = tuple[float, tuple[int, ...]]  # a probability, and the edges to the end


def find_traces(
    solution: Solution | Policy,
    start: Record | int | None = None,
    *,
    limit: int = 5,
    level: float | None = None,
    runs: Runs | None = None,
) -> Traces:
    """The `limit` most probable traces of a policy for a person and, with a level, one of the worst 1 - level.

    `runs` spares a second exact evaluation.
    """
    policy = policy_of(solution)
    origin = policy.mdp.locate_start(start)
    runs = run_exactly(policy, origin) if runs is None else runs
    found = _search(policy, origin, limit + 1)  # one more tells of a rest
    shown, bad = found[:limit], None
    if level is not None:
        least, bad = _find_bad(runs, level)
        if len(found) > limit:
            worst = _search(policy, origin, 1, least)
            shown += [way for way in worst if way[1] not in {edges for _, edges in shown}]
    told = tuple(_read_trace(policy.mdp, origin, chance, edges) for chance, edges in shown)
    return Traces(told, _sum_up_rest(runs, shown) if len(found) > limit else None, bad)


def find_main_way(solution: Solution | Policy, start: Record | int | None = None) -> Trace:
    """The way on which every step works: where several outcomes do, the likeliest."""
    policy = policy_of(solution)
    origin = policy.mdp.locate_start(start)
    return _read_way(policy, origin, go_smoothly(policy, origin))


def find_fallback(solution: Solution | Policy, start: Record | int | None = None) -> Trace | None:
    """The way on which the first step fails, in the likeliest manner, and every other works.

    None if there is none to tell in one sentence: the first step never fails, or the actions that follow depend on how
    it fails, or they miss the goal.
    """
    policy = policy_of(solution)
    mdp, origin = policy.mdp, policy.mdp.locate_start(start)
    first = go_smoothly(policy, origin)[:1]
    row = int(mdp.edge_row[first[0]]) if first else -1
    edges = range(int(mdp.edge_start[row]), int(mdp.edge_start[row + 1])) if first else range(0)
    failing = [edge for edge in edges if mdp.edge_high[edge] > 0 and not mdp.works(edge)]
    failing.sort(key=lambda edge: -float(mdp.edge_chance[edge]))
    if not failing or mdp.edge_chance[failing[0]] <= 0:
        return None
    ways = [_read_way(policy, origin, go_smoothly(policy, origin, [edge])) for edge in failing]
    rests = {tuple(step.action for step in way.steps[1:]) for way in ways}
    return ways[0] if len(rests) == 1 and all(way.success for way in ways) else None


def go_smoothly(policy: Policy, origin: int, begun: Sequence[int] = ()) -> list[int]:
    """The edges of a run that has begun so and whose further steps all work."""
    mdp, edges = policy.mdp, list(begun)
    choosing = policy.choosing(int(policy.accounts[origin]))
    while len(edges) < mdp.horizon:
        state = int(mdp.edge_next[edges[-1]]) if edges else origin
        row = int(choosing(len(edges), np.array([state]), mdp.edge_cost[edges].sum(keepdims=True))[0])
        if row < 0:
            break
        outcomes = range(int(mdp.edge_start[row]), int(mdp.edge_start[row + 1]))
        edges.append(max(outcomes, key=lambda edge: (mdp.works(edge), float(mdp.edge_chance[edge]))))
    return edges


def _read_way(policy: Policy, origin: int, edges: list[int]) -> Trace:
    return _read_trace(policy.mdp, origin, math.prod(policy.mdp.edge_chance[edges].tolist()), tuple(edges))


def _search(policy: Policy, origin: int, limit: int, least: float | None = None) -> list[Way]:
    """The likeliest ways, or those that cost at least so much, likeliest first.

    Backward over the steps: the likeliest ways on from a cell are among the likeliest ways on from its outcomes. By
    cell and rank it is kept along which move, and to which rank there, a way goes on.
    """
    mdp, choosing = policy.mdp, policy.choosing(int(policy.accounts[origin]))
    runs = follow(mdp, choosing, origin, counts_spent=least is not None or policy.looks_at_spent)
    starts, edge, target = (np.asarray(each) for each in (runs.moves.origin, runs.moves.edge, runs.moves.target))
    ends = np.asarray(runs.cells.row) < 0
    value, after = np.full((len(ends), limit), NO_WAY), np.full((len(ends), limit), -1)
    value[ends if least is None else ends & _are_bad(mdp, runs.cells, least), 0] = 1.0
    for _, moves in reversed(list_steps(runs)):
        chances = (mdp.edge_chance[edge[moves], None] * value[target[moves]]).ravel()  # by move and rank
        cells = np.repeat(starts[moves], limit)
        order = np.lexsort((-chances, cells))
        order = order[chances[order] >= 0]
        firsts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(firsts, np.diff(firsts, append=len(order)))
        kept, rank = order[rank < limit], rank[rank < limit]
        value[cells[kept], rank], after[cells[kept], rank] = chances[kept], moves.start * limit + kept
    found = []
    for first in np.flatnonzero(value[0] >= 0).tolist():
        edges, next_one = [], int(after[0, first])
        while next_one >= 0:
            move, place = divmod(next_one, limit)
            edges.append(int(edge[move]))
            next_one = int(after[target[move], place])
        found.append((float(value[0, first]), tuple(edges)))
    return found


def _find_bad(runs: Runs, level: float) -> tuple[float, float | None]:
    """From which cost on a way is bad, and the same if no more than 1 - level of all runs cost so much, else None."""
    exact = runs.distribution
    tail = exact.all_runs.cvar(level)
    least = tail - ROUNDING * abs(tail)
    share = math.fsum(chance for cost, chance, _ in exact.points() if cost >= least)
    return least, least if share <= (1 - level) * (1 + ROUNDING) else None


def _are_bad(mdp: MDP, cells: Cells, least: float) -> NDArray[np.bool_]:
    """In which cells runs would cost at least so much if they ended there."""
    totals, places = np.unique(total_costs(cells, mdp), return_inverse=True)
    return np.array([mdp.to_cost(total) >= least for total in totals.tolist()])[places]


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


def _sum_up_rest(runs: Runs, shown: list[Way]) -> OtherTraces | None:
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
