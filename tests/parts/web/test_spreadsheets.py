"""Texts and numbers for spreadsheets."""

from __future__ import annotations

import pandas as pd
import pytest

from doors import defuse, write_frame


@pytest.mark.parametrize("text", ["=1+1", "+1", "-5 to 0", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_texts(text: str) -> None:
    assert defuse(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["plain", "a=b", "", " -1", -0.5, -3, None])
def test_all_else_stays(cell: object) -> None:
    assert defuse(cell) == cell


def test_a_table_without_formulas_is_what_pandas_writes() -> None:
    """To the digit, and with empty cells where there is no figure."""
    row = {"n": 3, "mean": -0.1 - 0.2, "tail": None}
    frame = pd.DataFrame([row, {**row, "tail": 1e-7}], dtype=object, index=pd.Index(["a", 'b, "c"'], name="group"))
    assert write_frame(frame) == frame.to_csv()


def test_a_group_may_be_called_as_a_figure_is() -> None:
    frame = pd.DataFrame({"n": [3]}, index=pd.Index(["a"], name="n"))
    assert write_frame(frame) == "n,n\na,3\n"
