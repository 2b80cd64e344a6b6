"""The tables of the paper: which data set, group, objective and horizon stand in which, and how entries are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from safear.datasets.bundled import load_example
from safear.datasets.dataset import dataset_names
from safear.errors import MissingExtraError
from safear.evaluation.forward import run_exactly
from safear.evaluation.simulate import simulate
from safear.mdp.arrays import MDP
from safear.mdp.compile import compile_mdp
from safear.mdp.space import StateSpace
from safear.paper.entries import MEASURES, Entry, EntryKey, make_entry, read_measures
from safear.paper.rollouts import average
from safear.paper.study import Study
from safear.problem.terms import Terms
from safear.recourse.menu import recommend
from safear.recourse.offer import Offer
from safear.risk.distribution import Masked
from safear.risk.objectives import Mean, MeanLowerStd, MeanStd, Objective
from safear.solvers.solve import solve

SEEDS = (0, 1, 2, 3, 4)
HORIZON = 12
SAMPLES = {"horizon": 2000, "second-model": 1000}  # people (of each group) whom the paper draws; our simulation, too
AVERSIONS = (0.0, 0.25, 0.5)
GENDERS = ("female", "male")
TESTED = ("mean", "variance", "var80", "tail_mean80", "var95", "tail_mean95")
Advance = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Workshop:
    """The studies that tables share, so that nothing is computed twice, and where random numbers come from."""

    seeds: Sequence[int] = SEEDS
    simulate: bool = True
    studies: dict[tuple[str, int, bool], Study] = field(default_factory=dict)

    def study(self, dataset: str, seed: int | None = None, *, second_model: bool = False) -> Study:
        """A study; the first of `seeds` unless another is given."""
        key = (dataset, self.seeds[0] if seed is None else seed, second_model)
        if key not in self.studies:
            self.studies[key] = Study.of(dataset, seed=key[1], second_model=second_model)
        return self.studies[key]

    def entries(
        self, study: Study, table: str, group: str, objective: Objective, *, horizon: int, seeds: Sequence[int] = ()
    ) -> Iterator[Entry]:
        """All measures of one row of a table: exact, simulated, and with other forests."""
        members = study.members(group)
        exact = study.exact(objective, horizon)
        sampled = self._simulated(study, f"{table} {group}", members, objective, horizon)
        others = [self.study(study.dataset.name, seed) for seed in seeds]
        for measure in MEASURES:
            key = EntryKey(table, study.dataset.name, group, str(objective), horizon, measure)
            elsewhere = [average(o.exact(objective, horizon)[measure][o.members(group)]) for o in others]
            yield make_entry(
                key,
                average(exact[measure][members]),
                None if sampled is None else average(sampled[measure][members]),
                elsewhere,
            )

    def _simulated(
        self, study: Study, row: str, members: NDArray[np.bool_], objective: Objective, horizon: int
    ) -> dict[str, Masked] | None:
        if not self.simulate:
            return None
        # One generator per row, so that a row does not change with what else is computed.
        name = f"{row} {study.dataset.name} {objective} {horizon}"
        rng = np.random.default_rng([study.seed, *name.encode()])
        people = members
        size = SAMPLES.get(row.split(maxsplit=1)[0], len(members))
        if members.sum() > size:
            people = np.zeros_like(members)
            people[rng.choice(np.flatnonzero(members), size, replace=False)] = True
        return dict(study.simulated(objective, horizon, rng=rng, people=people))


def models(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Data set overview: features, states, accuracy of the forest."""
    for name in sorted(dataset_names()):
        study = workshop.study(name)
        advance()
        accuracies = [study.dataset.classifier(seed).accuracy for seed in workshop.seeds]
        figures: dict[str, tuple[float, list[float]]] = {
            "features": (len(study.problem.features), []),
            "immutable": (sum(not feature.mutable for feature in study.problem.features), []),
            "states": (StateSpace(study.problem.features, {}).size, []),
            "accuracy": (accuracies[0], accuracies[1:]),
        }
        for measure, (ours, others) in figures.items():
            yield make_entry(EntryKey("models", name, "all", "", None, measure), ours, None, others)


