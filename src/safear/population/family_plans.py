"""The greedy sweep over every state of a space at once, block beside block (see `mdp.families`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.errors import ObjectiveError
from safear.evaluation.policy import StatePolicy
from safear.mdp.families import Family, compile_families, count_block_states, count_blocks, immutable_positions
from safear.mdp.space import person_codes
from safear.memory import require_room
from safear.problem.checks import require_problem
from safear.problem.model import Problem, Record
from safear.problem.person import read_person
from safear.progress import Progress
from safear.risk.objectives import Objective
from safear.solvers.solution import Solution
from safear.solvers.solve import choose_method
from safear.solvers.sweep import Stepwise, sweep_lanes
from safear.threads import work_ahead


@dataclass(frozen=True, eq=False, repr=False)
class FamilySolution:
    """The greedy plans of a family of blocks: choices [step, state, lane] and planned values [state, lane]."""

    family: Family
    objective: Stepwise
    choices: NDArray[np.uint8]
    planned: NDArray[np.float64]

    def block(self, lane: int) -> Solution:
        """The solution of one block, as `solve` gives it."""
        mdp = self.family.block(lane)
        policy = StatePolicy(mdp, np.ascontiguousarray(self.choices[:, :, lane]))
        return Solution(mdp, self.objective, "greedy", policy, np.ascontiguousarray(self.planned[:, lane]))


@dataclass(frozen=True, eq=False, repr=False)
class SpaceSolution:
    """The greedy plans of all states of a space, by family. A choice takes one byte per state and step."""

    problem: Problem
    objective: Stepwise
    families: tuple[FamilySolution, ...]

    @property
    def n_states(self) -> int:
        """The number of states."""
        return sum(part.planned.size for part in self.families)

    def __repr__(self) -> str:
        return f"SpaceSolution({self.objective}, {self.n_states:,} states)"

    def block(self, person: Record) -> Solution:
        """The solution of a person's block: whatever takes a solution takes it."""
        codes = person_codes(self.problem.features, read_person(self.problem, person))
        family, lane = self._places[codes[immutable_positions(self.problem)].tobytes()]
        return self.families[family].block(lane)

    @cached_property
    def _places(self) -> dict[bytes, tuple[int, int]]:
        """Where each block is, by the level numbers of its immutable features."""
        return {
            levels.tobytes(): (number, lane)
            for number, part in enumerate(self.families)
            for lane, levels in enumerate(part.family.levels)
        }


def solve_family(family: Family, objective: Objective) -> FamilySolution:
    """G-RSVI (exact for the mean) for all blocks of a family in one sweep."""
    if not isinstance(objective, Stepwise):
        choose_method(objective)  # is it one at all?
        remedy = "use Mean, MeanStd or MeanLowerStd here, and solve(mdp, ...) for the optimum of the others"
        raise ObjectiveError.at((), f"'{objective}' cannot be solved for many blocks in one sweep", remedy)
    choices, values = sweep_lanes(family.shared, objective, family.goal)
    return FamilySolution(family, objective, choices, values * float(family.shared.quantum))


def solve_families(
    problem: Problem,
    classifier: object = None,
    *,
    objective: Objective,
    threads: int | None = None,
    max_bytes: int | None = None,
) -> Iterator[FamilySolution]:
    """The families of a space, solved one after the other as they are asked for; see `solve_space`."""
    families = compile_families(problem, classifier, max_bytes=max_bytes)
    yield from work_ahead(lambda family: solve_family(family, objective), families, threads=threads)


def solve_space(
    problem: Problem,
    classifier: object = None,
    *,
    objective: Objective,
    threads: int | None = None,
    max_bytes: int | None = None,
    progress: Progress | None = None,
) -> SpaceSolution:
    """Greedy plans for every state of a problem's space; the objective must be one of `Stepwise`.

    What is kept is a byte per state and step, a number per state and whether it is a goal; `classifier` is whatever
    `as_classifier` takes. More than `max_bytes` (None: than this machine has left) is refused beforehand. To keep less,
    take families one by one: `solve_families`.
    """
    require_problem(problem)
    states = count_blocks(problem) * count_block_states(problem)
    need = states * (problem.horizon + 8 + 1)
    remedy = "take families one by one: solve_families, or solve for the people you have: audit, batch"
    what = f"the plans for {states:,} states in {count_blocks(problem):,} blocks"
    require_room(need, what, max_bytes=max_bytes, remedy=remedy)
    total, done = count_blocks(problem), 0
    parts = []
    for part in solve_families(problem, classifier, objective=objective, threads=threads, max_bytes=max_bytes):
        parts.append(part)
        done += part.family.n_lanes
        if progress is not None:
            progress(done, total)
    return SpaceSolution(problem, parts[0].objective, tuple(parts))
