"""The problem as a page that can be read: features, actions and what they do, what the check says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from safear.classifier.filed import Sight
from safear.problem.condition import ALWAYS, Within
from safear.problem.model import Action, Change, Effect, Feature, Follow, Move, Outcome, Problem, Shift
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity
from safear.recourse.check_teller import CheckTeller
from safear.recourse.diagnose import diagnose_people, find_hints
from safear.recourse.teller import Teller
from safear.texts.mistakes import tell_mistake
from safear.texts.names import show_name
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


def view_problem(service: Service, tell: Teller) -> ProblemView:
    """The problem that is served, in a language."""
    problem, told = service.problem, _ProblemTeller(service.problem, service.desk.sight, tell)
    return ProblemView(
        tuple(told.facts(service.share_accepted())),
        tuple(told.feature(feature) for feature in problem.shown_features),
        tuple(told.action(action) for action in problem.actions),
        tuple(told.rules()),
        tuple(_list_checks(service, CheckTeller(tell))),
    )


def _list_checks(service: Service, tell: CheckTeller) -> Iterator[str]:
    people, mistakes = diagnose_people(service.problem, service.classifier)
    say, texts = tell.teller.texts.part("check"), tell.teller.texts
    yield from (tell.person(person) for person in people)
    yield from (tell_mistake(item, texts) for item in mistakes)
    for person in people:
        if person.giving_up is not None:
            yield say("warning", person=person.name, warning=tell.giving_up(person.giving_up))
    yield from (say("hint", hint=tell.hint(hint)) for hint in find_hints(service.problem))


@dataclass(frozen=True, slots=True)
class _ProblemTeller:
    """Tells a problem as it is written, with its labels."""

    problem: Problem
    sight: Sight
    tell: Teller

    def say(self, key: str, **values: str) -> str:
        return self.tell(f"analyst.problem.{key}", **values)

    def facts(self, accepted: float | None) -> Iterator[tuple[str, str]]:
        problem, tell = self.problem, self.tell
        values = (
            tell.goal(problem.goal.favourable),
            tell.steps(problem.horizon),
            tell.text(problem.cost_unit),
            tell.cost(float(problem.goal.failure_cost), problem.cost_unit),
            CheckTeller(tell).space(problem),
        )
        yield from zip(self.say("facts").split("|"), values, strict=True)
        if accepted is not None:
            yield self.say("accepted"), self.say("accepted_share", share=tell.percent(accepted))
        if self.sight.given:
            yield self.say("given"), ", ".join(map(self.tell.feature, self.sight.given))

    def _tell_seen(self, feature: Feature) -> str:
        if feature.name in self.sight.numbers:
            return self.say("as_filed")
        return self.tell(f"format.{'yes' if feature.seen_by_classifier else 'no'}")

    def feature(self, feature: Feature) -> FeatureRow:
        if not feature.mutable:
            changes = "never"
        elif feature.name not in self.problem.changed_features:
            changes = "by_nothing"
        else:
            changes = "by_action" if feature.actionable else "side_effect"
        return FeatureRow(
            self.tell.feature(feature.name),
            self.say(f"kind.{feature.kind}"),
            (" < " if feature.is_ordered else ", ").join(self.tell.level(feature.name, one) for one in feature.levels),
            self.say(f"changes.{changes}"),
            self._tell_seen(feature),
        )

    def action(self, action: Action) -> ActionRow:
        outcomes = (
            OutcomeRow(
                action.works(number),
                self.say("rest") if outcome.chance is None else self._quantity(outcome.chance),
                self._outcome(outcome),
                "" if outcome.cost is None else self.say("costs", cost=self._cost(outcome.cost)),
            )
            for number, outcome in enumerate(action.outcomes)
        )
        when = self.say("always") if action.when == ALWAYS else self.tell.condition(action.when)
        if action.at_most is not None:
            when = f"{when}; {self.tell('analyst.problem.tries', count=action.at_most)}"
        return ActionRow(self.tell.action(action.name), self._cost(action.cost), when, tuple(outcomes))

    def _outcome(self, outcome: Outcome) -> str:
        change = self._change(outcome.change) or self.tell("step.nothing_changes")
        return f"{self.tell.text(outcome.label)}: {change}" if outcome.label else change

    def _change(self, change: Change) -> str:
        return ", ".join(self._effect(name, effect) for name, effect in change.items())

    def _effect(self, feature: str, effect: Effect) -> str:
        name = self.tell.feature(feature)
        match effect:
            case Move(by):
                return f"{name} {by:+d}"
            case Shift(by, unit):
                return f"{name} {by:+f} {unit}"
            case Follow():
                return f"{name} {effect}"
        return self.tell("step.becomes", feature=name, level=self.tell.level(feature, effect.level))

    def _cost(self, quantity: Quantity) -> str:
        if isinstance(quantity, Amount) and not quantity.is_interval:
            return self.tell.cost(float(quantity.nominal), self.problem.cost_unit) + _tell_source(quantity)
        return f"{self._quantity(quantity)} {self.tell.text(self.problem.cost_unit)}"

    def _quantity(self, quantity: Quantity) -> str:
        match quantity:
            case Amount():
                return self._amount(quantity)
            case ByLevel(feature, table):
                named = {level: self.tell.level(feature, level) for level in table}
                parts = [self.say("to_level", amount=self._amount(table[one]), level=named[one]) for one in table]
                return ", ".join(parts)
            case ByCase(cases, otherwise):
                told = [
                    self.say("in_case", amount=self._amount(one), condition=self.tell.condition(when))
                    for when, one in cases
                ]
                return "; ".join([*told, self.say("otherwise", amount=self._amount(otherwise))])

    def _amount(self, amount: Amount) -> str:
        ends = (amount.low, amount.high) if amount.is_interval else (amount.nominal,)
        return "–".join(self.tell.number(float(end)) for end in ends) + _tell_source(amount)

    def _limit(self, limit: Within) -> str:
        if isinstance(limit.most, Move):
            return self.tell(
                "analyst.problem.limit_levels", feature=self.tell.feature(limit.feature), count=limit.most.by
            )
        return self.say("limit_amount", feature=self.tell.feature(limit.feature), most=str(limit.most))

    def rules(self) -> Iterator[str]:
        for condition in self.problem.constraints:
            if isinstance(condition, Within):
                yield self._limit(condition)
            else:
                yield self.say("constraint", condition=self.tell.condition(condition))
        for effect in self.problem.side_effects:
            rule = self.say(effect.direction, cause=self.tell.feature(effect.cause), change=self._change(effect.change))
            always = effect.when == ALWAYS
            yield rule if always else self.say("only_if", rule=rule, condition=self.tell.condition(effect.when))


def _tell_source(amount: Amount) -> str:
    """Where a number comes from, as the file says it."""
    return f" ({show_name(amount.source)})" if amount.source else ""
