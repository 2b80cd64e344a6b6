"""What a cell of a population means: exactly what read_level says, whatever its type and wherever it stands."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from doors import as_decimal, read_level, spread_range
from lanes import scaled
from parts.people.test_counts import AGE, JOB, kinds, problem_of, write_csv, write_parquet
from safear.people import read_population
from safear.problem import Feature

SKILL = Feature("skill", "ordinal", ("1", "2", "true", "2.5"))
RATE = Feature(
    "rate", "numeric", ("a", "b", "7", "d"), edges=(Decimal("-0.3"), Decimal("0.1"), Decimal(1000)), closed="right"
)
ZERO = Feature("zero", "numeric", ("neg", "pos"), edges=(Decimal(0),))
LONG = Feature("long", "numeric", ("low", "high"), edges=(Decimal("0.1000000000000000055"),))
WHOLE = Feature("whole", "numeric", **spread_range(Decimal(-5), Decimal(1000), Decimal(5)))
HALVES = Feature("halves", "numeric", **spread_range(Decimal(0), Decimal(25), Decimal("0.5"), closed="right"))
FEATURES = (JOB, SKILL, AGE, RATE, ZERO, LONG, WHOLE, HALVES)


def codes_of(source: Any, feature: Feature, tmp_path: Path, **options: Any) -> tuple[dict[int, int], int]:
    """The counts of the levels of the only feature, and how many rows are bad."""
    population = read_population(problem_of(feature), source, skip_bad=tmp_path / "bad.csv", **options)
    return {key[0]: count for key, count in kinds(population).items()}, population.skipped


def expected(feature: Feature, values: Sequence[Any]) -> tuple[dict[int, int], int]:
    levels = [None if pd.isna(value) or value == "" else read_level(feature, value) for value in values]
    numbers = [as_decimal(value) for value in values]
    levels = [
        level if number is None or level == str(value) or feature.admits(number) else None
        for level, number, value in zip(levels, numbers, values, strict=True)
    ]
    found = Counter(feature.levels.index(level) for level in levels if level is not None)
    return dict(found), levels.count(None)


TEXTS = [
    "20.0", "20", "20.00", "020", "+20", " 20 ", "2e1", "2E+1", "19.99999999999999999999",
    "20.00000000000000000001", "25", "24.999999999999999999999999", "0.1", ".1", "1e-1",
    "0.10000000000000000000001", "0.09999999999999999999999", "0.1000000000000000055", "0.10000000000000000550",
    "0.1000000000000000056", "-0.3", "-.3", "-0.30000000000000000001", "1000", "1e3", "1_000", "1__0", "0", "-0",
    "0.0", "1e-400", "-1e-400", "1e400", "-1e400", "+-1", "-+1", "nan", "NaN", "inf", "-Infinity", "None", "null",
    "", " ", "\u0662\u0660", "\u00a020", "0x14", "20,5", "7", "7.0", "1", "1.0", "2.5", "2.50", "true", "True",
    "TRUE", "<20", ">=25", "none", "None ", "it's \"full\"", "part, time", "low", "neg", "a\nb",
]  # fmt: skip
NUMBER_TEXT = st.one_of(
    st.sampled_from(TEXTS),
    st.text("0123456789+-.eE_ ", max_size=6),
    st.builds(lambda edge, digits, sign: f"{edge}{sign}{digits}", st.sampled_from(["20", "0.1", "-0.3", "25."]),
              st.text("0123456789", max_size=25), st.sampled_from(["", ".", "e", "0"])),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=3),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
)  # fmt: skip


@settings(max_examples=scaled(10))
@given(feature=st.sampled_from(FEATURES), values=st.lists(NUMBER_TEXT, min_size=1, max_size=60), typed=st.booleans())
@example(feature=AGE, values=TEXTS, typed=False).via("all the odd ones")
@example(feature=RATE, values=TEXTS, typed=False).via("all the odd ones")
@example(feature=WHOLE, values=TEXTS, typed=False).via("all the odd ones")
@example(feature=HALVES, values=TEXTS, typed=True).via("all the odd ones")
@example(feature=ZERO, values=TEXTS, typed=True).via("all the odd ones")
@example(feature=LONG, values=TEXTS, typed=True).via("all the odd ones")
@example(feature=SKILL, values=TEXTS, typed=True).via("all the odd ones")
@example(feature=JOB, values=TEXTS, typed=False).via("all the odd ones")
def test_text_means_what_read_level_says(feature: Feature, values: list[Any], typed: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        columns = {feature.name: values, "id": range(len(values))}
        if typed:
            path = write_parquet(folder / "p.parquet", {feature.name: pa.array(values).dictionary_encode()})
        else:
            # A lone "\r" in a quoted field is a line end to some writers; here it is part of the value.
            path = write_csv(folder / "p.csv", columns)
        assert codes_of(path, feature, folder) == expected(feature, values)


NEAR_EDGES = [
    float(np.nextafter(edge, limit)) for edge in (20, 25, -0.3, 0.1, 1000, 0) for limit in (-1e9, edge, 1e9)
]  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
@pytest.mark.parametrize("kind", ["double", "float"])
def test_floating_point_columns(feature: Feature, kind: str, tmp_path: Path) -> None:
    values: list[float | None] = [*NEAR_EDGES, 1.0, 2.0, 2.5, 7.0, 7.5, 1e300, -1e300, 5e-324]
    values += [float("inf"), -float("inf"), float("nan"), None]
    if kind == "float":
        narrow = [None if v is None else float(str(np.float32(v))) for v in values if v is None or abs(v) != 1e300]
        array = pa.array(narrow, pa.float32())
        values = narrow
    else:
        array = pa.array(values, pa.float64())
    path = write_parquet(tmp_path / "p.parquet", {feature.name: array})
    assert codes_of(path, feature, tmp_path) == expected(feature, values)


@settings(max_examples=scaled(10))
@given(
    feature=st.sampled_from(FEATURES),
    values=st.lists(st.one_of(st.floats(), st.sampled_from(NEAR_EDGES), st.integers(-5, 30).map(float)), min_size=1),
)
def test_doubles_mean_what_read_level_says(feature: Feature, values: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = write_parquet(Path(name) / "p.parquet", {feature.name: pa.array(values, pa.float64())})
        assert codes_of(path, feature, Path(name)) == expected(feature, values)
        assert codes_of(pd.DataFrame({feature.name: values}), feature, Path(name)) == expected(feature, values)


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
def test_whole_number_columns(feature: Feature, kind: str, tmp_path: Path) -> None:
    least = 0 if kind.startswith("u") else -128
    values = [least, 0, 1, 2, 7, 19, 20, 21, 24, 25, 26, 100, 127, None]
    path = write_parquet(tmp_path / "p.parquet", {feature.name: pa.array(values, getattr(pa, kind)())})
    assert codes_of(path, feature, tmp_path) == expected(feature, values)


@pytest.mark.parametrize("edge", ["-1e30", "-128.5", "-128", "127", "127.5", "1e30", "0.5"])
@pytest.mark.parametrize("closed", ["left", "right"])
def test_edges_outside_of_the_type(edge: str, closed: Any, tmp_path: Path) -> None:
    feature = Feature("x", "numeric", ("low", "high"), edges=(Decimal(edge),), closed=closed)
    values = [-128, 0, 1, 127]
    for kind in (pa.int8(), pa.decimal128(3, 0), pa.decimal128(5, 2), pa.float32()):
        path = write_parquet(tmp_path / "p.parquet", {"x": pa.array(values).cast(pa.decimal128(38, 2)).cast(kind)})
        assert codes_of(path, feature, tmp_path) == expected(feature, values)


@pytest.mark.parametrize("feature", [SKILL, AGE, RATE, ZERO, LONG], ids=lambda feature: feature.name)
def test_decimal_columns(feature: Feature, tmp_path: Path) -> None:
    values = [
        Decimal(v) for v in ("-0.31", "-0.30", "0.10", "0.11", "19.99", "20.00", "20.01", "25.00", "1000.00", "7.50")
    ]
    path = write_parquet(tmp_path / "p.parquet", {feature.name: pa.array(values, pa.decimal128(10, 2))})
    assert codes_of(path, feature, tmp_path) == expected(feature, values)


def test_whole_decimals_and_narrow_floats_name_levels_like_doubles(tmp_path: Path) -> None:
    for kind in (pa.decimal128(10, 2), pa.float32(), pa.float64(), pa.int16()):
        path = write_parquet(tmp_path / "p.parquet", {"skill": pa.array([1, 2, 2, 3], pa.int16()).cast(kind)})
        assert codes_of(path, SKILL, tmp_path) == ({0: 1, 1: 2}, 1)


def test_truth_values(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "p.parquet", {"skill": pa.array([True, False, True, None])})
    assert codes_of(path, SKILL, tmp_path) == ({2: 2}, 2)
    assert codes_of(pd.DataFrame({"skill": [True, False, True]}), SKILL, tmp_path) == ({2: 2}, 1)


def test_mixed_objects_in_a_data_frame(tmp_path: Path) -> None:
    values = [True, 1, 1.0, "1", "1.0", None, float("nan"), "", np.int64(2), np.float32(2), Decimal("2.5")]
    frame = pd.DataFrame({"skill": pd.Series(values, dtype=object)})
    assert codes_of(frame, SKILL, tmp_path) == ({0: 3, 1: 2, 2: 1, 3: 1}, 4)


@pytest.mark.parametrize("dtype", ["category", "string"])
def test_data_frame_types(dtype: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"job": pd.Series(["none", None, "x", "part, time"], dtype=dtype)})
    assert codes_of(frame, JOB, tmp_path) == ({0: 1, 1: 1}, 2)
