"""One person out of a table, whatever form it has: every form gives the same plans."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import safear as sa
from doors import Filed, find_record, load_row, load_table
from safear.errors import PersonError
from safear.people import Population, load_people, read_people, read_population
from safear.recourse import Desk

PROBLEM = sa.parse_problem("""
safear: 1
title: Loan
horizon: 3
features:
  income: {kind: numeric, edges: [20, 40], values: [10, 30, 50]}
  smoker: {kind: nominal, levels: [yes, no]}
given: [postcode, children]
goal: {failure_cost: 9}
actions: {earn: {cost: 1, chance: 0.5, change: {income: +1}}}
""")
RECORD = {"income": 15, "smoker": "yes", "postcode": "007", "children": 2, "remark": None}
HEADER = "income,smoker,postcode,children,remark\n"
CSV = HEADER + "15,yes,007,2,\n35,no,x,0,\n"


def accept(frame: pd.DataFrame) -> list[bool]:
    """By given columns too, with their types."""
    is_right = (frame["postcode"] == "007") & (frame["children"] == 2)
    return list((frame["income"] > 20) & is_right)


def write_csv(folder: Path) -> Path:
    path = folder / "me.csv"
    path.write_text(CSV.rpartition("35")[0], encoding="utf-8-sig")
    return path


def write_packed(folder: Path) -> Path:
    path = folder / "me.tsv.gz"
    path.write_bytes(gzip.compress(CSV.rpartition("35")[0].replace(",", "\t").encode()))
    return path


def write_parquet(folder: Path) -> Path:
    pd.DataFrame([RECORD]).astype({"remark": "float64"}).to_parquet(folder / "me.parquet")
    return folder / "me.parquet"


def write_yaml(folder: Path) -> Path:
    (folder / "me.yaml").write_text("{income: 15, smoker: yes, postcode: '007', children: 2, remark: null}")
    return folder / "me.yaml"


@pytest.mark.parametrize(
    "make",
    [
        lambda _: RECORD,
        lambda _: pd.Series(RECORD),
        lambda _: pd.DataFrame([RECORD], index=[17]),
        write_csv,
        write_packed,
        write_parquet,
        lambda folder: str(write_parquet(folder)),
        lambda folder: str(write_yaml(folder)),
    ],
    ids=["dict", "series", "frame", "csv", "tsv.gz", "parquet", "name of a file", "yaml"],
)
def test_every_form_of_a_person_gives_the_same_plan(make: Callable[[Path], object], tmp_path: Path) -> None:
    menu = sa.recommend(PROBLEM, accept, make(tmp_path))  # type: ignore[arg-type]
    assert menu[0].cost.success == pytest.approx(1 - 0.5**3)
    record = menu.case.decision.record
    assert {name: record[name] for name in ("income", "smoker", "postcode", "children")} == {
        name: RECORD[name] for name in ("income", "smoker", "postcode", "children")
    }


def test_rows_count_from_one(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV)
    assert load_row(tmp_path / "people.csv", PROBLEM, row=2)["income"] == 35
    pd.read_csv(tmp_path / "people.csv").to_parquet(tmp_path / "people.parquet")
    assert load_row(tmp_path / "people.parquet", PROBLEM, row=2)["income"] == 35


@pytest.mark.parametrize(
    "name, content, row, message",
    [
        ("a.csv", CSV, None, "a.csv: it has more than one row\n    say which: --row 1"),
        ("a.csv", CSV, 3, "a.csv: it has no row 3\n    rows are counted from 1, without the header"),
        ("a.csv", CSV, 0, "a.csv: it has no row 0\n    rows are counted from 1, without the header"),
        ("a.csv", HEADER, None, "a.csv: it has no people\n    rows are counted from 1, without the header"),
        ("a.csv", "", None, "a.csv: it has no people\n    rows are counted from 1, without the header"),
        ("a.csv", HEADER + "1,2\n", None, "a.csv: row 1: does not have the 5 fields of the header"),
        ("a.csv", "a,b,a\n1,2,3\n", None, "a.csv: there are two columns 'a'\n    rename one"),
        ("a.csv", "a;b\n1;2\n", None, "a.csv: its columns are separated by semicolons\n    save it with commas"),
        (
            "a.csv",
            "a\tb\n1\t2\n",
            1,
            "a.csv: its columns are separated by tabs\n    save it with commas, or name it .tsv",
        ),
        ("a.csv", HEADER + '"1,2', None, "a.csv: cannot be read: unexpected end of data"),
        ("a.csv.gz", CSV, 1, "a.csv.gz: is damaged: Not a gzipped file (b'in')"),
        ("a.parquet", CSV, 1, "a.parquet: cannot be read: "),
    ],
)
def test_tables_that_cannot_be_read(
    name: str, content: str, row: int | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    with pytest.raises(PersonError) as error:
        load_row(name, PROBLEM, row=row)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "person, message",
    [
        ("nobody.csv", "nobody.csv: no such file"),
        ("nobody.parquet", "nobody.parquet: no such file, and none that matches"),
        ("nobody.yaml", "nobody.yaml: no such file"),
        ("Dr. Whu", "people: the problem names no person 'Dr. Whu'\n    did you mean 'Dr. Who'?"),
        (Path("me.txt"), "me.txt: no such file"),
        (pd.DataFrame([RECORD, RECORD]), "the data frame has 2 rows, not one\n    take one: frame.iloc[[0]]"),
        (
            [RECORD],
            "is not a person\n    give a mapping of features to levels, a data frame of one row, a file, or a name",
        ),
    ],
)
def test_what_is_no_person(person: object, message: str) -> None:
    with pytest.raises(PersonError) as error:
        find_record(replace(PROBLEM, people={"Dr. Who": RECORD}), person)  # type: ignore[arg-type]
    assert str(error.value).endswith(message)


def test_a_name_of_the_problem_goes_before_a_file() -> None:
    named = sa.load_example("loan")
    (first,) = list(named.people)[:1]
    assert Desk.of(named).decide(first).record == named.people[first]


@pytest.mark.parametrize("cell", ["", "null", "~", "NULL", "<20", "25"])
def test_a_cell_of_a_csv_file_means_the_same_everywhere(cell: str, tmp_path: Path) -> None:
    """An empty one is missing; null and ~ are texts, and no numbers."""
    income = replace(PROBLEM.features[0], missing="20-40")
    problem = replace(PROBLEM, features=(income, *PROBLEM.features[1:]), given=())
    path = tmp_path / "me.csv"
    path.write_text(f"income,smoker\n{cell},yes\n", encoding="utf-8")
    entrances: list[Callable[[], Filed | Population]] = [
        lambda: read_people(problem, [load_row(path, problem)]),
        lambda: load_people(path, problem),
        lambda: read_population(problem, path),
        lambda: read_population(problem, load_table(str(path))),
    ]
    expected = {"": 1, "<20": 0, "25": 1}.get(cell)
    for entrance in entrances:
        if expected is not None:
            assert entrance().codes.tolist() == [[expected, 0]]
            continue
        with pytest.raises(PersonError, match=f"'{cell}' is neither a number nor a level of 'income'"):
            entrance()
