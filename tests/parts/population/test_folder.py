"""The folder of a batch: whole parts or none, gone on with if the same is asked for, and refused if not."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from dataclasses import replace
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
from crowds import JOB, bytes_of, job_people, part_bytes, read_parts
from doors import COLUMNS, FIGURES, MANIFEST, Folder, PartSolver
from doors import folder as folder_module
from lanes import scaled
from parts.people.test_counts import write_csv
from safear.files import SUMS, is_leftover
from safear.population import BatchSummary

PROBLEM = sa.parse_problem(JOB)
COUNT, SIZE = 23, 5


def decide(frame: pd.DataFrame) -> Any:
    return frame["skill"] == "expert"


def decide_otherwise(frame: pd.DataFrame) -> Any:
    return frame["skill"] != "basic"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with people in it."""
    folder = tmp_path_factory.mktemp("home")
    job_people(COUNT).to_csv(folder / "people.csv", index=False)
    return folder


def run(home: Path, out: Path, **changes: Any) -> BatchSummary:
    """The batch of these tests, with changes."""
    options: dict[str, Any] = {
        "problem": PROBLEM, "classifier": decide, "people": home / "people.csv", "objective": sa.MeanStd(0.5),
        "method": "greedy", "keep": ["id", "age"], "part_size": SIZE, "threads": 1,
    } | changes  # fmt: skip
    return sa.batch(options.pop("problem"), options.pop("classifier"), options.pop("people"), out=out, **options)


@pytest.fixture(scope="module")
def done(home: Path) -> Path:
    """A batch that was done at once."""
    run(home, home / "done")
    return home / "done"


