"""Menus: what is offered, under which names, and to whom nothing is."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

import safear as sa
from limits import limit_work
from safear.errors import ObjectiveError, PersonError, ProblemError, TermsError
from safear.risk import Objective
from small_problems import GUESS, TERM, guessed_loan
from strategies import problems

LOAN = sa.load_example("loan")


def test_loan_menu() -> None:
    menu = sa.recommend(sa.load_example("loan"))
    assert [offer.name for offer in menu] == ["safest", "cheapest on average"]
    safest, cheapest = menu
    assert safest.first_action == "study part-time"
    assert cheapest.first_action == "change job"
    assert cheapest.cost.all_runs.mean == pytest.approx(1.5, abs=0.001)
    mdp = cheapest.solution.mdp
    assert cheapest.mean == pytest.approx(sa.solve(mdp, sa.Mean()).value, rel=1e-9)
    assert safest.tail == pytest.approx(sa.solve(mdp, sa.CVaR(0.95)).value, rel=1e-9)
    assert safest.cost.all_runs.mean == pytest.approx(2.191, abs=0.001)
    within_3 = sum(chance for cost, chance, success in safest.cost.points() if success and cost <= 3)
    # study and save, with at most one failure, or change the job after two
    assert within_3 == pytest.approx(0.9 * 0.92 * (1 + 0.1 + 0.08) + 0.1**2 * 0.9)
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
    assert [offer.name for offer in menu] == ["safest", "balanced", "cheapest on average"]
    menu = sa.recommend(sa.load_example("health-insurance"), most=5, exact=True)
    assert [(offer.name, offer.first_action) for offer in menu] == [
        ("safest", "healthy diet"),
        ("balanced 1", "quit smoking"),
        ("balanced 2", "quit drinking"),
        ("cheapest on average", "quit drinking"),
    ]
    paper = sa.recommend(sa.load_example("health-insurance"), method="greedy")
    assert [(offer.name, offer.first_action) for offer in paper] == [
        ("safest", "healthy diet"),
        ("balanced", "quit smoking"),
        ("cheapest on average", "quit drinking"),
    ]


def test_objectives_give_a_plan_each_even_if_equal() -> None:
    objectives: list[Objective] = [sa.MeanStd(0.5), sa.MeanStd(1), sa.MeanLowerStd(1)]
    menu = sa.recommend(sa.load_example("loan"), objectives=objectives)
    assert [offer.name for offer in menu] == ["mean-std:0.5", "mean-std:1", "mean-lower-std:1"]


def test_value_is_exact_and_planned_value_the_recursions() -> None:
    problem = sa.load_example("health-insurance")
    offer = sa.recommend(problem, objectives=[sa.MeanStd(0.5)], method="greedy")["mean-std:0.5"]
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
    ("change", "code", "states"),
    [
        ({"horizon": 1}, "horizon", 2),
        ({"classifier": {"rule": "b == yes"}}, "never", 2),
        ({"horizon": 1, "classifier": {"rule": "b == yes"}}, "never", 2),
        ({"constraints": ["a == 0"]}, "no_action", 0),
    ],
)
def test_no_recourse_says_why(change: dict[str, Any], code: str, states: int) -> None:
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
    menu = sa.recommend(sa.parse_problem({**document, **change}))
    assert not menu.favourable
    assert not menu.offers
    assert menu.no_recourse is not None
    assert (menu.no_recourse.code, menu.no_recourse.states) == (code, states)
    assert str(menu) == str(menu.no_recourse)


def test_person_is_asked_for() -> None:
    problem = sa.parse_problem({**sa.dump_problem(sa.load_example("loan")), "people": {}})
    with pytest.raises(PersonError, match="no person is given, and the problem names none"):
        sa.recommend(problem)


@given(problems())
def test_menus_of_any_problem(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    menu = sa.recommend(problem)
    assume(menu.offers)
    names = [offer.name for offer in menu]
    assert len(set(names)) == len(names)
    means = {offer.name: offer.cost.all_runs.mean for offer in menu}
    named = {name for name in names if not name.startswith("most likely")}
    if named:
        cheapest = next(name for name in names if name.startswith("cheapest"))
        assert means[cheapest] == pytest.approx(min(means[name] for name in named))
    best = sa.evaluate(sa.solve(menu.offers[0].solution.mdp, sa.SuccessFirst())).success
    assert max(offer.cost.success for offer in menu) >= best - 0.05
    assert all(offer.cost.success > 0 for offer in menu)
    json.dumps(sa.reports.report_figures(menu).menu.model_dump(), allow_nan=False)


def test_episodic_menu() -> None:
    menu = sa.recommend(
        sa.load_example("health-insurance"),
        objectives=[sa.Mean()],
        method="episodic",
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
    assert menu.notices == ()
    assert str(menu) == (
        "cheapest and safest: first earn; succeeds in 88% of cases; "
        "costs 1.75 units on average, 3 units in the worst 5 of 100 cases"
    )


def test_the_record_as_filed_decides() -> None:
    accepted = sa.recommend(sa.parse_problem(INCOME), lambda frame: frame["income"] >= 30_000, {"income": 33_000})
    assert accepted.favourable
    rejected = sa.recommend(sa.parse_problem(INCOME), lambda frame: frame["income"] >= 25_000, {"income": 21_000})
    assert rejected[0].cost.success == 0.875  # the level's value, 28,000, is not what was filed


@pytest.mark.parametrize(("method", "objective"), [("magic", "mean"), ("greedy", "cvar:0.95")])
def test_a_method_that_cannot_be_is_told_to_those_who_need_no_plan(method: Any, objective: str) -> None:
    problem = sa.parse_problem(INCOME)
    with pytest.raises(ObjectiveError, match="method"):
        sa.recommend(problem, lambda frame: frame["income"] > 0, {"income": 1}, objectives=objective, method=method)


def test_people_by_name_and_single_objectives() -> None:
    problem = sa.load_example("loan")
    menu = sa.recommend(problem, None, "applicant", objectives=sa.Mean())
    assert [offer.name for offer in menu] == ["mean"]
    with pytest.raises(PersonError, match="names no person 'aplicant'"):
        sa.recommend(problem, None, "aplicant")
    with pytest.raises(ProblemError, match="'loan' is not a problem"):
        sa.recommend("loan")  # type: ignore[arg-type]
    with pytest.raises(TermsError, match="are not terms"):
        sa.recommend(problem, terms={"forbid": []})  # type: ignore[arg-type]


def codes(menu: sa.Menu) -> set[str]:
    return {notice.code for notice in menu.notices}


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
    [notice] = menu.notices
    assert notice.code == "cheaper_gives_up"
    assert notice.values == pytest.approx({"success": 0, "possible": 0.972, "failure_cost": 0, "enough": 7.0})
    asked = sa.recommend(sa.parse_problem(RISKY), objectives=[sa.Mean()])
    assert asked["mean"].cost.success == 0
    [notice] = asked.notices
    assert str(notice) == "Plan 1 leads to “done” in 0% of cases, though 97% is possible with another plan."


def test_one_plan_may_have_two_names() -> None:
    problem = sa.parse_problem({**RISKY, "goal": {"failure_cost": 100}})
    menu = sa.recommend(problem)
    assert [offer.name for offer in menu] == ["cheapest and safest"]
    assert menu["safest"] is menu["cheapest on average"] is menu["cheapest and safest"]


def test_rounded_costs_are_told() -> None:
    problem = sa.parse_problem({**RISKY, "goal": {"failure_cost": 100}, "cost": {"unit": "days", "resolution": 0.5}})
    menu = sa.recommend(problem)
    [notice] = menu.notices
    assert notice.code == "rounded"
    assert notice.values == pytest.approx({"resolution": 0.5, "error": 0.3})
    assert sa.reports.report_figures(menu).menu.model_dump()["cost_error"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("level", "worst"),
    [(0.8, "worst 20 of 100 cases"), (0.9, "worst 10 of 100 cases"), (0.99, "worst of 100 cases"), (1, "worst case")],
)
def test_the_level_says_what_is_safe(level: float, worst: str) -> None:
    problem = sa.load_example("loan")
    menu = sa.recommend(problem, level=level)
    assert menu.level == level
    mdp = menu["safest"].solution.mdp
    least = sa.solve(mdp, sa.CVaR(level)).value
    assert menu["safest"].best.tail == pytest.approx(least, rel=1e-9)
    assert menu["safest"].tail <= 1.02 * least + 1e-9
    assert menu["cheapest on average"].mean == pytest.approx(sa.solve(mdp, sa.Mean()).value, rel=1e-6)
    record = sa.reports.report_figures(menu).menu.model_dump()
    assert record["level"] == level
    assert [point["cvar"] for point in record["frontier"]] == [offer.tail for offer in menu.frontier]
    assert all(str(offer).endswith(f"in the {worst}") for offer in menu)
    assert all(f"in the {worst}" in str(offer.trade_off) for offer in menu)


def test_at_the_level_1_the_worst_case_counts() -> None:
    """Study part-time and save never lead to more than 23 steps of 1 month and the failure cost: then all is lost."""
    menu = sa.recommend(sa.load_example("loan"), level=1)
    safest, cheapest = menu
    assert safest.tail == max(cost for cost, _, _ in safest.cost.points()) == 47
    assert cheapest.tail == max(cost for cost, _, _ in cheapest.cost.points()) > 47


def test_plans_of_other_methods_have_the_level_that_was_asked_for() -> None:
    menu = sa.recommend(sa.load_example("loan"), method="greedy", level=0.5)
    assert {offer.level for offer in menu} == {menu.level} == {0.5}


@pytest.mark.parametrize("level", [-0.1, 1.5, float("nan")])
def test_levels_that_are_none(level: float) -> None:
    with pytest.raises(sa.SafearError, match="is not between 0 and 1"):
        sa.recommend(sa.load_example("loan"), level=level)


def test_a_menu_of_no_plans_is_refused() -> None:
    with pytest.raises(ObjectiveError, match="a menu of 0 plans is too small"):
        sa.recommend(sa.load_example("loan"), most=0)
    with pytest.raises(ObjectiveError, match="the list of objectives is empty"):
        sa.recommend(sa.load_example("loan"), objectives=[])


def test_objectives_as_texts() -> None:
    problem = sa.load_example("loan")
    menu = sa.recommend(problem, objectives=["cvar:0.95", sa.Mean(), "success-first:cvar:0.95"])
    assert [offer.name for offer in menu] == ["cvar:0.95", "mean", "success-first:cvar:0.95"]
    assert menu["cvar:0.95"].value == pytest.approx(3.3818, abs=5e-5)
    assert menu["success-first:cvar:0.95"].cost.success == 1
    assert menu.frontier == ()


DOLLARS = {
    "safear": 1,
    "title": "dollars and cents",
    "horizon": 4,
    "cost": {"unit": "dollars"},
    "goal": {"favourable": "done", "failure_cost": 9000},
    "features": {"a": {"kind": "ordinal", "levels": ["0", "1", "2"]}},
    "actions": {
        "course": {"cost": 1234.56, "chance": 0.9, "change": {"a": "+1"}},
        "book": {"cost": 333.33, "chance": 0.4, "change": {"a": "+1"}},
    },
    "classifier": {"rule": "a == 2"},
    "people": {"p": {"a": "0"}},
}


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little work at a time that costs in cents must be rounded."""
    limit_work(50_000, monkeypatch)


