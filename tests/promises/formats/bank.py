"""The model of the golden files with records: it answers the same for ever."""

from __future__ import annotations

import pandas as pd


def score(frame: pd.DataFrame) -> pd.Series[float]:
    """How likely a credit is paid back: a look at the numbers as filed, and at columns without levels."""
    points = 14 - frame["term"] / 4 - frame["amount"] / 1000 + frame["age"] / 20
    points += frame["account"].map({"small": 0, "large": 3}) + 4 * (frame["guarantor"] == "some")
    return points.clip(0, 16) / 16
