"""What can go wrong with a plan, and for how many people.

Two kinds of trouble are looked for. A *setback* is an outcome that does not work and leaves the person worse off than
if nothing had changed: "you lose your job". Worse off means that the highest chance that any plan still has is lower
or, where it is the same, that the goal is more steps away. A *failure* is any try of an action that does not work,
a setback or not. Of each kind the likeliest to happen at least once in a run is told, a failure only if it is likelier
than the setback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.core.runs import Runs
from safear.evaluation.extremes import Range
from safear.evaluation.forward import follow
from safear.evaluation.occurrence import chance_of_once, range_of_once
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.mdp.space import distinct
from safear.recourse.level_changes import Changes, LevelChange, find_changes
from safear.solvers.success import look_ahead

ROUNDING = 1e-9  # a relative difference below this is none
RARE = 0.0001  # what happens to fewer people is not worth telling
RARE_IF_OFF = 0.001  # unless it may happen to so many

Flags = NDArray[np.bool_]
Key = str | tuple[str, frozenset[LevelChange]]  # what the moves that are told of as one have in common


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that may go wrong: how probable it is that it happens at least once in a run.

    A setback has the problem's label of its outcome, or what changes where there is none. Where several outcomes are
    told of as one, `action` and `outcome` are those by which it happens most often.
    `within` is the least and the most that the chance may be: the chance itself where nothing is an interval.
    """

    kind: Literal["setback", "failure"]
    action: str
    chance: float
    within: Range
    outcome: int | None = None
    label: str | None = None
    changes: Changes = ()

    @property
    def is_rare(self) -> bool:
        """Whether it hardly ever happens, even if estimates are off."""
        return self.chance < RARE * (1 - ROUNDING) and self.within.high < RARE_IF_OFF * (1 - ROUNDING)


def find_troubles(policy: Policy, start: int) -> tuple[Trouble, ...]:
    """What can go wrong, likeliest first: nothing, or one thing, or two."""
    mdp = policy.mdp
    choosing = policy.choosing(int(policy.accounts[start]))
    runs = follow(mdp, choosing, start, counts_spent=policy.looks_at_spent, possible=mdp.has_intervals)
    failing = ~mdp.working[runs.moves.edge]
    looked = (_find_setback(mdp, runs, failing & _find_worse(mdp, runs)), _find_failure(mdp, runs, failing))
    found = [trouble for trouble in looked if trouble is not None]
    if len(found) == 2 and found[1].chance <= found[0].chance * (1 + ROUNDING):
        found = found[:1]
    return tuple(sorted(found, key=lambda trouble: -trouble.chance))


def _find_worse(mdp: MDP, runs: Runs) -> Flags:
    """Which moves leave somebody worse off than they would be had nothing changed."""
    origin, edge = np.asarray(runs.moves.origin), np.asarray(runs.moves.edge)
    steps, before = (np.asarray(each)[origin] for each in (runs.cells.step, runs.cells.state))
    after, best = mdp.edge_next[edge], look_ahead(mdp).success
    chances, margin = (best[steps + 1, before], best[steps + 1, after]), ROUNDING * best[steps + 1, before]
    farther = mdp.steps_to_goal[after] > mdp.steps_to_goal[before]
    less, same = chances[1] < chances[0] - margin, np.abs(chances[1] - chances[0]) <= margin
    worse: Flags = (mdp.distance(before, after, ordered=False) > 0) & (less | (same & farther))
    return worse


def _find_setback(mdp: MDP, runs: Runs, meant: Flags) -> Trouble | None:
    """The likeliest outcome that makes things worse. Those that are told in the same words are one.

    That is so if the problem calls them the same, whatever the action, or if one action brings the same changes.
    """

    def name(edge: int) -> Key:
        label = mdp.outcome(edge).label
        return label if label is not None else (_name_action(mdp, edge), frozenset(_read_changes(mdp, edge)))

    found = _find_likeliest(mdp, runs, meant, name)
    if found is None:
        return None
    chance, within, edge = found
    outcome, label = int(mdp.edge_outcome[edge]), mdp.outcome(edge).label
    changes = _read_changes(mdp, edge) if label is None else ()
    return Trouble("setback", _name_action(mdp, edge), chance, within, outcome, label, changes)


def _find_failure(mdp: MDP, runs: Runs, meant: Flags) -> Trouble | None:
    """The action that is likeliest to fail at least once."""
    found = _find_likeliest(mdp, runs, meant, lambda edge: _name_action(mdp, edge))
    return None if found is None else Trouble("failure", _name_action(mdp, found[2]), *found[:2])


def _name_action(mdp: MDP, edge: int) -> str:
    return mdp.actions[int(mdp.row_action[mdp.edge_row[edge]])]


def _read_changes(mdp: MDP, edge: int) -> Changes:
    before, after = int(mdp.row_state[mdp.edge_row[edge]]), int(mdp.edge_next[edge])
    return find_changes(mdp.shown_person(before), mdp.shown_person(after), first=mdp.outcome(edge).change)


def _find_likeliest(mdp: MDP, runs: Runs, meant: Flags, name: Callable[[int], Key]) -> tuple[float, Range, int] | None:
    """The likeliest of the moves meant, those of one name together: its chance, and the edge that is most often taken.

    Nothing happens at least once more often than it happens on average: that spares those that cannot be likeliest.
    """
    flow = np.zeros(mdp.n_edges)  # by edge: how often it is taken on average, as one of the moves meant
    edges = np.asarray(runs.moves.edge)
    np.add.at(flow, edges[meant], np.asarray(runs.moves.chance)[meant])
    named = {edge: name(edge) for edge in distinct(edges[meant]).tolist()}
    if not named:
        return None
    places = {key: place for place, key in enumerate(dict.fromkeys(named.values()))}
    by_edge = np.full(mdp.n_edges, -1)
    by_edge[list(named)] = [places[key] for key in named.values()]
    groups = np.where(meant, by_edge[edges], -1)
    times = np.bincount(by_edge[list(named)], flow[list(named)], len(places))
    best, found = 0.0, -1
    for place in np.argsort(-times, kind="stable").tolist():
        if times[place] <= best and found >= 0:
            break
        chance = chance_of_once(mdp, runs, groups == place)
        if chance > best or found < 0:
            best, found = chance, place
    within = Range(best, best)
    if mdp.has_intervals:
        bounds = range_of_once(mdp, runs, groups == found)
        within = Range(min(bounds.low, best), max(bounds.high, best))
    return best, within, max((edge for edge in named if by_edge[edge] == found), key=lambda edge: float(flow[edge]))
