"""What the paper could not say: how far its greedy plans are from the optimum of its own objective (Eq. 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from safear.paper.entries import Cell, Key, make_cell
from safear.paper.study import Study
from safear.paper.tables import HORIZON, Advance, Workshop
from safear.population.blocks import Block
from safear.population.comparison import Comparison, compare_blocks
from safear.risk.objectives import MeanStd

DATASETS = ("adult", "german")
AVERSIONS = (0.25, 0.5, 1.0, 2.0)
PEOPLE = 2100  # at most so many are drawn; a few of them have no way to the goal
FREE, DEAR = "all", "all, failing costs 1"  # the paper's presets, and the same with a failure cost
ENOUGH = 0.99


def optimal(workshop: Workshop, advance: Advance) -> Iterator[Cell]:
    """Greedy and optimal plans side by side, all figures over all runs."""
    for name in DATASETS:
        study = workshop.study(name)
        for group in (FREE, DEAR):
            blocks = _draw(study, failure_cost=group == DEAR)
            for aversion in AVERSIONS:
                yield from _cells(name, group, compare_blocks(blocks, MeanStd(aversion)))
                advance()


def _draw(study: Study, *, failure_cost: bool) -> list[Block]:
    """At most PEOPLE of the rejected, in their blocks; with a failure cost of 1 if asked for."""
    rng = np.random.default_rng([study.seed, *b"optimal"])
    count = len(study.rejected)
    drawn = np.zeros(count, dtype=bool)
    drawn[rng.choice(count, min(PEOPLE, count), replace=False)] = True
    blocks = []
    for block in study.blocks:
        mdp, here = block.mdp, drawn[block.people]
        if failure_cost:
            mdp = replace(mdp, failure_cost=int(1 / mdp.quantum))
        if here.any():
            blocks.append(Block(mdp, block.people[here], block.states[here]))
    return blocks


def _cells(dataset: str, group: str, found: Comparison) -> Iterator[Cell]:
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
            key = Key("optimal", dataset, group, f"{found.objective} {method}", HORIZON, measure)
            yield make_cell(key, float(value))


def _averages(found: Comparison, method: str) -> dict[str, float]:
    averages = found.greedy if method == "greedy" else found.optimal
    return {
        "value": averages.value,
        "success": averages.success,
        "average": averages.mean,
        "worst 5%": averages.cvar,
    }


def optimum_succeeds(cells: Sequence[Cell], group: str) -> dict[str, bool]:
    """For each data set, whether the optimum at the highest aversion succeeds as often as it should."""
    policy = f"{MeanStd(AVERSIONS[-1])} optimal"
    return {
        cell.key.dataset: cell.ours is not None and cell.ours >= ENOUGH
        for cell in cells
        if (cell.key.group, cell.key.policy, cell.key.measure) == (group, policy, "success")
    }
