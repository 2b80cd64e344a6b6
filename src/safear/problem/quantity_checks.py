"""What the chances and costs of a problem must mean: numbers in their limits, tables that are whole, sums of 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from safear.arguments import show
from safear.errors import Mistake, Path, mistake, on_key, suggest
from safear.problem.chance_limits import give_rest, stuck_interval
from safear.problem.condition import condition_features
from safear.problem.condition_checks import check_condition
from safear.problem.model import MAX_COST, Action, Change, Feature, Follow, Move, Problem, Shift
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity, amount_places, quantity_features
from safear.problem.scales import shift_table
from safear.problem.tries import MOST_TRIES
from safear.problem.vector import CodeArray, apply_change, evaluate_quantity, holds
from safear.problem.wrong_names import unknown_level

TOLERANCE = 1e-9  # of a sum of chances
UNITS = 10**15  # that a chance is counted in, to see whether intervals can move
MAX_COMBINATIONS = 200_000  # of levels, up to which a check looks at all of them
_FIELDS_OF_AMOUNTS = (("value", "source"), ("worked", "tried"))


def check_quantity(problem: Problem, quantity: Quantity, change: Change, path: Path) -> Iterator[Mistake]:
    """Every mistake in one chance or cost of an outcome with this change."""
    is_chance = path[-1] == "chance"
    if not isinstance(quantity, Quantity):
        remedy = "use Amount.exactly(...), ByLevel(...) or ByCase(...)"
        yield mistake(path, f"{show(quantity)} is not a {path[-1]}", remedy, code="wrong_type")
        return
    for at, amount in amount_places(quantity, path):
        yield from check_amount(amount, at, is_chance=is_chance)
        yield from _check_counts(amount, at, problem.confidence)
    match quantity:
        case ByLevel(name, table):
            feature = problem.feature_by_name.get(name)
            if feature is None or name not in change:
                if name in change:
                    return  # an unknown feature is reported where it should change
                cause = f"this outcome does not change '{name}'"
                remedy = suggest(name, [key for key in change if key in problem.feature_by_name])
                yield mistake(on_key((*path, name)), cause, remedy, code="unchanged_feature", feature=name)
                return
            yield from (
                unknown_level(on_key((*path, name, level)), level, feature)
                for level in table
                if level not in feature.levels
            )
            for first, second in _FIELDS_OF_AMOUNTS[: 1 + is_chance]:
                if {first, second} <= table.keys():
                    cause = f"'{first}' and '{second}' are fields of a number, not only levels of '{name}'"
                    yield mistake(path, cause, "rename one of the levels", code="ambiguous", feature=name)
            missing = [level for level in _targets(change, feature) if level not in table]
            if missing and set(table) <= set(feature.levels):
                cause, remedy = f"level '{missing[0]}' of '{name}' is missing", f"add '{missing[0]}: ...'"
                yield mistake(path, cause, remedy, code="missing_level", feature=name, level=missing[0])
        case ByCase(cases, _):
            for number, (condition, _) in enumerate(cases):
                yield from check_condition(problem, condition, (*path, number, "when"))


def _targets(change: Change, feature: Feature) -> tuple[str, ...]:
    """The levels of a feature that a change may lead to."""
    effect = change[feature.name]
    if isinstance(effect, Shift):
        return tuple(feature.levels[code] for code in np.unique(shift_table(feature, effect.by)))
    if isinstance(effect, Follow):
        return feature.levels
    if isinstance(effect, Move):
        reach = min(abs(effect.by), len(feature.levels) - 1)
        return feature.levels[reach:] if effect.by > 0 else feature.levels[: len(feature.levels) - reach]
    return (effect.level,)


def check_amount(amount: Amount, path: Path, *, is_chance: bool) -> Iterator[Mistake]:
    """Every mistake in a number or an interval by itself."""
    values = (amount.low, amount.nominal, amount.high)
    if not all(value.is_finite() for value in values):
        cause = f"{amount.nominal} is not a finite number"
        yield mistake(path, cause, code="not_finite", value=amount.nominal)
    elif is_chance and not all(0 <= value <= 1 for value in values):
        wrong = next(value for value in values if not 0 <= value <= 1)
        remedy = f"write {wrong / 100:f} for {wrong} per cent" if 1 < wrong <= 100 else None
        yield mistake(path, f"{wrong} is not a chance between 0 and 1", remedy, code="chance_out_of_range", value=wrong)
    elif not is_chance and amount.low < 0:
        cause = f"the cost {amount.low} is below 0"
        yield mistake(path, cause, "costs are positive", code="cost_out_of_range", value=amount.low)
    elif not is_chance and amount.high > MAX_COST:
        cause = f"the cost {amount.high} is above {MAX_COST:g}"
        yield mistake(path, cause, "count in a larger unit", code="cost_out_of_range", value=amount.high)
    elif not is_chance and amount.is_interval:
        yield mistake(path, "a cost cannot be an interval", code="cost_interval")
    elif not amount.low <= amount.nominal <= amount.high:
        inner = "" if amount == Amount.between(amount.low, amount.high) else f"{amount.nominal}, "
        remedy = f"write [low, {'nominal, ' if inner else ''}high]"
        yield mistake(path, f"[{amount.low}, {inner}{amount.high}] is not in order", remedy, code="not_ascending")


def _check_counts(amount: Amount, path: Path, confidence: float) -> Iterator[Mistake]:
    """Counts in a problem that was built in Python: some are needed, and the interval must be theirs."""
    counts = amount.counts
    if counts is None:
        return
    if path[-1] == "cost" or not 0 <= counts.worked <= counts.tried <= MOST_TRIES or not counts.tried:
        yield mistake(path, f"{counts} are no counts of a chance", "give how many of how many worked", code="counts")
    elif 0 < confidence < 1 and amount != Amount.counted(counts, confidence=confidence, source=amount.source):
        remedy = "use Amount.counted with the problem's confidence"
        yield mistake(path, f"this is not the interval of {counts} at {confidence:g}", remedy, code="counts")


def check_sum(problem: Problem, action: Action, path: Path) -> Iterator[Mistake]:
    """That chances add up to 1 and intervals can move, for all levels and conditions that they depend on."""
    at = (*path, "outcomes")
    open_outcomes = [number for number, outcome in enumerate(action.outcomes) if outcome.chance is None]
    if len(open_outcomes) > 1:
        cause, remedy = "two outcomes have no chance", "leave it out of one at most: that one gets the rest"
        yield mistake((*at, open_outcomes[1], "chance"), cause, remedy, code="two_rests")
        return
    stated = [outcome for outcome in action.outcomes if outcome.chance is not None]
    looked_at = [quantity_features(outcome.chance) for outcome in stated if outcome.chance is not None]
    codes = find_combinations(problem, set(condition_features(action.when)).union(*looked_at))
    if codes is None:
        return  # too many to look at; the compiler checks each state that it meets
    features = problem.feature_by_name

    def evaluate(number: Callable[[Amount], float]) -> NDArray[np.float64]:
        """Of each combination and outcome."""
        found = np.zeros((len(next(iter(codes.values()))), len(stated)))
        for column, outcome in enumerate(stated):
            if outcome.chance is not None:
                here = {name: effect for name, effect in outcome.change.items() if name in codes}
                after = apply_change(here, codes, features)
                found[:, column] = evaluate_quantity(outcome.chance, codes, after, features=features, number=number)
        return found

    def tell(example: int) -> str:
        named = [(name, features[name].levels[column[example]]) for name, column in codes.items() if name in features]
        return ", ".join(f"{name} is {level}" for name, level in named)

    total = evaluate(lambda amount: float(amount.nominal)).sum(axis=1)
    wrong = (total > 1 + TOLERANCE) if open_outcomes else (np.abs(total - 1) > TOLERANCE)
    wrong &= holds(action.when, codes, features)
    if wrong.any():
        example = int(np.argmax(wrong))
        where = "" if np.ptp(total) < TOLERANCE else tell(example)
        limit = "more than 1" if open_outcomes else "not 1"
        cause = f"chances add up to {_format(float(total[example]))}, {limit}" + (f" where {where}" if where else "")
        hint = None if open_outcomes else "leave out the chance of one outcome: it gets the rest"
        yield mistake(at, cause, hint, code="sum_of_chances", total=float(total[example]))
    elif not open_outcomes:
        ends = (evaluate(lambda amount: float(amount.low)), evaluate(lambda amount: float(amount.high)))
        low, high = ((end * UNITS).round().astype(np.int64) for end in ends)
        stuck = give_rest(low, high, UNITS)[2]
        stuck &= holds(action.when, codes, features)
        if stuck.any():
            yield stuck_interval(at, "" if stuck.all() else tell(int(np.argmax(stuck))))


def find_combinations(problem: Problem, names: set[str]) -> dict[str, CodeArray] | None:
    """All combinations of levels of some features as codes, or None if there are too many."""
    features = [feature for feature in problem.features if feature.name in names]
    sizes = [len(feature.levels) for feature in features]
    if math.prod(sizes) > MAX_COMBINATIONS:
        return None
    count = math.prod(sizes)
    grid = np.indices(sizes, dtype=np.int16).reshape(len(sizes), count)
    # An entry that is no feature keeps the number of combinations known when nothing depends on a level.
    return {feature.name: grid[i] for i, feature in enumerate(features)} | {"": np.zeros(count, np.int16)}


def _format(number: float) -> str:
    return f"{number:.10g}"
