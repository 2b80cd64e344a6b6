"""A column of a CSV file is of one type, whoever reads it: all of its cells say which."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from doors import Sight, as_scalars, load_record, load_row, load_table, open_people
from parts.people.test_counts import JOB, problem_of
from safear.cli.main import cli
from safear.errors import PersonError
from safear.people import load_people

PROBLEM = problem_of(JOB)
SIGHT = Sight(given=("code",))

# Cells as they are written, and as they are meant.
COLUMNS: dict[str, tuple[list[str], list[object]]] = {
    "whole numbers": (["5", "-7"], [5, -7]),
    "whole numbers and gaps": (["5", "", "7"], [5.0, None, 7.0]),
    "fractions": (["5", "7.5", "1e3"], [5.0, 7.5, 1000.0]),
    "words and a number": (["5", "A7"], ["5", "A7"]),
    "words, gaps and a number": (["5", "", "A7"], ["5", None, "A7"]),
    "zeros in front": (["007", "8"], ["007", "8"]),
    "more digits than a whole number holds": (["1234567890123456789", "5"], [1234567890123456789.0, 5.0]),
    "truth values": (["true", "FALSE"], [True, False]),
    "a truth value among words": (["true", "maybe"], ["true", "maybe"]),
    "a truth value among numbers": (["true", "1"], ["true", "1"]),
    "what is nothing in YAML": (["null", "~", "3"], ["null", "~", "3"]),
    "nothing at all": (["", ""], [None, None]),
}


def write(folder: Path, cells: list[str]) -> Path:
    path = folder / "people.csv"
    path.write_text("".join(f"{line}\n" for line in ("job,code", *(f"none,{cell}" for cell in cells))), "utf-8")
    return path


def plain(values: Any) -> list[object]:
    """Values with their types, as Python has them."""
    found = (value.item() if hasattr(value, "item") else value for value in values)
    return [None if pd.isna(value) else value for value in found]


def in_a_batch(path: Path) -> list[object]:
    with open_people(PROBLEM, path, sight=SIGHT) as people:
        return [value for part in people.parts(9) for value in plain(part.filed.given["code"])]


def one_by_one(path: Path) -> list[object]:
    rows = range(1, len(path.read_text("utf-8").splitlines()))
    return plain(load_row(path, PROBLEM, row=row, given=SIGHT.given)["code"] for row in rows)


READERS: dict[str, Callable[[Path], list[object]]] = {
    "batch": in_a_batch,
    "one row": one_by_one,
    "list": lambda path: plain(load_people(path, PROBLEM, sight=SIGHT).given["code"]),
    "table": lambda path: plain(load_table(str(path))["code"]),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("reader", READERS)
def test_all_readers_agree(reader: str, column: str, tmp_path: Path) -> None:
    cells, meant = COLUMNS[column]
    found = READERS[reader](write(tmp_path, cells))
    assert found == meant
    assert [type(value) for value in found] == [type(value) for value in meant]


TYPED: dict[str, tuple[Any, list[object]]] = {
    "whole numbers": (lambda pa: pa.array([5, 7]), [5, 7]),
    "whole numbers and gaps": (lambda pa: pa.array([5, None, 7]), [5.0, None, 7.0]),
    "decimals": (lambda pa: pa.array([Decimal("1.10"), Decimal("2.00")], pa.decimal128(9, 2)), [1.1, 2.0]),
    "texts": (lambda pa: pa.array(["5", None, "A7"]), ["5", None, "A7"]),
}


@pytest.mark.parametrize("column", TYPED)
def test_all_readers_agree_on_columns_that_have_types(column: str, tmp_path: Path) -> None:
    make, meant = TYPED[column]
    path, cells = tmp_path / "people.parquet", make(pa)
    pq.write_table(pa.table({"job": ["none"] * len(cells), "code": cells}), path)
    rows = range(1, len(cells) + 1)
    found = {
        "batch": in_a_batch(path),
        "one row": plain(load_row(path, PROBLEM, row=row, given=SIGHT.given)["code"] for row in rows),
        "list": plain(load_people(path, PROBLEM, sight=SIGHT).given["code"]),
    }
    for reader, values in found.items():
        assert [(value, type(value)) for value in values] == [(value, type(value)) for value in meant], reader


def test_two_columns_of_one_name_are_refused_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["none"])] * 2, names=["job", "job"]), path)
    for read in (lambda: load_row(path, PROBLEM), lambda: load_people(path, PROBLEM)):
        with pytest.raises(PersonError, match="there are two columns 'job'"):
            read()


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_text_in_quotes_is_a_text(form: str, tmp_path: Path) -> None:
    """What a result shows as the record can be filed again."""
    path = tmp_path / f"me.{form}"
    path.write_text('{"job": "none", "code": "2", "age": 33, "rate": 1.5}', "utf-8")
    assert load_record(path, PROBLEM)[0] == {"job": "none", "code": "2", "age": 33, "rate": 1.5}


def test_a_record_has_no_number_without_end() -> None:
    record = {"a": float("inf"), "b": Decimal("3.33"), "c": Decimal("1e400"), "d": 1.5}
    assert as_scalars(record) == {"a": "inf", "b": 3.33, "c": "inf", "d": 1.5}


MODEL = """
def grant(frame):
    return (frame["code"] == "5") | (frame["skill"] == "expert")
