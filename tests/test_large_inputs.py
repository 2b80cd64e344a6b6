"""Inputs of any size and depth: work grows with size, and what is too large or too deep is refused with its place."""

from __future__ import annotations

import cProfile
import json
import pstats
from collections.abc import Callable
from pathlib import Path

import pytest

from safear import parse_problem
from safear.errors import InputError, PersonError, ProblemError
from safear.people.rows import load_row
from safear.problem import tree
from safear.problem.condition import parse_condition
from safear.problem.load import load_problem


class Counted(str):
    """A text that counts the letters that are copied out of it."""

    copied = 0

    def __getitem__(self, key: object) -> str:
        found = super().__getitem__(key)  # type: ignore[index]
        Counted.copied += len(found)
        return found


def _count_copies(act: Callable[[], object]) -> int:
    Counted.copied = 0
    act()
    return Counted.copied


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


def test_long_rules_are_read_without_copying_what_is_left() -> None:
    def read(terms: int) -> Callable[[], object]:
        return lambda: parse_condition(Counted(" or ".join(["x == a"] * terms)))

    assert _count_copies(read(2000)) <= 2.5 * _count_copies(read(1000)) + 10_000


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
    assert load_row(path, problem)["f0"] == "low"
    path.write_text(",".join([*names, "f0", "c7"]) + "\n", encoding="utf-8")
    with pytest.raises(PersonError, match="two columns 'c7'"):
        load_row(path, problem)


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_too_deep_is_told_with_its_place(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"deep.{ending}"
    path.write_text('{"a":\n ' + "[" * 10_000 + "]" * 10_000 + "}", encoding="utf-8")
    with pytest.raises(ProblemError) as raised:
        load_problem(path)
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


def test_reading_stops_where_a_file_becomes_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_PARTS", 1000)
    few = "\n".join(f"- {i}" for i in range(2010))
    more = few + "\n- [not closed\n" * 3
    for text in (few, more):  # what comes after is not even looked at
        with pytest.raises(InputError) as raised:
            tree.read_tree(text, "x.yaml", InputError)
        assert raised.value.mistakes[0].code == "too_many"
        assert "table" in str(raised.value)


def test_the_largest_errors_are_told_in_few_words() -> None:
    text = _write_problem(features=2, people=300).replace("low}", "none}")
    with pytest.raises(ProblemError) as raised:
        parse_problem(text)
    assert len(raised.value.mistakes) == 300
    assert str(raised.value).endswith("and 200 more mistakes")
    assert json.dumps([item.code for item in raised.value.mistakes])
