"""Exact figures of many people, as tables: what each can expect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.recourse.failure import give_up
from safear.risk.distribution import Masked

ROUNDING = 1e-12  # figures that differ by no more, absolutely below 1 and relatively above, are the same figure
MEASURES = ("success", "mean", "variance", "var", "cvar", "sparsity", "proximity")  # of an audit
FAVOURABLE, PLANNED, NO_RECOURSE = 0, 1, 2  # as `core.people` numbers decisions
DECISIONS = ("favourable", "plan", "no recourse")
MaskedTable = np.ma.MaskedArray[tuple[int, int], np.dtype[np.float64]]

# Each measure of one person (a CostDistribution and Runs) or of all states (StateDistributions for both) at a level.
READ: Mapping[str, Callable[[Any, Any, float], Any]] = {
    "success": lambda cost, _ends, _level: cost.success,
    "mean": lambda cost, _ends, _level: cost.mean,
    "variance": lambda cost, _ends, _level: cost.variance,
    "std": lambda cost, _ends, _level: cost.std,
    "var": lambda cost, _ends, level: cost.var(level),
    "cvar": lambda cost, _ends, level: cost.cvar(level),
    "tail_mean": lambda cost, _ends, level: cost.tail_mean(level),
    "overall_mean": lambda cost, _ends, _level: cost.all_runs.mean,
    "overall_cvar": lambda cost, _ends, level: cost.all_runs.cvar(level),
    "sparsity": lambda _cost, ends, _level: ends.sparsity,
    "proximity": lambda _cost, ends, _level: ends.proximity,
}


@dataclass(frozen=True, eq=False)
class PeopleFigures:
    """Of each person: the decision, the number of the first action of their plan (-1: none), and the `measures`.

    `figures` [person, measure] are exact, costs given success as in the paper unless the measure is `overall_...`;
    masked for those who are accepted, where undefined, and where not known (the `bound` of a greedy plan). Whom nothing
    helps has a success of 0 and no other figures.
    """

    measures: tuple[str, ...]
    decision: NDArray[np.uint8]
    first_action: NDArray[np.int16]
    figures: MaskedTable

    @classmethod
    def unknown(cls, count: int, measures: Sequence[str]) -> PeopleFigures:
        """Of so many people, nothing known yet."""
        decision, first = np.full(count, NO_RECOURSE, dtype=np.uint8), np.full(count, -1, dtype=np.int16)
        return cls(tuple(measures), decision, first, np.ma.array(np.zeros((count, len(measures))), mask=True))

    def put(self, people: NDArray[np.int64], found: PeopleFigures) -> None:
        """Write down what was found of some of them."""
        self.decision[people], self.first_action[people] = found.decision, found.first_action
        self.figures[people] = found.figures

    def take(self, people: NDArray[np.int64]) -> PeopleFigures:
        """Those of some of them, any number of times."""
        return PeopleFigures(self.measures, self.decision[people], self.first_action[people], self.figures[people])

    def of(self, measure: str) -> Masked:
        """One measure of everybody."""
        column: Masked = self.figures[:, self.measures.index(measure)]
        return column

    @property
    def favourable(self) -> NDArray[np.bool_]:
        """Who is accepted."""
        return np.equal(self.decision, FAVOURABLE)

    @property
    def without_recourse(self) -> NDArray[np.bool_]:
        """Whom nothing helps."""
        return np.equal(self.decision, NO_RECOURSE)

    @property
    def is_unanimous(self) -> bool:
        """Whether the classifier says the same of everybody, and of whatever they can come to."""
        return bool(self.favourable.all() or self.without_recourse.all())

    @cached_property
    def gives_up(self) -> NDArray[np.bool_]:
        """Whose plan succeeds far less often than they could; see `recourse.failure`."""
        success, best = (np.ma.filled(self.of(name), 1.0) for name in ("success", "best_success"))
        return give_up(success, best)

    @cached_property
    def rankable(self) -> MaskedTable:
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
