"""Random tables of people, and random models of trees trained on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from doors import load_table

Rng = np.random.Generator
BANDS = ["under 10", "10 to 20", "20 to 50", "50 or more"]
COLUMNS: dict[str, Callable[[Rng, int], Any]] = {
    "count": lambda rng, n: rng.integers(0, rng.integers(2, 9), n),
    "minus": lambda rng, n: rng.integers(-3, 4, n),
    "whole": lambda rng, n: rng.integers(-500, 5000, n),
    "hundreds": lambda rng, n: rng.integers(1, 60, n) * 100.0,
    "cents": lambda rng, n: np.round(rng.gamma(2, 40, n), 2),
    "dense": lambda rng, n: rng.normal(0, 1e-4, n),
    "huge": lambda rng, n: rng.lognormal(20, 3, n),
    "words": lambda rng, n: rng.choice(["a", "b c", "no", "7", "+1", "é: #x", "?"], n),
    "bands": lambda rng, n: rng.choice(BANDS, n),
    "truth": lambda rng, n: rng.random(n) < 0.4,
}
NUMBERS = [name for name in COLUMNS if name not in {"words", "bands", "truth"}]


def draw_table(rng: Rng, *, gaps: bool) -> pd.DataFrame:
    """Some of the columns, in any order, with empty cells among words and numbers if there are to be `gaps`."""
    count = int(rng.integers(40, 120))
    names = rng.permutation(list(COLUMNS))[: rng.integers(2, len(COLUMNS))].tolist()
    table = pd.DataFrame({name: COLUMNS[name](rng, count) for name in names})
    for name in names if gaps else []:
        if name != "truth" and rng.random() < 0.4:
            table[name] = table[name].where(rng.random(count) > 0.1, None if name in {"words", "bands"} else np.nan)
    return table


def draw_labels(rng: Rng, table: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.str_]]:
    """Decisions that have something to do with the columns."""
    score = rng.normal(0, 0.3, len(table))
    for name in table:
        ranks = pd.Series(pd.factorize(table[name], sort=name not in {"words", "bands"})[0]).rank(pct=True).to_numpy()
        score += rng.normal() * ranks
    return np.where(score > np.quantile(score, rng.uniform(0.3, 0.7)), "good", "bad")


def train_pipeline(rng: Rng, table: pd.DataFrame, labels: Any) -> Any:
    """One-hot encoding and a tree, a forest or boosting of scikit-learn."""
    words = [name for name in table if name in {"words", "bands"}]
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    rest = SimpleImputer(strategy="median")
    numbers = [name for name in table if name not in words]
    seed = int(rng.integers(1000))
    model = [
        DecisionTreeClassifier(max_depth=4, random_state=seed),
        RandomForestClassifier(n_estimators=12, max_depth=5, random_state=seed),
        GradientBoostingClassifier(n_estimators=15, random_state=seed),
    ][rng.integers(3)]
    parts = [("words", encode, words)] * bool(words) + [("numbers", rest, numbers)] * bool(numbers)
    return make_pipeline(ColumnTransformer(parts), model).fit(table, labels)


def train_lightgbm(rng: Rng, table: pd.DataFrame, labels: Any) -> Any:
    """LightGBM with its own categories and empty cells."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415  # only those who train it wait for it

    options = {"n_estimators": 15, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
    seed = int(rng.integers(1000))
    return LGBMClassifier(random_state=seed, **options).fit(as_categories(table), labels)


def as_categories(table: pd.DataFrame) -> pd.DataFrame:
    """Words as categories."""
    return table.astype({name: "category" for name in table if name in {"words", "bands"}})


MODELS: dict[str, Callable[[Rng, pd.DataFrame, Any], Any]] = {"pipeline": train_pipeline, "lightgbm": train_lightgbm}


def predict(kind: str, model: Any, table: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whom the model itself accepts."""
    labels = np.asarray(model.predict(as_categories(table) if kind == "lightgbm" else table))
    accepted: np.ndarray[Any, np.dtype[np.bool_]] = labels == "good"
    return accepted


def read_back(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Write a table to a CSV file and read it as `safear init` does."""
    table.to_csv(path, index=False)
    return load_table(str(path))
