"""Why no plan leads to a goal: what blocks actions, all that somebody can ever come to, and which numbers would do.

What happens at the nominal chances is searched, since that is what plans are made for; with `possible`, also what can
happen only if intervals are right and nominal chances are not.

With the promises "value" and "narrow", a number that changes to another level is tested at the value of that level. A
model may reject that value and accept others of the level: "shorten the term to 12 to 24 months" fails at 18, and holds
up to 14. So before anybody is told that nothing helps, all points of the levels that they reach are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import can_try, find_allowed, find_ends
from safear.mdp.filed_goals import MOST_POINTS, FiledGoals, Numbers
from safear.mdp.ground import AS_EVER, Laid, Site, Walk
from safear.mdp.lattice import find_lattice
from safear.mdp.space import MAX_INDEX, CodeMatrix, StateArray, StateSpace, distinct
from safear.problem.condition import And, Condition, Within, condition_features
from safear.problem.model import Action, Follow, Problem
from safear.problem.vector import Codes, holds

WHOLE = 100_000  # states up to which all of them are looked at
MOST = 300_000  # states that people can come to; beyond, nothing is said

Why = Literal["when", "closed", "tries", "no_change", "constraint", "limit", "clipped"]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Blocked:
    """An action that is not offered, and what blocks it in most of the states that were looked at.

    when        its condition, or the part `what` of it, does not hold
    closed      the same, and the condition is about something hidden
    tries       it has been tried as often as it may be
    no_change   no outcome changes anything
    constraint  an outcome would break the constraint `what`
    limit       an outcome would take the feature `what` too far from what was filed
    clipped     a side effect in proportion would take the feature `what` beyond its scale

    Where `what` is a condition as the file has it, `rule` is that condition.
    """

    action: str
    code: Why
    what: str = ""
    rule: Condition | None = field(default=None, compare=False)


def find_never_offered(problem: Problem, starts: CodeMatrix | None = None) -> tuple[Blocked, ...]:
    """The actions that nobody is ever offered who starts at these level numbers, and what blocks them.

    Without starts, all states count or, if they are many, those that the problem's people can come to.
    """
    space = StateSpace(problem.features, {})
    if starts is None and space.size <= WHOLE:
        return find_blocked(problem, space.decode(find_allowed(problem, space)))
    if starts is None or not len(starts) or space.size > MAX_INDEX:
        return ()
    site = Site(problem, find_lattice(problem), space)
    site.find(space.encode(starts))
    for _ in range(problem.horizon):
        site.lay(np.flatnonzero(site.laid.row_end < 0))
        if len(np.unique(site.laid.row_action)) == len(problem.actions) or len(site.laid) > MOST:
            return ()
    return find_blocked(problem, site.laid.codes)


def find_blocked(problem: Problem, codes: CodeMatrix) -> tuple[Blocked, ...]:
    """The actions that are offered in none of these states, and what blocks most of them."""
    columns = {feature.name: codes[:, i] for i, feature in enumerate(problem.features)}
    found = (_find_reason(problem, action, columns, len(codes)) for action in problem.actions if len(codes))
    return tuple(reason for reason in found if reason is not None)


def _find_reason(problem: Problem, action: Action, columns: Codes, count: int) -> Blocked | None:
    """What blocks an action in most states; None if it is offered in one."""
    left = np.ones(count, dtype=bool)  # not yet blocked
    blocked: dict[Blocked, int] = {}
    for reason, holds_here in _list_reasons(problem, action, columns, left):
        new = left & holds_here
        blocked[reason] = blocked.get(reason, 0) + int(new.sum())
        left &= ~new
    return None if left.any() else max(blocked, key=lambda reason: blocked[reason])


def _list_reasons(problem: Problem, action: Action, columns: Codes, left: Flags) -> Iterator[tuple[Blocked, Flags]]:
    """Each reason, and in which states it holds; the first that does counts."""
    features, name = problem.feature_by_name, action.name
    for part in action.when.parts if isinstance(action.when, And) else (action.when,):
        is_hidden = any(features[item].hidden for item in condition_features(part))
        yield (
            Blocked(name, "closed") if is_hidden else Blocked(name, "when", str(part), part),
            ~holds(part, columns, features),
        )
    yield Blocked(name, "tries"), ~can_try(problem, action, columns) & np.ones(len(left), dtype=bool)
    rows = np.flatnonzero(left)
    before = {item: column[rows] for item, column in columns.items()}
    ends = list(find_ends(problem, action, before)) if len(rows) else []

    def spread(here: Flags) -> Flags:
        everywhere = np.zeros(len(left), dtype=bool)
        everywhere[rows] = here
        return everywhere

    unchanged = np.ones(len(rows), dtype=bool)
    for end in ends:
        for item in problem.shown_features:
            unchanged &= ~(end.possible & (end.after[item.name] != before[item.name]))
    yield Blocked(name, "no_change"), spread(unchanged)
    for end in ends:
        for constraint in problem.constraints:
            broken = end.possible & ~holds(constraint, end.after, features)
            yield _name_constraint(name, constraint), spread(broken)
        followers = dict.fromkeys(
            item for effect in problem.side_effects for item, part in effect.change.items() if isinstance(part, Follow)
        )
        yield Blocked(name, "clipped", ", ".join(followers)), spread(end.possible & ~end.inside)


def _name_constraint(action: str, constraint: Condition) -> Blocked:
    if isinstance(constraint, Within):
        return Blocked(action, "limit", constraint.feature)
    return Blocked(action, "constraint", str(constraint), constraint)


# --------------------------------------------------------------------------------------------------- beyond the horizon


MOST_SEARCHED = 500_000  # states, beyond which a search gives up
MOST_ASKED = 100_000  # the same if the classifier takes its time
LAID_AT_ONCE = 10_000  # states whose ground is laid at a time


@dataclass(frozen=True, eq=False)
class Reach:
    """The states that a search met, the first of them first; with `goal_in`, a goal was met after so many steps.

    If neither that nor `is_complete`, there were too many. The first `in_time` of them are met within the horizon.
    """

    mdp: CompiledMDP
    states: StateArray
    goal_in: int | None
    is_complete: bool
    in_time: int

    @property
    def codes(self) -> CodeMatrix:
        """Their level numbers [state, feature]."""
        return self.mdp.space.decode(self.states)

    @property
    def codes_in_time(self) -> CodeMatrix:
        """Those of the states within the horizon or, if no goal was met beyond it either, of all."""
        return self.codes if self.goal_in is None else self.codes[: self.in_time]

    @property
    def tried(self) -> int:
        """How many states besides the first one were tried; those that differ in bookkeeping alone count once."""
        shown = [number for number, feature in enumerate(self.mdp.features) if not feature.hidden]
        return len(np.unique(self.codes[:, shown], axis=0)) - 1


def search_on(mdp: CompiledMDP, *, possible: bool = False) -> Reach:
    """Search an MDP that was compiled for one person, and on from its last states.

    States are searched breadth first, layer by layer, so the first goal that is met is met in the fewest steps. A
    search that ends without one is a proof: nothing that these actions lead to, in however many steps, is a goal.
    """
    site = Site(mdp.problem, find_lattice(mdp.problem), mdp.space, laid=Laid.of(mdp))
    walk = Walk(site, AS_EVER, mdp.goals, mdp.codes(mdp.starts)[0], nominal=not possible)
    walk.tell(np.arange(mdp.n_states), mdp.goal)
    in_time, steps, most = walk.find(mdp.horizon)[0], mdp.horizon, MOST_ASKED if mdp.goals.is_slow else MOST_SEARCHED
    depth, known = np.array(walk.scratch.depth), np.array(walk.scratch.depth) >= 0
    order = np.argsort(depth, kind="stable")[len(depth) - in_time :]
    layers, frontier = [mdp.states[order]], order[depth[order] == steps]
    if mdp.goal[order].any():
        return Reach(mdp, layers[0], int(depth[known & mdp.goal].min()), is_complete=False, in_time=in_time)
    while len(frontier):
        parts = [walk.step(some) for some in _split(frontier, LAID_AT_ONCE)]
        known.resize(len(site.laid))
        frontier = distinct(np.concatenate(parts))
        frontier = frontier[~known[frontier]]
        known[frontier] = True
        if np.count_nonzero(known) > most:
            return Reach(mdp, np.concatenate(layers), None, is_complete=False, in_time=in_time)
        steps += 1
        layers.append(np.sort(site.laid.states[frontier]))
        if walk.ask(frontier).any():
            return Reach(mdp, np.concatenate(layers), steps, is_complete=False, in_time=in_time)
    return Reach(mdp, np.concatenate(layers), None, is_complete=True, in_time=in_time)


# -------------------------------------------------------------------------------------------------------- other numbers


MOST_TRIED = 100_000  # inputs that a search may ask about
MOST_FOUND = 16  # sets of numbers that are kept
AT_ONCE = 64  # states whose numbers are tried at a time

Instead = dict[tuple[int, int], float]  # numbers by the number of the sight and the level number


class OtherNumbers(NamedTuple):
    """Numbers with which a state would be a goal, those that differ from the fewest values first, each set once.

    `is_complete`: all states were tried, at all points at which decisions are, and all sets are here.
    """

    found: tuple[Instead, ...]
    is_complete: bool


class Best(NamedTuple):
    """The best score of each state that was tried, and the numbers that have it [state, number of the sight]."""

    scores: NDArray[np.float64]
    numbers: Numbers


def find_other_numbers(goals: FiledGoals, codes: CodeMatrix) -> OtherNumbers | None:
    """Other numbers of the levels that these states of the first person have changed; None if ranges are promised.

    Of the numbers with which a state would be a goal, those count that differ from the fewest values and, of these, are
    nearest to what was filed: the least that the person must do.
    """
    if goals.problem.goal.promise == "range":
        return None
    found: dict[tuple[tuple[tuple[int, int], float], ...], None] = {}
    rows, is_complete = _affordable(goals, codes)
    for some in _split(rows, AT_ONCE):
        whom = np.zeros(len(some), dtype=np.int64)
        for which, numbers, start in goals.spread(codes[some], whom, ends_only=False):
            accepted = goals.decide(codes[some][which], whom[which], numbers)
            for first, last in zip(start, [*start[1:], len(which)], strict=True):
                good = first + np.flatnonzero(accepted[first:last])
                if len(good):
                    instead = _least_change(goals, codes[some[which[first]]], numbers[good])
                    found[tuple(sorted(instead.items()))] = None
    ordered = sorted(found, key=len)
    return OtherNumbers(tuple(map(dict, ordered[:MOST_FOUND])), is_complete and len(ordered) <= MOST_FOUND)


def find_best(goals: FiledGoals, codes: CodeMatrix, scores: NDArray[np.float64]) -> Best:
    """The best score of each state at any numbers of the levels that it changes, given those at the values.

    Where there is too much to try, only the states with the best scores are.
    """
    whom = np.zeros(len(codes), dtype=np.int64)
    best, at = scores.copy(), goals.promised(codes, whom)
    rows, _ = _affordable(goals, codes, order=np.argsort(-scores, kind="stable"))
    for some in _split(rows, AT_ONCE):
        for which, numbers, start in goals.spread(codes[some], whom[some], ends_only=False):
            found = goals.score(codes[some][which], whom[some][which], numbers)
            if found is None:
                return Best(best, at)
            for first, last in zip(start, [*start[1:], len(which)], strict=True):
                row, top = some[which[first]], first + int(np.argmax(found[first:last]))
                if found[top] > best[row]:
                    best[row], at[row] = found[top], numbers[top]
    return Best(best, at)


def _affordable(
    goals: FiledGoals, codes: CodeMatrix, order: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], bool]:
    """The states that change numbers and can be tried, the first of the order, and whether these are all."""
    rows: list[int] = []
    left = MOST_TRIED
    for row in (np.arange(len(codes)) if order is None else order).tolist():
        spots = goals.changed(codes[row])
        if not spots:
            continue
        count = float(np.prod([float(len(goals.points(*spot))) for spot in spots]))
        left -= int(min(count, 2 * MOST_POINTS))  # `combine` takes no more
        if left < 0:
            return np.array(rows, dtype=np.int64), False
        rows.append(row)
    return np.array(rows, dtype=np.int64), True


def _split(places: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    for first in range(0, len(places), most):
        yield places[first : first + most]


def _least_change(goals: FiledGoals, codes: CodeMatrix, numbers: Numbers) -> Instead:
    """Of several numbers of a state, those that differ from the fewest values and are nearest to what was filed."""
    first = np.zeros(1, dtype=np.int64)
    values, spots = goals.promised(codes[None, :], first)[0], goals.changed(codes)
    filed = goals.filed.numbers[0]
    near = np.where(np.isfinite(filed), filed, values)
    differs = (numbers != values)[:, [column for column, _ in spots]].sum(axis=1)
    with np.errstate(invalid="ignore"):
        away = np.nansum(np.abs(numbers - near) / np.maximum(np.abs(near), 1.0), axis=1)
    best = numbers[np.lexsort((away, differs))[0]]
    return {spot: float(best[spot[0]]) for spot in spots if best[spot[0]] != values[spot[0]]}
