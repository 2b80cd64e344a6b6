"""Parts of batches against `recommend`, person by person, in compiled code and one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import safear as sa
from crowds import (
    ACCEPTED,
    CHANCES,
    COSTS,
    HOPELESS,
    JOB,
    Own,
    Somebody,
    assert_rows,
    drawn_crowds,
    everybody,
    expect,
    job_people,
    job_somebody,
    make_part,
    records,
)
from doors import Job, Method, PartSolver
from doors import engine as engine_module
from lanes import scaled
from safear.classifier import Inputs
from safear.errors import ObjectiveError
from safear.problem import dump_problem_text, parse_problem
from safear.risk import Objective
from small_problems import ladder

GREEDY = [sa.Mean(), sa.MeanStd(0.5), sa.MeanStd(2), sa.MeanLowerStd(0.5), sa.MeanLowerStd(1.5), sa.MeanStd(0)]


WAYS: list[dict[str, int]] = [{"FEW": 0}, {"FEW": 0, "WORTH_IT": 0}]  # compiled, and one by one


def solve(
    problem: sa.Problem, people: Sequence[Somebody], objective: Objective | None, *, method: Method | None = None,
    level: float = 0.95, classifier: object = None, way: dict[str, int] = WAYS[0],
) -> pd.DataFrame:  # fmt: skip
    """The rows."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(engine_module, name, value)
        job = Job(problem, classifier, objective, method, level, reasons=True)
        return PartSolver(job).solve(make_part(problem, people))


def check(
    problem: sa.Problem, people: Sequence[Somebody], objective: Objective | None, **options: Any
) -> list[dict[str, Any]]:
    """Everybody gets what they get alone, on both paths; what that is, is returned."""
    expected = [expect(problem, one, objective, **options) for one in people]
    rows = [row for own in expected for row in own]
    numbers = [number for number, own in enumerate(expected, 1) for _ in own]
    for way in WAYS:
        found = solve(problem, people, objective, way=way, **options)
        assert found["row"].tolist() == numbers
        assert_rows(found, rows)
    return rows


# ------------------------------------------------------------------------------------------------------- drawn problems


@settings(max_examples=scaled(100))
@given(crowd=drawn_crowds(), objective=st.sampled_from(GREEDY), level=st.sampled_from([0.95, 0.5, 0.0, 1.0, 0.999]))
def test_greedy_plans_are_those_of_recommend(
    crowd: tuple[sa.Problem, list[Somebody]], objective: Objective, level: float
) -> None:
    problem, people = crowd
    check(problem, people, objective, method="greedy", level=level)


@settings(max_examples=scaled(40))
@given(crowd=drawn_crowds(most=2, plain=True), level=st.sampled_from([0.95, 0.8]))
def test_menus_are_those_of_recommend(crowd: tuple[sa.Problem, list[Somebody]], level: float) -> None:
    problem, people = crowd
    expected = [row for one in people for row in expect(problem, one, None, level=level)]
    assert_rows(solve(problem, people, None, level=level), expected)


OTHERS = [
    sa.CVaR(0.9),
    sa.MeanStd(0.5),
    sa.VaR(0.9),
    sa.Budget(5),
    sa.SuccessFirst(),
    sa.MeanCVaR(0.5, 0.9),
    sa.Entropic(0.3),
]


@settings(max_examples=scaled(50))
@given(
    crowd=drawn_crowds(most=2, plain=True), objective=st.sampled_from(OTHERS), method=st.sampled_from([None, "optimal"])
)
def test_plans_for_other_objectives_are_those_of_recommend(
    crowd: tuple[sa.Problem, list[Somebody]], objective: Objective, method: Method | None
) -> None:
    problem, people = crowd
    expected = [row for one in people for row in expect(problem, one, objective, method=method)]
    assert_rows(solve(problem, people, objective, method=method), expected)


@settings(max_examples=scaled(15))
@given(crowd=drawn_crowds(most=3), objective=st.sampled_from([sa.Mean(), sa.MeanLowerStd(1)]))
def test_without_a_method_the_sweep_is_still_used_where_it_is_the_default(
    crowd: tuple[sa.Problem, list[Somebody]], objective: Objective
) -> None:
    check(*crowd, objective)


@settings(max_examples=scaled(40))
@given(crowd=drawn_crowds(most=4), objective=st.sampled_from(GREEDY), data=st.data())
def test_who_else_is_there_does_not_matter(
    crowd: tuple[sa.Problem, list[Somebody]], objective: Objective, data: st.DataObject
) -> None:
    """Any order, anybody twice or not at all: each has the same row, up to the rounding of another unit of costs."""
    problem, people = crowd
    order = data.draw(st.lists(st.integers(0, len(people) - 1), min_size=1, max_size=8))
    whole = solve(problem, people, objective, method="greedy")
    other = solve(problem, [people[i] for i in order], objective, method="greedy")
    mine = records(whole)
    assert_rows(other, [mine[number] for number in order])


