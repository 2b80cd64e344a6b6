"""From the document as written to a `Problem`: short forms spelled out, conditions parsed, moves told from levels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from safear.errors import Mistake, Path, Place, mistake, on_key
from safear.problem.condition import ALWAYS, Condition, ConditionSyntaxError, parse_condition
from safear.problem.durations import Duration
from safear.problem.labelling import read_glossary, read_main, read_provider
from safear.problem.model import (
    Action,
    Change,
    Effect,
    Feature,
    Follow,
    Goal,
    Move,
    Outcome,
    Problem,
    SetTo,
    Shift,
    SideEffect,
    name_features,
)
from safear.problem.person import read_texts_of
from safear.problem.quantity import Amount, ByCase, ByLevel, Quantity, with_source
from safear.problem.ranking import make_ranking
from safear.problem.scales import IN_UNIT, spread_range
from safear.problem.terms import ActionTerms, Terms
from safear.problem.tries import Counts
from safear.problem.wrong_names import unknown_action

if TYPE_CHECKING:
    from safear.problem.document import (
        Document,
        TermsDocument,
        WrittenAction,
        WrittenActionTerms,
        WrittenEffect,
        WrittenFeature,
        WrittenGoal,
        WrittenOutcome,
    )
    from safear.problem.written import Case, WrittenCounts

_MOVE = re.compile(r"[+-]\d+")
_IMPLIED_FAILURE = Outcome()


def build_problem(document: Document) -> tuple[Problem, list[Mistake]]:
    """The problem, and what could not be understood on the way (its parts are left out of the problem)."""
    features = {name: _build_feature(name, written) for name, written in document.features.items()}
    builder = _Builder(features, document.confidence)
    rule = None
    glossary, ambiguous = read_glossary(document)
    if document.classifier is not None:
        rule = builder.condition(document.classifier.rule, ("classifier", "rule"))
    problem = Problem(
        title=read_main(document.title),
        description=read_main(document.description),
        horizon=document.horizon,
        cost_unit=read_main(document.cost.unit),
        cost_resolution=document.cost.resolution,
        confidence=document.confidence,
        features=tuple(features.values()),
        goal=_build_goal(document.goal),
        given=tuple(document.given),
        rule=rule,
        actions=tuple(builder.action(name, written, ("actions", name)) for name, written in document.actions.items()),
        side_effects=tuple(
            SideEffect(
                cause=written.cause,
                change=builder.change(written.change, ("side_effects", number, "change")),
                direction=written.direction,
                when=builder.condition(written.when, ("side_effects", number, "when")),
            )
            for number, written in enumerate(document.side_effects)
        ),
        constraints=tuple(
            builder.condition(text, ("constraints", number)) for number, text in enumerate(document.constraints)
        ),
        people={name: read_texts_of(person, features) for name, person in document.people.items()},
        glossary=glossary,
        provider=read_provider(document),
    )
    return problem, [*ambiguous, *builder.mistakes]


def build_terms(document: TermsDocument, problem: Problem) -> tuple[Terms, list[Mistake]]:
    """Personal terms for a problem, and what could not be understood on the way."""
    builder = _Builder(problem.feature_by_name, problem.confidence)
    actions: dict[str, ActionTerms] = {}
    for name, written in document.actions.items():
        path: Path = ("actions", name)
        action = problem.action_by_name.get(name)
        if action is None:
            builder.mistakes.append(unknown_action(on_key(path), name, problem))
        else:
            actions[name] = builder.action_terms(action, written, path)
    return Terms(actions, tuple(document.forbid), make_ranking(document.rank)), builder.mistakes


def default_levels(edges: Iterable[Decimal], closed: str) -> tuple[str, ...]:
    """Names for the intervals between edges: `<20`, `20-25`, `>=25`."""
    texts = [f"{edge.normalize():f}" if abs(edge.adjusted()) <= 300 else str(edge) for edge in edges]
    low, high = ("<", ">=") if closed == "left" else ("<=", ">")
    inner = [f"{a}-{b}" for a, b in pairwise(texts)]
    return (f"{low}{texts[0]}", *inner, f"{high}{texts[-1]}") if texts else ()


def _build_goal(written: WrittenGoal) -> Goal:
    fields = {name: value for name, value in written if name not in {"label", "decision"}}
    return Goal(**fields | {"agree": 1.0 if written.agree == "all" else written.agree})


def _build_feature(name: str, written: WrittenFeature) -> Feature:
    kind = written.kind or "numeric"
    if written.range is not None:
        first, last = written.range
        scale = spread_range(first, last, written.step, closed=written.closed)
    else:
        edges = tuple(written.edges or ())
        named = default_levels(edges, written.closed) if kind == "numeric" else ()
        scale = {
            "levels": named if written.levels is None else tuple(written.levels),
            "values": tuple(written.values or ()),
            "edges": edges,
            "closed": written.closed,
            "step": written.step,
            "least": written.min,
            "most": written.max,
        }
    return Feature(
        name=name,
        kind=kind,
        mutable=written.mutable,
        actionable=written.actionable and written.mutable,
        seen_by_classifier=written.seen_by_classifier and not written.hidden,
        hidden=written.hidden,
        at_most=None if written.at_most is None else _move(written.at_most),
        unit=read_main(written.unit),
        missing=written.missing or "",
        **scale,
    )


class _Builder:
    """Builds the parts of a problem and collects what it does not understand."""

    def __init__(self, features: Mapping[str, Feature], confidence: float) -> None:
        self.features = features
        self.confidence = confidence
        self.mistakes: list[Mistake] = []

    def condition(self, text: str | None, path: Path) -> Condition:
        if text is None:
            return ALWAYS
        try:
            return name_features(parse_condition(text), self.features)
        except ConditionSyntaxError as error:
            place = Place(path, offset=error.column)
            self.mistakes.append(mistake(place, error.cause, error.remedy, code="syntax"))
            return ALWAYS

    def action(self, name: str, written: WrittenAction, path: Path) -> Action:
        if written.outcomes is not None:
            for field in ("chance", "change"):
                if getattr(written, field) is not None:
                    self.complain_of_both((*path, field))
            outcomes = tuple(
                self.outcome(outcome, (*path, "outcomes", number)) for number, outcome in enumerate(written.outcomes)
            )
        else:
            change = self.change(written.change or {}, (*path, "change"))
            chance = self.chance(written.chance, change, (*path, "chance"))
            outcomes = short_form(chance or Amount.exactly(1), change)
        target = outcomes[0].change if outcomes else {}
        cost = self.cost(written.cost, target, (*path, "cost"))
        if written.once and written.at_most is not None:
            self.complain((*path, "once"), "'once' and 'at_most' are both given", "drop one of them", code="both")
        most = 1 if written.once else written.at_most
        when, duration = self.condition(written.when, (*path, "when")), self.duration(written.duration, path)
        return Action(name, cost, outcomes, when, most, duration=duration)

    def duration(self, written: str | None, path: Path) -> Duration | None:
        found = None if written is None else Duration.read(written)
        if written is not None and found is None:
            remedy = "write a number of days, weeks, months or years, such as '3 months'"
            self.complain((*path, "duration"), f"'{written}' is no duration", remedy, code="duration")
        return found

    def complain(self, path: Path, cause: str, remedy: str | None = None, *, code: str) -> None:
        self.mistakes.append(mistake(path, cause, remedy, code=code))

    def complain_of_both(self, path: Path) -> None:
        cause, remedy = f"'{path[-1]}' and 'outcomes' are both given", f"put the {path[-1]} into the first outcome"
        self.complain(path, cause, remedy, code="both")

    def outcome(self, written: WrittenOutcome, path: Path) -> Outcome:
        change = self.change(written.change, (*path, "change"))
        return Outcome(
            chance=self.chance(written.chance, change, (*path, "chance")),
            change=change,
            cost=None if written.cost is None else self.cost(written.cost, change, (*path, "cost")),
            label=read_main(written.label) or None,
            works=written.works,
        )

    def action_terms(self, action: Action, written: WrittenActionTerms, path: Path) -> ActionTerms:
        outcomes = None
        if written.outcomes is not None:
            outcomes = tuple(
                self.outcome(outcome, (*path, "outcomes", number)) for number, outcome in enumerate(written.outcomes)
            )
            if written.chance is not None:
                self.complain_of_both((*path, "chance"))
        target = (outcomes or action.outcomes)[0].change if outcomes != () else {}
        cost = None if written.cost is None else self.cost(written.cost, target, (*path, "cost"))
        return ActionTerms(cost, self.chance(written.chance, target, (*path, "chance")), outcomes)

    def change(self, written: Mapping[str, str | WrittenEffect], path: Path) -> Change:
        return {name: self.effect(name, effect, (*path, name)) for name, effect in written.items()}

    def effect(self, name: str, written: str | WrittenEffect, path: Path) -> Effect:
        if not isinstance(written, str):
            if (written.to is None) == (written.by is None):
                self.complain(path, "give either 'to' or 'by'", code="both")
            if written.to is not None:
                return SetTo(written.to)
            by = _move(1 if written.by is None else written.by)
            if written.per is not None and path[0] != "side_effects":
                cause, remedy = "'per' has a meaning in side effects only", "write a side effect with the cause"
                self.complain((*path, "per"), cause, remedy, code="misplaced")
            return by if written.per is None else Follow(by, _move(written.per))
        feature = self.features.get(name)
        is_level = feature is not None and written in feature.levels
        if written[:1] in {"+", "-"} and IN_UNIT.fullmatch(written) and not is_level:
            return _move(written)
        if not _MOVE.fullmatch(written) or (is_level and feature is not None and not feature.is_ordered):
            return SetTo(written)
        if is_level:
            cause = f"'{written}' is both a move and a level of '{name}'"
            remedy = f'write {{by: {int(written)}}} for the move or {{to: "{written}"}} for the level'
            self.complain(path, cause, remedy, code="ambiguous")
        return _move(written)

    def chance(self, written: object, change: Change, path: Path) -> Quantity | None:
        return None if written is None else self.quantity(written, change, path, word="chance")

    def cost(self, written: object, change: Change, path: Path) -> Quantity:
        return self.quantity(written, change, path, word="cost")

    def quantity(self, written: object, change: Change, path: Path, *, word: str) -> Quantity:
        if not isinstance(written, Decimal | dict | list):
            return self.long_form(written, change, path, word=word)
        if isinstance(written, dict):
            return self.by_level(written, change, path)
        if isinstance(written, list) and not all(isinstance(item, Decimal) for item in written):
            return self.by_case(written, path, word)
        if isinstance(written, list) and word == "cost":
            self.complain(path, "a cost cannot be an interval", code="cost_interval")
            return Amount.exactly(1)
        return self.amount(written, path)

    def long_form(self, written: object, change: Change, path: Path, *, word: str) -> Quantity:
        """A quantity with its source, or by counts."""
        from safear.problem.written import SourcedChance, SourcedCost  # noqa: PLC0415  # pydantic has made it

        if isinstance(written, SourcedChance | SourcedCost):
            self.check_words(("value", "source"), change, path)
            return with_source(self.quantity(written.value, change, (*path, "value"), word=word), written.source)
        self.check_words(("worked", "tried"), change, path)
        return self.amount(written, path)

    def check_words(self, words: tuple[str, str], change: Change, path: Path) -> None:
        """Levels that have the names of fields cannot stand in a table."""
        for name in change:
            feature = self.features.get(name)
            if feature is not None and set(words) <= set(feature.levels):
                first, second = (f"'{word}'" for word in words)
                cause = f"{first} and {second} are fields here and levels of '{name}'"
                self.complain(path, cause, "rename one of the levels", code="ambiguous")

    def amount(self, written: object, path: Path) -> Amount:
        match written:
            case Decimal():
                return Amount.exactly(written)
            case [Decimal() as low, Decimal() as high]:
                return Amount.between(low, high)
            case [Decimal() as low, Decimal() as nominal, Decimal() as high]:
                return Amount.between(low, high, nominal)
            case _:
                return self.long_amount(written, path)

    def long_amount(self, written: object, path: Path) -> Amount:
        """An amount with its source, or by counts."""
        from safear.problem.written import SourcedChanceAmount, SourcedCostAmount, WrittenCounts  # noqa: PLC0415

        match written:
            case SourcedChanceAmount() | SourcedCostAmount():
                return replace(self.amount(written.value, (*path, "value")), source=written.source)
            case WrittenCounts():
                return self.counted(written, path)
            case _:  # pydantic lets nothing else through
                raise TypeError(written)

    def counted(self, written: WrittenCounts, path: Path) -> Amount:
        if written.worked > written.tried:
            cause = f"{written.worked} of {written.tried} cannot have worked"
            remedy = "'tried' counts all tries, those that worked among them"
            self.complain((*path, "worked"), cause, remedy, code="more_than_tried")
            return Amount.exactly(1)
        counts = Counts(written.worked, written.tried)
        return Amount.counted(counts, confidence=self.confidence, source=written.source or "")

    def by_level(self, written: dict[str, object], change: Change, path: Path) -> Quantity:
        tables = {name: table for name, table in written.items() if isinstance(table, dict)}
        if tables:
            name, table = next(iter(tables.items()))
            if len(written) > 1:
                self.complain(path, "only one feature can be named here", code="too_many")
            return ByLevel(name, {level: self.amount(amount, (*path, name, level)) for level, amount in table.items()})
        amounts = {level: self.amount(amount, (*path, level)) for level, amount in written.items()}
        candidates = [name for name in change if name in self.features]
        # The feature is the one whose levels fit best; a wrong level among right ones is reported by the checks.
        fits = {name: len(amounts.keys() & set(self.features[name].levels)) for name in candidates}
        best = [name for name, fit in fits.items() if fit == max(fits.values())]
        if not change.keys() <= self.features.keys() and not any(fits.values()):
            return Amount.exactly(1)  # the unknown feature is reported by the checks
        if not candidates:
            cause, remedy = "depends on a level, but this outcome changes nothing", "leave it out: it is the rest"
            self.complain(path, cause, remedy, code="no_change")
            return Amount.exactly(1)
        if len(best) > 1:
            names = " and ".join(f"'{name}'" for name in best)
            remedy = f"name the feature: {{{best[0]}: {{...}}}}"
            self.complain(path, f"these could be levels of {names}", remedy, code="ambiguous")
        return ByLevel(best[0], amounts)

    def by_case(self, written: list[object], path: Path, word: str) -> Quantity:
        from safear.problem.written import Case  # noqa: PLC0415

        *cases, last = written
        conditions: list[tuple[Condition, Amount]] = []
        for number, case in enumerate(cases):
            if not isinstance(case, Case):
                self.complain((*path, number), "only the last case can do without 'when'", code="case_order")
                continue
            conditions.append((self.condition(case.when, (*path, number, "when")), self.case(case, (*path, number))))
        if isinstance(last, Case):
            cause, remedy = (
                "the last case has a condition",
                f"end the list with the {word} for all other cases, without 'when'",
            )
            self.complain((*path, len(cases)), cause, remedy, code="case_order")
            return Amount.exactly(1)
        return ByCase(tuple(conditions), self.amount(last, (*path, len(cases))))

    def case(self, written: Case, path: Path) -> Amount:
        from safear.problem.written import CostCase, CountedCase  # noqa: PLC0415

        if isinstance(written, CountedCase):
            return self.counted(written, path)
        amount = self.amount(written.cost if isinstance(written, CostCase) else written.chance, path)
        return replace(amount, source=amount.source or written.source or "")


def _move(written: int | str) -> Move | Shift:
    """By so many levels, or by so much with its unit."""
    found = IN_UNIT.fullmatch(written) if isinstance(written, str) else None
    return Shift(Decimal(found["number"]), found["unit"]) if found else Move(int(Decimal(written)))


def short_form(chance: Quantity, change: Change) -> tuple[Outcome, ...]:
    """The outcomes of `{chance: ..., change: ...}`: it happens, or nothing does."""
    success = Outcome(chance, change)
    certain = isinstance(chance, Amount) and chance.is_certain
    return (success,) if certain else (success, _IMPLIED_FAILURE)