@pytest.mark.usefixtures("hasty")
def test_plans_for_costs_that_are_too_fine_have_the_real_figures() -> None:
    problem = sa.parse_problem(DOLLARS)
    everybody = sa.compile_mdp(problem)  # plans for many are never looked for with rounded costs
    menu = sa.recommend(problem)
    assert "searched_rounded" in codes(menu)
    record = sa.reports.report_figures(menu).menu.model_dump()
    json.dumps(record, allow_nan=False)
    assert record["cost_error"] == 0
    prices = {step.cost for offer in menu for step in offer.full_plan.steps}
    assert prices <= {1234.56, 333.33}
    for objective, found in (
        (sa.Mean(), min(offer.mean for offer in menu.frontier)),
        (sa.CVaR(0.95), menu["safest"].tail),
    ):
        exact = sa.solve(everybody, objective).value_of(problem.default_person)
        assert exact - 1e-9 <= found <= exact * 1.02
    for offer in menu.frontier:
        solution = offer.solution
        assert solution.bound <= solution.value == pytest.approx(offer.value)
        exact = sa.solve(everybody, offer.objective).value_of(problem.default_person)
        assert solution.bound <= exact + 1e-9
        assert exact <= solution.value + 1e-9
        rng = np.random.default_rng(1)
        simulated = sa.simulate(solution, rollouts=20_000, rng=rng).distribution.all_runs
        assert simulated.mean == pytest.approx(offer.mean, abs=5 * offer.cost.all_runs.std / 20_000**0.5)


