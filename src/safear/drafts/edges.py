"""Where to cut a number into levels: at the few numbers at which the model changes its mind most often.

Cells are cut at the model's own splits, or else at quantiles. Each is tried at one number. A level is a run of cells
that stands for all of them by one; the best levels are those in which cells differ least from the one that stands for
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safear.drafts.panel import Flags
from safear.drafts.round_numbers import round_outwards, roundest

CELLS = 48  # at most, of one number
QUANTILES = 20  # cells, where the splits of the model are not known
MOST_LEVELS = 7
ENOUGH = 0.05  # of what one level for everything would get wrong; no more levels are added below it
SPARSE = 0.02  # of the people must be at a level, at least
PASSED = 0.01  # of the people may come to stand on the other side when an edge is rounded
CLOSE = 0.05  # of the rows tried; numbers that get so many fewer accepted are as good
Reals = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a number: the cell of number i goes from `first[i]` up to `first[i + 1]`; `points` are one in each.

    `people` is how many people of the table are in each. `of_model`: they were cut where the model may change its mind.
    """

    first: tuple[Decimal, ...]
    points: tuple[Decimal, ...]
    people: Counts
    of_model: bool

    def __len__(self) -> int:
        return len(self.points)


def cut_cells(numbers: Reals, splits: Sequence[float] | Reals | None, step: Decimal | None) -> Cells | None:
    """The cells of the numbers of a table; None if all of them are in one."""
    known = np.sort(numbers[np.isfinite(numbers)])
    distinct = np.unique(known)
    if splits is not None:
        cuts = sorted({_first_above(split, step) for split in splits if distinct[0] <= split < distinct[-1]})
        cuts = [cut for cut in cuts if distinct[0] < cut <= distinct[-1]]
    elif len(distinct) <= QUANTILES:
        cuts = [_exact(number) for number in distinct[1:]]
    else:
        quantiles = np.quantile(known, np.arange(1, QUANTILES) / QUANTILES, method="higher")
        cuts = [_exact(number) for number in np.unique(quantiles) if number > distinct[0]]
    cuts = _spread(cuts, known)
    if not cuts:
        return None
    ends = np.searchsorted(known, [float(cut) for cut in cuts])
    parts = np.split(known, ends)
    first = (_exact(distinct[0]), *cuts)
    last = [*(_last_below(cut, step) for cut in cuts), _exact(distinct[-1])]
    points = [_stand_in(low, high, part, step) for low, high, part in zip(first, last, parts, strict=True)]
    return Cells(first, tuple(points), np.array([len(part) for part in parts]), splits is not None)


def choose_levels(decisions: Flags, people: Counts, *, least: float = SPARSE) -> list[int]:
    """The numbers of the cells with which levels begin, the first (0) left out; `decisions` is [row, cell].

    With d(c, r) the number of rows that cells c and r decide differently and w(c) the weight of a cell, levels are
    runs of cells that make sum over levels of min over r of sum over c of w(c) d(c, r) least: by dynamic programming.
    No level has less than the `least` share of the people, unless nothing could be cut otherwise.
    """
    count = decisions.shape[1]
    marks = decisions.astype(np.int64)
    accepted = marks.sum(axis=0)
    differ = accepted[:, None] + accepted[None, :] - 2 * marks.T @ marks
    weight = people / max(people.sum(), 1) + 1 / count  # where people are, and everywhere
    below = np.vstack([np.zeros(count), np.cumsum(weight[:, None] * differ, axis=0)])
    loss = np.full((count + 1, count + 1), np.inf)  # of the level from one cell up to another
    for start in range(count):
        for end in range(start + 1, count + 1):
            if people[start:end].sum() >= least * people.sum():
                loss[start, end] = (below[end, start:end] - below[start, start:end]).min()
    best, cuts = loss[0], [[0] * (count + 1)]
    for _ in range(1, min(MOST_LEVELS, count)):
        if best[count] <= ENOUGH * loss[0, count]:
            break
        table = best[:, None] + loss
        if np.isinf(table[:, count]).all():
            break
        cuts.append(np.argmin(table, axis=0).tolist())
        best = table.min(axis=0)
    if len(cuts) == 1 and least and best[count]:
        return choose_levels(decisions, people, least=0)
    begin, end = [], count
    for made in reversed(cuts[1:]):
        end = made[end]
        begin.append(end)
    return sorted(begin)


