"""The JSON Schema: sound documents fulfil it, wrong ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given

import safear
from problem.loan import LOAN
from safear.datasets.bundled import example_names, load_example
from safear.problem.document import Document, TermsDocument, fields_at, problem_schema
from safear.problem.dump import dump_problem
from safear.problem.load import parse_problem
from strategies import problems

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


MISSING = object()


@pytest.mark.parametrize(
    "path, value",
    [
        (["safear"], MISSING),
        (["safear"], 2),
        (["title"], MISSING),
        (["title"], ["Loan"]),
        (["horizon"], MISSING),
        (["horizon"], 0),
        (["horizon"], 1001),
        (["horizon"], 1.5),
        (["horizon"], "abc"),
        (["horizn"], 12),
        (["cost"], "months"),
        (["cost", "resolution"], 0),
        (["cost", "resolution"], "x"),
        (["features"], MISSING),
        (["features"], {}),
        (["features"], []),
        (["features", "skill"], "ordinal"),
        (["features", "skill", "kind"], MISSING),
        (["features", "skill", "kind"], "ordnal"),
        (["features", "skill", "levels"], "basic"),
        (["features", "skill", "levels"], {"basic": 1}),
        (["features", "skill", "levels"], [["basic"]]),
        (["features", "skill", "order"], True),
        (["features", "bmi", "edges"], 20),
        (["features", "bmi", "edges"], ["low"]),
        (["features", "bmi", "closed"], "both"),
        (["features", "bmi", "values"], [[1]]),
        (["features", "sex", "mutable"], "maybe"),
        (["goal"], "approved"),
        (["goal", "threshold"], 1.5),
        (["goal", "failure_cost"], -1),
        (["goal", "favorable"], "approved"),
        (["classifier"], "job == employed"),
        (["classifier", "rule"], MISSING),
        (["actions"], MISSING),
        (["actions"], {}),
        (["actions", "learn"], 3),
        (["actions", "learn", "cost"], MISSING),
        (["actions", "learn", "cost"], "x"),
        (["actions", "learn", "cost"], {}),
        (["actions", "learn", "cost"], []),
        (["actions", "learn", "cost"], [1, 2]),
        (["actions", "learn", "cost"], {"skilled": [1, 2]}),
        (["actions", "learn", "cost"], [{"when": "age == senior", "chance": 2}, 1]),
        (["actions", "learn", "chance"], "often"),
        (["actions", "learn", "chance"], [0.5]),
        (["actions", "learn", "chance"], [0.1, 0.2, 0.3, 0.4]),
        (["actions", "learn", "chance"], {}),
        (["actions", "learn", "chance"], [{"chance": 0.5}, 0.7]),
        (["actions", "learn", "change"], "skill"),
        (["actions", "learn", "change", "skill"], ["+1"]),
        (["actions", "learn", "change", "skill"], {"by": "one"}),
        (["actions", "learn", "change", "skill"], {"bye": 1}),
        (["actions", "change job", "outcomes"], {"chance": 1}),
        (["actions", "change job", "outcomes", 0], 0.9),
        (["actions", "change job", "outcomes", 0, "works"], "often"),
        (["side_effects"], {"cause": "skill"}),
        (["side_effects", 0, "cause"], MISSING),
        (["side_effects", 0, "change"], {}),
        (["side_effects", 0, "direction"], "sideways"),
        (["constraints"], "job == employed"),
        (["constraints", 0], {"not": "x"}),
        (["people"], ["ann"]),
        (["people", "ann"], "young"),
        (["people", "ann", "age"], ["young"]),
    ],
)
def test_wrong_documents_do_not_fulfil_it(path: list[str | int], value: object) -> None:
    document = _sound()
    holder: Any = document
    for part in path[:-1]:
        holder = holder[part]
    if value is MISSING:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize(
    "model, path, fields",
    [
        (Document, (), list(Document.model_fields)),
        (Document, ("goal",), ["favourable", "threshold", "failure_cost"]),
        (Document, ("cost",), ["unit", "resolution"]),
        (Document, ("classifier",), ["rule"]),
        (Document, ("actions", "outcomes"), ["cost", "when", "chance", "change", "outcomes"]),
        (Document, ("actions", "a", "outcomes", 0), ["chance", "change", "cost", "label", "works"]),
        (Document, ("actions", "a", "chance", 0), ["when", "chance"]),
        (Document, ("actions", "a", "outcomes", 0, "cost", 1), ["when", "cost"]),
        (Document, ("actions", "a", "change", "cost"), ["to", "by"]),
        (Document, ("side_effects", 0), ["cause", "change", "direction", "when"]),
        (Document, ("side_effects", 0, "change", "f"), ["to", "by"]),
        (TermsDocument, (), ["actions", "forbid"]),
        (TermsDocument, ("actions", "a"), ["cost", "chance", "outcomes"]),
    ],
)
def test_fields_for_suggestions(model: Any, path: tuple[str | int, ...], fields: list[str]) -> None:
    assert fields_at(model, path) == fields
