"""Models in the own formats of LightGBM (.txt), XGBoost (.json, .ubj) and CatBoost (.cbm)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safear.classifier.reading import read_foreign, require_file, require_package, unreadable


def load_lightgbm(path: Path) -> Any:
    """A Booster. It gets the text with line ends as it writes them: those of Windows make it end the program."""
    lightgbm = require_package("lightgbm", "lightgbm", "models")
    require_file(path)
    text = read_foreign(path, "a LightGBM model", lambda: path.read_text(encoding="utf-8"))
    if _is_cut(text):
        cause = "the end of this LightGBM model is missing: the file was cut off, or not written to its end"
        raise unreadable(path, cause, "save or copy the model again", code="cut_off")
    return read_foreign(path, "a LightGBM model", lambda: lightgbm.Booster(model_str=text))


def _is_cut(text: str) -> bool:
    """Whether a text begins as LightGBM's do and does not end so, which LightGBM answers by ending the program.

    The trees come first, then the parameters, then the categories of pandas, if it was saved from Python. Without the
    last two, which LightGBM does not miss, categories would be taken for numbers.
    """
    if text.split(maxsplit=1)[:1] != ["tree"]:
        return False
    _, _, after_trees = text.partition("\nend of trees\n")
    _, parameters, rest = after_trees.rpartition("\nend of parameters\n")
    whole = parameters and (not rest or rest.lstrip().startswith("pandas_categorical:"))
    return not whole


def load_xgboost(path: Path) -> Any:
    """A Booster."""
    xgboost = require_package("xgboost", "xgboost", "models")
    require_file(path)
    return read_foreign(path, "an XGBoost model", lambda: xgboost.Booster(model_file=path))


def load_catboost(path: Path) -> Any:
    """A classifier, since these files keep the names of classes."""
    catboost = require_package("catboost", "catboost", "models")
    require_file(path)
    model = read_foreign(path, "a CatBoost model", lambda: catboost.CatBoost().load_model(str(path)))
    if not len(model.classes_):
        raise unreadable(path, "this CatBoost model has no classes", "give a classifier", code="no_classes")
    return catboost.CatBoostClassifier().load_model(str(path))
