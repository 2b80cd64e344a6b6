"""The OpenAPI document for the problem that is served: features, levels and actions by name, not just `string`."""

from __future__ import annotations

from typing import Any

from safear.problem.model import Feature, Problem

_SHARE = r"(0|0\.\d{1,17})"  # a level: below 1
_WEIGHT = r"(0|1|0\.\d{1,17})"
OBJECTIVE = rf"^(success-first:)?(mean|cvar:{_SHARE}|mean-cvar:{_WEIGHT}:{_SHARE})$"


def specialise(document: dict[str, Any], problem: Problem) -> dict[str, Any]:
    """Put what is known of the problem into the schemas of the requests."""
    schemas = document["components"]["schemas"]
    person = _describe_person(problem)
    for name in ("PersonIn", "MenuIn", "PlanIn", "StepIn"):
        schemas[name]["properties"]["person"] = person
    for name in ("PlanIn", "StepIn"):
        schemas[name]["properties"]["objective"]["pattern"] = OBJECTIVE
    terms = schemas["TermsIn"]["properties"]
    names = [action.name for action in problem.actions]
    simple = [action.name for action in problem.actions if len(action.outcomes) <= 2]
    for field, known in (("cost", names), ("chance", simple)):
        value = terms[field].pop("additionalProperties")
        terms[field] |= {"properties": dict.fromkeys(known, value), "additionalProperties": False}
    terms["forbid"]["items"] = {"type": "string", "enum": names}
    return document


def _describe_person(problem: Problem) -> dict[str, Any]:
    return {
        "type": "object",
        "title": "Person",
        "description": "each feature's level, or its number if it is numeric",
        "properties": {feature.name: _describe_feature(feature) for feature in problem.features},
        "required": [feature.name for feature in problem.features],
        "additionalProperties": False,
        "example": dict(problem.default_person or {}),
    }


def _describe_feature(feature: Feature) -> dict[str, Any]:
    levels = {"type": "string", "enum": list(feature.levels)}
    if feature.kind == "numeric" and len(feature.levels) == len(feature.edges) + 1:
        return {"anyOf": [{"type": "number"}, levels]}
    return levels
