"""The ways that are shown of a plan: the likeliest, and always what its worst cases look like.

Of all ways that cost at least what the worst runs cost on average (the tail), the likeliest is shown too. Found
backward over the pairs (state, spent) that a run may be in: V(s, x) = max of p * V(s', x + c), 1 at ends that are bad
enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, prod
from weakref import WeakKeyDictionary

import numpy as np

from safear.evaluation.forward import Layer, Runs, propagate
from safear.mdp.arrays import MDP
from safear.recourse.offer import Offer
from safear.recourse.traces import OtherTraces, Trace, TraceStep

ROUNDING = 1e-9  # the share of a figure that additions may be off by
_KEPT: WeakKeyDictionary[Runs, dict[float, Trace]] = WeakKeyDictionary()  # a page asks several times


@dataclass(frozen=True, slots=True)
class ShownWays:
    """The likeliest ways first, then one of the worst unless it is among them; the rest, None if nothing is left.

    Ways that cost at least `bad` are among the worst 1 - level; None where more than these cost so much.
    """

    ways: tuple[Trace, ...]
    rest: OtherTraces | None
    bad: float | None

    def is_worst(self, way: Trace) -> bool:
        """Whether a way is one of the worst."""
        return self.bad is not None and way.cost >= self.bad


def choose_ways(offer: Offer) -> ShownWays:
    """What is shown of a plan."""
    shown, rest = offer.traces.shown, offer.traces.rest
    least = offer.tail - ROUNDING * abs(offer.tail)
    points = offer.cost.points()
    share = fsum(chance for cost, chance, _ in points if cost >= least)
    bad = least if share <= (1 - offer.level) * (1 + ROUNDING) else None
    worst = None if rest is None else _recall_worst(offer, least)
    if worst is None or rest is None or any(way.steps == worst.steps for way in shown):
        return ShownWays(shown, rest, bad)
    return ShownWays((*shown, worst), _leave_out(points, (*shown, worst)), bad)


def _leave_out(points: Sequence[tuple[float, float, bool]], shown: Sequence[Trace]) -> OtherTraces | None:
    """All that is not shown."""
    left = []
    for cost, chance, success in points:
        told = fsum(way.chance for way in shown if (way.cost, way.success) == (cost, success))
        if chance - told > ROUNDING * chance:
            left.append((cost, chance - told, success))
    if not left:
        return None
    good = [cost for cost, _, success in left if success]
    total = fsum(chance for _, chance, _ in left)
    return OtherTraces(
        chance=total,
        success=fsum(chance for _, chance, success in left if success),
        failure=fsum(chance for _, chance, success in left if not success),
        mean_cost=fsum(cost * chance for cost, chance, _ in left) / total,
        least_cost=min(cost for cost, _, _ in left),
        largest_cost=max(cost for cost, _, _ in left),
        success_costs=(min(good), max(good)) if good else None,
    )


def _recall_worst(offer: Offer, least: float) -> Trace:
    known = _KEPT.setdefault(offer.runs, {})
    if offer.level not in known:
        known[offer.level] = find_worst(offer, least)
    return known[offer.level]


def find_worst(offer: Offer, least: float) -> Trace:
    """The likeliest of all ways that cost at least so much, which some must."""
    policy, start = offer.policy, offer.start
    mdp = policy.mdp
    layers = list(propagate(mdp, policy.choosing(int(policy.accounts[start])), start))
    moves: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []  # by layer: the best move from each pair, -1 if none
    on = np.empty(0)
    for layer in reversed(layers):
        value, move = np.where(layer.row < 0, _is_bad(mdp, layer, least), 0.0), np.full(len(layer.row), -1)
        if len(layer.edge):
            chances = mdp.edge_chance[layer.edge] * on[layer.target]
            order = np.lexsort((-chances, layer.origin))
            best = order[np.diff(layer.origin[order], prepend=-1) > 0]
            value[layer.origin[best]], move[layer.origin[best]] = chances[best], best
        moves.append(move)
        on = value
    edges, pair = [], 0
    for layer, move in zip(layers, reversed(moves), strict=True):
        if move[pair] < 0:
            break
        edges.append(int(layer.edge[move[pair]]))
        pair = int(layer.target[move[pair]])
    return _read_way(mdp, start, edges)


def _is_bad(mdp: MDP, layer: Layer, least: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which pairs would cost at least so much if runs ended there."""
    totals = np.where(mdp.goal[layer.state], layer.spent, layer.spent + mdp.failure_cost)
    found, places = np.unique(totals, return_inverse=True)
    return np.array([mdp.to_cost(int(total)) >= least for total in found])[places]


def _read_way(mdp: MDP, start: int, edges: Sequence[int]) -> Trace:
    """A way as traces are told."""
    steps = tuple(
        TraceStep(
            mdp.actions[int(mdp.row_action[mdp.edge_row[edge]])],
            int(mdp.edge_outcome[edge]),
            mdp.works(edge),
            mdp.to_cost(int(mdp.edge_cost[edge])),
        )
        for edge in edges
    )
    success = bool(mdp.goal[int(mdp.edge_next[edges[-1]]) if edges else start])
    spent = int(mdp.edge_cost[list(edges)].sum())
    total = spent if success else spent + mdp.failure_cost
    return Trace(steps, prod(float(mdp.edge_chance[edge]) for edge in edges), mdp.to_cost(total), success)
