"""Files as data frames: the types of their columns, the same from CSV and Parquet."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from doors import SPELLED, load_table
from safear.errors import PersonError


def load(folder: Path, text: str, name: str = "people.csv") -> pd.DataFrame:
    (folder / name).write_bytes(text.encode())
    return load_table(str(folder / name))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2"], [1, -2]),
        (["1", "2.5"], [1.0, 2.5]),
        (["1", "", "1e3"], [1.0, np.nan, 1000.0]),
        (["007", "008"], ["007", "008"]),
        (["1", "x"], ["1", "x"]),
        (["true", "FALSE"], [True, False]),
        (["true", "", "false"], [True, None, False]),
        (["true", "yes"], ["true", "yes"]),
        (["", "NA", "null"], [None, "NA", "null"]),
        (["", ""], [None, None]),
        (["9" * 30, "1"], [float("9" * 30), 1.0]),
    ],
)
def test_types_of_cells(tmp_path: Path, cells: list[str], expected: list[Any]) -> None:
    found = load(tmp_path, "\n".join(["a,b", *(f"{cell},-" for cell in cells)]))["a"]
    pd.testing.assert_series_equal(found, pd.Series(expected, name="a", dtype=found.dtype))
    kinds = {type(value) for value in expected if value is not None}
    assert pd.api.types.is_numeric_dtype(found.dtype) == (kinds <= {int, float, bool} and None not in expected)


def test_numbers_keep_their_kind(tmp_path: Path) -> None:
    found = load(tmp_path, "whole,broken,gaps,truth\n1,1.5,,true\n2,2,3,false\n")
    assert [str(kind) for kind in found.dtypes] == ["int64", "float64", "float64", "bool"]
    assert found.attrs[SPELLED] == {"truth": ("false", "true")}


def test_other_forms_of_a_file(tmp_path: Path) -> None:
    plain = load(tmp_path, "a,b\n1,x\n,y\n")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfa,b\n1,x\n,y\n"))
    plain.to_parquet(tmp_path / "people.parquet")
    tabs = load(tmp_path, "a\tb\n1\tx\n\ty\n", "people.tsv")
    for other in (load_table(str(tmp_path / "packed.csv.gz")), tabs, load_table(str(tmp_path / "people.parquet"))):
        pd.testing.assert_frame_equal(plain, other, check_dtype=False)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("a.csv", "", "nobody"),
        ("a.csv", "x\n", "nobody"),
        ("a.csv", "a,b\n1\n", "wrong_length"),
        ("a.xls", "", "unknown_format"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, text: str, code: str) -> None:
    with pytest.raises(PersonError) as caught:
        load(tmp_path, text, name)
    assert [item.code for item in caught.value.mistakes] == [code]
