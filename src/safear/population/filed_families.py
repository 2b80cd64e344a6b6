"""Families of people whose records the classifier sees: each of them is a lane of their own.

People who share what actions look at share rows and edges. What each can reach is searched side by side, so that a
state is expanded once for all of them, and the classifier is asked once per step about some hundred people.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from safear.classifier.filed import Filed
from safear.errors import TooLargeError
from safear.mdp.compile import Compiler
from safear.mdp.expand import Edges, expand
from safear.mdp.families import Family, immutable_features, immutable_positions
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.grounds import MAX_REACHABLE
from safear.mdp.space import StateArray, StateSpace

TOGETHER = 256  # people who are searched for at once
MOST_STATES = 500_000  # that people may reach together; if it is more, fewer are searched for at once


def meet_records(compiler: Compiler, filed: Filed) -> Iterator[tuple[Family, NDArray[np.int64], NDArray[np.int64]]]:
    """For people who are rejected, families with a lane for each: the family, who is in it, and in which lane."""
    problem = compiler.problem
    decisive = [i for i in immutable_positions(problem) if problem.features[i].name in problem.decisive_features]
    _, group = np.unique(filed.codes[:, decisive], axis=0, return_inverse=True)
    for number in range(int(group.max(initial=-1)) + 1):
        people = np.flatnonzero(group.reshape(-1) == number)
        waiting = [people[start : start + TOGETHER] for start in range(0, len(people), TOGETHER)][::-1]
        while waiting:
            some = waiting.pop()
            most = MOST_STATES if len(some) > 1 else MAX_REACHABLE
            family = _JointSearch(compiler, FiledGoals(compiler.goals, filed.take(some)), most).run()
            if family is None:
                half = len(some) // 2
                waiting += [some[half:], some[:half]]
            else:
                yield family, some, np.arange(len(some))


class _JointSearch:
    """A search from several people at once. States are known by the number of when they were met."""

    def __init__(self, compiler: Compiler, goals: FiledGoals, most: int) -> None:
        self._compiler, self._goals, self._most = compiler, goals, most
        self._immutable = immutable_positions(compiler.problem)
        levels = goals.filed.codes[0, self._immutable].tolist()
        names = [feature.name for feature in immutable_features(compiler.problem)]
        self._space = StateSpace(compiler.problem.features, dict(zip(names, levels, strict=True)))
        self._space.require_indexable()
        self._states: StateArray = np.empty(0, dtype=np.int64)  # by number
        self._sorted: StateArray = np.empty(0, dtype=np.int64)
        self._order = np.empty(0, dtype=np.int64)  # the numbers of the sorted ones
        self._expanded = np.empty(0, dtype=bool)
        self._first = np.empty(0, dtype=np.int64)  # of the targets of an expanded state
        self._count = np.empty(0, dtype=np.int64)
        self._targets: list[NDArray[np.int64]] = []
        self._edges: list[Edges] = []

    def run(self) -> Family | None:
        """The family of these people; None if they reach too much together."""
        filed, horizon = self._goals.filed.codes, self._compiler.problem.horizon
        inside = filed.copy()
        inside[:, self._immutable] = list(self._space.fixed.values())
        people, states = np.arange(len(filed)), self._number(self._space.encode(inside))
        seen = np.sort(people * self._most + states)
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for step in range(horizon + 1):
            if step:
                codes = self._space.decode(self._states[states])
                codes[:, self._immutable] = filed[people][:, self._immutable]
                goal = self._goals.among(codes, people)
                found.append((states[goal], people[goal]))
                people, states = people[~goal], states[~goal]
            if step == horizon or not len(states):
                break
            self._expand(np.unique(states))
            if len(self._states) >= self._most:
                self._require_company()
                return None
            counts = self._count[states]
            place = np.arange(int(counts.sum())) + np.repeat(self._first[states] - np.cumsum(counts) + counts, counts)
            pairs = np.unique(np.repeat(people, counts) * self._most + np.concatenate(self._targets)[place])
            pairs = pairs[~_contains(seen, pairs)]
            seen = np.sort(np.concatenate([seen, pairs]))
            people, states = np.divmod(pairs, self._most)
        return self._make_family(found)

    def _require_company(self) -> None:
        """What is too much for one person cannot be divided."""
        if len(self._goals.filed) == 1:
            cause = f"one person can reach more than {self._most:,} states"
            raise TooLargeError.at((), cause, "shorten the horizon, or merge levels", code="too_large")

    def _number(self, states: StateArray) -> NDArray[np.int64]:
        """The numbers of states; new ones get the next."""
        new = np.unique(states)
        new = new[~_contains(self._sorted, new)]
        if len(new):
            numbers = np.arange(len(self._states), len(self._states) + len(new))
            self._states = np.concatenate([self._states, new])
            together = np.concatenate([self._sorted, new])
            order = np.argsort(together, kind="stable")
            self._sorted, self._order = together[order], np.concatenate([self._order, numbers])[order]
            nothing = np.zeros(len(new), dtype=np.int64)
            self._first, self._count = (np.concatenate([old, nothing]) for old in (self._first, self._count))
            self._expanded = np.concatenate([self._expanded, nothing.astype(bool)])
        return self._order[np.searchsorted(self._sorted, states)]

    def _expand(self, states: NDArray[np.int64]) -> None:
        """Find where those of the states lead that were not expanded yet."""
        new = states[~self._expanded[states]]
        if not len(new):
            return
        edges = expand(self._compiler.problem, self._compiler.lattice, self._space, self._states[new])
        source, target = self._number(edges.source), self._number(edges.target)
        order = np.argsort(source, kind="stable")
        self._edges.append(edges)
        start = sum(map(len, self._targets))
        self._targets.append(target[order])
        self._first[new] = start + np.searchsorted(source[order], new)
        self._count[new] = np.bincount(source, minlength=len(self._states))[new]
        self._expanded[new] = True

    def _make_family(self, found: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Family:
        """The states that were met, and [state, lane] which of them are goals for whom."""
        shared = self._compiler.of_edges(self._space, self._sorted, self._edges)
        place = np.empty(len(self._states), dtype=np.int64)
        place[self._order] = np.arange(len(self._order))
        goal = np.zeros((len(self._states), len(self._goals.filed)), dtype=bool)
        for states, people in found:
            goal[place[states], people] = True
        return Family(shared, goal, self._goals.filed.codes[:, self._immutable])


def _contains(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the wanted are among the known, which are sorted."""
    if not len(known):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.equal(known[place], wanted)
