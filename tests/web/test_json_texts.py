"""JSON that people send."""

from __future__ import annotations

import json

import pytest

from safear.errors import InputError
from safear.web.json_texts import read_json
from web.conftest import APPLICANT, Site

PERSON = json.dumps(APPLICANT)
TWICE = PERSON.replace('"age"', '"age": "senior", "age"')


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"b": {"a": 1, "c": {}, "a": 1}}]', '{"a": 1, "\\u0061": 2}'])
def test_a_name_that_is_given_twice_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="'a' is given twice"):
        read_json(text)


def test_names_may_come_again_elsewhere() -> None:
    assert read_json(b'{"a": {"a": [{"a": 1}, {"a": 2}]}}') == {"a": {"a": [{"a": 1}, {"a": 2}]}}


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