@pytest.mark.usefixtures("hasty")
def test_rounding_is_only_for_what_needs_it() -> None:
    problem = sa.parse_problem(DOLLARS)
    for options in ({"objectives": "mean"}, {"objectives": "mean-std:1", "method": "greedy"}, {"method": "greedy"}):
        menu = sa.recommend(problem, **options)  # type: ignore[arg-type]
        assert not {"rounded", "searched_rounded"} & codes(menu)
    exact = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean()).value
    assert sa.recommend(problem, objectives=["mean", "mean-std:1"])["mean"].value == pytest.approx(exact, rel=1e-12)


def test_a_dear_failure_does_not_blur_the_costs() -> None:
    """However much a failure costs, the steps keep their prices, and the figures of those who succeed do not change."""
    document = {**sa.dump_problem(sa.load_example("loan"))}
    menu = sa.recommend(sa.parse_problem({**document, "goal": {**document["goal"], "failure_cost": 1_000_000}}))
    assert not {"rounded", "searched_rounded"} & codes(menu)
    assert menu.offers[-1].cost.mean == pytest.approx(2.2, abs=0.1)


def test_the_resolution_that_is_given_is_kept_if_it_will_do() -> None:
    menu = sa.recommend(sa.parse_problem({**DOLLARS, "cost": {"unit": "dollars", "resolution": 10}}))
    assert menu.problem.cost_resolution == 10
    [notice] = [notice for notice in menu.notices if "rounded" in notice.code]
    assert notice.code == "rounded"
    assert notice.values == pytest.approx({"resolution": 10, "error": 18.24})


