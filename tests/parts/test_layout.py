"""The layout of the tests: by which doors they enter the package, and what the lanes hold."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import doors
from lanes import BUDGETS, COLLECTED, LEFT, SPENT, read_costs

TESTS = Path(__file__).parents[1]
FILES = sorted(path for path in TESTS.rglob("*.py") if path.name != "doors.py")
PUBLIC = {
    "safear",
    "safear.cli.main",
    "safear.datasets",
    "safear.errors",
    "safear.plots",
    "safear.reports",
    "safear.risk",
}
MOST_DOORS = 526  # lower it whenever some are gone
MOST_STRINGS = 29  # the same for names inside the package in strings


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules and names that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def named(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules and names that a file patches by their names, or imports in a program that it runs."""
    text = path.read_text(encoding="utf-8")
    yield from re.findall(r"setattr\(\s*\"(safear[.\w]*)\.(\w+)\"", text)
    programs = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    for program in programs:
        found = re.findall(r"\b(?:from|import) (safear[.\w]*)(?: import ([\w, ]+))?", str(program))
        yield from ((module, name.strip()) for module, names in found for name in names.split(","))


def test_names_inside_the_package_come_through_doors() -> None:
    """Or from the public names of a room, such as `safear.recourse`."""
    used = {pair for path in FILES for pair in imported(path) if pair[0].split(".")[0] == "safear"}
    inside = [(module, name) for module, name in used if module not in PUBLIC]
    assert [pair for pair in sorted(inside) if pair[1] not in getattr(import_module(pair[0]), "__all__", ())] == []


def test_promises_enter_by_public_doors() -> None:
    behind = set()
    for path in (TESTS / "promises").rglob("test_*.py"):
        used = {module for module, _ in imported(path) if module.split(".")[0] in {"safear", "doors"}}
        if used - PUBLIC:
            behind.add(path.relative_to(TESTS / "promises").as_posix())
    assert sorted(behind) == []


def test_side_doors_only_become_fewer() -> None:
    used = {name for path in FILES for module, name in imported(path) if module == "doors"}
    assert sorted(set(doors.HOMES) - used) == []
    assert len(doors.HOMES) == MOST_DOORS


def test_names_inside_the_package_only_become_fewer_in_strings() -> None:
    used = [pair for path in FILES if path != Path(__file__) for pair in named(path)]
    inside = [(module, name) for module, name in used if not PUBLIC.intersection({module, f"{module}.{name}"})]
    assert len(inside) == MOST_STRINGS, inside


def test_mutants_that_may_live_are_of_lines_that_are_there() -> None:
    stated = tomllib.loads((TESTS.parent / "tools" / "survivors.toml").read_text(encoding="utf-8"))["survivor"]
    stale = []
    for file, function, line in ((one["file"], one["function"], one["line"]) for one in stated):
        text = (TESTS.parent / "src" / "safear" / file).read_text(encoding="utf-8")
        owners = [node for node in ast.walk(ast.parse(text)) if function and getattr(node, "name", "") == function]
        parts = [ast.get_source_segment(text, owner) or "" for owner in owners] if function else [text]
        lines = [line for part in parts for line in part.splitlines()]
        stale += [] if line in {" ".join(one.split()) for one in lines} else [(file, function, line)]
    assert stale == []


def test_every_promise_and_exact_figure_is_tried_in_make_test() -> None:
    assert sorted(LEFT) == []


def test_no_snapshot_is_left_over() -> None:
    """In the files that were collected. `make texts` removes those that no test asks for."""
    over = []
    for path in TESTS.rglob("*.ambr"):
        file = f"tests/{path.parents[1].relative_to(TESTS).as_posix()}/{path.stem}.py"
        there = {name.rpartition("::")[2] for name in COLLECTED if name.startswith(f"{file}::")}
        found = re.findall(r"^# name: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE) if there else ()
        over += [name for name in found if name not in there and not name.startswith(tuple(f"{one}[" for one in there))]
    assert over == []


def test_costs_are_those_of_tests() -> None:
    """In the files that were collected, whatever a version of pytest calls their cases."""
    files, there = ({name.partition(sign)[0] for name in COLLECTED} for sign in ("::", "["))
    gone = [(name, name.partition("::")[0]) for name in read_costs() if name.partition("[")[0] not in there]
    assert [name for name, file in gone if file in files or not (TESTS.parent / file).exists()] == []


@pytest.mark.parametrize("lane", BUDGETS)
def test_lanes_fit_their_budgets(lane: str) -> None:
    """In CPU seconds as they were noted; two cores have half of it each."""
    assert SPENT[lane] <= BUDGETS[lane]
