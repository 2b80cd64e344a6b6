"""People for batches, what each of them brings, and what `recommend` and `menu` say of one at a time."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import safear as sa
from doors import FIGURES, Crowd, Filed, Method, breaks, gives_up
from exact.mdp.test_families import divided_documents
from safear.problem import apply_terms, parse_problem, read_person
from safear.risk import Objective
from strategies import problems

COSTS = [0.0, 0.1, 0.3, 0.7, 1.0, 1.5, 2.25, 3.0, 17.0, 0.000001, 123456.789, 1e9]  # together less than 2^62 steps
PLAIN = [0.0, 0.1, 0.3, 1.0, 1.5, 2.25, 12.0]  # a menu is refused if its costs are too fine
FINE = [0.0, 1 / 3, 2 / 3, 0.1, 1.0, 1e-16]
CHANCES = [0.0, 1.0, 0.5, 0.9, 1 / 3, 0.05, 1e-9, 0.999999999999]
Row = dict[str, Any]
ACCEPTED: Row = {"decision": "favourable", **dict.fromkeys(("plan", "first_action", "gives_up", *FIGURES))}
HOPELESS: Row = ACCEPTED | {"decision": "no recourse", "success": 0.0, "best_success": 0.0}

JOB = """\
safear: 1
title: A better job
horizon: 4
cost: {unit: months}
features:
  skill: {kind: ordinal, levels: [basic, skilled, expert]}
  age: {kind: numeric, edges: [30, 50]}
  gender: {kind: nominal, levels: [female, male], mutable: false}
goal: {favourable: hired, failure_cost: 12}
classifier: {rule: skill == expert or (skill == skilled and gender == male)}
actions:
  learn:
    cost: 1
    outcomes: [{chance: 0.6, change: {skill: +1}}, {chance: 0.4, cost: 4}]
  study: {cost: 3, chance: 0.95, change: {skill: +1}}
  gamble:
    cost: 0.5
    outcomes: [{chance: 0.1, change: {skill: expert}}, {chance: 0.5}, {chance: 0.4, change: {skill: basic}}]
"""
UNDECIDED = re.sub("classifier: .*\n", "", JOB)  # for classifiers from elsewhere


@dataclass(frozen=True)
class Own:
    """What somebody brings, by the names of actions."""

    cost: Mapping[str, float] = field(default_factory=dict)
    chance: Mapping[str, float] = field(default_factory=dict)
    forbid: tuple[str, ...] = ()

    @property
    def terms(self) -> sa.Terms:
        """The same for one person at a time."""
        return sa.Terms.of(cost=self.cost, chance=self.chance, forbid=self.forbid)


@dataclass(frozen=True)
class Somebody:
    """A person with their own terms."""

    levels: Mapping[str, str]
    own: Own = field(default_factory=Own)


def make_part(problem: sa.Problem, people: Sequence[Somebody], number: int = 0) -> Crowd:
    """The people as an engine gets them."""
    names = [action.name for action in problem.actions]
    codes = [[f.levels.index(one.levels[f.name]) for f in problem.features] for one in people]
    return Crowd(
        Filed.on_levels(np.array(codes, dtype=np.int16)),
        np.array([[one.own.cost.get(name, math.nan) for name in names] for one in people]),
        np.array([[one.own.chance.get(name, math.nan) for name in names] for one in people]),
        np.array([[name in one.own.forbid for name in names] for one in people]),
        pd.DataFrame({"file": "people.csv", "row": range(1, len(people) + 1)}),
        number,
    )


def expect(
    problem: sa.Problem,
    one: Somebody,
    objective: Objective | None,
    *,
    method: Method | None = None,
    level: float = 0.95,
    classifier: object = None,
) -> list[Row]:
    """What the library says of this person alone, as rows of a batch."""
    terms = one.own.terms
    options: dict[str, Any] = {"method": method, "level": level, "terms": terms}
    found = sa.recommend(problem, classifier, one.levels, objectives=objective, **options)
    if found.favourable:
        return [ACCEPTED]
    rows = []
    personal = apply_terms(problem, terms)
    mdp = sa.compile_mdp(personal, classifier, start=read_person(personal, one.levels))
    best = sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success
    if found.no_recourse is not None:  # for a budget that is too small, others may do
        return [HOPELESS | {"best_success": best, "reason": found.no_recourse.code}]
    for offer in found:
        cost, every = offer.cost, offer.cost.all_runs
        given = (cost.mean, cost.std, cost.var(level), cost.cvar(level))
        figures = (cost.success, *given, every.mean, every.cvar(level), best)
        rows.append(
            {
                "decision": "plan",
                "plan": offer.name,
                "first_action": offer.first_action,
                "gives_up": gives_up(cost.success, best),
                **dict(zip(FIGURES, figures, strict=True)),
            }
        )
    return rows


def assert_rows(found: pd.DataFrame, expected: Sequence[Row]) -> None:
    """Texts are equal, figures are equal up to rounding, and None is None (in a data frame: missing)."""
    assert found["decision"].tolist() == [row["decision"] for row in expected]
    for text in ("plan", "first_action", "gives_up"):
        texts = [None if pd.isna(value) else value for value in found[text]]
        assert texts == [row[text] for row in expected], text
    if "reason" in found:
        reasons = [None if pd.isna(value) else value for value in found["reason"]]
        assert reasons == [row.get("reason") for row in expected]
    for figure in FIGURES:
        values = found[figure].to_numpy(np.float64, na_value=np.nan)
        wanted = np.array([math.nan if row[figure] is None else row[figure] for row in expected], dtype=np.float64)
        sizes = [1.0 if row["overall_mean"] is None else 1 + row["overall_mean"] for row in expected]
        far = np.abs(values - wanted) > 1e-9 * np.maximum(np.abs(wanted), 1.0 if "success" in figure else sizes)
        assert not (far | (np.isnan(values) != np.isnan(wanted))).any(), (figure, values, wanted)


def job_people(count: int, seed: int = 0) -> pd.DataFrame:
    """People of JOB as a file has them; some bring terms, some are accepted, and some have no recourse."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": [10**15 + i for i in range(count)],
            "skill": rng.choice(["basic", "skilled", "expert"], count, p=[0.6, 0.3, 0.1]),
            "age": rng.integers(18, 70, count),
            "gender": rng.choice(["female", "male"], count),
            "cost:learn": np.where(rng.random(count) < 0.5, rng.integers(0, 60, count) / 10, np.nan),
            "cost:study": np.where(rng.random(count) < 0.3, rng.integers(0, 60, count) / 10, np.nan),
            "chance:study": np.where(rng.random(count) < 0.5, rng.choice([0, 0.25, 0.5, 1], count), np.nan),
            "forbid:learn": rng.random(count) < 0.3,
            "forbid:gamble": rng.random(count) < 0.5,
        }
    )


