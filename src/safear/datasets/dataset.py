"""The data sets of the paper: raw values, levels, true decisions, recourse problems, and the classifier."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.datasets.forest import TrainedClassifier, train
from safear.datasets.raw import READINGS, read_codes, read_label
from safear.errors import ProblemError, suggest
from safear.problem.load import parse_problem
from safear.problem.model import Problem

if TYPE_CHECKING:
    import pandas as pd

_FOLDER = resources.files(__package__)


@dataclass(frozen=True, eq=False)
class Dataset:
    """One of the paper's data sets; rows are numbered from 0, as the paper's instances are.

    Attributes:
        name: `adult`, `german` or `insurance`.
        raw: the values as they were published (missing ones as `?` and `NA`, as published).
        levels: the level name of each row for each feature of the problem, in the problem's order.
        codes: the same as level numbers; what the classifier is trained on. Read-only.
        favourable: the true decision on each row. Read-only.
        problem: the paper's recourse model, horizon 12.
        second_problem: the same with the paper's other costs and chances, if it has any.
    """

    name: str
    raw: pd.DataFrame = field(repr=False)
    levels: pd.DataFrame = field(repr=False)
    codes: NDArray[np.int16] = field(repr=False)
    favourable: NDArray[np.bool_] = field(repr=False)
    problem: Problem = field(repr=False)
    second_problem: Problem | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def classifier(self, seed: int = 0) -> TrainedClassifier:
        """The paper's random forest: 100 trees on level numbers, trained on four fifths of the rows.

        The paper names no seed. `seed` draws both the split and the trees. Forests are kept in `$SAFEAR_CACHE` or the
        user's cache directory.
        """
        return _classifier(self, seed)


def dataset_names() -> list[str]:
    """What `load` knows."""
    return sorted(READINGS)


def load(name: str) -> Dataset:
    """A data set of the paper: `adult`, `german` or `insurance`. It is read once and then shared."""
    if name not in READINGS:
        raise ProblemError.at((), f"there is no data set '{name}'", suggest(name, dataset_names()), code="unknown_name")
    return _load(name)


@cache
def _load(name: str) -> Dataset:
    import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

    problem = _preset(name)
    content = gzip.decompress((_FOLDER / "data" / f"{name}.csv.gz").read_bytes())
    raw = pd.read_csv(io.BytesIO(content), keep_default_na=False)
    codes = read_codes(raw, problem.features, READINGS[name])
    favourable = read_label(raw, READINGS[name])
    for array in (codes, favourable):
        array.setflags(write=False)
    levels = pd.DataFrame(
        {
            feature.name: np.array(feature.levels, dtype=object)[codes[:, i]]
            for i, feature in enumerate(problem.features)
        }
    )
    second = f"{name}-second"
    has_second = (_FOLDER / "presets" / f"{second}.yaml").is_file()
    other = _with_labels_of(problem, _preset(second)) if has_second else None
    return Dataset(name, raw, levels, codes, favourable, problem, other)


@lru_cache(maxsize=64)
def _classifier(dataset: Dataset, seed: int) -> TrainedClassifier:
    return train(dataset.problem.features, dataset.codes, dataset.favourable, seed=seed)


def _with_labels_of(first: Problem, second: Problem) -> Problem:
    """The second problem of a data set: its features, actions and goal are called as in the first."""
    return replace(second, glossary=replace(first.glossary, texts=second.glossary.texts))


def _preset(name: str) -> Problem:
    return parse_problem((_FOLDER / "presets" / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")
