"""From a `Problem` back to the document that says it: `parse_problem(dump_problem(problem)) == problem`."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import yaml

from safear.arguments import takes
from safear.problem.build import default_levels
from safear.problem.condition import ALWAYS, Within
from safear.problem.glossary import Glossary
from safear.problem.labelling import dump_given, dump_label, dump_text, labels_of
from safear.problem.model import (
    PROBLEM,
    Action,
    Change,
    Effect,
    Feature,
    Follow,
    Move,
    Outcome,
    Problem,
    Shift,
    SideEffect,
)
from safear.problem.quantity import CONFIDENCE, Amount, ByCase, ByLevel, Quantity, amounts
from safear.problem.scales import is_range


@takes(problem=PROBLEM)
def dump_problem(problem: Problem) -> dict[str, Any]:
    """The problem as a dictionary in the vocabulary of the problem file, defaults left out."""
    glossary = problem.glossary
    cost: dict[str, Any] = {"unit": dump_text(problem.cost_unit, glossary)}
    if problem.cost_resolution is not None:
        cost["resolution"] = _number(problem.cost_resolution)
    goal = {
        "favourable": problem.goal.favourable,
        "threshold": problem.goal.threshold,
        "aim": problem.goal.aim,
        "agree": None if problem.goal.agree == 1 else problem.goal.agree,
        "failure_cost": _number(problem.goal.failure_cost),
        "promise": None if problem.goal.promise == "narrow" else problem.goal.promise,
        "stop": None if problem.goal.stop else False,
        "label": dump_label(glossary.goal),
        "decision": _decision(glossary),
    }
    document: dict[str, Any] = {
        "safear": 1,
        "title": dump_text(problem.title, glossary),
        "description": dump_text(problem.description, glossary),
        "horizon": problem.horizon,
        "cost": cost,
        "confidence": None if problem.confidence == CONFIDENCE else problem.confidence,
        "features": {
            feature.name: _feature(feature, glossary) for feature in problem.features if not feature.is_derived
        },
        "given": dump_given(problem),
        "goal": {name: value for name, value in goal.items() if value is not None},
        "classifier": None if problem.rule is None else {"rule": str(problem.rule)},
        "actions": {action.name: _action(action, glossary) for action in problem.actions},
        "side_effects": [_side_effect(effect) for effect in problem.side_effects] or None,
        "constraints": [str(condition) for condition in problem.constraints if not isinstance(condition, Within)]
        or None,
        "people": {name: dict(person) for name, person in problem.people.items()} or None,
        "provider": _provider(problem),
    }
    return {name: value for name, value in document.items() if value is not None}


def dump_problem_text(problem: Problem, form: str = "yaml") -> str:
    """The problem as the text of a YAML or JSON file."""
    document = dump_problem(problem)
    if form == "json":
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return text


def _decision(glossary: Glossary) -> dict[str, Any] | None:
    told = {"accepted": dump_label(glossary.accepted), "rejected": dump_label(glossary.rejected)}
    return {name: text for name, text in told.items() if text is not None} or None


def _provider(problem: Problem) -> dict[str, Any] | None:
    told = {name: dump_text(text, problem.glossary) for name, text in asdict(problem.provider).items()}
    return {name: text for name, text in told.items() if text is not None} or None


def _feature(feature: Feature, glossary: Glossary) -> dict[str, Any]:
    result = _range(feature) if is_range(feature) else _scale(feature)
    if feature.unit:
        result["unit"] = dump_text(feature.unit, glossary)
    if feature.missing:
        result["missing"] = feature.missing
    if not feature.mutable:
        result["mutable"] = False
    elif not feature.actionable:
        result["actionable"] = False
    if feature.at_most is not None:
        result["at_most"] = feature.at_most.by if isinstance(feature.at_most, Move) else str(feature.at_most)
    if feature.hidden:
        result["hidden"] = True
    elif not feature.seen_by_classifier:
        result["seen_by_classifier"] = False
    return result | labels_of(glossary, feature.name)


def _range(feature: Feature) -> dict[str, Any]:
    limits = {"least": feature.least, "most": feature.most, "step": feature.step}
    first, last, step = (_number(limit) for limit in limits.values() if limit is not None)
    result: dict[str, Any] = {"range": [first, last]}
    if step != 1:
        result["step"] = step
    return result if feature.closed == "left" else result | {"closed": feature.closed}


def _scale(feature: Feature) -> dict[str, Any]:
    result: dict[str, Any] = {"kind": feature.kind}
    if feature.kind != "numeric" or feature.levels != default_levels(feature.edges, feature.closed):
        result["levels"] = list(feature.levels)
    if feature.edges:
        result |= {"edges": [_number(edge) for edge in feature.edges], "closed": feature.closed}
    if feature.values:
        result["values"] = list(feature.values)
    limits = {"step": feature.step, "min": feature.least, "max": feature.most}
    return result | {name: _number(limit) for name, limit in limits.items() if limit is not None}


def _action(action: Action, glossary: Glossary) -> dict[str, Any]:
    result: dict[str, Any] = {"cost": _quantity(action.cost, "cost")}
    if action.when != ALWAYS:
        result["when"] = str(action.when)
    if action.at_most is not None:
        result["at_most"] = action.at_most
    if action.duration is not None:
        result["duration"] = str(action.duration)
    words = {"label": glossary.actions.get(action.name), "help": glossary.action_help.get(action.name)}
    result |= {name: dump_label(label) for name, label in words.items() if label}
    return result | {"outcomes": [_outcome(outcome, glossary) for outcome in action.outcomes]}


def _outcome(outcome: Outcome, glossary: Glossary) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if outcome.chance is not None:
        result["chance"] = _quantity(outcome.chance, "chance")
    if outcome.change:
        result["change"] = _change(outcome.change)
    if outcome.cost is not None:
        result["cost"] = _quantity(outcome.cost, "cost")
    if outcome.label is not None:
        result["label"] = dump_text(outcome.label, glossary)
    if outcome.works is not None:
        result["works"] = outcome.works
    return result


def _side_effect(effect: SideEffect) -> dict[str, Any]:
    result: dict[str, Any] = {"cause": effect.cause, "direction": effect.direction, "change": _change(effect.change)}
    return result if effect.when == ALWAYS else result | {"when": str(effect.when)}


def _change(change: Change) -> dict[str, Any]:
    return {name: _effect(effect) for name, effect in change.items()}


def _effect(effect: Effect) -> Any:
    if isinstance(effect, Move):
        return {"by": effect.by}
    if isinstance(effect, Shift):
        return {"by": str(effect)}
    if isinstance(effect, Follow):
        return {"by": _effect(effect.by)["by"], "per": _effect(effect.per)["by"]}
    return {"to": effect.level} if effect.level[:1] in "+-" else effect.level


def _quantity(quantity: Quantity, word: str) -> Any:
    if isinstance(quantity, Amount):
        return dump_amount(quantity)
    common = {amount.source for amount in amounts(quantity)}
    source = common.pop() if len(common) == 1 and not any(amount.counts for amount in amounts(quantity)) else ""
    match quantity:
        case ByLevel(feature, table):
            value: Any = {feature: {level: dump_amount(amount, source) for level, amount in table.items()}}
        case ByCase(cases, otherwise):
            value = [
                *(_case(str(when), word, amount, source) for when, amount in cases),
                dump_amount(otherwise, source),
            ]
    return {"value": value, "source": source} if source else value


def _case(when: str, word: str, amount: Amount, common_source: str) -> dict[str, Any]:
    written = dump_amount(amount, common_source)
    if not isinstance(written, dict):
        return {"when": when, word: written}
    return {"when": when} | {word if name == "value" else name: part for name, part in written.items()}


def dump_amount(amount: Amount, common_source: str = "") -> Any:
    """An amount with its source, unless that is said for all amounts together."""
    if amount.counts is not None:
        counts = {"worked": amount.counts.worked, "tried": amount.counts.tried}
        return counts if amount.source == f"data {amount.counts}" else counts | {"source": amount.source}
    number = _plain_amount(amount)
    return number if amount.source == common_source else {"value": number, "source": amount.source}


def _plain_amount(amount: Amount) -> Any:
    if not amount.is_interval:
        return _number(amount.nominal)
    middle = (amount.low + amount.high) / 2
    inner = [] if amount.nominal == middle else [_number(amount.nominal)]
    return [_number(amount.low), *inner, _number(amount.high)]


def _number(value: Decimal) -> int | float | str:
    """A number that reads back as the same decimal; a text where a float would not."""
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
