"""The OpenAPI document for the problem that is served: features, levels and actions by name, not just `string`."""

from __future__ import annotations

from typing import Any

from safear.problem.model import Feature
from safear.recourse.case import Desk
from safear.recourse.records import as_scalars

_SHARE = r"(0|0\.\d{1,17})"  # a level: below 1
_WEIGHT = r"(0|1|0\.\d{1,17})"
_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_NUMBER = r"\d{1,6}(\.\d{1,17})?"
_ROBUST = rf"mean|entropic:{_NUMBER}|budget:{_NUMBER}|c?var:{_SHARE}|mean-cvar:{_WEIGHT}:{_SHARE}"
_OF_COSTS = rf"{_ROBUST}|mean-(lower-)?std:{_NUMBER}|mean-variance:{_NUMBER}"


def _of_objectives(costs: str, **more: object) -> dict[str, object]:
    """The schema of a request for one of these objectives, with `more` said of its other fields."""
    return {"properties": {"objective": {"pattern": rf"^(({costs})|success-first(:({costs}))?(~{_SHARE})?)$"}, **more}}


OBJECTIVES = [_of_objectives(_OF_COSTS, robust={"const": False}), _of_objectives(_ROBUST)]  # spreads are never robust


def specialise(document: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """Put what is known of the problem into the schemas of the requests."""
    schemas, problem = document["components"]["schemas"], desk.problem
    person = _describe_person(desk)
    for name in ("PersonIn", "MenuIn", "PlanIn", "StepIn"):
        schemas[name]["properties"]["person"] = person
    for name in ("PlanIn", "StepIn"):
        schemas[name]["anyOf"] = OBJECTIVES
    terms = schemas["TermsIn"]["properties"]
    names = [action.name for action in problem.actions]
    simple = [action.name for action in problem.actions if len(action.outcomes) <= 2]
    for field, known in (("cost", names), ("chance", simple)):
        value = terms[field].pop("additionalProperties")
        terms[field] |= {"properties": dict.fromkeys(known, value), "additionalProperties": False}
    terms["forbid"]["items"] = {"type": "string", "enum": names}
    for path, example in _make_examples(desk).items():
        document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"] = example
    return document


def _make_examples(desk: Desk) -> dict[str, dict[str, Any]]:
    """What can be sent to each path as it is: about the first of the problem's people, if it names any."""
    problem = desk.problem
    if problem.default_person is None:
        return {}
    person, action = as_scalars(problem.default_person), problem.actions[0].name
    plan = {"person": person, "objective": "cvar:0.95"}
    return {
        "/api/v1/decide": {"person": {"summary": "A person", "value": {"person": person}}},
        "/api/v1/menu": {
            "person": {"summary": "A person", "value": {"person": person}},
            "terms": {
                "summary": "A person who cannot take a step",
                "value": {"person": person, "terms": {"forbid": [action]}},
            },
        },
        "/api/v1/plan": {"safest": {"summary": "The plan that is best in the worst 5% of cases", "value": plan}},
        "/api/v1/plan-step": {"start": {"summary": "What to do first", "value": {**plan, "outcomes": []}}},
    }


def _describe_person(desk: Desk) -> dict[str, Any]:
    known = {feature.name: _describe_feature(feature) for feature in desk.problem.shown_features}
    known |= {name: dict(_SCALAR) for name in desk.sight.given}
    return {
        "type": "object",
        "title": "Person",
        "description": "each feature's level, or its number if it is numeric; columns that the model sees as filed",
        "properties": known,
        "required": list(known),
        "additionalProperties": dict(_SCALAR),
    }


def _describe_feature(feature: Feature) -> dict[str, Any]:
    levels = {"type": "string", "enum": list(feature.levels)}
    if feature.kind == "numeric" and len(feature.levels) == len(feature.edges) + 1:
        ends = {"minimum": feature.least, "maximum": feature.most}
        number = {"type": "number", **{name: float(end) for name, end in ends.items() if end is not None}}
        return {"anyOf": [number, levels]}
    return levels
