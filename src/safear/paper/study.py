"""One data set with one forest: every rejected person, block by block, under any objective and horizon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Inputs
from safear.datasets.dataset import Dataset, load
from safear.mdp.arrays import MDP
from safear.paper.entries import MEASURES
from safear.paper.rollouts import simulate_people, undefined
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose
from safear.problem.model import Problem
from safear.recourse.case import Desk
from safear.risk.distribution import Masked
from safear.risk.objectives import Objective
from safear.solvers.solve import solve
from safear.threads import work_ahead

ROLLOUTS = 100
_TAIL = ("var", "tail_mean")
_OTHER = ("success", "mean", "variance", "sparsity", "proximity")


@dataclass(frozen=True, eq=False)
class Study:
    """A data set, a recourse model and a forest; figures are arrays over the people whom the forest rejects."""

    dataset: Dataset
    problem: Problem
    seed: int
    _figures: dict[tuple[str, int], Mapping[str, Masked]] = field(default_factory=dict, repr=False)
    _engines: dict[int, Engine] = field(default_factory=dict, repr=False)

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
    def crowd(self) -> Crowd:
        """Those people."""
        return Crowd.of(self.problem, self.dataset.codes[self.rejected])

    @cached_property
    def desk(self) -> Desk:
        """Where the forest decides."""
        return Desk.of(self.problem, self.dataset.classifier(self.seed))

    def engine(self, horizon: int) -> Engine:
        """With so many steps; the forest is asked once for all."""
        if horizon not in self._engines:
            self._engines[horizon] = Engine(self.desk.with_horizon(horizon))
        return self._engines[horizon]

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
            found: dict[str, Masked] = {}
            for suffix, level, measures in (("80", 0.8, _TAIL), ("95", 0.95, (*_TAIL, *_OTHER))):
                aim = Purpose(objective, "greedy", level)
                figures = self.engine(horizon).work_out(self.crowd, aim, measures)
                found |= {name + suffix * (name in _TAIL): figures.of(name) for name in measures}
            self._figures[key] = found
        return self._figures[key]

    def simulated(
        self, objective: Objective, horizon: int, *, rng: np.random.Generator, people: NDArray[np.bool_]
    ) -> Mapping[str, Masked]:
        """The same by 100 rollouts, as in the paper, for some of the people (the others are masked)."""
        blocks = list(self.engine(horizon).blocks(self.crowd))
        work = [(*block, own) for block, own in zip(blocks, rng.spawn(len(blocks)), strict=True)]

        def simulate(
            item: tuple[MDP, NDArray[np.int64], NDArray[np.int64], np.random.Generator],
        ) -> Mapping[str, Masked]:
            mdp, inside, states, own = item
            policy = solve(mdp, objective, method="greedy").policy
            return simulate_people(policy, states[people[inside]], rollouts=ROLLOUTS, rng=own)

        figures = {name: undefined(len(self.crowd)) for name in MEASURES}
        for (_, inside, _), found in zip(blocks, work_ahead(simulate, work), strict=True):
            for name, values in found.items():
                figures[name][inside[people[inside]]] = values
        return figures
