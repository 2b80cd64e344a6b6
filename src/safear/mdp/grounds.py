"""What one person can reach, for a desk that serves many: taken out of ground that they share, in compiled code.

The arrays are those of `Compiler.reachable`, bit for bit, and the classifier is asked no more than there.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from safear.errors import ProblemError
from safear.mdp.compile import AHEAD, Compiler
from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import NO, UNKNOWN, YES, Goals
from safear.mdp.ground import Ground, Said, lay_ground
from safear.mdp.personal import find_difference
from safear.mdp.space import CodeMatrix, StateArray, StateSpace, person_codes
from safear.memory import NEGLIGIBLE, require_room
from safear.problem.model import Person, Record
from safear.problem.vector import CodeArray

FEW = 8  # cases; so few are opened before compiled code is loaded
WORTH_LAYING = 2_000  # states for each case that came; laying so many takes about as long as opening one without
KEPT = 8  # sites
COUNTED = 10_000  # combinations of levels for which cases are counted


@dataclass(frozen=True, eq=False)
class Site:
    """A ground with its states: their indices in `space`, rising, their level numbers, and the classifier's inputs."""

    ground: Ground
    space: StateSpace
    states: StateArray
    codes: CodeMatrix
    inputs: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)

    def find(self, codes: CodeArray) -> int | None:
        """The state with these level numbers, but for those that are fixed; None if it is none."""
        index = int(codes.astype(np.int64) @ self.space.free_strides)
        state = int(np.searchsorted(self.states, index))
        return state if state < len(self) and self.states[state] == index else None


UNSEEN: Literal["unseen"] = "unseen"  # where it may be known that there is no ground, which is None


