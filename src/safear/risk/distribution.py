"""Exact distributions of the total cost of a plan, and what is read off them.

For costs x_1 < x_2 < ... with probabilities p_i that add up to 1 (F is their distribution function):

    mean          sum p_i x_i
    variance      sum p_i (x_i - mean)^2
    var(a)        the smallest x with F(x) >= a
    cvar(a)       the mean of the worst 1 - a of the mass:  var + E[max(x - var, 0)] / (1 - a)    (Rockafellar-Uryasev)
    entropic(b)   log E[exp(b x)] / b
    tail_mean(a)  E[x | x > var(a)], None where nothing exceeds it (called CVaR in the SafeAR paper)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.arguments import NUMBER
from safear.core.exponentials import find_entropic
from safear.errors import ObjectiveError
from safear.steady import dot
from safear.texts.notebook import html_table
from safear.texts.numbers import round_chance, round_number

if TYPE_CHECKING:
    import pandas as pd

# Figures of many, masked where undefined; as a text, since `np.ma` is loaded when it is first named.
Masked: TypeAlias = "np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]"
DENSE = 10_000  # units that span less are counted one by one: several times as fast as sorting them
EPSILON = 1e-12  # probability below which a difference is rounding


@dataclass(frozen=True, eq=False, repr=False)
class Costs:
    """A discrete distribution of costs: sorted, distinct, in the problem's unit; the chances add up to 1."""

    values: NDArray[np.float64]
    chances: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Costs({len(self.values)} from {self.values[0]:g} to {self.values[-1]:g}, mean {self.mean:g})"

    @cached_property
    def mean(self) -> float:
        """The expected cost."""
        return dot(self.chances, self.values)

    @cached_property
    def variance(self) -> float:
        """The expected squared distance from the mean."""
        return dot(self.chances, (self.values - self.mean) ** 2)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    @cached_property
    def lower_std(self) -> float:
        """The lower partial standard deviation of the paper: only costs above the mean (values below it) count."""
        excess = np.maximum(self.values - self.mean, 0.0)
        return math.sqrt(dot(self.chances, excess**2))

    @cached_property
    def _cumulated(self) -> NDArray[np.float64]:
        return np.cumsum(self.chances)

    def var(self, level: float) -> float:
        """Value at risk: with probability `level` the cost is at most this."""
        check_level(level)
        if level > 1 - EPSILON:
            return float(self.values[-1])
        position = int(np.searchsorted(self._cumulated, max(level - EPSILON, EPSILON)))  # mass below it is rounding
        return float(self.values[min(position, len(self.values) - 1)])

    def cvar(self, level: float) -> float:
        """Conditional value at risk: the mean of the worst 1 - level of the cases."""
        check_level(level)
        if level not in self._cvars:
            self._cvars[level] = self._find_cvar(level)
        return self._cvars[level]

    @cached_property
    def _cvars(self) -> dict[float, float]:
        """Those that were asked for, by level: plans are compared by them again and again."""
        return {}

    def _find_cvar(self, level: float) -> float:
        if level > 1 - EPSILON:
            return float(self.values[-1])
        threshold = self.var(level)
        beyond = self.values > threshold
        # The chance to exceed it is at most 1 - level, up to rounding, which must not lift the mean above the costs.
        share = max(1 - level, float(self.chances[beyond].sum()))
        return threshold + dot(self.chances[beyond], self.values[beyond] - threshold) / share

    def entropic(self, risk_aversion: float) -> float:
        """The entropic risk log E[exp(b x)] / b; the mean at b = 0."""
        if risk_aversion == 0:
            return self.mean
        values, chances = (np.ascontiguousarray(part, np.float64) for part in (self.values, self.chances))
        return find_entropic(values, chances, risk_aversion)

    def tail_mean(self, level: float) -> float | None:
        """The mean of the costs that exceed the value at risk; None where there are none."""
        beyond = self.values > self.var(level)
        mass = float(self.chances[beyond].sum())
        return dot(self.chances[beyond], self.values[beyond]) / mass if mass > 0 else None


