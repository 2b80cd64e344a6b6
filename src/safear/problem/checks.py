"""What a problem's words must mean: levels that exist, chances that add up, costs that are no gains, and so on.

`check_problem` finds every mistake at once. Paths are those of the problem file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError
from itertools import chain

import numpy as np

from safear.errors import Mistake, Path, ProblemError, mistake, on_key, suggest
from safear.problem.condition import (
    Condition,
    condition_features,
)
from safear.problem.condition_checks import check_condition
from safear.problem.feature_checks import check_features
from safear.problem.model import (
    MAX_ACTIONS,
    MAX_COST,
    MAX_OUTCOMES,
    Action,
    Change,
    Feature,
    Follow,
    Goal,
    Move,
    Outcome,
    Problem,
    Shift,
    SideEffect,
)
from safear.problem.move_checks import check_follow, check_shift, too_far
from safear.problem.person import person_mistakes
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity, amount_places, quantity_features
from safear.problem.scales import shift_table
from safear.problem.tries import MOST_TRIES
from safear.problem.vector import CodeArray, apply_change, evaluate_quantity, holds, order_side_effects
from safear.problem.wrong_names import unknown_feature, unknown_level

_FIELDS_OF_AMOUNTS = (("value", "source"), ("worked", "tried"))
TOLERANCE = 1e-9  # of a sum of chances
_ABOUT_LEVELS = {
    "unknown_level",
    "not_a_number",
    "missing_level",
    "too_far",
}  # mistakes that unclear levels bring about
MAX_COMBINATIONS = 200_000  # of levels, up to which a check looks at all of them


def require_problem(problem: object) -> None:
    """Refuse what is no problem at all: a file's name, say."""
    if not isinstance(problem, Problem):
        remedy = "use load_problem, parse_problem or load_example"
        raise ProblemError.at((), f"{problem!r} is not a problem", remedy, code="not_a_problem")


def check_problem(problem: Problem) -> list[Mistake]:
    """Every mistake in a problem. It is looked for once: a problem never changes."""
    known = vars(problem)  # as a cached_property would, which the model cannot have: checks know it, not it them
    if "_mistakes" not in known:
        known["_mistakes"] = tuple(_find_mistakes(problem))
    return list(known["_mistakes"])


def trust_problem(problem: Problem) -> Problem:
    """The problem, remembered to have no mistakes because it was made from one that has none."""
    vars(problem)["_mistakes"] = ()
    return problem


def _find_mistakes(problem: Problem) -> Iterator[Mistake]:
    in_features = list(check_features(problem.features, problem.given))
    vague = {str(item.place.path[1]) for item in in_features if item.place.path[2:3] in {("levels",), ("edges",)}}
    found = chain(_check_head(problem), in_features, *_check_parts(problem))
    yield from (item for item in found if item.code not in _ABOUT_LEVELS or item.values["feature"] not in vague)