def test_menus_plans_and_costs_as_frames() -> None:
    menu = sa.recommend(LOAN)
    plans = menu.to_frame()
    assert list(plans["plan"]) == ["safest", "cheapest on average"]
    for row, offer in zip(plans.to_dict("records"), menu, strict=True):
        assert (row["success"], row["mean"], row["cvar"]) == (offer.cost.success, offer.mean, offer.tail)
        costs = offer.cost.to_frame()
        assert (costs["cost"] * costs["chance"]).sum() == pytest.approx(offer.mean)
        assert costs.loc[costs["success"], "chance"].sum() == pytest.approx(offer.cost.success)
        steps = offer.plan.to_frame()
        assert steps.groupby("step")["chance"].sum().tolist() == pytest.approx([1.0] * len(offer.plan.steps))
        assert steps["action"][0] == offer.first_action
    first = menu["cheapest"].plan.to_frame().head(2)[["step", "action", "works", "outcome", "chance", "cost", "then"]]
    assert first.to_numpy().tolist() == [
        [1, "change job", True, "savings becomes rich", 0.9, 1.0, "goal"],
        [1, "change job", False, "you lose your job", 0.1, 1.0, 2],
    ]


def test_ranges_stand_in_frames_and_records() -> None:
    menu = sa.recommend(guessed_loan())
    rows, records = menu.to_frame().to_dict("records"), sa.reports.report_figures(menu).menu.plans
    for offer, row, record in zip(menu, rows, records, strict=True):
        found = offer.ranges
        assert found is not None
        assert record.ranges is not None
        assert record.ranges.level == menu.level
        for name, ends in (("success", found.success), ("mean", found.mean), ("var", found.var), ("cvar", found.tail)):
            assert ends.low < ends.high
            assert ends.low <= row[name] <= ends.high
            assert (row[f"{name}_low"], row[f"{name}_high"]) == (ends.low, ends.high)
            told = getattr(record.ranges, name)
            assert (told.low, told.high) == (ends.low, ends.high)
    certain = sa.recommend(LOAN)
    assert certain.to_frame()[["mean_low", "cvar_high"]].isna().all(axis=None)
    assert [plan.ranges for plan in sa.reports.report_figures(certain).menu.plans] == [None, None]


def test_a_chance_of_ones_own_is_no_guess() -> None:
    problem = guessed_loan()
    own = {action.name: 0.5 for action in problem.actions}
    assert all(offer.ranges is None for offer in sa.recommend(problem, terms=sa.Terms.of(chance=own)))


def test_what_notebooks_show() -> None:
    menu = sa.recommend(LOAN, objectives="mean", terms=sa.Terms.of(forbid=["change job"]))
    for text in (menu._repr_html_(), menu[0]._repr_html_()):
        assert "<table>" in text
        assert "<td>study part-time</td>" in text
    assert menu[0].plan._repr_html_() in menu[0]._repr_html_()
    assert "<td>all runs</td><td>100%</td>" in menu[0].cost._repr_html_()
    every = [action.name for action in LOAN.actions]
    stuck = sa.recommend(LOAN, terms=sa.Terms.of(forbid=every))
    assert stuck._repr_html_() == f"<p>{stuck.no_recourse}</p>"
    rounded = sa.recommend(replace(LOAN, cost_resolution=Decimal(1)))
    assert rounded.notices
    assert all(f"<p>{notice}</p>" in rounded._repr_html_() for notice in rounded.notices)


def test_robust_plans_without_intervals_are_told_to_be_no_others() -> None:
    nominal, robust = (sa.recommend(sa.load_example("loan"), robust=robust) for robust in (False, True))
    assert [offer.cost.points() for offer in robust] == [offer.cost.points() for offer in nominal]
    assert [notice.code for notice in robust.notices] == ["no_intervals"]
    assert nominal.notices == ()