def risk(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """The main risk table: both data sets and the two example instances."""
    for name, instance, more in (("adult", "row 16", (0.0, 0.5, 0.75)), ("german", "row 44", (0.0, 0.5, 0.75))):
        study = workshop.study(name)
        yield _count(workshop, "risk", name, "all", HORIZON, seeds=workshop.seeds[1:])
        for aversion in AVERSIONS:
            yield from workshop.entries(
                study, "risk", "all", MeanStd(aversion), horizon=HORIZON, seeds=workshop.seeds[1:]
            )
            advance()
        for aversion in more:
            yield from workshop.entries(study, "risk", instance, MeanStd(aversion), horizon=HORIZON)


def gender(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """The risk table by gender."""
    yield from _by_gender(workshop, "gender", advance, second_model=False)


def second_model(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """By gender, with the other costs and chances."""
    yield from _by_gender(workshop, "second-model", advance, second_model=True)


def _by_gender(workshop: Workshop, table: str, advance: Advance, *, second_model: bool) -> Iterator[Entry]:
    for name in ("adult", "german"):
        study = workshop.study(name, second_model=second_model)
        for group in GENDERS:
            yield _count(workshop, table, name, group, HORIZON)
            for aversion in AVERSIONS:
                yield from workshop.entries(study, table, group, MeanStd(aversion), horizon=HORIZON)
                advance()


def gender_tests(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Mann-Whitney U between women and men, for six measures; with every forest, for it depends on the forest."""
    for name in ("adult", "german"):
        study = workshop.study(name)
        yield from (_count(workshop, "gender-tests", name, group, HORIZON) for group in GENDERS)
        for aversion in AVERSIONS:
            objective = MeanStd(aversion)
            figures = study.exact(objective, HORIZON)
            for measure in TESTED:
                for group in GENDERS:
                    key = EntryKey("gender-tests", name, group, str(objective), HORIZON, measure)
                    yield make_entry(key, average(figures[measure][study.members(group)]))
                chances = [p_value(workshop.study(name, seed), aversion, measure) for seed in workshop.seeds]
                key = EntryKey("gender-tests", name, "female-male", str(objective), HORIZON, f"p_{measure}")
                yield make_entry(key, chances[0], None, chances[1:])
            advance()


def p_value(study: Study, aversion: float, measure: str) -> float:
    """How likely so large a difference between women and men would be by chance (two-sided Mann-Whitney U)."""
    figures = study.exact(MeanStd(aversion), HORIZON)[measure]
    women, men = (figures[study.members(group)].compressed() for group in GENDERS)
    return _mann_whitney()(women, men)


def horizon(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Aversion by horizon, with the time that a policy for all states takes."""
    for name in ("adult", "german"):
        study = workshop.study(name)
        whole = compile_mdp(study.problem, study.dataset.classifier(study.seed))
        for steps in (12, 8, 4):
            yield _count(workshop, "horizon", name, "all", steps)
            yield make_entry(
                EntryKey("horizon", name, "all", "", steps, "seconds"), _time(replace(whole, horizon=steps))
            )
            for aversion in (0.0, 0.25, 0.5, 1.0, 2.0):
                yield from workshop.entries(
                    study, "horizon", "all", MeanStd(aversion), horizon=steps, seeds=workshop.seeds[1:]
                )
                advance()


def _time(mdp: MDP) -> float:
    """How long a policy for all states takes, in seconds, once everything is loaded."""
    solve(mdp, MeanStd(0.5), method="greedy")
    start = perf_counter()
    solve(mdp, MeanStd(0.5), method="greedy")
    return perf_counter() - start


def insurance(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """The health insurance premiums data set."""
    yield _count(workshop, "insurance", "insurance", "all", HORIZON)
    for aversion in (0.0, 0.25, 0.5, 1.0):
        study = workshop.study("insurance")
        yield from workshop.entries(study, "insurance", "all", MeanStd(aversion), horizon=HORIZON)
        advance()


def lower_deviation(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Lower partial standard deviation instead of the standard deviation."""
    for name in ("adult", "german"):
        yield _count(workshop, "lower-deviation", name, "all", HORIZON)
        for aversion in (0.0, 0.25, 0.5, 0.75):
            study = workshop.study(name)
            yield from workshop.entries(study, "lower-deviation", "all", MeanLowerStd(aversion), horizon=HORIZON)
            advance()


def synthetic(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """The synthetic example of Appendix B: exact, and from 1000 rollouts as in the paper."""
    problem = load_example("health-insurance")
    mdp = compile_mdp(problem, start=problem.default_person)
    for aversion in (0.0, 0.5, 1.0):
        solution = solve(mdp, MeanStd(aversion), method="greedy")
        runs, sampled = run_exactly(solution), dict[str, float | None]()
        if workshop.simulate:
            rng = np.random.default_rng([workshop.seeds[0], round(100 * aversion)])
            rolled = simulate(solution, rollouts=1000, rng=rng)
            sampled = read_measures(rolled.distribution, rolled)
        exact = read_measures(runs.distribution, runs)
        for measure in ("success", "mean", "variance", "var95", "tail_mean95"):  # what the paper prints
            key = EntryKey("synthetic", "health-insurance", "all", f"mean-std:{aversion:g}", 8, measure)
            yield make_entry(key, exact[measure], sampled.get(measure))
    advance()


# The three ways to a loan: the objective and the forbidden actions that make each the plan, by the paper's method. (The
# optimum of C's objective is B, by less than 1%: `safear compare loan`.)
LOAN: dict[str, tuple[Objective, tuple[str, ...]]] = {
    "A": (Mean(), ("change job", "study part-time")),
    "B": (Mean(), ()),
    "C": (MeanStd(0.5), ()),
}


def loan_offers() -> dict[str, Offer]:
    """The plans A (own a house), B (change job) and C (study, then save) of the motivating example."""
    problem = load_example("loan")
    return {
        name: replace(
            recommend(problem, objectives=objective, method="greedy", terms=Terms.of(forbid=forbid)).offers[0],
            label=f"policy {name}",
        )
        for name, (objective, forbid) in LOAN.items()
    }


def loan(_workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """The motivating figure: expected costs of the three ways to a loan, and how often C is done within 3."""
    horizon = load_example("loan").horizon
    for name, offer in loan_offers().items():
        objective = str(LOAN[name][0])
        yield make_entry(EntryKey("loan", "loan", name, objective, horizon, "mean"), offer.cost.all_runs.mean)
        if name == "C":
            within = sum(chance for cost, chance, success in offer.cost.points() if success and cost <= 3)
            yield make_entry(EntryKey("loan", "loan", name, objective, horizon, "within 3"), within)
    advance()


def _count(workshop: Workshop, table: str, dataset: str, group: str, steps: int, seeds: Sequence[int] = ()) -> Entry:
    """How many people there are."""
    counts = [
        float(study.members(group).sum())
        for study in (workshop.study(dataset), *(workshop.study(dataset, s) for s in seeds))
    ]
    return make_entry(EntryKey(table, dataset, group, "", steps, "n"), counts[0], None, counts[1:])


@cache
def _mann_whitney() -> Callable[[NDArray[np.float64], NDArray[np.float64]], float]:
    try:
        from scipy.stats import mannwhitneyu  # noqa: PLC0415  # comes with scikit-learn
    except ImportError:
        raise MissingExtraError("SciPy", "paper") from None
    return lambda one, other: float(mannwhitneyu(one, other).pvalue)
