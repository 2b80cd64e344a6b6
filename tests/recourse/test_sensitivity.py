"""What the advice hangs on: order, words, records, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

import pytest

import safear as sa
from safear.errors import ObjectiveError
from safear.recourse.sensitivity import examine_menu
from safear.recourse.sensitivity_records import SensitivityRecord
from safear.recourse.sensitivity_teller import SensitivityTeller
from small_problems import ladder

COURSE = {
    "take a course": {
        "cost": 2,
        "chance": {"mid": [0.6, 0.8, 0.95], "high": {"worked": 31, "tried": 40}},
        "change": {"a": "+1"},
    },
    "find a guarantor": {
        "cost": [{"when": "a == low", "cost": 6}, 4],
        "outcomes": [
            {"chance": 0.6, "change": {"a": "high"}},
            {"chance": 0.1, "label": "they ask for a fee", "cost": 7},
            {},
        ],
    },
}


def problem() -> sa.Problem:
    return ladder(COURSE, levels=("low", "mid", "high"), horizon=3, failure_cost=20, cost={"unit": "weeks"})


@cache
def found() -> sa.Sensitivity:
    return sa.sensitivity(problem(), objectives=["mean", "cvar:0.9"], tolerance=0.01)


def test_nearest_flips_first() -> None:
    for plan in found():
        assert plan.flips
        assert all(one.distance <= other.distance for one, other in pairwise(plan.flips))
        for flip in plan.flips:
            assert flip.action != plan.offer.first_action
            leeway = plan.leeway(flip.parameter, flip.direction)
            assert leeway.flip is flip
            assert abs(flip.value - flip.same) <= leeway.tolerance + 1e-12


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


def test_effects_are_ordered_by_what_they_do_to_the_mean() -> None:
    effects = found()["mean"].effects
    sizes = [abs(item.mean) * (0.1 if item.parameter.is_chance else 1) for item in effects]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0


def test_first_steps_that_are_as_good_are_named() -> None:
    steps = {name: {"cost": 1, "when": f"{name} == no", "change": {name: "yes"}} for name in ("b", "c")}
    twice = ladder(
        steps,
        horizon=2,
        failure_cost=30,
        features={name: {"kind": "nominal", "levels": ["no", "yes"]} for name in ("b", "c")},
        classifier={"rule": "b == yes and c == yes"},
        people={"p": {"b": "no", "c": "no"}},
    )
    (plan,) = sa.sensitivity(twice, objectives="mean", tolerance=0.05)
    assert plan.equals == ("c",)
    assert "As things stand, “c” would be as good a first step." in str(plan)


def test_nobody_asks_about_no_plan() -> None:
    done = sa.sensitivity(problem(), person={"a": "high"})
    assert len(done) == 0
    assert str(done) == str(done.menu)


@pytest.mark.parametrize(
    ("options", "code"), [({"tolerance": 0.5}, "out_of_range"), ({"objectives": "mean-lower-std:1"}, "unsuited")]
)
def test_what_cannot_be_done_is_refused(options: dict[str, object], code: str) -> None:
    with pytest.raises(ObjectiveError) as caught:
        sa.sensitivity(problem(), **options)  # type: ignore[arg-type]
    assert caught.value.mistakes[0].code == code


def test_one_plan_of_a_menu() -> None:
    menu = sa.recommend(problem())
    alone = examine_menu(menu, menu[0].code, tolerance=0.05)
    assert [plan.offer for plan in alone] == [menu[0]]
    assert alone[menu[0].code] is alone[0]


def test_robust_plans_are_refused() -> None:
    with pytest.raises(ObjectiveError, match="a robust plan is the best one against the worst chances"):
        examine_menu(sa.recommend(problem(), objectives="mean", robust=True))
