"""Logs of attempts: what their cells mean, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doors import MOST_TOLD, UNKNOWN, Attempts, open_log, read_attempts
from logs import PROBLEM, log_of
from safear.errors import AttemptsError

ROWS = """\
action,worked,cost,date,skill,savings,note
learn,yes,1.5,2024-01-31,basic,99.5,x
learn,No,,2024-02-01T10:00,skilled,500,y
hope,TRUE,0,2024-03-01,,,z
save,0,2e1,2024-03-01,manager,100-500,
"""


def read(source: Path | pd.DataFrame) -> Attempts:
    frame, place = open_log(source)
    return read_attempts(frame, PROBLEM, place)


def told(source: str | pd.DataFrame, tmp_path: Path) -> str:
    path = tmp_path / "log.csv"
    if isinstance(source, str):
        path.write_text(source, encoding="utf-8")
    with pytest.raises(AttemptsError) as caught:
        read(path if isinstance(source, str) else source)
    assert all(item.code != "invalid" for item in caught.value.mistakes)
    return str(caught.value).replace(str(tmp_path / "log.csv"), "log.csv")


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "frame"])
def test_what_cells_mean(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(ROWS, encoding="utf-8")
    source: Path | pd.DataFrame = path
    if kind == "tsv":
        source = tmp_path / "log.tsv"
        source.write_text(ROWS.replace(",", "\t"), encoding="utf-8")
    elif kind == "frame":
        source = pd.read_csv(path).assign(worked=pd.Series([True, False, True, 0], dtype=object))
    elif kind == "parquet":
        source = tmp_path / "log.parquet"
        pd.read_csv(path).assign(worked=[True, False, True, False]).to_parquet(source)
    log = read(source)
    names = [action.name for action in PROBLEM.actions]
    assert [names[number] for number in log.action] == ["learn", "learn", "hope", "save"]
    assert log.worked.tolist() == [True, False, True, False]
    assert log.cost.tolist() == [1.5, None, 0, 20]
    assert log.date is not None
    assert log.date.astype("datetime64[D]").astype(str).tolist() == [
        "2024-01-31",
        "2024-02-01",
        "2024-03-01",
        "2024-03-01",
    ]
    assert {name: codes.tolist() for name, codes in log.levels.items()} == {
        "skill": [0, 1, UNKNOWN, 2],
        "savings": [0, 2, UNKNOWN, 1],
    }


@pytest.mark.parametrize(
    "row, said",
    [
        ("lern,yes,1,2024-01-01,basic,1,", "action: the problem has no action 'lern'\n    did you mean 'learn'?"),
        (",yes,1,2024-01-01,basic,1,", "action: the action is missing\n    name one of the problem's actions"),
        ("learn,maybe,1,2024-01-01,basic,1,", "worked: 'maybe' is neither yes nor no\n    write yes or no"),
        (
            "learn,,1,2024-01-01,basic,1,",
            "worked: nothing is neither yes nor no\n    write yes or no, or take out attempts that have not ended",
        ),
        ("learn,2,1,2024-01-01,basic,1,", "worked: '2' is neither yes nor no\n    write yes or no"),
        ("learn,yes,-1,2024-01-01,basic,1,", "cost: the cost -1 is below 0\n    costs are positive"),
        ("learn,yes,1e16,2024-01-01,basic,1,", "cost: the cost 1e16 is above 1e+15\n    count in a larger unit"),
        (
            "learn,yes,dear,2024-01-01,basic,1,",
            "cost: 'dear' is not a cost\n    write a number, or leave the cell empty",
        ),
        (
            "learn,yes,inf,2024-01-01,basic,1,",
            "cost: 'inf' is not a cost\n    write a number, or leave the cell empty",
        ),
        ("learn,yes,1,yesterday,basic,1,", "date: 'yesterday' is not a date\n    write dates as 2024-05-31"),
        *(
            (f"learn,yes,1,{text},basic,1,", f"date: '{text}' is not a date\n    write dates as 2024-05-31")
            for text in ("13/05/2024", "05/06/2024", "now", "may", "10:30", "2024", "2024-05")
        ),
        ("learn,yes,1,,basic,1,", "date: nothing is not a date\n    write dates as 2024-05-31"),
        (
            "learn,yes,1,2024-01-01,expert,1,",
            "skill: 'expert' is not a level of 'skill'\n    possible: 'basic', 'skilled', 'manager'",
        ),
        (
            "learn,yes,1,2024-01-01,basic,-5,",
            "savings: -5 is below the least that is possible, 0\n    give a number from 0 on",
        ),
        (
            "learn,yes,1,2024-01-01,basic,much,",
            "savings: 'much' is neither a number nor a level of 'savings'\n    possible: '<100', '100-500', '>=500'",
        ),
    ],
)
def test_wrong_cells_are_told_by_row(row: str, said: str, tmp_path: Path) -> None:
    assert told(f"{ROWS}{row}\n", tmp_path) == f"log.csv: row 5.{said}"


def test_dates_may_have_a_time_of_day() -> None:
    dates = [
        "2024-05-31",
        "2024-05-31T10:30",
        "2024-05-31 10:30:15.123456789",
        "2024-05-31T10:30:00+02:00",
        "2999-01-01",
    ]
    typed = [pd.Timestamp("2024-05-31 10:30").date(), pd.Timestamp("2024-05-31 10:30"), np.datetime64("2024-05-31")]
    log = read(pd.DataFrame({"action": "learn", "worked": 1, "date": pd.Series([*dates, *typed], dtype=object)}))
    assert log.date is not None
    assert log.date.astype(str).tolist() == [
        "2024-05-31T00:00:00",
        "2024-05-31T10:30:00",
        "2024-05-31T10:30:15",
        "2024-05-31T10:30:00",
        "2999-01-01T00:00:00",
        "2024-05-31T00:00:00",
        "2024-05-31T10:30:00",
        "2024-05-31T00:00:00",
    ]


@pytest.mark.parametrize(
    "frame, said",
    [
        (pd.DataFrame({"action": ["learn"], "worked": [np.nan]}), "row 1.worked: nothing is neither yes nor no"),
        (pd.DataFrame({"action": [None], "worked": [True]}), "row 1.action: the action is missing"),
        (pd.DataFrame({"action": ["learn"], "worked": [0.5]}), "row 1.worked: '0.5' is neither yes nor no"),
        (pd.DataFrame({"action": ["learn"], "worked": [1], "cost": [np.inf]}), "row 1.cost: 'inf' is not a cost"),
        (pd.DataFrame({"action": ["learn"], "worked": [1], "date": [pd.NaT]}), "row 1.date: nothing is not a date"),
    ],
)
def test_wrong_cells_of_a_frame(frame: pd.DataFrame, said: str, tmp_path: Path) -> None:
    assert told(frame, tmp_path).startswith(said)


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "",
            "log.csv: there are no attempts\n    give a header with 'action' and 'worked', and a row for each attempt",
        ),
        ("action,worked\n", "log.csv: there are no attempts"),
        ("worked,step\nyes,learn\n", "log.csv: there is no column 'action'\n    add it, with the names of the"),
        ("Actions,worked\nlearn,yes\n", "log.csv: there is no column 'action'\n    rename 'Actions'?"),
        ("action,skill\nlearn,basic\n", "log.csv: there is no column 'worked'\n    add it, with yes or no"),
        (
            "action;worked\nlearn;yes\n",
            "log.csv: its columns are separated by semicolons\n    save it with commas",
        ),
        ("action,worked,worked\nlearn,yes,no\n", "log.csv: there are two columns 'worked'\n    rename one"),
        ("action,worked\nlearn\n", "log.csv: row 1: does not have the 2 fields of the header"),
    ],
)
def test_wrong_logs_as_a_whole(text: str, said: str, tmp_path: Path) -> None:
    assert told(text, tmp_path).startswith(said)


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("log.xlsx", b"x", "is neither CSV nor Parquet\n    name it .csv, .csv.gz, .tsv or .parquet"),
        ("log.csv", b"action,worked\nlearn,\xfc\n", "is not UTF-8 text\n    save the file as UTF-8"),
        ("log.csv", b'action,worked\n"learn,yes\n', "cannot be read: unexpected end of data"),
        ("log.parquet", b"x", "cannot be read: "),
    ],
)
def test_files_that_are_no_logs(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AttemptsError) as caught:
        open_log(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: {said}")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(AttemptsError, match=r"nothing\.csv: no such file"):
        open_log(tmp_path / "nothing.csv")


def test_two_columns_of_the_same_name() -> None:
    frame = pd.DataFrame([["learn", "yes", "no"]], columns=["action", "worked", "worked"])
    with pytest.raises(AttemptsError, match="there are two columns 'worked'"):
        open_log(frame)


def test_many_wrong_cells_are_counted(tmp_path: Path) -> None:
    frame = log_of(("learn", 3, 50)).assign(worked="maybe")
    said = told(frame, tmp_path)
    assert said.count("is neither yes nor no") == MOST_TOLD
    assert said.endswith(f"{50 - MOST_TOLD} more cells are wrong")


def test_half_a_character_in_a_name_of_a_column() -> None:
    """Python can hold it, but Arrow cannot."""
    frame = pd.DataFrame([["learn", "yes", 1]])
    frame.columns = pd.Index(["action", "worked", "note\ud800"], dtype=object)
    assert len(read(frame)) == 1
