"""What is read without pydantic is what pydantic reads, and whatever pydantic refuses is left to it."""

from __future__ import annotations

import pickle
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from pydantic import ValidationError

from doors import Document, PlainPart, Written, build_problem, example_text, read_plainly, read_tree
from lanes import scaled
from safear.datasets import example_names
from safear.errors import ProblemError
from strategies import problems

ROOT = Path(__file__).parents[3]
FILES = sorted(path for folder in ("examples", "src", "tests") for path in (ROOT / folder).rglob("*.yaml"))
PLAIN = yaml.safe_load(
    """
safear: 1
title: {en: A title, de: Ein Titel}
description: ""
horizon: 12
cost: {unit: months, resolution: 0.5}
confidence: 0.9
features:
  a: {kind: ordinal, levels: [low, mid, high], labels: {low: {de: tief}}, at_most: 2, unit: "", missing: low}
  b: {kind: numeric, edges: [1, 2.5], closed: right, values: [0, "1.5", x], step: 0.5, min: -1, max: 9.0, unit: EUR}
  c: {kind: nominal, levels: ["yes", "no"], mutable: false, hidden: true, help: Ask., label: C}
given: [d, e]
goal: {favourable: good, threshold: 0.5, aim: 0.7, agree: 0.5, failure_cost: 9, promise: value, stop: false,
       label: loan, decision: {accepted: Yes., rejected: {en: No.}}}
classifier: {rule: a == high}
actions:
  one: {cost: 1.5, chance: 0.9, change: {a: +1}, when: a < high, at_most: 3, duration: 3 months, label: L, help: H}
  two: {cost: {low: 1, mid: 2}, chance: {a: {low: [0.1, 0.2], mid: [0.1, 0.2, 0.3]}}, change: {a: {by: 1, per: 2}}}
  three: {cost: 0, once: true, outcomes: [{chance: [0.1, 0.5], change: {a: {to: high}}, works: true, label: ok}, {}]}
side_effects:
  - {cause: a, change: {b: {by: +500 EUR}}, direction: up, when: a != mid}
constraints: [a <= high]
people: {Ada: {a: low, b: 2}}
provider: {name: Bank, contact: {en: x, de: y}}
"""
)


def as_tree(document: dict[str, Any]) -> Any:
    """As it is read from a file: all scalars are texts."""
    return read_tree(yaml.safe_dump(document, allow_unicode=True, sort_keys=False), "problem.yaml", ProblemError).data


def assert_same(plain: object, model: object) -> None:
    """Field by field, in the same order, of the same types."""
    if isinstance(model, Written):
        assert isinstance(plain, PlainPart)
        assert [name for name, _ in plain] == [name for name, _ in model]
        for name, value in model:
            assert_same(getattr(plain, name), value)
    elif isinstance(model, dict):
        assert isinstance(plain, dict)
        assert list(plain) == list(model)
        for name in model:
            assert_same(plain[name], model[name])
    elif isinstance(model, list):
        assert isinstance(plain, list)
        for one, other in zip(plain, model, strict=True):
            assert_same(one, other)
    else:
        assert (type(plain), repr(plain)) == (type(model), repr(model))


def assert_as_pydantic(data: Any) -> bool:
    """Whether it is read plainly, and then as pydantic does."""
    plain = read_plainly(data)
    if plain is not None:
        assert_same(plain, Document.model_validate(data))
    return plain is not None


@pytest.mark.parametrize("name", example_names())
def test_bundled_problems_are_plain(name: str) -> None:
    tree = read_tree(example_text(name), f"{name}.yaml", ProblemError)
    assert assert_as_pydantic(tree.data)
    plain = read_plainly(tree.data)
    assert plain is not None
    assert build_problem(plain) == build_problem(Document.model_validate(tree.data))


def test_every_file_that_there_is() -> None:
    read = 0
    for file in FILES:
        try:
            read += assert_as_pydantic(read_tree(file.read_text(encoding="utf-8"), str(file), ProblemError).data)
        except ProblemError:
            continue
    assert read >= len(example_names())


def test_every_plain_form() -> None:
    data = as_tree(PLAIN)
    assert assert_as_pydantic(data)
    assert list(data) == list(Document.model_fields)


@settings(max_examples=scaled(150))
@given(problems())
def test_drawn_problems(document: dict[str, Any]) -> None:
    assert_as_pydantic(as_tree(document))


ODD: tuple[Any, ...] = (
    *("", " ", "x", "1", "0", "-1", "+1", "1.5", "1e3", "007", "1_000", "١", "inf", "nan", "true", "False", "yes"),
    *("null", "all", "+5 EUR", "1 ", "0.5", "1001", "left", "ordinal"),
    *([], {}, ["1"], ["1", "2"], ["1", "2", "3", "4"], {"en": "x"}, {"EN": "x"}, {"to": "x"}, {"by": "x"}),
    *({"value": "1", "source": "x"}, {"worked": "1", "tried": "2"}, {"worked": "1"}, [{"when": "x", "cost": "1"}, "2"]),
    *({"low": "1"}, {"low": {}}, {"a": {"low": {"x": "1"}}}, {"rule": "x", "more": "y"}),
)


def places_of(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, value in inner for place in places_of(value, (*path, key)))]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_pydantic_refuses_is_left_to_it(seed: int) -> None:
    """Something odd at every place, now and then under an odd name."""
    rng, whole = random.Random(seed), as_tree(PLAIN)
    cases = list(product(places_of(whole)[1:], ODD))
    cases = rng.sample(cases, scaled(len(cases)))
    packed, read = pickle.dumps(whole), 0
    for place, odd in cases:
        data = pickle.loads(packed)
        holder = data
        for key in place[:-1]:
            holder = holder[key]
        if rng.random() < 0.1 and isinstance(holder, dict):
            holder[rng.choice(["", " ", "more", "kind", "label", "1"])] = odd
        else:
            holder[place[-1]] = odd
        plain = read_plainly(data)
        if plain is None:
            continue
        read += 1
        try:
            model = Document.model_validate(data)
        except ValidationError as error:
            pytest.fail(f"{place}: {odd!r} was read: {error}")
        assert_same(plain, model)
    assert read > len(cases) / 50
