"""The problem as a page that can be read: features, actions and what they do, what the check says."""

from __future__ import annotations

import math
from dataclasses import dataclass

from safear.errors import format_path
from safear.mdp.space import StateSpace
from safear.problem.condition import ALWAYS
from safear.problem.model import Action, Change, Feature, Move, Outcome, Problem
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity
from safear.recourse.diagnose import PersonDiagnosis, diagnose_people, find_hints
from safear.recourse.teller import Teller
from safear.texts.numbers import count_of
from safear.web.service import Service


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """A feature in words."""

    name: str
    kind: str
    levels: str
    changes: str
    seen: str


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """An outcome in words."""

    works: bool
    chance: str
    change: str
    cost: str


@dataclass(frozen=True, slots=True)
class ActionRow:
    """An action in words."""

    name: str
    cost: str
    when: str
    outcomes: tuple[OutcomeRow, ...]


@dataclass(frozen=True, slots=True)
class ProblemView:
    """What the analyst reads of the problem."""

    facts: tuple[tuple[str, str], ...]
    features: tuple[FeatureRow, ...]
    actions: tuple[ActionRow, ...]
    rules: tuple[str, ...]
    checks: tuple[str, ...]


def view_problem(service: Service) -> ProblemView:
    """The problem that is served."""
    problem = service.problem
    return ProblemView(
        tuple(_list_facts(service)),
        tuple(_show_feature(problem, feature) for feature in problem.features),
        tuple(_show_action(action, problem) for action in problem.actions),
        tuple(_list_rules(problem)),
        tuple(_list_checks(service)),
    )


def _list_facts(service: Service) -> list[tuple[str, str]]:
    problem = service.problem
    sizes = StateSpace(problem.features, {}).size
    blocks = math.prod(len(feature.levels) for feature in problem.features if not feature.mutable)
    facts = [
        ("goal", Teller.of().goal(problem.goal.favourable)),
        ("horizon", Teller.of().steps(problem.horizon)),
        ("costs in", problem.cost_unit),
        ("a failure costs", Teller.of().cost(float(problem.goal.failure_cost), problem.cost_unit)),
        ("states", f"{sizes:,} in {count_of(blocks, 'block')}"),
    ]
    accepted = service.share_accepted()
    if accepted is not None:
        facts.append(("accepted by the model", f"{Teller.of().percent(accepted)} of all possible inputs"))
    return facts


def _show_feature(problem: Problem, feature: Feature) -> FeatureRow:
    levels = " < ".join(feature.levels) if feature.is_ordered else ", ".join(feature.levels)
    if not feature.mutable:
        changes = "never"
    elif feature.name not in problem.changed_features:
        changes = "by no action"
    else:
        changes = "yes" if feature.actionable else "as a side effect"
    return FeatureRow(feature.name, feature.kind, levels, changes, "yes" if feature.seen_by_classifier else "no")


def _show_action(action: Action, problem: Problem) -> ActionRow:
    return ActionRow(
        action.name,
        _tell_cost(action.cost, problem.cost_unit),
        "" if action.when == ALWAYS else str(action.when),
        tuple(
            OutcomeRow(
                action.works(number),
                "the rest" if outcome.chance is None else _tell_quantity(outcome.chance),
                _tell_outcome(outcome),
                "" if outcome.cost is None else _tell_cost(outcome.cost, problem.cost_unit),
            )
            for number, outcome in enumerate(action.outcomes)
        ),
    )


def _tell_outcome(outcome: Outcome) -> str:
    change = _tell_change(outcome.change) or "nothing changes"
    return f"{outcome.label}: {change}" if outcome.label else change


def _tell_change(change: Change) -> str:
    return ", ".join(
        f"{name} {effect.by:+d}" if isinstance(effect, Move) else f"{name} becomes {effect.level}"
        for name, effect in change.items()
    )


def _tell_cost(quantity: Quantity, unit: str) -> str:
    if isinstance(quantity, Amount) and not quantity.is_interval:
        return Teller.of().cost(float(quantity.nominal), unit)
    return f"{_tell_quantity(quantity)} {unit}"


def _tell_quantity(quantity: Quantity) -> str:
    match quantity:
        case Amount():
            return _tell_amount(quantity)
        case ByLevel(_, table):
            return ", ".join(f"{_tell_amount(amount)} to {level}" for level, amount in table.items())
        case ByCase(cases, otherwise):
            parts = [f"{_tell_amount(amount)} if {condition}" for condition, amount in cases]
            return "; ".join([*parts, f"else {_tell_amount(otherwise)}"])


def _tell_amount(amount: Amount) -> str:
    if amount.is_interval:
        return f"{Teller.of().number(float(amount.low))}–{Teller.of().number(float(amount.high))}"
    return Teller.of().number(float(amount.nominal))


def _list_rules(problem: Problem) -> list[str]:
    rules = [f"always: {condition}" for condition in problem.constraints]
    for effect in problem.side_effects:
        when = "" if effect.when == ALWAYS else f", if {effect.when}"
        direction = {"up": "goes up", "down": "goes down", "any": "changes"}[effect.direction]
        rules.append(f"whenever {effect.cause} {direction}: {_tell_change(effect.change)}{when}")
    return rules


def _list_checks(service: Service) -> list[str]:
    people, mistakes = diagnose_people(service.problem, service.classifier)
    found = [_tell_person(person) for person in people]
    found += [f"{format_path(item.place.path)}: {item.cause}" for item in mistakes]
    found += [f"{person.name}: {person.giving_up}" for person in people if person.giving_up is not None]
    return [*found, *(f"hint: {hint}" for hint in find_hints(service.problem))]


def _tell_person(person: PersonDiagnosis) -> str:
    if person.favourable:
        return f"{person.name}: already favourable"
    if not person.goals:
        return f"{person.name}: rejected, with no way to the goal"
    return f"{person.name}: rejected; {person.goals:,} goals among the {person.states:,} states within reach"
