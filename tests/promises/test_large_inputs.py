"""Inputs of any size and depth: work grows with size, and what is too large or too deep is refused with its place."""

from __future__ import annotations

import cProfile
import json
import pstats
from collections.abc import Callable
from pathlib import Path

import pytest

import safear as sa
from safear import parse_problem
from safear.errors import PersonError, ProblemError


def _count_calls(act: Callable[[], object]) -> int:
    profile = cProfile.Profile()
    profile.runcall(act)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def _write_problem(*, features: int = 1, people: int = 0, terms: int = 1) -> str:
    names = [f"f{i}" for i in range(features)]
    lines = ["safear: 1", "title: t", "horizon: 2", "features:"]
    lines += [f"  {name}: {{kind: ordinal, levels: [low, high]}}" for name in names]
    lines += [f"classifier: {{rule: {' or '.join(['f0 == high'] * terms)}}}"]
    lines += ["actions:", "  act: {cost: 1, change: {f0: high}}"]
    person = ", ".join(f"{name}: low" for name in names)
    lines += ["people:", *(f"  p{i}: {{{person}}}" for i in range(people))] if people else []
    return "\n".join(lines)


@pytest.mark.parametrize("part", ["features", "people", "terms"])
def test_work_grows_with_the_size_of_a_file(part: str) -> None:
    few, many = _write_problem(**{part: 100}), _write_problem(**{part: 200})
    parse_problem(few)  # what is loaded at first is not counted
    assert _count_calls(lambda: parse_problem(many)) < 2.5 * _count_calls(lambda: parse_problem(few))


def test_wide_tables_are_read_column_by_column(tmp_path: Path) -> None:
    problem = parse_problem(_write_problem())
    names = [f"c{i}" for i in range(30_000)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(["f0", *names]) + "\n" + ",".join(["low"] * 30_001) + "\n", encoding="utf-8")
    assert sa.recommend(problem, None, path).case.decision.record["f0"] == "low"
    path.write_text(",".join([*names, "f0", "c7"]) + "\n", encoding="utf-8")
    with pytest.raises(PersonError, match="two columns 'c7'"):
        sa.recommend(problem, None, path)


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_too_deep_is_told_with_its_place(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"deep.{ending}"
    path.write_text('{"a":\n ' + "[" * 10_000 + "]" * 10_000 + "}", encoding="utf-8")
    with pytest.raises(ProblemError) as raised:
        sa.load_problem(path)
    (found,) = raised.value.mistakes
    assert (found.code, found.place.line) == ("too_deep", 2)
    assert found.remedy
    with pytest.raises(ProblemError) as raised:
        parse_problem(_write_problem().replace("f0 == high", '"' + "(" * 10_000 + 'f0 == high"'))
    assert "nested too deeply" in str(raised.value)
    with pytest.raises(ProblemError, match="nested too deeply"):
        parse_problem(_write_problem().replace("f0 == high", '"' + "not " * 10_000 + 'f0 == high"'))


def test_aliases_that_multiply_are_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(ProblemError) as raised:
        parse_problem("\n".join(lines))
    (found,) = raised.value.mistakes
    assert found.code == "too_many"
    assert found.place.line


def test_the_largest_errors_are_told_in_few_words() -> None:
    text = _write_problem(features=2, people=300).replace("low}", "none}")
    with pytest.raises(ProblemError) as raised:
        parse_problem(text)
    assert len(raised.value.mistakes) == 300
    assert str(raised.value).endswith("and 200 more mistakes")
    assert json.dumps([item.code for item in raised.value.mistakes])
