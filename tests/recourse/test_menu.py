"""Menus: what is offered, under which names, and to whom nothing is."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

import safear as sa
from safear.recourse.choose import alike, dominates
from strategies import problems


def test_loan_menu() -> None:
    menu = sa.recommend(sa.load_example("loan"))
    assert [offer.name for offer in menu] == ["safest", "cheapest on average"]
    safest, cheapest = menu
    assert [str(objective) for objective in safest.objectives] == ["mean-std:0.5", "mean-std:1"]
    assert [str(objective) for objective in cheapest.objectives] == ["mean-std:0", "mean-std:0.25"]
    assert safest.first_action == "study part-time"
    assert cheapest.first_action == "change job"
    assert cheapest.cost.all_runs.mean == pytest.approx(1.5, abs=0.001)
    assert safest.cost.all_runs.mean == pytest.approx(2.198, abs=0.001)
    within_3 = sum(chance for cost, chance, success in safest.cost.points() if success and cost <= 3)
    assert within_3 == pytest.approx(0.977, abs=0.001)
    assert menu["safest"] is safest
    with pytest.raises(KeyError, match="there is no plan 'best'; there are 'safest', 'cheapest on average'"):
        menu["best"]


def test_loan_by_restriction() -> None:
    terms = sa.Terms.of(forbid=["change job", "study part-time"])
    menu = sa.recommend(sa.load_example("loan"), objectives=[sa.Mean()], terms=terms)
    assert menu["mean"].first_action == "own a house"
    assert menu["mean"].cost.all_runs.mean == pytest.approx(10 / 3, abs=0.01)


def test_health_insurance_menu() -> None:
    menu = sa.recommend(sa.load_example("health-insurance"))
    assert [(offer.name, offer.first_action) for offer in menu] == [
        ("safest", "healthy diet"),
        ("balanced", "quit smoking"),
        ("cheapest on average", "quit drinking"),
    ]


def test_objectives_give_a_plan_each_even_if_equal() -> None:
    objectives: list[sa.Objective] = [sa.MeanStd(0.5), sa.MeanStd(1), sa.MeanLowerStd(1)]
    menu = sa.recommend(sa.load_example("loan"), objectives=objectives)
    assert [offer.name for offer in menu] == ["mean-std:0.5", "mean-std:1", "mean-lower-std:1"]


def test_value_is_exact_and_planned_value_the_recursions() -> None:
    offer = sa.recommend(sa.load_example("health-insurance"), objectives=[sa.MeanStd(0.5)])["mean-std:0.5"]
    runs = offer.cost.all_runs
    assert offer.value == pytest.approx(runs.mean + 0.5 * runs.std)
    assert offer.planned_value == pytest.approx(2.666015625)
    mean = sa.recommend(sa.load_example("health-insurance"), objectives=[sa.Mean()])["mean"]
    assert mean.value == pytest.approx(mean.planned_value) == pytest.approx(1.9921875)


def test_favourable_already() -> None:
    problem = sa.load_example("loan")
    menu = sa.recommend(problem, person={**problem.default_person, "housing": "own"})  # type: ignore[dict-item]
    assert menu.favourable
    assert len(menu) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"horizon": 1},
            "no plan leads to 'done': none of the 1 state within 1 step is a goal; a longer horizon would reach more",
        ),
        (
            {"classifier": {"rule": "b == yes"}},
            "no plan leads to 'done': none of the 2 other states that this person can ever reach is a goal",
        ),
        ({"constraints": ["a == 0"]}, "no plan leads to 'done': no action is offered to this person"),
    ],
)
def test_no_recourse_says_why(change: dict[str, Any], message: str) -> None:
    document = {
        "safear": 1,
        "title": "hopeless",
        "horizon": 5,
        "goal": {"favourable": "done"},
        "features": {
            "a": {"kind": "ordinal", "levels": ["0", "1", "2"]},
            "b": {"kind": "nominal", "levels": ["yes", "no"], "mutable": False},
        },
        "actions": {"up": {"cost": 1, "change": {"a": "+1"}}},
        "classifier": {"rule": "a == 2"},
        "people": {"p": {"a": "0", "b": "no"}},
    }
    with pytest.raises(sa.NoRecourseError) as caught:
        sa.recommend(sa.parse_problem({**document, **change}))
    assert str(caught.value) == message
    assert caught.value.exit_code == 3


def test_person_is_asked_for() -> None:
    problem = sa.parse_problem({**sa.dump_problem(sa.load_example("loan")), "people": {}})
    with pytest.raises(sa.PersonError, match="no person is given, and the problem names none"):
        sa.recommend(problem)


@given(problems())
def test_menus_of_any_problem(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    try:
        menu = sa.recommend(problem)
    except sa.NoRecourseError:
        assume(False)
    assume(not menu.favourable)
    names = [offer.name for offer in menu]
    assert len(set(names)) == len(names)
    means = {offer.name: offer.cost.all_runs.mean for offer in menu}
    named = {name for name in names if not name.startswith("most likely")}
    if named:
        cheapest = next(name for name in names if name.startswith("cheapest"))
        assert means[cheapest] == pytest.approx(min(means[name] for name in named))
    best = sa.evaluate(sa.solve(menu.offers[0].solution.mdp, sa.SuccessFirst())).success
    assert max(offer.cost.success for offer in menu) >= best - 0.05
    for number, offer in enumerate(menu.offers):
        assert offer.cost.success > 0
        for other in menu.offers[number + 1 :]:
            assert not alike(offer, other)
            assert names[0].startswith("most likely") or not dominates(offer, other)
    json.dumps(sa.menu_record(menu), allow_nan=False)


def test_episodic_menu() -> None:
    menu = sa.recommend(
        sa.load_example("health-insurance"),
        objectives=[sa.Mean()],
        method=sa.Episodic(episodes=3000),
        rng=np.random.default_rng(3),
    )
    assert menu["mean"].first_action == "quit drinking"
    assert menu["mean"].solution.learning is not None


INCOME = {
    "safear": 1,
    "title": "raw",
    "horizon": 3,
    "features": {
        "income": {
            "kind": "numeric",
            "edges": [20_000, 35_000],
            "levels": ["low", "fair", "good"],
            "values": [10_000, 28_000, 50_000],
        }
    },
    "actions": {"earn": {"cost": 1, "chance": 0.5, "change": {"income": "+1"}}},
}


@pytest.mark.parametrize("income", [21_000, "fair"])
def test_raw_numbers_and_levels_that_agree(income: object) -> None:
    menu = sa.recommend(sa.parse_problem(INCOME), lambda frame: frame["income"] >= 30_000, {"income": income})
    assert menu.warnings == ()
    assert str(menu) == (
        "cheapest and safest: first earn; succeeds 88%, costs 1.75 units on average, 3 units in the worst 5%"
    )


def test_the_record_as_filed_decides() -> None:
    accepted = sa.recommend(sa.parse_problem(INCOME), lambda frame: frame["income"] >= 30_000, {"income": 33_000})
    assert accepted.favourable
    [warning] = accepted.warnings
    assert warning.startswith(
        "the numbers as given are accepted, but the levels that stand for them are not: use finer"
    )
    with pytest.raises(
        sa.NoRecourseError, match="the numbers as given are rejected, but the levels that stand for them"
    ):
        sa.recommend(sa.parse_problem(INCOME), lambda frame: frame["income"] >= 25_000, {"income": 21_000})


def test_people_by_name_and_single_objectives() -> None:
    problem = sa.load_example("loan")
    menu = sa.recommend(problem, None, "applicant", objectives=sa.Mean())
    assert [offer.name for offer in menu] == ["mean"]
    with pytest.raises(sa.PersonError, match="names no person 'aplicant'"):
        sa.recommend(problem, None, "aplicant")
    with pytest.raises(sa.ProblemError, match="'loan' is not a problem"):
        sa.recommend("loan")  # type: ignore[arg-type]
    with pytest.raises(sa.TermsError, match="are not terms"):
        sa.recommend(problem, terms={"forbid": []})  # type: ignore[arg-type]


RISKY = {
    "safear": 1,
    "title": "giving up is cheap",
    "horizon": 3,
    "goal": {"favourable": "done", "failure_cost": 0},
    "features": {"a": {"kind": "ordinal", "levels": ["0", "1", "2"]}, "b": {"kind": "nominal", "levels": ["x", "y"]}},
    "actions": {
        "dither": {"cost": 0.1, "when": "b == x", "outcomes": [{"chance": 0.5, "change": {"b": "y"}}, {}]},
        "dither back": {"cost": 0.1, "when": "b == y", "change": {"b": "x"}},
        "work": {"cost": 3, "chance": 0.9, "change": {"a": "+1"}},
    },
    "classifier": {"rule": "a == 2"},
    "people": {"p": {"a": "0", "b": "x"}},
}


def test_plans_that_give_up_are_not_the_only_offer() -> None:
    menu = sa.recommend(sa.parse_problem(RISKY))
    assert [(offer.name, offer.first_action) for offer in menu] == [("most likely to succeed", "work")]
    assert menu.warnings == ()
    asked = sa.recommend(sa.parse_problem(RISKY), objectives=[sa.Mean()])
    assert asked["mean"].cost.success == 0
    [warning] = asked.warnings
    assert warning == (
        "the plan 'mean' succeeds in 0% of the runs, though 97% is possible: giving up looks cheap when failing costs "
        "0 units (goal.failure_cost)"
    )


def test_one_plan_may_have_two_names() -> None:
    problem = sa.parse_problem({**RISKY, "goal": {"failure_cost": 100}})
    menu = sa.recommend(problem)
    assert [offer.name for offer in menu] == ["cheapest and safest"]
    assert menu["safest"] is menu["cheapest on average"] is menu["cheapest and safest"]


def test_rounded_costs_are_told() -> None:
    problem = sa.parse_problem({**RISKY, "goal": {"failure_cost": 100}, "cost": {"unit": "days", "resolution": 0.5}})
    menu = sa.recommend(problem)
    assert menu.warnings == ("costs are rounded; a total is off by at most 0.3 days",)
    assert sa.menu_record(menu)["cost_error"] == pytest.approx(0.3)
