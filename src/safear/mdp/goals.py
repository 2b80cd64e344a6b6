"""Which states are goals: the classifier is asked in batches, and about each distinct input once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safear.classifier.asking import ask, ask_scores
from safear.classifier.filed import Sight
from safear.classifier.protocol import Classifier, Inputs, find_aimed
from safear.mdp.space import CodeMatrix, distinct
from safear.problem.model import Problem

BATCH = 65_536  # rows in one call, so that a model's own memory stays small
DENSE = 10**8  # possible inputs up to which a byte for each is kept
UNKNOWN, NO, YES = 0, 1, 2  # zeros are not allocated before they are written to
REMEMBERED = 2_000_000  # answers, where there are too many inputs for a table


class Goals:
    """Answers whether states are goals and remembers the answers by input.

    A goal is what plans are made for, which may be less than all that the classifier accepts: `in_force` answers who is
    accepted. Several threads may ask; the classifier is asked by one at a time, and about each input once.
    """

    def __init__(
        self, problem: Problem, classifier: Classifier, *, lock: Lock | None = None, standard: Classifier | None = None
    ) -> None:
        self.problem, self.classifier = problem, classifier
        self.standard = find_aimed(classifier) if standard is None else standard  # who says what is a goal
        self.sight = Sight.of(problem, classifier)
        self._seen = [i for i, feature in enumerate(problem.features) if feature.seen_by_classifier]
        self._features = tuple(problem.features[i] for i in self._seen)
        self._sizes = [len(feature.levels) for feature in self._features]
        self.table: NDArray[np.int8] | None = None  # by the number of an input
        self._strides = np.zeros(len(problem.features), dtype=np.int64)  # of that number; 0 for what is not seen
        if math.prod(self._sizes) <= DENSE:
            self.table = np.zeros(math.prod(self._sizes), dtype=np.int8)
            self._strides[self._seen] = [math.prod(self._sizes[i + 1 :]) for i in range(len(self._seen))]
        self._known: dict[bytes, bool] = {}
        self.known_points: dict[tuple[int, int, bool], NDArray[np.float64]] = {}  # of levels, the same for everybody
        self.lock = Lock() if lock is None else lock  # one asks at a time

    def __getstate__(self) -> dict[str, object]:
        """What is sent to another process: what is known too, but no lock."""
        return {name: value for name, value in vars(self).items() if name not in {"lock", "in_force"}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, lock=Lock())

    def among(self, codes: CodeMatrix) -> NDArray[np.bool_]:
        """For each row of level numbers, whether it is a goal."""
        if self.table is None:
            return self._look_up_rows(codes[:, self._seen])
        return self._look_up(self.table, self.number(codes))

    def number(self, codes: CodeMatrix) -> NDArray[np.int64]:
        """The number of the input of each row, by which the `table` has what is known of it."""
        return codes.astype(np.int64) @ self._strides

    @cached_property
    def in_force(self) -> Goals:
        """The same of decisions: who is accepted as things stand. These goals themselves if no margin is asked for."""
        if self.standard is self.classifier:
            return self
        return Goals(self.problem, self.classifier, lock=self.lock, standard=self.classifier)

    @property
    def is_slow(self) -> bool:
        """Whether the classifier had better be asked seldom, about much at once."""
        return not getattr(self.classifier, "sees_levels", False)

    def across(self, codes: CodeMatrix, immutable: Sequence[int], levels: CodeMatrix) -> NDArray[np.bool_]:
        """[row, lane]: the same with the features numbered `immutable` at the level numbers of each lane."""
        if self.table is None:
            everywhere = np.repeat(codes[:, None, :], len(levels), axis=1)
            everywhere[:, :, immutable] = levels
            return self.among(everywhere.reshape(-1, codes.shape[1])).reshape(len(codes), len(levels))
        mutable = self._strides.copy()
        mutable[immutable] = 0
        keys = (codes.astype(np.int64) @ mutable)[:, None] + levels.astype(np.int64) @ self._strides[immutable]
        return self._look_up(self.table, keys)

    def sample(self, most: int) -> NDArray[np.bool_]:
        """The answers to all inputs or, if there are more, to `most` of them, always the same ones."""
        total = math.prod(self._sizes)
        if total <= most and self.table is not None:
            return self._look_up(self.table, np.arange(total))
        rng = np.random.default_rng(0)
        inputs = np.stack([rng.integers(size, size=most) for size in self._sizes], axis=1).astype(np.int16)
        return self._ask(inputs)

    def scores(self, codes: CodeMatrix) -> NDArray[np.float64] | None:
        """For each row of level numbers, the score that the classifier gives it; None if it gives none."""
        inputs, which = np.unique(codes[:, self._seen], axis=0, return_inverse=True)
        found = score_all(self.standard, Inputs(self._features, inputs), self.lock)
        return None if found is None else found[which.reshape(-1)]

    def _look_up(self, table: NDArray[np.int8], keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """The answers to inputs by their number; those not known yet are asked for."""
        found = table[keys]
        if (found == UNKNOWN).any():
            with self.lock:
                new = distinct(keys[table[keys] == UNKNOWN])
                if len(new):
                    inputs = np.stack(np.unravel_index(new, self._sizes), axis=-1).astype(np.int16)
                    table[new] = np.where(self._ask(inputs), YES, NO)
            found = table[keys]
        answers: NDArray[np.bool_] = found == YES
        return answers

    def _look_up_rows(self, inputs: CodeMatrix) -> NDArray[np.bool_]:
        """The same for a space of inputs that is too large for a table."""
        distinct, inverse = np.unique(inputs, axis=0, return_inverse=True)
        keys = [row.tobytes() for row in distinct]
        with self.lock:
            if len(self._known) > REMEMBERED:
                self._known.clear()
            new = [i for i, key in enumerate(keys) if key not in self._known]
            if new:
                self._known.update(zip((keys[i] for i in new), self._ask(distinct[new]).tolist(), strict=True))
            answers = [self._known[key] for key in keys]
        return np.array(answers, dtype=bool)[inverse.reshape(-1)]

    def _ask(self, inputs: CodeMatrix) -> NDArray[np.bool_]:
        batches = [inputs[first : first + BATCH] for first in range(0, len(inputs), BATCH)]
        return np.concatenate([ask(self.standard, Inputs(self._features, batch)) for batch in batches])


def score_all(classifier: Classifier, inputs: Inputs, lock: Lock) -> NDArray[np.float64] | None:
    """The scores of any number of inputs; None if there are none of some."""
    parts = []
    for first in range(0, len(inputs), BATCH):
        with lock:
            part = ask_scores(classifier, inputs.take(slice(first, first + BATCH)))
        if part is None:
            return None
        parts.append(part)
    return np.concatenate(parts) if parts else None
