"""Which states are goals: the classifier is asked in batches, and about each distinct input once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Classifier, Inputs, ask
from safear.mdp.space import CodeMatrix
from safear.spec.model import Problem

BATCH = 65_536  # rows in one call, so that a model's own memory stays small


class Goals:
    """Answers whether states are goals and remembers the answers by input."""

    def __init__(self, problem: Problem, classifier: Classifier) -> None:
        self._classifier = classifier
        self._seen = [i for i, feature in enumerate(problem.features) if feature.seen_by_classifier]
        self._features = tuple(problem.features[i] for i in self._seen)
        self._known: dict[bytes, bool] = {}

    def among(self, codes: CodeMatrix) -> NDArray[np.bool_]:
        """For each row of level numbers, whether it is a goal."""
        distinct, inverse = np.unique(codes[:, self._seen], axis=0, return_inverse=True)
        keys = [row.tobytes() for row in distinct]
        new = np.array([i for i, key in enumerate(keys) if key not in self._known], dtype=np.int64)
        for first in range(0, len(new), BATCH):
            batch = new[first : first + BATCH]
            answers = ask(self._classifier, Inputs(self._features, distinct[batch]))
            self._known.update(zip((keys[i] for i in batch), answers.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=bool)[inverse.reshape(-1)]
