"""Families of people whose records the classifier sees: each of them is a lane of their own.

People who share what actions look at share rows and edges. What each can reach is searched side by side, so that a
state is expanded once for all of them, and the classifier is asked once per step about some hundred people.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from safear.classifier.filed import Filed
from safear.core.reach import Said, Scratch, clear, search
from safear.errors import TooLargeError
from safear.mdp.compile import Compiler
from safear.mdp.families import Family, immutable_features, immutable_positions
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import NO, YES
from safear.mdp.ground import AS_EVER, Site
from safear.mdp.grounds import MAX_REACHABLE
from safear.mdp.space import StateSpace, distinct

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
    """A search from several people at once, step by step; `answers` [person, place] are what is known of goals."""

    def __init__(self, compiler: Compiler, goals: FiledGoals, most: int) -> None:
        self._compiler, self._goals, self._most = compiler, goals, most
        self._immutable = immutable_positions(compiler.problem)
        levels = goals.filed.codes[0, self._immutable].tolist()
        names = [feature.name for feature in immutable_features(compiler.problem)]
        space = StateSpace(compiler.problem.features, dict(zip(names, levels, strict=True)))
        space.require_indexable()
        self._site = Site(compiler.problem, compiler.lattice, space)
        self._answers = np.empty((len(goals.filed), 0), dtype=np.int8)

    def run(self) -> Family | None:
        """The family of these people; None if they reach too much together."""
        filed = self._goals.filed.codes
        starts = self._site.find(self._site.space.encode(filed))
        self._look()
        self._answers[np.arange(len(filed)), starts] = NO  # or they would not be here
        going = np.arange(len(filed))
        while len(going):
            undecided, bare = zip(*(self._find(person, starts[[person]]) for person in going.tolist()), strict=True)
            if any(map(len, bare)):
                self._site.lay(distinct(np.concatenate(bare)))
                self._look()
                if len(self._site.laid) >= self._most:
                    self._require_company()
                    return None
                continue
            people, places = np.repeat(going, list(map(len, undecided))), np.concatenate(undecided)
            codes = self._site.laid.codes[places]
            codes[:, self._immutable] = filed[people][:, self._immutable]
            self._answers[people, places] = np.where(self._goals.among(codes, people), YES, NO)
            going = distinct(people)
        laid = self._site.laid
        shared = self._compiler.of_site(self._site, np.zeros(len(laid), dtype=bool))
        return Family(shared, self._answers.T[laid.order] == YES, filed[:, self._immutable])

    def _look(self) -> None:
        """See what is laid by now."""
        laid, known = self._site.laid, self._answers.shape[1]
        self._answers = np.pad(self._answers, ((0, 0), (0, len(laid) - known)))
        self._number, self._scratch = np.arange(len(laid), dtype=np.int64), Scratch(laid.ground)

    def _find(self, person: int, start: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where it is not known if a person is at a goal, and where they go on and no ground is laid."""
        scratch, said = self._scratch, Said(self._answers[person], self._number, 0)
        horizon = self._compiler.problem.horizon
        count, doubts, bare = search(self._site.laid.ground, AS_EVER, said, start, horizon, 0, scratch)
        clear(scratch, count)
        return np.sort(np.asarray(scratch.unknown)[:doubts]), np.array(np.asarray(scratch.bare)[:bare])

    def _require_company(self) -> None:
        """What is too much for one person cannot be divided."""
        if len(self._goals.filed) == 1:
            cause = f"one person can reach more than {self._most:,} states"
            raise TooLargeError.at((), cause, "shorten the horizon, or merge levels", code="too_large")
