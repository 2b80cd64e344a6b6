"""Audits: do some groups of people carry more risk than others?

Everything is counted: who is accepted, who is rejected, whom nothing helps. Figures of a group are means over its
rejected people who have the figure, each the exact figure of the person's own plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.arguments import FILE, NAMES, PROGRESS, WHOLE, takes
from safear.classifier.protocol import Classifier
from safear.errors import ObjectiveError, PersonError, quote_list, suggest
from safear.people.bad_rows import breaks
from safear.people.counts import People, Population, read_population, require_somebody
from safear.population.crowd import Crowd
from safear.population.decomposition import Decomposition, Gap, decompose_gap, read_either
from safear.population.engine import Engine, Purpose
from safear.population.figures import MEASURES, PeopleFigures
from safear.population.groups import Group
from safear.population.statistics import bootstrap_difference, bootstrap_means, holm, mann_whitney
from safear.problem.model import Problem
from safear.progress import Progress
from safear.recourse.case import Desk
from safear.risk.objectives import Mean, Objective
from safear.solvers.solve import Method

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

SMALL = 30  # a group with fewer rejected people is marked, and neither ranked nor tested
RESAMPLES = 2000
MOST_GROUPS = 100  # values of a group column; a number or a name would have more
MOST_TESTED = 40  # groups that are compared in pairs


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """An audit of a population. Tables are pandas DataFrames; undefined figures are None.

    `by` says which group columns a table is about: a name, several for their combinations, None for all of them.
    """

    engine: Engine
    aim: Purpose
    population: Population
    people: PeopleFigures
    minimum: int
    seed: int

    def to_frame(self) -> pd.DataFrame:
        """A row per combination of all group columns."""
        return self.table()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_frame().to_html())

    def __repr__(self) -> str:
        return f"Audit({self.problem.title}, {self.objective}, {self.population.rows:,} people)"

    @property
    def problem(self) -> Problem:
        """What people can do."""
        return self.engine.problem

    @property
    def classifier(self) -> Classifier:
        """Who decides."""
        return self.engine.desk.classifier

    @property
    def objective(self) -> Objective:
        """What everybody's plan makes small."""
        return self.aim.objective

    @property
    def method(self) -> Method | None:
        """How it is solved, if that was asked for."""
        return self.aim.method

    @property
    def level(self) -> float:
        """That of `var` and `cvar`."""
        return self.aim.level

    @property
    def is_unanimous(self) -> bool:
        """Whether nothing helps anybody: a model that looks at its input seldom says so."""
        return self.population.rows > 1 and self.people.is_unanimous

    @property
    def overall(self) -> pd.Series:
        """Everybody."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        return pd.Series(self._group(()).row(), name="everybody", dtype=object)

    @property
    def columns(self) -> list[tuple[str, ...]]:
        """The available tables: one per group column, and one for all of them if there are several."""
        groups = self.population.groups
        return [*((name,) for name in groups), *([groups] if len(groups) > 1 else [])]

    def table(self, by: str | Sequence[str] | None = None) -> pd.DataFrame:
        """A row per group: the number of people and the means of the measures."""
        import pandas as pd  # noqa: PLC0415  # as above

        columns = self._columns(by)
        groups = list(self.groups(columns))
        frame = pd.DataFrame([group.row() for group in groups], dtype=object)
        if len(columns) == 1:
            frame.index = pd.Index([group.names[0] for group in groups], name=columns[0])
        else:
            frame.index = pd.MultiIndex.from_tuples([group.names for group in groups], names=columns)
        return frame

    def difference(self, by: str | Sequence[str] | None = None) -> pd.Series:
        """For each measure, the largest group mean minus the smallest, without small groups."""
        return self._spread(by, lambda low, high: high - low, "difference")

    def ratio(self, by: str | Sequence[str] | None = None) -> pd.Series:
        """For each measure, the smallest group mean over the largest, without small groups."""
        return self._spread(by, lambda low, high: low / high if high else None, "ratio")

    def intervals(self, by: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Bootstrap intervals (95%) of the means of `table`."""
        import pandas as pd  # noqa: PLC0415  # as above

        rows: list[dict[str, object]] = []
        for group in self.groups(self._columns(by)):
            if not group.n_rejected:
                continue
            rng = self._rng(group.name)
            (counts,) = self._per_state(group.rejected)
            found = bootstrap_means(self._state_figures, counts, resamples=RESAMPLES, rng=rng)
            for number, measure in enumerate(MEASURES):
                low, high = (_known(end[number]) for end in found)
                rows.append({"group": group.name, "measure": measure, "low": low, "high": high})
        return pd.DataFrame(rows, dtype=object)

    def tests(self, by: str | Sequence[str] | None = None) -> pd.DataFrame:
        """Every pair of groups that are not small, measure by measure.

        The difference of their means with its bootstrap interval, the effect (Cliff's delta: how much more often one
        of the first group has the larger figure than the other way round), the p-value of a two-sided Mann-Whitney
        test, and the same after Holm's correction for all tests of the table. `test` says whether the p-value is exact
        or the normal approximation.
        """
        import pandas as pd  # noqa: PLC0415  # as above

        groups = [group for group in self.groups(self._columns(by)) if not group.is_small]
        if len(groups) > MOST_TESTED:
            cause = f"{len(groups)} groups are too many to compare in pairs; at most {MOST_TESTED} can be"
            raise ObjectiveError.at((), cause, "test fewer columns at a time, or raise the minimum", code="too_many")
        rows: list[dict[str, object]] = []
        found: list[float | None] = []
        for one, other in combinations(groups, 2):
            counts = self._per_state(one.rejected, other.rejected)
            rng = self._rng(f"{one.name} - {other.name}")
            low, high = bootstrap_difference(self._state_figures, counts, resamples=RESAMPLES, rng=rng)
            for number, measure in enumerate(MEASURES):
                test = mann_whitney(one.sample(measure), other.sample(measure))
                mean, other_mean = one.mean(measure), other.mean(measure)
                found.append(None if test is None else test.p_value)
                rows.append(
                    {
                        "measure": measure,
                        "group": one.name,
                        "other": other.name,
                        "difference": None if mean is None or other_mean is None else mean - other_mean,
                        "low": _known(low[number]),
                        "high": _known(high[number]),
                        "effect": None if test is None else test.effect,
                        "test": None if test is None else "exact" if test.is_exact else "approximation",
                        "p": found[-1],
                    }
                )
        for row, p in zip(rows, holm(found), strict=True):
            row["p (Holm)"] = p
        return pd.DataFrame(rows, dtype=object)

    def can_test(self, by: str | Sequence[str] | None = None) -> bool:
        """Whether there are few enough groups to compare all pairs."""
        return sum(not group.is_small for group in self.groups(self._columns(by))) <= MOST_TESTED

    def decompose(self, feature: str) -> Decomposition:
        """Where the gaps between the groups of an immutable feature come from: other people, or other decisions."""
        if not self.can_decompose(feature):
            immutable = [item.name for item in self.problem.shown_features if not item.mutable]
            remedy = f"the immutable ones are {quote_list(immutable)}" if immutable else None
            raise ObjectiveError.at(
                (), f"'{feature}' is not an immutable feature of the problem", remedy, code="not_immutable"
            )
        position = [item.name for item in self.problem.features].index(feature)
        levels = self.problem.features[position].levels
        codes = self.population.codes
        counts = np.where(self.people.favourable, 0, self.population.counts)
        present = [code for code in range(len(levels)) if counts[codes[:, position] == code].sum() >= self.minimum]
        as_if = {code: self._figures_as_if(position, code) for code in present}
        found: list[Gap] = []
        for one, other in combinations(present, 2):
            groups = tuple(np.where(codes[:, position] == code, counts, 0) for code in (one, other))
            for measure in MEASURES:
                (in_one, known), (in_other, known_too) = (read_either(as_if[code], measure) for code in (one, other))
                names = levels[one], levels[other]
                parts = decompose_gap(measure, names, (groups[0], groups[1]), (in_one, in_other, known & known_too))
                if parts is not None:
                    found.append(parts)
        return Decomposition(feature, tuple(found))

    def decompositions(self) -> dict[str, Decomposition]:
        """Of every group column that can be decomposed."""
        return {name: self.decompose(name) for name in self.population.groups if self.can_decompose(name)}

    def can_decompose(self, name: str) -> bool:
        """Whether a group column is an immutable feature."""
        return name in self.problem.feature_by_name and not self.problem.feature_by_name[name].mutable

    def _figures_as_if(self, position: int, code: int) -> PeopleFigures:
        """Everybody's figures if all had one level of an immutable feature; unknown for who could not be there."""
        everybody = Crowd.of(self.problem, self.population.filed.swap(self.problem, position, code))
        possible = np.flatnonzero(~breaks(self.problem, everybody.codes))
        figures = PeopleFigures.unknown(len(everybody), MEASURES)
        figures.put(possible, self.engine.work_out(everybody.take(possible), self.aim, MEASURES))
        return figures

    def groups(self, columns: Sequence[str]) -> Iterator[Group]:
        """The groups of a table, in order of their names."""
        values = [self.population.group_values[self.population.groups.index(name)] for name in columns]
        for names in sorted(set(zip(*values, strict=True))):
            yield self._group(tuple(zip(columns, names, strict=True)))

    def _columns(self, by: str | Sequence[str] | None) -> list[str]:
        columns = list(self.population.groups) if by is None else [by] if isinstance(by, str) else list(by)
        if not columns:
            raise ObjectiveError.at(
                (), "a table needs a group column", suggest("", self.population.groups), code="no_groups"
            )
        for name in columns:
            if name not in self.population.groups:
                cause = f"the audit has no group column '{name}'"
                raise ObjectiveError.at((), cause, suggest(name, self.population.groups), code="unknown_name")
        return columns

    def _group(self, wanted: Sequence[tuple[str, str]]) -> Group:
        inside = np.ones(len(self.population.counts), dtype=bool)
        for column, value in wanted:
            values = self.population.group_values[self.population.groups.index(column)]
            inside &= np.asarray(values, dtype=object) == value
        counts = np.where(inside, self.population.counts, 0)
        return Group(tuple(value for _, value in wanted), counts, self.people, self.minimum)

    def _spread(
        self, by: str | Sequence[str] | None, of: Callable[[float, float], float | None], name: str
    ) -> pd.Series:
        import pandas as pd  # noqa: PLC0415  # as above

        groups = [group for group in self.groups(self._columns(by)) if not group.is_small]
        result = {}
        for measure in MEASURES:
            means = [mean for mean in (group.mean(measure) for group in groups) if mean is not None]
            result[measure] = of(min(means), max(means)) if len(means) > 1 else None
        return pd.Series(result, name=name, dtype=object)

    @cached_property
    def _states(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first of each kind of equal people, whatever their groups, and which kind everybody is of."""
        return Crowd.of(self.problem, self.population.filed).distinct()

    @property
    def _state_figures(self) -> np.ma.MaskedArray[tuple[int, int], np.dtype[np.float64]]:
        return self.people.rankable[self._states[0], : len(MEASURES)]

    def _per_state(self, *counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts of equal people together: draws must not depend on which other groups they are divided into."""
        first, kind = self._states
        found = np.zeros((len(counts), len(first)), dtype=np.int64)
        for number, count in enumerate(counts):
            np.add.at(found[number], kind, count)
        return found

    def _rng(self, name: str) -> np.random.Generator:
        """A generator per group, so that an interval does not change with what else is asked."""
        return np.random.default_rng([self.seed, *name.encode()])


@takes(groups=NAMES, minimum=WHOLE, seed=WHOLE, skip_bad=FILE.or_none, progress=PROGRESS.or_none)
def audit(  # noqa: PLR0913  # whom, what for, and how: each has a default but the first three
    problem: Problem,
    classifier: object,
    people: People,
    *,
    groups: Sequence[str] | str,
    objective: Objective | None = None,
    method: Method | None = None,
    level: float = 0.95,
    minimum: int = SMALL,
    seed: int = 0,
    skip_bad: str | Path | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit a population: exact figures for everybody who is rejected, by group.

    `people` are a CSV or Parquet file, a glob of them, a DataFrame or records, with a column per feature; `groups` are
    columns, features or not. Everybody follows the plan for `objective` (`Mean()`) by `method`. `level` is that of
    `var` and `cvar`. Groups with fewer than `minimum` rejected people are marked and not ranked. `seed` is that of the
    bootstrap. Bad rows are an error unless `skip_bad` names a file that they are put into.
    """
    aim = Purpose(Mean() if objective is None else objective, method, level)
    groups = [groups] if isinstance(groups, str) else list(dict.fromkeys(map(str, groups)))
    if not groups:
        raise ObjectiveError.at(
            (), "an audit needs a group column", "give groups=['gender'], or another column", code="no_groups"
        )
    desk = Desk.of(problem, classifier)
    population = read_population(problem, people, groups=groups, sight=desk.sight, skip_bad=skip_bad)
    require_somebody(population, skip_bad)
    for name, values in zip(population.groups, population.group_values, strict=True):
        if len(set(values)) > MOST_GROUPS:
            cause = f"'{name}' has {len(set(values)):,} different values; at most {MOST_GROUPS} make groups"
            raise ObjectiveError.at(
                (), cause, "cut a number into ranges, or name a column with few values", code="too_many"
            )
    engine = Engine(desk)
    crowd = Crowd.of(problem, population.filed)
    figures = engine.work_out(crowd, aim, (*MEASURES, "best_success"), progress=progress)
    if figures.favourable.all():
        raise PersonError.at((), "nobody is rejected, so there is nothing to audit", code="nobody_rejected")
    return Audit(engine, aim, population, figures, minimum, seed)


def _known(value: object) -> float | None:
    return None if value is np.ma.masked else float(value)  # type: ignore[arg-type]  # a number or masked
