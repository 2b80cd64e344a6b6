"""From the columns of the embedded data to the levels of the problems.

Numeric features are cut at the edges that the problem names; for the others stands here which words mean which level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.problem.model import Feature

if TYPE_CHECKING:
    import pandas as pd

Words = Mapping[str, tuple[str, ...]]  # level -> the words in the data that mean it


@dataclass(frozen=True, slots=True)
class Reading:
    """How a data set is read: the column of each feature, words for levels, the column with the label.

    The label is favourable where it is the word `good`, or, if `good` is a number, where it is at most that.
    """

    columns: Mapping[str, str]
    words: Mapping[str, Words]
    label: str
    good: str | float


GENDER: Words = {"female": ("female", "Female"), "male": ("male", "Male")}

READINGS = {
    "adult": Reading(
        columns={
            "age": "age",
            "education": "education",
            "hours": "hours-per-week",
            "workclass": "workclass",
            "occupation": "occupation",
            "marital status": "marital-status",
            "race": "race",
            "gender": "sex",
        },
        words={
            "education": {
                "school": ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"),
                "high school": ("HS-grad", "Some-college", "Assoc-acdm", "Assoc-voc"),
                "bachelors": ("Bachelors",),
                "masters": ("Masters",),
                "doctorate": ("Prof-school", "Doctorate"),
            },
            "workclass": {
                "government": ("Federal-gov", "Local-gov", "State-gov"),
                "self-employed": ("Self-emp-inc", "Self-emp-not-inc"),
                "private": ("Private",),
                "other": ("?", "Never-worked", "Without-pay"),
            },
            "occupation": {
                "professional": ("Prof-specialty",),
                "white-collar": ("Adm-clerical", "Exec-managerial"),
                "service": ("Other-service", "Priv-house-serv", "Protective-serv", "Tech-support"),
                "blue-collar": (
                    "Craft-repair",
                    "Farming-fishing",
                    "Handlers-cleaners",
                    "Machine-op-inspct",
                    "Transport-moving",
                ),
                "sales": ("Sales",),
                "other": ("?", "Armed-Forces"),
            },
            "marital status": {
                "single": ("Never-married",),
                "married": ("Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent"),
                "divorced": ("Divorced",),
                "separated": ("Separated",),
                "widowed": ("Widowed",),
            },
            "race": {"white": ("White",), "other": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other")},
            "gender": GENDER,
        },
        label="income",
        good=">50K",
    ),
    "german": Reading(
        columns={
            "age": "Age",
            "skill": "Job",
            "savings": "Saving accounts",
            "checkings": "Checking account",
            "duration": "Duration",
            "housing": "Housing",
            "purpose": "Purpose",
            "credit amount": "Credit amount",
            "gender": "Sex",
        },
        words={
            "skill": {
                "unskilled non-resident": ("0",),
                "unskilled resident": ("1",),
                "skilled": ("2",),
                "management": ("3",),
            },
            "savings": {
                "none": ("NA",),
                "little": ("little",),
                "moderate": ("moderate",),
                "rich": ("quite rich", "rich"),
            },
            "checkings": {"none": ("NA",), "little": ("little",), "moderate": ("moderate",), "rich": ("rich",)},
            "housing": {"free": ("free",), "rent": ("rent",), "own": ("own",)},
            "purpose": {
                "television": ("radio/TV",),
                "education": ("education",),
                "equipment": ("furniture/equipment",),
                "car": ("car",),
                "business": ("business",),
                "other": ("domestic appliances", "repairs", "vacation/others"),
            },
            "gender": GENDER,
        },
        label="Risk",
        good="good",
    ),
    "insurance": Reading(
        columns={
            "bmi": "bmi",
            "smoker": "smoker",
            "region": "region",
            "children": "children",
            "age": "age",
            "gender": "sex",
        },
        words={
            "smoker": {"yes": ("yes",), "no": ("no",)},
            "region": {name: (name,) for name in ("southwest", "southeast", "northwest", "northeast")},
            "children": {str(count): (str(count),) for count in range(6)},
            "gender": GENDER,
        },
        label="charges",
        good=10_000.0,
    ),
}


def read_codes(frame: pd.DataFrame, features: tuple[Feature, ...], reading: Reading) -> NDArray[np.int16]:
    """The level number of each row (down) and feature (across)."""
    columns = [_column(frame[reading.columns[feature.name]], feature, reading) for feature in features]
    return np.stack(columns, axis=-1).astype(np.int16)


def read_label(frame: pd.DataFrame, reading: Reading) -> NDArray[np.bool_]:
    """Whether the true decision on each row is the favourable one."""
    column = frame[reading.label].to_numpy()
    return np.asarray(column == reading.good if isinstance(reading.good, str) else column <= reading.good, dtype=bool)


def _column(column: pd.Series, feature: Feature, reading: Reading) -> NDArray[np.intp]:
    if feature.kind == "numeric":
        edges = np.array(feature.edges, dtype=np.float64)
        return np.searchsorted(edges, column.to_numpy(np.float64), side="right" if feature.closed == "left" else "left")
    codes = {
        word: feature.levels.index(level) for level, words in reading.words[feature.name].items() for word in words
    }
    distinct, inverse = np.unique(column.to_numpy().astype(str), return_inverse=True)
    return np.array([codes[word] for word in distinct.tolist()])[inverse]
