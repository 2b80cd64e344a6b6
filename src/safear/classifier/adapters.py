"""Classifiers from what people have: a rule, a scikit-learn model, a function, a table of decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.classifier.decisions import find_class, first_missing, label_name, read_decisions, read_texts
from safear.classifier.protocol import Classifier, Inputs, failed, unseen_feature
from safear.errors import ClassifierError, quote_list, suggest
from safear.problem.condition import Condition
from safear.problem.model import Goal, Problem
from safear.problem.vector import holds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RuleClassifier:
    """Favourable where a condition holds."""

    rule: Condition
    sees_levels: ClassVar[bool] = True

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Evaluate the condition."""
        return holds(self.rule, inputs.columns(), {feature.name: feature for feature in inputs.features})


@dataclass(frozen=True, eq=False)
class ModelClassifier:
    """A scikit-learn estimator or pipeline, or anything with its `predict`, `predict_proba` and `classes_`.

    The model gets a DataFrame of level names or values, columns as in training, and does its own preprocessing.
    Without a threshold its own `predict` decides; with one, the probability of the favourable class must reach it.
    """

    model: Any
    goal: Goal

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Ask the model once for all inputs."""
        table = self._table(inputs)
        classes = getattr(self.model, "classes_", None)
        if self.goal.threshold is None or classes is None:
            labels = self._call("predict", table)
            if classes is None:
                return read_decisions(labels, self.goal, count=len(inputs), source="the classifier")
            known = np.asarray(classes).tolist()
            wanted = Goal(favourable=label_name(known[find_class(known, self.goal)]))
            return read_decisions(labels, wanted, count=len(inputs), source="the classifier")
        if not hasattr(self.model, "predict_proba"):
            cause = f"{type(self.model).__name__} gives no probabilities, which a threshold needs"
            raise ClassifierError.at(
                ("goal", "threshold"), cause, "drop the threshold, or calibrate the model", code="no_probabilities"
            )
        column = find_class(np.asarray(classes).tolist(), self.goal)
        chances = np.asarray(self._call("predict_proba", table), dtype=float)
        if chances.shape != (len(inputs), len(classes)):
            cause = f"the classifier gave probabilities of shape {chances.shape} for {len(inputs)} inputs"
            raise ClassifierError.at(("classifier",), cause, "it should give one per row and class", code="wrong_shape")
        chances = chances[:, column]
        if not np.isfinite(chances).all():
            cause = "the classifier gives probabilities that are not finite"
            raise ClassifierError.at(("classifier",), cause, code="not_finite")
        return chances >= self.goal.threshold

    def _table(self, inputs: Inputs) -> Any:
        frame = inputs.frame()
        names = getattr(self.model, "feature_names_in_", None)
        if names is not None:
            missing = first_missing(map(str, names), frame.columns)
            if missing is not None:
                raise unseen_feature(missing, frame.columns)
            return frame[[str(name) for name in names]]
        wanted = getattr(self.model, "n_features_in_", frame.shape[1])
        if wanted != frame.shape[1]:
            cause = f"the classifier was trained on {wanted} features, the problem shows it {frame.shape[1]}"
            few = wanted > frame.shape[1]
            remedy = "add the missing features" if few else "use 'seen_by_classifier: false' for the others"
            raise ClassifierError.at(("features",), cause, remedy, code="wrong_length")
        return frame.to_numpy()

    def _call(self, method: str, table: Any) -> ArrayLike:
        try:
            answer: ArrayLike = getattr(self.model, method)(table)
        except (Exception, SystemExit) as error:  # whatever a foreign model raises is told in its own words
            raise failed(error) from error
        return answer


@dataclass(frozen=True, eq=False)
class FunctionClassifier:
    """A function from a DataFrame of inputs to one truth value, label or score per row."""

    function: Callable[[pd.DataFrame], ArrayLike]
    goal: Goal

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Call the function once for all inputs."""
        try:
            outputs = self.function(inputs.frame())
        except (Exception, SystemExit) as error:  # whatever a foreign function raises is told in its own words
            raise failed(error) from error
        return read_decisions(outputs, self.goal, count=len(inputs), source="the classifier")