def records(people: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows by the names of columns; what is missing is None."""
    found = people.astype(object).where(people.notna(), None)
    return [dict(zip(people.columns, row, strict=True)) for row in found.itertuples(index=False)]


def job_somebody(row: Mapping[str, Any]) -> Somebody:
    """A row of `job_people`, read by hand."""
    age = int(row["age"])
    levels = {
        "skill": row["skill"],
        "age": "<30" if age < 30 else "30-50" if age < 50 else ">=50",
        "gender": row["gender"],
    }
    terms: dict[str, dict[str, float]] = {"cost": {}, "chance": {}}
    forbid = []
    for name, value in row.items():
        role, colon, action = name.partition(":")
        if colon and role == "forbid" and value:
            forbid.append(action)
        elif colon and role != "forbid" and value is not None:
            terms[role][action] = value
    return Somebody(levels, Own(terms["cost"], terms["chance"], tuple(forbid)))


def read_parts(folder: Path) -> pd.DataFrame:
    """All parts of a batch, in order."""
    return pd.concat([pd.read_parquet(part) for part in sorted(folder.glob("part-*.parquet"))], ignore_index=True)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def part_bytes(folder: Path) -> dict[str, bytes]:
    """The parts alone."""
    return {name: content for name, content in bytes_of(folder).items() if name.startswith("part-")}


def everybody(problem: sa.Problem) -> list[dict[str, str]]:
    """All people whom the constraints allow."""
    sizes = [range(len(feature.levels)) for feature in problem.features]
    codes = np.array(list(itertools.product(*sizes)), dtype=np.int16)
    fine = codes[~breaks(problem, codes)]
    names = [feature.name for feature in problem.features]
    return [
        {name: feature.levels[code] for name, feature, code in zip(names, problem.features, row, strict=True)}
        for row in fine.tolist()
    ]


@st.composite
def owns(draw: st.DrawFn, problem: sa.Problem, costs: Sequence[float]) -> Own:
    """What somebody brings: for each action nothing, or some of a cost, a chance and a refusal."""
    cost, chance, forbid = {}, {}, []
    for action in problem.actions:
        if draw(st.booleans()):
            cost[action.name] = draw(st.sampled_from(costs))
        if len(action.outcomes) <= 2 and draw(st.booleans()):
            chance[action.name] = draw(st.sampled_from(CHANCES) | st.integers(0, 100).map(lambda n: n / 100))
        if draw(st.integers(0, 5)) == 5:
            forbid.append(action.name)
    return Own(cost, chance, tuple(forbid))


SURE = [{"worked": 0, "tried": 5}, {"worked": 5, "tried": 5}, [0, 0, 0.5], [0.5, 1, 1], [0, 1, 1], [0, 0, 1]]


@st.composite
def shaky_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Drawn documents in which many a chance is 0 or 1 as far as anybody knows, and may yet be neither; with stops."""
    document: dict[str, Any] = draw(st.one_of(problems(max_horizon=4), divided_documents()))
    document["goal"]["stop"] = draw(st.booleans())
    for action in document["actions"].values():
        if draw(st.booleans()):
            first, *others = action.get("outcomes", [action])
            if len(others) < 2 and ("outcomes" not in action or others):
                first["chance"] = draw(st.sampled_from(SURE))
                for other in others:
                    other.pop("chance", None)
    return document


@st.composite
def drawn_crowds(draw: st.DrawFn, most: int = 5, *, plain: bool = False) -> tuple[sa.Problem, list[Somebody]]:
    """A problem and some of its people; some problems have immutable features on which anything may depend."""
    problem = parse_problem(draw(st.one_of(problems(max_horizon=4), divided_documents(), shaky_documents())))
    costs = PLAIN if plain else draw(st.sampled_from([COSTS, COSTS, FINE]))
    levels = everybody(problem)
    start = dict(read_person(problem, problem.people["someone"]))
    people = [Somebody(start, draw(owns(problem, costs)))]
    for _ in range(draw(st.integers(0, most - 1))):
        levels_of_one = draw(st.sampled_from([start, *levels]))
        people += [Somebody(levels_of_one, draw(owns(problem, costs)))]
    return problem, people


def every_way() -> st.SearchStrategy[dict[str, int]]:
    """Limits of the engine that make it go each of its ways, for few people too."""
    return st.sampled_from([{}, {"FEW": 0}, {"FEW": 0, "WORTH_IT": 0}, {"FEW": 0, "WIDE": 0}])
