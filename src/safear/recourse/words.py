"""Numbers and changes in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from safear.spec.model import Problem


def format_number(value: float) -> str:
    """At most two decimals, none that are zero; two significant digits of what is smaller."""
    if 0 < abs(value) < 0.1:
        return f"{value:.2g}"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"", "-0"} else text


def format_cost(value: float | None, unit: str) -> str:
    """`1.2 months`, `1 month`, `n/a`."""
    if value is None:
        return "n/a"
    number = format_number(value)
    single = number == "1" and unit.endswith("s") and not unit.endswith("ss")
    return f"{number} {unit[:-1] if single else unit}"


def count_of(number: int, noun: str) -> str:
    """`1 step`, `12 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_chance(chance: float) -> str:
    """`95%`, `0.7%`, `<0.1%`, `>99.9%`: never a rounded certainty."""
    percent = 100 * chance
    if percent in {0.0, 100.0}:
        return f"{percent:.0f}%"
    if percent < 0.1:
        return "<0.1%"
    if percent > 99.9:
        return ">99.9%"
    return f"{percent:.2g}%" if percent < 10 else f"{percent:.0f}%" if percent < 99 else f"{percent:.1f}%"


def describe_worst(level: float) -> str:
    """`worst 5%` for the level 0.95; `worst case` for 1."""
    return f"worst {format_chance(1 - level)}" if level < 1 else "worst case"


def times_in(chance: float) -> str:
    """`works 95 times in 100`, without the verb."""
    if chance > 1 - 1e-9:  # several outcomes that work may add up to a little less than 1
        return "every time"
    for base in (100, 1000):
        count = chance * base
        if abs(count - round(count)) < 1e-9 and 0 < round(count) < base:
            times = "time" if round(count) == 1 else "times"
            return f"{round(count)} {times} in {base}"
    if chance < 0.01:
        return "less than 1 time in 100"
    return f"about {min(round(chance * 100), 99)} times in 100"


def describe_levels(
    before: Mapping[str, str], after: Mapping[str, str], *, verb: str = "becomes", first: Iterable[str] = ()
) -> str:
    """`job becomes unemployed and savings becomes rich`; empty if nothing changes. `first` names what matters most."""
    names = dict.fromkeys((*first, *after))
    return " and ".join(f"{name} {verb} {after[name]}" for name in names if before[name] != after[name])


def name_goal(problem: Problem | None) -> str:
    """What the person wants, in the problem's words."""
    return (problem.goal.favourable if problem is not None else None) or "the favourable decision"
