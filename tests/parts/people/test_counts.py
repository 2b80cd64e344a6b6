"""Whole populations from files: no row is lost or counted twice, and what cannot be used is told."""

from __future__ import annotations

import csv
import gzip
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safear as sa
from doors import Sight, counts, file_counts, require_somebody
from safear.errors import InputError, MissingExtraError, PersonError, TooLargeError
from safear.people import Population, read_population
from safear.problem import Feature, parse_condition

JOB = Feature("job", "nominal", ("none", "part, time", 'it\'s "full"'))
AGE = Feature("age", "numeric", ("<20", "20-25", ">=25"), edges=(Decimal(20), Decimal(25)))


def problem_of(*features: Feature, constraints: Sequence[str] = ()) -> sa.Problem:
    return sa.Problem("test", 3, features, (), constraints=tuple(map(parse_condition, constraints)))


def write_csv(path: Path, columns: Mapping[str, Any], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_parquet(path: Path, columns: Mapping[str, Any]) -> Path:
    pq.write_table(pa.table(dict(columns)), path)
    return path


def kinds(population: Population) -> dict[tuple[Any, ...], int]:
    """Each kind of person with its count; a kind that is listed twice fails here."""
    rows = [
        (*codes, *(values[i] for values in population.group_values))
        for i, codes in enumerate(population.codes.tolist())
    ]
    assert len(set(rows)) == len(rows)
    assert rows == sorted(rows)
    return dict(zip(rows, population.counts.tolist(), strict=True))


# Counting


@pytest.mark.parametrize("threads", [1, 2])
def test_counts_and_groups(threads: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    age, job = rng.integers(15, 30, 5000), rng.choice(JOB.levels, 5000)
    town, weight = rng.choice(["Ulm", "Bonn", ""], 5000), rng.integers(0, 2, 5000)
    wanted = Counter(
        (JOB.levels.index(j), AGE.levels.index(AGE.level_of(Decimal(int(a)))), t, AGE.level_of(Decimal(int(a))), str(w))
        for a, j, t, w in zip(age, job, town, weight, strict=True)
    )
    columns = {"town": town, "age": age, "w": weight, "job": job}
    for source in (
        write_csv(tmp_path / "p.csv", columns),
        write_csv(tmp_path / "p.tsv", columns, "\t"),
        write_parquet(tmp_path / "p.parquet", columns),
        pd.DataFrame(columns),
    ):
        population = read_population(problem_of(JOB, AGE), source, groups=["town", "age", "w", "town"], threads=threads)
        assert kinds(population) == wanted
        assert population.groups == ("town", "age", "w")
        assert (population.rows, population.skipped) == (5000, 0)
        assert population.codes.dtype == np.int16
        assert population.counts.dtype == np.int64


def test_the_order_of_records_does_not_hang_on_threads(tmp_path: Path) -> None:
    """An audit's draws go through people in this order."""
    rng = np.random.default_rng(4)
    path = tmp_path / "people.parquet"
    columns = {"job": rng.choice(JOB.levels, 9000), "postcode": rng.integers(0, 700, 9000)}
    pq.write_table(pa.table(columns), path, row_group_size=500)
    found = [
        read_population(problem_of(JOB), path, threads=threads, sight=Sight(given=("postcode",)))
        for threads in (1, 2, 4)
    ]
    alone, *others = [population.filed.given["postcode"].tolist() for population in found]
    assert all(other == alone for other in others)


def test_missing_group_values_are_a_group_of_their_own(tmp_path: Path) -> None:
    columns = {"job": ["none"] * 4, "size": pa.array([1.5, None, float("nan"), 1.5])}
    population = read_population(problem_of(JOB), write_parquet(tmp_path / "p.parquet", columns), groups=["size"])
    assert kinds(population) == {(0, ""): 2, (0, "1.5"): 2}


def test_many_features_need_several_keys(tmp_path: Path) -> None:
    """Of 32 bits: 41 ** 13, with one level more for what is undecided, is more than two of them hold."""
    features = [Feature(f"f{i}", "ordinal", tuple(f"l{j}" for j in range(40))) for i in range(13)]
    rows = np.random.default_rng(1).integers(0, 40, (300, 13))
    rows = np.concatenate([rows, rows[:50]])
    path = write_csv(tmp_path / "p.csv", {f"f{i}": [f"l{c}" for c in rows[:, i]] for i in range(13)})
    assert kinds(read_population(problem_of(*features), path)) == Counter(map(tuple, rows.tolist()))


def test_files_with_other_columns_orders_and_types_come_together(tmp_path: Path) -> None:
    write_csv(tmp_path / "1.csv", {"job": ["none", "none"], "age": ["20", "<20"]})
    write_csv(tmp_path / "2.csv", {"age": ["30"], "extra": ["x"], "job": ["none"]})
    write_parquet(tmp_path / "3.parquet", {"age": pa.array([20.5, 19.5]), "job": ["none", "none"]})
    write_parquet(tmp_path / "4.parquet", {"age": pa.array([20, 19]), "job": ["none", "none"]})
    (tmp_path / "5.csv.gz").write_bytes(gzip.compress(b"age,job\n20,none\n"))
    (tmp_path / "6.csv").write_bytes(b"age,job\n")  # nobody, among others, is no mistake
    (tmp_path / "folder.csv").mkdir()
    population = read_population(problem_of(JOB, AGE), tmp_path / "*")
    assert kinds(population) == {(0, 0): 3, (0, 1): 4, (0, 2): 1}


def test_columns_that_differ_in_case_only(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"AGE": ["x"], "age": ["20"], "Job": ["y"], "job": ["none"]})
    assert kinds(read_population(problem_of(JOB, AGE), path, groups=["AGE"])) == {(0, 1, "x"): 1}


@pytest.mark.parametrize("name", ["it's [1].csv", "a*b?.csv", 'say "x"; --.csv', "p.CSV", "~x.csv", "ü %20.csv"])
def test_odd_names(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "it's 1.csv", {"job": ["nobody"]})  # what the first would match as a pattern
    write_csv(tmp_path / name, {"job": ["none"]})
    assert kinds(read_population(problem_of(JOB), name)) == {(0,): 1}


def test_odd_column_names(tmp_path: Path) -> None:
    feature = Feature("a \"b\" 'c'; --", "nominal", ("it's", "y"))
    columns = {feature.name: ["it's", "y"], "g'\"": ["1", "2"], "n": ["1", "1"], "x0": ["2", "3"]}
    for path in (write_csv(tmp_path / "p.csv", columns), write_parquet(tmp_path / "p.parquet", columns)):
        population = read_population(problem_of(feature), path, groups=["g'\"", "n", "x0"])
        assert kinds(population) == {(0, "1", "1", "2"): 1, (1, "2", "1", "3"): 1}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_byte_order_mark_and_line_ends(end: str, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(["job,age", 'none,"20"', '"part, time",30', ""]).encode())
    assert kinds(read_population(problem_of(JOB, AGE), path)) == {(0, 1): 1, (1, 2): 1}


# Bad rows


def bad_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))


