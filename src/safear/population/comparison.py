"""Greedy against optimal: the same objective, person by person, and summed up over a population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.arguments import FILE, PROGRESS, takes
from safear.classifier.filed import Filed
from safear.errors import ObjectiveError, PersonError
from safear.people.counts import People, read_population, require_somebody
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose
from safear.population.figures import PLANNED, PeopleFigures
from safear.problem.model import Problem
from safear.progress import Progress
from safear.recourse.case import Desk
from safear.recourse.failure import gives_up
from safear.risk.objectives import Mean, MeanStd
from safear.solvers.solve import choose_method

if TYPE_CHECKING:
    import pandas as pd

EQUAL = 1e-12  # relative differences below this are rounding
WORSE = 1e-4  # a value that is larger by more than this, relatively, is worse; less would be splitting hairs

Reals = NDArray[np.float64]
_MEASURES = ("value", "success", "overall_mean", "overall_cvar", "best_success")


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """A plan in figures, over all runs: the value of the objective, success, mean, and the mean of the worst 5%."""

    value: float
    success: float
    mean: float
    cvar: float
    first_action: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """The greedy and the optimal plan of the people in one state, and how many they are.

    No plan has a value below `bound`, and none succeeds more often than `best_success`.
    """

    person: dict[str, str]
    count: int
    greedy: PlanFigures
    optimal: PlanFigures
    bound: float
    best_success: float

    @property
    def excess(self) -> float:
        """By which share of the optimal value the greedy value is larger; 1 if the optimum costs nothing."""
        more = self.greedy.value - self.optimal.value
        if more <= EQUAL * self.greedy.value:
            return 0.0
        return more / self.optimal.value if self.optimal.value > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Averages:
    """Means over people."""

    value: float
    success: float
    mean: float
    cvar: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Greedy against optimal for a population. Figures are over those who are rejected and have a way to the goal.

    `people` are all that were given, `rejected` those of them whom the classifier rejects, and `without_recourse` those
    of the rejected whom no plan helps.
    """

    objective: Mean | MeanStd
    pairs: tuple[Pair, ...]
    people: int
    rejected: int
    without_recourse: int

    def to_frame(self) -> pd.DataFrame:
        """A row per distinct person: who, how many, both plans in figures, and by how much greedy is worse."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        rows = []
        for pair in self.pairs:
            plans = {
                f"{method} {name}": value
                for method, plan in (("greedy", pair.greedy), ("optimal", pair.optimal))
                for name, value in asdict(plan).items()
            }
            more = {"bound": pair.bound, "best_success": pair.best_success, "excess": pair.excess}
            rows.append({**pair.person, "people": pair.count, **plans, **more})
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_frame().to_html())

    @property
    def compared(self) -> int:
        """How many people are compared."""
        return sum(pair.count for pair in self.pairs)

    @property
    def greedy(self) -> Averages:
        """The greedy plans on average."""
        return self._average([pair.greedy for pair in self.pairs])

    @property
    def optimal(self) -> Averages:
        """The optimal plans on average."""
        return self._average([pair.optimal for pair in self.pairs])

    @property
    def worse(self) -> float:
        """The share of people whose greedy plan is worse."""
        return self._mean(self._excess > WORSE)

    @property
    def excess(self) -> float:
        """By how much the greedy value is larger, on average over all people."""
        return self._mean(self._excess)

    @property
    def excess_of_worse(self) -> float:
        """The same over those for whom it is worse; 0 if there are none."""
        worse = self._excess > WORSE
        return float(np.average(self._excess[worse], weights=self._counts[worse])) if worse.any() else 0.0

    @property
    def largest_excess(self) -> float:
        """By how much at most."""
        return float(self._excess.max())

    @property
    def largest_gap(self) -> float:
        """The largest relative distance between an optimal value and its bound: what the certificates leave open."""
        gaps = [(pair.optimal.value - pair.bound) / max(pair.optimal.value, 1e-12) for pair in self.pairs]
        return max(0.0, *gaps)

    @property
    def other_first_step(self) -> float:
        """The share of people to whom the two say different things to begin with."""
        return self._mean(np.array([pair.greedy.first_action != pair.optimal.first_action for pair in self.pairs]))

    @property
    def gives_up(self) -> float:
        """The share of people for whom even the optimum succeeds far less often than possible: failing is too cheap."""
        return self._mean(np.array([gives_up(pair.optimal.success, pair.best_success) for pair in self.pairs]))

    @property
    def _counts(self) -> Reals:
        return np.array([pair.count for pair in self.pairs], dtype=np.float64)

    @property
    def _excess(self) -> Reals:
        return np.array([pair.excess for pair in self.pairs])

    def _mean(self, values: NDArray[np.bool_] | Reals) -> float:
        return float(np.average(values.astype(np.float64), weights=self._counts))

    def _average(self, figures: Sequence[PlanFigures]) -> Averages:
        names = [field.name for field in fields(Averages)]
        return Averages(*(self._mean(np.array([getattr(item, name) for item in figures])) for name in names))


@takes(skip_bad=FILE.or_none, progress=PROGRESS.or_none)
def compare(
    problem: Problem,
    classifier: object,
    people: People,
    *,
    objective: Mean | MeanStd,
    skip_bad: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Solve for everybody whom the classifier rejects, with the greedy and the optimal method.

    `people` are a CSV or Parquet file, a glob of them, a DataFrame or records, with a column per feature; bad rows are
    an error unless `skip_bad` names a file that they are put into. Equal people are solved once.
    """
    _require_both_methods(objective)
    engine = Engine(Desk.of(problem, classifier))
    population = read_population(problem, people, sight=engine.desk.sight, skip_bad=skip_bad)
    require_somebody(population, skip_bad)
    return compare_filed(engine, population.filed, population.counts, objective=objective, progress=progress)


