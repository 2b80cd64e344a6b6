"""Classifiers from what people have: a rule, a model, a function, a table of decisions, or several of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.arguments import takes
from safear.classifier.boosting import find_chances, find_truths, library_of
from safear.classifier.column_types import ColumnType
from safear.classifier.columns import ModelColumns, arrange, read_columns, unlearned_levels, unlearned_values
from safear.classifier.decisions import (
    first_missing,
    reach,
    read_answers,
    read_chances,
    read_class_chances,
    read_decisions,
    read_scores,
    read_texts,
)
from safear.classifier.protocol import RAISED, Classifier, Inputs, failed
from safear.classifier.raw_answers import label_name
from safear.classifier.several import SeveralClassifiers
from safear.classifier.splits import find_splits
from safear.classifier.vocabulary import Vocabulary
from safear.errors import ClassifierError, SafearError, quote_list
from safear.problem.condition import Condition
from safear.problem.model import PROBLEM, Goal, Problem
from safear.problem.vector import holds

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("safear")
SOURCE = "the classifier"
_told: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # what was said about models


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

    The model gets what it was trained on: a DataFrame with its columns, in their order and of their types (an array, if
    it knows no names), and does its own preprocessing. Without a threshold its own `predict` decides; with one, the
    probability of the favourable class must reach it. A Booster of LightGBM or XGBoost has probabilities only.
    """

    model: Any
    goal: Goal
    known: tuple[str, ...] = ()  # the names that the problem has for columns
    time_limit: float | None = None  # in seconds, for each question
    _kept: dict[str, Mapping[str, NDArray[np.float64] | None] | None] = field(default_factory=dict, repr=False)
    _truths: dict[str, ColumnType] = field(default_factory=dict, repr=False)
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)

    @property
    def aimed(self) -> ModelClassifier | None:
        """The same with the score that plans are made for; None if that is the threshold."""
        return None if self.goal.aim is None else replace(self, goal=self.goal.aimed)

    @cached_property
    def columns(self) -> ModelColumns:
        """What the model was trained on."""
        try:
            return read_columns(self.model)
        except SafearError:
            raise
        except Exception as error:  # whatever a foreign model raises is told in its own words
            raise failed(error) from error

    @cached_property
    def wanted(self) -> tuple[str, ...] | None:
        """The names of the columns that the model wants, as the problem writes them; None if it has no names."""
        names = self.columns.names
        return names and tuple(self.columns.name_among(name, self.known) or name for name in names)

    def splits(self, sample: pd.DataFrame) -> Mapping[str, NDArray[np.float64] | None] | None:
        """Where the decision may change, by numeric column; see `find_splits`. It is found out once."""
        if "splits" not in self._kept:
            self._kept["splits"] = find_splits(self.model, self.columns, sample)
        return self._kept["splits"]

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Ask the model once for all inputs."""
        table = self._spell_truths(arrange(inputs.frame(), self.columns))
        for name, found in () if inputs.given is None else unlearned_values(self.columns, inputs.given):
            tell_once(self.model, str(found), about=name)
        chances = find_chances(self.model)
        if chances is not None:
            source = type(self.model).__name__
            decisions = read_chances(self._call(chances, table), self.goal, count=len(inputs), source=source)
            self.vocabulary.answers += len(inputs)
            return decisions
        classes = list_classes(self.model)
        if not classes:
            labels = self._call(self.model.predict, table)
            return read_decisions(labels, self.goal, count=len(inputs), source=SOURCE, vocabulary=self.vocabulary)
        if self.goal.threshold is None:
            return read_answers(self._call(self.model.predict, table), classes, self.goal, count=len(inputs))
        if not hasattr(self.model, "predict_proba"):
            cause = f"{type(self.model).__name__} gives no probabilities, which a threshold needs"
            raise ClassifierError.at(
                ("goal", "threshold"), cause, "drop the threshold, or calibrate the model", code="no_probabilities"
            )
        return reach(self._find_chances(table, classes, len(inputs)), self.goal)

    @property
    def lists_classes(self) -> bool:
        """Whether it says by itself what it may answer."""
        return bool(list_classes(self.model)) and find_chances(self.model) is None

    def scores(self, inputs: Inputs) -> NDArray[np.floating[Any]] | None:
        """The probability of the favourable class; None if the model gives none, or none that decides."""
        classes, chances = list_classes(self.model), find_chances(self.model)
        decides = self.goal.threshold is not None or len(classes) == 2
        if chances is None and classes and not (decides and hasattr(self.model, "predict_proba")):
            return None
        table = self._spell_truths(arrange(inputs.frame(), self.columns))
        if chances is None and classes:
            return self._find_chances(table, classes, len(inputs))
        answers = self._call(chances or self.model.predict, table)
        return read_scores(answers, self.goal, count=len(inputs), source=SOURCE)

    def _find_chances(self, table: Any, classes: list[object], count: int) -> NDArray[np.floating[Any]]:
        """The probability of the favourable one of the classes."""
        rows = self._call(self.model.predict_proba, table)
        return read_class_chances(rows, classes, self.goal, count=count)

    def answers(self, inputs: Inputs) -> ArrayLike:
        """What `predict` says, in its own words."""
        return self._call(self.model.predict, self._spell_truths(arrange(inputs.frame(), self.columns)))

    def _spell_truths(self, table: Any) -> Any:
        """True and false as in training, where the model keeps no list of categories. How is found out once."""
        for name, kind in zip(self.columns.names or (), self.columns.types or (), strict=False):
            if name not in self._truths and kind.holds_truths(table[name]):
                found = find_truths(self.model, table, name) if library_of(self.model) == "catboost" else None
                self._truths[name] = kind if found is None else ColumnType("known", found)
                if found is None:
                    text = f"{name}: the classifier does not say how it spells true and false, for which True is 1"
                    tell_once(self.model, f"{text}\n    call the levels of '{name}' as in training", about=name)
            if name in self._truths:
                table[name] = self._truths[name].convert(table[name])
        return table

    def _call(self, method: Callable[[Any], ArrayLike], table: Any) -> ArrayLike:
        try:
            return method(table)
        except SafearError:
            raise
        except RAISED as error:  # whatever a foreign model raises is told in its own words
            raise failed(error) from error


@dataclass(frozen=True, eq=False)
class FunctionClassifier:
    """A function from a DataFrame of inputs to one truth value, label or score per row.

    One that gives labels may list them as its `classes_`.
    """

    function: Callable[[pd.DataFrame], ArrayLike]
    goal: Goal
    time_limit: float | None = None  # in seconds, for each question
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)

    @property
    def aimed(self) -> FunctionClassifier | None:
        """The same with the score that plans are made for; None if that is the threshold."""
        return None if self.goal.aim is None else replace(self, goal=self.goal.aimed)

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        """Call the function once for all inputs."""
        classes = list_classes(self.function)
        if classes and self.goal.threshold is None:
            return read_answers(self.answers(inputs), classes, self.goal, count=len(inputs))
        answers = self.answers(inputs)
        return read_decisions(answers, self.goal, count=len(inputs), source=SOURCE, vocabulary=self.vocabulary)

    @property
    def lists_classes(self) -> bool:
        """Whether it says by itself what it may answer."""
        return bool(list_classes(self.function)) and self.goal.threshold is None

    def scores(self, inputs: Inputs) -> NDArray[np.floating[Any]] | None:
        """What the function says, if these are scores."""
        return read_scores(self.answers(inputs), self.goal, count=len(inputs), source=SOURCE)

    def answers(self, inputs: Inputs) -> ArrayLike:
        """What the function says, in its own words."""
        try:
            return self.function(inputs.frame())
        except SafearError:
            raise
        except RAISED as error:  # whatever a foreign function raises is told in its own words
            raise failed(error) from error


@dataclass(frozen=True, eq=False)
class TableClassifier:
    """Decisions that were looked up beforehand: one truth value per combination of levels, by feature name.

    `scored` has the scores that they rest on, if the table has any; of rows that say it twice, the first.
    """

    names: tuple[str, ...]
    decisions: Mapping[tuple[str, ...], bool]
    scored: Mapping[tuple[str, ...], float] | None = None
    aimed: TableClassifier | None = None  # by the score that plans are made for
    sees_levels: ClassVar[bool] = True

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, problem: Problem) -> TableClassifier:
        """From a table with a column per feature that the classifier sees and one more column with the decision."""
        found = cls._read(frame, problem)
        aimed = replace(problem, goal=problem.goal.aimed)
        return found if problem.goal.aim is None else replace(found, aimed=cls._read(frame, aimed))

    @classmethod
    def _read(cls, frame: pd.DataFrame, problem: Problem) -> TableClassifier:
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
        goal, source, heard = problem.goal, "the table of decisions", Vocabulary()
        decisions = read_decisions(column, goal, count=len(frame), source=source, vocabulary=heard)
        heard.require_favourable(goal.favourable or "", source)
        keys = list(zip(*([label_name(value) for value in frame[name].tolist()] for name in names), strict=True))
        result: dict[tuple[str, ...], bool] = {}
        for key, decision in zip(keys, decisions.tolist(), strict=True):
            if result.setdefault(key, decision) != decision:
                where = ", ".join(f"{name} = {level}" for name, level in zip(names, key, strict=True))
                cause = f"the table of decisions contradicts itself at {where}"
                raise ClassifierError.at(("classifier",), cause, code="contradiction")
        scores = read_scores(column, goal, count=len(frame), source=source)
        scored = None if scores is None else dict(zip(reversed(keys), reversed(scores.tolist()), strict=True))
        return cls(names, result, scored)

    def scores(self, inputs: Inputs) -> NDArray[np.float64] | None:
        """The score of each input; None if the table has none."""
        if self.scored is None:
            return None
        rows = (inputs.levels(row) for row in range(len(inputs)))
        return np.array([self.scored[tuple(levels[name] for name in self.names)] for levels in rows])

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


def list_classes(model: object) -> list[object]:
    """What a model says that it may answer; empty if it does not say."""
    found = getattr(model, "classes_", None)
    return [] if found is None else list(np.atleast_1d(np.asarray(found)).tolist())


@takes(problem=PROBLEM)
def as_classifier(source: object, problem: Problem, *, time_limit: float | None = None) -> Classifier:
    """Whatever was given as a classifier for a problem; None is the problem's own rule.

    `time_limit` is how many seconds a model or a function may take for a question. It is then asked in a thread of its
    own.
    """
    classifier = _read_source(source, problem, time_limit)
    if problem.goal.aim is not None and not _has_aim(classifier):
        cause = f"{type(classifier).__name__} gives decisions, and an aim needs scores"
        remedy = "drop the aim, or give a model or a table that has scores"
        raise ClassifierError.at(("goal", "aim"), cause, remedy, code="no_probabilities")
    return classifier


def _has_aim(classifier: Classifier) -> bool:
    """Whether it can be asked for more than a favourable decision."""
    if isinstance(classifier, SeveralClassifiers):
        return all(map(_has_aim, classifier.members))
    return getattr(classifier, "aimed", None) is not None


def _has(source: object, name: str) -> bool:
    """Whether an object has an attribute; one of somebody's own may fail at that question."""
    try:
        return hasattr(source, name)
    except RAISED as error:
        raise failed(error) from error