def test_the_first_bad_row_is_an_error(tmp_path: Path) -> None:
    columns = {"job": ["none"] * 4000, "age": ["20"] * 4000}
    columns["age"][2345] = "old"
    columns["job"][3000] = "non"
    for source in (
        write_csv(tmp_path / "p.csv", columns),
        write_parquet(tmp_path / "p.parquet", columns),
        pd.DataFrame(columns),
    ):
        with pytest.raises(PersonError) as caught:
            read_population(problem_of(JOB, AGE), source)
        first, summary = caught.value.mistakes
        assert first.place.path == ("row 2346", "age")
        assert first.place.file == (None if isinstance(source, pd.DataFrame) else str(source))
        assert first.cause == "'old' is neither a number nor a level of 'age'"
        assert summary.cause == "2 of 4000 rows cannot be used"


def test_bad_rows_are_set_aside(tmp_path: Path) -> None:
    problem = problem_of(JOB, AGE, constraints=["not (job == none and age == '<20')"])
    columns = {
        "id": ["p", "q", "r", "s", "t", "u"],
        "age": ["20", "x", "3", "", "3", "30"],
        "job": ["none", "none", "none", "none", "part, time", "y"],
    }
    aside = tmp_path / "bad.csv"
    for source in (
        write_csv(tmp_path / "p.csv", columns),
        write_parquet(tmp_path / "p.parquet", columns),
        pd.DataFrame(columns),
    ):
        population = read_population(problem, source, skip_bad=aside)
        assert kinds(population) == {(0, 1): 1, (1, 0): 1}
        assert (population.rows, population.skipped) == (6, 4)
        file = "" if isinstance(source, pd.DataFrame) else str(source)
        assert bad_rows(aside) == [
            ["file", "row", "column", "value", "id", "age", "job"],
            [file, "2", "age", "x", "q", "x", "none"],
            [file, "3", "", "not (job == none and age == '<20')", "r", "3", "none"],
            [file, "4", "age", "", "s", "", "none"],
            [file, "6", "job", "y", "u", "30", "y"],
        ]
        with pytest.raises(PersonError, match="4 of 6 rows"):
            read_population(problem, source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "p.csv", "p.parquet"]


