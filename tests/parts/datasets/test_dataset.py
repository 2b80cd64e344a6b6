"""Rows, levels and true decisions of the data sets; what the source files say stands here as constants."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from doors import read_level
from safear.datasets import Dataset, dataset_names, load
from safear.errors import ProblemError

SIZES = {"adult": 32_561, "german": 1_000, "insurance": 1_338}
FAVOURABLE = {"adult": 7_841, "german": 700, "insurance": 712}

# Lines of the source files and what they mean: the line, the levels, whether the true decision is favourable.
ROWS = {
    "adult": {
        # 39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, ..., 40, <=50K
        0: ("30-39 / bachelors / full-time / government / white-collar / single / white / male", False),
        # 50, Self-emp-not-inc, 83311, Bachelors, ..., Married-civ-spouse, Exec-managerial, ..., White, Male, 13, <=50K
        1: ("older / bachelors / less / self-employed / white-collar / married / white / male", False),
        # 25, Self-emp-not-inc, 176756, HS-grad, 9, Never-married, Farming-fishing, ..., White, Male, 0, 0, 35, <=50K
        16: ("25-29 / high school / part-time / self-employed / blue-collar / single / white / male", False),
        # 45, ?, 51164, Some-college, 10, Married-civ-spouse, ?, Wife, Black, Female, 0, 0, 40, <=50K
        734: ("40-49 / high school / full-time / other / other / married / other / female", False),
        # 52, Self-emp-inc, 287927, HS-grad, ..., Married-civ-spouse, Exec-managerial, ..., White, Female, 40, >50K
        32_560: ("older / high school / full-time / self-employed / white-collar / married / white / female", True),
    },
    "german": {
        # A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1
        0: ("senior / skilled / none / little / under 1 year / own / television / low / male", True),
        # A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 22 A143 A152 1 A173 1 A191 A201 2
        1: ("student / skilled / little / moderate / longer / own / television / very high / female", False),
        # A14 12 A34 A46 2096 A61 A74 2 A93 A101 3 A121 49 A143 A152 1 A172 2 A191 A201 1
        2: ("adult / unskilled resident / little / none / under 2 years / own / education / medium / male", True),
        # A11 48 A34 A41 6143 A61 A75 4 A92 A101 4 A124 58 A142 A153 2 A172 1 A191 A201 2
        44: ("adult / unskilled resident / little / little / longer / free / car / very high / female", False),
        # A11 24 A31 A40 1193 A61 A71 1 A92 A102 4 A124 29 A143 A151 2 A171 1 A191 A201 2
        972: ("young / unskilled non-resident / little / little / under 3 years / rent / car / low / female", False),
    },
    "insurance": {
        # 19,female,27.9,0,yes,southwest,16884.924
        0: ("25 to 30 / yes / southwest / 0 / young / female", False),
        # 18,male,33.77,1,no,southeast,1725.5523
        1: ("30 to 35 / no / southeast / 1 / young / male", True),
        # 62,female,25,0,no,southwest,13451.122
        920: ("25 to 30 / no / southwest / 0 / older / female", False),
        # 61,female,29.07,0,yes,northwest,29141.3603
        1_337: ("25 to 30 / yes / northwest / 0 / older / female", False),
    },
}

# How many rows have each level, in the order of the levels.
FREQUENCIES = {
    "adult": {
        "age": [1657, 3913, 4141, 8613, 7175, 7062],
        "education": [4253, 20241, 5355, 1723, 989],
        "hours": [1704, 6059, 15217, 9581],
        "workclass": [960 + 1298 + 2093, 1116 + 2541, 22696, 1836 + 14 + 7],
        "occupation": [4140, 4066 + 3770, 3295 + 149 + 649 + 928, 4099 + 994 + 1370 + 2002 + 1597, 3650, 1843 + 9],
        "marital status": [10683, 14976 + 418 + 23, 4443, 1025, 993],
        "race": [27816, 3124 + 1039 + 311 + 271],
        "gender": [10771, 21790],
    },
    "german": {
        "age": [190, 398, 367, 45],
        "skill": [22, 200, 630, 148],
        "savings": [183, 603, 103, 63 + 48],
        "checkings": [394, 274, 269, 63],
        "duration": [180, 406, 244, 170],
        "housing": [108, 179, 713],
        "purpose": [280, 50 + 9, 181, 234 + 103, 97, 22 + 12 + 12],
        "credit amount": [250, 250, 250, 250],
        "gender": [310, 690],
    },
    "insurance": {
        "bmi": [41, 204, 386, 391, 225, 91],
        "smoker": [274, 1064],
        "region": [325, 364, 325, 324],
        "children": [574, 324, 240, 157, 25, 18],
        "age": [137, 280, 257, 279, 271, 114],
        "gender": [662, 676],
    },
}


def test_names() -> None:
    assert dataset_names() == sorted(SIZES)


def test_it_is_reached_from_the_package_and_loads_nothing_before() -> None:
    code = "import sys, safear.datasets as d; print('numpy' in sys.modules, 'pandas' in sys.modules); d.load('german')"
    code += "; import safear.datasets.dataset; print(len(d.load('german')), 'sklearn' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.split() == ["False", "False", "1000", "False"]


def test_the_package_has_no_other_names() -> None:
    assert dir(sys.modules["safear.datasets"]) == [
        "Dataset",
        "TrainedClassifier",
        "dataset_names",
        "example_names",
        "load",
        "load_example",
    ]
    assert not hasattr(sys.modules["safear.datasets"], "nothing_like_this")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("germany", "did you mean 'german'?"), ("xyz", "possible: 'adult', 'german', 'insurance'")],
)
def test_unknown_names(name: str, remedy: str) -> None:
    with pytest.raises(ProblemError) as caught:
        load(name)
    assert str(caught.value) == f"there is no data set '{name}'\n    {remedy}"


def test_it_is_read_once() -> None:
    assert load("german") is load("german")


@pytest.mark.parametrize("name", SIZES)
class TestEach:
    def test_counts(self, name: str) -> None:
        data = load(name)
        assert len(data) == len(data.raw) == len(data.levels) == len(data.codes) == len(data.favourable) == SIZES[name]
        assert int(data.favourable.sum()) == FAVOURABLE[name]
        assert data.favourable.dtype == np.bool_

    def test_nothing_is_missing(self, name: str) -> None:
        data = load(name)
        assert list(data.levels.columns) == [feature.name for feature in data.problem.features]
        assert not data.raw.isna().any(axis=None)
        for feature in data.problem.features:
            assert set(data.levels[feature.name]) <= set(feature.levels)

    def test_rows(self, name: str) -> None:
        data = load(name)
        for row, (levels, favourable) in ROWS[name].items():
            assert " / ".join(data.levels.iloc[row]) == levels, row
            assert bool(data.favourable[row]) is favourable, row

    def test_frequencies(self, name: str) -> None:
        data = load(name)
        found = {
            feature.name: np.bincount(data.codes[:, i], minlength=len(feature.levels)).tolist()
            for i, feature in enumerate(data.problem.features)
        }
        assert found == FREQUENCIES[name]

    def test_codes_and_levels_say_the_same(self, name: str) -> None:
        data = load(name)
        for i, feature in enumerate(data.problem.features):
            assert data.levels[feature.name].tolist() == [feature.levels[code] for code in data.codes[:, i]]

    def test_what_is_shared_cannot_be_changed(self, name: str) -> None:
        data = load(name)
        assert not data.codes.flags.writeable
        assert not data.favourable.flags.writeable


def test_numbers_fall_where_the_problem_puts_them() -> None:
    """The vectorised reading agrees with that of single records, edges included."""
    columns = {
        "adult": {"age": "age", "hours": "hours-per-week"},
        "german": {"age": "Age", "duration": "Duration", "credit amount": "Credit amount"},
        "insurance": {"age": "age", "bmi": "bmi", "children": "children"},
    }
    for name, by_feature in columns.items():
        data = load(name)
        for feature, column in by_feature.items():
            pairs = set(zip(data.raw[column].tolist(), data.levels[feature].tolist(), strict=True))
            for value, level in pairs:
                assert read_level(data.problem.feature_by_name[feature], value) == level, (name, feature, value)


def test_edges_are_on_the_right_side(german: Dataset, insurance: Dataset) -> None:
    age, duration = german.problem.feature_by_name["age"], german.problem.feature_by_name["duration"]
    assert [read_level(age, years) for years in (19, 25, 26, 35, 36, 60, 61)] == [
        *("student", "student", "young", "young", "adult", "adult", "senior"),
    ]
    assert [read_level(duration, months) for months in (11, 12, 23, 24, 35, 36)] == [
        *("under 1 year", "under 2 years", "under 2 years", "under 3 years", "under 3 years", "longer"),
    ]
    hours = load("adult").problem.feature_by_name["hours"]
    assert [read_level(hours, number) for number in (19, 20, 39, 40, 41)] == [
        *("less", "part-time", "part-time", "full-time", "overtime"),
    ]
    bmi = insurance.problem.feature_by_name["bmi"]
    assert [read_level(bmi, number) for number in (19.99, 20, 40)] == ["under 20", "20 to 25", "above"]


def test_quartiles(german: Dataset) -> None:
    edges = german.problem.feature_by_name["credit amount"].edges
    assert [float(edge) for edge in edges] == np.quantile(german.raw["Credit amount"], [0.25, 0.5, 0.75]).tolist()


def test_charges_up_to_ten_thousand_are_favourable(insurance: Dataset) -> None:
    assert insurance.raw["charges"][insurance.favourable].max() <= 10_000
    assert insurance.raw["charges"][~insurance.favourable].min() > 10_000