def _check_parts(problem: Problem) -> Iterator[Iterator[Mistake] | list[Mistake]]:
    if len(problem.actions) > MAX_ACTIONS:
        cause = f"{len(problem.actions)} actions; at most {MAX_ACTIONS} are possible"
        yield [mistake(("actions",), cause, code="too_many")]
    names = [action.name for action in problem.actions]
    yield [
        mistake(("actions", name), f"'{name}' is given twice", code="twice", name=name)
        for name in dict.fromkeys(names)
        if names.count(name) > 1
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
        cause = f"{problem.horizon} is not between 1 and 1000"
        yield mistake(("horizon",), cause, code="out_of_range", value=problem.horizon)
    yield from _check_amount(Amount.exactly(problem.goal.failure_cost), ("goal", "failure_cost"), is_chance=False)
    threshold = problem.goal.threshold
    if threshold is not None and not 0 <= threshold <= 1:
        yield mistake(
            ("goal", "threshold"), f"{threshold} is not between 0 and 1", code="out_of_range", value=threshold
        )
    yield from _check_margin(problem.goal)
    if not 0 < problem.confidence < 1:
        cause = f"{problem.confidence} is not between 0 and 1"
        yield mistake(("confidence",), cause, "0.95 is usual", code="out_of_range", value=problem.confidence)
    resolution = problem.cost_resolution
    if resolution is not None and not (resolution.is_finite() and resolution > 0):
        what = "not above 0" if resolution.is_finite() else "not a finite number"
        yield mistake(("cost", "resolution"), f"{resolution} is {what}", code="out_of_range", value=resolution)


def _check_margin(goal: Goal) -> Iterator[Mistake]:
    """A score to plan for lies at or above the one that decides."""
    if not 0 < goal.agree <= 1:
        cause, remedy = f"{goal.agree} is not a share above 0, up to 1", "write 'all', or a share such as 0.6"
        yield mistake(("goal", "agree"), cause, remedy, code="out_of_range", value=goal.agree)
    if goal.aim is None:
        return
    if not 0 <= goal.aim <= 1:
        yield mistake(("goal", "aim"), f"{goal.aim} is not between 0 and 1", code="out_of_range", value=goal.aim)
    elif goal.threshold is None:
        cause, remedy = "an aim needs the threshold that it lies above", "write 'threshold: 0.5' beside it"
        yield mistake(("goal", "aim"), cause, remedy, code="no_threshold")
    elif goal.aim < goal.threshold:
        cause = f"the aim {goal.aim:g} is below the threshold {goal.threshold:g}: who reaches it would be rejected"
        yield mistake(("goal", "aim"), cause, "raise it, or leave it out", code="below_threshold", value=goal.aim)


def check_action(problem: Problem, action: Action) -> list[Mistake]:
    """Every mistake in one action."""
    path: Path = ("actions", action.name)
    if action.at_most is not None and action.at_most < 1:
        return [mistake((*path, "at_most"), f"{action.at_most} is below 1", code="out_of_range", value=action.at_most)]
    found = list(check_condition(problem, action.when, (*path, "when")))
    if not action.outcomes:
        remedy = "give at least one outcome"
        return [*found, mistake((*path, "outcomes"), "the list is empty", remedy, code="too_few")]
    if len(action.outcomes) > MAX_OUTCOMES:
        cause = f"{len(action.outcomes)} outcomes; at most {MAX_OUTCOMES} are possible"
        return [*found, mistake((*path, "outcomes"), cause, code="too_many")]
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
            yield unknown_feature(on_key(at), name, problem.feature_by_name)
        elif not feature.mutable:
            cause, remedy = f"'{name}' is immutable and cannot change", "take it out, or drop 'mutable: false'"
            yield mistake(on_key(at), cause, remedy, code="immutable", feature=name)
        elif isinstance(effect, Move):
            if not feature.is_ordered:
                cause = f"'{name}' is nominal: its levels have no order to move along"
                yield mistake(at, cause, "name a level", code="no_order", feature=name)
            elif effect.by == 0:
                yield mistake(at, "a move by 0 changes nothing", "write +1, -1, ...", code="no_change", feature=name)
            elif feature.levels and abs(effect.by) >= len(feature.levels):
                yield too_far(at, effect, feature)
        elif isinstance(effect, Shift):
            yield from check_shift(effect, feature, at)
        elif isinstance(effect, Follow):
            yield from check_follow(effect.by, feature, (*at, "by"))
        elif effect.level not in feature.levels:
            yield unknown_level(at, effect.level, feature)


def _check_quantity(problem: Problem, quantity: Quantity, change: Change, path: Path) -> Iterator[Mistake]:
    is_chance = path[-1] == "chance"
    if not isinstance(quantity, Quantity):
        remedy = "use Amount.exactly(...), ByLevel(...) or ByCase(...)"
        yield mistake(path, f"{quantity!r} is not a {path[-1]}", remedy, code="wrong_type")
        return
    for at, amount in amount_places(quantity, path):
        yield from _check_amount(amount, at, is_chance=is_chance)
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


def _check_amount(amount: Amount, path: Path, *, is_chance: bool) -> Iterator[Mistake]:
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


def _check_aim(problem: Problem, action: Action, path: Path) -> Iterator[Mistake]:
    changed = {name for outcome in action.outcomes for name in outcome.change}
    if not changed:
        yield mistake(path, "no outcome changes anything", "give a 'change'", code="no_change")
    elif not any(problem.feature_by_name[name].actionable for name in changed):
        names = " and ".join(f"'{name}'" for name in sorted(changed))
        cause, remedy = f"changes only {names}, which cannot be acted on", "drop 'actionable: false' there"
        yield mistake(path, cause, remedy, code="not_actionable")
    elif all(problem.feature_by_name[name].hidden for name in changed):
        names = " and ".join(f"'{name}'" for name in sorted(changed))
        cause, remedy = f"changes only {names}, which nobody sees", "let it change something that is not hidden"
        yield mistake(path, cause, remedy, code="no_change")


def _check_sum(problem: Problem, action: Action, path: Path) -> Iterator[Mistake]:
    """That the chances add up to 1, for all levels and conditions that they depend on."""
    at = (*path, "outcomes")
    open_outcomes = [number for number, outcome in enumerate(action.outcomes) if outcome.chance is None]
    if len(open_outcomes) > 1:
        cause, remedy = "two outcomes have no chance", "leave it out of one at most: that one gets the rest"
        yield mistake((*at, open_outcomes[1], "chance"), cause, remedy, code="two_rests")
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
        hint = None if open_outcomes else "leave out the chance of one outcome: it gets the rest"
        yield mistake(at, cause, hint, code="sum_of_chances", total=float(total[example]))


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
        yield unknown_feature((*path, "cause"), effect.cause, problem.feature_by_name)
    elif not problem.feature_by_name[effect.cause].mutable:
        cause = f"'{effect.cause}' is immutable, so it has no side effects"
        yield mistake((*path, "cause"), cause, code="immutable", feature=effect.cause)
    yield from _check_change(problem, effect.change, (*path, "change"))
    cause_feature = problem.feature_by_name.get(effect.cause)
    for name, part in effect.change.items():
        if isinstance(part, Follow) and cause_feature is not None:
            yield from check_follow(part.per, cause_feature, (*path, "change", name, "per"), is_cause=True)
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
        yield mistake(("side_effects", last), cause, "take one of them out", code="circle")


def _check_rule(problem: Problem, rule: Condition) -> Iterator[Mistake]:
    path: Path = ("classifier", "rule")
    found = list(check_condition(problem, rule, path))
    yield from found
    if found:
        return
    for name in sorted(condition_features(rule)):
        if not problem.feature_by_name[name].seen_by_classifier:
            why = "hidden: true" if problem.feature_by_name[name].hidden else "seen_by_classifier: false"
            cause, remedy = f"the classifier does not see '{name}'", f"drop '{why}' there"
            yield mistake(path, cause, remedy, code="unseen_feature", feature=name)
    codes = _combinations(problem, set(condition_features(rule)))
    if codes is not None and not holds(rule, codes, problem.feature_by_name).any():
        cause, remedy = "no state is favourable: nobody can reach the goal", "check the rule for a contradiction"
        yield mistake(path, cause, remedy, code="no_goal")


def _format(number: float) -> str:
    return f"{number:.10g}"


def unused_features(problem: Problem) -> list[str]:
    """Features that look forgotten: mutable, though no action changes them."""
    unchanged = [item for item in problem.features if item.name not in problem.changed_features]
    return [item.name for item in unchanged if item.mutable and not item.is_derived]
