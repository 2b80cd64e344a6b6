"""Exact figures of many people: what each can expect, computed once per distinct state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.backward import evaluate_states
from safear.evaluation.forward import run_exactly
from safear.mdp.slices import restrict
from safear.population.blocks import Block, group_people
from safear.problem.model import Problem
from safear.progress import Progress
from safear.recourse.diagnose import can_reach_goal
from safear.recourse.failure import gives_up
from safear.risk.objectives import MeanStd, MeanVariance, Objective
from safear.solvers.fine_costs import needs_rounding
from safear.solvers.optimal import simplify
from safear.solvers.solve import Method, choose_method, solve
from safear.solvers.success import sweep_success
from safear.threads import work_ahead

ROUNDING = 1e-12  # figures that differ by no more, absolutely below 1 and relatively above, are the same figure
MEASURES = ("success", "mean", "variance", "var", "cvar", "sparsity", "proximity")


@dataclass(frozen=True, eq=False)
class PeopleFigures:
    """Of each distinct person: whether they are accepted, whether nothing helps them, and their MEASURES.

    `figures` [person, measure] are exact, costs given success as in the paper; masked for those who are accepted, and,
    but for a success of 0, for those whom nothing helps or whose plan never succeeds. `gives_up` are those whose plan
    succeeds far less often than they could.
    """

    favourable: NDArray[np.bool_]
    without_recourse: NDArray[np.bool_]
    figures: np.ma.MaskedArray[tuple[int, int], np.dtype[np.float64]]
    gives_up: NDArray[np.bool_]

    @cached_property
    def rankable(self) -> np.ma.MaskedArray[tuple[int, int], np.dtype[np.float64]]:
        """The figures, those that differ by rounding made equal: a rank test would take it for a difference."""
        result = self.figures.copy()
        for column in result.T:
            known = np.flatnonzero(~np.ma.getmaskarray(column))
            order = known[np.argsort(np.ma.getdata(column)[known], kind="stable")]
            column[order] = _merge_close(np.ma.getdata(column)[order])
        return result


def _merge_close(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sorted values, those within ROUNDING of the first of their group made equal to it.

    Not of their neighbour: a chain of close neighbours may be long.
    """
    reach = values + ROUNDING * np.maximum(1, np.abs(values))
    new = np.append(True, values[1:] > reach[:-1])[: len(values)]
    chains = np.append(np.flatnonzero(new), len(values)).tolist()
    for first, end in pairwise(chains):
        here = first
        while reach[here] < values[end - 1]:
            here += int(np.searchsorted(values[here:end], reach[here], side="right"))
            new[here] = True
    merged: NDArray[np.float64] = values[new][np.cumsum(new) - 1]
    return merged


def compute_figures(
    problem: Problem,
    classifier: object,
    codes: NDArray[np.int16],
    *,
    objective: Objective,
    method: Method | None = None,
    level: float = 0.95,
    progress: Progress | None = None,
) -> PeopleFigures:
    """The figures of people (rows of level numbers) who follow the plan for an objective."""
    people = PeopleFigures(
        np.zeros(len(codes), dtype=bool),
        np.zeros(len(codes), dtype=bool),
        np.ma.array(np.zeros((len(codes), len(MEASURES))), mask=True),
        np.zeros(len(codes), dtype=bool),
    )

    def work(block: Block) -> int:
        _fill(people, block, objective, method, level)
        return len(block.people)

    done = 0
    for count in work_ahead(work, group_people(problem, classifier, codes)):
        done += count
        if progress is not None:
            progress(done, len(codes))
    return people


def _fill(people: PeopleFigures, block: Block, objective: Objective, method: Method | None, level: float) -> None:
    """The figures of the people of one block, each at their place."""
    mdp, states = block.mdp, block.states
    people.favourable[block.people] = mdp.goal[states]
    rejected = ~mdp.goal[states]
    people.without_recourse[block.people] = rejected & ~can_reach_goal(mdp)[states]
    if not rejected.any():
        return
    # The optimum of mean and deviation is searched for each start by itself: only for states that somebody is in. So is
    # a plan that needs rounded costs, since people differ in how much.
    distinct, where = np.unique(states[rejected], return_inverse=True)
    is_searched = isinstance(simplify(objective), MeanStd | MeanVariance)
    is_optimal = choose_method(objective, method) == "optimal"
    alone = mdp.depth.any() or (is_optimal and (is_searched or needs_rounding(mdp, objective, distinct)))
    if alone:
        found = np.ma.stack([_read_one(block, int(state), objective, method, level) for state in distinct])[where]
    else:
        everybody = evaluate_states(solve(mdp, objective, method=method))
        found = np.ma.stack(_read(everybody, everybody, level), axis=1)[states[rejected]]
    people.figures[block.people[rejected]] = found
    possible = sweep_success(mdp)[0][states[rejected]]
    success = np.ma.getdata(found)[:, MEASURES.index("success")]
    people.gives_up[block.people[rejected]] = [gives_up(*pair) for pair in zip(success, possible, strict=True)]


def _read_one(
    block: Block, state: int, objective: Objective, method: Method | None, level: float
) -> np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]:
    part = restrict(block.mdp, state).mdp
    runs = run_exactly(solve(part, objective, method=method))
    values = _read(runs.distribution, runs, level)
    return np.ma.array([0.0 if value is None else value for value in values], mask=[value is None for value in values])


def _read(cost: Any, ends: Any, level: float) -> Sequence[Any]:
    """The MEASURES, of one person (a CostDistribution and Runs) or of all states (StateDistributions for both)."""
    return (
        cost.success,
        cost.mean,
        cost.variance,
        cost.var(level),
        cost.cvar(level),
        ends.sparsity,
        ends.proximity,
    )
