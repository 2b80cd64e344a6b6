"""How many people without recourse can be told what would help? `python -m benchmarks.no_recourse` tells.

German and Adult with the paper's problems and forests, at the paper's horizon and at a short one, and German as filed
with LightGBM at thresholds that few reach. Of the people without recourse as many as `--most` are drawn at random,
always the same, and advised. Every "never" is confirmed by a plain search with the expanded problem, on its own.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from examples.german_credit.train import get_model, read_applications

import safear as sa
from safear.mdp.compiled import CompiledMDP
from safear.mdp.expand import expand
from safear.mdp.lattice import find_lattice
from safear.paper.study import Study
from safear.problem.model import PromiseKind, Record
from safear.recourse.advice import find_advice
from safear.recourse.case import Case, Desk
from safear.recourse.diagnose import can_reach_goal

FILED = Path(__file__).parent.parent / "examples" / "german_credit" / "problem.yaml"
SHORT = 2
REJECTED = 200  # people as filed, of whom those without recourse are taken
STRICT: tuple[tuple[float, PromiseKind, int], ...] = ((0.5, "narrow", SHORT), (0.9, "range", 8), (0.97, "range", 8))


@dataclass(frozen=True)
class Setting:
    """People of a data set whom somebody rejects: how many, and those of them without recourse."""

    name: str
    desk: Desk
    rejected: int
    stuck: list[Record]


def list_studies() -> Iterator[Setting]:
    """The paper's problems with their forests."""
    for name in ("german", "adult"):
        study = Study.of(name)
        for horizon in (study.problem.horizon, SHORT):
            desk = study.desk.with_horizon(horizon)
            mdp = sa.compile_mdp(desk.problem, desk.classifier)
            codes = study.dataset.codes[study.rejected]
            stuck = codes[~can_reach_goal(mdp)[mdp.positions(codes)]]
            people = [mdp.space.person(int(state)) for state in mdp.space.encode(stuck)]
            yield Setting(f"{name}, forest, {horizon} steps", desk, len(codes), list(people))


def list_filed() -> Iterator[Setting]:
    """German as filed: the model sees the records."""
    problem, model, applications = sa.load_problem(FILED), get_model("lightgbm"), read_applications()[0]
    for threshold, promise, horizon in STRICT:
        goal = replace(problem.goal, threshold=threshold, promise=promise)
        desk = Desk.of(replace(problem, goal=goal, horizon=horizon), model)
        rejected, stuck = 0, list[Record]()
        for number in range(len(applications)):
            record = {str(name): value for name, value in applications.iloc[number].items()}
            if desk.decide(record).favourable:
                continue
            rejected += 1
            stuck += [] if desk.open(record).needs_plan else [record]
            if rejected == REJECTED:
                break
        yield Setting(f"german as filed, {threshold}, {promise}, {horizon} steps", desk, rejected, stuck)


def confirm(case: Case) -> bool:
    """Whether nothing that can ever be reached is a goal, by a search that asks about all of it at the end."""
    mdp = case.mdp
    if not isinstance(mdp, CompiledMDP):
        return False
    lattice, start = find_lattice(case.problem), mdp.states[mdp.starts]
    met, layer = set(start.tolist()), start
    while len(layer):
        targets = expand(case.problem, lattice, mdp.space, layer).target
        layer = np.array(sorted(set(targets.tolist()) - met), dtype=np.int64)
        met.update(layer.tolist())
    return not mdp.goals.among(mdp.space.decode(np.array(sorted(met)))).any()


def describe(setting: Setting, most: int) -> Iterator[str]:
    """What is found for those without recourse."""
    count = min(most, len(setting.stuck))
    drawn = np.sort(np.random.default_rng(0).permutation(len(setting.stuck))[:count])
    reasons, kinds, first, helped, seconds, confirmed = Counter[str](), Counter[str](), Counter[str](), 0, [], 0
    for number in drawn:
        began = time.perf_counter()
        case = setting.desk.open(setting.stuck[int(number)])
        reason, advice = case.no_recourse, find_advice(case)
        seconds.append(time.perf_counter() - began)
        if reason is None or advice is None:
            continue
        reasons[reason.code] += 1
        confirmed += reason.code in {"never", "no_action"} and confirm(setting.desk.open(case.decision.record))
        helped += bool(advice.relaxations)
        kinds.update({one.code for one in advice.relaxations})
        first.update([one.code for one in advice.relaxations[:1]])
    yield f"{setting.name}: {setting.rejected:,} rejected, {len(setting.stuck):,} without recourse, {count} advised"
    if count:
        yield f"  reasons: {dict(reasons)}; never or no action confirmed by another search: {confirmed}"
        yield f"  a change helps {helped} of {count}; first of them: {dict(first)}; among the five: {dict(kinds)}"
        yield f"  median {np.median(seconds):.2f} s, longest {max(seconds):.2f} s"


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=100, help="people who are advised in each setting")
    most = parser.parse_args().most
    for settings in (list_studies(), list_filed()):
        for setting in settings:
            for line in describe(setting, most):
                print(line, flush=True)


if __name__ == "__main__":
    main()