def _read_source(source: object, problem: Problem, time_limit: float | None) -> Classifier:
    if source is None:
        if problem.rule is None:
            remedy = "give a classifier, or write 'classifier: {rule: ...}' into the problem"
            cause = "the problem has no rule, and no classifier was given"
            raise ClassifierError.at(("classifier",), cause, remedy, code="missing")
        return RuleClassifier(problem.rule)
    if _has(source, "columns") and _has(source, "to_numpy"):  # first: its columns may have any name
        return TableClassifier.from_frame(source, problem)  # type: ignore[arg-type]  # a DataFrame, by its marks
    if isinstance(source, Classifier):
        return source
    if isinstance(source, list | tuple) and source:
        members = tuple(as_classifier(part, problem, time_limit=time_limit) for part in source)
        several = SeveralClassifiers(members, problem.goal.agree)
        _require_names(several, problem)
        return several
    if hasattr(source, "predict"):
        return _as_model(source, problem, time_limit)
    if callable(source):
        return FunctionClassifier(source, problem.goal, time_limit)
    cause = f"an object of type {type(source).__name__} is not a classifier"
    remedy = "give a model with 'predict', a function, a table, or a list of them"
    raise ClassifierError.at(("classifier",), cause, remedy, code="wrong_type")


def _as_model(model: Any, problem: Problem, time_limit: float | None) -> ModelClassifier:
    """A model for a problem. What may be amiss between the two is said once for each model."""
    shown = [feature.name for feature in problem.features if feature.seen_by_classifier]
    shown += [name for name in problem.given if name not in problem.feature_by_name]
    classifier = ModelClassifier(model, problem.goal, tuple(shown), time_limit)
    unlearned = list(unlearned_levels(classifier.columns, problem.features))
    if any(none_known for none_known, _ in unlearned):
        raise ClassifierError([found for _, found in unlearned])
    if classifier.wanted is None and len(shown) > 1:
        tell_once(model, f"The classifier knows no names of columns. It gets them in this order: {quote_list(shown)}")
    for _, found in unlearned:
        tell_once(model, str(found))
    return classifier


