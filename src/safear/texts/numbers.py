"""How numbers are rounded before a language writes them down."""

from __future__ import annotations

import math

PEOPLE = (10, 100, 1000)  # of so many people some are told
ALWAYS = 1 - 1e-9  # several outcomes may add up to a little less than 1


def round_number(value: float) -> str:
    """At most two decimals, none that are zero; two significant digits of what is smaller."""
    if 0 < abs(value) < 0.1:
        return f"{value:.2g}"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"", "-0"} else text


def singular(unit: str) -> str:
    """A unit of which there is one: `month`; what does not look like a plural stays as it is."""
    plural = len(unit) > 2 and unit.endswith("s") and not unit.endswith("ss")
    return unit[:-1] if plural else unit


def round_exactly(value: float) -> str:
    """As `round_number` if that is the same number, else nine significant digits."""
    digits = round_number(value)
    return digits if math.isclose(float(digits), value, rel_tol=1e-9) else f"{value:.9g}"


def round_chance(chance: float) -> tuple[str, str]:
    """Percent with a sign before them: `("", "95")`, `("<", "0.1")`, `(">", "99.9")`; never a rounded certainty."""
    percent = 100 * chance
    if percent in {0.0, 100.0}:
        return "", f"{percent:.0f}"
    if percent < 0.1:
        return "<", "0.1"
    if percent > 99.9:
        return ">", "99.9"
    return "", f"{percent:.2g}" if percent < 10 else f"{percent:.0f}" if percent < 99 else f"{percent:.1f}"


def count_in_hundred(chance: float) -> int:
    """How many of 100, never a rounded certainty."""
    if chance in {0.0, 1.0}:
        return round(100 * chance)
    return min(max(round(100 * chance), 1), 99)


def count_people(chance: float) -> tuple[str, int, int]:
    """A chance as people: `every`, `exactly`, `about`, `below` or `above` so many of so many.

    Of 10, 100 or 1000: the fewest of whom a whole number is off by no more than a tenth. Never a rounded certainty.
    """
    if chance > ALWAYS:
        return "every", 1, 1
    for base in PEOPLE:
        count = chance * base
        whole = round(count)
        if 0 < whole < base and abs(count - whole) < 1e-9:
            return "exactly", whole, base
        if 0 < whole < base and abs(count - whole) <= whole / 10:
            return "about", whole, base
    return ("below", 1, PEOPLE[-1]) if chance < 0.5 else ("above", PEOPLE[-1] - 1, PEOPLE[-1])


def count_at_least(share: float) -> tuple[str, int, int]:
    """A share as people of whom there are at least so many: `every`, `exactly`, `at_least` or `below`.

    Of 10, or of more where that would say too little: where nearly all are, or hardly anybody is, meant.
    """
    if share > ALWAYS:
        return "every", 1, 1
    base = next((base for base in PEOPLE if 1 / base <= share + 1e-12 and share < 1 - 0.1 / base), PEOPLE[-1])
    count = math.floor(share * base + 1e-9)
    if not count:
        return "below", 1, base
    return ("exactly" if abs(count - share * base) < 1e-9 else "at_least"), count, base


def tell_times(chance: float) -> tuple[str, int, int]:
    """A chance as a frequency: `every`, `exactly`, `below` or `about` so many times in so many."""
    if chance > ALWAYS:
        return "every", 100, 100
    for base in (100, 1000):
        count = chance * base
        if abs(count - round(count)) < 1e-9 and 0 < round(count) < base:
            return "exactly", round(count), base
    if chance < 0.01:
        return "below", 1, 100
    return "about", min(round(chance * 100), 99), 100
