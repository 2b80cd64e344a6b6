"""The people of a batch, from files: everybody once, in order, with what they bring, and mistakes with their place."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from crowds import JOB, job_people, job_somebody, make_part, records
from doors import FIGURES, Crowd, Filed, Folder, open_people
from lanes import scaled
from parts.people.test_counts import write_csv, write_parquet

PROBLEM = sa.parse_problem(JOB)
PLAIN: dict[str, list[Any]] = {
    "skill": ["basic", "skilled", "expert", "basic"],
    "age": [20, 30, 49, 70],
    "gender": ["male", "female", "male", "female"],
}


def read(source: Path | str, size: int = 1000, **options: Any) -> list[Crowd]:
    """All parts, with who they are and how many there are in all."""
    with open_people(PROBLEM, source, **options) as people:
        parts = list(people.parts(size))
        assert people.count == sum(map(len, parts))
    assert [part.number for part in parts] == list(range(len(parts)))
    assert all(len(part) == size for part in parts[:-1])
    assert all(0 < len(part) <= size for part in parts)
    return parts


def joined(parts: Sequence[Crowd]) -> Crowd:
    """Parts as one."""
    return Crowd(
        Filed.on_levels(np.concatenate([part.codes for part in parts])),
        np.concatenate([part.costs for part in parts]),
        np.concatenate([part.chances for part in parts]),
        np.concatenate([part.forbidden for part in parts]),
        pd.concat([part.labels for part in parts], ignore_index=True),
    )


def assert_same(found: Crowd, expected: Crowd) -> None:
    assert found.codes.tolist() == expected.codes.tolist()
    assert np.array_equal(found.costs, expected.costs, equal_nan=True)
    assert np.array_equal(found.chances, expected.chances, equal_nan=True)
    assert np.array_equal(found.forbidden, expected.forbidden)
    assert found.labels["row"].tolist() == expected.labels["row"].tolist()


def refusal(source: Path | str, **options: Any) -> str:
    with pytest.raises(sa.InputError) as error:
        read(source, **options)
    return str(error.value)


def bad_rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


# ------------------------------------------------------------------------------------------------------------ everybody


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "parquet"])
def test_people_with_their_terms(form: str, tmp_path: Path) -> None:
    people = job_people(300)
    path = tmp_path / f"people.{form}"
    if form == "parquet":
        people.to_parquet(path)
    else:
        people.to_csv(path, index=False, sep="\t" if form == "tsv" else ",")
    expected = make_part(PROBLEM, [job_somebody(row) for row in records(people)])
    found = joined(read(path, 7))
    assert_same(found, expected)
    assert set(found.labels["file"]) == {str(path)}
    assert list(found.labels) == ["file", "row"]
    arrays = (found.codes, found.costs, found.chances, found.forbidden)
    assert [str(array.dtype) for array in arrays] == ["int16", "float64", "float64", "bool"]


@pytest.mark.parametrize("size", [1, 2, 3, 9, 10, 11, 1000])
def test_every_size_of_parts(size: int, tmp_path: Path) -> None:
    people = job_people(10)
    people.to_csv(tmp_path / "p.csv", index=False)
    parts = read(tmp_path / "p.csv", size, keep=["id"])
    assert len(parts) == -(-10 // size)
    assert joined(parts).labels["id"].tolist() == people["id"].astype(str).tolist()
    assert_same(joined(parts), make_part(PROBLEM, [job_somebody(row) for row in records(people)]))
    for part in parts:
        assert part.labels.index.tolist() == list(range(len(part)))


def test_parts_reach_across_chunks_and_files(tmp_path: Path) -> None:
    """DuckDB hands over some thousand rows at a time; parts are cut elsewhere."""
    for name, count in (("a", 20_000), ("b", 3), ("c", 17_000)):
        pd.DataFrame({"skill": ["basic"] * count, "age": np.arange(count) % 60, "gender": "male"}).to_parquet(
            tmp_path / f"{name}.parquet"
        )
    parts = read(tmp_path / "*.parquet", 16_384)
    assert [len(part) for part in parts] == [16_384, 16_384, 37_003 - 2 * 16_384]
    labels = joined(parts).labels
    assert [Path(file).stem for file in labels["file"]] == ["a"] * 20_000 + ["b"] * 3 + ["c"] * 17_000
    assert labels["row"].tolist() == [*range(1, 20_001), 1, 2, 3, *range(1, 17_001)]


def test_small_parts_of_a_large_file_take_no_longer_each(tmp_path: Path) -> None:
    """Thousands of parts of one chunk: what is left of it is not copied for each of them."""
    count = 16_384
    pd.DataFrame({"skill": ["basic"] * count, "age": 20, "gender": "male"}).to_parquet(tmp_path / "p.parquet")
    copied = 0
    concat = pd.concat

    def count_rows(frames: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal copied
        whole = concat(frames, *arguments, **options)
        copied += len(whole)
        return whole

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pd, "concat", count_rows)
        assert len(read(tmp_path / "p.parquet", 256)) == count // 256
    assert copied <= 4 * count


def test_several_files_of_several_kinds(tmp_path: Path) -> None:
    people = job_people(40)
    thirds = [people.iloc[:15], people.iloc[15:20], people.iloc[20:]]
    thirds[0].to_csv(tmp_path / "1.csv", index=False)
    thirds[1][list(reversed(people.columns))].to_csv(tmp_path / "2.csv.gz", index=False)  # columns in another order
    thirds[2].assign(extra=1).to_parquet(tmp_path / "3.parquet")
    found = joined(read(tmp_path / "*", 6, keep=["id"]))
    expected = make_part(PROBLEM, [job_somebody(row) for row in records(people)])
    assert found.codes.tolist() == expected.codes.tolist()
    assert np.array_equal(found.costs, expected.costs, equal_nan=True)
    assert np.array_equal(found.chances, expected.chances, equal_nan=True)
    assert np.array_equal(found.forbidden, expected.forbidden)
    names = [Path(file).name for file in found.labels["file"]]
    assert names == ["1.csv"] * 15 + ["2.csv.gz"] * 5 + ["3.parquet"] * 20
    assert found.labels["row"].tolist() == [*range(1, 16), *range(1, 6), *range(1, 21)]
    assert found.labels["id"].tolist() == people["id"].astype(str).tolist()


def test_a_name_with_odd_characters(tmp_path: Path) -> None:
    path = write_csv(tmp_path / 'it\'s [1] of "2".csv', PLAIN)
    assert read(path)[0].labels["file"].tolist() == [str(path)] * 4


# ------------------------------------------------------------------------------------------------------------ the terms


@pytest.mark.parametrize(
    "cells, expected",
    [
        (pa.array([0.1, None, math.nan, 2.5], pa.float64()), [0.1, None, None, 2.5]),
        (pa.array([0.1, None, math.nan, 2.5], pa.float32()), [0.1, None, None, 2.5]),
        (pa.array([Decimal("0.10"), None, Decimal(3), Decimal("999.99")]), [0.1, None, 3, 999.99]),
        (pa.array([0, 1, None, 7], pa.int8()), [0, 1, None, 7]),
        (pa.array([0, 1, None, 10**15], pa.uint64()), [0, 1, None, 10**15]),
        (pa.array(["0.1", "", "  ", " 7 "]), [0.1, None, None, 7]),
        (pa.array(["0.1", "", None, "7"]).dictionary_encode(), [0.1, None, None, 7]),
        (pa.array([None, None, None, None]), [None] * 4),
    ],
    ids=["double", "float", "decimal", "int8", "uint64", "text", "dictionary", "null"],
)
def test_types_of_costs(cells: Any, expected: list[float | None], tmp_path: Path) -> None:
    (part,) = read(write_parquet(tmp_path / "p.parquet", {**PLAIN, "cost:study": cells}))
    wanted = np.full((4, 3), np.nan)
    wanted[:, 1] = [math.nan if cost is None else cost for cost in expected]
    assert np.array_equal(part.costs, wanted, equal_nan=True)
    assert np.isnan(part.chances).all()
    assert not part.forbidden.any()


@pytest.mark.parametrize(
    "cells, expected",
    [
        (pa.array([True, False, None, True]), [True, False, False, True]),
        (pa.array([1, 0, None, 1], pa.int16()), [True, False, False, True]),
        (pa.array([1.0, 0.0, math.nan, None]), [True, False, False, False]),
        (pa.array(["true", "False", "", "1"]), [True, False, False, True]),
    ],
    ids=["bool", "int", "double", "text"],
)
def test_types_of_forbidden_actions(cells: Any, expected: list[bool], tmp_path: Path) -> None:
    (part,) = read(write_parquet(tmp_path / "p.parquet", {**PLAIN, "forbid:gamble": cells}))
    assert part.forbidden[:, 2].tolist() == expected
    assert not part.forbidden[:, :2].any()


def test_names_of_columns_may_have_blanks(tmp_path: Path) -> None:
    columns = {**PLAIN, "cost : learn": [1, 2, 3, 4], "chance: study": ["", 0, 1, 0.5], "note: x": "abcd"}
    (part,) = read(write_csv(tmp_path / "p.csv", columns))
    assert part.costs[:, 0].tolist() == [1, 2, 3, 4]
    assert part.chances[1:, 1].tolist() == [0, 1, 0.5]
    assert np.isnan(part.chances[0, 1])


def test_unknown_actions_and_chances_that_say_too_little(tmp_path: Path) -> None:
    columns = {**PLAIN, "cost:lern": 1, "forbid:": 1, "chance:gamble": 1, "cost:gamble": 1}
    columns = {name: cells if isinstance(cells, list) else [cells] * 4 for name, cells in columns.items()}
    path = write_csv(tmp_path / "p.csv", columns)
    assert refusal(path).splitlines() == [
        f"{path}: cost:lern: the problem has no action 'lern'",
        "    did you mean 'learn'?",
        f"{path}: forbid:: the problem has no action ''",
        "    possible: 'learn', 'study', 'gamble'",
        f"{path}: chance:gamble: 'gamble' has 3 outcomes, so one chance is not enough",
        "    leave the column out",
    ]


@pytest.mark.parametrize("second", ["cost: learn", "cost :learn", "cost:learn"])
def test_two_columns_for_the_same_are_a_mistake(second: str, tmp_path: Path) -> None:
    """Else the one that happens to come last wins, even where it is empty."""
    path = tmp_path / "p.csv"
    path.write_text(f"skill,age,gender,cost:learn,{second}\nbasic,20,male,7,\n", encoding="utf-8")
    told = refusal(path)
    assert second in told
    assert "two columns" in told


def test_a_column_that_some_of_the_files_lack(tmp_path: Path) -> None:
    write_csv(tmp_path / "1.csv", {**PLAIN, "cost:learn": [1] * 4})
    other = write_csv(tmp_path / "2.csv", PLAIN)
    told = refusal(tmp_path / "*.csv")
    assert told.startswith(f"{other}: cost:learn: there is no column 'cost:learn' for this personal cost")


# ---------------------------------------------------------------------------------------------------------- wrong cells


WRONG = [
    ("cost:learn", "-1", "'-1' is not a number from 0 to 1e+15"),
    ("cost:learn", "inf", "'inf' is not a number from 0 to 1e+15"),
    ("cost:learn", "1e16", "'1e16' is not a number from 0 to 1e+15"),
    ("cost:learn", "cheap", "'cheap' is not a number from 0 to 1e+15"),
    ("chance:study", "1.5", "'1.5' is not a number from 0 to 1"),
    ("chance:study", "-0.1", "'-0.1' is not a number from 0 to 1"),
    ("forbid:gamble", "maybe", "'maybe' is neither true nor false"),
]


@pytest.mark.parametrize("column, cell, cause", WRONG)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_wrong_numbers_are_told_with_their_place(column: str, cell: str, cause: str, form: str, tmp_path: Path) -> None:
    columns = {**PLAIN, column: ["", "1", cell, cell]}
    path = tmp_path / f"p.{form}"
    write_csv(path, columns) if form == "csv" else write_parquet(path, columns)
    assert refusal(path).splitlines() == [
        f"{path}: row 3.{column}: {cause}",
        "    leave the cell empty to keep the problem's value",
        f"{path}: 2 of 4 rows cannot be used",
        "    correct them, or write them to a file of their own (skip_bad, --skip-bad)",
    ]


@pytest.mark.parametrize(
    "cells, shown",
    [
        (pa.array([1.0, -2.5, 0, 0]), "-2.5"),
        (pa.array([1.0, -0.1, 0, 0], pa.float32()), "-0.1"),
        (pa.array([1, -7, 0, 0], pa.int8()), "-7"),
        (pa.array([1.0, math.inf, 0, 0]), "inf"),
        (pa.array([None, True, None, None]), "True"),
        (pa.array([Decimal("1.00"), Decimal("-2.50"), Decimal(0), Decimal(0)]), "-2.50"),
    ],
    ids=["double", "float", "int8", "inf", "bool", "decimal"],
)
def test_wrong_numbers_of_other_types(cells: Any, shown: str, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "p.parquet", {**PLAIN, "cost:learn": cells})
    assert refusal(path).startswith(f"{path}: row 2.cost:learn: '{shown}' is not a number from 0 to 1e+15\n")


def test_everything_wrong_with_the_first_bad_row_is_told(tmp_path: Path) -> None:
    columns = {**PLAIN, "cost:learn": ["", "-1", "", "-3"], "forbid:learn": ["1", "x", "0", ""]}
    columns["skill"] = ["basic", "none", "expert", "basic"]
    path = write_csv(tmp_path / "p.csv", columns)
    told = refusal(path)
    for part in (
        f"{path}: row 2.skill: 'none' is not a level of 'skill'",
        f"{path}: row 2.cost:learn: '-1' is not",
        f"{path}: row 2.forbid:learn: 'x' is neither",
        f"{path}: 2 of 4 rows cannot be used",
    ):
        assert part in told
    assert "row 4" not in told


def test_bad_rows_are_set_aside_and_counted(tmp_path: Path) -> None:
    columns = {
        "skill": ["basic", "basic", "none", "skilled", "basic", "expert"],
        "age": ["20", "x", "30", "40", "", "50"],
        "gender": ["male"] * 6,
        "cost:learn": ["-1", "", "-2", "0.5", "", ""],
        "note": ["a,b", 'say "x"', "", "d", "e", "f"],
    }
    path = write_csv(tmp_path / "p.csv", columns)
    with open_people(PROBLEM, path, keep=["note"], skip_bad=tmp_path / "bad.csv") as people:
        (part,) = people.parts(100)
        assert (people.count, people.examined.skipped, people.examined.rows) == (2, 4, 6)
    assert part.labels[["row", "note"]].to_numpy().tolist() == [[4, "d"], [6, "f"]]
    assert part.costs[0, 0] == 0.5
    found = [(row["row"], row["column"], row["value"], row["note"]) for row in bad_rows(tmp_path / "bad.csv")]
    assert found == [
        ("1", "cost:learn", "-1", "a,b"),
        ("2", "age", "x", 'say "x"'),
        ("3", "skill", "none", ""),
        ("5", "age", "", "e"),
    ]


def test_a_broken_constraint_and_a_wrong_number(tmp_path: Path) -> None:
    document = JOB + "constraints: ['not (skill == expert and gender == male)']\n"
    problem = sa.parse_problem(document)
    path = write_csv(tmp_path / "p.csv", {**PLAIN, "cost:learn": ["", "-1", "-1", ""]})
    with open_people(problem, path, skip_bad=tmp_path / "bad.csv") as people:
        (part,) = people.parts(100)
    assert part.labels["row"].tolist() == [1, 4]
    assert [(row["row"], row["column"]) for row in bad_rows(tmp_path / "bad.csv")] == [("2", "cost:learn"), ("3", "")]


def test_nobody_is_left(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {**PLAIN, "cost:learn": [-1] * 4})
    with open_people(PROBLEM, path, skip_bad=tmp_path / "bad.csv") as people:
        assert people.count == 0
        assert list(people.parts(10)) == []


# ------------------------------------------------------------------------------------------------------- malformed rows


GOOD = "basic,20,male,{n},1,north"
BAD = (
    "basic,20",
    "basic,20,male,{n},1,north,9",
    "none,20,male,{n},1,north",
    "basic,20,male,{n},-1,north",
    "basic,20,male,Jos\udce9 {n},1,north",  # a byte that is not UTF-8, in a column that is kept
    "basic,20,male,{n},1,C\udce1diz",  # in one that nobody wants
    "none,20,male,{n},1,C\udce1diz",
)


@settings(max_examples=scaled(25))
@given(
    kinds=st.lists(st.sampled_from([*[GOOD] * 5, *BAD]), min_size=1, max_size=30),
    size=st.integers(1, 9),
    ending=st.sampled_from(["\n", "\r\n"]),
    quoted=st.sampled_from(["{n}", '"{n}"', '"first\nof {n}"', '"a, ""b"" {n}"']),
)
def test_rows_are_numbered_as_they_stand_in_the_file(
    kinds: list[str], size: int, ending: str, quoted: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is between them that cannot be used, or not even read; `note` says who is who."""
    folder = tmp_path_factory.mktemp("rows")
    rows = [kind.format(n=quoted.format(n=n) if kind is GOOD else n) for n, kind in enumerate(kinds, 1)]
    text = ending.join(["skill,age,gender,note,cost:learn,town", *rows]) + ending
    (folder / "p.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    good = [n for n, kind in enumerate(kinds, 1) if kind is GOOD]
    with open_people(PROBLEM, folder / "p.csv", keep=["note"], skip_bad=folder / "bad.csv") as people:
        assert people.count == len(good)
        assert people.examined.skipped == len(kinds) - len(good)
        if not good:
            return
        labels = joined(list(people.parts(size))).labels
    assert labels["row"].tolist() == good
    assert [note.split(" ")[-1] for note in labels["note"]] == [str(n) for n in good]
    if len(good) < len(kinds):
        numbers = [int(row["row"]) for row in bad_rows(folder / "bad.csv")]
        assert numbers == [n for n, kind in enumerate(kinds, 1) if kind is not GOOD]


def test_empty_lines_are_no_rows(tmp_path: Path) -> None:
    """They are not counted, before a row that cannot be read or anywhere."""
    lines = ["skill,age,gender,note", "basic,20,male,1", "", "basic,20", "basic,20,male,3", "", "none,20,male,4"]
    (tmp_path / "p.csv").write_text("\n".join([*lines, "basic,20,male,5", ""]), encoding="utf-8")
    labels = joined(read(tmp_path / "p.csv", 2, keep=["note"], skip_bad=tmp_path / "bad.csv")).labels
    assert labels["row"].tolist() == [int(note) for note in labels["note"]] == [1, 3, 5]
    assert [row["row"] for row in bad_rows(tmp_path / "bad.csv")] == ["2", "4"]


# ------------------------------------------------------------------------------------------------ columns that are kept


KEPT: Mapping[str, Any] = {
    "int64": pa.array([2**63 - 1, -(2**63), None, 10**17 + 1]),
    "uint64": pa.array([2**64 - 1, 0, None, 1], pa.uint64()),
    "double": pa.array([0.1, 1e300, None, -0.0]),
    "float": pa.array([0.1, 1e30, None, 2.5], pa.float32()),
    "decimal": pa.array([Decimal("12345678901234567890.12"), Decimal("-0.01"), None, Decimal(0)], pa.decimal128(38, 2)),
    "bool": pa.array([True, False, None, True]),
    "date": pa.array([date(2024, 2, 29), date(1, 1, 1), None, date(9999, 12, 31)]),
    "timestamp": pa.array([datetime(2024, 2, 29, 1, 2, 3, 456789), datetime(1900, 1, 1), None, datetime(2100, 1, 1)]),  # noqa: DTZ001  # without a zone on purpose
    "zoned": pa.array([datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC), None, None]),
    "time": pa.array([time(1, 2, 3, 4), time(0), None, time(23, 59, 59, 999999)]),
    "text": pa.array(['it\'s "quoted", with\na line', "", None, "NULL"]),
    "unicode": pa.array(["Łódź", "🙂", None, "NaN"]),
    "list": pa.array([["a,b", "c'd"], [], None, ["[1]"]]),
    "missing": pa.array([None] * 4, pa.string()),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept_columns_keep_their_type(name: str, tmp_path: Path) -> None:
    cells = KEPT[name]
    path = write_parquet(tmp_path / "p.parquet", {**PLAIN, "mine": cells})
    with open_people(PROBLEM, path, keep=["mine"]) as people:
        (tmp_path / "out").mkdir()
        folder = Folder(tmp_path / "out", people.kept)
        for part in people.parts(3):
            figures = dict.fromkeys(FIGURES, 0.5)
            folder.write(
                part.number,
                part.labels.assign(
                    decision="plan", plan="x", first_action=None, reason=None, gives_up=False, **figures
                ),
            )
    tables = [pq.read_table(file) for file in sorted((tmp_path / "out").glob("part-*"))]
    found = pa.concat_tables(tables).column("mine")
    assert found.to_pylist() == cells.to_pylist()
    assert found.type == cells.type or name == "list"  # whose items have another name


def test_kept_features_and_terms_as_they_stand_in_the_file(tmp_path: Path) -> None:
    columns = {**PLAIN, "cost:learn": ["1.50", "", " 2", "3"], 'odd "name"': "abcd"}
    (part,) = read(write_csv(tmp_path / "p.csv", columns), keep=["age", "cost:learn", 'odd "name"', "age"])
    assert list(part.labels) == ["file", "row", "age", "cost:learn", 'odd "name"']
    assert part.labels["age"].tolist() == ["20", "30", "49", "70"]
    assert [None if pd.isna(text) else text for text in part.labels["cost:learn"]] == ["1.50", None, " 2", "3"]
    assert part.labels['odd "name"'].tolist() == list("abcd")


def test_kept_columns_of_different_types_become_text(tmp_path: Path) -> None:
    write_parquet(tmp_path / "1.parquet", {**PLAIN, "id": pa.array([1, 2, 3, 10**17 + 1])})
    write_parquet(tmp_path / "2.parquet", {**PLAIN, "id": pa.array(["a", "b", "01", "d"])})
    with open_people(PROBLEM, tmp_path / "*.parquet", keep=["id"]) as people:
        assert people.kept == {"id": "VARCHAR"}
        (part,) = people.parts(100)
    assert part.labels["id"].tolist() == ["1", "2", "3", str(10**17 + 1), "a", "b", "01", "d"]


def test_a_column_to_keep_that_is_not_there(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {**PLAIN, "customer": [1] * 4})
    columns = "the columns are 'skill', 'age', 'gender', 'customer'"
    assert refusal(path, keep=["costumer"]) == (
        f"{path}: costumer: there is no column 'costumer' for this column to keep; {columns}\n"
        "    did you mean 'customer'?"
    )


# ---------------------------------------------------------------------------------------------------------- whole files


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "the file is empty"),
        ("skill,age,gender\n", "it has no people"),
        ("skill,gender\nbasic,male\n", "age: there is no column 'age' for this feature"),
        ("skill,age,gender,age\nbasic,1,male,2\n", "age: there are two columns 'age'"),
    ],
)
def test_files_without_people(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    assert refusal(tmp_path / "p.csv").startswith(f"{tmp_path / 'p.csv'}: {told}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "p*.csv") == f"{tmp_path / 'p*.csv'}: no such file, and none that matches"


def test_a_broken_gzip_file(tmp_path: Path) -> None:
    packed = gzip.compress(b"skill,age,gender\n" + b"basic,20,male\n" * 5000)
    (tmp_path / "p.csv.gz").write_bytes(packed[:-20])
    assert str(tmp_path / "p.csv.gz") in refusal(tmp_path / "p.csv.gz")
