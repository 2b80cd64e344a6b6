"""Tables of decisions."""

from __future__ import annotations

from pathlib import Path

import pytest

from classifier.small_sources import GOALS, PROBLEM, goals, refusal
from safear.classifier.adapters import TableClassifier
from safear.classifier.sources import load_classifier
from safear.mdp.compile import compile_mdp
from safear.problem.load import parse_problem


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
    assert isinstance(load_classifier(source, PROBLEM), TableClassifier)
    assert goals(source) == GOALS


def test_levels_in_a_table_are_read_as_written(tmp_path: Path) -> None:
    """`no`, `NA` and `01` are names, not false, not missing and not the number 1."""
    problem = parse_problem(
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
    assert compile_mdp(problem, load_classifier(str(file), problem)).goal.tolist() == [False, True, False, True]


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
