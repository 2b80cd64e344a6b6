"""Awkward files: every person is there once, with their own row, level and group, whatever the form of the file."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safear as sa
from doors import Sight, as_scalars, load_row, load_table, open_people
from parts.people.test_counts import AGE, JOB, kinds, problem_of, write_parquet
from safear.errors import PersonError
from safear.people import read_population
from safear.problem import Feature

PROBLEM = problem_of(JOB, AGE)
SHARE = Feature("share", "numeric", ("<0.7", ">=0.7"), edges=(Decimal("0.7"),))
ONE = Feature("one", "ordinal", ("low", "high"), missing="low")


def rows_of(path: Path, bad: Path) -> tuple[dict[str, int], list[int]]:
    """Where everybody stands, by their name, and where what cannot be used does."""
    with open_people(PROBLEM, path, keep=["name"], skip_bad=bad) as people:
        labels = pd.concat([part.labels for part in people.parts(2)])
        assert people.count == len(labels)
    wrong = [int(row) for row in pd.read_csv(bad)["row"]] if bad.exists() else []
    return dict(zip(labels["name"], labels["row"], strict=True)), wrong


def test_rows_that_are_not_utf_8_are_refused_whatever_is_asked_of_them(tmp_path: Path) -> None:
    """Whether or not the column is wanted: nobody is left out without a word."""
    path = tmp_path / "p.csv"
    path.write_bytes("name,job,age\nAnn,none,20\nJosé,none,30\nZoe,none,40\n".encode("latin-1"))
    told = f"""{path}: row 2: is not UTF-8 text
    save the file as UTF-8 (in Excel: 'CSV UTF-8')
{path}: 1 of 3 rows cannot be used
    correct them, or write them to a file of their own (skip_bad, --skip-bad)"""
    for keep in ([], ["name"]):
        with pytest.raises(PersonError) as error, open_people(PROBLEM, path, keep=keep):
            pass
        assert str(error.value) == told
    assert rows_of(path, tmp_path / "bad.csv") == ({"Ann": 1, "Zoe": 3}, [2])


@pytest.mark.parametrize("content", [b"\xef", b"\xef\xbb", b"\xef\xbb\xbf", b"\n"])
def test_the_beginning_of_a_mark_is_no_header(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(content)
    with pytest.raises(PersonError, match="the header is not one line of column names"):
        read_population(PROBLEM, tmp_path / "p.csv")


# How a row reads, and how many rows of the file it is.
ROWS = {
    "whitespace": ["   "],
    "an odd quote, then an empty line": ['6" tall,none,20', ""],
    "an odd quote, then lines in quotes": ['6" tall,none,20', '"a\n\nb",none,20'],
    "a doubled quote at the end of a line": ['"say ""\n""",none,20', ""],
    "an empty line": [""],
    "quotes after a space": ['x, "none",20', ""],
}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("some", ROWS)
def test_rows_keep_their_numbers_behind_odd_ones(some: str, ending: str, tmp_path: Path) -> None:
    lines = ["name,job,age", "A,none,20", *ROWS[some], "B,none,21", "short", "C,none,22", ""]
    (tmp_path / "p.csv").write_bytes("\n".join(lines).replace("\n", ending).encode())
    between = [row for row in ROWS[some] if row]
    places, wrong = rows_of(tmp_path / "p.csv", tmp_path / "bad.csv")
    first = 2 + len(between)
    assert (places["A"], places["B"], places["C"]) == (1, first, first + 2)
    assert wrong == [*([2] if some == "whitespace" else []), first + 1]


def test_a_row_of_empty_cells_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("one\tid\nhigh\t1\n\t\nhigh\t3\nshort\nlow\t5\n", encoding="utf-8")
    with open_people(problem_of(ONE), tmp_path / "p.tsv", keep=["id"], skip_bad=tmp_path / "bad.csv") as people:
        (part,) = people.parts(9)
    assert part.labels["row"].tolist() == [1, 2, 3, 5]
    assert pd.read_csv(tmp_path / "bad.csv")["row"].tolist() == [4]


