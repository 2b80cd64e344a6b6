"""What a problem's words must mean: levels that exist, chances that add up, costs that are no gains, and so on.

`check_problem` finds every mistake at once. Paths are those of the problem file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError
from itertools import chain

from safear.errors import Mistake, Path, mistake, on_key
from safear.problem.condition import (
    Condition,
    condition_features,
)
from safear.problem.condition_checks import check_condition
from safear.problem.feature_checks import check_features
from safear.problem.labelling import check_glossary
from safear.problem.model import (
    MAX_ACTIONS,
    MAX_OUTCOMES,
    PROBLEM,
    Action,
    Change,
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
from safear.problem.quantity import Amount
from safear.problem.quantity_checks import check_amount, check_quantity, check_sum, find_combinations
from safear.problem.vector import holds, order_side_effects
from safear.problem.wrong_names import unknown_feature, unknown_level

_ABOUT_LEVELS = {
    "unknown_level",
    "not_a_number",
    "missing_level",
    "too_far",
}  # mistakes that unclear levels bring about


def require_problem(problem: object) -> None:
    """Refuse what is no problem at all: a file's name, say."""
    PROBLEM.require(problem)


def check_problem(problem: Problem) -> list[Mistake]:
    """Every mistake in a problem. It is looked for once: a problem never changes."""
    require_problem(problem)
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
    yield check_glossary(problem)
    readable = replace(problem, constraints=tuple(sound))
    for name, person in problem.people.items():
        yield [item.inside("people", name) for item in person_mistakes(readable, person)]


def _check_head(problem: Problem) -> Iterator[Mistake]:
    if not 1 <= problem.horizon <= 1000:
        cause = f"{problem.horizon} is not between 1 and 1000"
        yield mistake(("horizon",), cause, code="out_of_range", value=problem.horizon)
    yield from check_amount(Amount.exactly(problem.goal.failure_cost), ("goal", "failure_cost"), is_chance=False)
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
    found += check_quantity(problem, action.cost, action.outcomes[0].change, (*path, "cost"))
    for number, outcome in enumerate(action.outcomes):
        found += _check_outcome(problem, outcome, (*path, "outcomes", number))
    if found:
        return found  # what follows needs words that are understood
    return [*_check_aim(problem, action, path), *check_sum(problem, action, path)]


def _check_outcome(problem: Problem, outcome: Outcome, path: Path) -> Iterator[Mistake]:
    yield from _check_change(problem, outcome.change, (*path, "change"))
    if outcome.cost is not None:
        yield from check_quantity(problem, outcome.cost, outcome.change, (*path, "cost"))
    if outcome.chance is not None:
        yield from check_quantity(problem, outcome.chance, outcome.change, (*path, "chance"))


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
    codes = find_combinations(problem, set(condition_features(rule)))
    if codes is not None and not holds(rule, codes, problem.feature_by_name).any():
        cause, remedy = "no state is favourable: nobody can reach the goal", "check the rule for a contradiction"
        yield mistake(path, cause, remedy, code="no_goal")


def unused_features(problem: Problem) -> list[str]:
    """Features that look forgotten: mutable, though no action changes them."""
    unchanged = [item for item in problem.features if item.name not in problem.changed_features]
    return [item.name for item in unchanged if item.mutable and not item.is_derived]
