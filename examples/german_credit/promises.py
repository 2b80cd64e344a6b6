"""Are promises kept? Follow people's plans to every end and ask the model, not SafeAR, about the records there.

`python -m examples.german_credit.promises` takes the first 200 people whom the model rejects, at two thresholds and for
each kind of promise. Wherever a plan claims success, the person's record is written out as it would then be: what has
changed as it was promised, everything else as it was filed. A promised range leaves room, so several people are tried:
one who lands on the promised value, one who does the least, one who does the most, and 50 who land anywhere.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from examples.german_credit.train import TRAIN, chances, get_model, read_applications
from numpy.typing import NDArray

import safear as sa
from safear.problem.model import PromiseKind

PROBLEM = Path(__file__).parent / "problem.yaml"
THRESHOLDS = (0.5, 0.7)
PROMISES: tuple[PromiseKind, ...] = ("value", "range", "narrow")
POINTS = 50
WAYS = ("value", "least", "most", "anywhere", "least in level", "anywhere in level")
Record = Mapping[str, Any]
APPLICATIONS, _ = read_applications()


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `low` to `high`, and the one among them that is the level's value."""

    low: int
    high: int
    value: int

    def least(self, filed: int) -> int:
        """Where the smallest change from the filed number leads."""
        return min(max(filed, self.low), self.high)

    def most(self, filed: int) -> int:
        """Where the largest leads."""
        return self.high if abs(self.high - filed) >= abs(self.low - filed) else self.low

    def anywhere(self, rng: np.random.Generator) -> list[int]:
        """Points of the range, both ends included."""
        drawn: list[int] = rng.integers(self.low, self.high, size=POINTS, endpoint=True).tolist()
        return drawn


