"""What LightGBM, XGBoost and CatBoost say about their models, and how a model without labels is asked for chances."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from safear.classifier.column_types import NUMBER, TEXT, ColumnType
from safear.errors import ClassifierError

if TYPE_CHECKING:
    import pandas as pd

Library = Literal["lightgbm", "xgboost", "catboost"]
LIBRARIES: tuple[Library, ...] = ("lightgbm", "xgboost", "catboost")
TRUTHS = ((True, False), ("True", "False"), ("true", "false"))  # how categories spell them
PROBES = 1000  # inputs with which a spelling is tried


def library_of(model: Any) -> Library | None:
    """Which of the three a model, or a class that it extends, comes from."""
    homes = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    return next((library for library in LIBRARIES if library in homes), None)


def booster_of(model: Any) -> Any:
    """What LightGBM and XGBoost call the model behind an estimator."""
    if library_of(model) == "lightgbm":
        return model.booster_ if hasattr(type(model), "booster_") else model
    return model.get_booster() if hasattr(model, "get_booster") else model


def read_names(model: Any) -> tuple[str, ...] | None:
    """The names of the columns in training; None if it had none, for which the libraries make names up."""
    match library_of(model):
        case "lightgbm":
            names, made_up = booster_of(model).feature_name(), "Column_{}"
        case "xgboost":
            names, made_up = booster_of(model).feature_names, ""
        case _:
            names, made_up = model.feature_names_, "{}"
    if not names or list(names) == [made_up.format(i) for i in range(len(names))]:
        return None
    return tuple(names)


def width_of(model: Any) -> int:
    """How many columns a model was trained on."""
    match library_of(model):
        case "lightgbm":
            return int(booster_of(model).num_feature())
        case "xgboost":
            return int(booster_of(model).num_features())
    return len(model.feature_names_ or ())


def read_types(model: Any) -> list[ColumnType]:
    """What each column was trained on."""
    types = [NUMBER] * width_of(model)
    match library_of(model):
        case "lightgbm":
            found = _lightgbm_categories(booster_of(model))
        case "xgboost":
            found = _xgboost_categories(booster_of(model))
        case _:
            found = dict.fromkeys([*model.get_cat_feature_indices(), *model.get_text_feature_indices()], TEXT)
    for place, kind in found.items():
        types[place] = kind
    return types


def _lightgbm_categories(booster: Any) -> dict[int, ColumnType]:
    """It keeps the lists of categories in the order of the columns, and which columns are unordered categories."""
    categories = booster.pandas_categorical or []
    places = booster.params.get("categorical_column")  # after training; a model from a file says it in words
    if categories and not isinstance(places, list):
        found = re.search(r"\[categorical_feature: ([\d,]+)\]", booster.model_to_string(num_iteration=1))
        places = [int(place) for place in found[1].split(",")] if found else []
    if categories and len(places) != len(categories):
        cause = "LightGBM does not say to which columns of the classifier its lists of categories belong"
        remedy = "train it with unordered categories of pandas alone, or in a pipeline with an encoder"
        raise ClassifierError.at(("classifier",), cause, remedy, code="unknown_categories")
    known = (ColumnType("category", tuple(values)) for values in categories)
    return dict(zip(places, known, strict=True)) if categories else {}


def _xgboost_categories(booster: Any) -> dict[int, ColumnType]:
    places = [place for place, kind in enumerate(booster.feature_types or ()) if kind == "c"]
    if not places:
        return {}
    learner = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    kept = learner.get("gbtree", learner).get("model", {}).get("cats", {}).get("enc", [])
    if len(kept) <= max(places):
        cause = "this version of XGBoost does not keep the categories of the classifier, only their numbers"
        remedy = "train it with XGBoost 3.1 or later, or in a pipeline with an encoder"
        raise ClassifierError.at(("classifier",), cause, remedy, code="unknown_categories")
    names = booster.feature_names or [f"number {place + 1}" for place in range(len(kept))]
    return {place: ColumnType("category", _xgboost_values(kept[place], names[place])) for place in places}


def _xgboost_values(kept: dict[str, Any], column: str) -> tuple[object, ...]:
    """Numbers as they are; texts as bytes, one after the other.

    Of pandas' categories XGBoost keeps as many bytes of UTF-8 as the texts have characters, and counts where each ends
    in characters: with any beyond ASCII the names are cut wrongly, and the last ones are lost. The first such character
    still begins within what is kept, so that none is overlooked.
    """
    if "offsets" not in kept:
        return tuple(kept["values"])
    whole, ends = bytes(value % 256 for value in kept["values"]), kept["offsets"]
    if not whole.isascii():
        cause = f"XGBoost garbles categories with letters beyond ASCII (such as ä or é); the column '{column}' has some"
        remedy = "train it on categories that are spelled in ASCII (ae, e), or in a pipeline with an encoder"
        raise ClassifierError.at(("classifier",), cause, remedy, code="garbled_categories")
    return tuple(whole[start:end].decode() for start, end in pairwise(ends))


def find_truths(model: Any, table: pd.DataFrame, column: str) -> tuple[object, object] | None:
    """How CatBoost was shown true and false in a column of categories; None if that cannot be told.

    It keeps no list of categories, and to it True is the text 1. Spelled otherwise than in training, both are unknown
    and alike; so the spelling is the one that makes a difference somewhere. The first row of `table` is tried with
    numbers from all over the model.
    """
    rng, rows = np.random.default_rng(0), table.iloc[np.zeros(PROBES, dtype=int)].reset_index(drop=True)
    for place, borders in model.get_borders().items():
        if len(borders):
            rows[table.columns[place]] = rng.choice([*borders, borders[-1] + 1], PROBES)

    def ask(truth: object) -> Any:
        rows[column] = np.full(PROBES, truth, dtype=object)
        return model.predict(rows, prediction_type="RawFormulaVal")

    for truths in TRUTHS:
        yes, no = map(ask, truths)
        if not np.array_equal(yes, no):
            return truths
    return None


def find_chances(model: Any) -> Callable[[Any], Any] | None:
    """For a model that gives numbers where its classifier would give labels: how it gives chances of the class 1."""
    if hasattr(model, "own_chances"):  # one of ours
        own: Callable[[Any], Any] | None = model.own_chances
        return own
    if hasattr(model, "predict_proba"):
        return None
    match library_of(model):
        case "lightgbm" if not hasattr(type(model), "booster_"):
            predict: Callable[[Any], Any] = model.predict
            return predict
        case "xgboost" if not hasattr(model, "get_booster"):
            matrix, rounds = import_module("xgboost").DMatrix, (0, _xgboost_rounds(model))
            return lambda table: model.predict(matrix(table, enable_categorical=True), iteration_range=rounds)
        case "catboost" if len(np.atleast_1d(model.classes_)) == 2:
            return lambda table: model.predict(table, prediction_type="Probability")[:, 1]
    return None


def _xgboost_rounds(booster: Any) -> int:
    """With how many rounds a Booster decides; 0 is all.

    What an estimator has saved decides like the estimator: with the best rounds, if training was stopped early.
    """
    kept = booster.attributes()
    return int(kept["best_iteration"]) + 1 if {"scikit_learn", "best_iteration"} <= kept.keys() else 0
