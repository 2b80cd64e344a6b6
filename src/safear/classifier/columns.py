"""The columns that a model was trained on: their names, their order and the type of each, as far as it tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from safear.classifier import boosting
from safear.classifier.column_types import ANY, NUMBER, ColumnType
from safear.classifier.protocol import shown_values, unseen_feature
from safear.classifier.raw_answers import label_name
from safear.errors import ClassifierError, Mistake, mistake, quote_list, suggest
from safear.problem.model import Feature

if TYPE_CHECKING:
    import pandas as pd

FILLS_TEXTS = frozenset({"most_frequent", "constant"})  # what imputers do that leaves a column of texts as it is
THRESHOLDED = frozenset({"FixedThresholdClassifier", "TunedThresholdClassifierCV"})


@dataclass(frozen=True)
class ModelColumns:
    """The columns of a model in the order of training; `names` is None if it was trained without any."""

    names: tuple[str, ...] | None
    types: tuple[ColumnType, ...] | None  # None: not even their number is known
    spaces_lost: bool = False  # LightGBM writes `credit amount` as `credit_amount`

    def name_among(self, name: str, known: Iterable[str]) -> str | None:
        """What a column of the model is called among `known`."""
        known = tuple(known)
        if name in known or not self.spaces_lost:
            return name if name in known else None
        return next((other for other in known if str(other).replace(" ", "_") == name), None)

    def categories(self, name: str) -> tuple[str, ...]:
        """What a column, as the problem calls it, may hold; empty if the model does not say."""
        return tuple(self._type_of(name).by_name)

    def unlearned(self, name: str, values: Iterable[object]) -> list[str]:
        """Which of these values of a column are none of its categories, if it has any."""
        kind = self._type_of(name)
        return [label_name(value) for value in values if kind.by_name and kind.find(value) is None]

    def _type_of(self, name: str) -> ColumnType:
        kinds = zip(self.names or (), self.types or (), strict=False)
        return next((kind for own, kind in kinds if self.name_among(own, (name,))), ANY)

    def sources(self, known: Iterable[str]) -> list[str]:
        """Which of the columns of a table each column of the model is: by name, or else by position."""
        known = tuple(known)
        if self.names is None:
            wanted = len(known) if self.types is None else len(self.types)
            if wanted != len(known):
                cause = f"the classifier was trained on {wanted} features, the problem shows it {len(known)}"
                few = wanted > len(known)
                remedy = "add the missing features" if few else "use 'seen_by_classifier: false' for the others"
                raise ClassifierError.at(("features",), cause, remedy, code="wrong_length")
            return list(known)
        found = [self.name_among(name, known) for name in self.names]
        for name, source in zip(self.names, found, strict=True):
            if source is None:
                raise unseen_feature(name, known)
        return [str(source) for source in found]


def read_columns(model: Any) -> ModelColumns:
    """What a model says about its columns."""
    if hasattr(model, "own_columns"):  # one of ours
        own: ModelColumns = model.own_columns
        return own
    names = _names(model)
    count = _count(model) if names is None else len(names)
    if count is None:
        return ModelColumns(None, None)
    types: dict[int, ColumnType] = {}
    _follow(model, list(range(count)), types)
    spaces_lost = boosting.library_of(_first(model)) == "lightgbm"
    return ModelColumns(names, tuple(types.get(i, ANY) for i in range(count)), spaces_lost)


def arrange(frame: pd.DataFrame, columns: ModelColumns) -> Any:
    """What to ask the model: its columns, in its order, each in the form of training.

    By name if it has names: other columns are left out, and one that is not there is an error. Else an array.
    """
    import pandas as pd  # noqa: PLC0415  # a quarter of a second that rules and tables do not need

    sources = columns.sources(frame.columns)
    if columns.types is None:
        return frame.to_numpy()
    made = [kind.convert(frame[source]) for source, kind in zip(sources, columns.types, strict=True)]
    table = pd.DataFrame(dict(zip(columns.names or sources, made, strict=True)), index=frame.index)
    return table.to_numpy() if columns.names is None else table


def unlearned_levels(columns: ModelColumns, features: Iterable[Feature]) -> Iterator[tuple[bool, Mistake]]:
    """For each feature with levels that the model's encoder has never seen: whether that is all of them, and which.

    Most encoders ignore what they do not know, without a word.
    """
    for feature in features:
        shown = [value for value in shown_values(feature).tolist() if value is not None]
        missing = columns.unlearned(feature.name, shown) if feature.seen_by_classifier else []
        if missing:
            path = ("features", feature.name, "levels")
            yield len(missing) == len(shown), _unlearned(path, missing, columns.categories(feature.name))


def unlearned_values(columns: ModelColumns, given: pd.DataFrame) -> Iterator[tuple[str, Mistake]]:
    """The same for columns as filed: the name of the column, and which of its values."""
    for name in map(str, given.columns):
        known = columns.categories(name)
        missing = columns.unlearned(name, given[name].dropna().unique().tolist()) if known else []
        if missing:
            yield name, _unlearned((name,), missing, known)


def _unlearned(path: tuple[str, ...], missing: list[str], known: Iterable[str]) -> Mistake:
    cause = f"the classifier was trained on no {quote_list(missing)}"
    return mistake(path, cause, suggest(missing[0], known), code="unlearned_level", levels=missing)


def inner_models(model: Any) -> list[Any]:
    """The fitted models, each for all columns, of which a search, a vote, a stack or a calibration makes one."""
    if hasattr(model, "best_estimator_"):
        return [model.best_estimator_]
    if hasattr(model, "calibrated_classifiers_"):
        return [part.estimator for part in model.calibrated_classifiers_]
    if hasattr(model, "named_estimators_"):
        return [part for part in model.estimators_ if not isinstance(part, str)]
    if type(model).__name__ in THRESHOLDED and hasattr(model, "estimator_"):
        return [model.estimator_]
    return [model.estimator] if type(model).__name__ == "FrozenEstimator" else []


def _first(model: Any) -> Any:
    """The part of a model that gets the columns as they come."""
    while True:
        inside = [step for _, step in getattr(model, "steps", ()) if step not in (None, "passthrough")]
        inside = inside or inner_models(model)
        if not inside:
            return model
        model = inside[0]


def _names(model: Any) -> tuple[str, ...] | None:
    first = _first(model)
    if boosting.library_of(first) is not None:
        return boosting.read_names(first)
    names = getattr(model, "feature_names_in_", None)
    names = getattr(first, "feature_names_in_", None) if names is None else names
    return None if names is None else tuple(map(str, names))


def _count(model: Any) -> int | None:
    first = _first(model)
    if boosting.library_of(first) is not None:
        return boosting.width_of(first)
    count = getattr(model, "n_features_in_", getattr(first, "n_features_in_", None))
    return None if count is None else int(count)


Column = int | None  # the place of a column in the model's input, as long as it is still as it came


def _follow(step: Any, columns: list[Column], types: dict[int, ColumnType]) -> list[Column]:
    """Note what a fitted step knows about the columns that it gets. What comes out of it, as far as it is the same."""
    if step is None or step == "passthrough":
        return columns
    if hasattr(step, "steps"):
        for _, part in step.steps:
            columns = _follow(part, columns, types)
        return columns
    if hasattr(step, "transformers_"):
        return _follow_each(step, columns, types)
    parts = [part for _, part in getattr(step, "transformer_list", ())] or inner_models(step)
    for part in parts:
        _follow(part, columns, types)
    if not parts:
        if _is_transparent(step, columns):
            return columns
        for column, kind in zip(columns, _types(step, columns), strict=False):
            if column is not None and kind is not ANY:
                types.setdefault(column, kind)
    return []


def _follow_each(step: Any, columns: list[Column], types: dict[int, ColumnType]) -> list[Column]:
    """The same for a ColumnTransformer."""
    places = getattr(step, "_transformer_to_input_indices", {})
    slices = getattr(step, "output_indices_", {})
    result: dict[int, Column] = {}
    for name, part, _ in step.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        out = _follow(part, [columns[i] if i < len(columns) else None for i in places.get(name, ())], types)
        where = range(step_slice.start, step_slice.stop) if (step_slice := slices.get(name)) else range(0)
        if len(out) == len(where):
            result |= dict(zip(where, out, strict=True))
    return [result.get(i) for i in range(max(result, default=-1) + 1)]


def _is_transparent(step: Any, columns: list[Column]) -> bool:
    """Whether a step passes columns on as they are, or fills gaps and does nothing else."""
    if type(step).__name__ == "FunctionTransformer":
        return step.func is None
    if getattr(step, "strategy", None) not in FILLS_TEXTS or getattr(step, "add_indicator", False):
        return False
    filled = getattr(step, "statistics_", None)  # a DummyClassifier, too, can have such a strategy
    return filled is not None and len(filled) == len(columns) == len(step.get_feature_names_out())


def _types(step: Any, columns: list[Column]) -> Iterator[ColumnType]:
    """What one step that is not made of others wants, column by column."""
    if boosting.library_of(step) is not None:
        yield from boosting.read_types(step)
        return
    categories = getattr(step, "categories_", None)
    if isinstance(categories, list) and len(categories) == len(columns):
        yield from (ColumnType("known", tuple(np.asarray(values).tolist())) for values in categories)
        return
    inside = getattr(step, "_preprocessor", None)  # of a HistGradientBoostingClassifier with categories
    types: dict[int, ColumnType] = {}
    if inside is not None:
        _follow(inside, list(range(len(columns))), types)
    module = type(step).__module__
    plain = module.startswith("sklearn.") and not module.startswith("sklearn.feature_extraction")
    plain &= type(step).__name__ != "FunctionTransformer"
    yield from (types.get(i, NUMBER if plain else ANY) for i in range(len(columns)))