# ---------------------------------------------------------------------------------------------------------- one problem


RICH: dict[str, Any] = {
    "safear": 1,
    "title": "everything at once",
    "horizon": 5,
    "features": {
        "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
        "skill": {"kind": "ordinal", "levels": ["low", "mid", "high", "top"]},
        "region": {"kind": "nominal", "levels": ["n", "s", "e"], "mutable": False, "seen_by_classifier": False},
        "pay": {"kind": "ordinal", "levels": ["little", "some", "much"]},
        "debt": {"kind": "ordinal", "levels": ["none", "high"], "actionable": False},
        "age": {"kind": "ordinal", "levels": ["young", "old"], "mutable": False},
    },
    "goal": {"favourable": "hired", "failure_cost": 7.3},
    "classifier": {"rule": "skill == top and pay == much or sex == m and skill >= high and pay >= some"},
    "actions": {
        "sure": {"cost": 4, "change": {"skill": "+1"}},
        "learn": {
            "cost": [{"when": "region == s", "cost": 1.5}, 0.5],
            "when": "region != e",
            "chance": [{"when": "age == old", "chance": 0.4}, 0.8],
            "change": {"skill": "+1"},
        },
        "risk": {
            "cost": 0.25,
            "outcomes": [
                {"chance": 0.7, "change": {"pay": "+1"}},
                {"chance": 0.3, "change": {"debt": "high"}, "cost": 3},
            ],
        },
        "three": {
            "cost": 1,
            "outcomes": [
                {"chance": 0.5, "change": {"skill": "+2"}},
                {"chance": 0.25, "change": {"pay": "+1"}, "cost": 0.125},
                {"change": {"skill": "-1"}},
            ],
        },
    },
    "side_effects": [{"cause": "skill", "direction": "up", "change": {"pay": "+1"}, "when": "age == young"}],
    "constraints": ["not (debt == high and pay == much)"],
}


def draw_own(problem: sa.Problem, rng: np.random.Generator) -> Own:
    names = [action.name for action in problem.actions]
    cost = {name: float(rng.choice(COSTS)) for name in names if rng.random() < 0.5}
    chance = {name: float(rng.choice(CHANCES)) for name in names[:3] if rng.random() < 0.5}
    return Own(cost, chance, tuple(name for name in names if rng.random() < 0.2))


@pytest.mark.parametrize("objective", [sa.MeanStd(0.7), sa.MeanLowerStd(1), sa.Mean()], ids=str)
@pytest.mark.parametrize("resolution", [None, 0.2])
def test_everything_at_once(objective: Objective, resolution: float | None) -> None:
    """Every kind of action in every variant, beside constraints, side effects and features that matter."""
    document = RICH if resolution is None else {**RICH, "cost": {"resolution": resolution}}
    problem, rng = parse_problem(document), np.random.default_rng(8)
    levels = everybody(problem)
    people = [Somebody(levels[rng.integers(len(levels))], draw_own(problem, rng)) for _ in range(60)]
    decisions = {row["decision"] for row in check(problem, people, objective, method="greedy")}
    assert decisions == {"favourable", "plan", "no recourse"}


@pytest.mark.parametrize("chance", [0.0, 0.25, 1.0, None])
@pytest.mark.parametrize("forbid", [(), ("sure", "three", "learn")])
def test_an_outcome_that_cannot_happen_breaks_no_constraint(chance: float | None, forbid: tuple[str, ...]) -> None:
    """With much pay 'risk' may lead into debt, which is not allowed: only who is sure that it works may try."""
    document = {**RICH, "classifier": {"rule": "pay == much"}, "horizon": 1}
    problem = parse_problem(document)
    levels = {"sex": "f", "skill": "low", "region": "n", "pay": "some", "debt": "high", "age": "old"}
    own = Own(chance={} if chance is None else {"risk": chance}, forbid=forbid)
    for start in (levels, {**levels, "debt": "none"}):
        check(problem, [Somebody(start, own)], sa.MeanStd(1), method="greedy")


