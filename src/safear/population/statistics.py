"""Statistics of populations that are given as counts of people per distinct value or state.

Nothing here is ever expanded to people: time and memory grow with the number of distinct values, and counts may add up
to many billions.

    mann_whitney(X, Y)     do people of one group tend to have larger figures than those of the other?
    holm(p)                p-values of several tests, such that the chance of any false alarm stays at the level
    bootstrap(c, f)        percentile intervals of f, drawing as many people as there are, with replacement:
                           of c_i people in state i, n together, that is one draw from multinomial(n, c / n)
    bootstrap_means        ... where f is the mean of each figure: sum c_i x_i / sum c_i over states that have it
    bootstrap_difference   ... where f is the difference of two groups' means
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.errors import ObjectiveError
from safear.risk.distribution import Masked
from safear.steady import dot, weigh_exactly

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # [resamples, groups, states] to [resamples, figures]

MEMORY = 2**26  # bytes that a bootstrap's draws may take at a time
MOST = 2**48  # people; up to there one person's share differs from rounding
EXACT = 30  # people of either sample, up to which the rank test is exact if no two figures are equal


@dataclass(frozen=True, eq=False)
class Sample:
    """Figures of people: `counts[i]` people have `values[i]`.

    However they are given, values end up sorted and distinct, and only those remain that somebody has. People whose
    figure is undefined are left out by the caller.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        counts = _check_counts(self.counts, dimensions=1)
        if np.ma.is_masked(self.values):
            raise ValueError("values are masked: leave out people whose figure is undefined")
        values = np.asarray(self.values, dtype=np.float64)
        if values.shape != counts.shape:
            raise ValueError(f"{values.shape} values do not fit {counts.shape} counts")
        values, counts = values[counts > 0], counts[counts > 0]
        if not np.isfinite(values).all():
            raise ValueError("values must be finite: leave out people whose figure is undefined")
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        first = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
        values, counts = values[first], np.add.reduceat(counts, first)
        for name, array in (("values", values), ("counts", counts)):
            array.setflags(write=False)  # what was computed from them is kept
            object.__setattr__(self, name, array)

    @cached_property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def mean(self) -> float | None:
        """The mean sum c_i x_i / n; None for nobody."""
        if not self.n:
            return None
        # Rounding must not carry it out of the range, so that equal values have exactly that mean.
        mean = dot(self.counts, self.values) / self.n
        return min(max(mean, float(self.values[0])), float(self.values[-1]))


@dataclass(frozen=True, slots=True)
class RankTest:
    """What `mann_whitney` finds: U of the first sample, the two-sided p-value, and how large the effect is.

    `is_exact` says whether the p-value counts all orders, or is the normal approximation.
    """

    u: float
    p_value: float
    effect: float
    is_exact: bool


def mann_whitney(one: Sample, other: Sample) -> RankTest | None:
    """The two-sided Mann-Whitney test; None if either sample is empty.

    Over all pairs of one person x from the first sample (of m) and one person y from the second (of k)::

        u        the number of pairs with x > y, those with x = y counted half
        effect   P(x > y) - P(x < y) = 2 u / (m k) - 1
        p_value  for few people without ties (and with SciPy) the share of all orders that are as far from m k / 2;
                 else 2 (1 - Phi(z)), at most 1, with z = (|u - m k / 2| - 1/2) / s
        s^2      m k / 12 * ((n + 1) - sum (t^3 - t) / (n (n - 1))), n = m + k, t people share a value

    1/2 is the correction for continuity, the sum that for ties. The effect is Cliff's delta (the rank-biserial
    correlation): twice P(x > y) + P(x = y) / 2 - 1/2, so 1 if everybody in the first sample exceeds everybody in the
    second, -1 the other way round, and 0 if neither tends to have more. Unlike the p-value, which falls to 0 for any
    difference if only there are enough people, it does not depend on how many there are. If all values are equal, the
    p-value is 1 and the effect 0. A p-value too small for a float (below about 1e-307 it loses digits) is 0.
    """
    if not (one.n and other.n):
        return None
    values = np.union1d(one.values, other.values)
    first, second = _spread_counts(one, values), _spread_counts(other, values)
    n, pairs = one.n + other.n, one.n * other.n
    # For each value: how many of the other sample are below it, less those above it.
    ahead = 2 * np.cumsum(second) - second - other.n
    # Pairs won less pairs lost, 2 u - m k, in whole numbers: it may be next to nothing between huge sums. Python's
    # integers are needed where the number of pairs exceeds 64 bits.
    kind = np.int64 if pairs < 2**62 else np.object_
    lead = int(first.astype(kind) @ ahead.astype(kind))
    # n^3 - n - sum (t^3 - t) = sum t (n - t) (n + t): nothing cancels when nearly all are tied.
    tied = first + second
    untied = float((tied.astype(np.float64) * (n - tied) * (n + tied)).sum())
    deviation = math.sqrt(pairs / (12 * n * (n - 1)) * untied)
    # |u - m k / 2| - 1/2 is half of |lead| - 1, and 2 (1 - Phi(z)) = erfc(z / sqrt(2)).
    p_value = min(1.0, math.erfc((abs(lead) - 1) / (2 * deviation) / math.sqrt(2))) if deviation > 0 else 1.0
    exact = _count_orders(one, other) if max(one.n, other.n) <= EXACT and tied.max() == 1 else None
    return RankTest((pairs + lead) / 2, p_value if exact is None else exact, lead / pairs, exact is not None)


