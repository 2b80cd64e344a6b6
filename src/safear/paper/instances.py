"""Single instances of the paper: learning curves (G-RSEVI) and the case studies, as figures and as plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from safear.datasets.dataset import load
from safear.mdp.compile import compile_mdp
from safear.paper.entries import Entry, EntryKey, make_entry
from safear.paper.tables import HORIZON, Advance, Workshop
from safear.recourse.menu import recommend
from safear.recourse.offer import Offer
from safear.risk.objectives import MeanStd
from safear.solvers.solution import LearningCurve
from safear.solvers.solve import solve

INSTANCES = (("adult", "row 16"), ("german", "row 44"))
CASES = (("adult", "row 16"), ("adult", "row 734"), ("german", "row 44"), ("german", "row 972"))
AVERSIONS = (0.0, 0.5, 1.0)
RUNS = (0, 1, 2, 3, 4)  # seeds of the episodic solver for the claim
LAST = 500  # episodes at the end, in which hardly anything is explored


def episodic(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """G-RSEVI for the two example instances: mean and deviation of the cost in the last 500 episodes."""
    for dataset, group in INSTANCES:
        for policy, curve in learn_instance(dataset, group, workshop.seeds[0]).items():
            last = curve.costs[-LAST:]
            for measure, ours in (("last_mean", float(last.mean())), ("last_std", float(last.std()))):
                yield make_entry(EntryKey("episodic", dataset, group, policy, HORIZON, measure), ours)
            advance()


@cache
def learn_instance(dataset: str, group: str, seed: int) -> Mapping[str, LearningCurve]:
    """The learning curves of one instance, by policy; 10,000 episodes each. `seed` is that of the episodes."""
    data = load(dataset)
    mdp = compile_mdp(data.problem, data.classifier(0), start=data.problem.people[group])
    curves: dict[str, LearningCurve] = {}
    for aversion in AVERSIONS:
        rng = np.random.default_rng([seed, round(100 * aversion)])
        curve = solve(mdp, MeanStd(aversion), method="episodic", rng=rng).learning
        if curve is not None:
            curves[f"mean-std:{aversion:g}"] = curve
    return curves


def varies_less(dataset: str, group: str, seed: int) -> bool:
    """Whether the costs of the last episodes vary less at the highest aversion than at none."""
    curves = list(learn_instance(dataset, group, seed).values())
    return bool(curves[-1].costs[-LAST:].std() < curves[0].costs[-LAST:].std())


@dataclass(frozen=True, slots=True)
class CaseStudy:
    """One person of the case study, with the plans for three aversions."""

    dataset: str
    group: str
    offers: tuple[Offer, ...]


def study_cases(workshop: Workshop) -> Iterator[CaseStudy]:
    """The four instances of the paper's figure; one that the forest accepts has no plans."""
    for dataset, group in CASES:
        data = load(dataset)
        menu = recommend(
            data.problem,
            data.classifier(workshop.seeds[0]),
            data.problem.people[group],
            objectives=[MeanStd(aversion) for aversion in AVERSIONS],
            method="greedy",
        )
        yield CaseStudy(dataset, group, menu.offers)


def cases(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Exact figures of the plans in the case study; the paper shows them as pictures only."""
    for case in study_cases(workshop):
        for offer in case.offers:
            figures = {
                "success": offer.cost.success,
                "mean": offer.cost.mean,
                "variance": offer.cost.variance,
                "var95": offer.cost.var(0.95),
            }
            for measure, ours in figures.items():
                yield make_entry(EntryKey("cases", case.dataset, case.group, offer.name, HORIZON, measure), ours)
        advance()
