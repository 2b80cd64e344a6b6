"""Many people, read from records and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import safear as sa
from promises.test_bookkeeping import DOCUMENT, SECRET
from safear.datasets import load
from safear.errors import PersonError
from safear.people import load_people, read_people

PROBLEM = sa.parse_problem(
    {
        "safear": 1,
        "title": "A better job",
        "horizon": 3,
        "features": {
            "skill": {"kind": "ordinal", "levels": ["basic", "skilled", "expert"]},
            "age": {"kind": "numeric", "edges": [30, 50]},
            "insured": {"kind": "nominal", "levels": ["false", "true"]},
            "gender": {"kind": "nominal", "levels": ["female", "male"], "mutable": False},
            "grade": {"kind": "ordinal", "levels": ["1", "2"], "mutable": False},
        },
        "goal": {"favourable": "hired", "failure_cost": 12},
        "classifier": {"rule": "skill == expert and (grade == 1 or insured == true)"},
        "constraints": ["not (skill == expert and age < 30)"],
        "actions": {
            "learn": {"cost": 1.5, "chance": 0.8, "change": {"skill": "+1"}},
            "insure": {"cost": 1, "change": {"insured": "true"}},
            "wait": {"cost": 1, "change": {"age": "+1"}},
        },
    }
)
ANNE = {"skill": "basic", "age": "<30", "insured": "false", "gender": "female", "grade": "1"}
BERT = {"skill": "skilled", "age": "30-50", "insured": "true", "gender": "male", "grade": "2"}
HEADER = ",".join(ANNE)


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "people.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ------------------------------------------------------------------------------------------------------------- records


def test_levels_and_raw_numbers() -> None:
    codes = read_people(PROBLEM, [ANNE, BERT, {**ANNE, "age": 49.9}, {**ANNE, "age": "50"}, {**BERT, "age": 29}]).codes
    assert codes.dtype == np.int16
    assert codes.tolist() == [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 0], [0, 2, 0, 0, 0], [1, 0, 1, 1, 1]]


def test_columns_in_any_order_and_equal_people() -> None:
    turned = dict(reversed(BERT.items()))
    codes = read_people(PROBLEM, [ANNE, BERT, ANNE, turned, ANNE]).codes
    assert codes.tolist() == [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]


def test_nobody() -> None:
    assert read_people(PROBLEM, []).codes.shape == (0, 5)


def test_records_need_not_be_dictionaries() -> None:
    german = load("german")
    rows: list[Any] = [row for _, row in german.levels.iloc[:30].iterrows()]
    assert np.array_equal(read_people(german.problem, rows).codes, german.codes[:30])


def test_all_mistakes_with_their_rows() -> None:
    bad = {**BERT, "skill": "basics", "age": "old"}
    without = {name: level for name, level in ANNE.items() if name != "gender"}
    young_expert = {**ANNE, "skill": "expert"}
    with pytest.raises(PersonError) as refused:
        read_people(PROBLEM, [ANNE, bad, BERT, {**without, "sex": "female"}, bad, young_expert], file="people.csv")
    assert str(refused.value).splitlines()[::2] == [
        "people.csv: row 2.skill: 'basics' is not a level of 'skill'",
        "people.csv: row 2.age: 'old' is neither a number nor a level of 'age'",
        "people.csv: row 4.sex: there is no feature 'sex'",
        "people.csv: row 4.gender: 'gender' is missing",
        "people.csv: row 5.skill: 'basics' is not a level of 'skill'",
        "people.csv: row 5.age: 'old' is neither a number nor a level of 'age'",
        "people.csv: row 6: breaks the constraint 'not (skill == expert and age < 30)'",
    ]
    assert "did you mean 'basic'?" in str(refused.value)
    with pytest.raises(PersonError) as refused:
        read_people(PROBLEM, [bad])
    assert str(refused.value).startswith("row 1.skill: 'basics' is not a level of 'skill'\n")


@pytest.mark.parametrize(("name", "good", "bad"), [("insured", True, "True"), ("grade", 1.0, "1.0")])
def test_what_looks_alike_is_not_taken_for_the_same(name: str, good: object, bad: str) -> None:
    """True means the level 'true', and 1.0 the level '1'; the texts 'True' and '1.0' do not, whoever came before."""
    fine: dict[str, object] = {**ANNE, name: good}
    wrong: dict[str, object] = {**ANNE, name: bad}
    assert len(read_people(PROBLEM, [fine, fine])) == 2
    for records in ([wrong, fine], [fine, wrong]):
        with pytest.raises(PersonError, match=f"row {1 + records.index(wrong)}.{name}: '{bad}' is not a level of"):
            read_people(PROBLEM, records)


# --------------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nbasic,<30,false,female,1\nskilled,42.5,true,male,2\n",
        f"\ufeff{HEADER}\r\nbasic,17,false,female,1\r\n\r\nskilled,30,true,male,2\r\n",
        'grade,gender,"age",insured,skill\n1,"female",<30,false,basic\n"2",male,30-50,true,skilled',
    ],
    ids=["plain", "as Excel saves it", "other order, quoted"],
)
def test_a_file(text: str, tmp_path: Path) -> None:
    assert load_people(write(tmp_path, text), PROBLEM).codes.tolist() == [[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]


def test_mistakes_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}\nbasic,<30,false,female,1\nbasics,40,true,male,2\nbasic,old,true,male,2\n")
    with pytest.raises(PersonError) as refused:
        load_people(path, PROBLEM)
    assert str(refused.value).splitlines()[::2] == [
        f"{path}: row 2.skill: 'basics' is not a level of 'skill'",
        f"{path}: row 3.age: 'old' is neither a number nor a level of 'age'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no people\n    give a header and rows"),
        (f"{HEADER}\n", "it has no people\n    give a header and rows"),
        ("\ufeff", "it has no people\n    give a header and rows"),
        (f"{HEADER}\nbasic,<30,false,female\n", "row 1: does not have the 5 fields of the header"),
        (f"{HEADER}\nbasic,<30,false,female,1,x\n", "row 1: does not have the 5 fields of the header"),
        (
            f"{HEADER}\nbasic,<30,false,female,1\nbasic,<30,false,female,1,x\n",
            "row 2: does not have the 5 fields of the header",
        ),
        (
            "skill,age,insured,gender\nbasic,<30,false,female\n",
            "there is no column for 'grade'\n    the columns are 'skill', 'age', 'insured', 'gender'",
        ),
        (b"skill\n\xff\xfe\n", "is not UTF-8 text\n    save the file as UTF-8 (in Excel: 'CSV UTF-8')"),
    ],
    ids=["empty", "header only", "mark only", "short", "long", "long later", "missing column", "not UTF-8"],
)
def test_a_file_that_is_not_a_table(text: str | bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(PersonError) as refused:
        load_people(path, PROBLEM)
    assert str(refused.value) == f"{path}: {message}"


def test_a_quotation_mark_that_is_not_closed(tmp_path: Path) -> None:
    """In a large file it makes a field that `csv` does not take."""
    path = write(tmp_path, f"{HEADER}\n" + '"basic,<30,false,female,1\n' + "basic,<30,false,female,1\n" * 10_000)
    with pytest.raises(PersonError) as refused:
        load_people(path, PROBLEM)
    assert str(path) in str(refused.value)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(PersonError, match=r"nobody\.csv: no such file"):
        load_people(tmp_path / "nobody.csv", PROBLEM)
    with pytest.raises(PersonError, match="is a directory"):
        load_people(tmp_path, PROBLEM)


def test_bookkeeping_need_not_be_in_a_file(tmp_path: Path) -> None:
    problem, path = sa.parse_problem(DOCUMENT), tmp_path / "people.csv"
    path.write_text("skill,debt,savings\nbasic,1,2\nbasic,0,2\n", encoding="utf-8")
    assert load_people(path, problem).codes.tolist() == [[0, 0, 1, 1], [0, 0, 0, 1]]
    path.write_text(f"skill,debt,savings,{SECRET}\nbasic,1,2,\nbasic,0,2,level-b\n", encoding="utf-8")
    assert load_people(path, problem).codes.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
