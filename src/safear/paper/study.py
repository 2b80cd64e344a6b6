"""One data set with one forest: every rejected person, block by block, under any objective and horizon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Inputs
from safear.datasets.dataset import Dataset, load
from safear.evaluation.backward import evaluate_states
from safear.evaluation.policy import Policy
from safear.paper.entries import MEASURES, read_measures
from safear.paper.rollouts import simulate_people, undefined
from safear.population.blocks import Block, group_people
from safear.problem.model import Problem
from safear.risk.distribution import Masked
from safear.risk.objectives import Objective
from safear.solvers.solve import solve
from safear.threads import work_ahead

ROLLOUTS = 100


@dataclass(frozen=True, eq=False)
class Study:
    """A data set, a recourse model and a forest; figures are arrays over the people whom the forest rejects."""

    dataset: Dataset
    problem: Problem
    seed: int
    _figures: dict[tuple[str, int], Mapping[str, Masked]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, name: str, *, seed: int = 0, second_model: bool = False) -> Study:
        """The study of a data set by name, with the first or the second recourse model of the paper."""
        dataset = load(name)
        problem = dataset.second_problem if second_model else dataset.problem
        if problem is None:
            raise ValueError(f"{name} has no second model")
        return cls(dataset, problem, seed)

    @cached_property
    def rejected(self) -> NDArray[np.int64]:
        """The rows of the data set whom the forest rejects; training rows are scored too."""
        decisions = self.dataset.classifier(self.seed).favourable(Inputs(self.problem.features, self.dataset.codes))
        return np.flatnonzero(~decisions)

    @cached_property
    def blocks(self) -> list[Block]:
        """The blocks that have people in them."""
        classifier = self.dataset.classifier(self.seed)
        return list(group_people(self.problem, classifier, self.dataset.codes[self.rejected]))

    def members(self, group: str) -> NDArray[np.bool_]:
        """Who of the rejected belongs to a group: `all`, a level of `gender`, or `row N` of the data set."""
        if group == "all":
            return np.ones(len(self.rejected), dtype=bool)
        if group.startswith("row "):
            return np.equal(self.rejected, int(group.removeprefix("row ")))
        position = next(i for i, feature in enumerate(self.problem.features) if feature.name == "gender")
        code = self.problem.features[position].levels.index(group)
        chosen: NDArray[np.bool_] = self.dataset.codes[self.rejected, position] == code
        return chosen

    def exact(self, objective: Objective, horizon: int) -> Mapping[str, Masked]:
        """Exact figures for every rejected person under the greedy policy of an objective; computed once."""
        key = (str(objective), horizon)
        if key not in self._figures:
            self._figures[key] = self._gather(lambda block: _read_exactly(block, _policy(block, objective, horizon)))
        return self._figures[key]

    def simulated(
        self, objective: Objective, horizon: int, *, rng: np.random.Generator, people: NDArray[np.bool_]
    ) -> Mapping[str, Masked]:
        """The same by 100 rollouts, as in the paper, for some of the people (the others are masked)."""
        rngs = dict(zip(map(id, self.blocks), rng.spawn(len(self.blocks)), strict=True))

        def simulate(block: Block) -> Mapping[str, Masked]:
            states = block.states[people[block.people]]
            policy = _policy(block, objective, horizon)
            found = simulate_people(policy, states, rollouts=ROLLOUTS, rng=rngs[id(block)])
            spread = {name: undefined(len(block.people)) for name in MEASURES}
            for name, values in found.items():
                spread[name][people[block.people]] = values
            return spread

        return self._gather(simulate)

    def _gather(self, work: Callable[[Block], Mapping[str, Masked]]) -> dict[str, Masked]:
        """Do something for every block, and put its figures at the people's places."""
        figures = {name: undefined(len(self.rejected)) for name in MEASURES}
        for block, found in zip(self.blocks, work_ahead(work, self.blocks), strict=True):
            for name, values in found.items():
                figures[name][block.people] = values
        return figures


def _policy(block: Block, objective: Objective, horizon: int) -> Policy:
    return solve(replace(block.mdp, horizon=horizon), objective, method="greedy").policy


def _read_exactly(block: Block, policy: Policy) -> dict[str, Masked]:
    everybody = evaluate_states(policy)
    return {name: np.ma.array(values)[block.states] for name, values in read_measures(everybody, everybody).items()}
