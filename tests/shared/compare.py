"""Helpers that put safear's answers beside the oracle's: the same document, read by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oracle
import safear as sa
from doors import PolicyArrays
from oracle import Oracle, State


def read_both(document: Mapping[str, Any]) -> tuple[sa.Problem, Oracle, State]:
    """The problem, the oracle, and the first person as an oracle state."""
    judge = Oracle(document)
    return sa.parse_problem(document), judge, judge.start()


def as_state(person: Mapping[str, str]) -> State:
    """A person as the oracle writes states."""
    return tuple(person.values())


def as_policy(solution: sa.Solution) -> oracle.Policy:
    """A policy of safear as the oracle's dictionary."""
    mdp = solution.mdp
    policy = {}
    for state in range(mdp.n_states):
        first = int(mdp.depth[state])
        for step in range(first, mdp.horizon):
            action = solution.policy.action(state, step=step)
            if action is not None:
                policy[step, as_state(mdp.person(state))] = action
    return policy


def as_points(distribution: sa.CostDistribution) -> dict[tuple[Fraction, bool], float]:
    """A distribution of safear as the oracle's dictionary; costs are exact decimals."""
    scale = Fraction(distribution.quantum)
    points = {}
    for units, chance in zip(distribution.succeeded_units, distribution.succeeded_chances, strict=True):
        points[int(units) * scale, True] = float(chance)
    for units, chance in zip(distribution.failed_units, distribution.failed_chances, strict=True):
        points[(int(units) + distribution.failure_cost) * scale, False] = float(chance)
    return points


def columns_of(policy: PolicyArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """The places of pieces, from which account on each holds, and what is done."""
    sizes = np.diff(policy.piece_start)
    return np.repeat(np.arange(len(sizes)), sizes), np.asarray(policy.first), np.asarray(policy.choice)


def rows_of(mdp: sa.MDP) -> Callable[[int, int], range]:
    """What can be done in a state at a step: nothing at goals, at the end, or, if plans stop, where all is lost."""

    @cache
    def has_hope(state: int, steps: int) -> bool:
        first, last = (mdp.edge_start[row] for row in mdp.row_start[state : state + 2].tolist())
        ahead = mdp.edge_next[first:last].tolist() if steps else []
        return bool(mdp.goal[state]) or any(has_hope(after, steps - 1) for after in ahead)

    def rows(state: int, step: int) -> range:
        over = mdp.goal[state] or step == mdp.horizon or (mdp.stops and not has_hope(state, mdp.horizon - step))
        return range(0) if over else range(*mdp.row_start[state : state + 2].tolist())

    return rows