@dataclass(frozen=True, slots=True)
class Kept:
    """One plan: the success that it claims, what the model says for each of `WAYS`, what it costs.

    It was `verified` at every point that could make a difference, and `survives` if a retrained model accepts all, too.
    """

    claimed: float
    kept: Mapping[str, float]
    mean: float
    tail: float
    ends: int
    records: int
    verified: bool
    survives: bool | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rejected person was told: plans, or the code of the reason why there is none."""

    plans: tuple[Kept, ...]
    reason: str | None
    seconds: float


@dataclass(frozen=True)
class Experiment:
    """A problem and a model, and perhaps the model that will be in its place one day."""

    problem: sa.Problem
    model: Any
    retrained: Any = None

    @property
    def threshold(self) -> float:
        """The chance that earns the credit."""
        return self.problem.goal.threshold or 0.5

    @cached_property
    def classifier(self) -> sa.Classifier:
        """The model as SafeAR sees it, for all people: it remembers where the trees split."""
        return sa.as_classifier(self.model, self.problem)

    def accepts(self, records: pd.DataFrame) -> NDArray[np.bool_]:
        """What the model itself says about records."""
        return np.asarray(chances(self.model, records) >= self.threshold)

    def first_rejected(self, count: int | None = None) -> list[int]:
        """The rows of the first people whom the model rejects."""
        rejected: list[int] = np.flatnonzero(~self.accepts(APPLICATIONS)).tolist()
        return rejected[:count]

    def with_goal(self, threshold: float, promise: PromiseKind = "narrow") -> Experiment:
        """Another threshold and kind of promise."""
        goal = replace(self.problem.goal, threshold=threshold, promise=promise)
        return replace(self, problem=replace(self.problem, goal=goal))


def record_of(row: int) -> dict[str, Any]:
    """An application as it was filed."""
    return {str(name): value for name, value in APPLICATIONS.iloc[row].to_dict().items()}


def level_range(problem: sa.Problem, name: str, level: str) -> Range:
    """All of a level: an edge belongs to the level above it, and open ends close where the data do."""
    feature = problem.feature_by_name[name]
    place, column = feature.levels.index(level), APPLICATIONS[name]
    ends = [int(column.min()), *map(math.ceil, feature.edges), int(column.max()) + 1]
    return Range(ends[place], ends[place + 1] - 1, int(feature.values[place]))


def promised_range(problem: sa.Problem, offer: sa.Offer, name: str, level: str) -> Range:
    """What an offer promises for a number that it changes to a level."""
    promise = offer.promises[name, level]
    return Range(math.ceil(promise.low), math.floor(promise.high), level_range(problem, name, level).value)


def try_plan(experiment: Experiment, offer: sa.Offer, filed: Record, *, rng: np.random.Generator) -> Kept:
    """Ask the model at every end where the plan claims success."""
    problem, runs, mdp = experiment.problem, offer.runs, offer.solution.mdp
    states, which = np.unique(runs.state[runs.succeeded], return_inverse=True)
    chances = np.bincount(which, weights=runs.chance[runs.succeeded], minlength=len(states))
    start = mdp.person(runs.start)
    rows: dict[tuple[Any, ...], int] = {}  # what has changed, in all records that are asked about
    names = sorted(problem.changed_features)
    tried: list[dict[str, list[int]]] = []  # for each end and way the rows
    for state in states.tolist():
        levels = mdp.person(state)
        changed = [name for name in names if levels[name] != start[name]]
        words = {name: levels[name] for name in changed if problem.feature_by_name[name].kind != "numeric"}
        whole = {name: level_range(problem, name, levels[name]) for name in changed if name not in words}
        promised = {name: promised_range(problem, offer, name, levels[name]) for name in whole}
        tried.append({})
        for way, numbers in land(promised, whole, filed, rng=rng):
            record = {**filed, **words, **numbers}
            row = rows.setdefault(tuple(record[name] for name in names), len(rows))
            tried[-1].setdefault(way, []).append(row)
    asked = pd.DataFrame([filed] * len(rows)).assign(**dict(zip(names, zip(*rows, strict=True), strict=True)))
    accepted = experiment.accepts(asked[list(APPLICATIONS)])
    kept = {way: float(chances @ [accepted[end[way]].mean() for end in tried]) for way in WAYS}
    verified = offer.verification.holds and offer.verification.is_complete
    survives = None if experiment.retrained is None else sa.verify(offer, experiment.retrained, filed).holds
    return Kept(offer.cost.success, kept, offer.mean, offer.tail, len(states), len(rows), verified, survives)


def land(
    promised: Mapping[str, Range], whole: Mapping[str, Range], filed: Record, *, rng: np.random.Generator
) -> Iterator[tuple[str, dict[str, int]]]:
    """The changed numbers of somebody who lands in each of `WAYS`."""
    yield "value", {name: part.value for name, part in promised.items()}
    yield "least", {name: part.least(filed[name]) for name, part in promised.items()}
    yield "most", {name: part.most(filed[name]) for name, part in promised.items()}
    yield "least in level", {name: part.least(filed[name]) for name, part in whole.items()}
    for way, ranges in (("anywhere", promised), ("anywhere in level", whole)):
        drawn = {name: part.anywhere(rng) for name, part in ranges.items()}
        yield from ((way, {name: points[i] for name, points in drawn.items()}) for i in range(POINTS))


def ask(experiment: Experiment, row: int, *, every_plan: bool = False) -> Answer:
    """What a person is offered, and whether it holds: the cheapest plan, or all of them."""
    filed = record_of(row)
    begun = time.perf_counter()
    menu = sa.recommend(experiment.problem, experiment.classifier, filed)
    seconds = time.perf_counter() - begun
    if not menu.offers:
        reason = "accepted" if menu.no_recourse is None else menu.no_recourse.code
        return Answer((), reason, seconds)
    offers = menu.offers if every_plan else (min(menu, key=lambda offer: offer.mean),)
    rng = np.random.default_rng(row)
    return Answer(tuple(try_plan(experiment, offer, filed, rng=rng) for offer in offers), None, seconds)


def sum_up(answers: Sequence[Answer]) -> dict[str, float]:
    """The means over all plans, and how many people have one."""
    plans = [plan for answer in answers for plan in answer.plans]
    figures: dict[str, Any] = {
        "people": len(answers),
        "told they are accepted": sum(answer.reason == "accepted" for answer in answers),
        "refused for levels": sum(answer.reason == "levels" for answer in answers),
        "without recourse": sum(answer.reason in {"no_action", "horizon", "never"} for answer in answers),
        "with a plan": sum(answer.reason is None for answer in answers),
        "plans": len(plans),
        "verified at every point": sum(plan.verified for plan in plans),
        "hold for the retrained model": sum(plan.survives is True for plan in plans),
        "broken": sum(min(plan.kept[way] for way in WAYS[:4]) < plan.claimed - 1e-9 for plan in plans),
        "claimed": np.mean([plan.claimed for plan in plans]),
        **{way: np.mean([plan.kept[way] for plan in plans]) for way in WAYS},
        "worst shortfall": max(plan.claimed - min(plan.kept[way] for way in WAYS[:4]) for plan in plans),
        "mean cost": np.mean([plan.mean for plan in plans]),
        "worst 5%": np.mean([plan.tail for plan in plans]),
        "ends": np.mean([plan.ends for plan in plans]),
        "records tried": np.mean([plan.records for plan in plans]),
        "seconds": np.mean([answer.seconds for answer in answers]),
    }
    return {name: float(value) for name, value in figures.items()}


def measure(
    experiment: Experiment,
    *,
    people: int = 200,
    thresholds: Sequence[float] = THRESHOLDS,
    promises: Sequence[PromiseKind] = PROMISES,
    every_plan: bool = False,
) -> pd.DataFrame:
    """A column per threshold and kind of promise."""
    columns = {}
    for threshold in thresholds:
        first: list[Answer] = []
        for promise in promises:
            asked = experiment.with_goal(threshold, promise)
            answers = [ask(asked, row, every_plan=every_plan) for row in asked.first_rejected(people)]
            first = first or answers
            columns[f"{threshold:g}", promise] = sum_up(answers) | compare_costs(answers, first)
    return pd.DataFrame(columns)


def compare_costs(answers: Sequence[Answer], others: Sequence[Answer]) -> dict[str, float]:
    """How many times as dear people's first plans are as with another promise, if they have one either way."""
    both = [(a.plans[0], b.plans[0]) for a, b in zip(answers, others, strict=True) if a.plans and b.plans]
    mean, tail = (sum(a.mean for a, _ in both), sum(a.tail for a, _ in both))
    return {
        "mean cost / that of the first promise": mean / sum(b.mean for _, b in both),
        "worst 5% / that of the first promise": tail / sum(b.tail for _, b in both),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", default=PROBLEM, type=Path, help="another problem file")
    parser.add_argument("--model", default="model", choices=TRAIN, help="one of those in train.py")
    parser.add_argument("--retrained", type=int, metavar="SEED", help="check plans with a model of another sample, too")
    parser.add_argument("--people", default=200, type=int, help="how many of the rejected")
    parser.add_argument("--thresholds", default=THRESHOLDS, type=float, nargs="+")
    parser.add_argument("--promises", default=PROMISES, choices=PROMISES, nargs="+")
    parser.add_argument("--every-plan", action="store_true", help="all plans of the menu, not only the cheapest")
    given = parser.parse_args()
    found = measure(
        Experiment(
            sa.load_problem(given.problem),
            get_model(given.model),
            None if given.retrained is None else TRAIN[given.model](given.retrained),
        ),
        people=given.people,
        thresholds=given.thresholds,
        promises=given.promises,
        every_plan=given.every_plan,
    )
    print(found.to_string(float_format="{:.5g}".format))


if __name__ == "__main__":
    main()
