"""What one person can reach, taken out of ground that all share who come with the same problem.

The arrays are those of `Compiler.reachable`, bit for bit, and the classifier is asked no more than there.
"""

from __future__ import annotations

import math
from collections import Counter
from copy import copy
from dataclasses import dataclass
from threading import Lock
from typing import Literal
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from safear.core.reach import Gathered, Ground, Said, Scratch, clear, gather, search
from safear.errors import ProblemError
from safear.mdp.compile import AHEAD, Compiler, count_bytes, find_states
from safear.mdp.compiled import CompiledMDP
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import NO, UNKNOWN, YES, Goals
from safear.mdp.ground import lay_ground
from safear.mdp.lattice import Lattice
from safear.mdp.personal import find_difference
from safear.mdp.space import CodeMatrix, StateArray, StateSpace, person_codes
from safear.memory import NEGLIGIBLE, require_room
from safear.problem.model import Person, Problem, Record
from safear.problem.vector import CodeArray

WORTH_LAYING = 2_000  # states for each case that came; laying so many takes about as long as opening one without
MOST_BYTES = 8 * NEGLIGIBLE  # for all ground of all problems
COUNTED = 10_000  # combinations of levels for which cases are counted


@dataclass(frozen=True, eq=False)
class Site:
    """A ground with its states: their indices in `space`, rising, and their level numbers."""

    ground: Ground
    n_rows: int
    space: StateSpace
    states: StateArray
    codes: CodeMatrix

    def __len__(self) -> int:
        return len(self.states)

    def find(self, codes: CodeArray) -> int | None:
        """Return the state with these level numbers, but for those that are fixed; None if it is none."""
        index = int(codes.astype(np.int64) @ self.space.free_strides)
        state = int(np.searchsorted(self.states, index))
        return state if state < len(self) and self.states[state] == index else None


Key = tuple[int, ...]  # levels that actions look at and never change
UNSEEN: Literal["unseen"] = "unseen"  # where it may be known that there is no ground, which is None


class Grounds:
    """The ground of a problem, whatever its horizon, for each combination of levels that its actions look at.

    It is laid once enough people have come for that to be worth it, if it is not large, and kept until there is too
    much ground in all. Nothing in it depends on who comes, on what terms, or on who decides. Threads may share it.
    """

    def __init__(self, problem: Problem, lattice: Lattice) -> None:
        self._problem = copy(problem)  # or the problem, which has its grounds, would outlive everybody who has it
        self._lattice = lattice
        self._constant = [i for i, item in enumerate(problem.features) if item.name not in problem.changed_features]
        self._decisive = [i for i in self._constant if problem.features[i].name in problem.decisive_features]
        sizes = [len(item.levels) for item in problem.features if item.name in problem.changed_features]
        self._size = math.prod(sizes)  # of each, constraints aside
        self._need = self._size * count_bytes(problem)
        self._cases: Counter[Key] = Counter()  # that came, where no ground was laid
        self._sites: dict[Key, Site | None] = {}
        self._lock = Lock()

    @classmethod
    def of(cls, compiler: Compiler) -> Grounds:
        """Return those of a compiler's problem, as long as anybody has it: a problem never changes."""
        known = vars(compiler.problem)  # as `check_problem` has it; whoever copies or sends a problem leaves it behind
        if "_grounds" not in known:
            known.setdefault("_grounds", cls(compiler.problem, compiler.lattice))
        grounds: Grounds = known["_grounds"]
        return grounds

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
        """Return what `compiler.reachable` does, for this problem, on terms or with another horizon.

        None if that is the way to go: for the first few people, and for what shared ground cannot answer.
        """
        codes = person_codes(self._problem.features, start)
        site = None if self._need > NEGLIGIBLE else self._find_site(codes)
        if site is None or len(site) > max_states or 2 * len(site) * compiler.bytes_per_state > max_bytes:
            return None
        own = find_difference(self._problem, self._lattice, compiler.problem, compiler.lattice)
        origin = site.find(codes)
        if own is None or origin is None:
            return None
        horizon, asking = compiler.problem.horizon, _Asking(site, goals, codes, origin=origin, constant=self._constant)
        is_ahead = asking.decide(origin) or not goals.is_slow
        scratch = Scratch(len(site), site.n_rows)
        seek = site.ground, own, asking.said, origin, horizon
        while True:
            count, doubts = search(*seek, 0, scratch)
            if not doubts:
                break
            unknown = np.asarray(scratch.unknown)[:doubts]
            if not is_ahead:  # ask about all that is near at once, as `compile` does
                clear(scratch, count)
                count, _ = search(*seek, AHEAD, scratch)
                unknown, is_ahead = np.asarray(scratch.found)[1 : min(count, AHEAD)], True
            asking.ask(unknown)
            clear(scratch, count)
        what = f"the {count:,} states that one person can reach"
        require_room(count * compiler.bytes_per_state, what, max_bytes=max_bytes)
        space = StateSpace(compiler.problem.features, compiler.constant_levels(start))
        # On some terms less can change: then states have other indices, in the same order.
        part = gather(site.ground, own, asking.said, count, scratch)
        states = site.codes[np.asarray(part.place)].astype(np.int64) @ space.free_strides
        fields = compiler.common_fields | _read_arrays(part)
        return CompiledMDP(**fields, states=states, space=space, goals=goals, record=record)

    def _find_site(self, codes: CodeArray) -> Site | None:
        """Return where somebody stands, if ground is laid there, or worth laying by now."""
        key = tuple(codes[self._decisive].tolist())
        known = self._sites.get(key, UNSEEN)  # in one look: another thread may take it away
        if not isinstance(known, str):
            return known
        with self._lock:
            if len(self._cases) > COUNTED:
                self._cases.clear()
            self._cases[key] += 1
            if key in self._sites or self._cases[key] * WORTH_LAYING < self._size:
                return self._sites.get(key)
            site = self._sites[key] = self._lay(codes)
        _LAID.add(self, key, self._need)
        return site

    def forget(self, key: Key) -> None:
        """Give up the ground for these levels, until it is worth laying again."""
        self._cases[key] = 0
        self._sites.pop(key, None)

    def _lay(self, codes: CodeArray) -> Site | None:
        """Return the ground of people with these constant levels; None for a mistake where nobody may ever come."""
        features = self._problem.features
        fixed = {features[i].name: int(codes[i]) for i in self._constant}
        space, states, inside = find_states(self._problem, fixed, None)
        try:
            ground, n_rows = lay_ground(self._problem, self._lattice, space, states)
        except ProblemError:
            return None
        return Site(ground, n_rows, space, states, inside)


