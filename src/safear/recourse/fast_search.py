"""The search for the simplest plan in compiled loops: the same sketches in the same order as `Search` looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.fast_runs import is_fast, often_if_off, require_arrays, way_to_go
from safear.evaluation.policy import Policy
from safear.mdp.arrays import MDP
from safear.mdp.hope import list_acting
from safear.recourse.nearly import Limits, aim_of
from safear.recourse.plan_making import RARE_STEP
from safear.recourse.simplest import LOOK, Search, Simple
from safear.risk.objectives import CVaR, Entropic, Mean, MeanCVaR
from safear.solvers.ahead import look_ahead

if TYPE_CHECKING:
    from safear.recourse.bound_kernels import NearlyArgs
    from safear.recourse.search_kernels import Room
    from safear.recourse.sketch_kernels import SearchGround, SearchScratch, Used

FEW = 256  # sketches that there is room for at first; a power of 2
MOST_BYTES = 2**28  # that the sketches of one search may take


def make_search(base: Policy, start: int, limits: Limits) -> Search:
    """The search for a plan with fewer rules than `base`: in compiled loops where these are at hand and know it."""
    return (FastSearch if is_fast(base) else Search)(base, start, limits)


@dataclass(eq=False)
class FastSearch(Search):
    """The same search. The loops stop where a sketch is complete, and where they need more room."""

    def _search(self, best: tuple[int, float], most_cells: int, *, deep: bool) -> Simple | None:
        from safear.recourse import search_kernels as kernels  # noqa: PLC0415  # loads Numba

        found = None
        self._room.counted[kernels.SKETCHES] = 0
        while True:
            room, limits = self._room, (most_cells, LOOK, deep)
            room.counted[kernels.CELLS] = self.cells
            why, states, rows = kernels.continue_search(self._ground, self._aim, self._used_rows, room, best, *limits)
            self.cells = int(room.counted[kernels.CELLS])
            if why == kernels.FOUND:
                done = self.finish(dict(zip(states.tolist(), map(tuple, rows.tolist()), strict=True)))
                if done is not None and (done.rules, self._to_grains(done.value)) < best:
                    best, found = (done.rules, float(self._to_grains(done.value))), done
            elif why == kernels.ROOM and room.sketches.items.nbytes < MOST_BYTES:
                self._room = _widen(room, self.mdp)
            else:
                return found

    @cached_property
    def _ground(self) -> SearchGround:
        from safear.recourse.sketch_kernels import SearchGround  # noqa: PLC0415  # loads Numba

        mdp, ahead, often = self.mdp, look_ahead(self.mdp), often_if_off(self.mdp)
        return SearchGround(
            arrays=mdp.arrays,
            often=often,
            differs=often is not mdp.edge_chance,
            goal=mdp.goal,
            acts=list_acting(mdp),
            needed=mdp.steps_to_goal,
            works=mdp.working,
            ahead_mean=ahead.mean,
            ahead_success=ahead.success,
            base=require_arrays(self.base),
            account=int(self.base.accounts[self.start]),
            start=self.start,
            horizon=mdp.horizon,
            stops=mdp.stops,
            failure=float(mdp.failure_cost),
            quantum=float(mdp.quantum),
        )

    @cached_property
    def _aim(self) -> NearlyArgs:
        from safear.recourse import bound_kernels as kernels  # noqa: PLC0415  # loads Numba

        limits = self.limits
        match aim_of(limits.objective):
            case Mean():
                kind, parameter = kernels.MEAN, 0.0
            case CVaR():
                kind, parameter = kernels.CVAR, 0.0
            case MeanCVaR(weight):
                kind, parameter = kernels.MEAN_CVAR, weight
            case Entropic(aversion):
                kind, parameter = kernels.ENTROPIC, aversion
            case _:
                kind, parameter = kernels.OTHER, 0.0
        most = limits.level, limits.value, limits.mean, limits.tail, limits.success
        return kernels.NearlyArgs(kind, *map(float, (parameter, *most, limits.grain, RARE_STEP)))

    @cached_property
    def _used_rows(self) -> Used:
        from safear.recourse.sketch_kernels import look_at_base  # noqa: PLC0415  # loads Numba

        ground, going = self._ground, way_to_go(self.mdp, often=self._ground.often, possible=True)
        used: Used = look_at_base(ground.arrays, ground.base, going, self.start, ground.account)
        return used

    @cached_property
    def _room(self) -> Room:
        return _make_room(self.mdp)


def _make_room(mdp: MDP) -> Room:
    """Room for a few sketches."""
    from safear.recourse.bound_kernels import Sketches  # noqa: PLC0415  # loads Numba
    from safear.recourse.search_kernels import Options, Queue, Room  # noqa: PLC0415

    return Room(
        Sketches(
            of=_whole(FEW, 6),
            bounds=np.empty((FEW, 3)),
            kinds=_whole(FEW, 4),
            told_kinds=_whole(FEW, 4),
            items=_whole(32 * FEW, 3),
            chances=np.empty(32 * FEW),
        ),
        Queue(key=np.empty((4 * FEW, 5)), what=_whole(4 * FEW, 2), heap=_whole(4 * FEW)),
        Options(of=_whole(2 * FEW, 3), begin=_unset(mdp.n_states), end=_unset(mdp.n_states)),
        _make_scratch(mdp, 4 * FEW),
        counted=np.zeros(6, dtype=np.int64),
    )


def _make_scratch(mdp: MDP, items: int) -> SearchScratch:
    from safear.recourse.sketch_kernels import SearchScratch  # noqa: PLC0415  # loads Numba

    return SearchScratch(
        item=_whole(items, 5),
        chance=np.empty(items),
        slot=_unset(4 * items),  # so that few slots are taken
        chain=_unset(mdp.horizon + 1 + mdp.n_states, 2),
        open=_whole(mdp.n_states),
        option=_unset(mdp.n_states),
        taken=_whole(mdp.n_rows),
        taken_often=np.empty(mdp.n_rows),
        taken_since=_unset(mdp.n_rows),
        counts=np.zeros(3, dtype=np.int64),
    )


def _whole(*shape: int) -> NDArray[np.int64]:
    return np.empty(shape, dtype=np.int64)


def _unset(*shape: int) -> NDArray[np.int64]:
    return np.full(shape, -1, dtype=np.int64)


def _widen(room: Room, mdp: MDP) -> Room:
    """Twice as much room, with what is there."""
    return room._replace(
        sketches=type(room.sketches)(*map(_double, room.sketches)),
        queue=type(room.queue)(*map(_double, room.queue)),
        options=room.options._replace(of=_double(room.options.of)),
        scratch=_make_scratch(mdp, 2 * len(room.scratch.item)),
    )


def _double(array: NDArray[Any]) -> NDArray[Any]:
    wider = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    wider[: len(array)] = array
    return wider