@pytest.mark.parametrize("chance", [1.0, 0.9, 0.5, 0.001])
@pytest.mark.parametrize("cost", [0.0, 2.0, 0.1])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_one_action_tried_again_and_again(chance: float, cost: float, way: dict[str, int]) -> None:
    """The closed form of retries: success 1 - q^H, and k tries cost k times as much with chance p q^(k - 1)."""
    horizon, failure = 6, 10.0
    problem = ladder({"try": {"cost": 5, "change": {"a": "yes"}}}, horizon=horizon, failure_cost=failure)
    people = [Somebody({"a": "no"}, Own({"try": cost}, {"try": chance})), Somebody({"a": "yes"})]
    found = solve(problem, people, sa.MeanStd(1), method="greedy", way=way)
    q, tries = 1 - chance, np.arange(1, horizon + 1)
    mass = chance * q ** (tries - 1)
    success = 1 - q**horizon
    mean = float((mass * tries).sum() / success) * cost
    square = float((mass * (tries * cost - mean) ** 2).sum() / success)
    cumulated = np.cumsum(mass) / success
    first = int(np.searchsorted(cumulated, 0.95 - 1e-12))
    var = float(tries[first] * cost)
    excess = float((mass * np.maximum(tries * cost - var, 0)).sum() / success)
    row = found.iloc[0]
    assert (row["decision"], row["first_action"], row["plan"]) == ("plan", "try", "mean-std:1")
    expected = {
        "success": success,
        "mean": mean,
        "std": math.sqrt(square),
        "var": var,
        "cvar": var + excess / 0.05,
        "overall_mean": success * mean + (1 - success) * (failure + horizon * cost),
    }
    assert row[list(expected)].to_dict() == pytest.approx(expected, abs=1e-9)
    assert found.iloc[1]["decision"] == "favourable"


@pytest.fixture(scope="module")
def job() -> sa.Problem:
    return sa.parse_problem(JOB)


def test_a_crowd_with_personal_terms(job: sa.Problem) -> None:
    people = [job_somebody(row) for row in records(job_people(60))]
    rows = check(job, people, sa.MeanStd(0.5), method="greedy")
    assert {row["decision"] for row in rows} == {"favourable", "plan", "no recourse"}


def test_forbidding_everything_leaves_no_recourse(job: sa.Problem) -> None:
    own = Own(forbid=("learn", "study", "gamble"))
    people = [Somebody({"skill": skill, "age": "<30", "gender": "male"}, own) for skill in ("basic", "skilled")]
    check(job, people, sa.MeanStd(0.5), method="greedy")
    assert_rows(solve(job, people, None), [HOPELESS | {"reason": "no_action"}, ACCEPTED])


@pytest.mark.parametrize("turned", [False, True])
def test_reasons_are_those_of_each_whoever_comes_first(turned: bool) -> None:
    """A chance that may be other than 0 is no chance; somebody's own chance takes two steps, and there is one."""
    problem = ladder({"learn": {"cost": 1, "chance": [0, 0, 0.5], "change": {"a": "+1"}}}, levels="abc", horizon=1)
    people = [Somebody({"a": "a"}, own) for own in (Own(), Own({"learn": 2}), Own(chance={"learn": 0.3}))]
    reasons = ["no_chance", "no_chance", "horizon"]
    people, reasons = (people[::-1], reasons[::-1]) if turned else (people, reasons)
    assert [row["reason"] for row in check(problem, people, sa.MeanStd(0.5), method="greedy")] == reasons


# ------------------------------------------------------------------------------------------------ odd costs and chances


BASIC = {"skill": "basic", "age": "<30", "gender": "female"}


def test_costs_of_very_different_size_in_one_part(job: sa.Problem) -> None:
    """Each of these people can be helped alone, so they can be helped in the same part."""
    people = [Somebody(BASIC, Own({"learn": 1e15})), Somebody(BASIC, Own({"learn": 0.00001})), Somebody(BASIC)]
    check(job, people, sa.MeanStd(0.5), method="greedy")


@pytest.mark.parametrize("cost", [1e15, 1e14 + 0.5, 0.0, 1e-12, 123.456789])
def test_costs_at_the_bounds(job: sa.Problem, cost: float) -> None:
    check(job, [Somebody(BASIC, Own({"learn": cost, "study": cost}))], sa.MeanStd(0.5), method="greedy")


@pytest.mark.parametrize("chance", [1e-15, 1e-16, 1e-17, 1e-20, 5e-324, 1 - 2**-53, 0.1 + 0.2])
def test_chances_at_the_bounds(job: sa.Problem, chance: float) -> None:
    """What is too small for a chance alone is too small here."""
    own = Own(chance={"study": chance}, forbid=("learn", "gamble"))
    check(job, [Somebody(BASIC, own)], sa.MeanStd(0.5), method="greedy")


def test_a_problem_whose_costs_are_all_zero() -> None:
    actions = {name: {**action, "cost": 0} for name, action in RICH["actions"].items()}
    actions = {name: {k: v for k, v in a.items() if k != "outcomes"} | {"change": {"pay": "+1"}} for name, a in actions.items()}  # fmt: skip  # noqa: E501
    problem = parse_problem({**RICH, "actions": actions, "goal": {"favourable": "x"}})
    rng = np.random.default_rng(2)
    levels = everybody(problem)
    people = [Somebody(levels[rng.integers(len(levels))], draw_own(problem, rng)) for _ in range(12)]
    check(problem, [*people, Somebody(levels[0])], sa.MeanStd(0.5), method="greedy")


