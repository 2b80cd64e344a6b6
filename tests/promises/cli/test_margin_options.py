"""`--aim` and `--agree` with every command: the program gives the figures that Python gives with the same margin."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import safear as sa
from calls import commands_with, run
from crowds import UNDECIDED, part_bytes
from promises.cli.conftest import Safear
from promises.web.conftest import wait_for_audit

BEN = {"skill": "basic", "age": 25, "gender": "male"}
PROBLEM = f"{UNDECIDED}people:\n  Ben: {json.dumps(BEN)}\n"
BANK = """\
def score(frame):
    return frame["skill"].map({"basic": 0.2, "skilled": 0.6, "expert": 0.9}).astype(float)

def of_men(frame):
    return score(frame) - 0.2 * (frame["gender"] == "female")

def of_adults(frame):
    return score(frame) - 0.2 * (frame["age"] == "<30")
"""
ALONE, ALL = ("bank.py:score",), ("bank.py:score", "bank.py:of_men", "bank.py:of_adults")


@dataclass(frozen=True)
class Asked:
    """What the program is given, and the same for Python."""

    models: tuple[str, ...] = ALONE
    aim: float | None = None
    agree: float | None = None
    threshold: float = 0.5

    @property
    def options(self) -> list[str]:
        found = [part for model in self.models for part in ("--classifier", model)]
        margin = {"--threshold": self.threshold, "--aim": self.aim, "--agree": "all" if self.agree == 1 else self.agree}
        return found + [str(part) for pair in margin.items() if pair[1] is not None for part in pair]

    @property
    def problem(self) -> sa.Problem:
        problem = sa.load_problem("job.yaml")
        goal = replace(problem.goal, threshold=self.threshold, aim=self.aim, agree=self.agree or 1.0)
        return replace(problem, goal=goal)

    @property
    def decider(self) -> Any:
        found = [sa.load_classifier(model, self.problem) for model in self.models]
        return found[0] if len(found) == 1 else found

    def menu(self, objective: str = "mean") -> sa.Menu:
        return sa.recommend(self.problem, self.decider, BEN, objectives=objective)


# Ben is a young man: with the aim, or if all must agree, he has to become an expert; else to be skilled is enough.
SETTINGS = [Asked(aim=0.7), Asked(ALL, agree=0.6), Asked(ALL, agree=1)]


@pytest.fixture
def people(safear: Safear, tmp_path: Path) -> pd.DataFrame:
    """The files that calls name, and the people among them."""
    assert safear is not None  # it has changed into the directory
    (tmp_path / "job.yaml").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "bank.py").write_text(BANK, encoding="utf-8")
    some = [("basic", 25, "male"), ("basic", 40, "female"), ("skilled", 40, "female"), ("expert", 60, "male")]
    found = pd.DataFrame(some * 2, columns=["skill", "age", "gender"])
    found.to_csv(tmp_path / "people.csv", index=False)
    return found


def recommend(safear: Safear, asked: Asked) -> tuple[object, object]:
    found = json.loads(run(safear, "recommend", "job.yaml", "--objective", "mean", *asked.options, "--json"))["plans"][
        0
    ]
    offer = asked.menu()[0]
    return [found["value"], found["success"]], [offer.mean, offer.cost.success]


def walk(safear: Safear, asked: Asked) -> tuple[object, object]:
    call = ("walk", "job.yaml", "--objective", "mean", "--outcome", "1", *asked.options)
    here = sa.walk(asked.menu()[0], [1])
    return run(safear, *call).partition("\n")[2], f"{here}\n"


def resume(safear: Safear, asked: Asked) -> tuple[object, object]:
    kept = sa.save_plan(Asked().menu()[0], "plan.json")
    call = ("resume", "plan.json", "--outcome", "1", "--menu", "--problem", "job.yaml", "--changed", "--json")
    menu = sa.replan(kept, asked.problem, asked.decider, outcomes=[1], changed=True)
    found = json.loads(run(safear, *call, *asked.options))["menu"]["plans"]
    return [plan["success"] for plan in found], [offer.cost.success for offer in menu]


def durability(safear: Safear, asked: Asked) -> tuple[object, object]:
    """Skill was enough, and is no longer: another plan must be found, with the margin, if there is one."""
    before = Asked().menu()[0]
    sa.save_plan(before, "plan.json")
    strict = replace(asked, threshold=0.75, aim=asked.aim and 0.95)
    found = json.loads(run(safear, "durability", "job.yaml", "plan.json", *strict.options, "--json"))
    now = strict.menu()
    return found["repaired_more"], now[0].mean - before.mean if now.offers else None


def sensitivity(safear: Safear, asked: Asked) -> tuple[object, object]:
    call = ("sensitivity", "job.yaml", "--objective", "mean", "--tolerance", "0.05", "--out", "found.svg")
    run(safear, *call, *asked.options)
    wanted = sa.sensitivity(asked.problem, asked.decider, BEN, objectives="mean", tolerance=0.05)
    return Path("found.svg").read_text(encoding="utf-8"), sa.plots.tornado(wanted[0]).svg


def plot(safear: Safear, asked: Asked) -> tuple[object, object]:
    groups = ("--group", "gender", "--minimum", "1")
    run(safear, "plot", "disparity", "job.yaml", "people.csv", *groups, "--out", "groups.svg", *asked.options)
    run(safear, "plot", "tree", "job.yaml", "--objective", "mean", "--out", "tree.svg", *asked.options)
    wanted = [sa.plots.disparity(audited(asked)).svg, sa.plots.tree(asked.menu()[0]).svg]
    return [Path(name).read_text(encoding="utf-8") for name in ("groups.svg", "tree.svg")], wanted


def audited(asked: Asked) -> sa.Audit:
    return sa.audit(asked.problem, asked.decider, "people.csv", groups=["gender"], minimum=1)


def audit(safear: Safear, asked: Asked) -> tuple[object, object]:
    call = ("audit", "job.yaml", "people.csv", "--group", "gender", "--minimum", "1", "--json")
    found = json.loads(run(safear, *call, *asked.options))
    tables = [found["overall"], *found["groups"]["gender"]["table"]]
    wanted = audited(asked)
    rows = [wanted.overall, *(row for _, row in wanted.table().iterrows())]
    names = ("rejected", "success", "mean", "cvar")
    return [[table[name] for name in names] for table in tables], [[row[name] for name in names] for row in rows]


def batch(safear: Safear, asked: Asked) -> tuple[object, object]:
    name = "".join(asked.options).replace("/", "")
    call = ("batch", "job.yaml", "people.csv", "--objective", "mean", "--out", f"{name}-theirs")
    run(safear, *call, *asked.options)
    sa.batch(asked.problem, asked.decider, "people.csv", out=f"{name}-mine", objective=sa.Mean())
    return part_bytes(Path(f"{name}-theirs")), part_bytes(Path(f"{name}-mine"))


def compare(safear: Safear, asked: Asked) -> tuple[object, object]:
    call = ("compare", "job.yaml", "--people", "people.csv", "--objective", "mean-std:1", "--json")
    [found] = json.loads(run(safear, *call, *asked.options))["comparisons"]
    wanted = sa.compare(asked.problem, asked.decider, "people.csv", objective=sa.MeanStd(1))
    names = ("rejected", "without_recourse", "compared", "excess")
    assert [found[name] for name in names] == [getattr(wanted, name) for name in names]
    return found["optimal"]["mean"], wanted.optimal.mean


def check(safear: Safear, asked: Asked) -> tuple[object, object]:
    [person] = json.loads(run(safear, "check", "job.yaml", *asked.options, "--json"))["people"]
    mdp = sa.compile_mdp(asked.problem, asked.decider, start=BEN)
    return [person["states"], person["goals"]], [mdp.n_states, int(mdp.goal.sum())]


COMMANDS: list[Callable[[Safear, Asked], tuple[object, object]]] = [
    recommend, walk, resume, durability, sensitivity, plot, audit, batch, compare, check,
]  # fmt: skip


MINIMAL = {
    "recommend": ("recommend", "job.yaml"),
    "walk": ("walk", "job.yaml"),
    "resume": ("resume", "plan.json", "--menu", "--changed", "--problem", "job.yaml"),
    "durability": ("durability", "job.yaml", "plan.json"),
    "sensitivity": ("sensitivity", "job.yaml"),
    "plot": ("plot", "tree", "job.yaml", "--out", "tree.svg"),
    "audit": ("audit", "job.yaml", "people.csv", "--group", "gender"),
    "batch": ("batch", "job.yaml", "people.csv", "--out", "plans"),
    "compare": ("compare", "job.yaml"),
    "check": ("check", "job.yaml"),
    "serve": ("serve", "job.yaml", "--port", "0"),
}


@pytest.mark.parametrize("option", ["--aim", "--agree"])
def test_every_command_that_has_a_margin_is_looked_at(option: str) -> None:
    assert commands_with(option) == {*(command.__name__ for command in COMMANDS), "serve"} == set(MINIMAL)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_program_says_what_python_says(
    command: Callable[[Safear, Asked], tuple[object, object]], safear: Safear
) -> None:
    found = []
    for asked in SETTINGS:
        theirs, mine = command(safear, asked)
        assert theirs == mine, asked
        found.append(theirs)
    aimed, most, every = found
    assert aimed != most != every


WRONG = [
    (
        ["--aim", "0.4", *Asked().options],
        "goal.aim: the aim 0.4 is below the threshold 0.5",
        "raise it, or leave it out",
    ),
    (["--aim", "1.1", *Asked().options], "Invalid value for '--aim'", "not in the range 0<=x<=1"),
    (["--aim", "much", *Asked().options], "Invalid value for '--aim'", "'much' is not a number"),
    (["--aim", "0.7"], "--aim goes with --classifier", ""),
    (["--agree", "most", *Asked(ALL).options], "Invalid value for '--agree'", "'most' is not a number"),
    (["--agree", "0", *Asked(ALL).options], "Invalid value for '--agree'", "not in the range 0<x<=1"),
    (["--agree", "all", *Asked().options], "--agree goes with several models", "repeat --classifier"),
]


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("command", MINIMAL)
def test_a_margin_that_makes_no_sense_is_refused(command: str, safear: Safear) -> None:
    sa.save_plan(Asked().menu()[0], "plan.json")
    before = set(Path.cwd().iterdir())
    for options, told, remedy in WRONG:
        answer = safear(*MINIMAL[command], *options)
        assert answer.code == 2
        assert told in answer.err
        assert remedy in answer.err
    assert set(Path.cwd().iterdir()) == before, "nothing is written"


@contextmanager
def serve(*options: str) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, "-m", "safear", "serve", "job.yaml", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            process.kill()


@pytest.mark.usefixtures("people")
def test_the_page_has_the_margin_and_all_that_the_options_change() -> None:
    """One server, which is dear, is given all of them: an expert's score alone comes up to the aim."""
    asked = Asked(ALL, aim=0.75, agree=0.6)
    more = ("--horizon", "3", "--failure-cost", "7", "--people", "people.csv", "--group", "gender")
    with serve(*asked.options, *more) as base:
        found = httpx.post(f"{base}/api/v1/menu", json={"person": BEN}, timeout=60).json()["plans"]
        with httpx.Client(base_url=base, timeout=60) as client:
            audited = wait_for_audit(client)
    problem = asked.problem.with_horizon(3)
    problem = replace(problem, goal=replace(problem.goal, failure_cost=Decimal(7)))
    menu, audit = (
        sa.recommend(problem, asked.decider, BEN),
        sa.audit(problem, asked.decider, "people.csv", groups=["gender"]),
    )
    assert [(plan["success"], plan["value"]) for plan in found] == [(one.cost.success, one.value) for one in menu]
    assert audited.json()[0]["overall"]["success"] == audit.overall["success"]
    assert menu[0].value != asked.menu("mean")[0].value
