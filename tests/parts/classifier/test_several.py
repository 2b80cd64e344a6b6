"""Several models that must agree: what people want of plans that survive the next model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from doors import SeveralClassifiers, ask, ask_scores, find_aimed
from parts.classifier.test_columns import filed, make_problem
from safear.classifier import Inputs
from safear.errors import ClassifierError
from trained_models import applications, ask_directly, trained

MODELS = ["one-hot forest", "LightGBM", "XGBoost booster"]


@pytest.mark.parametrize("make", [list, tuple])
@pytest.mark.parametrize("agree, needed", [(1.0, 3), (0.6, 2), (2 / 3, 2), (0.3, 1)])
def test_the_first_decides_and_plans_are_made_for_what_enough_accept(make: Any, agree: float, needed: int) -> None:
    frame, problem = applications(300, seed=7), make_problem()
    problem = replace(problem, goal=replace(problem.goal, agree=agree))
    classifier = sa.as_classifier(make(trained(name) for name in MODELS), problem)
    alone = np.array([ask_directly(name, frame) for name in MODELS])
    assert ask(classifier, filed(frame, problem)).tolist() == alone[0].tolist()
    agreed = alone[0] & (alone.sum(axis=0) >= needed)
    assert ask(find_aimed(classifier), filed(frame, problem)).tolist() == agreed.tolist()
    assert len({tuple(answers) for answers in alone.tolist()}) == 3, "they differ"


@pytest.mark.parametrize("threshold", [0.35, 0.55, 0.85])
@pytest.mark.parametrize("agree", [None, 1.0, 0.6, 0.3])
def test_scores_decide(threshold: float, agree: float | None) -> None:
    """Of one model or of several that must agree: enough of a score is a favourable decision, and nothing else is."""
    frame, problem = applications(300, seed=7), make_problem()
    problem = replace(problem, goal=replace(problem.goal, threshold=threshold, agree=agree or 1.0))
    models = [trained(name) for name in MODELS]
    for source in models if agree is None else [models]:
        classifier, inputs = find_aimed(sa.as_classifier(source, problem)), filed(frame, problem)
        scores = ask_scores(classifier, inputs)
        assert scores is not None
        assert (scores >= threshold).tolist() == ask(classifier, inputs).tolist()


def test_no_scores_if_one_has_none() -> None:
    problem = sa.load_example("loan")
    several = sa.as_classifier([None, lambda frame: np.full(len(frame), 0.7)], problem)
    inputs = Inputs(problem.features, np.zeros((2, len(problem.features)), dtype=np.int16))
    assert ask_scores(find_aimed(several), inputs) is None
    assert ask_scores(several.members[1], inputs).tolist() == [0.7, 0.7]  # type: ignore[attr-defined, union-attr]


def test_models_functions_and_rules_in_one_list() -> None:
    problem = sa.load_example("loan")
    rule = sa.compile_mdp(problem).goal
    both = sa.compile_mdp(problem, [sa.as_classifier(None, problem), lambda frame: frame["savings"] == "rich"])
    people = [both.person(state) for state in range(both.n_states)]
    expected = [bool(goal) and person["savings"] == "rich" for goal, person in zip(rule, people, strict=True)]
    assert both.goal.tolist() == expected
    assert 0 < sum(expected) < rule.sum()


def test_the_columns_of_all_are_wanted_and_splits_are_those_of_all() -> None:
    frame, problem = applications(5, seed=7), make_problem()
    parts: list[Any] = [sa.as_classifier(trained(name), problem) for name in MODELS]
    classifier, sample = SeveralClassifiers(tuple(parts)), filed(frame, problem).frame()
    assert set(classifier.wanted or ()) == {name for part in parts for name in part.wanted}
    found = classifier.splits(sample)
    assert found is not None
    for column in ("duration", "credit amount"):
        every = np.unique(np.concatenate([part.splits(sample)[column] for part in parts]))
        assert np.array_equal(found[column], every)  # type: ignore[arg-type]  # known of all


@pytest.mark.parametrize("name", ["one-hot, scaled", None], ids=["linear", "a function"])
def test_splits_are_not_known_if_those_of_one_are_not(name: str | None) -> None:
    other = trained(name) if name else lambda frame: np.zeros(len(frame))
    classifier: Any = sa.as_classifier([trained("LightGBM"), other], make_problem())
    assert classifier.splits(filed(applications(5, seed=7), make_problem()).frame()) is None


def test_tables_see_levels_alone() -> None:
    problem = sa.load_example("loan")
    rule = sa.as_classifier(None, problem)
    assert SeveralClassifiers((rule, rule)).sees_levels
    assert not sa.as_classifier([rule, lambda frame: frame["savings"] == "rich"], problem).sees_levels  # type: ignore[attr-defined]


def test_nonsense_of_one_is_told_once() -> None:
    def broken(frame: pd.DataFrame) -> Any:
        return [float("nan") if savings == "rich" else 0.0 for savings in frame["savings"]]

    with pytest.raises(ClassifierError) as refused:
        sa.compile_mdp(sa.load_example("loan"), [lambda frame: np.ones(len(frame)), broken])
    assert str(refused.value).count("first such input") == 1
    assert "savings = rich" in str(refused.value)


class Bare:
    """A model that was trained on an array of two columns."""

    n_features_in_, classes_ = 2, np.array([0, 1])

    def predict(self, table: Any) -> Any:
        return np.asarray(table)[:, 0] > 1


@pytest.mark.parametrize("nested", [False, True])
def test_a_model_without_names_gets_no_columns_of_others(nested: bool) -> None:
    """It would take them for its own."""
    problem = make_problem()
    parts: list[Any] = [trained("LightGBM"), [Bare()] if nested else Bare()]
    assert set(sa.as_classifier(parts[0], problem).wanted) - set(problem.feature_by_name)  # type: ignore[attr-defined]
    with pytest.raises(ClassifierError) as refused:
        sa.as_classifier(parts, replace(problem, given=()))
    assert refused.value.mistakes[0].code == "no_names"
    assert "a model of the list knows no names of its columns, and others bring '" in str(refused.value)
    sa.as_classifier([Bare(), Bare()], replace(problem, given=()))
