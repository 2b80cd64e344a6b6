"""Families of people whose records the classifier sees: each of them is a lane of their own.

People who share what actions look at share rows and edges. Which states are goals differs from one to the next and is
asked only of what each can reach, all of them side by side: one call per step for some hundred people.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from safear.classifier.filed import Filed
from safear.mdp.arrays import stretches
from safear.mdp.compiled import CompiledMDP
from safear.mdp.families import Family, FamilyCompiler, immutable_positions
from safear.mdp.filed_goals import FiledGoals

TOGETHER = 256  # people who are asked about at once
MOST_CELLS = 2**26  # states times people of a family


def meet_records(
    families: FamilyCompiler, filed: Filed
) -> Iterator[tuple[Family, NDArray[np.int64], NDArray[np.int64]]]:
    """Families with a lane for each person: the family, who is in it, and in which lane."""
    immutable = immutable_positions(families.compiler.problem)
    levels = filed.codes[:, immutable]
    _, first, group = np.unique(levels[:, families.decisive], axis=0, return_index=True, return_inverse=True)
    for number, one in enumerate(first.tolist()):
        shared = families.share(levels[one])
        people = np.flatnonzero(group.reshape(-1) == number)
        size = max(min(TOGETHER, MOST_CELLS // max(shared.n_states, 1)), 1)
        for start in range(0, len(people), size):
            some = people[start : start + size]
            goals = FiledGoals(families.compiler.goals, filed.take(some))
            yield Family(shared, find_lane_goals(shared, goals, immutable), levels[some]), some, np.arange(len(some))


def find_lane_goals(shared: CompiledMDP, goals: FiledGoals, immutable: list[int]) -> NDArray[np.bool_]:
    """[state, person]: which states within reach are goals; what nobody can reach is not asked about."""
    filed, count = goals.filed.codes, shared.n_states
    inside = filed.copy()
    inside[:, immutable] = list(shared.space.fixed.values())
    people, states = np.arange(len(filed)), shared.positions(inside)
    codes = shared.codes(np.arange(count))
    edges_of = shared.edge_start[shared.row_start]
    goal = np.zeros((count, len(filed)), dtype=bool)
    seen = np.zeros((len(filed), count), dtype=bool)
    seen[people, states] = True
    for step in range(shared.horizon + 1):
        asked = codes[states]
        asked[:, immutable] = filed[people][:, immutable]
        accepted = goals.among(asked, people)
        goal[states[accepted], people[accepted]] = True
        people, states = people[~accepted], states[~accepted]
        if step == shared.horizon or not len(states):
            break
        owner = np.repeat(people, edges_of[states + 1] - edges_of[states])
        target = shared.edge_next[stretches(edges_of, states)]
        new = ~seen[owner, target]
        people, states = np.divmod(np.unique(owner[new] * count + target[new]), count)
        seen[people, states] = True
    return goal
