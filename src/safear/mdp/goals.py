"""Which states are goals: the classifier is asked in batches, and about each distinct input once."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Classifier, Inputs, ask
from safear.mdp.space import CodeMatrix
from safear.spec.model import Problem

BATCH = 65_536  # rows in one call, so that a model's own memory stays small
DENSE = 10**8  # possible inputs up to which a byte for each is kept
UNKNOWN, YES = -1, 1  # and 0 is no


class Goals:
    """Answers whether states are goals and remembers the answers by input."""

    def __init__(self, problem: Problem, classifier: Classifier) -> None:
        self._classifier = classifier
        self._seen = [i for i, feature in enumerate(problem.features) if feature.seen_by_classifier]
        self._features = tuple(problem.features[i] for i in self._seen)
        self._sizes = [len(feature.levels) for feature in self._features]
        self._table: NDArray[np.int8] | None = None
        if math.prod(self._sizes) <= DENSE:
            self._table = np.full(math.prod(self._sizes), UNKNOWN, dtype=np.int8)
        self._known: dict[bytes, bool] = {}

    def among(self, codes: CodeMatrix) -> NDArray[np.bool_]:
        """For each row of level numbers, whether it is a goal."""
        inputs = codes[:, self._seen]
        if self._table is None:
            return self._look_up_rows(inputs)
        keys = np.ravel_multi_index(tuple(inputs.T.astype(np.int64)), self._sizes)
        new = np.unique(keys[self._table[keys] == UNKNOWN])
        if len(new):
            self._table[new] = self._ask(np.stack(np.unravel_index(new, self._sizes), axis=-1).astype(np.int16))
        answers: NDArray[np.bool_] = self._table[keys] == YES
        return answers

    def _look_up_rows(self, inputs: CodeMatrix) -> NDArray[np.bool_]:
        """The same for a space of inputs that is too large for a table."""
        distinct, inverse = np.unique(inputs, axis=0, return_inverse=True)
        keys = [row.tobytes() for row in distinct]
        new = [i for i, key in enumerate(keys) if key not in self._known]
        if new:
            self._known.update(zip((keys[i] for i in new), self._ask(distinct[new]).tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=bool)[inverse.reshape(-1)]

    def _ask(self, inputs: CodeMatrix) -> NDArray[np.bool_]:
        batches = [inputs[first : first + BATCH] for first in range(0, len(inputs), BATCH)]
        return np.concatenate([ask(self._classifier, Inputs(self._features, batch)) for batch in batches])
