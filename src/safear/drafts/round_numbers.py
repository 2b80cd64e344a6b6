"""Numbers as people would say them."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

MOST_DIGITS = 17  # of a floating-point number


def roundest(low: Decimal, high: Decimal, near: Decimal, *, step: Decimal | None = None) -> Decimal | None:
    """The number with the fewest digits from `low` to `high`; of several, the one that is closest to `near`.

    Whole tens come before fives, and fives before ones, in each decade. With a `step` it is a multiple of it; None if
    there is no such number in between.
    """
    if low > high:
        return None
    if low <= 0 <= high and near == 0:
        return Decimal(0)
    top = max(abs(low), abs(high)).adjusted() if low or high else 0
    for exponent in range(top + 1, top - MOST_DIGITS - 1, -1):
        for digit in (Decimal(1), Decimal("0.5")):
            grid = digit.scaleb(exponent)
            if step is not None and grid % step:
                continue
            number = _closest(low, high, near, grid)
            if number is not None:
                return number
    return None if step is None else _closest(low, high, near, step)


def round_outwards(number: Decimal, digits: int, *, up: bool) -> Decimal:
    """With so many digits, not below (`up`) or not above the number."""
    grid = Decimal(1).scaleb(number.adjusted() - digits + 1) if number else Decimal(1)
    return (number / grid).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR) * grid


def _closest(low: Decimal, high: Decimal, near: Decimal, grid: Decimal) -> Decimal | None:
    first = (low / grid).to_integral_value(ROUND_CEILING) * grid
    last = (high / grid).to_integral_value(ROUND_FLOOR) * grid
    if first > last:
        return None
    nearest = (near / grid).to_integral_value() * grid
    return min(max(nearest, first), last)
