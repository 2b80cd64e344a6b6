"""Numbers and changes in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from safear.problem.model import Problem
from safear.texts.numbers import round_chance, round_number, singular, tell_times


def format_number(value: float) -> str:
    """At most two decimals, none that are zero; two significant digits of what is smaller."""
    return round_number(value)


def format_cost(value: float | None, unit: str) -> str:
    """`1.2 months`, `1 month`, `n/a`."""
    if value is None:
        return "n/a"
    number = format_number(value)
    return f"{number} {singular(unit) if number == '1' else unit}"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for notebooks; all texts are escaped."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def count_of(number: int, noun: str) -> str:
    """`1 step`, `12 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_chance(chance: float) -> str:
    """`95%`, `0.7%`, `<0.1%`, `>99.9%`: never a rounded certainty."""
    sign, digits = round_chance(chance)
    return f"{sign}{digits}%"


def describe_worst(level: float) -> str:
    """`worst 5%` for the level 0.95; `worst case` for 1."""
    return f"worst {format_chance(1 - level)}" if level < 1 else "worst case"


def times_in(chance: float) -> str:
    """`works 95 times in 100`, without the verb."""
    kind, count, base = tell_times(chance)
    if kind == "every":
        return "every time"
    about = {"exactly": "", "below": "less than ", "about": "about "}[kind]
    return f"{about}{count} {'time' if count == 1 and kind != 'about' else 'times'} in {base}"


def find_changes(
    before: Mapping[str, str], after: Mapping[str, str], *, first: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """The features whose level is another, with the level afterwards. `first` names what matters most."""
    names = dict.fromkeys((*first, *after))
    return tuple((name, after[name]) for name in names if before[name] != after[name])


def describe_levels(
    before: Mapping[str, str], after: Mapping[str, str], *, verb: str = "becomes", first: Iterable[str] = ()
) -> str:
    """`job becomes unemployed and savings becomes rich`; empty if nothing changes."""
    return " and ".join(f"{name} {verb} {level}" for name, level in find_changes(before, after, first=first))


def name_goal(problem: Problem) -> str:
    """What the person wants, in the problem's words."""
    return problem.goal.favourable or "the favourable decision"