class _Laid:
    """All ground that was laid, the oldest first, which makes room once there is too much."""

    def __init__(self) -> None:
        self._every: list[tuple[ReferenceType[Grounds], Key, int]] = []
        self._lock = Lock()

    def add(self, grounds: Grounds, key: Key, need: int) -> None:
        """Note what was laid, and for whom; it may take about so many bytes. What went with its problem takes none."""
        with self._lock:
            self._every = [each for each in self._every if each[0]() is not None]
            self._every.append((ref(grounds), key, need))
            total = sum(taken for *_, taken in self._every)
            while total > MOST_BYTES and len(self._every) > 1:
                owner, old, taken = self._every.pop(0)
                total -= taken
                found = owner()
                if found is not None:
                    found.forget(old)


_LAID = _Laid()


def _read_arrays(part: Gathered) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of an MDP."""
    names = "row_start row_action edge_start edge_next edge_chance edge_cost edge_outcome depth edge_low edge_high"
    arrays = {name: np.asarray(getattr(part, name)) for name in names.split()}
    if not part.has_intervals:  # then nothing is kept twice
        arrays |= dict.fromkeys(("edge_low", "edge_high"), arrays["edge_chance"])
    return arrays | {"goal": np.asarray(part.goal).view(np.bool_)}


class _Asking:
    """Asks which states of a site are goals for one person; `said` is what is known so far."""

    def __init__(
        self, site: Site, goals: Goals | FiledGoals, codes: CodeArray, *, origin: int, constant: list[int]
    ) -> None:
        self._site, self._goals, self._codes, self._constant = site, goals, codes, constant
        self._keeps_own = isinstance(goals, FiledGoals) or goals.table is None
        if isinstance(goals, FiledGoals) or goals.table is None:  # then they do not keep what is known by number
            self._answers, self._number, self._shift = np.zeros(len(site), np.int8), np.arange(len(site)), 0
        else:  # people who differ in what is constant differ by as much in all of their inputs
            self._answers, self._number = goals.table, goals.number(site.codes)
            self._shift = int(goals.number(codes) - self._number[origin])
        self.said = Said(self._answers, self._number, self._shift)

    def ask(self, states: NDArray[np.int64]) -> None:
        """Have some of them decided, in one go."""
        codes = self._site.codes[states]
        codes[:, self._constant] = self._codes[self._constant]
        goal = self._goals.among(codes)
        if self._keeps_own:
            self._answers[states] = np.where(goal, YES, NO)

    def decide(self, state: int) -> bool:
        """Return whether one of them is a goal."""
        place = self._number[state] + self._shift
        if self._answers[place] == UNKNOWN:
            self.ask(np.array([state]))
        return bool(self._answers[place] == YES)
