"""Why actions are not offered: in one state, or in all states that somebody can come to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.mdp.expand import allowed, can_try, expand, find_ends
from safear.mdp.lattice import find_lattice
from safear.mdp.space import MAX_INDEX, CodeMatrix, StateSpace
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
        codes = space.decode(np.arange(space.size, dtype=np.int64))
        return find_blocked(problem, codes[allowed(problem, space.columns(codes), len(codes))])
    if starts is None or not len(starts) or space.size > MAX_INDEX:
        return ()
    states = frontier = np.unique(space.encode(starts))
    lattice, offered = find_lattice(problem), np.zeros(len(problem.actions), dtype=bool)
    for _ in range(problem.horizon):
        edges = expand(problem, lattice, space, frontier)
        offered[edges.action] = True
        frontier = np.setdiff1d(edges.target, states)
        states = np.union1d(states, frontier)
        if offered.all() or len(states) > MOST:
            return ()
        if not len(frontier):
            break
    return find_blocked(problem, space.decode(states))


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