@pytest.fixture
def copy(done: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    (tmp_path / "copy").mkdir()
    for name, content in bytes_of(done).items():
        (tmp_path / "copy" / name).write_bytes(content)
    return tmp_path / "copy"


def refusal(function: Callable[[], object]) -> str:
    """Every mistake has a place, a cause and a remedy."""
    with pytest.raises(sa.InputError) as error:
        function()
    assert all(mistake.remedy for mistake in error.value.mistakes), "no remedy"
    return str(error.value)


def refused(function: Callable[[], object]) -> str | None:
    """The text of an error of ours, or None if it is done."""
    try:
        function()
    except sa.InputError as error:
        return str(error)
    return None


# -------------------------------------------------------------------------------------------------------- what is in it


def test_what_is_in_a_folder(done: Path) -> None:
    assert sorted(bytes_of(done)) == [MANIFEST, SUMS, *(f"part-0000{i}.parquet" for i in range(5))]
    manifest = json.loads((done / MANIFEST).read_text(encoding="utf-8"))
    assert (manifest["objective"], manifest["method"], manifest["level"]) == ("mean-std:0.5", "greedy", 0.95)
    assert manifest["part size"] == SIZE
    for number in range(5):
        table = pq.read_table(done / f"part-0000{number}.parquet")
        assert table.num_rows == (SIZE if number < 4 else COUNT % SIZE)
        assert table.column_names == ["file", "row", "id", "age", *COLUMNS[2:]]
        kinds = [str(kind) for kind in table.schema.types]
        assert kinds == ["string", "int64", "string", "string", *["string"] * 3, "bool", *["double"] * 8]


def test_what_is_undefined_is_null_and_never_nan(done: Path) -> None:
    tables = [pq.read_table(path) for path in sorted(done.glob("*.parquet"))]
    for row in pa.concat_tables(tables).to_pylist():
        figures = [row[name] for name in FIGURES]
        assert not any(isinstance(figure, float) and np.isnan(figure) for figure in figures)
        if row["decision"] == "plan":
            assert None not in {row["plan"], row["first_action"], row["gives_up"], row["success"], row["overall_mean"]}
        else:
            success = 0 if row["decision"] == "no recourse" else None
            assert (row["success"], row["best_success"]) == (success, success)
            assert {row["plan"], row["first_action"], row["gives_up"], *figures} <= {None, success}


def test_texts_come_even_if_thousands_of_rows_have_none(tmp_path: Path) -> None:
    """Types are not guessed from the first rows."""
    count = 5000
    skill = ["expert"] * count
    skill[3456] = skill[-1] = "basic"
    write_csv(tmp_path / "p.csv", {"skill": skill, "age": [20] * count, "gender": ["male"] * count})
    summary = run(tmp_path, tmp_path / "out", people=tmp_path / "p.csv", keep=[], part_size=count)
    assert (summary.favourable, summary.planned) == (count - 2, 2)
    found = read_parts(tmp_path / "out").dropna(subset="plan")
    assert found["row"].tolist() == [3457, count]
    assert set(found["plan"]) == {"mean-std:0.5"}


# ------------------------------------------------------------------------------------------------------------- resuming


@settings(max_examples=scaled(12))
@given(gone=st.sets(st.integers(0, 4), min_size=1))
def test_parts_that_are_gone_are_made_again_to_the_byte(
    gone: set[int], home: Path, done: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("again") / "out"
    out.mkdir()
    for name, content in bytes_of(done).items():
        (out / name).write_bytes(content)
    for number in gone:
        (out / f"part-0000{number}.parquet").unlink()
    stamps = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    calls: list[tuple[int, int]] = []
    summary = run(home, out, progress=lambda *call: calls.append(call))
    assert bytes_of(out) == bytes_of(done)
    assert (summary.parts, summary.resumed) == (5, 5 - len(gone))
    assert (summary.people, summary.favourable + summary.planned + summary.without_recourse) == (COUNT, COUNT)
    assert {name: (out / name).stat().st_mtime_ns for name in stamps} == stamps  # the others were not touched
    assert len(calls) == len(gone)
    assert calls[-1] == (COUNT, COUNT)
    assert calls == sorted(calls)


def test_a_batch_that_is_done_is_not_solved_again(home: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bytes_of(copy)
    monkeypatch.setattr(PartSolver, "solve", None)
    assert run(home, copy).resumed == 5
    assert bytes_of(copy) == before


def test_half_written_leftovers_are_removed(home: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a part or the manifest is called while it is written."""
    expected = bytes_of(copy)
    (copy / "part-00002.parquet").unlink()
    with monkeypatch.context() as patch:  # as if killed: nobody puts it in its place, or away
        patch.setattr(Path, "replace", lambda *_: None)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(sa.InputError):  # the part is not there to be counted
            run(home, copy)
    left = set(bytes_of(copy)) - set(expected)
    assert len(left) >= 2
    assert all(is_leftover(name) for name in left)
    assert "part-00002.parquet" not in bytes_of(copy)
    run(home, copy)
    assert bytes_of(copy) == expected


def test_a_run_that_was_stopped_before_its_manifest_was_whole(home: Path, done: Path, tmp_path: Path) -> None:
    """The folder is there, and in it nothing but a leftover of the manifest."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".safear-0123456789abcdef.tmp").write_bytes(b"{")
    run(home, tmp_path / "out")
    assert bytes_of(tmp_path / "out") == bytes_of(done)


def test_a_folder_with_an_odd_name(home: Path, done: Path, tmp_path: Path) -> None:
    out = tmp_path / 'it\'s [1] *of* "two"'
    summary = run(home, out)
    assert summary == replace(run(home, out), resumed=0)
    assert part_bytes(out) == part_bytes(done)


# -------------------------------------------------------------------------------------------------------- another batch


def other_goal(problem: sa.Problem) -> sa.Problem:
    return replace(problem, goal=replace(problem.goal, failure_cost=Decimal(13)))


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("problem", {"problem": other_goal(PROBLEM)}),
    ("classifier", {"classifier": decide_otherwise}),
    ("objective", {"objective": sa.MeanStd(0.5000000001)}),
    ("method", {"method": "optimal"}),
    ("level", {"level": 0.9}),
    ("keep", {"keep": ["id"]}),
    ("keep", {"keep": ["age", "id"]}),  # in another order: parts would have other columns than those that are there
    ("part size", {"part_size": SIZE + 1}),
    ("reasons", {"reasons": True}),
]


@pytest.mark.parametrize(("what", "changes"), CHANGES)
def test_another_batch_is_refused(what: str, changes: dict[str, Any], home: Path, copy: Path) -> None:
    before = bytes_of(copy)
    told = refusal(lambda: run(home, copy, **changes))
    assert told == (
        f"{copy}: holds another batch: not the same '{what}'\n    name a new folder, or repeat the same batch"
    )
    assert bytes_of(copy) == before


def test_other_people_are_refused(home: Path, copy: Path, tmp_path: Path) -> None:
    text = (home / "people.csv").read_text(encoding="utf-8")
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    assert "not the same 'people'" in refusal(lambda: run(home, copy, people=tmp_path / "people.csv"))
    run(home, tmp_path / "out", people=tmp_path / "people.csv")
    (tmp_path / "people.csv").write_text(text.replace("basic", "skilled", 1), encoding="utf-8")
    told = refusal(lambda: run(home, tmp_path / "out", people=tmp_path / "people.csv"))
    assert told.startswith(f"{tmp_path / 'out'}: holds another batch: not the same 'people'\n")


def test_everything_that_differs_is_named(home: Path, copy: Path) -> None:
    told = refusal(lambda: run(home, copy, level=0.5, objective=None, method=None))
    assert "not the same 'objective', 'method', 'level'\n" in told


def test_another_batch_that_is_being_made_is_not_disturbed(home: Path, copy: Path) -> None:
    """Whoever asks for something else in its folder is refused before anything there is removed."""
    with (copy / ".safear-0123456789abcdef.tmp").open("wb") as stream:
        stream.write(b"half of it")
        stream.flush()
        fcntl.flock(stream, fcntl.LOCK_EX)
        before = bytes_of(copy)
        assert "not the same 'level'" in refusal(lambda: run(home, copy, level=0.5))
        assert bytes_of(copy) == before
        run(home, copy)
        assert bytes_of(copy) == before


def test_the_same_classifier_read_again_is_the_same(home: Path, copy: Path) -> None:
    run(home, copy, classifier=lambda frame: (frame["skill"] == "expert").to_numpy())


SWITCHES = [f"switch {number}" for number in range(14)]  # with which there are 294,912 inputs


def job_with_switches(folder: Path) -> tuple[sa.Problem, Path]:
    """A problem with many inputs, and some of its people."""
    document = sa.dump_problem(PROBLEM)
    document["features"] |= {name: {"kind": "nominal", "levels": ["off", "on"]} for name in SWITCHES}
    job_people(COUNT).assign(**dict.fromkeys(SWITCHES, "off")).to_csv(folder / "people.csv", index=False)
    return sa.parse_problem(document), folder / "people.csv"


def test_a_classifier_with_many_inputs_is_known_by_some_of_them(home: Path, tmp_path: Path) -> None:
    problem, people = job_with_switches(tmp_path)
    known: dict[str, Any] = {"problem": problem, "people": people}
    asked: list[int] = []

    def count(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return decide(frame)

    def differ(frame: pd.DataFrame) -> Any:
        """On one in 4,096 inputs."""
        return decide(frame) ^ (frame[SWITCHES[:12]] == "on").all(axis=1)

    def differ_for_people(frame: pd.DataFrame) -> Any:
        """On nine inputs of 294,912."""
        return decide(frame) ^ ((frame[SWITCHES] == "off").all(axis=1) & (frame["gender"] == "male"))

    run(home, tmp_path / "out", classifier=count, **known)
    assert 100_000 <= sum(asked) < 110_000
    assert run(home, tmp_path / "out", **known).resumed == 5
    for other in (differ, differ_for_people):
        known["classifier"] = other
        assert "not the same 'classifier'" in refusal(lambda: run(home, tmp_path / "out", **known))


@pytest.mark.parametrize("large", [False, True])
def test_folders_of_the_first_layout_are_continued_as_they_are(
    large: bool, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They know a classifier by up to a million inputs."""
    problem, people = job_with_switches(tmp_path) if large else (PROBLEM, home / "people.csv")
    known: dict[str, Any] = {"problem": problem, "people": people, "keep": ["id"]}
    with monkeypatch.context() as patch:
        patch.setattr(folder_module, "LAYOUT", 1)
        run(home, tmp_path / "out", **known)
    before = bytes_of(tmp_path / "out")
    assert "layout" not in json.loads(before[MANIFEST])
    (tmp_path / "out" / "part-00002.parquet").unlink()
    assert run(home, tmp_path / "out", **known).resumed == 4
    assert bytes_of(tmp_path / "out") == before
    told = refusal(lambda: run(home, tmp_path / "out", classifier=decide_otherwise, **known))
    assert "holds another batch: not the same 'classifier'\n" in told


def test_a_table_of_decisions_that_lacks_what_nobody_meets(home: Path, tmp_path: Path) -> None:
    """A classifier is asked only about what is needed (docs/classifiers.md), also to recognise it."""
    people = write_csv(tmp_path / "p.csv", {"skill": ["basic"], "age": [20], "gender": ["male"]})
    rows = [(skill, age, "male") for skill in ("basic", "skilled", "expert") for age in ("<30", "30-50", ">=50")]
    table = pd.DataFrame(rows, columns=["skill", "age", "gender"])
    table["decision"] = ["hired" if skill == "expert" else "no" for skill in table["skill"]]
    for _ in range(2):
        assert run(home, tmp_path / "out", classifier=table, people=people, keep=[]).planned == 1


def test_classifiers_that_do_not_answer_for_everything_are_told_apart(home: Path, tmp_path: Path) -> None:
    """They are known by their decisions on those whom they are asked about, not by their names."""
    people = write_csv(tmp_path / "p.csv", {"skill": ["basic", "skilled"], "age": [20, 20], "gender": ["male", "male"]})

    def make(least: str) -> Callable[[pd.DataFrame], Any]:
        def decide(frame: pd.DataFrame) -> Any:
            if (frame["gender"] == "female").any():
                raise ValueError("not trained for her")
            return frame["skill"].isin(["basic", "skilled", "expert"][["basic", "skilled", "expert"].index(least) :])

        return decide

    assert run(home, tmp_path / "out", classifier=make("expert"), people=people, keep=[]).planned == 2
    assert run(home, tmp_path / "out", classifier=make("expert"), people=people, keep=[]).resumed == 1
    told = refusal(lambda: run(home, tmp_path / "out", classifier=make("skilled"), people=people, keep=[]))
    assert "not the same 'classifier'" in told


# ---------------------------------------------------------------------------------------------------- folders of no use


@pytest.mark.parametrize(
    "names", [["thesis.txt"], ["._thesis.txt", "thesis.txt"], ["._notes"], [".part-2.odt", "thesis.txt"]], ids=str
)
def test_a_folder_that_is_no_batch(names: list[str], home: Path, tmp_path: Path) -> None:
    """Nothing in it is touched: macOS, for one, keeps things in files whose names begin with '._'."""
    for name in names:
        (tmp_path / name).write_text("do not touch", encoding="utf-8")
    assert refusal(lambda: run(home, tmp_path)) == (
        f"{tmp_path}: already exists and is not the folder of a batch\n    name a new folder"
    )
    assert bytes_of(tmp_path) == dict.fromkeys(sorted(names), b"do not touch")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"x"', "{}", '[["level", 0.95]]', "\xff"], ids=repr)
def test_a_manifest_that_is_none(text: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_bytes(text.encode("latin-1"))
    assert refusal(lambda: run(home, tmp_path / "out")).startswith(f"{tmp_path / 'out'}: ")
    assert bytes_of(tmp_path / "out") == {MANIFEST: text.encode("latin-1")}


def test_a_file_is_no_folder(home: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    assert refusal(lambda: run(home, tmp_path / "out")).startswith(f"{tmp_path / 'out'}: ")
    assert refusal(lambda: run(home, tmp_path / "out" / "in")).startswith(f"{tmp_path / 'out' / 'in'}: ")


def test_a_folder_in_a_folder_that_is_not_there(home: Path, tmp_path: Path) -> None:
    assert refusal(lambda: run(home, tmp_path / "no" / "out")).startswith(f"{tmp_path / 'no' / 'out'}: ")


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
@pytest.mark.parametrize("place", ["mkdir", "iterdir", "replace"])
def test_what_the_system_refuses_is_told(
    place: str, number: int, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also as root, who is refused nothing: a folder that cannot be made, looked at or written.

    The error is made where it is raised: one that outlives the test would keep DuckDB alive through its traceback.
    """

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    if place == "iterdir":
        run(home, tmp_path / "out")
    monkeypatch.setattr(Path, place, refuse)
    with pytest.raises(sa.InputError, match=os.strerror(number)) as told:
        run(home, tmp_path / "out")
    assert str(told.value).startswith(str(tmp_path / "out"))


def test_a_full_disk_while_a_part_is_written(
    home: Path, done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB's own error becomes ours; nothing half-written stays, and there is something to go on with."""
    out, write = tmp_path / "out", Folder.write

    def fail_at_two(folder: Folder, number: int, rows: pd.DataFrame) -> None:
        if number == 2:
            with monkeypatch.context() as patch:
                patch.setattr(folder_module, "quote_sql", lambda _: "'/no/such/folder/part'")
                write(folder, number, rows)
        write(folder, number, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", fail_at_two)
        with pytest.raises(sa.InputError, match="cannot be written") as error:
            run(home, out)
    assert str(error.value).startswith(f"{out / 'part-00002.parquet'}: cannot be written: ")
    assert sorted(bytes_of(out)) == [MANIFEST, SUMS, "part-00000.parquet", "part-00001.parquet"]
    run(home, out)
    assert bytes_of(out) == bytes_of(done)


# ----------------------------------------------------------------------------------------------- parts that are damaged


def flip(content: bytes) -> bytes:
    """One bit of a number: still a Parquet file, and nobody would see it."""
    return content[: len(content) // 3] + bytes([content[len(content) // 3] ^ 1]) + content[len(content) // 3 + 1 :]


DAMAGE: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "no Parquet": lambda _: b"PAR1 not any more",
    "nothing": lambda _: b"",
    "zeros": lambda there: bytes(len(there["part-00001.parquet"])),
    "half": lambda there: there["part-00001.parquet"][:500],
    "more": lambda there: there["part-00001.parquet"] + b"x",
    "a bit": lambda there: flip(there["part-00001.parquet"]),
    "other people": lambda there: there["part-00003.parquet"],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_part_that_is_damaged_is_solved_again(
    how: str, home: Path, copy: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = bytes_of(copy)
    (copy / "part-00001.parquet").write_bytes(DAMAGE[how](expected))
    summary = run(home, copy)
    assert bytes_of(copy) == expected
    assert (summary.parts, summary.resumed) == (5, 4)
    assert summary.favourable + summary.planned + summary.without_recourse == COUNT
    place = copy / "part-00001.parquet"
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        f"{place}: is damaged, or not from this batch; it is solved again"
    ]


def test_a_part_of_another_batch_is_solved_again(home: Path, copy: Path, tmp_path: Path) -> None:
    """With its folder's list or without."""
    expected = bytes_of(copy)
    run(home, tmp_path / "other", classifier=decide_otherwise)
    other = bytes_of(tmp_path / "other")
    for names in (["part-00001.parquet"], ["part-00001.parquet", SUMS], [*part_bytes(copy), SUMS]):
        for name in names:
            (copy / name).write_bytes(other[name])
        assert run(home, copy).resumed == (4 if len(names) == 1 else 0)
        assert bytes_of(copy) == expected


def test_what_is_no_part_of_the_batch_is_neither_counted_nor_touched(
    home: Path, copy: Path, done: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected, before = bytes_of(copy), run(home, done)
    for name in ("part-00005.parquet", "part-copy.parquet"):
        (copy / name).write_bytes(expected["part-00000.parquet"])
    assert run(home, copy) == before
    assert bytes_of(copy).keys() - expected.keys() == {"part-00005.parquet", "part-copy.parquet"}
    told = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert told == [
        f"{copy / name}: is no part of this batch, and is not counted"
        for name in ("part-00005.parquet", "part-copy.parquet")
    ]


def test_a_list_that_is_damaged_or_gone(home: Path, copy: Path) -> None:
    expected = bytes_of(copy)
    lines = expected[SUMS].splitlines(keepends=True)
    for content, resumed in ((None, 0), (b"", 0), (b"".join(lines[:3]) + lines[3][:40], 2), (b"".join(lines[::-1]), 5)):
        (copy / SUMS).unlink()
        if content is not None:
            (copy / SUMS).write_bytes(content)
        assert run(home, copy).resumed == resumed
        assert bytes_of(copy) == expected


# ----------------------------------------------------------------------------------------------------- names that clash


@pytest.mark.parametrize("name", ["file", "row", "plan", "mean", "overall_cvar"])
def test_a_column_to_keep_that_the_result_has_itself(name: str, home: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"skill": ["basic"], "age": [20], "gender": ["male"], name: ["x"]})
    told = refusal(lambda: run(home, tmp_path / "out", people=path, keep=[name]))
    assert told.startswith(f"{tmp_path / 'out'}: ")
    assert f"'{name}'" in told
    assert told.endswith("\n    rename the column to keep")
    assert not (tmp_path / "out").exists()


def test_a_column_to_keep_may_be_named_reason_unless_there_are_reasons(home: Path, tmp_path: Path) -> None:
    """As what it is: a number stays one."""
    path = tmp_path / "p.parquet"
    pd.DataFrame({"skill": ["basic"], "age": [20], "gender": ["male"], "reason": [7]}).to_parquet(path)
    told = refusal(lambda: run(home, tmp_path / "out", people=path, keep=["reason"], reasons=True))
    assert "'reason'" in told
    run(home, tmp_path / "out", people=path, keep=["reason"])
    assert read_parts(tmp_path / "out")["reason"].tolist() == [7]


@pytest.mark.parametrize("names", [["Row"], ["MEAN"], ["ID", "id"], ["Id", "iD", "x"]], ids=str)
def test_names_that_differ_in_case_only(names: list[str], home: Path, tmp_path: Path) -> None:
    """To DuckDB they are the same: what is kept is what was there, or it is refused."""
    columns = {"skill": ["basic"], "age": [20], "gender": ["male"]} | {name: [f"this is {name}"] for name in names}
    path = write_csv(tmp_path / "p.csv", columns)
    told = refused(lambda: run(home, tmp_path / "out", people=path, keep=names))
    if told is not None:
        assert any(f"'{name}'" in told for name in names)
        return
    (row,) = pq.read_table(tmp_path / "out" / "part-00000.parquet").to_pylist()
    assert {name: row.get(name) for name in names} == {name: f"this is {name}" for name in names}
    assert row["row"] == 1
