"""The JSON Schema: sound documents fulfil it, wrong ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given

import safear
from doors import Document, TermsDocument, fields_at
from mistakes import LOAN, edited, listed_mistakes
from safear.datasets import example_names, load_example
from safear.problem import dump_problem, parse_problem, problem_schema
from strategies import FEWER, problems

SCHEMA = problem_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
BUNDLED = Path(safear.__file__).parent / "datasets" / "problems"


def assert_fulfils(document: Any) -> None:
    assert [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)] == []


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["required"] == ["safear", "title", "horizon", "features", "actions"]
    assert SCHEMA["additionalProperties"] is False


@pytest.mark.parametrize("name", example_names())
def test_bundled_problems_fulfil_it(name: str) -> None:
    # an editor reads the file by YAML's own rules: a level `yes` without quotes is true there
    assert_fulfils(yaml.safe_load((BUNDLED / f"{name}.yaml").read_text(encoding="utf-8")))
    assert_fulfils(dump_problem(load_example(name)))


def test_the_sample_fulfils_it() -> None:
    assert_fulfils(_sound())
    assert_fulfils(dump_problem(parse_problem(LOAN)))


@FEWER
@given(problems())
def test_drawn_documents_fulfil_it(document: dict[str, Any]) -> None:
    assert_fulfils(document)
    assert_fulfils(dump_problem(parse_problem(document)))


@pytest.mark.parametrize(
    "chance",
    [
        0.8,
        1,
        [0.7, 0.9],
        [0.7, 0.85, 0.9],
        {"skilled": 0.8, "manager": [0.5, 0.7]},
        {"skill": {"skilled": 0.8, "manager": [0.5, 0.6, 0.7]}},
        [{"when": "age == senior", "chance": 0.5}, 0.7],
        [{"when": "age == senior", "chance": [0.5, 0.6]}, [0.6, 0.7]],
        {"value": 0.8, "source": "guess"},
        {"value": {"skilled": 0.8, "manager": {"value": 0.7, "source": "expert"}}, "source": "guess"},
        {"value": [{"when": "age == senior", "chance": 0.5, "source": "expert"}, 0.6], "source": "guess"},
        {"worked": 31, "tried": 40},
        {"worked": 31, "tried": 40, "source": "survey of 2024"},
        {"skilled": {"worked": 3, "tried": 4}, "manager": 0.2},
        {"skill": {"skilled": {"worked": 3, "tried": 4}, "manager": {"value": [0.1, 0.2], "source": "expert"}}},
        [{"when": "age == senior", "worked": 1, "tried": 2}, {"worked": 3, "tried": 4}],
    ],
)
def test_every_form_of_a_chance_fulfils_it(chance: Any) -> None:
    document = _sound()
    document["actions"]["learn"]["chance"] = chance
    assert_fulfils(document)
    as_written = yaml.load(LOAN, yaml.BaseLoader)
    as_written["actions"]["learn"]["chance"] = chance
    assert parse_problem(as_written).title == "Loan"


def _sound() -> dict[str, Any]:
    """The sample as an editor reads it."""
    document = yaml.safe_load(LOAN)
    assert isinstance(document, dict)
    return document


LENIENT = {"safear: 1.0", "levels: [basic, '', manager]", "cost: .inf", "cost: 0x10"}  # to YAML 1.1, or to a schema
SHAPES = listed_mistakes("fields that there are not", "fields that are missing", "shapes", "numbers")


@pytest.mark.parametrize("old, new", [(old, new) for old, new, *_ in SHAPES if new not in LENIENT])
def test_wrong_documents_do_not_fulfil_it(old: str, new: str) -> None:
    assert not VALIDATOR.is_valid(yaml.safe_load(edited((old, new))))


@pytest.mark.parametrize(
    "model, path, fields",
    [
        (Document, (), list(Document.model_fields)),
        (
            Document,
            ("goal",),
            ["favourable", "threshold", "aim", "agree", "failure_cost", "promise", "stop", "label", "decision"],
        ),
        (Document, ("cost",), ["unit", "resolution"]),
        (Document, ("classifier",), ["rule"]),
        (
            Document,
            ("actions", "outcomes"),
            ["cost", "when", "at_most", "once", "duration", "chance", "change", "outcomes", "label", "help"],
        ),
        (Document, ("goal", "decision"), ["accepted", "rejected"]),
        (Document, ("given", "x"), ["label", "help"]),
        (Document, ("provider",), ["name", "contact", "appeal"]),
        (Document, ("actions", "a", "outcomes", 0), ["chance", "change", "cost", "label", "works"]),
        (Document, ("actions", "a", "chance", 0), ["when", "chance", "source", "worked", "tried"]),
        (Document, ("actions", "a", "chance", "value", "skill"), ["value", "source", "worked", "tried"]),
        (Document, ("actions", "a", "outcomes", 0, "cost", 1), ["when", "cost", "source"]),
        (Document, ("actions", "a", "cost"), ["value", "source"]),
        (Document, ("actions", "a", "change", "cost"), ["to", "by", "per"]),
        (Document, ("side_effects", 0), ["cause", "change", "direction", "when"]),
        (Document, ("side_effects", 0, "change", "f"), ["to", "by", "per"]),
        (TermsDocument, (), ["actions", "forbid", "rank"]),
        (TermsDocument, ("actions", "a"), ["cost", "chance", "outcomes"]),
    ],
)
def test_fields_for_suggestions(model: Any, path: tuple[str | int, ...], fields: list[str]) -> None:
    assert fields_at(model, path) == fields