@dataclass(frozen=True, eq=False, repr=False)
class CostDistribution:
    """What a plan may cost: how likely each total is, for runs that succeed and runs that fail.

    Units are whole multiples of `quantum`. `failed_units` are what failed runs have spent; `failure_cost` comes on top
    in `all_runs`. The figures of the distribution itself (`mean`, `var`, ...) are given success, as in the paper, and
    None if no run succeeds; `all_runs` has those over all runs.
    """

    succeeded_units: NDArray[np.int64]
    succeeded_chances: NDArray[np.float64]
    failed_units: NDArray[np.int64]
    failed_chances: NDArray[np.float64]
    failure_cost: int = 0
    quantum: Fraction = Fraction(1)

    def __repr__(self) -> str:
        return f"CostDistribution(success {self.success}, all runs {self.all_runs})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        named = (("runs that succeed", self.success, self.given_success), ("all runs", 1.0, self.all_runs))
        head = ("", "share", "mean", "std", "var 95%", "cvar 95%")
        rows = [
            (name, f"{''.join(round_chance(share))}%", *map(round_number, _figures(costs)))
            for name, share, costs in named
            if costs is not None
        ]
        return html_table(head, rows)

    def to_frame(self) -> pd.DataFrame:
        """A row per total cost of the runs that succeed, then of those that fail, with their chances."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that others do not need

        return pd.DataFrame(self.points(), columns=("cost", "chance", "success"))

    @cached_property
    def success(self) -> float:
        """The probability of reaching a goal within the horizon."""
        good, bad = float(self.succeeded_chances.sum()), float(self.failed_chances.sum())
        return good / (good + bad)  # their sum is 1 up to rounding; this way what never fails has exactly 1

    def success_within(self, limit: float) -> float:
        """The probability of reaching a goal and spending at most `limit`."""
        affordable = self.succeeded_units <= units_within(limit, self.quantum)
        total = float(self.succeeded_chances.sum() + self.failed_chances.sum())
        return float(self.succeeded_chances[affordable].sum()) / total

    @cached_property
    def given_success(self) -> Costs | None:
        """The costs of the runs that succeed, or None if none does."""
        if self.success <= 0:
            return None
        return Costs(self._to_costs(self.succeeded_units), self.succeeded_chances / self.succeeded_chances.sum())

    @cached_property
    def all_runs(self) -> Costs:
        """The costs of all runs, failures with `failure_cost`."""
        units = np.concatenate([self.succeeded_units, self.failed_units + self.failure_cost])
        chances = np.concatenate([self.succeeded_chances, self.failed_chances])
        units, chances = merge_units(units, chances)
        return Costs(self._to_costs(units), chances / chances.sum())

    @property
    def mean(self) -> float | None:
        """The expected cost given success."""
        return None if self.given_success is None else self.given_success.mean

    @property
    def variance(self) -> float | None:
        """The variance of the cost given success."""
        return None if self.given_success is None else self.given_success.variance

    @property
    def std(self) -> float | None:
        """The standard deviation of the cost given success."""
        return None if self.given_success is None else self.given_success.std

    def var(self, level: float) -> float | None:
        """The value at risk given success."""
        check_level(level)
        return None if self.given_success is None else self.given_success.var(level)

    def cvar(self, level: float) -> float | None:
        """The conditional value at risk given success."""
        check_level(level)
        return None if self.given_success is None else self.given_success.cvar(level)

    def tail_mean(self, level: float) -> float | None:
        """The paper's CVaR given success."""
        check_level(level)
        return None if self.given_success is None else self.given_success.tail_mean(level)

    def points(self) -> Sequence[tuple[float, float, bool]]:
        """All (total cost, chance, succeeded), successes first, failures with `failure_cost`."""
        good = zip(self._to_costs(self.succeeded_units).tolist(), self.succeeded_chances.tolist(), strict=True)
        bad_units = self._to_costs(self.failed_units + self.failure_cost)
        bad = zip(bad_units.tolist(), self.failed_chances.tolist(), strict=True)
        return [*((cost, chance, True) for cost, chance in good), *((cost, chance, False) for cost, chance in bad)]

    def _to_costs(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        # The quotient of two whole numbers is the float nearest to the decimal; a product with 0.1 is not.
        return units.astype(np.float64) * self.quantum.numerator / self.quantum.denominator


def _figures(costs: Costs) -> tuple[float, ...]:
    return costs.mean, costs.std, costs.var(0.95), costs.cvar(0.95)


def merge_units(units: NDArray[np.int64], chances: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Equal units added up; sorted."""
    if len(units) and np.ptp(units) < DENSE:
        least = units.min()
        places = units - least
        distinct = np.flatnonzero(np.bincount(places))
        return distinct + least, np.bincount(places, weights=chances)[distinct].astype(np.float64)
    distinct, inverse = np.unique(units, return_inverse=True)
    return distinct, np.bincount(inverse, weights=chances, minlength=len(distinct)).astype(np.float64)


def units_within(limit: float, quantum: Fraction) -> int:
    """How many quanta a cost of `limit` holds; a limit a rounding below a multiple of the quantum counts as that."""
    return math.floor(Fraction(limit) / quantum * (1 + Fraction(1, 10**12)))


def check_level(level: float) -> None:
    """Refuse a level that is not a probability."""
    NUMBER.require(level, "level")
    if not 0 <= level <= 1:
        raise ObjectiveError.at(
            ("level",), f"{level} is not between 0 and 1", "0.95 is the worst 5%", code="out_of_range"
        )
