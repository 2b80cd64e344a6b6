"""Columns reach a model by name, in its order and of its types, whatever form they come in."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import safear as sa
from doors import ColumnType, arrange, ask, read_columns
from heavy import require
from safear.classifier import Inputs, ModelClassifier
from safear.errors import ClassifierError
from safear.problem import Feature, Goal
from trained_models import LGBM, MODELS, XGB, applications, ask_directly, granted, trained

LEVELS = {"purpose": ["car", "radio", "house"], "phone": ["false", "true"], "stage": ["1", "2", "3"]}
every_model = pytest.mark.parametrize("name", MODELS)


def make_problem(*, levels: dict[str, list[str]] | None = None, swapped: bool = False, **goal: object) -> sa.Problem:
    """Levels for what can change; amount and housing are given as filed."""
    features: dict[str, dict[str, object]] = {
        name: {"kind": "nominal", "levels": values} for name, values in (LEVELS if levels is None else levels).items()
    }
    features["duration"] = {"kind": "numeric", "edges": [24], "values": [12, 36]}
    action = {"cost": 1, "change": {"duration": "-1"}}
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 1,
            "features": dict(reversed(features.items())) if swapped else features,
            "goal": goal,
            "actions": {"shorten": action},
        }
    )


def filed(frame: pd.DataFrame, problem: sa.Problem, *, swapped: bool = False) -> Inputs:
    """Records as inputs: names of levels, raw numbers, and the rest as objects, as a file or a form gives them."""
    codes = [
        [feature.levels.index(str(value).lower()) for value in frame[feature.name].tolist()]
        if feature.name in LEVELS
        else [0] * len(frame)
        for feature in problem.features
    ]
    given = frame[["credit amount", "housing"]].astype(object).assign(customer=range(len(frame)))
    given = given.where(given.notna(), None)
    given = given[given.columns[::-1]] if swapped else given
    numbers = {"duration": frame["duration"].to_numpy(dtype=float)}
    return Inputs(problem.features, np.array(codes, dtype=np.int16).T, numbers, given)


@every_model
@pytest.mark.parametrize("swapped", [False, True])
def test_a_model_decides_through_us_as_it_decides_directly(name: str, swapped: bool) -> None:
    """Whatever the order of columns, with missing values, names of levels for truth values and numbers."""
    frame = applications(200, seed=7)
    if name.startswith("CatBoost"):
        frame = MODELS[name][0](frame)  # it accepts no category that is missing
    problem = make_problem(swapped=swapped)
    answers = ask(sa.as_classifier(trained(name), problem), filed(frame, problem, swapped=swapped)).tolist()
    assert answers == ask_directly(name, frame)
    assert 50 < sum(answers) < 150


@every_model
def test_one_at_a_time_people_get_the_same_decisions(name: str) -> None:
    """Also where all that is known of a column is that its only value is missing."""
    frame, problem = applications(20, seed=12), make_problem()
    frame = MODELS[name][0](frame)[list(frame)] if name.startswith("CatBoost") else frame
    classifier = sa.as_classifier(trained(name), problem)
    answers = [bool(ask(classifier, filed(frame.iloc[[i]], problem))[0]) for i in range(len(frame))]
    assert frame.isna().sum().sum() > 1
    assert answers == ask_directly(name, frame)


@every_model
def test_a_model_says_which_columns_it_wants(name: str) -> None:
    """LightGBM writes spaces as underscores; the problem's own name is found again if it names the column."""
    wanted = sa.as_classifier(trained(name), make_problem()).wanted  # type: ignore[attr-defined]
    alone = name in {"LightGBM", "LightGBM booster", "calibrated LightGBM"}
    names = list(applications(1, seed=0).columns)
    assert [column.replace(" ", "_") for column in wanted] == [column.replace(" ", "_") for column in names]
    assert wanted[3] == ("credit_amount" if alone else "credit amount")
    given = ModelClassifier(trained(name), make_problem().goal, ("credit amount", "housing"))
    assert given.wanted == tuple(names)


def test_thresholds_of_models_that_give_chances_only() -> None:
    frame = applications(200, seed=8)
    for name in ("LightGBM", "XGBoost"):
        chances = trained(name).predict_proba(MODELS[name][0](frame))[:, 1]
        for goal, expected in (
            ({"threshold": 0.7}, chances >= 0.7),
            ({"favourable": "True", "threshold": 0.2}, chances >= 0.2),
            ({"favourable": "1"}, chances >= 0.5),
            ({"favourable": "0"}, 1 - chances >= 0.5),
        ):
            problem = make_problem(**goal)
            classifier = sa.as_classifier(trained(f"{name} booster"), problem)
            assert ask(classifier, filed(frame, problem)).tolist() == expected.tolist()


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
def test_a_booster_has_no_names_for_classes(library: str) -> None:
    problem = make_problem(favourable="granted")
    with pytest.raises(ClassifierError) as refused:
        ask(sa.as_classifier(trained(f"{library} booster"), problem), filed(applications(5, seed=8), problem))
    assert str(refused.value) == (
        "goal.favourable: Booster has no names for its classes, so 'granted' is none\n"
        "    write 'favourable: 1' if it gives the chance of the favourable decision, else 'favourable: 0'"
    )


