"""What the advice hangs on: order, words, records, and what is refused."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

import safear as sa
from safear.errors import ObjectiveError
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
    alone = sa.sensitivity(problem(), plan=menu[0].code, tolerance=0.05)
    assert [(plan.offer.code, plan.offer.mean) for plan in alone] == [(menu[0].code, menu[0].mean)]
    assert alone[menu[0].code] is alone[0]
