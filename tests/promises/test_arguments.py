"""Every public function, given something else than it takes, raises an error of ours with a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from safear.errors import InputError


class Shy:
    """What fails when it is shown or gone through."""

    def __repr__(self) -> str:
        raise ZeroDivisionError

    def __iter__(self) -> Iterator[object]:
        raise ZeroDivisionError


class Nameless(Shy):
    """What says that it names a file, and names none."""

    def __fspath__(self) -> int:
        return 5


WRONG: dict[str, object] = {
    "nothing": None,
    "a number": 7,
    "a fraction": 1.5,
    "bytes": b"x",
    "a list": ["a"],
    "a set": {1},
    "a text": "no such thing",
    "a path": Path("no such thing.yaml"),
    "a mapping": {"a": 1},
    "an array": np.array([1, 2]),
    "a class": sa.Problem,
    "an object": object(),
    "a decimal that is no number": Decimal("NaN"),
    "an array without dimensions": np.array(3),
    "what cannot be shown": Shy(),
}


@dataclass(frozen=True)
class Given:
    """What right calls are made of."""

    problem: sa.Problem
    offer: sa.Offer
    saved: sa.SavedPlan
    person: dict[str, object]
    frame: pd.DataFrame
    folder: Path

    @property
    def file(self) -> str:
        """Its people as a file."""
        return str(self.folder / "people.csv")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    folder = tmp_path_factory.mktemp("given")
    problem = sa.load_example("loan")
    offer = sa.recommend(problem)[0]
    person = dict(next(iter(problem.people.values())))
    frame = pd.DataFrame([person])
    frame.to_csv(folder / "people.csv", index=False)
    (folder / "person.yaml").write_text("a: b", encoding="utf-8")
    (folder / "terms.yaml").write_text("forbid: []", encoding="utf-8")
    return Given(problem, offer, sa.save_plan(offer, folder / "plan.json"), person, frame, folder)


_LOG = pd.DataFrame({"action": ["change job"], "worked": ["yes"]})


def _decide(frame: pd.DataFrame) -> list[bool]:
    return [False] * len(frame)


# Each call with one argument left open, and which of WRONG are right there.
Call = Callable[[Given, Any], object]
CALLS: dict[str, tuple[Call, set[str]]] = {
    "parse_problem": (lambda _, x: sa.parse_problem(x), set()),
    "parse_problem name": (lambda _, x: sa.parse_problem("safear: 1", x), set()),
    "load_problem": (lambda _, x: sa.load_problem(x), set()),
    "load_person": (lambda g, x: sa.load_person(x, g.problem), set()),
    "load_person problem": (lambda g, x: sa.load_person(g.folder / "person.yaml", x), set()),
    "load_terms": (lambda g, x: sa.load_terms(x, g.problem), set()),
    "load_terms problem": (lambda g, x: sa.load_terms(g.folder / "terms.yaml", x), set()),
    "check_problem": (lambda _, x: sa.check_problem(x), set()),
    "dump_problem": (lambda _, x: sa.dump_problem(x), set()),
    "load_example": (lambda _, x: sa.load_example(x), set()),
    "load_classifier": (lambda g, x: sa.load_classifier(x, g.problem), set()),
    "load_classifier problem": (lambda _, x: sa.load_classifier("x.skops", x), set()),
    "as_classifier problem": (lambda _, x: sa.as_classifier(None, x), set()),
    "recommend": (lambda _, x: sa.recommend(x), set()),
    "recommend person": (lambda g, x: sa.recommend(g.problem, None, x), {"nothing"}),
    "recommend objectives": (lambda g, x: sa.recommend(g.problem, objectives=x), {"nothing"}),
    "recommend objective": (lambda g, x: sa.recommend(g.problem, objectives=[x]), set()),
    "recommend method": (lambda g, x: sa.recommend(g.problem, method=x), {"nothing"}),
    "recommend level": (lambda g, x: sa.recommend(g.problem, level=x), set()),
    "recommend most": (lambda g, x: sa.recommend(g.problem, most=x), {"a number"}),
    "recommend robust": (lambda g, x: sa.recommend(g.problem, robust=x), set()),
    "recommend exact": (lambda g, x: sa.recommend(g.problem, exact=x), {"nothing"}),
    "recommend progress": (lambda g, x: sa.recommend(g.problem, progress=x), {"nothing", "a class"}),
    "recommend terms": (lambda g, x: sa.recommend(g.problem, terms=x), {"nothing"}),
    "compile_mdp": (lambda _, x: sa.compile_mdp(x), set()),
    "compile_mdp start": (lambda g, x: sa.compile_mdp(g.problem, start=x), {"nothing"}),
    "compile_mdp block": (lambda g, x: sa.compile_mdp(g.problem, block=x), {"nothing", "a mapping"}),
    "compile_mdp max_states": (
        lambda g, x: sa.compile_mdp(g.problem, start=g.person, max_states=x),
        {"a number"},
    ),
    "compile_mdp max_bytes": (lambda g, x: sa.compile_mdp(g.problem, max_bytes=x), {"a number"}),
    "solve": (lambda _, x: sa.solve(x, sa.Mean()), set()),
    "solve objective": (lambda g, x: sa.solve(g.offer.solution.mdp, x), set()),
    "solve method": (lambda g, x: sa.solve(g.offer.solution.mdp, sa.Mean(), method=x), {"nothing"}),
    "solve robust": (lambda g, x: sa.solve(g.offer.solution.mdp, sa.Mean(), robust=x), set()),
    "solve tolerance": (lambda g, x: sa.solve(g.offer.solution.mdp, sa.Mean(), tolerance=x), set()),
    "solve progress": (
        lambda g, x: sa.solve(g.offer.solution.mdp, sa.Mean(), progress=x),
        {"nothing", "a class"},
    ),
    "evaluate": (lambda _, x: sa.evaluate(x), set()),
    "evaluate start": (lambda g, x: sa.evaluate(g.offer.solution, x), {"nothing"}),
    "simulate": (lambda _, x: sa.simulate(x, rollouts=9, rng=np.random.default_rng(0)), set()),
    "simulate rollouts": (
        lambda g, x: sa.simulate(g.offer.solution, rollouts=x, rng=np.random.default_rng(0)),
        {"a number"},
    ),
    "simulate rng": (lambda g, x: sa.simulate(g.offer.solution, rollouts=9, rng=x), set()),
    "parse_objective": (lambda _, x: sa.parse_objective(x), set()),
    "audit": (lambda g, x: sa.audit(x, None, g.frame, groups="job"), set()),
    "audit people": (lambda g, x: sa.audit(g.problem, None, x, groups="job"), set()),
    "audit groups": (lambda g, x: sa.audit(g.problem, None, g.frame, groups=x), set()),
    "audit objective": (lambda g, x: sa.audit(g.problem, None, g.frame, groups="job", objective=x), {"nothing"}),
    "audit level": (lambda g, x: sa.audit(g.problem, None, g.frame, groups="job", level=x), set()),
    "batch": (lambda g, x: sa.batch(x, None, g.file, out=g.folder / "out"), set()),
    "batch people": (lambda g, x: sa.batch(g.problem, None, x, out=g.folder / "out"), set()),
    "batch level": (lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "level", level=x), set()),
    "batch keep": (lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "keep", keep=x), set()),
    "batch objective": (
        lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "objective", objective=x),
        {"nothing"},
    ),
    "batch exact": (lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "exact", exact=x), set()),
    "batch skip_bad": (
        lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "skip", skip_bad=x),
        {"nothing", "a text", "a path"},
    ),
    "audit minimum": (lambda g, x: sa.audit(g.problem, None, g.frame, groups="job", minimum=x), {"a number"}),
    "audit seed": (lambda g, x: sa.audit(g.problem, None, g.frame, groups="job", seed=x), {"a number"}),
    "audit skip_bad": (
        lambda g, x: sa.audit(g.problem, None, g.frame, groups="job", skip_bad=x),
        {"nothing", "a text", "a path"},
    ),
    "batch part_size": (
        lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "sized", part_size=x),
        {"nothing", "a number"},
    ),
    "batch threads": (
        lambda g, x: sa.batch(g.problem, None, g.file, out=g.folder / "threads", threads=x),
        {"nothing", "a number"},
    ),
    "batch out": (lambda g, x: sa.batch(g.problem, None, g.file, out=x), {"a text", "a path"}),
    "compare": (lambda g, x: sa.compare(x, None, g.frame, objective=sa.Mean()), set()),
    "compare people": (lambda g, x: sa.compare(g.problem, None, x, objective=sa.Mean()), set()),
    "compare objective": (lambda g, x: sa.compare(g.problem, None, g.frame, objective=x), set()),
    "sensitivity": (lambda _, x: sa.sensitivity(x), set()),
    "sensitivity plan": (lambda g, x: sa.sensitivity(g.problem, plan=x), {"nothing"}),
    "sensitivity level": (lambda g, x: sa.sensitivity(g.problem, level=x), set()),
    "sensitivity tolerance": (lambda g, x: sa.sensitivity(g.problem, tolerance=x), set()),
    "sensitivity progress": (lambda g, x: sa.sensitivity(g.problem, progress=x), {"nothing", "a class"}),
    "walk": (lambda _, x: sa.walk(x), set()),
    "walk outcomes": (lambda g, x: sa.walk(g.offer, x), set()),
    "verify": (lambda g, x: sa.verify(x, None, g.person), set()),
    "verify record": (lambda g, x: sa.verify(g.offer, None, x), set()),
    "save_plan": (lambda g, x: sa.save_plan(x, g.folder / "other.json"), set()),
    "save_plan path": (lambda g, x: sa.save_plan(g.offer, x), {"a text", "a path"}),
    "save_plan personal_data": (
        lambda g, x: sa.save_plan(g.offer, g.folder / "other.json", personal_data=x),
        set(),
    ),
    "save_plan seed": (lambda g, x: sa.save_plan(g.offer, g.folder / "other.json", seed=x), {"nothing", "a number"}),
    "save_plan before": (lambda g, x: sa.save_plan(g.offer, g.folder / "other.json", before=x), {"nothing"}),
    "load_plan": (lambda _, x: sa.load_plan(x), set()),
    "load_plan problem": (lambda g, x: sa.load_plan(g.folder / "plan.json", x), {"nothing"}),
    "resume": (lambda _, x: sa.resume(x), set()),
    "resume outcomes": (lambda g, x: sa.resume(g.saved, x), set()),
    "resume turn": (lambda g, x: sa.resume(g.saved, turn=x), {"nothing"}),
    "replan": (lambda g, x: sa.replan(x, g.problem), set()),
    "replan problem": (lambda g, x: sa.replan(g.saved, x), set()),
    "draft_problem": (lambda _, x: sa.draft_problem(x, len), set()),
    "draft_problem change": (lambda g, x: sa.draft_problem(g.frame, _decide, change=x), set()),
    "draft_problem fixed": (lambda g, x: sa.draft_problem(g.frame, _decide, fixed=x), set()),
    "draft_problem target": (lambda g, x: sa.draft_problem(g.frame, _decide, target=x), set()),
    "draft_problem title": (lambda g, x: sa.draft_problem(g.frame, _decide, title=x), set()),
    "fit_problem": (lambda g, x: sa.fit_problem(x, g.frame), set()),
    "fit_problem attempts": (lambda g, x: sa.fit_problem(g.problem, x), set()),
    "fit_problem min_tries": (lambda g, x: sa.fit_problem(g.problem, _LOG, min_tries=x), {"a number"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_of_another_kind_is_refused_with_a_remedy(
    name: str, given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, right = CALLS[name]
    for kind, value in WRONG.items():
        if kind in right:
            continue
        with pytest.raises(InputError) as raised:
            pytest.fail(f"{kind} is accepted: {call(given, value)!r}")
        clear = {"no_file", "unreadable", "out_of_range", "not_a_mapping", "missing"}  # need no remedy
        assert any(item.remedy or item.code in clear for item in raised.value.mistakes), (kind, str(raised.value))


def test_every_public_function_is_in_the_table() -> None:
    functions = {name for name in dir(sa) if callable(getattr(sa, name)) and not isinstance(getattr(sa, name), type)}
    assert functions == {name.partition(" ")[0] for name in CALLS} | {"as_classifier"}


def test_what_is_taken_is_still_told_to_editors() -> None:
    assert sa.load_problem.__doc__ is not None
    assert sa.load_problem.__annotations__["return"] == "Problem"


@pytest.mark.parametrize("value", [True, np.True_, np.array([1, 2]), np.array(3)], ids=repr)
@pytest.mark.parametrize("name", ["recommend most", "simulate rollouts", "batch part_size", "batch threads"])
def test_what_only_looks_like_a_whole_number(name: str, value: object, given: Given) -> None:
    with pytest.raises(InputError, match="is not a whole number"):
        CALLS[name][0](given, value)


class Elsewhere:
    """A file as some library names it: neither a text nor a Path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        """As the system calls it."""
        return str(self.path)