def test_a_booster_without_probabilities() -> None:
    frame = applications(100, seed=8, gaps=False)[["duration"]]
    booster = xgboost.train(
        {"objective": "binary:logitraw"}, xgboost.DMatrix(frame, granted(applications(100, seed=8)))
    )
    with pytest.raises(ClassifierError, match="Booster answered with numbers that are no probabilities"):
        ask(sa.as_classifier(booster, make_problem()), filed(applications(100, seed=8), make_problem()))


# --------------------------------------------------------------------------------------------------------- conversions


@pytest.mark.parametrize(
    "values, given, expected",
    [
        ((0, 1, 2), ["0", "1", "2.0", 1.0, True], [0, 1, 2, 1, 1]),
        ((0.5, 1.0), ["0.50", "1", 1], [0.5, 1.0, 1.0]),
        ((False, True), ["false", "True", 1, "0"], [False, True, True, False]),
        (("1", "2", "x"), [1, 2.0, "x"], ["1", "2", "x"]),
        (("01", "1"), ["01", "1", 1, 1.0], ["01", "1", "1", "1"]),
        (("True", "False"), [True, "false"], ["True", "False"]),
        (("a", "b"), ["a", "c"], ["a", "c"]),
        ((1, 2), [1, 3, "x"], [1, 3, "x"]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["known", "category"])
def test_values_take_the_form_of_training(
    kind: Any, values: tuple[object, ...], given: list[object], expected: list[object]
) -> None:
    column = ColumnType(kind, values).convert(pd.Series(given, dtype=object))
    assert list(column) == expected
    assert [type(value) for value in np.asarray(column).tolist()] == [type(value) for value in expected]
    if kind == "category":
        assert list(column.categories[: len(values)]) == list(values)


@pytest.mark.parametrize(
    "kind, given, expected",
    [
        (ColumnType("number"), ["1", "2.5", "true", None, 3, np.nan, False], [1, 2.5, 1, np.nan, 3, np.nan, 0]),
        (ColumnType("number"), ["1", "many"], [1.0, "many"]),
        (ColumnType("known", (1, 2, None)), ["1", np.nan, None], [1, None, None]),
        (ColumnType("known", (True, False, np.nan)), ["true", None], [True, np.nan]),
        (ColumnType("known", ("a", "b")), ["a", None], ["a", np.nan]),
        (ColumnType("category", ("a", "b")), ["b", None, np.nan], ["b", np.nan, np.nan]),
        (ColumnType("text"), ["a", 1.0, 2, True], ["a", 1, 2, True]),
        (ColumnType(), ["1", 2, None], ["1", 2, None]),
    ],
    ids=repr,
)
def test_missing_values_stay_missing_as_in_training(kind: ColumnType, given: Any, expected: list[object]) -> None:
    found = list(kind.convert(pd.Series(given, dtype=object)))
    assert len(found) == len(expected)
    for value, wanted in zip(found, expected, strict=True):
        assert value == wanted or value is wanted or (value != value and wanted != wanted)  # noqa: PLR0124


def test_numbers_go_through_untouched() -> None:
    column = pd.Series([1, 2])
    assert ColumnType("number").convert(column) is column


def test_extra_columns_are_left_out_and_missing_ones_told() -> None:
    frame = applications(5, seed=3)
    columns = read_columns(trained("XGBoost"))
    assert list(arrange(frame.assign(customer=1)[[*reversed(frame.columns), "customer"]], columns).columns) == list(
        frame
    )
    with pytest.raises(ClassifierError) as refused:
        arrange(frame.drop(columns="housing").assign(houses="own"), columns)
    assert str(refused.value) == (
        "features: the classifier needs 'housing', which it is not shown\n    did you mean 'houses'?"
    )


# ------------------------------------------------------------------------------------------------------ what is said


def test_a_model_without_names_is_told_about_once(caplog: pytest.LogCaptureFixture) -> None:
    frame = applications(100, seed=2, gaps=False)
    numbers = frame[["duration", "stage"]]
    problem = make_problem(levels={"stage": ["1", "2", "3"]})
    model = DecisionTreeClassifier(random_state=0).fit(frame[["stage", "duration"]].to_numpy(), granted(frame))
    with caplog.at_level(logging.WARNING, "safear"):
        for _ in range(3):
            classifier = sa.as_classifier(model, problem)
    assert caplog.messages == [
        "The classifier knows no names of columns. It gets them in this order: 'stage', 'duration'"
    ]
    assert classifier.wanted is None  # type: ignore[attr-defined]
    codes = np.array([numbers["stage"] - 1, np.zeros(100)], dtype=np.int16).T
    inputs = Inputs(problem.features, codes, {"duration": numbers["duration"].to_numpy(dtype=float)})
    assert ask(classifier, inputs).tolist() == (model.predict(frame[["stage", "duration"]].to_numpy()) == 1).tolist()


def test_a_model_without_names_and_with_one_column_has_an_order(caplog: pytest.LogCaptureFixture) -> None:
    model = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    with caplog.at_level(logging.WARNING, "safear"):
        sa.as_classifier(model, make_problem(levels={}))
    assert not caplog.messages


@pytest.mark.parametrize("name", ["one-hot forest", "LightGBM", "XGBoost", "ordinal gradients"])
def test_levels_that_a_model_has_never_seen_are_told_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    form, train = MODELS[name]
    frame = applications(100, seed=2)
    model = train(form(frame), granted(frame))
    problem = make_problem(levels=LEVELS | {"purpose": ["car", "radios", "house"]})
    with caplog.at_level(logging.WARNING, "safear"):
        for _ in range(2):
            sa.as_classifier(model, problem)
    assert caplog.messages == [
        "features.purpose.levels: the classifier was trained on no 'radios'\n    did you mean 'radio'?"
    ]


@pytest.mark.parametrize("name", ["one-hot forest", "LightGBM", "XGBoost", "ordinal gradients"])
def test_the_level_of_empty_cells_needs_not_be_known(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The model sees the empty cell."""
    form, train = MODELS[name]
    frame = applications(100, seed=2)
    problem = make_problem(levels=LEVELS | {"purpose": ["not given", "car", "radios"]})
    features = [replace(f, missing="not given") if f.name == "purpose" else f for f in problem.features]
    with caplog.at_level(logging.WARNING, "safear"):
        sa.as_classifier(train(form(frame), granted(frame)), replace(problem, features=tuple(features)))
    assert [message.partition("\n")[0] for message in caplog.messages] == [
        "features.purpose.levels: the classifier was trained on no 'radios'"
    ]


@pytest.mark.parametrize("name", ["one-hot forest", "LightGBM", "XGBoost", "ordinal gradients"])
def test_levels_of_which_a_model_has_seen_none_are_a_mistake(name: str) -> None:
    problem = make_problem(levels=LEVELS | {"purpose": ["Auto", "Haus"]})
    with pytest.raises(ClassifierError) as refused:
        sa.as_classifier(trained(name), problem)
    assert str(refused.value) == (
        "features.purpose.levels: the classifier was trained on no 'Auto', 'Haus'\n"
        "    possible: 'car', 'house', 'radio'"
    )


@pytest.mark.parametrize("name", ["one-hot forest", "LightGBM", "ordinal gradients"])  # XGBoost refuses them itself
def test_values_as_filed_that_a_model_has_never_seen_are_told_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """What is missing is no such value, nor is a customer number, of which the model knows nothing."""
    form, train = MODELS[name]
    frame = applications(100, seed=2)
    problem = make_problem()
    classifier = sa.as_classifier(train(form(frame), granted(frame)), problem)
    known = frame["housing"].dropna().unique().tolist()
    strange = frame.assign(housing=frame["housing"].where(frame["housing"] != known[0], "tent"))
    with caplog.at_level(logging.WARNING, "safear"):
        ask(classifier, filed(frame, problem))
        assert not caplog.messages
        for _ in range(2):
            ask(classifier, filed(strange, problem))
    assert [message.partition("\n")[0] for message in caplog.messages] == [
        "housing: the classifier was trained on no 'tent'"
    ]


@pytest.mark.parametrize(
    "spelled", [bool, int, str, lambda value: str(value).lower()], ids=["bool", "int", "True", "true"]
)
@pytest.mark.parametrize("levels", [["false", "true"], ["False", "True"]], ids=["lower", "upper"])
@pytest.mark.parametrize("people", [1, 60])
def test_catboost_gets_truth_values_as_in_training(spelled: Any, levels: list[str], people: int) -> None:
    """It keeps no list of categories, and decides without a word on those that it has never seen."""
    frame = applications(200, seed=2)
    phone = frame["phone"].to_numpy(dtype=bool)
    table = frame[["duration"]].assign(phone=[spelled(value) for value in phone.tolist()])
    model = (
        require("catboost")
        .CatBoostClassifier(iterations=20, verbose=0, allow_writing_files=False, cat_features=["phone"], thread_count=1)
        .fit(table, (phone ^ (frame["duration"] > 40)).astype(int))
    )
    directly = np.asarray(model.predict(table)).astype(bool)
    assert 20 < directly.sum() < 180
    problem = make_problem(levels={"phone": levels})
    codes = np.stack([phone if name == "phone" else np.zeros(200) for name in problem.feature_by_name], axis=1)
    for start in range(0, 3 * people, people):
        rows = slice(start, start + people)
        numbers = {"duration": frame["duration"].to_numpy(dtype=float)[rows]}
        inputs = Inputs(problem.features, codes[rows].astype(np.int16), numbers)
        assert ask(sa.as_classifier(model, problem), inputs).tolist() == directly[rows].tolist()


class Spelling:
    """A model of CatBoost, as far as is needed, with one column, in which it was shown True and False as texts."""

    __module__ = "catboost"
    classes_ = (0, 1)

    def __init__(self, column: str) -> None:
        self.feature_names_ = [column]

    def get_cat_feature_indices(self) -> list[int]:
        return [0]

    def get_text_feature_indices(self) -> list[int]:
        return []

    def get_borders(self) -> dict[int, list[float]]:
        return {}

    def predict(self, table: pd.DataFrame, prediction_type: str = "Class") -> Any:
        truths = (table[self.feature_names_[0]] == "True").to_numpy(int)
        return np.stack([1 - truths, truths], axis=1) if prediction_type == "Probability" else truths


@pytest.mark.parametrize("column", ["phone", "self"])
def test_the_spelling_of_truth_values_is_found_out_whatever_the_column_is_called(column: str) -> None:
    classifier = ModelClassifier(Spelling(column), Goal(favourable="1"))
    features = (Feature(column, "nominal", ("false", "true")),)
    assert classifier.favourable(Inputs(features, np.array([[0], [1]], np.int16))).tolist() == [False, True]


def test_ordered_categories_of_lightgbm_are_refused() -> None:
    """It keeps their lists, but not to which columns they belong."""
    frame = applications(100, seed=2)[["duration", "purpose"]]
    frame["purpose"] = pd.Categorical(frame["purpose"], ordered=True)
    model = lightgbm.LGBMClassifier(**LGBM).fit(frame, granted(applications(100, seed=2)))
    with pytest.raises(ClassifierError, match="does not say to which columns"):
        sa.as_classifier(model, make_problem())


@pytest.mark.parametrize("purposes", [["car", "Möbel", "tv"], ["a", "b", "é"], ["é", "b", "c"]], ids=str)
@pytest.mark.parametrize("form", ["estimator", "booster", "model.json", "model.ubj"])
def test_categories_that_xgboost_garbles_are_refused(purposes: list[str], form: str, tmp_path: Path) -> None:
    """It counts characters and keeps bytes. Read as it keeps them, 'tv' is lost, and people are decided wrongly."""
    frame = applications(99, seed=2)[["duration", "purpose"]]
    frame["purpose"] = pd.Categorical(purposes * 33, categories=purposes)
    model = xgboost.XGBClassifier(enable_categorical=True, **XGB).fit(frame, np.arange(99) % 3 == 2)
    model.save_model(tmp_path / "model.json")
    model.save_model(tmp_path / "model.ubj")
    read = {
        "estimator": lambda: sa.as_classifier(model, make_problem()),
        "booster": lambda: sa.as_classifier(model.get_booster(), make_problem()),
    }
    with pytest.raises(ClassifierError) as refused:
        read.get(form, lambda: sa.load_classifier(str(tmp_path / form), make_problem()))()
    told = refused.value.mistakes[0]
    assert (told.code, str(told.place)) == ("garbled_categories", "classifier")
    assert "'purpose'" in told.cause
    assert told.remedy


def test_a_pipeline_whose_model_decides_the_same_for_all() -> None:
    """Its strategy has the name of one that fills gaps."""
    table = pd.DataFrame({"home": ["rent", "own"]})
    model = make_pipeline(OneHotEncoder(), DummyClassifier(strategy="most_frequent")).fit(table, ["no", "no"])
    assert read_columns(model).names == ("home",)
    with pytest.raises(ClassifierError, match="accepts all 2 people"):
        sa.draft_problem(table, model, change=["home"], favourable="no")


def test_a_model_that_was_not_trained_says_so() -> None:
    for model in (lightgbm.LGBMClassifier(), xgboost.XGBClassifier(**XGB)):
        with pytest.raises(ClassifierError, match="fit"):
            sa.as_classifier(model, make_problem())
