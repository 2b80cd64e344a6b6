"""Where a gap between two groups comes from: where their people start, or how the model treats equal people.

Let F_a(x) be a figure of somebody of group a in situation x (all other features), and E_a the mean over the rejected
people of group a. Everybody is put into the other group too, all else equal. Then

    gap    E_a[F_a] - E_b[F_b]  =  start + model
    model  (E_a[F_a - F_b] + E_b[F_a - F_b]) / 2        the same people, the other group: only the decisions differ
    start  ((E_a - E_b)[F_a] + (E_a - E_b)[F_b]) / 2    the same treatment, other people

Whoever would be accepted in the other group needs nothing there: success 1, and 0 in all other measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from safear.population.figures import PeopleFigures
from safear.steady import dot

if TYPE_CHECKING:
    import pandas as pd

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Gap:
    """The parts of the gap of a measure between two groups, `group` less `other` as in `Audit.tests`.

    `covered` is the share of the rejected people of both groups who have the figure in either group; only they are
    counted.
    """

    measure: str
    group: str
    other: str
    gap: float
    start: float
    model: float
    covered: float


@dataclass(frozen=True)
class Decomposition:
    """The gaps between all pairs of groups of an immutable feature, measure by measure."""

    feature: str
    gaps: tuple[Gap, ...]

    def __iter__(self) -> Iterator[Gap]:
        return iter(self.gaps)

    def __len__(self) -> int:
        return len(self.gaps)

    def __getitem__(self, number: int) -> Gap:
        return self.gaps[number]

    def to_frame(self) -> pd.DataFrame:
        """A row per gap."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        return pd.DataFrame([asdict(gap) for gap in self.gaps], columns=[field.name for field in fields(Gap)])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_frame().to_html(index=False))


def decompose_gap(
    measure: str,
    names: tuple[str, str],
    counts: tuple[NDArray[np.int64], NDArray[np.int64]],
    figures: tuple[Reals, Reals, NDArray[np.bool_]],
) -> Gap | None:
    """The parts of a gap, from the counts of both groups' rejected people and everybody's figure in either group.

    `figures` are F_a and F_b of each distinct person, and where both are known. None if nobody is left in a group.
    """
    in_a, in_b, known = figures
    of_a, of_b = (np.where(known, count, 0).astype(np.float64) for count in counts)
    if not (of_a.any() and of_b.any()):
        return None

    def mean(weights: Reals, values: Reals) -> float:
        return dot(weights, values) / float(weights.sum())

    model = (mean(of_a, in_a - in_b) + mean(of_b, in_a - in_b)) / 2
    start = (mean(of_a, in_a) - mean(of_b, in_a) + mean(of_a, in_b) - mean(of_b, in_b)) / 2
    covered = float((of_a.sum() + of_b.sum()) / (counts[0].sum() + counts[1].sum()))
    return Gap(measure, *names, mean(of_a, in_a) - mean(of_b, in_b), start, model, covered)


def read_either(people: PeopleFigures, measure: str) -> tuple[Reals, NDArray[np.bool_]]:
    """A measure of everybody, those who need nothing included, and where it is known."""
    column = people.of(measure)
    nothing = 1.0 if measure == "success" else 0.0
    values = np.where(people.favourable, nothing, np.ma.filled(column, 0.0))
    return values, people.favourable | ~np.ma.getmaskarray(column)
