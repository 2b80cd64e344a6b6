"""Conditions, changes and quantities for many states at once.

States are given as `Codes`: for each feature an array of level numbers (0 is the first level), one entry per state.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from graphlib import TopologicalSorter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safear.problem.condition import And, Condition, Constant, FeatureTest, LevelTest, Membership, Not, Or, Within
from safear.problem.model import Change, Feature, Follow, Move, Problem, Shift, SideEffect
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity
from safear.problem.scales import level_numbers, shift_table

ROUNDING = 1e-9  # by which a difference of two values may exceed a limit
CodeArray = NDArray[np.int16]
Codes = Mapping[str, CodeArray]
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(condition: Condition, codes: Codes, features: Mapping[str, Feature]) -> NDArray[np.bool_]:
    """In which states a (checked) condition holds."""
    match condition:
        case Constant(value):
            return np.full(_count(codes), value)
        case LevelTest(name, symbol, level):
            feature = features[name]
            if level not in feature.levels:  # a numeric feature against one of its edges
                position = feature.edge_position(level, symbol) or 0
                return codes[name] < position if symbol in {"<", "<="} else codes[name] >= position
            result: NDArray[np.bool_] = _COMPARE[symbol](codes[name], feature.levels.index(level))
            return result
        case FeatureTest(name, symbol, other):
            numbers = level_numbers(features[name]), level_numbers(features[other])
            if numbers[0] is None or numbers[1] is None:
                return np.asarray(_COMPARE[symbol](codes[name], codes[other]))
            return np.asarray(_COMPARE[symbol](numbers[0][codes[name]], numbers[1][codes[other]]))
        case Within(name, other, most):
            return _are_near(codes[name], codes[other], most, features[name])
        case Membership(name, levels):
            wanted = [features[name].levels.index(level) for level in levels]
            return np.isin(codes[name], wanted)
        case Not(part):
            return ~holds(part, codes, features)
        case And(parts):
            return reduce(np.logical_and, (holds(part, codes, features) for part in parts))
        case Or(parts):
            return reduce(np.logical_or, (holds(part, codes, features) for part in parts))


def apply_change(change: Change, codes: Codes, features: Mapping[str, Feature]) -> dict[str, CodeArray]:
    """The level numbers after a change; a move past the last level stops there."""
    after = dict(codes)
    for name, effect in change.items():
        after[name] = _moved(effect, after[name], features[name])
    return after


def apply_side_effects(before: Codes, after: Codes, problem: Problem) -> tuple[dict[str, CodeArray], NDArray[np.bool_]]:
    """Follow up the changes from `before` to `after`, causes before consequences; and where nothing would be clipped.

    Moves stop at the last level. What goes in proportion to its cause must not: it would no longer be in proportion.
    """
    result, features = dict(after), problem.feature_by_name
    fits = np.ones(_count(before), dtype=bool)
    for effect in order_side_effects(problem.side_effects):
        difference = result[effect.cause].astype(np.int32) - before[effect.cause]
        set_off = {"up": difference > 0, "down": difference < 0, "any": difference != 0}[effect.direction]
        set_off &= holds(effect.when, before, problem.feature_by_name)
        pairs = {name: part for name, part in effect.change.items() if isinstance(part, Follow)}
        plain = {name: part for name, part in effect.change.items() if name not in pairs}
        followed = apply_change(plain, result, features)
        for name, part in pairs.items():
            gone = (before[effect.cause], result[effect.cause])
            times = _count_times(gone, part.per, features[effect.cause])
            followed[name], inside = _followed(result[name], times, part.by, features[name])
            fits &= inside | ~set_off
        for name in effect.change:
            result[name] = np.where(set_off, followed[name], result[name])
    return result, fits


def _count_times(gone: tuple[CodeArray, CodeArray], per: Move | Shift, feature: Feature) -> NDArray[np.int64]:
    """How many whole times `per` a feature has gone, below zero if down."""
    numbers = level_numbers(feature) if isinstance(per, Shift) else np.arange(len(feature.levels), dtype=np.float64)
    if numbers is None:  # a unit that means nothing, which checks tell of
        return np.zeros(len(gone[0]), dtype=np.int64)
    distance = (numbers[gone[1]] - numbers[gone[0]]) / float(per.by)
    return np.trunc(distance + np.copysign(ROUNDING, distance)).astype(np.int64)


def _followed(
    codes: CodeArray, times: NDArray[np.int64], by: Move | Shift, feature: Feature
) -> tuple[CodeArray, NDArray[np.bool_]]:
    """The level numbers after so many moves, and where they are not beyond the scale."""
    last, numbers = len(feature.levels) - 1, level_numbers(feature)
    if isinstance(by, Move) or numbers is None:
        moved = codes.astype(np.int64) + times * int(by.by)
        return np.clip(moved, 0, last).astype(np.int16), (moved >= 0) & (moved <= last)
    reached = np.round(numbers[codes] + times * float(by.by), 9)
    edges = np.array([float(edge) for edge in feature.edges])
    side: Literal["left", "right"] = "right" if feature.closed == "left" else "left"
    least = -np.inf if feature.least is None else float(feature.least)
    most = np.inf if feature.most is None else float(feature.most)
    return np.searchsorted(edges, reached, side=side).astype(np.int16), (reached >= least) & (reached <= most)


def order_side_effects(side_effects: Sequence[SideEffect]) -> list[SideEffect]:
    """Side effects such that each comes after those that change its cause. A circle is a graphlib.CycleError."""
    order = list(side_effect_graph(side_effects).static_order())
    return sorted(side_effects, key=lambda effect: order.index(effect.cause))


def side_effect_graph(side_effects: Sequence[SideEffect]) -> TopologicalSorter[str]:
    """Which features are changed by which: an edge from each cause to what it changes."""
    graph: TopologicalSorter[str] = TopologicalSorter()
    for effect in side_effects:
        graph.add(effect.cause)
        for name in effect.change:
            graph.add(name, effect.cause)
    return graph


def evaluate_quantity(
    quantity: Quantity,
    before: Codes,
    reached: Codes,
    *,
    features: Mapping[str, Feature],
    number: Callable[[Amount], float | int],
) -> NDArray[Any]:
    """The number of a quantity in each state, given the levels before the step and those that the change reached."""
    match quantity:
        case Amount():
            return np.full(_count(before), number(quantity))
        case ByLevel(name, amounts):
            # A level without an entry cannot be reached (checks make sure of it), whatever stands in its place.
            filler = next(iter(amounts.values()))
            table = np.array([number(amounts.get(level, filler)) for level in features[name].levels])
            return table[reached[name]]
        case ByCase(cases, otherwise):
            result = np.full(_count(before), number(otherwise))
            for condition, amount in reversed(cases):  # so that the first case that holds is written last
                result[holds(condition, before, features)] = number(amount)
            return result


def _are_near(one: CodeArray, other: CodeArray, most: Move | Shift, feature: Feature) -> NDArray[np.bool_]:
    """Whether levels are at most so many levels, or so much, apart."""
    if isinstance(most, Move):
        return np.asarray(np.abs(one.astype(np.int32) - other) <= most.by)
    numbers = level_numbers(feature)
    if numbers is None:  # a limit that means nothing, which checks tell of
        return np.ones(len(one), dtype=bool)
    return np.asarray(np.abs(numbers[one] - numbers[other]) <= float(most.by) * (1 + ROUNDING))


def _moved(effect: object, codes: CodeArray, feature: Feature) -> CodeArray:
    if isinstance(effect, Move):
        last = len(feature.levels) - 1
        by = max(-last, min(effect.by, last))
        moved: CodeArray = np.clip(codes.astype(np.int32) + by, 0, last).astype(np.int16)
        return moved
    if isinstance(effect, Shift):
        shifted: CodeArray = shift_table(feature, effect.by)[codes]
        return shifted
    return np.full_like(codes, feature.levels.index(effect.level))  # type: ignore[attr-defined]  # the rest are SetTo


def _count(codes: Codes) -> int:
    return len(next(iter(codes.values())))
