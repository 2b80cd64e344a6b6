"""The mixed-radix state space: level numbers of all features <-> one index.

    index = sum over features i of code_i * stride_i,    stride_i = product of the sizes of the features after i

A feature that is fixed (an immutable one inside a block) has one possible code and size 1, so that the index of a
block, or of the part that one person can reach, stays small however many immutable features there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safear.errors import TooLargeError
from safear.problem.model import Feature, Person
from safear.problem.vector import CodeArray

StateArray = NDArray[np.int64]
CodeMatrix = NDArray[np.int16]  # one row per state, one column per feature
MAX_INDEX = 2**62


@dataclass(frozen=True)
class StateSpace:
    """All combinations of levels of `features`, those in `fixed` held at one level number."""

    features: tuple[Feature, ...]
    fixed: Mapping[str, int]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels that each feature may take."""
        return tuple(1 if feature.name in self.fixed else len(feature.levels) for feature in self.features)

    @property
    def size(self) -> int:
        """The number of states."""
        return math.prod(self.sizes)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far the index moves when a feature's code goes up by one."""
        return tuple(math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes)))

    @cached_property
    def free_strides(self) -> NDArray[np.int64]:
        """The same with 0 for what is fixed."""
        return np.array([0 if size == 1 else stride for size, stride in zip(self.sizes, self.strides, strict=True)])

    @cached_property
    def _base(self) -> CodeArray:
        return np.array([self.fixed.get(feature.name, 0) for feature in self.features], dtype=np.int16)

    @cached_property
    def _columns(self) -> Mapping[str, int]:
        return {feature.name: i for i, feature in enumerate(self.features)}

    def require_indexable(self) -> None:
        """Refuse a space whose states cannot even be numbered in 64 bits."""
        if self.size > MAX_INDEX:
            raise TooLargeError.at(
                (),
                f"the features that can change have {self.size:.3g} combinations, too many to number",
                "merge levels, or mark features that never change as 'mutable: false'",
            )

    def encode(self, codes: CodeMatrix) -> StateArray:
        """The index of each row of level numbers, whatever they are of what is fixed."""
        return codes.astype(np.int64) @ self.free_strides

    def decode(self, states: StateArray) -> CodeMatrix:
        """The level numbers of each state, one column per feature."""
        columns = [(states // stride) % size for stride, size in zip(self.strides, self.sizes, strict=True)]
        codes: CodeMatrix = np.stack(columns, axis=-1).astype(np.int16) + self._base
        return codes

    def columns(self, codes: CodeMatrix) -> dict[str, CodeArray]:
        """A matrix of level numbers as one array per feature, by name."""
        return {name: codes[:, i] for name, i in self._columns.items()}

    def moved(self, states: StateArray, before: Mapping[str, CodeArray], after: Mapping[str, CodeArray]) -> StateArray:
        """The states after their level numbers have changed; arrays that are the same object have not."""
        result = states
        for name, column in after.items():
            if column is not before[name]:
                result = result + self.strides[self._columns[name]] * (column.astype(np.int64) - before[name])
        return result

    def contains(self, codes: CodeMatrix) -> bool:
        """Whether one row of level numbers agrees with what is fixed."""
        return all(codes[self._columns[name]] == code for name, code in self.fixed.items())

    def person(self, state: int) -> dict[str, str]:
        """The level names of one state."""
        codes = self.decode(np.array([state]))[0]
        return {feature.name: feature.levels[code] for feature, code in zip(self.features, codes, strict=True)}


def person_codes(features: Sequence[Feature], person: Person) -> CodeArray:
    """The level numbers of a person."""
    return np.array([feature.levels.index(person[feature.name]) for feature in features], dtype=np.int16)


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of some numbers, rising, as `np.unique`, which hashes: of 147,000 in 137 ms, not 1."""
    rising = np.sort(numbers)
    return rising[np.diff(rising, prepend=rising[:1] - 1) > 0]
