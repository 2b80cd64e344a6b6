"""Families of blocks: those that share their rows and edges, side by side.

What actions do seldom depends on immutable features: age group, gender and the like matter to the classifier, and so to
which states are goals. Blocks that differ in nothing else share one set of rows and edges; each is a *lane* beside the
others, and a sweep does all lanes of a family at once, with what it needs in the processor's cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safear.errors import MDPError, quote_list
from safear.mdp.compile import Compiler
from safear.mdp.compiled import CompiledMDP
from safear.mdp.ground import restrict_to
from safear.mdp.space import CodeMatrix, StateSpace
from safear.memory import MAX_BYTES
from safear.problem.model import Feature, Problem
from safear.problem.vector import CodeArray

CACHE = 2**21  # bytes that the values of two steps may take: twice a core's own cache, since each row costs as well
FEWEST, MOST = 4, 64  # lanes
AT_ONCE = 8  # lanes that a processor does at a time; the last few of other numbers take as long as twice as many


@dataclass(frozen=True, eq=False, repr=False)
class Family:
    """Blocks with the same rows and edges, one per lane.

    `shared` is the MDP of the first of them as if it had no goals; `goal[state, lane]` says which there are, and
    `levels[lane]` the level numbers of the immutable features.
    """

    shared: CompiledMDP
    goal: NDArray[np.bool_]
    levels: CodeMatrix

    @property
    def n_lanes(self) -> int:
        """The number of blocks."""
        return int(self.goal.shape[1])

    def __repr__(self) -> str:
        return f"Family({self.n_lanes:,} blocks of {self.shared!r})"

    def block(self, lane: int) -> CompiledMDP:
        """One of the blocks, as `compile_mdp(block=...)` gives it."""
        mdp = self.shared
        names = [feature.name for feature in immutable_features(mdp.problem)]
        space = StateSpace(mdp.problem.features, dict(zip(names, self.levels[lane].tolist(), strict=True)))
        return restrict_to(mdp, np.arange(mdp.n_states, dtype=np.int64), goal=self.goal[:, lane], space=space).mdp


def immutable_features(problem: Problem) -> list[Feature]:
    """The features that tell blocks apart, in order."""
    return [feature for feature in problem.features if not feature.mutable]


def immutable_positions(problem: Problem) -> list[int]:
    """Where they stand among the features."""
    return [i for i, feature in enumerate(problem.features) if not feature.mutable]


def count_block_states(problem: Problem) -> int:
    """The number of combinations of levels of the mutable features: the states of one block, constraints aside."""
    return math.prod(len(feature.levels) for feature in problem.features if feature.mutable)


def compile_families(
    problem: Problem,
    classifier: object = None,
    *,
    blocks: CodeMatrix | None = None,
    lanes: int | None = None,
    max_bytes: int | None = MAX_BYTES,
) -> Iterator[Family]:
    """All blocks, or those whose immutable features have these level numbers (rows of `blocks`), as families.

    A family has at most `lanes` of them (None: as many as suit the cache), and only one is in memory at a time.
    """
    features = immutable_features(problem)
    if lanes is not None and lanes < 1:
        raise MDPError.at(("lanes",), f"a family of {lanes} blocks is empty; it needs at least 1", code="out_of_range")
    if blocks is not None and not _are_levels(np.asarray(blocks), features):
        cause = f"should have the level numbers of {quote_list([feature.name for feature in features])} in each row"
        raise MDPError.at(("blocks",), cause, code="wrong_shape")
    yield from FamilyCompiler(Compiler.of(problem, classifier), max_bytes).families(blocks, lanes=lanes)


class FamilyCompiler:
    """Compiles families of one problem again and again: the last `kept` sets of rows and edges are kept, and all goals.

    May be used by several threads.
    """

    def __init__(self, compiler: Compiler, max_bytes: int | None = MAX_BYTES, *, kept: int = 1) -> None:
        self.compiler = compiler
        self._features = immutable_features(compiler.problem)
        self._decisive = [i for i, f in enumerate(self._features) if f.name in compiler.problem.decisive_features]
        self._max_bytes, self._kept = max_bytes, kept
        self._shared: dict[tuple[int, ...], CompiledMDP] = {}
        self._lock = Lock()

    def families(self, blocks: CodeMatrix | None = None, *, lanes: int | None = None) -> Iterator[Family]:
        """As `compile_families`."""
        for group in _alike(self._features, self._decisive, blocks):
            shared = self._share(next(group(1))[0])
            for levels in group(lanes or _fitting_lanes(shared.n_states)):
                yield Family(shared, _find_goals(self.compiler, shared, levels), levels)

    def _share(self, levels: CodeArray) -> CompiledMDP:
        """What blocks have in common that agree with this one in the decisive features; the last few are kept."""
        key = tuple(levels[self._decisive].tolist())
        with self._lock:
            if key not in self._shared:
                while len(self._shared) >= self._kept:
                    del self._shared[next(iter(self._shared))]
                fixed = {feature.name: code for feature, code in zip(self._features, levels.tolist(), strict=True)}
                self._shared[key] = self.compiler.whole(fixed, self._max_bytes, has_goals=False)
            return self._shared[key]


def compile_blocks(problem: Problem, classifier: object = None, *, max_bytes: int = MAX_BYTES) -> Iterator[CompiledMDP]:
    """One MDP per block: per combination of levels of the immutable features. Only a family is in memory at a time."""
    for family in compile_families(problem, classifier, max_bytes=max_bytes):
        yield from (family.block(lane) for lane in range(family.n_lanes))


def _are_levels(blocks: CodeMatrix, features: Sequence[Feature]) -> bool:
    if blocks.ndim != 2 or blocks.shape[1] != len(features) or not np.issubdtype(blocks.dtype, np.integer):
        return False
    return bool(((blocks >= 0) & (blocks < [len(feature.levels) for feature in features])).all())


def _fitting_lanes(n_states: int) -> int:
    fitting = CACHE // (2 * 8 * max(n_states, 1))
    return FEWEST if fitting <= FEWEST else min(-(-fitting // AT_ONCE) * AT_ONCE, MOST)


def _alike(
    features: Sequence[Feature], decisive: Sequence[int], blocks: CodeMatrix | None
) -> Iterator[Callable[[int], Iterator[CodeMatrix]]]:
    """For each combination of levels of the decisive features, a function that deals out its blocks, so many a time."""
    if blocks is not None:
        _, which = np.unique(blocks[:, decisive], axis=0, return_inverse=True)
        for number in range(int(which.max(initial=-1)) + 1):
            yield partial(_deal, blocks[which.reshape(-1) == number])
        return
    sizes = [len(feature.levels) for feature in features]
    for codes in product(*(range(sizes[i]) for i in decisive)):
        yield partial(_deal_all, sizes, dict(zip(decisive, codes, strict=True)))


def _deal(blocks: CodeMatrix, lanes: int) -> Iterator[CodeMatrix]:
    yield from (blocks[first : first + lanes] for first in range(0, len(blocks), lanes))


def _deal_all(sizes: Sequence[int], fixed: Mapping[int, int], lanes: int) -> Iterator[CodeMatrix]:
    """All combinations of levels with some of them fixed, without ever holding all of them."""
    free = [1 if i in fixed else size for i, size in enumerate(sizes)]
    total = math.prod(free)
    for first in range(0, total, lanes):
        numbers = np.arange(first, min(first + lanes, total))
        codes = np.zeros((len(numbers), len(sizes)), dtype=np.int16)
        for i, column in enumerate(np.unravel_index(numbers, free) if free else ()):
            codes[:, i] = fixed.get(i, 0) + column
        yield codes


def _find_goals(compiler: Compiler, shared: CompiledMDP, levels: CodeMatrix) -> NDArray[np.bool_]:
    """[state, lane]: whether the states of each block are goals."""
    if not shared.n_states:
        return np.zeros((0, len(levels)), dtype=bool)
    codes = shared.codes(np.arange(shared.n_states))
    return compiler.goals.across(codes, immutable_positions(compiler.problem), levels)
