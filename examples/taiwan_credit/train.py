"""A model of this example: does a client default next month? LightGBM on the columns as they are.

For the command line it is `--classifier examples/taiwan_credit/train.py:model`. It is trained when it is first asked
for. Its class 1 is a default, so that 0 is favourable.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

DATA = Path(__file__).parent / "clients.csv.gz"
TARGET = "default.payment.next.month"


def read_clients() -> tuple[pd.DataFrame, "pd.Series[int]"]:
    """All clients as the model sees them, and who of them defaulted."""
    data = pd.read_csv(DATA)
    return data.drop(columns=["ID", TARGET]), data[TARGET]


@cache
def train(seed: int = 0) -> Any:
    """The model, trained on 70% of the clients."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415  # those who only read the data need not have it

    clients, defaults = read_clients()
    rows = clients.sample(frac=0.7, random_state=seed).index
    boost = LGBMClassifier(random_state=seed, deterministic=True, force_row_wise=True, n_jobs=1, verbose=-1)
    return boost.fit(clients.loc[rows], defaults[rows])


def __getattr__(name: str) -> Any:
    if name != "model":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return train()