def knows_names(classifier: Classifier) -> bool:
    """Whether no model in it knows its columns by their places alone."""
    if isinstance(classifier, SeveralClassifiers):
        return all(knows_names(member) for member in classifier.members)
    return not isinstance(classifier, ModelClassifier) or classifier.columns.names is not None


def _require_names(several: SeveralClassifiers, problem: Problem) -> None:
    """Refuse models that know columns by their places, if other models of the list bring columns of their own."""
    brought = [] if problem.given else [name for name in several.wanted or () if name not in problem.feature_by_name]
    if brought and not knows_names(several):
        cause = f"a model of the list knows no names of its columns, and others bring {quote_list(brought)}"
        remedy = "train it on a DataFrame, or write the columns of all of them, in its order, as 'given: [...]'"
        raise ClassifierError.at(("classifier",), cause, remedy, code="no_names")


def tell_once(model: Any, text: str, *, about: str | None = None) -> None:
    """Say something about a model, once for each text or what it is `about`. Some cannot be remembered: always new."""
    try:
        told = _told.setdefault(model, set())
    except TypeError:
        told = set()
    if (about or text) not in told:
        told.add(about or text)
        logger.warning("%s", text, extra={"about": about or text})


def told_of_models() -> set[str]:
    """What was said about models so far, or what it was about."""
    return {about for told in list(_told.values()) for about in told}