def test_a_broken_constraint_alone_is_an_error(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"job": ["none", "none"], "age": ["20", "3"]})
    with pytest.raises(PersonError) as caught:
        read_population(problem_of(JOB, AGE, constraints=["job != none or age >= 20"]), path)
    assert caught.value.mistakes[0].place.path == ("row 2",)
    assert "breaks the constraint 'job != none or age >= 20'" in caught.value.mistakes[0].cause


def test_bad_rows_of_several_files_in_order(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", {"age": ["20", "odd"]})
    write_parquet(tmp_path / "b.parquet", {"id": [1, 2], "age": pa.array([float("nan"), 1])})
    write_csv(tmp_path / "c.csv", {"age": ["even"]})
    population = read_population(problem_of(AGE), f"{tmp_path}/[abc].*", skip_bad=tmp_path / "bad.csv")
    assert (population.rows, population.skipped) == (5, 3)
    assert [row[0][-9:].rpartition("/")[2] + row[1] for row in bad_rows(tmp_path / "bad.csv") if row[0] != "file"] == [
        "a.csv2",
        "b.parquet1",
        "c.csv1",
    ]
    with pytest.raises(PersonError, match=r"a\.csv: row 2\.age: 'odd'"):
        read_population(problem_of(AGE), f"{tmp_path}/[abc].*")


MALFORMED = b'job,age\nnone,20\nnone\nnone,21,x\nnone,old\n"no"ne,3\n"part, time","30"\nnone,\xff\n'


def test_malformed_rows(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(MALFORMED)
    population = read_population(problem_of(JOB, AGE), path, skip_bad=tmp_path / "bad.csv")
    assert kinds(population) == {(0, 1): 1, (1, 2): 1}
    assert (population.rows, population.skipped) == (7, 5)
    header, *found = bad_rows(tmp_path / "bad.csv")
    assert header == ["file", "row", "column", "value", "job", "age"]
    rows = [row[1:] for row in found]
    assert [row[:3] for row in rows[:4]] == [
        ["2", "", "none"],
        ["3", "", "none,21,x"],
        ["4", "age", "old"],
        ["5", "", '"no"ne,3'],
    ]
    assert [row[0] for row in rows] == ["2", "3", "4", "5", "7"]
    with pytest.raises(PersonError, match="5 of 7 rows") as caught:
        read_population(problem_of(JOB, AGE), path)
    assert caught.value.mistakes[0].place.path == ("row 2",)


def test_a_quote_that_swallows_rows_is_never_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("job\n" + "none\n" * 50 + '"none\n' + "none\n" * 50)
    with pytest.raises(PersonError, match="a quote is not closed"):
        read_population(problem_of(JOB), path, skip_bad=tmp_path / "bad.csv")
    assert not (tmp_path / "bad.csv").exists()
    with pytest.raises(PersonError):
        read_population(problem_of(JOB), path)


def test_only_bad_rows_leave_nobody(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"job": ["x", "y"]})
    population = read_population(problem_of(JOB), path, skip_bad=tmp_path / "bad.csv")
    assert population.codes.shape == (0, 1)
    assert population.skipped == population.rows == 2
    with pytest.raises(PersonError) as error:
        require_somebody(population, tmp_path / "bad.csv")
    assert str(error.value) == f"none of the 2 rows can be used\n    {tmp_path / 'bad.csv'} says why"


def test_personal_terms_are_not_counted_and_that_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    problem = sa.load_example("loan")
    person = {name: [str(problem.people["applicant"][name])] for name in problem.feature_by_name}
    path = write_csv(tmp_path / "p.csv", person | {"cost:change job": ["2"]})
    read_population(problem, path)
    assert [record.message for record in caplog.records] == [
        "ignored, because an audit uses the problem's own terms: 'cost:change job'"
    ]


def test_the_file_for_bad_rows_cannot_be_written(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", {"job": ["x"]})
    with pytest.raises(InputError, match="cannot be written"):
        read_population(problem_of(JOB), path, skip_bad=tmp_path / "nowhere" / "bad.csv")


# What cannot be read at all


def test_missing_columns_are_reported_together(tmp_path: Path) -> None:
    columns = {"jobs": ["none"], "agee": ["3"], "town": ["x"]}
    for source in (write_csv(tmp_path / "p.csv", columns), write_parquet(tmp_path / "p.parquet", columns)):
        with pytest.raises(PersonError) as caught:
            read_population(problem_of(JOB, AGE), source, groups=["tow"])
        assert {m.place.path[0]: m.remedy for m in caught.value.mistakes} == {
            "job": "did you mean 'jobs'?",
            "age": "did you mean 'agee'?",
            "tow": "did you mean 'town'?",
        }
        assert all("'jobs', 'agee', 'town'" in m.cause for m in caught.value.mistakes)


def test_a_column_twice(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("job,job\nnone,none\n")
    with pytest.raises(PersonError, match="two columns 'job'"):
        read_population(problem_of(JOB), tmp_path / "p.csv")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("p.csv", b"", "is empty"),
        ("p.parquet", b"", "is empty"),
        ("p.csv", b"job\n", "it has no people"),
        ("p.csv", b"job", "it has no people"),
        ("p.csv", b"\njob\nnone\n", "header"),
        ("p.csv", b'"job\nx",y\nnone,1\n', "header"),
        ("p.csv", b"\xff\xfe,job\n1,none\n", "is UTF-16 text, not UTF-8"),
        ("p.parquet", b"PAR1 or not", "cannot be read"),
        ("p.csv.gz", b"job\nnone\n", "is damaged: Not a gzipped file"),
        ("p.xlsx", b"job\nnone\n", "neither CSV nor Parquet"),
    ],
)
def test_unreadable_files(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PersonError, match=message) as caught:
        read_population(problem_of(JOB), tmp_path / name)
    assert caught.value.mistakes[0].place.file == str(tmp_path / name)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(PersonError, match="is a directory"):
        read_population(problem_of(JOB), tmp_path)
    for name in ("p.csv", "*.csv"):
        with pytest.raises(PersonError, match="no such file"):
            read_population(problem_of(JOB), tmp_path / name)


def test_a_parquet_file_without_rows(tmp_path: Path) -> None:
    with pytest.raises(PersonError, match="it has no people"):
        read_population(problem_of(JOB), write_parquet(tmp_path / "p.parquet", {"job": pa.array([], pa.string())}))


def test_half_a_character_in_a_group_is_written_out() -> None:
    frame = pd.DataFrame({"job": ["none", "none"], "branch": pd.Series([1, "\ud800"], dtype=object)})
    assert read_population(problem_of(JOB), frame, groups=["branch"]).group_values == (("1", r"\ud800"),)


def test_too_many_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MAX_COMBINATIONS", 10)
    path = write_csv(tmp_path / "p.csv", {"job": ["none"] * 11, "id": range(11)})
    with pytest.raises(TooLargeError, match="more than 10 combinations"):
        read_population(problem_of(JOB), path, groups=["id"])
    assert read_population(problem_of(JOB), path).rows == 11


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"safear\[audit\]"):
        read_population(problem_of(JOB), write_csv(tmp_path / "p.csv", {"job": ["none"]}))
    assert read_population(problem_of(JOB), pd.DataFrame({"job": ["none"]})).rows == 1


def test_nothing_is_fetched_and_nothing_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = []
    count = file_counts.Files.count

    def spy(self: Any) -> Any:
        sql = "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%_known_extensions'"
        seen.extend(self.connection.execute(sql).fetchall())
        return count(self)

    monkeypatch.setattr(file_counts.Files, "count", spy)
    read_population(problem_of(JOB), write_csv(tmp_path / "p.csv", {"job": ["none"]}))
    assert {value for _, value in seen} == {"false"}
    assert len(seen) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_a_name_that_is_half_a_character() -> None:
    problem = sa.load_example("loan")
    with pytest.raises(PersonError, match="holds half a character"):
        read_population(problem, [{**(problem.default_person or {}), "\ud800": "1"}])
