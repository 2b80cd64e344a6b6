"""What a problem's words must mean: levels that exist, chances that add up, costs that are no gains, and so on.

`check_problem` finds every mistake at once. Paths are those of the problem file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError
from itertools import chain

import numpy as np

from safear.errors import Mistake, Path, Place, ProblemError, key_mistake, mistake, quote_list, suggest
from safear.problem.condition import ORDER_OPERATORS, Comparison, Condition, comparisons, condition_features
from safear.problem.features import check_features
from safear.problem.model import (
    MAX_ACTIONS,
    MAX_COST,
    MAX_OUTCOMES,
    Action,
    Change,
    Feature,
    Move,
    Outcome,
    Problem,
    SideEffect,
    as_decimal,
)
from safear.problem.person import person_mistakes
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity, quantity_features
from safear.problem.vector import CodeArray, apply_change, evaluate_quantity, holds, order_side_effects

TOLERANCE = 1e-9  # of a sum of chances
MAX_COMBINATIONS = 200_000  # of levels, up to which a check looks at all of them


def require_problem(problem: object) -> None:
    """Refuse what is no problem at all: a file's name, say."""
    if not isinstance(problem, Problem):
        raise ProblemError.at((), f"{problem!r} is not a problem", "use load_problem, parse_problem or load_example")


def check_problem(problem: Problem) -> list[Mistake]:
    """Every mistake in a problem."""
    in_features = list(check_features(problem.features))
    vague = {str(item.place.path[1]) for item in in_features if item.place.path[2:3] in {("levels",), ("edges",)}}
    found = chain(_check_head(problem), in_features, *_check_parts(problem))
    return [item for item in found if not any(item.cause.endswith(f"of '{name}'") for name in vague)]