@dataclass(frozen=True, eq=False)
class TableClassifier:
    """Decisions that were looked up beforehand: one truth value per combination of levels, by feature name."""

    names: tuple[str, ...]
    decisions: Mapping[tuple[str, ...], bool]
    sees_levels: ClassVar[bool] = True

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, problem: Problem) -> TableClassifier:
        """From a table with a column per feature that the classifier sees and one more column with the decision."""
        names = tuple(feature.name for feature in problem.features if feature.seen_by_classifier)
        missing = first_missing(names, frame.columns)
        if missing is not None:
            cause = f"the table of decisions has no column '{missing}'"
            remedy = f"columns: {quote_list(list(map(str, frame.columns)))}"
            raise ClassifierError.at(("classifier",), cause, remedy, code="missing_column", column=missing)
        others = [column for column in frame.columns if column not in problem.feature_by_name]
        if len(others) != 1:
            cause = f"the table needs exactly one further column, the decision; it has {len(others)}"
            raise ClassifierError.at(
                ("classifier",), cause, quote_list(list(map(str, others))) or None, code="wrong_length"
            )
        column = read_texts(frame[others[0]].to_numpy())
        decisions = read_decisions(column, problem.goal, count=len(frame), source="the table of decisions")
        if column.dtype == object and not decisions.any():
            labels = sorted({label_name(value) for value in column.tolist()})
            cause = f"nobody gets '{problem.goal.favourable}': the table of decisions says {quote_list(labels)}"
            raise ClassifierError.at(
                ("goal", "favourable"), cause, suggest(problem.goal.favourable or "", labels), code="unknown_class"
            )
        keys = list(zip(*([label_name(value) for value in frame[name].tolist()] for name in names), strict=True))
        result: dict[tuple[str, ...], bool] = {}
        for key, decision in zip(keys, decisions.tolist(), strict=True):
            if result.setdefault(key, decision) != decision:
                where = ", ".join(f"{name} = {level}" for name, level in zip(names, key, strict=True))
                cause = f"the table of decisions contradicts itself at {where}"
                raise ClassifierError.at(("classifier",), cause, code="contradiction")
        return cls(names, result)

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Look each input up."""
        answers = np.empty(len(inputs), dtype=bool)
        for row in range(len(inputs)):
            levels = inputs.levels(row)
            decision = self.decisions.get(tuple(levels[name] for name in self.names))
            if decision is None:
                where = ", ".join(f"{name} = {levels[name]}" for name in self.names)
                cause = f"the table of decisions has no row for {where}"
                raise ClassifierError.at(("classifier",), cause, code="missing_row")
            answers[row] = decision
        return answers


def as_classifier(source: object, problem: Problem) -> Classifier:
    """Whatever was given as a classifier for a problem; None is the problem's own rule."""
    if source is None:
        if problem.rule is None:
            remedy = "give a classifier, or write 'classifier: {rule: ...}' into the problem"
            cause = "the problem has no rule, and no classifier was given"
            raise ClassifierError.at(("classifier",), cause, remedy, code="missing")
        return RuleClassifier(problem.rule)
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):  # first: its columns may have any name
        return TableClassifier.from_frame(source, problem)  # type: ignore[arg-type]  # a DataFrame, by its marks
    if isinstance(source, Classifier):
        return source
    if hasattr(source, "predict"):
        return ModelClassifier(source, problem.goal)
    if callable(source):
        return FunctionClassifier(source, problem.goal)
    cause = f"an object of type {type(source).__name__} is not a classifier"
    remedy = "give a model with 'predict', a function or a table"
    raise ClassifierError.at(("classifier",), cause, remedy, code="wrong_type")
