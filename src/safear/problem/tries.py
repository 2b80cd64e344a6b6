"""What counts tell of a chance: the interval of Clopper and Pearson, which covers at least as often as it says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache

MOST_TRIES = 10**8  # as far as the interval is right in all its decimals
_DIGITS = Decimal("1e-10")  # intervals are rounded outwards to this
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Counts:
    """So many of so many tries worked."""

    worked: int
    tried: int

    def __str__(self) -> str:
        return f"{self.worked}/{self.tried}"


@lru_cache(maxsize=4096)
def count_interval(counts: Counts, confidence: float) -> tuple[Decimal, Decimal]:
    """The interval of Clopper and Pearson for a chance, given how often it worked.

    With k of n and the tail t = (1 - confidence) / 2, its ends are the chances p at which it is just not too unlikely
    that so many work, P(X >= k | p) = t, or so few, P(X <= k | p) = t: quantiles of Beta(k, n - k + 1) and
    Beta(k + 1, n - k). Both ends are rounded outwards to ten decimals.
    """
    worked, tried = counts.worked, counts.tried
    tail = (1 - confidence) / 2
    low = _beta_quantile(tail, worked, tried - worked + 1) if worked else 0.0
    high = 1 - _beta_quantile(tail, tried - worked, worked + 1) if worked < tried else 1.0
    least, most = Decimal(low).quantize(_DIGITS, ROUND_FLOOR), Decimal(high).quantize(_DIGITS, ROUND_CEILING)
    return max(least, Decimal(0)).normalize(), min(most, Decimal(1)).normalize()


def _beta_quantile(share: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = share, from below, by halving until floats know no middle."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if _beta_share(middle, a, b) < share else (low, middle)
    return low


def _beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction on the side where it is quick."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(1 - x, b, a) if x < 1 else 1.0
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) / (a * _continued_fraction(x, a, b)) if logarithm > -740 else 0.0


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The value of 1 + d_1 / (1 + d_2 / (1 + ...)), by Lentz.

    d_2m+1 = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)),   d_2m = m (b - m) x / ((a + 2m - 1)(a + 2m)).
    """
    value, numerator, denominator = 1.0, 1.0, 0.0
    for step in range(1, 1_000_000):
        m = step // 2
        if step % 2:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / ((1 + factor * denominator) or _TINY)
        numerator = (1 + factor / numerator) or _TINY
        change = numerator * denominator
        value *= change
        if abs(change - 1) < 1e-15:
            break
    return value