# -------------------------------------------------------------------------------------------------------- what is asked


@pytest.mark.parametrize("count", [63, 64])
def test_more_variants_than_a_policy_can_name(count: int) -> None:
    actions = {f"a{i}": {"cost": i + 1, "chance": 0.5, "change": {"a": "+1"}} for i in range(count)}
    problem = ladder(actions, levels="abc", horizon=2, failure_cost=500)
    chance = {f"a{i}": [0.0, 0.01, 0.01, 1.0][min(i, 3 if i == count - 1 else 2)] for i in range(count)}
    people = [Somebody({"a": "a"}, Own(chance=chance)), Somebody({"a": "b"}, Own({"a3": 0}))]
    found = solve(problem, people, sa.MeanStd(0.5), method="greedy")
    assert_rows(found, [row for one in people for row in expect(problem, one, sa.MeanStd(0.5), method="greedy")])


class Asked:
    """A classifier that remembers what it was asked."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []

    def favourable(self, inputs: Inputs) -> np.ndarray[Any, Any]:
        self.rows += [tuple(row) for row in inputs.codes.tolist()]
        accepted: np.ndarray[Any, Any] = inputs.codes[:, 0] == 2
        return accepted


@pytest.mark.parametrize("objective, method", [(sa.MeanStd(0.5), "greedy"), (None, None)])
def test_the_classifier_is_asked_about_each_input_once(
    job: sa.Problem, objective: Objective | None, method: Method | None
) -> None:
    asked = Asked()
    engine = PartSolver(Job(job, asked, objective, method))
    for seed in range(3):
        engine.solve(make_part(job, [job_somebody(row) for row in records(job_people(8, seed))]))
    assert asked.rows
    assert len(asked.rows) == len(set(asked.rows))


@pytest.mark.parametrize("reasons", [False, True])
def test_nothing_is_searched_beyond_the_horizon_unless_reasons_are_asked_for(reasons: bool) -> None:
    problem, asked = ladder({"learn": {"cost": 1, "change": {"a": "+1"}}}, levels="abc", horizon=1), Asked()
    part = make_part(problem, [Somebody({"a": "a"}, Own({"learn": cost})) for cost in (1, 2)])
    found = PartSolver(Job(problem, asked, sa.Mean(), reasons=reasons)).solve(part)
    assert found["decision"].tolist() == ["no recourse"] * 2
    assert ("reason" in found, (2,) in asked.rows) == (reasons, reasons)


def test_several_threads_may_use_one_engine(job: sa.Problem) -> None:
    parts = [make_part(job, [job_somebody(row) for row in records(job_people(40, seed))], seed) for seed in range(12)]
    spoilt = [replace(p, chances=np.where(p.number % 2, p.chances, np.nan)) for p in parts]
    expected = [PartSolver(Job(job, None, sa.MeanStd(0.5), "greedy")).solve(part) for part in spoilt]
    shared = PartSolver(Job(job, None, sa.MeanStd(0.5), "greedy"))
    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(shared.solve, spoilt), expected, strict=True):
            assert_frame_equal(found, wanted)


# ------------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "objective, method", [(sa.CVaR(0.9), "greedy"), (sa.MeanLowerStd(0.5), "optimal"), (sa.Budget(3), "greedy")]
)
def test_a_method_that_does_not_fit_is_refused_as_by_recommend(
    job: sa.Problem, objective: Objective, method: Method
) -> None:
    people = [Somebody(BASIC)]
    with pytest.raises(ObjectiveError) as one:
        expect(job, people[0], objective, method=method)
    with pytest.raises(ObjectiveError) as all_of_them:
        solve(job, people, objective, method=method)
    assert str(all_of_them.value) == str(one.value)


@example(crowd=(parse_problem(RICH), [])).via("side effects and constraints")
@settings(max_examples=scaled(40))
@given(crowd=drawn_crowds())
def test_problems_can_be_sent_to_another_process(crowd: tuple[sa.Problem, list[Somebody]]) -> None:
    """Equal, hash and all that was worked out anew; the people of a problem are part of it."""
    import pickle  # noqa: PLC0415

    problem, people = crowd
    assert problem.feature_by_name  # worked out before it is sent
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(problem, protocol))
        assert again == problem
        assert dump_problem_text(again) == dump_problem_text(problem)
        assert dict(again.feature_by_name) == dict(problem.feature_by_name)
        assert again.decisive_features == problem.decisive_features
        assert {name: dict(record) for name, record in again.people.items()} == {
            name: dict(record) for name, record in problem.people.items()
        }
    if people:
        found = solve(again, people, sa.MeanStd(0.5), method="greedy")
        assert_frame_equal(found, solve(problem, people, sa.MeanStd(0.5), method="greedy"))
