"""What one person can reach: taken out of ground that all share who come with the same problem, or out of their own."""

from __future__ import annotations

import math
from copy import copy
from decimal import Decimal
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from safear.core.reach import Personal
from safear.errors import TooLargeError
from safear.mdp.compiled import CompiledMDP, common_fields, count_bytes
from safear.mdp.expand import split_chance
from safear.mdp.filed_goals import FiledGoals
from safear.mdp.goals import UNKNOWN, YES, Goals
from safear.mdp.ground import AS_EVER, Site, Walk
from safear.mdp.lattice import Lattice
from safear.mdp.space import StateSpace, person_codes
from safear.memory import MAX_BYTES, NEGLIGIBLE, require_room
from safear.problem.model import Action, Outcome, Person, Problem, Record
from safear.problem.quantity import Amount
from safear.problem.vector import CodeArray

MAX_REACHABLE = 2_000_000
SAMPLED = 50_000  # states that are enough to see that a search would go too far
AHEAD = 2_048  # states near a person that a slow classifier is asked about at once
MOST_BYTES = 8 * NEGLIGIBLE  # for all ground of all problems

_REMEDY = (
    "shorten the horizon (--horizon), rule out actions (--forbid), merge levels, or mark what never changes "
    "as 'mutable: false'; in Python, compile_mdp takes a larger max_states"
)

Key = tuple[int, ...]  # levels that actions look at and never change


class Grounds:
    """The ground of a problem, whatever its horizon, for each combination of levels that its actions look at.

    It is kept until there is too much ground in all. Nothing in it depends on who comes, on what terms, or on who
    decides. Threads may share it. Where a space is large, or terms are more than numbers, each has their own.
    """

    def __init__(self, problem: Problem, lattice: Lattice) -> None:
        self._problem = copy(problem)  # or the problem, which has its grounds, would outlive everybody who has it
        self._lattice = lattice
        changed, decisive = problem.changed_features, problem.decisive_features - problem.changed_features
        self._decisive = [i for i, item in enumerate(problem.features) if item.name in decisive]
        sizes = [len(item.levels) for item in problem.features if item.name in changed]
        self._need = math.prod(sizes) * count_bytes(problem)  # of each, constraints aside
        self._sites: dict[Key, Site] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[Grounds], tuple[Problem, Lattice]]:
        """What is sent to another process: no ground."""
        return Grounds, (self._problem, self._lattice)

    @classmethod
    def of(cls, problem: Problem, lattice: Lattice) -> Grounds:
        """Return those of a problem and its lattice, as long as anybody has it: a problem never changes."""
        known = vars(problem)  # as `check_problem` has it; whoever copies or sends a problem leaves it behind
        if "_grounds" not in known:
            known.setdefault("_grounds", cls(problem, lattice))
        grounds: Grounds = known["_grounds"]
        return grounds

    def reachable(
        self,
        problem: Problem,
        lattice: Lattice,
        start: Person,
        *,
        goals: Goals | FiledGoals,
        record: Record | None = None,
        max_states: int = MAX_REACHABLE,
        max_bytes: int = MAX_BYTES,
    ) -> CompiledMDP:
        """Return the states within `horizon` steps of a person, whose record is as filed. Goals are not left.

        The problem and its lattice are those of the grounds, on terms or with another horizon.
        """
        codes = person_codes(problem.features, start)
        space = _find_space(problem, codes)
        space.require_indexable()
        is_small = self._need <= NEGLIGIBLE
        own = find_difference(self._problem, self._lattice, problem, lattice) if is_small else None
        if own is not None:
            site = self._find_site(codes)
        else:
            site, own = Site(problem, lattice, space), AS_EVER
        walk = _Opening(site, own, goals, codes)
        count = walk.search(problem, max_states, max_bytes)
        what = f"the {count:,} states that one person can reach"
        require_room(count * count_bytes(problem), what, max_bytes=max_bytes)
        places, arrays = walk.take()
        states = walk.laid.states[places]
        if space.sizes != site.space.sizes:  # on some terms less can change: other indices, in the same order
            states = space.encode(walk.laid.codes[places])
        fields = common_fields(problem, lattice) | arrays
        return CompiledMDP(**fields, states=states, space=space, goals=goals, record=record)

    @property
    def n_bytes(self) -> int:
        """About how many bytes all of it takes at most."""
        return len(self._sites) * self._need

    def forget_oldest(self) -> bool:
        """Give up what was laid first, for whoever comes next (who is there already stays); return if more is left."""
        with self._lock:
            self._sites.pop(next(iter(self._sites), ()), None)
            return bool(self._sites)

    def _find_site(self, codes: CodeArray) -> Site:
        """Return where somebody is."""
        key = tuple(codes[self._decisive].tolist())
        with self._lock:
            site = self._sites.get(key)
            if site is not None:
                return site
            space = _find_space(self._problem, codes)
            site = self._sites[key] = Site(self._problem, self._lattice, space, is_shared=True)
        _KEPT.add(self, self._need)
        return site


class _Kept:
    """All ground that is kept, by problem, those that laid some last at the end; it makes room once there is too much.

    What goes with its problem is no longer counted.
    """

    def __init__(self) -> None:
        self._every: WeakKeyDictionary[Grounds, None] = WeakKeyDictionary()
        self._lock = Lock()

    def add(self, grounds: Grounds, need: int) -> None:
        """Note that there is more of a problem's ground, of so many bytes, which stays whatever else has to go."""
        with self._lock:
            self._every.pop(grounds, None)
            self._every[grounds] = None
            while sum(each.n_bytes for each in self._every) > max(MOST_BYTES, need):
                oldest = next(iter(self._every))
                if not oldest.forget_oldest():
                    del self._every[oldest]


