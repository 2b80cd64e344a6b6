"""A problem written out reads back as the same problem."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mistakes import LOAN, edited
from safear.datasets import example_names, load_example
from safear.problem import Amount, Problem, dump_problem, dump_problem_text, parse_problem
from strategies import FEWER, problems

FORMS = ["yaml", "json"]


def assert_reads_back(problem: Problem) -> None:
    document = dump_problem(problem)
    again = parse_problem(document)
    assert again == problem
    assert dump_problem(again) == document
    for form in FORMS:
        assert parse_problem(dump_problem_text(problem, form), f"dumped.{form}") == problem


@FEWER
@given(problems())
def test_drawn_problems_read_back(document: dict[str, Any]) -> None:
    problem = parse_problem(document)
    assert_reads_back(problem)
    assert parse_problem(yaml.safe_dump(document, sort_keys=False), "drawn.yaml") == problem
    assert parse_problem(json.dumps(document), "drawn.json") == problem


def test_records_read_back() -> None:
    number = {"kind": "numeric", "edges": [12, 24], "values": [9, 18.5, 30], "step": 0.5, "min": 6, "unit": "months"}
    problem = parse_problem(
        {
            "safear": 1,
            "title": "Records",
            "horizon": 2,
            "features": {"term": number, "code": {"kind": "nominal", "levels": ["1", "null"]}},
            "given": ["age", "account"],
            "goal": {"promise": "range"},
            "actions": {"shorten": {"cost": 1, "change": {"term": -1}}},
            "people": {"Ada": {"term": 40.25, "code": "null", "age": None, "account": "007", "customer": True}},
        }
    )
    assert problem.people["Ada"] == {"term": 40.25, "code": "null", "age": None, "account": "007", "customer": True}
    assert_reads_back(problem)


@pytest.mark.parametrize("name", example_names())
def test_bundled_problems_read_back(name: str) -> None:
    assert_reads_back(load_example(name))


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [("chance: 0.8", "chance: [0.7, 0.85, 0.9]")],
        [("chance: 0.8", "chance: [0.1, 0.2]")],
        [("chance: 0.8", "chance: {skilled: [0.5, 0.6], manager: [0.1, 0.15, 0.3]}")],
        [("chance: 0.8", "chance: [{when: age == senior, chance: [0, 0.1, 1]}, 0.7]")],
        [("chance: 0.8", "chance: 1e-400")],
        [("chance: 0.8", "chance: {worked: 31, tried: 40}")],
        [("chance: 0.8", "chance: {worked: 40, tried: 40, source: survey}")],
        [("chance: 0.8", "chance: {value: 1, source: guess}")],
        [("chance: 0.8", "chance: {value: [0.5, 0.95], source: guess}")],
        [("chance: 0.8", "chance: {value: {skilled: 0.8, manager: 0.7}, source: guess}")],
        [("chance: 0.8", "chance: {skilled: {worked: 3, tried: 4}, manager: {value: [0.1, 0.5], source: expert}}")],
        [("chance: 0.8", "chance: {value: {skilled: {worked: 3, tried: 4}, manager: 0.7}, source: data 3/4}")],
        [("chance: 0.8", "chance: [{when: age == senior, worked: 1, tried: 2}, {value: 0.7, source: expert}]")],
        [("chance: 0.8", "chance: [{when: age == senior, chance: 0.1, source: a}, {worked: 1, tried: 3, source: b}]")],
        [("cost: 1.5", "cost: {value: [{when: age == senior, cost: 2}, 1], source: guess}")],
        [("cost: 1.5", "cost: [{when: age == senior, cost: 2, source: a}, {value: 1, source: b}]")],
        [("chance: 0.8", "chance: {worked: 31, tried: 40}"), ("horizon: 12", "horizon: 12\nconfidence: 0.9")],
        [("cost: 1.5", "cost: 1E-400")],
        [("cost: 1.5", "cost: 1e15")],
        [("cost: 1.5", "cost: 123456789012345.678")],
        [("cost: 1.5", "cost: 0.1234567890123456789012345678")],
        [("cost: 1.5", "cost: [{when: 'age in [young, senior]', cost: 2.50}, 1.5]")],
        [("edges: [20, 25]", "edges: [20.0, 25.50]")],
        [("edges: [20, 25]", "edges: [0.1, 1e3], closed: right")],
        [("edges: [20, 25]", "edges: [20, 25], levels: [a, b, c]")],
        [("edges: [20, 25]", "edges: [20, 25], values: [1, 2.5, heavy]")],
        [("change: {bmi: -1}", "change: {bmi: +2, age: -1, job: employed}")],
        [("levels: [female, male]", "levels: [female, male, +1, '-', no, null, '1', '1.0', ' x ', \"a\\nb\"]")],
        [("unit: months", "unit: months, resolution: 0.05")],
        [("title: Loan", "title: 'no'\ndescription: >-\n  two\n  lines")],
        [("  rule: job == employed and skill >= skilled\n", "  rule: not (job == employed or (skill == basic))\n")],
        [("skill < manager", "true")],
        [("skill < manager", "not not skill not in [manager]")],
        [("cost: 3}", "cost: 3, label: you lose it, works: true}")],
    ],
    ids=lambda edits: " ".join(new for _, new in edits) or "as it is",
)
def test_every_form_reads_back(edits: list[tuple[str, str]]) -> None:
    assert_reads_back(parse_problem(edited(*edits)))


@pytest.mark.parametrize("form", FORMS)
def test_intervals_are_kept(form: str) -> None:
    wide = Amount(Decimal("0.85"), Decimal("0.7"), Decimal("0.9"))
    problem = parse_problem(edited(("chance: 0.8", "chance: [0.7, 0.85, 0.9]")))
    again = parse_problem(dump_problem_text(problem, form), f"dumped.{form}")
    assert again.action_by_name["learn"].outcomes[0].chance == wide
    assert again.action_by_name["diet"].outcomes[0].chance == Amount(Decimal("0.8"), Decimal("0.7"), Decimal("0.9"))
    assert dump_problem(problem)["actions"]["learn"]["outcomes"][0]["chance"] == [0.7, 0.85, 0.9]
    assert dump_problem(problem)["actions"]["diet"]["outcomes"][0]["chance"] == [0.7, 0.9]


_texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"]), min_size=1).filter(str.strip)


@FEWER
@given(_texts, _texts)
def test_texts_read_back_whatever_they_hold(title: str, label: str) -> None:
    problem = parse_problem(LOAN)
    outcomes = (replace(problem.actions[0].outcomes[0], label=label), *problem.actions[0].outcomes[1:])
    actions = (replace(problem.actions[0], name=title, outcomes=outcomes), *problem.actions[1:])
    assert_reads_back(replace(problem, title=title, description=label, cost_unit=label, actions=actions))


def test_the_document_is_in_the_words_of_the_file() -> None:
    assert dump_problem(parse_problem(LOAN)) == {
        "safear": 1,
        "title": "Loan",
        "horizon": 12,
        "cost": {"unit": "months"},
        "features": {
            "age": {"kind": "ordinal", "levels": ["young", "adult", "senior"], "actionable": False},
            "skill": {"kind": "ordinal", "levels": ["basic", "skilled", "manager"]},
            "job": {"kind": "nominal", "levels": ["employed", "unemployed"]},
            "sex": {"kind": "nominal", "levels": ["female", "male"], "mutable": False},
            "bmi": {"kind": "numeric", "edges": [20, 25], "closed": "left", "seen_by_classifier": False},
        },
        "goal": {"favourable": "approved", "threshold": 0.5, "failure_cost": 24},
        "classifier": {"rule": "job == employed and skill >= skilled"},
        "actions": {
            "learn": {
                "cost": 1.5,
                "when": "skill < manager",
                "outcomes": [{"chance": 0.8, "change": {"skill": {"by": 1}, "age": {"by": 1}}}, {}],
            },
            "change job": {
                "cost": 1,
                "outcomes": [
                    {"chance": 0.9, "change": {"job": "employed"}},
                    {"chance": 0.1, "change": {"job": "unemployed"}, "cost": 3},
                ],
            },
            "diet": {"cost": 2, "outcomes": [{"chance": [0.7, 0.9], "change": {"bmi": {"by": -1}}}, {}]},
        },
        "side_effects": [{"cause": "skill", "direction": "up", "change": {"age": {"by": 1}}}],
        "constraints": ["not (job == unemployed and skill == manager)"],
        "people": {"ann": {"age": "young", "skill": "basic", "job": "employed", "sex": "female", "bmi": 22.5}},
    }


def test_what_is_not_there_is_left_out() -> None:
    document = {
        "safear": 1,
        "title": "small",
        "horizon": 1,
        "features": {"a": {"kind": "nominal", "levels": ["x", "y"]}},
        "actions": {"act": {"cost": 1, "change": {"a": "y"}}},
    }
    dumped = dump_problem(parse_problem(document))
    assert set(dumped) == {"safear", "title", "horizon", "cost", "features", "goal", "actions"}
    assert dumped["goal"] == {"failure_cost": 0}


def test_texts_are_json_and_yaml() -> None:
    problem = parse_problem(edited(("title: Loan", "title: Größe")))
    as_json, as_yaml = dump_problem_text(problem, "json"), dump_problem_text(problem)
    assert json.loads(as_json) == dump_problem(problem)
    assert yaml.safe_load(as_yaml) == dump_problem(problem)
    for text in (as_json, as_yaml):
        assert "Größe" in text
        assert text.endswith("\n")
    assert list(yaml.safe_load(as_yaml))[:3] == ["safear", "title", "horizon"]
