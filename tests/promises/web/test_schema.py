"""The OpenAPI document against the server: whatever it allows is answered as it says, whatever it forbids refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from lanes import scaled
from promises.web.conftest import APPLICANT, Site

if TYPE_CHECKING:
    import schemathesis
    from schemathesis import Case
else:
    schemathesis = pytest.importorskip("schemathesis", reason="NO SCHEMATHESIS: pip install --group api")

SPREADS = ["mean-std:0.5", "mean-lower-std:0.5", "mean-variance:0.5", "success-first:mean-std:1"]
OTHERS = ["mean", "entropic:0.5", "budget:6", "var:0.95", "cvar:0.95", "mean-cvar:0.5:0.95", "success-first~0.001"]
PATHS = ["decide", "menu", "plan", "plan-step"]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=str)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["loan", "german"])
def test_posts(request: pytest.FixtureRequest, name: str, path: str, mode: schemathesis.GenerationMode) -> None:
    site: Site = request.getfixturevalue(name)
    schema = schemathesis.openapi.from_url(f"{site.base}/api/v1/openapi.json")
    operation = schema[f"/api/v1/{path}"]["POST"]

    @settings(
        max_examples=scaled(8),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Case[Any]) -> None:
        answer = case.call()
        # Costs a million times as large as others are fine by any schema, but not to be computed.
        too_much = b"urn:safear:problem:too-large" in answer.content
        case.validate_response(
            answer, excluded_checks=[schemathesis.checks.positive_data_acceptance] if too_much else None
        )

    check()


def test_gets(audited: Site) -> None:
    schema = schemathesis.openapi.from_url(f"{audited.base}/api/v1/openapi.json")
    for path in ("health", "problem", "audit"):
        schema[f"/api/v1/{path}"]["GET"].Case().call_and_validate()


@pytest.mark.parametrize("name", ["loan", "german", "credit"])
def test_the_examples_can_be_sent_as_they_are(request: pytest.FixtureRequest, name: str) -> None:
    site: Site = request.getfixturevalue(name)
    with site.client() as client:
        document = client.get("/api/v1/openapi.json").json()
        for path, methods in document["paths"].items():
            if "post" in methods:
                examples = methods["post"]["requestBody"]["content"]["application/json"]["examples"]
                assert examples
                for example in examples.values():
                    assert client.post(path, json=example["value"]).status_code == 200


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("objective", [*SPREADS, *OTHERS, "success-first:cvar:0.95"])
def test_objectives_are_allowed_where_they_are_answered(loan: Site, objective: str, robust: bool) -> None:
    """Spreads are never robust."""
    with loan.client() as client:
        document = client.get("/api/v1/openapi.json").json()
        asked = {"person": APPLICANT, "objective": objective, "robust": robust}
        answer = client.post("/api/v1/plan", json=asked)
    schema = document["components"]["schemas"]["PlanIn"]
    allows = jsonschema.Draft202012Validator({"anyOf": schema["anyOf"]})
    assert (answer.status_code == 200) == allows.is_valid(asked) == (not (robust and objective in SPREADS))


def test_everything_has_a_name_and_a_type(loan: Site) -> None:
    """Of objects at least what their values are, but for the problem, whose own schema `safear schema` prints."""
    with loan.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    calls = [call["operationId"] for methods in document["paths"].values() for call in methods.values()]
    assert sorted(calls) == ["audit", "decide", "health", "menu", "plan", "plan_step", "problem"]
    untyped = list(find_untyped(document["components"]["schemas"]))
    assert untyped == ["/ProblemOut/properties/document"]
    reason = document["components"]["schemas"]["ReasonRecord"]["properties"]["code"]
    assert "no_action" in reason["enum"]


def find_untyped(node: Any, path: str = "") -> Iterator[str]:
    """Where the document says no more than `object`, or nothing."""
    if isinstance(node, dict):
        vague = node.get("type") == "object" and node.get("additionalProperties", True) is True
        if not node or (vague and "properties" not in node):
            yield path
        for name, value in node.items():
            if name not in {"default", "examples"}:
                yield from find_untyped(value, f"{path}/{name}")
    elif isinstance(node, list):
        for value in node:
            yield from find_untyped(value, path)
