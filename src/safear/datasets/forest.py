"""The classifier of the paper: a random forest on level numbers, asked about every input once and then looked up."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import Inputs, unseen_feature
from safear.datasets.cache import read_arrays, write_arrays
from safear.errors import ClassifierError, MissingExtraError, suggest
from safear.mdp.space import StateSpace
from safear.problem.model import Feature

TREES = 100
HELD_OUT = 0.2
JOBS = 2  # changes nothing but the time


@dataclass(frozen=True, eq=False)
class TrainedClassifier:
    """A random forest as the table of its decisions.

    `decisions` has one truth value per combination of levels of `features`, the last feature changing fastest.
    `accuracy` is the share of right decisions on the fifth of the data that training did not see.
    """

    features: tuple[Feature, ...]
    decisions: NDArray[np.bool_] = field(repr=False)
    accuracy: float
    seed: int
    sees_levels: ClassVar[bool] = True

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Look each input up; features and levels are found by name, whatever their order."""
        known = inputs.columns()
        codes = [_own_codes(feature, inputs.features, known) for feature in self.features]
        return self.decisions[StateSpace(self.features, {}).encode(np.stack(codes, axis=-1))]


def train(
    features: tuple[Feature, ...], codes: NDArray[np.int16], favourable: NDArray[np.bool_], *, seed: int
) -> TrainedClassifier:
    """The forest for these rows of level numbers and their true decisions, from the cache if it was trained before."""
    if not 0 <= seed < 2**32:
        raise ClassifierError.at(("seed",), f"{seed} is not between 0 and {2**32 - 1}", code="out_of_range", value=seed)
    space = StateSpace(features, {})
    name = f"forest-{_key(space.sizes, codes, favourable, seed)}"
    kept = _read(name, space.size)
    if kept is None:
        kept = _fit(space, codes, favourable, seed)
        decisions, accuracy = kept
        write_arrays(name, {"decisions": decisions, "accuracy": np.array(accuracy)})
    decisions, accuracy = kept
    decisions.setflags(write=False)
    return TrainedClassifier(features, decisions, accuracy, seed)


def _fit(
    space: StateSpace, codes: NDArray[np.int16], favourable: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.bool_], float]:
    try:
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  # an optional dependency, and slow to load
        from sklearn.model_selection import train_test_split  # noqa: PLC0415  # optional, as above
    except ImportError:
        raise MissingExtraError("scikit-learn", "paper") from None
    seen, unseen, answers, true = train_test_split(codes, favourable, test_size=HELD_OUT, random_state=seed)
    forest = RandomForestClassifier(n_estimators=TREES, random_state=seed, n_jobs=JOBS).fit(seen, answers)
    # Threads add the votes of the trees in any order, and rounding then decides ties; one thread has one order.
    forest.set_params(n_jobs=1)
    decisions = np.asarray(forest.predict(space.decode(np.arange(space.size))), dtype=bool)
    return decisions, float(np.mean(decisions[space.encode(unseen)] == true))


def _read(name: str, count: int) -> tuple[NDArray[np.bool_], float] | None:
    """What the cache holds under a name, if it is what was once put there."""
    arrays = read_arrays(name)
    if arrays is None or set(arrays) != {"decisions", "accuracy"}:
        return None
    decisions, accuracy = arrays["decisions"], arrays["accuracy"]
    if decisions.dtype != np.bool_ or decisions.shape != (count,):
        return None
    if accuracy.dtype != np.float64 or accuracy.shape != () or not 0 <= accuracy.item() <= 1:
        return None
    return decisions.astype(bool), float(accuracy.item())


def _key(sizes: Sequence[int], codes: NDArray[np.int16], favourable: NDArray[np.bool_], seed: int) -> str:
    """A name that is the same only if the forest is."""
    try:
        version = metadata.version("scikit-learn")
    except metadata.PackageNotFoundError:
        raise MissingExtraError("scikit-learn", "paper") from None
    digest = hashlib.sha256(repr((1, version, TREES, HELD_OUT, seed, tuple(sizes), codes.shape)).encode())
    digest.update(np.ascontiguousarray(codes, dtype="<i2").tobytes())
    digest.update(np.packbits(favourable).tobytes())
    return digest.hexdigest()[:32]


def _own_codes(feature: Feature, given: Sequence[Feature], columns: dict[str, NDArray[np.int16]]) -> NDArray[np.int16]:
    """One column of inputs in the level numbers that the forest was trained on."""
    by_name = {other.name: other for other in given}
    if feature.name not in by_name:
        raise unseen_feature(feature.name, by_name)
    levels = by_name[feature.name].levels
    if levels == feature.levels:
        return columns[feature.name]
    unknown = next((level for level in levels if level not in feature.levels), None)
    if unknown is not None:
        cause = f"the classifier was not trained on level '{unknown}' of '{feature.name}'"
        path, remedy = ("features", feature.name, "levels"), suggest(unknown, feature.levels)
        raise ClassifierError.at(path, cause, remedy, code="unknown_level", feature=feature.name, level=unknown)
    return np.array([feature.levels.index(level) for level in levels], dtype=np.int16)[columns[feature.name]]
