"""Between two neighbouring splits nothing that a model says changes, to the last floating-point number."""

from __future__ import annotations

from functools import cache
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from doors import arrange, find_chances, last_below
from heavy import require
from safear.classifier import ModelClassifier
from safear.problem import Goal
from trained_models import (
    CAT,
    FOREST,
    LGBM,
    MODELS,
    NUMBERS,
    XGB,
    applications,
    granted,
    trained,
)

Floats = NDArray[np.float64]
PEOPLE = applications(5, seed=11)


def negated(frame: Any) -> Any:
    return -frame


def per_month(frame: pd.DataFrame) -> pd.DataFrame:
    return (frame["credit amount"] / frame["duration"]).to_frame("rate")


def for_cars(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["credit amount"]].where(frame[["purpose"]].to_numpy() == "car", 0)


def is_usual(frame: pd.DataFrame) -> pd.DataFrame:
    return ((frame > 2750) & (frame < 2950)).astype(float)


def on_numbers(*steps: Any) -> Any:
    """A forest on prepared numbers alone."""
    return make_pipeline(make_column_transformer((make_pipeline(*steps), NUMBERS)), RandomForestClassifier(**FOREST))


MORE: dict[str, Any] = {
    "one tree": DecisionTreeClassifier(random_state=0),
    "extra trees": ExtraTreesClassifier(**FOREST),
    "gradients": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "bags": BaggingClassifier(DecisionTreeClassifier(max_depth=5), n_estimators=5, max_features=0.7, random_state=0),
    "boosted trees": AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "a stack": StackingClassifier(
        [("a", RandomForestClassifier(**FOREST)), ("b", DecisionTreeClassifier(max_depth=4))]
    ),
    "LightGBM, zero is missing": lightgbm.LGBMClassifier(zero_as_missing=True, **LGBM),
    "LightGBM forest": lightgbm.LGBMClassifier(boosting_type="rf", subsample=0.5, subsample_freq=1, **LGBM),
    "XGBoost, zero is missing": xgboost.XGBClassifier(missing=0.0, **XGB),
    "XGBoost dart": xgboost.XGBClassifier(booster="dart", rate_drop=0.2, **XGB),
    "logarithms": on_numbers(FunctionTransformer(np.log1p), MinMaxScaler()),
    "square roots": on_numbers(FunctionTransformer(np.sqrt)),
    "downwards": on_numbers(FunctionTransformer(negated), StandardScaler()),
    "clipped": on_numbers(RobustScaler(), MinMaxScaler(clip=True)),
    "powers": on_numbers(PowerTransformer()),
    "ranks": on_numbers(QuantileTransformer(n_quantiles=50)),
    "bins": on_numbers(KBinsDiscretizer(8, encode="ordinal", strategy="uniform")),
    "single precision": on_numbers(FunctionTransformer(np.float32)),
    "twice prepared": make_pipeline(StandardScaler(), MinMaxScaler(), RandomForestClassifier(**FOREST)),
}
CATBOOST: dict[str, Any] = {"CatBoost numbers": CAT, "CatBoost depth by depth": CAT | {"grow_policy": "Lossguide"}}
LINEAR = {"one-hot, scaled"}


@cache
def numeric_model(name: str) -> Any:
    """Trained on numbers alone, without gaps."""
    frame = applications(500, seed=5, gaps=False)
    frame.loc[::7, "credit amount"] = 0.0
    model = MORE[name] if name in MORE else require("catboost").CatBoostClassifier(**CATBOOST[name])
    return model.fit(frame[NUMBERS].astype(float), granted(frame))


def chances_of(model: Any, table: pd.DataFrame) -> Floats:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table), dtype=np.float64)[:, 1]
    ask = find_chances(model) or model.predict
    return np.asarray(ask(table), dtype=np.float64)