def _count_orders(one: Sample, other: Sample) -> float | None:
    """The exact p-value of people of whom no two are equal; None without SciPy."""
    try:
        from scipy.stats import mannwhitneyu  # noqa: PLC0415  # an optional dependency
    except ImportError:
        return None
    return float(mannwhitneyu(one.values, other.values, method="exact").pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted by Holm's step-down method, in the given order.

    The i-th smallest of m becomes the largest of (m - j + 1) p_(j) over j <= i, at most 1: tests whose adjusted p-value
    is at most a are, all together, false alarms with a chance of at most a, however they depend on each other. None, a
    test that could not be done, stays None and does not count in m.
    """
    done = [(p, position) for position, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, position) in enumerate(sorted(done)):
        if not 0 <= p <= 1:
            raise ValueError(f"{p} is not a p-value")
        largest = min(1.0, max(largest, (len(done) - rank) * float(p)))
        adjusted[position] = largest
    return adjusted


class Intervals(NamedTuple):
    """The ends of an interval for each figure, masked where there are none."""

    low: Masked
    high: Masked


def bootstrap(
    counts: NDArray[np.int64],
    statistic: Statistic,
    *,
    resamples: int = 2000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Intervals:
    """Percentile intervals of any statistic of groups of people.

    Each group is resampled by itself. An interval leaves out floor((1 - level) / 2 * resamples) resamples at either
    end. Resamples in which a figure is undefined do not count for it; if so few are left that none could be left out,
    the interval is masked.

    Args:
        counts: How many people of each group are in each state, [groups, states].
        statistic: Takes such counts as floats, [any number of resamples, groups, states], and gives the figures of each
            resample, [resamples, figures], masked where undefined. It is called with at most about 64 MB at a time, or
            a single resample if that is more.
        resamples: How often to draw the people anew.
        level: The share of the resamples within the interval.
        rng: The source of the draws.
    """
    counts = _check_counts(counts, dimensions=2)
    _check_interval(resamples, level)
    # Generators of their own make the draws of a group independent of how the work is divided.
    seeds = rng.integers(2**63, size=(len(counts), 2)).tolist()
    draws = [_Draw(group, np.random.default_rng(seed)) for group, seed in zip(counts, seeds, strict=True)]
    at_once = max(1, MEMORY // max(1, 16 * counts.size))  # the draws, as integers and as floats
    found = []
    for start in range(0, resamples, at_once):
        drawn = np.zeros((min(at_once, resamples - start), *counts.shape))
        for group, draw in enumerate(draws):
            draw.fill(drawn[:, group])
        found.append(statistic(drawn))
    known = np.concatenate([~np.ma.getmaskarray(part) for part in found])
    return _percentile(np.concatenate([np.ma.getdata(part) for part in found]), known, level=level)


def bootstrap_means(
    figures: NDArray[np.float64],
    counts: NDArray[np.int64],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Intervals:
    """Percentile intervals of a group's mean of each figure, (low, high), masked where nobody has the figure.

    The mean is sum c_i x_i / sum c_i over the states in which the figure is defined; all people are resampled, so how
    many of them have the figure varies too.

    Args:
        figures: The figures of each state, [states, figures], masked where undefined.
        counts: How many people are in each state, [states].
        resamples: How often to draw the people anew.
        level: The share of the resamples within the interval.
        rng: The source of the draws.
    """
    counts = _check_counts(counts, dimensions=1)
    weighed = _Weighed.of(figures, states=len(counts))
    return bootstrap(
        counts[np.newaxis], lambda drawn: weighed.means(drawn)[:, 0], resamples=resamples, level=level, rng=rng
    )


def bootstrap_difference(
    figures: NDArray[np.float64],
    counts: NDArray[np.int64],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Intervals:
    """Percentile intervals of the difference of two groups' means of each figure, the first less the second.

    With means as in `bootstrap_means`; masked where nobody in one of the groups has the figure.

    Args:
        figures: The figures of each state, [states, figures], masked where undefined.
        counts: How many people of either group are in each state, [2, states].
        resamples: How often to draw the people anew, either group by itself.
        level: The share of the resamples within the interval.
        rng: The source of the draws.
    """
    counts = _check_counts(counts, dimensions=2)
    if len(counts) != 2:
        raise ValueError(f"a difference needs two groups, not {len(counts)}")
    weighed = _Weighed.of(figures, states=counts.shape[1])

    def compare(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        means = weighed.means(drawn)
        difference: NDArray[np.float64] = means[:, 0] - means[:, 1]
        return difference

    return bootstrap(counts, compare, resamples=resamples, level=level, rng=rng)


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Figures of states, ready to be weighed with counts: 0 where undefined, and where they are defined."""

    values: NDArray[np.float64]
    known: NDArray[np.float64]

    @classmethod
    def of(cls, figures: NDArray[np.float64], *, states: int) -> _Weighed:
        known = ~np.ma.getmaskarray(figures)
        values = np.where(known, np.ma.getdata(figures), 0.0)
        if values.ndim != 2 or len(values) != states:
            raise ValueError(f"{values.shape} figures do not fit {states} states")
        if not np.isfinite(values).all():
            raise ValueError("figures must be finite, or masked where undefined")
        return cls(values, known.astype(np.float64))

    def means(self, drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        """The means of each figure, [resamples, groups, figures], for counts [resamples, groups, states]."""
        flat = drawn.reshape(
            math.prod(drawn.shape[:-1]), drawn.shape[-1]
        )  # one large product instead of many small ones
        total, people = weigh_exactly(flat, self.values), flat @ self.known  # counts are exact anyway
        means = np.divide(total, people, out=np.zeros_like(total), where=people > 0)
        return np.ma.array(means, mask=people <= 0).reshape(*drawn.shape[:-1], means.shape[-1])


class _Draw:
    """People of one group, drawn with replacement."""

    def __init__(self, counts: NDArray[np.int64], rng: np.random.Generator) -> None:
        # A multinomial is drawn state by state, each from what is left of the probability. Ascending, what is left is
        # never small, so that it is never mostly rounding; and a state without people cannot get what rounding leaves.
        order = np.argsort(counts, kind="stable")
        self.states = order[counts[order] > 0]
        self.n = int(counts.sum())
        self.shares = counts[self.states] / max(self.n, 1)
        self.rng = rng

    def fill(self, drawn: NDArray[np.float64]) -> None:
        """Put one resample into each row of `drawn`, [resamples, states]."""
        if self.n:
            drawn[:, self.states] = self.rng.multinomial(self.n, self.shares, size=len(drawn))


def _percentile(found: NDArray[np.float64], known: NDArray[np.bool_], *, level: float) -> Intervals:
    """The interval of each column that leaves out (1 - level) / 2 of its known entries at either end."""
    ends = np.full((2, found.shape[1]), np.inf)
    for column in range(found.shape[1]):
        ranked = np.sort(found[known[:, column], column])
        if np.isnan(ranked).any():
            raise ValueError("a statistic must mask what is undefined")
        outside = math.floor((1 - level) / 2 * len(ranked) + 1e-9)  # (1 - 0.9) / 2 is a bit less than 0.05
        if outside:
            ends[:, column] = ranked[outside], ranked[-1 - outside]
    bounded = np.isfinite(ends)
    low, high = np.where(bounded, ends, 0.0)
    return Intervals(np.ma.array(low, mask=~bounded[0]), np.ma.array(high, mask=~bounded[1]))


def _spread_counts(sample: Sample, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many people have each of `values`, which are sorted and hold all of the sample's."""
    counts = np.zeros(len(values), dtype=np.int64)
    counts[np.searchsorted(values, sample.values)] = sample.counts
    return counts


def _check_counts(counts: ArrayLike, *, dimensions: int) -> NDArray[np.int64]:
    """Counts as 64-bit integers; ValueError if they are none."""
    array = np.asarray(counts)
    if array.ndim != dimensions or np.ma.is_masked(counts):
        raise ValueError(f"counts must be an array of {dimensions} dimensions without gaps")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"counts must be whole numbers, not {array.dtype}")
    if array.size and (array.min() < 0 or array.sum(dtype=np.float64) > MOST):
        raise ValueError(f"counts must neither be negative nor add up to more than {MOST}")
    return array.astype(np.int64)


def _check_interval(resamples: int, level: float) -> None:
    """Refuse a level that is no share, and resamples too few to leave any out at either end."""
    if not 0 < level < 1:
        raise ObjectiveError.at(
            ("level",),
            f"{level} is not between 0 and 1",
            "0.95 leaves 2.5% out at either end",
            code="out_of_range",
        )
    needed = math.ceil(2 / (1 - level) - 1e-9)
    if resamples < needed:
        raise ObjectiveError.at(
            ("resamples",),
            f"{resamples} are too few for an interval of {level:.15g}",
            f"at least {needed}; 2000 is usual",
            code="too_few",
        )
