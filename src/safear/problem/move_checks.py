"""Checks of moves: not beyond the scale, and in the feature's own unit."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np

from safear.errors import Mistake, Path, mistake
from safear.problem.model import Feature, Move, Shift
from safear.problem.ranges import level_range
from safear.problem.scales import is_range, level_numbers, shift_table


def too_far(path: Path, effect: Move, feature: Feature) -> Mistake:
    """A move by more levels than there are: an amount was meant, no doubt."""
    last, by = len(feature.levels) - 1, Decimal(effect.by)
    cause = f"'{feature.name}' has {last + 1} levels; {by:+.10g} goes beyond them from every one"
    remedy = f"the most is {last:+d}" if last else "give it more levels"
    if feature.kind == "numeric":
        remedy = f"a move by an amount is {{by: {by:.10g} {feature.unit or 'UNIT'}}}"
        remedy += "" if feature.unit else f", with 'unit: UNIT' given for '{feature.name}'"
    return mistake(path, cause, remedy, code="too_far", feature=feature.name, by=f"{by:.10g}")


def check_limit(feature: Feature, path: Path) -> Iterator[Mistake]:
    """How far a feature may go in all: some way, but not further than its scale."""
    most, name = feature.at_most, feature.name
    if not feature.mutable:
        cause, remedy = f"'{name}' is immutable and cannot change", "take it out, or drop 'mutable: false'"
        yield mistake(path, cause, remedy, code="immutable", feature=name)
    elif not feature.is_ordered:
        cause = f"'{name}' is nominal: its levels have no order to move along"
        yield mistake(path, cause, "limit the actions that change it", code="no_order", feature=name)
    elif most is not None and most.by <= 0:
        yield mistake(
            path,
            f"{most.by:.10g} is not above 0" if isinstance(most, Shift) else f"{most.by} is below 1",
            "to forbid every change, write 'mutable: false'",
            code="out_of_range",
            value=str(most.by),
        )
    elif isinstance(most, Move) and feature.levels and most.by >= len(feature.levels):
        yield too_far(path, most, feature)
    elif isinstance(most, Shift):
        found = list(check_shift(most, feature, path))
        numbers = level_numbers(feature)
        if not [item for item in found if item.code != "no_change"] and numbers is not None:
            found = []
            if not _has_single_numbers(feature):
                cause = f"a level of '{name}' holds many numbers: from what was filed, it may be more than {most}"
                remedy = "limit the levels (at_most: 1), or give a 'range' in place of the edges"
                found.append(mistake(path, cause, remedy, code="many_numbers", feature=name))
            elif len(numbers) > 1 and np.diff(numbers).min() > float(most.by):
                cause = f"{most} is less than any two levels of '{name}' are apart"
                found.append(
                    mistake(path, cause, "allow more, or cut the levels finer", code="no_change", feature=name)
                )
        yield from found


def _has_single_numbers(feature: Feature) -> bool:
    """Whether each level stands for one number: the distance of two levels is then that of the numbers."""
    if is_range(feature):
        return True
    limits = (feature.step, feature.least, feature.most)
    if any(limit is None or not limit.is_finite() for limit in limits) or not (feature.step or 0) > 0:
        return False
    return all(level_range(feature, code).count == 1 for code in range(len(feature.levels)))


def check_follow(size: Move | Shift, feature: Feature, path: Path, *, is_cause: bool = False) -> Iterator[Mistake]:
    """One side of a proportion: so many levels, or so much in the unit, of a feature with an order."""
    if not feature.is_ordered:
        cause = f"'{feature.name}' is nominal: its levels have no order to move along"
        yield mistake(path, cause, "name a level, without 'per'", code="no_order", feature=feature.name)
    elif size.by == 0 or (is_cause and size.by < 0):
        cause, remedy = f"{size.by} is not above 0" if is_cause else "a move by 0 changes nothing", "write 1, 2, ..."
        yield mistake(path, cause, remedy, code="out_of_range" if is_cause else "no_change", value=str(size.by))
    elif isinstance(size, Shift):
        yield from (item for item in check_shift(size, feature, path) if item.code != "no_change")
    elif feature.levels and abs(size.by) >= len(feature.levels):
        yield too_far(path, size, feature)


def check_shift(effect: Shift, feature: Feature, path: Path) -> Iterator[Mistake]:
    """A move in the unit of a feature: there must be one, and numbers to count in it."""
    name, values = feature.name, {"feature": feature.name, "by": str(effect)}
    if feature.kind != "numeric":
        cause = f"'{name}' is {feature.kind}: only numeric features are counted in a unit"
        remedy = "name a level" if feature.kind == "nominal" else "move by levels: +1, -1, ..."
        yield mistake(path, cause, remedy, code="no_unit", **values)
    elif feature.unit != effect.unit:
        counted = f"is counted in {feature.unit}, not in {effect.unit}" if feature.unit else "has no unit"
        word = "per" if path[-1] == "per" else "by"
        remedy = (
            f"write {{{word}: {effect.by:f} {feature.unit}}}" if feature.unit else f"write 'unit: {effect.unit}' there"
        )
        yield mistake(path, f"'{name}' {counted}", remedy, code="no_unit", **values)
    elif not feature.values:
        cause, remedy = f"the levels of '{name}' have no values to move from", "give 'values', or a 'range'"
        yield mistake(path, cause, remedy, code="no_values", **values)
    elif effect.by == 0:
        yield mistake(path, "a move by 0 changes nothing", "write +1, -1, ...", code="no_change", feature=name)
    elif (
        level_numbers(feature) is not None and (shift_table(feature, effect.by) == np.arange(len(feature.levels))).all()
    ):
        cause = f"a move by {effect} leaves no level of '{name}'"
        yield mistake(path, cause, "move further, or cut the levels finer", code="no_change", **values)