def check_cells(model: Any, people: pd.DataFrame, least: float = -1e6) -> int:
    """All numbers of a cell give the same: first, last, middle and random ones. How many changes were met."""
    classifier, rng, changes = ModelClassifier(model, Goal()), np.random.default_rng(0), 0
    splits = classifier.splits(people.iloc[[0]])
    assert splits is not None
    for column in NUMBERS:
        found = splits[column]
        assert found is not None
        assert (np.diff(found) > 0).all()
        inside = found[(found > least) & (found < 1e6)]
        ends = np.concatenate([[least], inside, [1e6]])
        first, last = np.nextafter(ends[:-1], np.inf), ends[1:]
        points = np.concatenate([first, last, (first + last) / 2, rng.uniform(0, 80, 200), rng.lognormal(8, 1, 200)])
        cell = np.searchsorted(found, points)  # a split belongs to the cell below it
        for person in range(len(people)):
            rows = people.iloc[np.full(len(points), person)].assign(**{column: points}).reset_index(drop=True)
            chances = chances_of(model, arrange(rows, classifier.columns))
            by_cell = pd.Series(chances).groupby(cell)
            assert (by_cell.max() - by_cell.min()).max() < 1e-12
            changes += int((by_cell.first().diff().abs() > 1e-9).sum())
    return changes


@pytest.mark.parametrize("name", [name for name in MODELS if name not in LINEAR])
def test_nothing_changes_inside_a_cell(name: str) -> None:
    people = PEOPLE.assign(housing=PEOPLE["housing"].fillna("unknown")) if name.startswith("CatBoost") else PEOPLE
    assert check_cells(trained(name), people) > 20


@pytest.mark.filterwarnings("ignore:The SAMME.R algorithm")  # of scikit-learn 1.5, which knows no other way
@pytest.mark.parametrize("name", [*MORE, *CATBOOST])
def test_nothing_changes_inside_a_cell_of_numbers_alone(name: str) -> None:
    people = applications(5, seed=11, gaps=False)[NUMBERS].astype(float)
    least = 0.0 if name in {"logarithms", "square roots"} else -1e6
    assert check_cells(numeric_model(name), people, least) > 20


@pytest.mark.parametrize("name", ["one tree", "histograms", "XGBoost dart", "logarithms"])
def test_a_model_without_names_has_splits_by_position(name: str) -> None:
    frame = applications(300, seed=5, gaps=False)
    model = clone(MORE["one tree" if name == "logarithms" else name])
    if name == "logarithms":
        model = make_pipeline(FunctionTransformer(np.log1p), model)
    numbers = frame[NUMBERS].astype(float)
    named = clone(model).fit(numbers, granted(frame))
    nameless = clone(model).fit(numbers.to_numpy(), granted(frame))
    expected = ModelClassifier(named, Goal()).splits(numbers.iloc[[0]])
    found = ModelClassifier(nameless, Goal()).splits(numbers.iloc[[0]])
    assert expected is not None
    assert found is not None
    assert list(found) == NUMBERS
    for column in NUMBERS:
        assert np.array_equal(found[column], expected[column])  # type: ignore[arg-type]


NOT_TREES: dict[str, Any] = {
    "logistic regression": LogisticRegression(),
    "scaled": make_pipeline(StandardScaler(), LogisticRegression()),
    "linear leaves": lightgbm.LGBMClassifier(linear_tree=True, **LGBM),
    "a linear XGBoost": xgboost.XGBClassifier(booster="gblinear", n_estimators=5, n_jobs=1),
    "gradients on a regression": GradientBoostingClassifier(init=LogisticRegression(), n_estimators=3),
    "boosted regressions": AdaBoostClassifier(LogisticRegression(), n_estimators=3),
    "a stack that passes numbers on": StackingClassifier([("a", DecisionTreeClassifier())], passthrough=True),
}


@pytest.mark.filterwarnings("ignore:The SAMME.R algorithm")
@pytest.mark.parametrize("name", NOT_TREES)
def test_other_models_have_no_splits(name: str) -> None:
    frame = applications(300, seed=5, gaps=False)
    model = NOT_TREES[name].fit(frame[NUMBERS].astype(float), granted(frame))
    assert ModelClassifier(model, Goal()).splits(frame[NUMBERS].iloc[[0]]) is None