def _check_parts(problem: Problem) -> Iterator[Iterator[Mistake] | list[Mistake]]:
    if len(problem.actions) > MAX_ACTIONS:
        yield [mistake(("actions",), f"{len(problem.actions)} actions; at most {MAX_ACTIONS} are possible")]
    names = [action.name for action in problem.actions]
    yield [
        mistake(("actions", name), f"'{name}' is given twice") for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    for action in problem.actions:
        yield check_action(problem, action)
    for number, effect in enumerate(problem.side_effects):
        yield _check_side_effect(problem, effect, ("side_effects", number))
    yield _check_circle(problem.side_effects)
    sound: list[Condition] = []
    for number, condition in enumerate(problem.constraints):
        found = list(check_condition(problem, condition, ("constraints", number)))
        yield found
        sound += [] if found else [condition]
    if problem.rule is not None:
        yield _check_rule(problem, problem.rule)
    readable = replace(problem, constraints=tuple(sound))
    for name, person in problem.people.items():
        yield [item.inside("people", name) for item in person_mistakes(readable, person)]


def _check_head(problem: Problem) -> Iterator[Mistake]:
    if not 1 <= problem.horizon <= 1000:
        yield mistake(("horizon",), f"{problem.horizon} is not between 1 and 1000")
    yield from _check_amount(Amount.exactly(problem.goal.failure_cost), ("goal", "failure_cost"), is_chance=False)
    threshold = problem.goal.threshold
    if threshold is not None and not 0 <= threshold <= 1:
        yield mistake(("goal", "threshold"), f"{threshold} is not between 0 and 1")
    if problem.cost_resolution is not None and not problem.cost_resolution.is_finite():
        yield mistake(("cost", "resolution"), f"{problem.cost_resolution} is not a finite number")
    elif problem.cost_resolution is not None and not problem.cost_resolution > 0:
        yield mistake(("cost", "resolution"), f"{problem.cost_resolution} is not above 0")


def check_action(problem: Problem, action: Action) -> list[Mistake]:
    """Every mistake in one action."""
    path: Path = ("actions", action.name)
    found = list(check_condition(problem, action.when, (*path, "when")))
    if not action.outcomes:
        return [*found, mistake((*path, "outcomes"), "the list is empty", "give at least one outcome")]
    if len(action.outcomes) > MAX_OUTCOMES:
        cause = f"{len(action.outcomes)} outcomes; at most {MAX_OUTCOMES} are possible"
        return [*found, mistake((*path, "outcomes"), cause)]
    found += _check_quantity(problem, action.cost, action.outcomes[0].change, (*path, "cost"))
    for number, outcome in enumerate(action.outcomes):
        found += _check_outcome(problem, outcome, (*path, "outcomes", number))
    if found:
        return found  # what follows needs words that are understood
    return [*_check_aim(problem, action, path), *_check_sum(problem, action, path)]


def _check_outcome(problem: Problem, outcome: Outcome, path: Path) -> Iterator[Mistake]:
    yield from _check_change(problem, outcome.change, (*path, "change"))
    if outcome.cost is not None:
        yield from _check_quantity(problem, outcome.cost, outcome.change, (*path, "cost"))
    if outcome.chance is not None:
        yield from _check_quantity(problem, outcome.chance, outcome.change, (*path, "chance"))


def _check_change(problem: Problem, change: Change, path: Path) -> Iterator[Mistake]:
    for name, effect in change.items():
        at = (*path, name)
        feature = problem.feature_by_name.get(name)
        if feature is None:
            yield key_mistake(at, f"there is no feature '{name}'", suggest(name, problem.feature_by_name))
        elif not feature.mutable:
            yield key_mistake(at, f"'{name}' is immutable and cannot change", "take it out, or drop 'mutable: false'")
        elif isinstance(effect, Move):
            if not feature.is_ordered:
                yield mistake(at, f"'{name}' is nominal: its levels have no order to move along", "name a level")
            elif effect.by == 0:
                yield mistake(at, "a move by 0 changes nothing", "write +1, -1, ...")
        elif effect.level not in feature.levels:
            yield mistake(at, f"'{effect.level}' is not a level of '{name}'", suggest(effect.level, feature.levels))


def _check_quantity(problem: Problem, quantity: Quantity, change: Change, path: Path) -> Iterator[Mistake]:
    is_chance = path[-1] == "chance"
    if not isinstance(quantity, Quantity):
        yield mistake(path, f"{quantity!r} is not a {path[-1]}", "use Amount.exactly(...), ByLevel(...) or ByCase(...)")
        return
    for at, amount in _entries(quantity, path):
        yield from _check_amount(amount, at, is_chance=is_chance)
    match quantity:
        case ByLevel(name, table):
            feature = problem.feature_by_name.get(name)
            if feature is None or name not in change:
                known = [key for key in change if key in problem.feature_by_name]
                if name in change:
                    return  # an unknown feature is reported where it should change
                yield key_mistake(
                    (*path, name), f"'{name}' is not a feature that this outcome changes", suggest(name, known)
                )
                return
            yield from (
                _unknown_level(Place((*path, name, level), on_key=True), level, feature)
                for level in table
                if level not in feature.levels
            )
            missing = [level for level in _targets(change, feature) if level not in table]
            if missing and set(table) <= set(feature.levels):
                yield mistake(path, f"nothing is said for level '{missing[0]}' of '{name}'", f"add '{missing[0]}: ...'")
        case ByCase(cases, _):
            for number, (condition, _) in enumerate(cases):
                yield from check_condition(problem, condition, (*path, number, "when"))


def _entries(quantity: Quantity, path: Path) -> Iterator[tuple[Path, Amount]]:
    """All amounts of a quantity, each with its place."""
    match quantity:
        case Amount():
            yield path, quantity
        case ByLevel(name, table):
            yield from (((*path, name, level), amount) for level, amount in table.items())
        case ByCase(cases, otherwise):
            yield from (((*path, number, path[-1]), amount) for number, (_, amount) in enumerate(cases))
            yield (*path, len(cases)), otherwise


def _targets(change: Change, feature: Feature) -> tuple[str, ...]:
    """The levels of a feature that a change may lead to."""
    effect = change[feature.name]
    if isinstance(effect, Move):
        reach = min(abs(effect.by), len(feature.levels) - 1)
        return feature.levels[reach:] if effect.by > 0 else feature.levels[: len(feature.levels) - reach]
    return (effect.level,)


def _check_amount(amount: Amount, path: Path, *, is_chance: bool) -> Iterator[Mistake]:
    values = (amount.low, amount.nominal, amount.high)
    if not all(value.is_finite() for value in values):
        yield mistake(path, f"{amount.nominal} is not a finite number")
    elif is_chance and not all(0 <= value <= 1 for value in values):
        wrong = next(value for value in values if not 0 <= value <= 1)
        remedy = f"write {wrong / 100:f} for {wrong} per cent" if 1 < wrong <= 100 else None
        yield mistake(path, f"{wrong} is not a chance between 0 and 1", remedy)
    elif not is_chance and amount.low < 0:
        yield mistake(path, f"the cost {amount.low} is below 0", "costs are positive")
    elif not is_chance and amount.high > MAX_COST:
        yield mistake(path, f"the cost {amount.high} is above {MAX_COST:g}", "count in a larger unit")
    elif not is_chance and amount.is_interval:
        yield mistake(path, "a cost cannot be an interval")
    elif not amount.low <= amount.nominal <= amount.high:
        inner = "" if amount == Amount.between(amount.low, amount.high) else f"{amount.nominal}, "
        remedy = f"write [low, {'nominal, ' if inner else ''}high]"
        yield mistake(path, f"[{amount.low}, {inner}{amount.high}] is not in order", remedy)


def _check_aim(problem: Problem, action: Action, path: Path) -> Iterator[Mistake]:
    changed = {name for outcome in action.outcomes for name in outcome.change}
    if not changed:
        yield mistake(path, "no outcome changes anything", "give a 'change'")
    elif not any(problem.feature_by_name[name].actionable for name in changed):
        names = " and ".join(f"'{name}'" for name in sorted(changed))
        yield mistake(path, f"changes only {names}, which is not actionable", "drop 'actionable: false' there")


def _check_sum(problem: Problem, action: Action, path: Path) -> Iterator[Mistake]:
    """That the chances add up to 1, for all levels and conditions that they depend on."""
    at = (*path, "outcomes")
    open_outcomes = [number for number, outcome in enumerate(action.outcomes) if outcome.chance is None]
    if len(open_outcomes) > 1:
        yield mistake(
            (*at, open_outcomes[1], "chance"), "a second outcome without a chance", "only one can get the rest"
        )
        return
    stated = [outcome for outcome in action.outcomes if outcome.chance is not None]
    looked_at = [quantity_features(outcome.chance) for outcome in stated if outcome.chance is not None]
    codes = _combinations(problem, set(condition_features(action.when)).union(*looked_at))
    if codes is None:
        return  # too many to look at; the compiler checks each state that it meets
    features = problem.feature_by_name
    total = sum(
        (
            evaluate_quantity(
                outcome.chance,
                codes,
                apply_change({k: v for k, v in outcome.change.items() if k in codes}, codes, features),
                features=features,
                number=lambda amount: float(amount.nominal),
            )
            for outcome in stated
            if outcome.chance is not None
        ),
        np.zeros(len(next(iter(codes.values())))),
    )
    wrong = (total > 1 + TOLERANCE) if open_outcomes else (np.abs(total - 1) > TOLERANCE)
    wrong &= holds(action.when, codes, features)
    if wrong.any():
        example = int(np.argmax(wrong))
        levels = {name: features[name].levels[column[example]] for name, column in codes.items() if name in features}
        where = "" if np.ptp(total) < TOLERANCE else ", ".join(f"{name} is {level}" for name, level in levels.items())
        limit = "more than 1" if open_outcomes else "not 1"
        cause = f"chances add up to {_format(float(total[example]))}, {limit}" + (f" where {where}" if where else "")
        remedy = None if open_outcomes else "leave out the chance of one outcome: it gets the rest"
        yield mistake(at, cause, remedy)


def _combinations(problem: Problem, names: set[str]) -> dict[str, CodeArray] | None:
    """All combinations of levels of some features as codes, or None if there are too many."""
    features = [feature for feature in problem.features if feature.name in names]
    sizes = [len(feature.levels) for feature in features]
    if math.prod(sizes) > MAX_COMBINATIONS:
        return None
    count = math.prod(sizes)
    grid = np.indices(sizes, dtype=np.int16).reshape(len(sizes), count)
    # An entry that is no feature keeps the number of combinations known when nothing depends on a level.
    return {feature.name: grid[i] for i, feature in enumerate(features)} | {"": np.zeros(count, np.int16)}


def _check_side_effect(problem: Problem, effect: SideEffect, path: Path) -> Iterator[Mistake]:
    if effect.cause not in problem.feature_by_name:
        yield mistake(
            (*path, "cause"), f"there is no feature '{effect.cause}'", suggest(effect.cause, problem.feature_by_name)
        )
    elif not problem.feature_by_name[effect.cause].mutable:
        yield mistake((*path, "cause"), f"'{effect.cause}' is immutable, so nothing can follow from its change")
    yield from _check_change(problem, effect.change, (*path, "change"))
    yield from check_condition(problem, effect.when, (*path, "when"))


def _check_circle(side_effects: tuple[SideEffect, ...]) -> Iterator[Mistake]:
    try:
        order_side_effects(side_effects)
    except CycleError as error:
        circle = error.args[1]  # each one causes the next
        last = next(
            i for i, effect in enumerate(side_effects) if effect.cause == circle[-2] and circle[-1] in effect.change
        )
        cause = f"side effects go round in a circle: {' -> '.join(circle)}"
        yield mistake(("side_effects", last), cause, "take one of them out")


def check_condition(problem: Problem, condition: Condition, path: Path) -> Iterator[Mistake]:
    """Every comparison names a feature, and a level of it, and an order only where there is one."""
    if not isinstance(condition, Condition):
        yield mistake(path, f"{condition!r} is not a condition", "use parse_condition('...')")
        return
    for item in comparisons(condition):
        feature = problem.feature_by_name.get(item.feature)
        at = Place(path, offset=item.column)
        if feature is None:
            remedy = suggest(item.feature, problem.feature_by_name)
            if any(item.feature in other.levels for other in problem.features):
                remedy = "write the feature on the left and its level on the right"
            yield Mistake(at, f"there is no feature '{item.feature}'", remedy)
        elif isinstance(item, Comparison):
            if item.operator in ORDER_OPERATORS and not feature.is_ordered:
                yield Mistake(
                    at, f"'{item.feature}' is nominal: '{item.operator}' has no meaning", "use == or in [...]"
                )
            elif item.level not in feature.levels and feature.edge_position(item.level, item.operator) is None:
                yield _unknown_level(at, item.level, feature)
        else:
            yield from (_unknown_level(at, level, feature) for level in item.levels if level not in feature.levels)


def _check_rule(problem: Problem, rule: Condition) -> Iterator[Mistake]:
    path: Path = ("classifier", "rule")
    found = list(check_condition(problem, rule, path))
    yield from found
    if found:
        return
    for name in sorted(condition_features(rule)):
        if not problem.feature_by_name[name].seen_by_classifier:
            yield mistake(path, f"'{name}' is not seen by the classifier", "drop 'seen_by_classifier: false' there")
    codes = _combinations(problem, set(condition_features(rule)))
    if codes is not None and not holds(rule, codes, problem.feature_by_name).any():
        yield mistake(path, "no state is favourable: the goal cannot be reached", "check the rule for a contradiction")


def _unknown_level(at: Path | Place, level: str, feature: Feature) -> Mistake:
    place = at if isinstance(at, Place) else Place(at)
    remedy = suggest(level, feature.levels)
    if feature.kind == "numeric" and (as_decimal(level) is not None or not (remedy or "").startswith("did you mean")):
        remedy = f"possible: {quote_list(feature.levels)}"
        edges = ", ".join(f"{edge:f}" for edge in feature.edges)
        operators = "< and >=" if feature.closed == "left" else "<= and >"
        remedy = f"{remedy}; comparisons can use the edges {edges} with {operators}"
    return Mistake(place, f"'{level}' is not a level of '{feature.name}'", remedy)


def _format(number: float) -> str:
    return f"{number:.10g}"


def unused_features(problem: Problem) -> Mapping[str, str]:
    """Features that look forgotten, with the reason: hints, not mistakes."""
    return {
        feature.name: "is mutable, but no action changes it; say 'mutable: false' for a smaller state space"
        for feature in problem.features
        if feature.mutable and feature.name not in problem.changed_features
    }
