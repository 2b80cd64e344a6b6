"""Models in the own formats of LightGBM (.txt), XGBoost (.json, .ubj) and CatBoost (.cbm)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safear.classifier.reading import read_foreign, require_file, require_package, unreadable


def load_lightgbm(path: Path) -> Any:
    """A Booster."""
    lightgbm = require_package("lightgbm", "lightgbm", "models")
    require_file(path)
    return read_foreign(path, "a LightGBM model", lambda: lightgbm.Booster(model_file=path))


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
