"""Files in other encodings, and tables with other separators: they are named, with what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import safear as sa
from safear import load_example, load_person, load_plan, load_problem, load_terms
from safear.errors import InputError, PersonError

PROBLEM = load_example("loan")
NAMES = list(PROBLEM.feature_by_name)
PERSON = next(iter(PROBLEM.people.values()))


def _write_table(path: Path, *, encoding: str = "utf-8", separator: str = ",") -> Path:
    rows = [NAMES, [str(PERSON[name]) for name in NAMES]]
    path.write_bytes("\r\n".join(separator.join(row) for row in rows).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    text = tmp_path / "file.yaml"
    text.write_bytes(json.dumps(sa.dump_problem(PROBLEM)).encode(encoding))
    plan = tmp_path / "plan.json"
    plan.write_bytes('{"plan": "a saved plan, or what is meant as one"}'.encode(encoding))
    table = _write_table(tmp_path / "people.csv", encoding=encoding)
    readers: list[Callable[[], object]] = [
        lambda: load_problem(text),
        lambda: load_person(text, PROBLEM),
        lambda: load_terms(text, PROBLEM),
        lambda: load_plan(plan),
        lambda: sa.compare(PROBLEM, None, table, objective=sa.Mean()),
        lambda: sa.recommend(PROBLEM, None, table),
        lambda: sa.audit(PROBLEM, None, table, groups=NAMES[0]),
    ]
    for read in readers:
        with pytest.raises(InputError) as raised:
            read()
        (found,) = raised.value.mistakes
        assert found.code == "not_utf8"
        assert f"is {encoding[:6].upper()} text" in found.cause
        assert "UTF-8" in str(found.remedy)


def test_utf_8_with_a_mark_is_read(tmp_path: Path) -> None:
    table = _write_table(tmp_path / "people.csv", encoding="utf-8-sig")
    assert sa.recommend(PROBLEM, None, table).case.decision.record[NAMES[0]] == PERSON[NAMES[0]]
    assert sa.audit(PROBLEM, None, table, groups=NAMES[0]).overall["n"] == 1


@pytest.mark.parametrize(
    ("separator", "ending", "word", "remedy"),
    [
        (";", ".csv", "semicolons", "save it with commas"),
        ("\t", ".csv", "tabs", "name it .tsv"),
        ("|", ".csv", "bars", "save it with commas"),
        (",", ".tsv", "commas", "name it .csv"),
    ],
)
def test_other_separators_are_named(tmp_path: Path, separator: str, ending: str, word: str, remedy: str) -> None:
    table = _write_table(tmp_path / f"people{ending}", separator=separator)
    readers: list[Callable[[], object]] = [
        lambda: sa.recommend(PROBLEM, None, table),
        lambda: sa.audit(PROBLEM, None, table, groups=NAMES[0]),
        lambda: sa.compare(PROBLEM, None, table, objective=sa.Mean()),
    ]
    for read in readers:
        with pytest.raises(PersonError) as raised:
            read()
        (found,) = raised.value.mistakes
        assert (found.code, word in found.cause, remedy in str(found.remedy)) == ("wrong_delimiter", True, True)
