"""Models of all kinds, trained on the same raw applications, for the tests of columns and splits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder
from threadpoolctl import threadpool_limits

from heavy import require

threadpool_limits(limits=1)  # the models are small: threads would only wait for each other

NUMBERS = ["duration", "credit amount"]
NAMED = ["purpose", "phone", "stage", "housing"]  # texts, truth values, whole numbers, texts


def applications(count: int, seed: int, *, gaps: bool = True) -> pd.DataFrame:
    """Raw records: `duration` in whole months; gaps in the amount and in the housing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "purpose": rng.choice(["car", "radio", "house"], count),
            "duration": rng.integers(4, 72, count),
            "phone": rng.random(count) < 0.5,
            "credit amount": np.round(rng.lognormal(8, 1, count), 2),
            "stage": rng.integers(1, 4, count),
            "housing": rng.choice(["own", "rent", "free"], count).astype(object),
        }
    )
    if gaps:
        frame["credit amount"] = frame["credit amount"].mask(rng.random(count) < 0.15)
        frame["housing"] = frame["housing"].mask(rng.random(count) < 0.15, np.nan)
    return frame


def granted(frame: pd.DataFrame) -> pd.Series[int]:
    """What the models are to learn: every column counts."""
    score = 20 - frame["duration"] / 3 - frame["credit amount"].fillna(3000) / 400 + 6 * frame["phone"]
    score += frame["purpose"].map({"car": 0, "radio": 4, "house": -4}) + 3 * frame["stage"]
    score += frame["housing"].map({"own": 4, "rent": -3, "free": 0}).fillna(6)
    return (score > 8).astype(int)


def as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """With names, truth values and whole numbers as categories of pandas."""
    return frame.astype({"purpose": "category", "phone": "bool", "stage": "category", "housing": "category"})


def without_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """CatBoost wants a name for a category that is missing."""
    return frame.assign(housing=frame["housing"].fillna("unknown"))


def as_it_is(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def filled(*steps: Any, encoder: Any) -> Any:
    """A pipeline that encodes names, fills gaps in numbers and passes them through `steps`."""
    numbers = make_pipeline(SimpleImputer(), *steps)
    return make_column_transformer((encoder, NAMED), (numbers, NUMBERS))


def one_hot(last: Any, *steps: Any) -> Any:
    return make_pipeline(filled(*steps, encoder=OneHotEncoder(handle_unknown="ignore")), last)


def ordinal(last: Any) -> Any:
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(filled(encoder=encoder), last)


def imputed(last: Any) -> Any:
    """Names go through an imputer first, numbers as they are."""
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    return make_pipeline(make_column_transformer((names, ["purpose", "housing"]), remainder="passthrough"), last)


LGBM: dict[str, Any] = {"n_estimators": 20, "verbose": -1, "n_jobs": 1, "random_state": 0, "min_child_samples": 5}
XGB: dict[str, Any] = {"n_estimators": 20, "n_jobs": 1, "random_state": 0, "max_depth": 4}
CAT: dict[str, Any] = {"iterations": 20, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
CAT_COLUMNS = ["purpose", "stage", "housing"]
FOREST: dict[str, Any] = {"n_estimators": 10, "random_state": 0}


def lightgbm_booster(frame: pd.DataFrame, answers: pd.Series[int]) -> Any:
    model = lightgbm.LGBMClassifier(**LGBM).fit(frame, answers)
    return lightgbm.Booster(model_str=model.booster_.model_to_string())


def xgboost_booster(frame: pd.DataFrame, answers: pd.Series[int]) -> Any:
    return xgboost.XGBClassifier(enable_categorical=True, **XGB).fit(frame, answers).get_booster()


def catboost_model(frame: pd.DataFrame, answers: pd.Series[int]) -> Any:
    options = CAT | {"loss_function": "Logloss", "cat_features": CAT_COLUMNS}
    return require("catboost").CatBoost(options).fit(frame, answers)


def catboost_classifier(frame: pd.DataFrame, answers: pd.Series[int]) -> Any:
    return require("catboost").CatBoostClassifier(cat_features=CAT_COLUMNS, **CAT).fit(frame, answers)


Form = Callable[[pd.DataFrame], pd.DataFrame]
Train = Callable[[pd.DataFrame, "pd.Series[int]"], Any]


def fit(model: Any) -> Train:
    def train(frame: pd.DataFrame, answers: pd.Series[int]) -> Any:
        return clone(model).fit(frame, answers)

    return train


MODELS: dict[str, tuple[Form, Train]] = {
    "one-hot forest": (as_it_is, fit(one_hot(RandomForestClassifier(**FOREST)))),
    "one-hot, scaled": (as_it_is, fit(one_hot(LogisticRegression(max_iter=500), StandardScaler()))),
    "one-hot LightGBM": (as_it_is, fit(one_hot(lightgbm.LGBMClassifier(**LGBM), StandardScaler()))),
    "one-hot XGBoost": (as_it_is, fit(one_hot(xgboost.XGBClassifier(**XGB), StandardScaler()))),
    "ordinal gradients": (as_it_is, fit(ordinal(HistGradientBoostingClassifier(max_iter=20, random_state=0)))),
    "imputed names": (as_it_is, fit(imputed(HistGradientBoostingClassifier(max_iter=20, random_state=0)))),
    "target encoder": (
        as_it_is,
        fit(make_pipeline(filled(encoder=TargetEncoder(cv=3)), RandomForestClassifier(**FOREST))),
    ),
    "native gradients": (
        as_categories,
        fit(HistGradientBoostingClassifier(max_iter=20, random_state=0, categorical_features="from_dtype")),
    ),
    "LightGBM": (as_categories, fit(lightgbm.LGBMClassifier(**LGBM))),
    "LightGBM booster": (as_categories, lightgbm_booster),
    "XGBoost": (as_categories, fit(xgboost.XGBClassifier(enable_categorical=True, **XGB))),
    "XGBoost booster": (as_categories, xgboost_booster),
    "CatBoost": (without_gaps, catboost_classifier),
    "CatBoost without labels": (without_gaps, catboost_model),
    "calibrated LightGBM": (as_categories, fit(CalibratedClassifierCV(lightgbm.LGBMClassifier(**LGBM), cv=2))),
    "searched": (
        as_it_is,
        fit(GridSearchCV(one_hot(RandomForestClassifier(**FOREST)), {"randomforestclassifier__max_depth": [4]}, cv=2)),
    ),
    "a vote": (
        as_it_is,
        fit(
            VotingClassifier(
                [("a", one_hot(RandomForestClassifier(**FOREST))), ("b", one_hot(lightgbm.LGBMClassifier(**LGBM)))],
                voting="soft",
            )
        ),
    ),
}


@cache
def trained(name: str) -> Any:
    """A model by its name, trained."""
    form, train = MODELS[name]
    frame = applications(600, seed=1)
    return train(form(frame), granted(frame))


def ask_directly(name: str, frame: pd.DataFrame) -> list[bool]:
    """What a model says of raw records, asked in its own way."""
    model, table = trained(name), MODELS[name][0](frame)
    match name:
        case "XGBoost booster":
            chances = model.predict(xgboost.DMatrix(table, enable_categorical=True))
        case "CatBoost without labels":
            chances = model.predict(table, prediction_type="Probability")[:, 1]
        case "LightGBM booster":
            chances = model.predict(table)
        case _:
            return [bool(answer) for answer in model.predict(table)]
    return [bool(chance >= 0.5) for chance in chances]