def choose_point(decisions: Flags, people: Counts) -> int:
    """The cell that stands for a level: of those with nearly the most rows accepted, the one with most people."""
    accepted = decisions.sum(axis=0)
    good = accepted >= accepted.max() - CLOSE * len(decisions)
    return int(np.argmax(np.where(good, people + 1, 0)))


def round_edge(cells: Cells, begin: int, numbers: Reals, step: Decimal | None) -> Decimal:
    """Where the level that begins with a cell is cut, as people would say it: between the points on both sides.

    At most `PASSED` of the people come to stand on the other side.
    """
    cut, known = cells.first[begin], np.sort(numbers[np.isfinite(numbers)])
    place, room = int(np.searchsorted(known, float(cut))), int(PASSED * len(known))
    low = max(_exact(known[max(place - 1 - room, 0)]), cells.points[begin - 1])
    high = min(_exact(known[min(place + room, len(known) - 1)]), cells.points[begin])
    low = low + step if step is not None else low + (cut - low) / 1000
    found = roundest(low, high, cut, step=step)
    return cut if found is None else found


def find_limits(numbers: Reals) -> tuple[Decimal, Decimal]:
    """The least and the largest number of a table, rounded outwards to two digits, but never beyond zero."""
    known = numbers[np.isfinite(numbers)]
    low, high = _exact(known.min()), _exact(known.max())
    if len(np.unique(known)) <= QUANTILES:
        return low, high
    return round_outwards(low, 2, up=False), round_outwards(high, 2, up=True)


def _spread(cuts: list[Decimal], known: Reals) -> list[Decimal]:
    """At most as many cuts as make `CELLS` cells, spread over the people and over the cuts themselves."""
    most = CELLS - 1
    if len(cuts) <= most:
        return cuts
    numbers = np.array([float(cut) for cut in cuts])
    by_people = np.searchsorted(numbers, np.quantile(known, np.linspace(0, 1, most // 2 + 2)[1:-1]))
    by_cuts = np.linspace(0, len(cuts) - 1, most - most // 2)
    chosen = {min(int(place), len(cuts) - 1) for place in (*by_people, *by_cuts)}
    return [cuts[place] for place in sorted(chosen)]


def _stand_in(low: Decimal, high: Decimal, people: Reals, step: Decimal | None) -> Decimal:
    """A number of a cell as people would say it: among the middle half of those who are there, if anybody is."""
    near = (low + high) / 2
    if len(people):
        near, room = _exact(np.median(people)), abs(_exact(np.median(people))) / 10
        middle = [_exact(number) for number in np.quantile(people, [0.25, 0.75])]
        inner = max(low, min(middle[0], near - room)), min(high, max(middle[1], near + room))
        found = roundest(*inner, near, step=step)
        if found is not None:
            return found
    found = roundest(low, high, near, step=step)
    return low if found is None else found


def _first_above(split: float, step: Decimal | None) -> Decimal:
    """The first number of the grid above a split; without a grid, the next that can be written with few digits."""
    exact = _exact(split)
    if step is not None:
        return (exact / step).to_integral_value(ROUND_FLOOR) * step + step
    return _exact(np.nextafter(split, np.inf))


def _last_below(cut: Decimal, step: Decimal | None) -> Decimal:
    return cut - step if step is not None else _exact(np.nextafter(float(cut), -np.inf))


def _exact(number: Any) -> Decimal:
    return Decimal(repr(float(number)))
