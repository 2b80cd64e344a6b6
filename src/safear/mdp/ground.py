"""The ground that people share who agree in what never changes: where each action would lead from each state.

Which states are goals, and what an action costs somebody or how often it works for them, makes no difference to that.
So every action has a row in every state where it can be tried, with all its outcomes, possible or not; who walks there
on which terms decides what is offered (`reach_kernels`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import can_try, stack_ends
from safear.mdp.lattice import Lattice
from safear.mdp.space import StateArray, StateSpace
from safear.problem.model import Problem
from safear.problem.vector import holds


class Ground(NamedTuple):
    """Rows and edges as those of an MDP, but of all actions that can be tried and all their outcomes.

    Costs are in quanta of the problem's own lattice. `edge_shows` and `edge_fine` are as `SideBySide` has them; what is
    not fine leads nowhere (-1). `edge_priced`: the outcome has a cost of its own, whatever its action costs.
    """

    row_start: NDArray[np.int64]
    row_action: NDArray[np.uint8]
    edge_start: NDArray[np.int64]
    edge_next: NDArray[np.int64]
    edge_chance: NDArray[np.float64]
    edge_low: NDArray[np.float64]
    edge_high: NDArray[np.float64]
    edge_cost: NDArray[np.int64]
    edge_outcome: NDArray[np.uint8]
    edge_shows: NDArray[np.bool_]
    edge_fine: NDArray[np.bool_]
    edge_priced: NDArray[np.bool_]


class Said(NamedTuple):
    """What is known of which states are goals (as `goals` numbers answers): of a state at number[state] + shift."""

    answers: NDArray[np.int8]
    number: NDArray[np.int64]
    shift: int


def lay_ground(problem: Problem, lattice: Lattice, space: StateSpace, states: StateArray) -> Ground:
    """The ground of all states of a space that break no constraint, rising."""
    columns = space.columns(space.decode(states))
    parts, priced = [], _find_priced(problem)
    for number, action in enumerate(problem.actions):
        can = np.flatnonzero(holds(action.when, columns, problem.feature_by_name) & can_try(problem, action, columns))
        if not len(can):
            continue
        before = {name: column[can] for name, column in columns.items()}
        ends = stack_ends(problem, lattice, space, action, states[can], before, may_fail=True)
        some = ends.shows.any(axis=1)  # what changes nothing is offered to nobody
        count = ends.target.shape[1]
        place = np.where(ends.fine, np.searchsorted(states, ends.target), -1)
        columns_of_edges = (can[:, None], number, np.arange(count), place, *ends[1:], priced[number, :count])
        parts.append([np.broadcast_to(column, ends.fine.shape)[some].reshape(-1) for column in columns_of_edges])
    return _sort_edges(parts, len(states))


def ground_of(mdp: CompiledMDP) -> Ground:
    """An MDP without goals as ground: of its rows, whoever may do their action is offered all."""
    whole = np.ones(mdp.n_edges, dtype=bool)
    actions, outcomes = mdp.row_action[mdp.edge_row], mdp.edge_outcome
    priced = _find_priced(mdp.problem)[actions, outcomes]
    limits = mdp.edge_low, mdp.edge_high, mdp.edge_cost
    return Ground(
        mdp.row_start,
        mdp.row_action,
        mdp.edge_start,
        mdp.edge_next,
        mdp.edge_chance,
        *limits,
        outcomes,
        whole,
        whole,
        priced,
    )


def _find_priced(problem: Problem) -> NDArray[np.bool_]:
    """[action, outcome]: whether an outcome has a cost of its own, which a personal cost does not replace."""
    most = max((len(action.outcomes) for action in problem.actions), default=0)
    table = np.zeros((len(problem.actions), most + 1), dtype=bool)  # and one that an action may fail with
    for number, action in enumerate(problem.actions):
        table[number, : len(action.outcomes)] = [outcome.cost is not None for outcome in action.outcomes]
    return table


def _sort_edges(parts: list[list[NDArray[Any]]], n_states: int) -> Ground:
    """The edges of all actions by state, action and outcome, with rows and states that point into them."""
    empty = [np.empty(0, dtype=kind) for kind in (int, int, int, int, float, float, float, int, bool, bool, bool)]
    joined = [np.concatenate(column) for column in zip(empty, *parts, strict=True)]
    order = np.lexsort((joined[2], joined[1], joined[0]))
    source, action, outcome, place, chance, low, high, cost, shows, fine, priced = (part[order] for part in joined)
    new_row = np.ones(len(order), dtype=bool)
    new_row[1:] = (np.diff(source) != 0) | (np.diff(action) != 0)
    first_edge = np.flatnonzero(new_row)
    return Ground(
        row_start=np.searchsorted(source[first_edge], np.arange(n_states + 1)),
        row_action=action[first_edge].astype(np.uint8),
        edge_start=np.append(first_edge, len(order)),
        edge_next=place,
        edge_chance=chance,
        edge_low=low,
        edge_high=high,
        edge_cost=cost,
        edge_outcome=outcome.astype(np.uint8),
        edge_shows=shows,
        edge_fine=fine,
        edge_priced=priced,
    )