def compare_filed(
    engine: Engine,
    people: Filed | NDArray[np.int16],
    counts: NDArray[np.int64] | None = None,
    *,
    objective: Mean | MeanStd,
    progress: Progress | None = None,
) -> Comparison:
    """The same for people as filed, or by level numbers: one each, or as many as `counts` says."""
    _require_both_methods(objective)
    everybody = Crowd.of(engine.problem, people)
    first, kind = everybody.distinct()
    crowd = everybody.take(first)
    number = np.zeros(len(crowd), dtype=np.int64)
    np.add.at(number, kind, 1 if counts is None else counts)
    greedy = engine.work_out(crowd, Purpose(objective, "greedy"), _MEASURES)
    optimal = engine.work_out(crowd, Purpose(objective, "optimal"), (*_MEASURES, "bound"), progress=progress)
    rejected = int(number[~greedy.favourable].sum())
    compared = np.flatnonzero(np.equal(greedy.decision, PLANNED)).tolist()
    if not compared:
        cause = "nobody is rejected" if not rejected else "nobody who is rejected has a way to the goal"
        raise PersonError.at((), f"{cause}, so there is nothing to compare", code="nobody_to_compare")
    pairs = tuple(
        Pair(
            dict(crowd.person(engine.problem, i)),
            int(number[i]),
            _read_plan(engine.problem, greedy, i),
            _read_plan(engine.problem, optimal, i),
            float(optimal.of("bound")[i]),
            float(optimal.of("best_success")[i]),
        )
        for i in compared
    )
    return Comparison(objective, pairs, int(number.sum()), rejected, int(number[greedy.without_recourse].sum()))


def _require_both_methods(objective: Mean | MeanStd) -> None:
    choose_method(objective)  # refuses what is no objective
    if not isinstance(objective, Mean | MeanStd):
        cause = f"there is no greedy method for '{objective}', or no optimal one"
        raise ObjectiveError.at((), cause, "compare 'mean-std:0.5' or another aversion", code="unsuited")


def _read_plan(problem: Problem, found: PeopleFigures, person: int) -> PlanFigures:
    first = int(found.first_action[person])
    value, success, mean, cvar = (float(found.of(name)[person]) for name in _MEASURES[:4])
    return PlanFigures(value, success, mean, cvar, None if first < 0 else problem.actions[first].name)
