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
from safear.mdp.arrays import stretch
from safear.mdp.compile import Compiler
from safear.mdp.families import Family, immutable_features, immutable_positions
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.ground import Site
from safear.mdp.grounds import MAX_REACHABLE
from safear.mdp.space import StateSpace

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
    """A search from several people at once. States are known by their places on a site."""

    def __init__(self, compiler: Compiler, goals: FiledGoals, most: int) -> None:
        self._compiler, self._goals, self._most = compiler, goals, most
        self._immutable = immutable_positions(compiler.problem)
        levels = goals.filed.codes[0, self._immutable].tolist()
        names = [feature.name for feature in immutable_features(compiler.problem)]
        self._space = StateSpace(compiler.problem.features, dict(zip(names, levels, strict=True)))
        self._space.require_indexable()
        self._site = Site(compiler.problem, compiler.lattice, self._space, is_shared=False)

    def run(self) -> Family | None:
        """The family of these people; None if they reach too much together."""
        filed, horizon = self._goals.filed.codes, self._compiler.problem.horizon
        inside = filed.copy()
        inside[:, self._immutable] = list(self._space.fixed.values())
        people, states = np.arange(len(filed)), self._site.find(self._space.encode(inside))
        seen = np.sort(people * self._most + states)
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for step in range(horizon + 1):
            if step:
                codes = self._site.laid.codes[states]
                codes[:, self._immutable] = filed[people][:, self._immutable]
                goal = self._goals.among(codes, people)
                found.append((states[goal], people[goal]))
                people, states = people[~goal], states[~goal]
            if step == horizon or not len(states):
                break
            self._site.lay(np.unique(states))
            laid = self._site.laid
            if len(laid) >= self._most:
                self._require_company()
                return None
            first = laid.edge_start[laid.row_start[states]]  # the edges of a state are next to each other
            counts = laid.edge_start[laid.row_end[states]] - first
            targets = laid.edges[0][stretch(first, counts)]
            pairs = np.unique(np.repeat(people, counts) * self._most + targets)
            pairs = pairs[~_contains(seen, pairs)]
            seen = np.sort(np.concatenate([seen, pairs]))
            people, states = np.divmod(pairs, self._most)
        return self._make_family(found)

    def _require_company(self) -> None:
        """What is too much for one person cannot be divided."""
        if len(self._goals.filed) == 1:
            cause = f"one person can reach more than {self._most:,} states"
            raise TooLargeError.at((), cause, "shorten the horizon, or merge levels", code="too_large")

    def _make_family(self, found: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Family:
        """The states that were met, and [state, lane] which of them are goals for whom."""
        laid = self._site.laid
        shared = self._compiler.of_site(self._site, np.zeros(len(laid), dtype=bool))
        goal = np.zeros((len(laid), len(self._goals.filed)), dtype=bool)
        for states, people in found:
            goal[states, people] = True
        return Family(shared, goal[laid.order], self._goals.filed.codes[:, self._immutable])


def _contains(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the wanted are among the known, which are sorted."""
    if not len(known):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.equal(known[place], wanted)