_KEPT = _Kept()


def _find_space(problem: Problem, codes: CodeArray) -> StateSpace:
    """Return the space of all that may change for a person with these level numbers."""
    levels, changed = zip(problem.features, codes.tolist(), strict=True), problem.changed_features
    return StateSpace(problem.features, {item.name: code for item, code in levels if item.name not in changed})


class _Opening(Walk):
    """The way of somebody who comes: all that they can reach, unless that is too much."""

    def search(self, problem: Problem, max_states: int, max_bytes: int) -> int:
        """Return how many states there are; they are in `scratch`."""
        self._horizon, self._bytes = problem.horizon, count_bytes(problem)
        self._max_states, self._max_bytes = max_states, max_bytes
        is_ahead, most = self._decide() or not self._goals.is_slow, 0
        while True:
            count, undecided, bare = self.find(self._horizon, most)
            if len(undecided) and not most and is_ahead:
                self.ask(undecided)
            elif len(undecided) and not most:  # a model takes as long for a thousand as for one: ask about all near it
                most, is_ahead = AHEAD, True
            elif len(bare):
                if not most:
                    self._sample(bare, count)
                self.lay(bare)
            elif most:
                self.ask(np.asarray(self.scratch.found)[1 : min(count, AHEAD)])
                most = 0
            else:
                self._check(count, self._horizon - 1)
                return count

    def _decide(self) -> bool:
        """Return whether the person's state is a goal."""
        if self.answers(self._start)[0] == UNKNOWN:
            self.ask(self._start)
        return bool(self.answers(self._start)[0] == YES)

    def _sample(self, bare: NDArray[np.int64], count: int) -> None:
        """Have some ground laid first, where what is met in the next step may be too much; all leads to no less."""
        depth = np.asarray(self.scratch.depth)
        step = int(depth[bare].min())
        self._check(count, step)
        latest = int((depth == step).sum()) if count > SAMPLED else 0
        if latest > SAMPLED and step + 1 < self._horizon:
            self._site.lay(bare[np.argsort(self.laid.states[bare])][:: -(-latest // SAMPLED)])
            ahead = len(self._site.laid) - len(self.laid)
            self._refuse(count + ahead, count + 2 * ahead, step + 1)

    def _check(self, count: int, last: int) -> None:
        """Refuse what is too much after some step up to the `last`."""
        if count > self._max_states or 2 * count * self._bytes > self._max_bytes:
            depth = np.asarray(self.scratch.depth)[np.asarray(self.scratch.found)[:count]]
            met = np.bincount(depth)[: last + 1]
            for step, so_far in enumerate(np.cumsum(met).tolist()):
                self._refuse(so_far, so_far + int(met[step]), step)

    def _refuse(self, states: int, held: int, step: int) -> None:
        """Refuse so many states after a step, or if so many of them have to be held."""
        if states > self._max_states or held * self._bytes > self._max_bytes:
            cause = f"one person can reach {states:,} states in only {step} steps"
            raise TooLargeError.at((), cause, _REMEDY)


# ---------------------------------------------------------------------------------------------------------------- terms


_USUAL = (np.nan, np.nan)
_SHARED = ("features", "side_effects", "constraints", "cost_resolution")  # on which it depends where actions lead


def find_difference(common: Problem, lattice: Lattice, problem: Problem, own: Lattice) -> Personal | None:
    """What a problem with terms (and its lattice) has of its own beside the common one; None if it is more than that.

    Both have the same features, side effects and constraints, and the actions of the one are some of the other's.
    """
    if problem is not common and any(getattr(problem, name) != getattr(common, name) for name in _SHARED):
        return None
    if problem.actions is common.actions and own.quantum == lattice.quantum:
        return AS_EVER
    numbers, costs = [-1] * len(common.actions), [-1] * len(common.actions)
    chances: list[tuple[float, float]] = [_USUAL] * len(common.actions)
    waiting = iter(enumerate(common.actions))
    for number, action in enumerate(problem.actions):
        place, usual = next(((i, one) for i, one in waiting if one.name == action.name), (-1, action))
        chance = _find_chance(usual, action)
        if place < 0 or chance is None or action.when != usual.when or action.counted_by != usual.counted_by:
            return None
        numbers[place], chances[place] = number, chance
        if action.cost is not usual.cost:
            if not isinstance(action.cost, Amount):
                return None
            costs[place] = own.units(action.cost.nominal)
    ratio = lattice.quantum / own.quantum
    chance_table = np.array(chances).reshape(-1, 2)
    whole, costs_table = np.array(numbers, dtype=np.int64), np.array(costs, dtype=np.int64)
    return Personal(whole, costs_table, chance_table, ratio.numerator, ratio.denominator)


def _find_chance(usual: Action, action: Action) -> tuple[float, float] | None:
    """The chances of the two outcomes of an action, NaN if they are as ever; None if it is not told so shortly."""
    if action.outcomes is usual.outcomes or action.outcomes == usual.outcomes:
        return _USUAL
    if len(action.outcomes) != 2 or len(usual.outcomes) > 2:
        return None
    for old, new in zip((*usual.outcomes, Outcome()), action.outcomes, strict=False):
        if new.change != old.change or new.cost != old.cost:
            return None
    stated, rest = (outcome.chance for outcome in action.outcomes)
    is_number = isinstance(stated, Amount) and not stated.is_interval and 0 <= stated.nominal <= 1
    return split_chance(_nominal(stated)) if is_number and rest is None else None


def _nominal(chance: object) -> Decimal:
    return chance.nominal if isinstance(chance, Amount) else Decimal("NaN")