"""
DOCUMENT = {
    "safear": 1,
    "title": "a code",
    "horizon": 2,
    "features": {"skill": {"kind": "ordinal", "levels": ["basic", "expert"]}},
    "given": ["code"],
    "goal": {"favourable": "granted"},
    "actions": {"learn": {"cost": 1, "chance": 0.5, "change": {"skill": "+1"}}},
}


def test_a_model_sees_the_same_for_one_row_and_for_all(tmp_path: Path) -> None:
    """`5` is a word among words: who has it is accepted, in `recommend --row` as in `audit`."""
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    (tmp_path / "problem.json").write_text(json.dumps(DOCUMENT), "utf-8")
    (tmp_path / "people.csv").write_text("skill,code\nbasic,5\nbasic,A7\n", "utf-8")
    model = ["--classifier", f"{tmp_path / 'model.py'}:grant", "--json"]
    problem, people = str(tmp_path / "problem.json"), str(tmp_path / "people.csv")
    decided = []
    for row in ("1", "2"):
        done = CliRunner().invoke(cli, ["recommend", problem, "--person", people, "--row", row, *model])
        decided.append(json.loads(done.stdout)["decision"])
    assert decided == ["favourable", "unfavourable"]
    done = CliRunner().invoke(cli, ["audit", problem, people, *model, "--group", "code"])
    table = json.loads(done.stdout)["groups"]["code"]["table"]
    assert {one["group"]: one["rejected"] for one in table} == {"5": 0, "A7": 1}


@pytest.mark.parametrize("cell", [' "none"', '  "none"', ' "no\n, ""ne"'])
def test_a_quote_after_a_space_is_not_a_letter(cell: str, tmp_path: Path) -> None:
    """To DuckDB it opens a quoted cell."""
    path = write(tmp_path, ["5", cell])
    readers = (
        lambda: load_row(path, PROBLEM, row=2),
        lambda: load_table(str(path)),
        lambda: load_people(path, PROBLEM),
    )
    for read in readers:
        with pytest.raises(PersonError) as refused:
            read()
        assert str(refused.value) == f"{path}: row 2: has a quote after a space\n    remove the space"


@pytest.mark.parametrize("cell", [' ""none""', 'a, ""b""', 'a\n ""b""'])
def test_a_quote_after_a_space_in_quotes_is_one(cell: str, tmp_path: Path) -> None:
    path, meant = write(tmp_path, ["5", f'"{cell}"']), cell.replace('""', '"')
    assert load_row(path, PROBLEM, row=2, given=["code"])["code"] == meant
    assert in_a_batch(path) == ["5", meant]


@pytest.mark.parametrize("other", ["none", "none,5,7", 'none, "5"'])
def test_other_rows_need_not_be_proper_to_read_one(other: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"job,code\nnone,5\n{other}\nnone,A7\n", "utf-8")
    assert load_row(path, PROBLEM, row=1, given=["code"])["code"] == "5"