class Grounds:
    """The ground of one problem, whatever its horizon, for each combination of levels that its actions look at.

    It is laid for the people who come, if it is not large, and the last few are kept. Threads may share it.
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler, problem = compiler, compiler.problem
        self._constant = [i for i, item in enumerate(problem.features) if item.name not in problem.changed_features]
        self._decisive = [i for i in self._constant if problem.features[i].name in problem.decisive_features]
        sizes = [len(item.levels) for item in problem.features if item.name in problem.changed_features]
        self._size = math.prod(sizes)  # of each, constraints aside
        self._is_large = self._size * compiler.bytes_per_state > NEGLIGIBLE
        self._cases: Counter[tuple[int, ...]] = Counter()  # that came, where no ground was laid
        self._few = FEW  # that are still to come
        self._sites: dict[tuple[int, ...], Site | None] = {}
        self._lock = Lock()
        self._expects_many = False

    def expect_many(self) -> None:
        """Lay ground for the first who comes, and load compiled code then: there is time now, and many will come."""
        self._expects_many = True

    def reachable(
        self,
        compiler: Compiler,
        start: Person,
        max_states: int,
        max_bytes: int,
        *,
        goals: Goals | FiledGoals,
        record: Record | None = None,
    ) -> CompiledMDP | None:
        """As `compiler.reachable`, for this problem, on terms or with another horizon; None if that is the way to go.

        So it is for the first few people, and for what shared ground cannot answer.
        """
        codes = person_codes(self._compiler.problem.features, start)
        site = None if self._is_large else self._find_site(codes)
        if site is None or len(site) > max_states or 2 * len(site) * compiler.bytes_per_state > max_bytes:
            return None
        own = find_difference(self._compiler.problem, self._compiler.lattice, compiler.problem, compiler.lattice)
        origin = site.find(codes)
        if own is None or origin is None:
            return None
        from safear.mdp import reach_kernels  # noqa: PLC0415  # Numba takes a moment to load

        horizon, asking = compiler.problem.horizon, _Asking(site, goals, codes, origin=origin, constant=self._constant)
        is_ahead = asking.decide(origin) or not goals.is_slow
        scratch, seek = reach_kernels.Scratch.of(site.ground), (site.ground, own, asking.said, origin, horizon)
        while True:
            count, doubts = reach_kernels.search(*seek, 0, scratch)
            if not doubts:
                break
            unknown = scratch.unknown[:doubts]
            if not is_ahead:  # ask about all that is near at once, as `compile` does
                reach_kernels.clear(scratch, count)
                count, _ = reach_kernels.search(*seek, AHEAD, scratch)
                unknown, is_ahead = scratch.found[1 : min(count, AHEAD)], True
            asking.ask(unknown)
            reach_kernels.clear(scratch, count)
        what = f"the {count:,} states that one person can reach"
        require_room(count * compiler.bytes_per_state, what, max_bytes=max_bytes)
        part = reach_kernels.gather(site.ground, own, asking.said, count, scratch)
        space = StateSpace(compiler.problem.features, compiler.constant_levels(start))
        edges = part.edges
        return CompiledMDP(
            **compiler.common_fields,
            goal=part.goal,
            row_start=part.row_start,
            row_action=edges.row_action,
            edge_start=edges.start,
            edge_next=edges.next,
            edge_chance=edges.chance,
            edge_cost=edges.cost,
            edge_outcome=edges.outcome,
            depth=part.depth,
            # On some terms less can change: then states have other indices, in the same order.
            states=site.codes[part.place].astype(np.int64) @ space.free_strides,
            space=space,
            goals=goals,
            record=record,
            edge_low=edges.low if part.has_intervals else edges.chance,
            edge_high=edges.high if part.has_intervals else edges.chance,
        )

    def _find_site(self, codes: CodeArray) -> Site | None:
        """Where somebody stands, if ground is laid there, or worth laying by now."""
        key = tuple(codes[self._decisive].tolist())
        known = self._sites.get(key, UNSEEN)  # in one look: another thread may take it away
        if not isinstance(known, str):
            return known
        with self._lock:
            if len(self._cases) > COUNTED:
                self._cases.clear()
            self._cases[key] += 1
            self._few -= 1
            is_worth_it = self._cases[key] * WORTH_LAYING >= self._size and self._few < 0
            is_expected = self._expects_many and len(self._sites) < KEPT  # nobody's ground is taken for that
            if (is_worth_it or is_expected) and key not in self._sites:
                while len(self._sites) >= KEPT:
                    oldest = next(iter(self._sites))
                    del self._sites[oldest]
                    self._cases[oldest] = 0
                self._sites[key] = self._lay(codes)
            return self._sites.get(key)

    def _lay(self, codes: CodeArray) -> Site | None:
        """The ground of people with these constant levels; None if the problem is wrong where nobody may ever come."""
        compiler, features = self._compiler, self._compiler.problem.features
        fixed = {features[i].name: int(codes[i]) for i in self._constant}
        space, states, inside = compiler.find_states(fixed, None)
        try:
            ground = lay_ground(compiler.problem, compiler.lattice, space, states)
        except ProblemError:
            return None
        return Site(ground, space, states, inside, compiler.goals.number(inside))


class _Asking:
    """Asks which states of a site are goals for one person; `said` is what is known so far."""

    def __init__(
        self, site: Site, goals: Goals | FiledGoals, codes: CodeArray, *, origin: int, constant: list[int]
    ) -> None:
        self._site, self._goals, self._codes, self._constant = site, goals, codes, constant
        self._own: NDArray[np.int8] | None = None  # unless the goals themselves keep what is known
        if isinstance(goals, FiledGoals) or goals.table is None:
            self._own = np.zeros(len(site), dtype=np.int8)
            self.said = Said(self._own, np.arange(len(site)), 0)
        else:  # people who differ in what is constant differ by as much in all of their inputs
            self.said = Said(goals.table, site.inputs, int(goals.number(codes) - site.inputs[origin]))

    def ask(self, states: NDArray[np.int64]) -> None:
        """Have some of them decided, in one go."""
        codes = self._site.codes[states]
        codes[:, self._constant] = self._codes[self._constant]
        goal = self._goals.among(codes)
        if self._own is not None:
            self._own[states] = np.where(goal, YES, NO)

    def decide(self, state: int) -> bool:
        """Whether one of them is a goal."""
        place = self.said.number[state] + self.said.shift
        if self.said.answers[place] == UNKNOWN:
            self.ask(np.array([state]))
        return bool(self.said.answers[place] == YES)
