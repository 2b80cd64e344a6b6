"""Do plans survive when the model is trained anew? With a margin, with several models that must agree, with both.

`python -m examples.german_credit.retraining` takes the first people whom the model rejects, finds the plan with the
least mean for each, and asks 20 models about every end of it that were trained on other random 70% of the applications
and had no part in planning. Nothing was tuned: the margin of 0.1 and the three models were set before the first run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from examples.german_credit.promises import record_of
from examples.german_credit.train import chances, read_applications, train

import safear as sa
from safear.plans import check_durability
from safear.problem.tries import Counts, count_interval

PROBLEM = Path(__file__).parent / "problem.yaml"
THRESHOLD, MARGIN, CONFIDENCE = 0.5, 0.1, 0.95
PLANNING = (0, 1, 2)  # seeds of models: the first is in force
HELD_OUT = tuple(range(101, 121))
REPAIRED = HELD_OUT[:2]  # models under which plans that do not hold are replaced


@dataclass(frozen=True, slots=True)
class Setting:
    """What plans are made for."""

    name: str
    margin: float = 0.0
    models: int = 1


SETTINGS = (
    Setting("no margin"),
    Setting("margin 0.1", MARGIN),
    Setting("three models agree", models=3),
    Setting("both", MARGIN, 3),
)
HEADINGS = (
    "plans for",
    "with a plan",
    "hold",
    "least to most, by model",
    "hold under all models",
    "claimed",
    "success",
    "mean cost",
    "worst 5%",
    "replacements cost more",
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a setting gave: plans by person, and for each held-out model and plan whether it holds, and its success.

    `repairs` are what plans cost more, on average, that replace others under the models of `REPAIRED`.
    """

    setting: Setting
    plans: dict[int, sa.SavedPlan]
    holds: np.ndarray[Any, np.dtype[np.bool_]]
    success: np.ndarray[Any, np.dtype[np.float64]]
    repairs: list[float]
    lost: int


def with_goal(aim: float | None = None, *, stop: bool = True) -> sa.Problem:
    """The example's problem, decided at the threshold and planned for an aim."""
    problem = sa.load_problem(PROBLEM)
    return replace(problem, goal=replace(problem.goal, threshold=THRESHOLD, aim=aim, stop=stop))


def run(
    setting: Setting, models: Sequence[Any], held_out: Sequence[Any], people: Sequence[int], *, stop: bool = True
) -> Result:
    """Plan for everybody, and ask the held-out models."""
    problem = with_goal(round(THRESHOLD + setting.margin, 9) if setting.margin else None, stop=stop)
    classifier = sa.as_classifier(list(models[: setting.models]), problem)
    plans: dict[int, sa.SavedPlan] = {}
    for row in people:
        for offer in sa.recommend(problem, classifier, record_of(row), objectives="mean"):
            plans[row] = sa.SavedPlan.of(offer)
    named = [(str(row), plan) for row, plan in plans.items()]
    found = [
        check_durability(with_goal(stop=stop), model, named, repair=number < len(REPAIRED))
        for number, model in enumerate(held_out)
    ]
    checks = [one.checks for one in found]
    return Result(
        setting,
        plans,
        np.array([[one.holds for one in some] for some in checks]),
        np.array([[one.success for one in some] for some in checks]),
        [one.more for some in checks for one in some if one.more is not None],
        sum(one.count("none") for one in found),
    )


def table(results: Sequence[Result], people: int) -> list[str]:
    """A row per setting, in Markdown."""
    lines = [f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
    for result in results:
        figures = [plan.figures for plan in result.plans.values()]
        by_model = result.holds.mean(axis=1)
        always = Counts(int(result.holds.all(axis=0).sum()), len(result.plans))
        low, high = count_interval(always, CONFIDENCE)
        cells = (
            result.setting.name,
            f"{len(result.plans)} of {people}",
            f"{result.holds.mean():.1%}",
            f"{by_model.min():.0%} to {by_model.max():.0%}",
            f"{always.worked} ({low:.0%} to {high:.0%})",
            f"{np.mean([one.success for one in figures]):.1%}",
            f"{result.success.mean():.1%}",
            f"{np.mean([one.mean for one in figures]):.2f}",
            f"{np.mean([one.cvar for one in figures]):.2f}",
            f"{np.mean(result.repairs):+.2f} ({len(result.repairs)})" if result.repairs else "",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Train, plan, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=60, help="how many rejected people")
    parser.add_argument("--held-out", type=int, default=len(HELD_OUT), help="how many models are asked")
    parser.add_argument("--keep-going", action="store_true", help="plans go on after the goal is lost (stop: false)")
    options = parser.parse_args()
    models = [train(seed) for seed in PLANNING]
    held_out = [train(seed) for seed in HELD_OUT[: options.held_out]]
    applications, _ = read_applications()
    rejected = np.flatnonzero(chances(models[0], applications) < THRESHOLD).tolist()[: options.people]
    results = []
    for setting in SETTINGS:
        began = time.perf_counter()
        results.append(run(setting, models, held_out, rejected, stop=not options.keep_going))
        share, seconds = results[-1].holds.mean(), time.perf_counter() - began
        print(f"{setting.name}: {share:.1%} hold ({seconds:.0f} s)", flush=True)
    print("\n".join(table(results, len(rejected))))
    everywhere = set.intersection(*(set(result.plans) for result in results))
    lost = sum(result.lost for result in results)
    print(f"\n{len(everywhere)} people have a plan in every row; {lost} plans cannot be replaced")


if __name__ == "__main__":
    main()