def test_an_open_quote_is_noticed_whatever_ends_the_lines(tmp_path: Path) -> None:
    text = 'job,age\nnone,20\n"none,20\nnone,20\nnone,20\n"none",20\nnone,20\n'
    for ending in ("\n", "\r\n", "\r"):
        (tmp_path / "p.csv").write_bytes(text.replace("\n", ending).encode())
        with pytest.raises(PersonError, match="a quote is not closed"):
            read_population(PROBLEM, tmp_path / "p.csv", skip_bad=tmp_path / "bad.csv")


def test_an_empty_line_is_nobody_in_a_file_of_one_column(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text('one\nhigh\n\nlow\n""\n', encoding="utf-8")
    found = read_population(problem_of(ONE), tmp_path / "p.csv")
    assert kinds(found) == {(0,): 2, (1,): 1}
    assert [load_row(tmp_path / "p.csv", problem_of(ONE), row=row)["one"] for row in (1, 2)] == ["high", "low"]


@pytest.mark.parametrize("pattern", ["**/**/*.csv", "**/*/**/*.csv", "**/*.csv"])
def test_a_file_that_is_found_twice_is_read_once(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    for folder in ("", "x", "x/y"):
        (tmp_path / folder / "p.csv").write_text("job,age\nnone,20\n", encoding="utf-8")
    (tmp_path / "x" / "again").symlink_to(tmp_path)
    assert read_population(PROBLEM, f"{tmp_path}/{pattern}").rows == 3


def test_bad_rows_are_not_read_as_people(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.csv").write_text("job,age\nnone,20\nnone,old\n", encoding="utf-8")
    for _ in range(3):
        found = read_population(PROBLEM, f"{tmp_path}/*.csv", skip_bad=tmp_path / "bad.csv")
        assert (found.rows, found.skipped) == (2, 1)
    assert [record.message for record in caplog.records] == [
        f"not read, because bad rows are written there: {tmp_path / 'bad.csv'}"
    ] * 2


def test_names_of_parquet_columns_are_those_of_the_file(tmp_path: Path) -> None:
    """DuckDB takes names that differ in case for the same, and makes up others."""
    values = [pa.array([value]) for value in ("it's", "none", 30, [1], {"a": 1, "b": 2}, 'it\'s "full"')]
    path = tmp_path / "p.parquet"
    pq.write_table(pa.Table.from_arrays(values, names=["Job", "job", "age", "list", "parts", "job_1"]), path)
    assert kinds(read_population(PROBLEM, path)) == {(0, 2): 1}
    assert load_row(path, PROBLEM)["job"] == "none"
    assert load_table(str(path))["job"].tolist() == ["none"]
    other = problem_of(Feature("job_1", "nominal", JOB.levels), AGE)
    assert kinds(read_population(other, path)) == {(2, 2): 1}
    pq.write_table(pa.Table.from_arrays(values[:3], names=["job", "job", "age"]), path)
    with pytest.raises(PersonError, match="there are two columns 'job'"):
        read_population(PROBLEM, path)


def test_a_float_is_meant_as_it_is_written(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "p.parquet", {"share": pa.array([0.7], pa.float32())})
    problem = problem_of(SHARE)
    assert kinds(read_population(problem, path)) == {(1,): 1}
    record = load_row(path, problem)
    assert kinds(read_population(problem, [record])) == {(1,): 1}
    assert as_scalars(record) == {"share": 0.7}


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_nan_is_missing_in_parquet_files_with_bounds(kind: str, tmp_path: Path) -> None:
    """Writers leave NaN out of the bounds of a column, from which DuckDB takes it that there is none."""
    numbers = np.array([1.0, 2.0, np.nan], dtype=kind)
    missing = Feature("age", "numeric", AGE.levels, edges=AGE.edges, missing="20-25")
    path = write_parquet(tmp_path / "p.parquet", {"age": numbers, "job": ["none"] * 3, "cost:x": numbers})
    assert kinds(read_population(problem_of(missing), path)) == {(0,): 2, (1,): 1}
    assert kinds(read_population(problem_of(JOB), path, groups=["age"])) == {(0, ""): 1, (0, "1"): 1, (0, "2"): 1}
    found = read_population(problem_of(AGE), path, skip_bad=tmp_path / "bad.csv")
    assert (found.rows, found.skipped) == (3, 1)
    assert pd.read_csv(tmp_path / "bad.csv")["row"].tolist() == [3]
    ladder = sa.parse_problem({
        "safear": 1, "title": "t", "horizon": 2, "features": {"age": {"range": [1, 5], "missing": "3"}},
        "goal": {"failure_cost": 9}, "classifier": {"rule": "age >= 4"},
        "actions": {"x": {"cost": 1, "chance": 0.5, "change": {"age": "+1"}}},
    })  # fmt: skip
    assert kinds(read_population(ladder, path)) == {(0,): 1, (1,): 1, (2,): 1}
    with open_people(ladder, path) as people:
        (part,) = people.parts(9)
    assert np.isnan(part.costs[2]).all()


def test_groups_are_the_same_whatever_the_type_of_their_numbers(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", {"job": ["none"] * 2, "branch": [1, 2]})
    write_parquet(tmp_path / "b.parquet", {"job": ["none"] * 4, "branch": [1.0, None, -0.0, 2.5]})
    wanted = {(0, ""): 1, (0, "0"): 1, (0, "1"): 2, (0, "2"): 1, (0, "2.5"): 1}
    assert kinds(read_population(problem_of(JOB), f"{tmp_path}/*.parquet", groups=["branch"])) == wanted
    frame = pd.concat([pd.read_parquet(tmp_path / name) for name in ("a.parquet", "b.parquet")])
    assert kinds(read_population(problem_of(JOB), frame, groups=["branch"])) == wanted


def test_a_pattern_for_one_person_or_a_table_names_files_of_one_kind(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", {"job": ["none"]})
    write_parquet(tmp_path / "b.parquet", {"work": ["none"]})
    for read in (lambda path: load_row(path, PROBLEM, row=2), load_table):
        with pytest.raises(PersonError, match=r"its files have different columns: '.*a\.parquet' and '.*b\.parquet'"):
            read(f"{tmp_path}/*.parquet")


def seen(frame: Any) -> list[str]:
    return [f"{type(value).__name__} {value}" for value in frame]


def test_given_columns_are_what_models_can_take(tmp_path: Path) -> None:
    sight = Sight(given=("g",))
    path = write_parquet(tmp_path / "p.parquet", {"job": ["none"] * 2, "g": pa.array([1, None])})
    with open_people(problem_of(JOB), path, sight=sight) as people:
        (part,) = people.parts(9)
    assert part.filed.given["g"].dtype == np.float64
    frame = pd.DataFrame({"job": ["none"] * 3, "g": [True, 1, "1"]}, dtype=object)
    filed = read_population(problem_of(JOB), frame, sight=sight).filed
    assert sorted(seen(filed.given["g"])) == ["bool True", "int 1", "str 1"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'"job";"age"\n"none";20\n', "its columns are separated by semicolons"),
        ("jöb,age\nnone,20\n".encode("latin-1"), "its header is not UTF-8 text"),
        (b"\x1f\x8b\x08\x00" + b"x" * 40, "is packed by gzip\n    name it "),
    ],
)
def test_what_is_wrong_with_a_file_is_named(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(content)
    with pytest.raises(PersonError, match=told):
        read_population(PROBLEM, os.fspath(path))


def test_a_table_of_twenty_thousand_columns(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(20_000)]
    (tmp_path / "p.csv").write_text(f"{','.join(names)}\n{',1' * 19_999}\n{',2' * 19_999}\n", encoding="utf-8")
    assert kinds(read_population(problem_of(Feature("c7", "nominal", ("1", "2"))), tmp_path / "p.csv")) == {
        (0,): 1,
        (1,): 1,
    }
