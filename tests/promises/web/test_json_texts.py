"""JSON that people send."""

from __future__ import annotations

import json

import pytest

from promises.web.conftest import APPLICANT, Site

PERSON = json.dumps(APPLICANT)
TWICE = PERSON.replace('"age"', '"age": "senior", "age"')


@pytest.mark.parametrize("path", ["decide", "menu", "plan", "plan-step"])
def test_the_api_takes_no_name_twice(loan: Site, path: str) -> None:
    body, kind = f'{{"person": {TWICE}}}', {"content-type": "application/json"}
    with loan.client() as client:
        answer = client.post(f"/api/v1/{path}", content=body, headers=kind)
        plain = client.post(f"/api/v1/{path}", content=body.replace(TWICE, PERSON), headers=kind)
    assert (answer.status_code, plain.status_code) == (422, 200)
    (mistake,) = answer.json()["mistakes"]
    assert (mistake["code"], mistake["cause"]) == ("twice", "'age' is given twice")


@pytest.mark.parametrize(("body", "status"), [("[" * 60_000, 400), ('{"person"', 422), ("", 422), ("9" * 5000, 400)])
def test_what_is_no_json_is_told_as_before(loan: Site, body: str, status: int) -> None:
    with loan.client() as client:
        answer = client.post("/api/v1/menu", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
