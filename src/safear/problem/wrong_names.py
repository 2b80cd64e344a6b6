"""Mistakes that are found in many places: names, levels and values that the problem does not have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from safear.errors import Mistake, Path, Place, closest, mistake, quote_list, suggest
from safear.problem.model import Feature, Problem, as_decimal, is_missing


def unknown_feature(place: Path | Place, name: object, known: Iterable[str]) -> Mistake:
    """A name that no feature has."""
    remedy = suggest(str(name), known)
    return mistake(place, f"there is no feature '{name}'", remedy, code="unknown_feature", feature=name)


def unknown_action(place: Path | Place, name: str, problem: Problem) -> Mistake:
    """A name that no action has."""
    remedy = suggest(name, problem.action_by_name)
    return mistake(place, f"the problem has no action '{name}'", remedy, code="unknown_action", action=name)


def missing_value(feature: Feature) -> Mistake:
    """A person without a value for a feature."""
    number = "a number, or " if feature.kind == "numeric" else ""
    remedy = f"{number}one of: {', '.join(feature.levels[:12])}"
    return mistake((feature.name,), f"'{feature.name}' is missing", remedy, code="missing", feature=feature.name)


def missing_given(name: str) -> Mistake:
    """A person without a column that the classifier wants."""
    cause, remedy = f"'{name}' is missing", "the classifier wants it, as it was filed"
    return mistake((name,), cause, remedy, code="missing_given", feature=name)


def out_of_limits(feature: Feature, number: Decimal) -> Mistake:
    """A number beyond what makes sense for a feature."""
    is_low = feature.least is not None and number < feature.least
    limit = feature.least if is_low else feature.most
    cause = f"{number} is {'below the least' if is_low else 'above the most'} that is possible, {limit}"
    values = {"feature": feature.name, "value": str(number), "limit": None if limit is None else float(limit)}
    remedy = f"give a number {'from' if is_low else 'up to'} {limit} {'on' if is_low else ''}".strip()
    return mistake((feature.name,), cause, remedy, code="too_low" if is_low else "too_high", **values)


def unreadable_value(feature: Feature, value: object) -> Mistake:
    """A person's value that is no level of a feature, nor a number in one."""
    if is_missing(value):
        return missing_value(feature)
    if feature.kind != "numeric":
        return unknown_level((feature.name,), str(value), feature)
    cause = f"'{value}' is neither a number nor a level of '{feature.name}'"
    remedy = suggest(str(value), feature.levels)
    return mistake((feature.name,), cause, remedy, code="not_a_number", feature=feature.name, value=str(value))


def unknown_level(place: Path | Place, level: str, feature: Feature) -> Mistake:
    """A level that its feature does not have."""
    cause, remedy = f"'{level}' is not a level of '{feature.name}'", suggest(level, feature.levels)
    return mistake(place, cause, remedy, code="unknown_level", feature=feature.name, level=level)


def unknown_edge(place: Place, level: str, feature: Feature) -> Mistake:
    """A comparison of a numeric feature with what is neither a level nor an edge that can be compared with."""
    found = unknown_level(place, level, feature)
    if as_decimal(level) is None and closest(level, feature.levels) is not None:
        return found
    edges = ", ".join(f"{edge:f}" for edge in feature.edges)
    operators = "< and >=" if feature.closed == "left" else "<= and >"
    remedy = f"possible: {quote_list(feature.levels)}; or compare with an edge ({edges}) using {operators}"
    return replace(found, remedy=remedy)