def test_robust_plans_are_named_and_compared_by_the_same_figures() -> None:
    """A step that has never failed is the cheapest; at worst, another one succeeds more often."""
    document = {
        "safear": 1,
        "title": "Q",
        "horizon": 4,
        "cost": {"unit": "months"},
        "features": {
            "a": {"kind": "ordinal", "levels": ["low", "high"]},
            "b": {"kind": "ordinal", "levels": ["no", "yes"]},
        },
        "goal": {"failure_cost": 10},
        "classifier": {"rule": "a == high or b == yes"},
        "actions": {
            "try": {"when": "a < high", "cost": 1, "chance": {"worked": 5, "tried": 5}, "change": {"a": "+1"}},
            "pay": {"cost": 3, "chance": [0.5, 0.8, 0.9], "change": {"b": "yes"}},
        },
        "people": {"p": {"a": "low", "b": "no"}},
    }
    menu = sa.recommend(sa.parse_problem(document), robust=True)
    assert [notice.code for notice in menu.notices] == ["by_worst"]
    assert [offer.kind for offer in menu] == ["likeliest", "cheapest_and_safest"]
    paid, tried = menu
    assert paid.trade_off is not None
    assert paid.trade_off.code == "beside_worst"
    assert paid.trade_off.success == (paid.worst_figures.success, tried.worst_figures.success)
    assert paid.trade_off.mean == paid.worst_figures.mean - tried.worst_figures.mean
    assert str(paid.trade_off) == (
        "Compared with “cheapest and safest”, if our estimates are as far off as they can be: reaches the goal in 94% "
        "of cases, not in 93%; 3.57 months more on average; 8 months more in the worst 5 of 100 cases."
    )
    [alone] = sa.recommend(sa.parse_problem(GUESS), robust=True)
    assert alone.trade_off is not None
    assert alone.trade_off.code == "none_worst"


def test_a_robust_menu_takes_another_first_step() -> None:
    problem = sa.parse_problem(GUESS)
    robust, nominal = (sa.recommend(problem, robust=flag) for flag in (True, False))
    assert nominal["cheapest"].first_action == "learn"
    assert {offer.first_action for offer in robust} == {"be taught"}
    [offer] = sa.recommend(problem, objectives="cvar:0.9", robust=True)
    assert offer.solution.robust
    assert offer.planned_value == offer.solution.value > offer.value  # at the worst, and at the nominal chances


@pytest.mark.parametrize("options", [{"objectives": "mean-std:0.5"}, {"method": "greedy"}])
def test_what_has_no_robust_form_is_told_before_anything_is_computed(options: dict[str, str]) -> None:
    with pytest.raises(ObjectiveError) as caught:
        sa.recommend(sa.parse_problem(GUESS), robust=True, **options)  # type: ignore[arg-type]
    assert caught.value.mistakes[0].code == "not_robust"


def is_short(frame: Any) -> Any:
    """A model that sees the number as it was filed."""
    return frame["term"] < 24


@pytest.mark.parametrize("made", ["rule", "intervals", "filed", "no recourse"])
def test_menus_can_be_pickled(made: str) -> None:
    """Before anybody has looked at them or after: what comes back says and does the same."""
    shorten = {"cost": 1, "chance": 0.8, "change": {"term": -1}}
    filed = sa.parse_problem(
        {"safear": 1, "title": "Credit", "horizon": 4, "features": {"term": TERM}, "actions": {"shorten": shorten}}
    )
    menu = {
        "rule": lambda: sa.recommend(LOAN),
        "intervals": lambda: sa.recommend(guessed_loan(), robust=True),
        "filed": lambda: sa.recommend(filed, is_short, {"term": 40}),
        "no recourse": lambda: sa.recommend(filed.with_horizon(1), is_short, {"term": 40}),
    }[made]()
    early = pickle.loads(pickle.dumps(menu))
    expected = str(menu), [str(sa.walk(offer, [0])) for offer in menu], sa.plots.traces(menu).svg if len(menu) else ""
    for copy in (early, pickle.loads(pickle.dumps(menu)), pickle.loads(pickle.dumps(early))):
        found = str(copy), [str(sa.walk(offer, [0])) for offer in copy], sa.plots.traces(copy).svg if len(copy) else ""
        assert found == expected
        assert [offer.verification for offer in copy] == [offer.verification for offer in menu]
        assert sa.evaluate(copy[0].policy).points() == menu[0].cost.points() if len(menu) else copy.no_recourse