@pytest.mark.parametrize("name", ["audit people", "batch people", "compare people", "recommend person", "batch out"])
def test_any_name_of_a_file_will_do(name: str, given: Given, tmp_path: Path) -> None:
    path = tmp_path / "out" if name == "batch out" else Path(given.file)
    assert CALLS[name][0](given, Elsewhere(path))


def test_a_file_of_json_by_any_name(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"p\.json:1:2: not JSON"):
        sa.load_problem(Elsewhere(tmp_path / "p.json"))


def test_a_name_that_no_system_takes(given: Given) -> None:
    for name in ("x" * 100_000, "x" * 100_000 + ".skops"):
        with pytest.raises(InputError) as raised:
            sa.load_classifier(name, given.problem)
        assert len(str(raised.value)) < 2000


@pytest.mark.parametrize("name", ["walk outcomes", "resume outcomes", "recommend objectives", "audit groups"])
def test_an_array_without_dimensions_has_no_items(name: str, given: Given) -> None:
    with pytest.raises(InputError, match=r"array\(3\) is not a list of"):
        CALLS[name][0](given, np.array(3))


def test_truth_by_any_library(given: Given) -> None:
    assert len(sa.recommend(given.problem, robust=np.False_, exact=np.True_)) > 0  # type: ignore[arg-type]
