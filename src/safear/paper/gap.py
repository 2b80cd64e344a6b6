"""What the paper could not say: how far its greedy plans are from the optimum of its own objective (Eq. 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from safear.mdp.compile import Compiler
from safear.mdp.lattice import find_lattice
from safear.paper.entries import Entry, EntryKey, make_entry
from safear.paper.study import Study
from safear.paper.tables import HORIZON, Advance, Workshop
from safear.population.comparison import Comparison, compare_filed
from safear.population.engine import Engine
from safear.risk.objectives import MeanStd

DATASETS = ("adult", "german")
AVERSIONS = (0.25, 0.5, 1.0, 2.0)
PEOPLE = 2100  # at most so many are drawn; a few of them have no way to the goal
FREE, DEAR = "all", "all, failing costs 1"  # the paper's presets, and the same with a failure cost
ENOUGH = 0.99


def optimal(workshop: Workshop, advance: Advance) -> Iterator[Entry]:
    """Greedy and optimal plans side by side, all figures over all runs."""
    for name in DATASETS:
        study = workshop.study(name)
        for group in (FREE, DEAR):
            engine, codes = draw_people(study, failure_cost=group == DEAR)
            for aversion in AVERSIONS:
                yield from _entries(name, group, compare_filed(engine, codes, objective=MeanStd(aversion)))
                advance()


def draw_people(study: Study, *, failure_cost: bool) -> tuple[Engine, NDArray[np.int16]]:
    """At most PEOPLE of the rejected; with a failure cost of 1 if asked for."""
    rng = np.random.default_rng([study.seed, *b"optimal"])
    count = len(study.crowd)
    drawn = rng.choice(count, min(PEOPLE, count), replace=False)
    engine = study.engine(study.problem.horizon)
    if failure_cost:
        dear = replace(study.problem, goal=replace(study.problem.goal, failure_cost=Decimal(1)))
        compiler = Compiler(dear, engine.desk.goals, find_lattice(dear))
        engine = Engine(replace(engine.desk, compiler=compiler))
    return engine, study.crowd.codes[drawn]


def _entries(dataset: str, group: str, found: Comparison) -> Iterator[Entry]:
    figures = {
        "greedy": {"n": found.compared, **_averages(found, "greedy")},
        "optimal": {
            "n": found.compared,
            **_averages(found, "optimal"),
            "greedy worse": found.worse,
            "by": found.excess_of_worse,
            "at most by": found.largest_excess,
            "other first step": found.other_first_step,
            "gives up": found.gives_up,
        },
    }
    for method, measures in figures.items():
        for measure, value in measures.items():
            key = EntryKey("optimal", dataset, group, f"{found.objective} {method}", HORIZON, measure)
            yield make_entry(key, float(value))


def _averages(found: Comparison, method: str) -> dict[str, float]:
    averages = found.greedy if method == "greedy" else found.optimal
    return {
        "value": averages.value,
        "success": averages.success,
        "average": averages.mean,
        "worst 5%": averages.cvar,
    }


def optimum_succeeds(entries: Sequence[Entry], group: str) -> dict[str, bool]:
    """For each data set, whether the optimum at the highest aversion succeeds as often as it should."""
    policy = f"{MeanStd(AVERSIONS[-1])} optimal"
    return {
        entry.key.dataset: entry.ours is not None and entry.ours >= ENOUGH
        for entry in entries
        if (entry.key.group, entry.key.policy, entry.key.measure) == (group, policy, "success")
    }
