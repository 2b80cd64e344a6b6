"""Checks of conditions: features, levels and orders that exist, and features that can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from safear.arguments import show
from safear.errors import Mistake, Path, Place, mistake
from safear.problem.condition import ORDER_OPERATORS, Condition, FeatureTest, LevelTest, Within, comparisons
from safear.problem.model import Problem
from safear.problem.scales import level_numbers
from safear.problem.wrong_names import unknown_edge, unknown_feature, unknown_level


def check_condition(problem: Problem, condition: Condition, path: Path) -> Iterator[Mistake]:
    """Every test names a feature, and a level of it, and an order only where there is one."""
    if not isinstance(condition, Condition):
        yield mistake(path, f"{show(condition)} is not a condition", "use parse_condition('...')", code="wrong_type")
        return
    for item in comparisons(condition):
        if isinstance(item, Within):
            continue  # it follows from a limit, which is checked where it stands
        feature = problem.feature_by_name.get(item.feature)
        at = Place(path, offset=item.column)
        if feature is None:
            found = unknown_feature(at, item.feature, problem.feature_by_name)
            swapped = any(item.feature in other.levels for other in problem.features)
            remedy = "write the feature on the left and its level on the right" if swapped else found.remedy
            yield replace(found, remedy=remedy)
        elif isinstance(item, LevelTest):
            if item.operator in ORDER_OPERATORS and not feature.is_ordered:
                cause = f"'{item.feature}' is nominal: '{item.operator}' has no meaning"
                yield mistake(at, cause, "use == or in [...]", code="no_order", feature=item.feature)
            elif feature.knows(item.level, item.operator) and item.level in problem.feature_by_name:
                cause = f"'{item.level}' is both a level of '{item.feature}' and a feature"
                yield mistake(at, cause, "rename one of the two", code="ambiguous", name=item.level)
            elif not feature.knows(item.level, item.operator):
                make = unknown_edge if feature.kind == "numeric" else unknown_level
                yield make(at, item.level, feature)
        elif isinstance(item, FeatureTest):
            yield from _check_pair(problem, item, at)
        else:
            yield from (unknown_level(at, level, feature) for level in item.levels if level not in feature.levels)


def _check_pair(problem: Problem, item: FeatureTest, at: Place) -> Iterator[Mistake]:
    """Two features can be compared by their numbers, or by position if they have the same levels."""
    one, other = problem.feature_by_name[item.feature], problem.feature_by_name.get(item.other)
    if other is None:
        yield unknown_feature(at, item.other, problem.feature_by_name)
        return
    nominal = next((feature.name for feature in (one, other) if not feature.is_ordered), None)
    if item.operator in ORDER_OPERATORS and nominal is not None:
        cause = f"'{nominal}' is nominal: '{item.operator}' has no meaning"
        yield mistake(at, cause, "use == or in [...]", code="no_order", feature=nominal)
    elif one.levels != other.levels and (level_numbers(one) is None or level_numbers(other) is None):
        cause = f"'{one.name}' and '{other.name}' have different levels, and not both are numbers with values"
        yield mistake(at, cause, "give both the same levels, or 'values' (or a 'range')", code="not_comparable")