def prepared(*parts: Any, remainder: str = "drop") -> Any:
    return make_pipeline(make_column_transformer(*parts, remainder=remainder), DecisionTreeClassifier(random_state=0))


@pytest.mark.parametrize(
    "model, known",
    [
        (prepared((PCA(), NUMBERS)), []),
        (prepared((PolynomialFeatures(), ["duration"]), (StandardScaler(), ["credit amount"])), ["credit amount"]),
        (prepared((PolynomialFeatures(interaction_only=True), NUMBERS)), []),
        (prepared((FunctionTransformer(per_month), ["credit amount", "duration", "purpose"])), []),
        (
            prepared((FunctionTransformer(for_cars), ["credit amount", "purpose"]), (OneHotEncoder(), ["purpose"]),
                     ("passthrough", ["duration"])),
            ["duration"],
        ),
        (
            prepared((OneHotEncoder(handle_unknown="ignore"), ["duration"]), ("passthrough", ["credit amount"])),
            ["credit amount"],
        ),
        (prepared((OneHotEncoder(), ["duration"]), ("passthrough", ["credit amount"])), ["credit amount"]),
        (prepared((KBinsDiscretizer(5), ["duration"]), ("passthrough", ["credit amount"])), ["credit amount"]),
        (prepared((FunctionTransformer(np.abs), ["duration"]), (RobustScaler(), ["credit amount"])), NUMBERS[1:]),
        (prepared((FunctionTransformer(is_usual), ["credit amount"]), ("passthrough", ["duration"])), ["duration"]),
    ],
    ids=[
        "mixed",
        "squares",
        "products",
        "a quotient",
        "an amount for a purpose",
        "a number as a name",
        "a number as one of few names",
        "bins as names",
        "up and down",
        "a narrow range",
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_claimed(model: Any, known: list[str]) -> None:
    """A column that does not go through a monotone function of it alone has None; the others have their splits."""
    frame = applications(300, seed=5, gaps=False)
    model.fit(frame, granted(frame))
    splits = ModelClassifier(model, Goal()).splits(frame.iloc[[0]])
    assert splits is not None
    assert [column for column in NUMBERS if splits[column] is not None] == known
    assert all(found is None or len(found) > 3 for found in map(splits.get, NUMBERS))


def test_a_column_that_the_model_does_not_look_at_has_no_splits() -> None:
    frame = applications(300, seed=5, gaps=False)
    model = prepared((StandardScaler(), ["duration"])).fit(frame, granted(frame))
    splits = ModelClassifier(model, Goal()).splits(frame.iloc[[0]])
    assert splits is not None
    assert {column: found is not None and len(found) > 3 for column, found in splits.items()} == {
        "duration": True, "credit amount": False, "stage": False
    }  # fmt: skip


def test_columns_may_have_any_name() -> None:
    frame = pd.DataFrame({"self": np.arange(40.0), "key": np.arange(40.0) % 7})
    splits = ModelClassifier(DecisionTreeClassifier().fit(frame, frame["self"] > 20), Goal()).splits(frame.iloc[[0]])
    assert splits is not None
    assert {name: found is not None and len(found) for name, found in splits.items()} == {"self": 1, "key": 0}


def test_splits_are_found_once() -> None:
    classifier = ModelClassifier(trained("one-hot forest"), Goal())
    assert classifier.splits(PEOPLE.iloc[[0]]) is classifier.splits(PEOPLE.iloc[[1]])


@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=20), st.booleans(), st.booleans())
def test_the_last_number_below_a_threshold(thresholds: list[float], single: bool, strict: bool) -> None:
    """By its meaning: it is below, and the next number is not."""
    limits = np.array(thresholds)
    found = last_below(limits, single=single, strict=strict, unique=False)

    def is_below(numbers: Floats) -> NDArray[np.bool_]:
        seen = numbers.astype(np.float32).astype(np.float64) if single else numbers
        return np.asarray(seen < limits if strict else seen <= limits)

    assert is_below(found).all()
    assert not is_below(np.nextafter(found, np.inf)).any()
