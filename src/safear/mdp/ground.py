"""The ground that people share who agree in what never changes: where each action would lead from each state.

Which states are goals, and what an action costs somebody or how often it works for them, makes no difference to that.
So every action has a row in every state where it can be tried, with all its outcomes, possible or not; who walks there
on which terms decides what is offered (`core.reach`).

Costs are in quanta of the problem's own lattice. Whether an edge `shows` and is `fine` is as `SideBySide` has it; what
is not fine leads nowhere (-1). An outcome that is `priced` has a cost of its own, whatever its action costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.core.reach import Ground
from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import can_try, stack_ends
from safear.mdp.lattice import Lattice
from safear.mdp.space import StateArray, StateSpace
from safear.problem.model import Problem
from safear.problem.vector import holds


def lay_ground(problem: Problem, lattice: Lattice, space: StateSpace, states: StateArray) -> tuple[Ground, int]:
    """Return the ground of all states of a space that break no constraint, rising, and how many rows it has."""
    columns = space.columns(space.decode(states))
    parts, priced = [], find_priced(problem)
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
    """Return an MDP without goals as ground: of its rows, whoever may do their action is offered all."""
    whole = np.ones(mdp.n_edges, dtype=np.uint8)
    return Ground(
        mdp.row_start,
        mdp.row_action,
        mdp.edge_start,
        mdp.edge_next,
        mdp.edge_chance,
        mdp.edge_low,
        mdp.edge_high,
        mdp.edge_cost,
        mdp.edge_outcome,
        whole,
        whole,
        find_priced(mdp.problem)[mdp.row_action[mdp.edge_row], mdp.edge_outcome],
    )


def find_priced(problem: Problem) -> NDArray[np.uint8]:
    """Return [action, outcome] whether an outcome has a cost of its own, which a personal cost does not replace."""
    most = max((len(action.outcomes) for action in problem.actions), default=0)
    table = np.zeros((len(problem.actions), most + 1), dtype=np.uint8)  # and one that an action may fail with
    for number, action in enumerate(problem.actions):
        table[number, : len(action.outcomes)] = [outcome.cost is not None for outcome in action.outcomes]
    return table


def _sort_edges(parts: list[list[NDArray[Any]]], n_states: int) -> tuple[Ground, int]:
    """Sort the edges of all actions by state, action and outcome, and point rows and states into them."""
    empty = [np.empty(0, dtype=kind) for kind in (int, int, int, int, float, float, float, int, bool, bool, np.uint8)]
    joined = [np.concatenate(column) for column in zip(empty, *parts, strict=True)]
    order = np.lexsort((joined[2], joined[1], joined[0]))
    source, action, outcome, place, chance, low, high, cost, shows, fine, priced = (part[order] for part in joined)
    new_row = np.ones(len(order), dtype=bool)
    new_row[1:] = (np.diff(source) != 0) | (np.diff(action) != 0)
    first_edge = np.flatnonzero(new_row)
    ground = Ground(
        row_start=np.searchsorted(source[first_edge], np.arange(n_states + 1)),
        row_action=action[first_edge].astype(np.uint8),
        edge_start=np.append(first_edge, len(order)),
        edge_next=place,
        edge_chance=chance,
        edge_low=low,
        edge_high=high,
        edge_cost=cost.astype(np.int64),
        edge_outcome=outcome.astype(np.uint8),
        edge_shows=shows.view(np.uint8),
        edge_fine=fine.view(np.uint8),
        edge_priced=priced,
    )
    return ground, len(first_edge)
