"""Tables of decisions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import safear as sa
from safear.classifier import TableClassifier
from safear.errors import MissingExtraError
from small_sources import FRAME, GOALS, LABELS, PROBLEM, goals, refusal


@pytest.mark.parametrize(
    "text",
    [
        "skill,job,decision\nbasic,employed,no\nbasic,unemployed,no\nskilled,employed,approved\nskilled,unemployed,no\n",
        (
            "\ufeffdecision,job,skill\r\n"
            "no,employed,basic\r\nno,unemployed,basic\r\napproved,employed,skilled\r\nno,unemployed,skilled\r\n"
        ),
        (
            'skill,job,"the, decision"\n'
            '"basic",employed,no\nbasic,unemployed,no\nskilled,employed,"approved"\nskilled,unemployed,no'
        ),
    ],
    ids=["plain", "as Excel saves it", "quoted"],
)
def test_a_table_of_decisions(text: str, tmp_path: Path) -> None:
    (tmp_path / "decisions.csv").write_bytes(text.encode())
    source = str(tmp_path / "decisions.csv")
    assert isinstance(sa.load_classifier(source, PROBLEM), TableClassifier)
    assert goals(source) == GOALS


def test_levels_in_a_table_are_read_as_written(tmp_path: Path) -> None:
    """`no`, `NA` and `01` are names, not false, not missing and not the number 1."""
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 2,
            "features": {"answer": {"kind": "ordinal", "levels": ["no", "NA", "01", "null"]}},
            "goal": {"favourable": "approved"},
            "actions": {"go on": {"cost": 1, "change": {"answer": "+1"}}},
        }
    )
    file = tmp_path / "decisions.csv"
    file.write_text("answer,decision\nno,rejected\nNA,approved\n01,rejected\nnull,approved\n")
    assert sa.compile_mdp(problem, sa.load_classifier(str(file), problem)).goal.tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    "content, text",
    [
        (b"", "not a CSV table: No columns to parse from file"),
        (b'skill,job\n"basic', "not a CSV table: "),
        (b"skill,job,decision\nbasic,employed,\xff\xfe\n", "not a CSV table: "),
    ],
    ids=["empty", "open quote", "not UTF-8"],
)
def test_a_file_that_is_not_a_table(content: bytes, text: str, tmp_path: Path) -> None:
    file = tmp_path / "decisions.csv"
    file.write_bytes(content)
    assert refusal(file).startswith(f"{file}: {text}")


def test_a_table_with_other_separators_shows_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "decisions.csv"
    file.write_text("skill;job;decision\nbasic;employed;no\n")
    assert "the table of decisions has no column 'skill'\n    columns: 'skill;job;decision'" in refusal(file)


# ------------------------------------------------------------------------------------------------------------- Parquet


@pytest.mark.parametrize("decisions", [GOALS, LABELS, [0.1, 0.2, 0.9, 0.3]], ids=["truth values", "labels", "scores"])
def test_a_parquet_table_of_decisions(decisions: Any, tmp_path: Path) -> None:
    frame, file = FRAME.assign(decision=decisions), tmp_path / "decisions.parquet"
    duckdb.from_df(frame).write_parquet(str(file))
    assert isinstance(sa.load_classifier(str(file), PROBLEM), TableClassifier)
    assert goals(file) == GOALS


def test_levels_in_a_parquet_table_may_be_numbers(tmp_path: Path) -> None:
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 2,
            "features": {
                "stage": {"kind": "ordinal", "levels": ["1", "2"]},
                "age": {"kind": "ordinal", "levels": ["1", "2.5"]},
            },
            "actions": {"go on": {"cost": 1, "change": {"stage": "+1"}}},
        }
    )
    frame = pd.DataFrame({"stage": [1, 1, 2, 2], "age": [1, 2.5, 1, 2.5], "decision": [False, True, True, False]})
    duckdb.from_df(frame).write_parquet(str(tmp_path / "decisions.parquet"))
    found = sa.compile_mdp(problem, sa.load_classifier(str(tmp_path / "decisions.parquet"), problem))
    assert found.goal.tolist() == [False, True, True, False]


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    file = tmp_path / "decisions.parquet"
    file.write_text("skill,job,decision\n")
    assert refusal(file).startswith(f"{file}: not a Parquet table: ")


def test_without_duckdb_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(
        MissingExtraError, match=r"DuckDB is not installed; install it with: pip install 'safear\[audit\]'"
    ):
        sa.load_classifier(str(tmp_path / "decisions.parquet"), PROBLEM)
