"""What a golden file says when its public door opens it; `tools/golden.py` keeps that, and the tests compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import safear as sa

GOLDEN = Path(__file__).with_name("golden")
SUMS = GOLDEN / "SHA256SUMS"  # of all of them
MODEL = f"{Path(__file__).with_name('bank.py')}:score"
OBJECTIVES = ("mean", "cvar:0.9")
WALKS = ((), ("worked",), ("failed",), ("failed", "worked"), ("worked", "worked", "failed"))
PROBLEMS, PEOPLE = ("problem.yaml", "written.json", "fitted.yaml"), ("person.yaml", "walked.json")
PLANS = ("plan.json", "nameless.json", "again.json")
FILES = (*PROBLEMS, *PEOPLE, *PLANS, "terms.yaml", "answers.json", "batch")
Run = Callable[..., str]  # `safear` with arguments, in the folder of the file: what it prints


def classifier_options(folder: Path) -> Sequence[str]:
    """The problem of records has a model of its own, the others have rules."""
    return ("--classifier", MODEL) if folder.name == "filed" else ()


def list_files(folder: Path) -> list[Path]:
    """What a version has made; the answers of the page have columns without levels as texts, which only it reads."""
    found = [folder / name for name in FILES if (folder / name).exists()]
    return [file for file in found if file.name != "answers.json" or not classifier_options(folder)]


def sum_files(folder: Path) -> list[str]:
    """What `sha256sum` says of the files of a version, or of all versions."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.parent != GOLDEN)
    return [f"{sha256(file.read_bytes()).hexdigest()}  {file.relative_to(GOLDEN).as_posix()}\n" for file in files]


def load_model(folder: Path, problem: sa.Problem) -> sa.Classifier | None:
    return sa.load_classifier(MODEL, problem) if classifier_options(folder) else None


def read_file(file: Path, run: Run) -> Any:
    """Figures, names and numbers, no sentences: words may get better."""
    if file.name in PLANS:
        return read_plan(sa.load_plan(file))
    if file.name == "batch":
        return read_batch(file, run)
    problem = sa.load_problem(file if file.name in PROBLEMS else file.with_name("problem.yaml"))
    if file.name in PROBLEMS:
        names = {"features": [one.name for one in problem.features], "actions": [one.name for one in problem.actions]}
        return {**names, "people": list(problem.people), "best": find_best(file.parent, problem)}
    if file.name == "answers.json":
        return {"best": find_best(file.parent, problem, **read_answers(file, problem))}
    if file.name in PEOPLE:
        person = dict(sa.load_person(file, problem))
        return {"person": person, "best": find_best(file.parent, problem, person=person)}
    return {"best": find_best(file.parent, problem, terms=sa.load_terms(file, problem))}


def read_answers(file: Path, problem: sa.Problem) -> dict[str, Any]:
    """Its `person` and its `terms` have the form of the files that the command line takes."""
    content = json.loads(file.read_text(encoding="utf-8"))
    with TemporaryDirectory() as folder:
        person, terms = Path(folder, "person.json"), Path(folder, "terms.json")
        person.write_text(json.dumps(content["person"]), encoding="utf-8")
        terms.write_text(json.dumps(content["terms"]), encoding="utf-8")
        return {"person": sa.load_person(person, problem), "terms": sa.load_terms(terms, problem)}


def find_best(folder: Path, problem: sa.Problem, **given: Any) -> dict[str, Any]:
    """The exact optima: a later version finds no better ones."""
    menu = sa.recommend(problem, load_model(folder, problem), objectives=OBJECTIVES, **given)
    return {offer.code: [offer.first_action, offer.value] for offer in menu}


def read_plan(plan: sa.SavedPlan) -> dict[str, Any]:
    """The figures that it was saved with, those that it has when it is followed, and where some walks lead."""
    kept, runs = plan.figures, plan.cost.all_runs
    again = [plan.cost.success, runs.mean, runs.var(plan.level), runs.cvar(plan.level)]
    return {
        "first": plan.first_action,
        "figures": [kept.success, kept.mean, kept.var, kept.cvar],
        "followed": again,
        "walks": [_walk(plan, outcomes) for outcomes in WALKS],
    }


def _walk(plan: sa.SavedPlan, outcomes: Sequence[str]) -> list[Any] | str:
    try:
        here = sa.resume(plan, outcomes)
    except sa.InputError as error:  # it has ended before, or two outcomes fail
        return error.mistakes[0].code
    ahead = here.ahead.all_runs
    return [here.kind, here.action, here.steps_left, here.spent, here.ahead.success, ahead.mean, ahead.cvar(here.level)]


def read_batch(folder: Path, run: Run) -> dict[str, Any]:
    """What becomes of its plans, and the first step of the first."""
    options = classifier_options(folder.parent)
    found = json.loads(run("durability", "problem.yaml", "batch", "--no-repair", "--json", *options))
    plans = [[one["plan"], one["objective"], one["holds"], one["success"], one["mean"]] for one in found["plans"]]
    here = json.loads(run("resume", plans[0][0], "--json"))
    return {"plans": plans, "people": found["people"], "first": [here["action"], here["steps_left"], here["ahead"]]}
