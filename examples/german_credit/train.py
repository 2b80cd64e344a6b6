"""Models of this example, trained on the applications as they were filed.

For the command line they are `--classifier examples/german_credit/train.py:NAME`, with `model` (one-hot encoding and
LightGBM in a pipeline of scikit-learn), or `lightgbm`, `xgboost` or `catboost`, which look at categories themselves.
Each is trained when it is first asked for.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

DATA = Path(__file__).parent / "applications.csv.gz"
NUMBERS = ["duration", "amount", "installment_rate", "residence", "age", "credits", "dependents"]
LIGHTGBM: dict[str, Any] = {"deterministic": True, "force_row_wise": True, "n_jobs": 1, "verbose": -1}


def read_applications() -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """All applications, twenty columns each, and what became of them: `good` or `bad`."""
    data = pd.read_csv(DATA)
    return data.drop(columns="decision"), data["decision"]


@cache
def all_categories() -> dict[str, pd.CategoricalDtype]:
    """The words of every column that has no numbers."""
    known, _ = read_applications()
    return {str(name): pd.CategoricalDtype(sorted(set(known[name]))) for name in known if name not in NUMBERS}


def as_categories(applications: pd.DataFrame) -> pd.DataFrame:
    """With words as categories of pandas, the same ones for any rows."""
    return applications.astype(all_categories())


def draw_sample(seed: int) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """The 70% of the applications that models are trained on."""
    applications, decisions = read_applications()
    rows = applications.sample(frac=0.7, random_state=seed).index
    return applications.loc[rows], decisions[rows]


def train(seed: int = 0) -> Any:
    """The model that this example is about."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415  # each library is needed by its own models only

    applications, decisions = draw_sample(seed)
    encode = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), list(all_categories()))],
        remainder="passthrough",
    )
    boost = LGBMClassifier(random_state=seed, **LIGHTGBM)
    return make_pipeline(encode.set_output(transform="pandas"), boost).fit(applications, decisions)


def train_lightgbm(seed: int = 0) -> Any:
    """LightGBM with its own categories."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415  # as above

    applications, decisions = draw_sample(seed)
    return LGBMClassifier(random_state=seed, **LIGHTGBM).fit(as_categories(applications), decisions)


def train_xgboost(seed: int = 0) -> Any:
    """XGBoost with its own categories. It knows classes as numbers; a vote of one model gives them their names back."""
    from sklearn.ensemble import VotingClassifier  # noqa: PLC0415  # as above
    from xgboost import XGBClassifier  # noqa: PLC0415  # as above

    applications, decisions = draw_sample(seed)
    boost = XGBClassifier(enable_categorical=True, random_state=seed, n_jobs=1)
    return VotingClassifier([("xgboost", boost)], voting="soft").fit(as_categories(applications), decisions)


def train_catboost(seed: int = 0) -> Any:
    """CatBoost with its own categories, which it takes as words."""
    from catboost import CatBoostClassifier  # noqa: PLC0415  # as above

    applications, decisions = draw_sample(seed)
    options = {"iterations": 300, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    return CatBoostClassifier(cat_features=list(all_categories()), random_seed=seed, **options).fit(
        applications, decisions
    )


TRAIN: dict[str, Callable[..., Any]] = {
    "model": train,
    "lightgbm": train_lightgbm,
    "xgboost": train_xgboost,
    "catboost": train_catboost,
}


@cache
def get_model(name: str) -> Any:
    """One of `TRAIN`, trained once."""
    return TRAIN[name]()


def __getattr__(name: str) -> Any:
    if name not in TRAIN:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return get_model(name)


def chances(model: Any, applications: pd.DataFrame) -> NDArray[np.float64]:
    """What a model itself says about applications: the chance of `good`."""
    if type(model).__name__ in {"LGBMClassifier", "VotingClassifier"}:
        applications = as_categories(applications)
    good = np.asarray(model.classes_).tolist().index("good")
    return np.asarray(model.predict_proba(applications)[:, good])
