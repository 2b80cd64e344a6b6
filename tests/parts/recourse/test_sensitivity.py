"""What the advice hangs on, in words and as a record."""

from __future__ import annotations

import json

import pytest

import safear as sa
from doors import SensitivityRecord, SensitivityTeller, examine_menu
from promises.recourse.test_sensitivity import found, problem
from safear.errors import ObjectiveError


def test_names_say_which_amount_is_meant() -> None:
    names = {
        ".".join(map(str, item.path)): SensitivityTeller.of().parameter(item, problem()) for item in found().parameters
    }
    assert names == {
        "actions.take a course.cost": "cost of “take a course”",
        "actions.take a course.outcomes.0.chance.a.mid": "chance that “take a course” works (a becomes mid)",
        "actions.take a course.outcomes.0.chance.a.high": "chance that “take a course” works (a becomes high)",
        "actions.find a guarantor.cost.0.cost": "cost of “find a guarantor” (if a is low)",
        "actions.find a guarantor.cost.1": "cost of “find a guarantor” (otherwise)",
        "actions.find a guarantor.outcomes.1.cost": "cost of “find a guarantor”: they ask for a fee",
        "actions.find a guarantor.outcomes.0.chance": "chance that “find a guarantor” works",
        "actions.find a guarantor.outcomes.1.chance": "chance of “find a guarantor”: they ask for a fee",
        "goal.failure_cost": "cost of failing",
    }


def test_words_and_records_say_the_same() -> None:
    record = json.loads(SensitivityRecord.of(found()).model_dump_json())
    for told, plan in zip(record["plans"], found(), strict=True):
        assert [flip["text"] for flip in told["flips"]] == [
            line.removeprefix("- ") for line in str(plan).splitlines() if "better first step" in line
        ]
        assert [(flip["value"], flip["action"]) for flip in told["flips"]] == [
            (flip.value, flip.action) for flip in plan.flips
        ]
    intervals = {item["place"]: item["interval"] for item in record["parameters"]}
    assert intervals["actions.take a course.outcomes.0.chance.a.mid"] == [0.6, 0.95]
    assert intervals["actions.take a course.cost"] is None
    frame = found().to_frame()
    assert len(frame) == 2 * len(found().parameters)
    german = SensitivityTeller.of("de").lines(found()[0])
    assert len(german) == len(str(found()[0]).splitlines())


def test_robust_plans_are_refused() -> None:
    with pytest.raises(ObjectiveError, match="a robust plan is the best one against the worst chances"):
        examine_menu(sa.recommend(problem(), objectives="mean", robust=True))
