"""What a classifier is to SafeAR: something that says for many inputs at once whether the decision is favourable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from safear.errors import ClassifierError, cut_middle, suggest, visible
from safear.problem.model import Feature
from safear.problem.vector import CodeArray

if TYPE_CHECKING:
    import pandas as pd

RAISED = (Exception, SystemExit, GeneratorExit)  # what foreign code may raise; Ctrl+C is somebody else's
MOST_TOLD = 300  # characters of its words


@dataclass(frozen=True, eq=False)
class Inputs:
    """Distinct inputs x of a classifier: the level numbers of the features that it sees, one row per input.

    `numbers` has, for some of the features, a number per input that stands in place of its level's value. `given` has
    columns besides the features, a row per input.
    """

    features: tuple[Feature, ...]
    codes: NDArray[np.int16]
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    given: pd.DataFrame | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def columns(self) -> dict[str, CodeArray]:
        """The level numbers, one array per feature."""
        return {feature.name: self.codes[:, i] for i, feature in enumerate(self.features)}

    def frame(self) -> pd.DataFrame:
        """The inputs as a model wants them: each level's value if it has one, else its name."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that rules and tables do not need

        columns = {feature.name: shown_values(feature)[self.codes[:, i]] for i, feature in enumerate(self.features)}
        frame = pd.DataFrame(columns | dict(self.numbers))
        return frame if self.given is None else pd.concat([frame, self.given.reset_index(drop=True)], axis=1)

    def take(self, rows: slice | NDArray[np.int64]) -> Inputs:
        """Some of them."""
        numbers = {name: values[rows] for name, values in self.numbers.items()}
        given = None if self.given is None else self.given.iloc[rows]
        return replace(self, codes=self.codes[rows], numbers=numbers, given=given)

    def levels(self, row: int) -> dict[str, str]:
        """The level names of one input."""
        return {feature.name: feature.levels[self.codes[row, i]] for i, feature in enumerate(self.features)}


@runtime_checkable
class Classifier(Protocol):
    """Says which inputs get the favourable decision.

    It may have more to say: `sees_levels` (true if it looks at nothing but levels), `wanted` (the names of the columns
    that it wants), `splits(sample)` (the numbers of each column at which it may change its mind), `time_limit` (the
    seconds that a question may take), `aimed` (a stricter classifier, for which plans are made), `scores(inputs)` (how
    near each is to the favourable decision, from 0 to 1).
    """

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """One truth value per input."""
        ...


def find_aimed(classifier: Classifier) -> Classifier:
    """Who says which inputs plans are made for: somebody stricter than the decision itself, or whoever decides."""
    return getattr(classifier, "aimed", None) or classifier


def find_source(classifier: object) -> object:
    """The model or function that a classifier asks, or the classifier itself."""
    for name in ("model", "function"):
        if getattr(classifier, name, None) is not None:
            return getattr(classifier, name)
    return classifier


def tell_error(error: BaseException) -> str:
    """What foreign code raised: the type, and the first line of its own words."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001  # somebody's own class of errors may fail at that
        lines = []
    return f"{type(error).__name__}: {visible(cut_middle(lines[0], MOST_TOLD)) if lines else ''}".rstrip(": ")


def failed(error: BaseException) -> ClassifierError:
    """What a foreign model or function raised, as an error of ours."""
    told = tell_error(error)
    cause, remedy = f"the classifier failed: {told}", None
    if "could not convert string" in told:
        remedy = "it needs numbers: give the levels 'values: [...]', or a pipeline that encodes level names"
    return ClassifierError.at(("classifier",), cause, remedy, code="classifier_failed")


def unseen_feature(name: str, seen: Iterable[str]) -> ClassifierError:
    """The error about a feature that the classifier was trained on and is not shown."""
    cause = f"the classifier needs '{name}', which it is not shown"
    return ClassifierError.at(("features",), cause, suggest(name, seen), code="unseen_feature", feature=name)


def shown_values(feature: Feature) -> NDArray[np.generic]:
    """What the classifier sees at each level: its value, or else its name, or nothing where an empty cell means it."""
    if not feature.values:
        empty = None if feature.kind == "numeric" else feature.missing
        return np.array([None if level == empty else level for level in feature.levels], dtype=object)
    if all(isinstance(value, float) for value in feature.values):
        return np.array(feature.values, dtype=float)
    return np.array(feature.values, dtype=object)
