"""The OpenAPI document against the server: whatever it allows is answered as it says, whatever it forbids refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from web.conftest import Site

if TYPE_CHECKING:
    import schemathesis
    from schemathesis import Case
else:
    schemathesis = pytest.importorskip("schemathesis", reason="NO SCHEMATHESIS: pip install --group api")

PATHS = ["decide", "menu", "plan", "plan-step"]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=str)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["loan", "german"])
def test_posts(request: pytest.FixtureRequest, name: str, path: str, mode: schemathesis.GenerationMode) -> None:
    site: Site = request.getfixturevalue(name)
    schema = schemathesis.openapi.from_url(f"{site.base}/api/v1/openapi.json")
    operation = schema[f"/api/v1/{path}"]["POST"]

    @settings(
        max_examples=8,
        derandomize=True,
        deadline=None,
        database=None,
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
