"""The model of this example: one-hot encoding and LightGBM, trained on the applications as they were filed.

For the command line it is `--classifier examples/german_credit/train.py:model`.
"""

from pathlib import Path

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

DATA = Path(__file__).parent / "applications.csv.gz"
NUMBERS = ["duration", "amount", "installment_rate", "residence", "age", "credits", "dependents"]


def read_applications() -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """All applications, twenty columns each, and what became of them: `good` or `bad`."""
    data = pd.read_csv(DATA)
    return data.drop(columns="decision"), data["decision"]


def train(seed: int = 0) -> Pipeline:
    """A model of 70% of the applications."""
    applications, decisions = read_applications()
    rows = applications.sample(frac=0.7, random_state=seed).index
    words = [name for name in applications if name not in NUMBERS]
    encode = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words)], remainder="passthrough"
    )
    boost = LGBMClassifier(random_state=seed, deterministic=True, force_row_wise=True, n_jobs=1, verbose=-1)
    return make_pipeline(encode.set_output(transform="pandas"), boost).fit(applications.loc[rows], decisions[rows])


model = train()
