"""One person by recommend, and by the engines of batches, audits and comparisons: the same plan and figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from crowds import Own, Somebody, drawn_crowds, every_way, make_part
from doors import FIGURE_MEASURES as MEASURES
from doors import (
    NO_RECOURSE,
    WIDE,
    Crowd,
    Engine,
    Job,
    Method,
    PartSolver,
    Purpose,
    compare_filed,
    engine,
    solve_family,
    summarise,
)
from lanes import scaled
from promises.population.test_same_answer import (
    CENTS,
    OWN,
    PEOPLE,
    SOME,
    assert_same,
    by_recommend,
    hasty,  # noqa: F401  # a fixture
)
from safear.errors import TooLargeError
from safear.mdp import compile_families
from safear.people import read_people
from safear.problem import apply_terms
from safear.recourse import Desk
from safear.risk import Objective

OBJECTIVES: list[Objective] = [sa.Mean(), sa.MeanStd(0.5), sa.CVaR(0.95), sa.VaR(0.9), sa.Entropic(0.3)]


def check(problem: sa.Problem, people: list[Somebody], objective: Objective, method: Method | None = None) -> int:
    """Batches and audits against recommend; how many have a plan."""
    rows = PartSolver(Job(problem, None, objective, method)).solve(make_part(problem, people))
    planned = 0
    for number, one in enumerate(people):
        expected = by_recommend(problem, one, objective, method)
        row = rows.iloc[number]
        assert (row["decision"] == "plan") == (expected is not None)
        personal = apply_terms(problem, one.own.terms)
        engine, codes = Engine(Desk.of(personal)), read_people(problem, [one.levels])
        audited = engine.work_out(Crowd.of(personal, codes), Purpose(objective, method), MEASURES)
        if expected is None:
            assert (row["decision"] == "no recourse") == (audited.decision[0] == NO_RECOURSE)
            continue
        planned += 1
        assert_same(row, expected)
        assert_same(
            {name: audited.of(name).filled(np.nan)[0] for name in MEASURES},
            {name: expected[name] for name in ("success", "mean", "var", "cvar")},
        )
        assert personal.actions[audited.first_action[0]].name == expected["first_action"]
        if method is None and isinstance(objective, sa.Mean | sa.MeanStd):
            (pair,) = compare_filed(engine, codes, objective=objective).pairs
            assert pair.optimal.first_action == expected["first_action"]
            figures = [pair.optimal.success, pair.optimal.mean, pair.optimal.cvar]
            names = ("success", "overall_mean", "overall_cvar")
            assert figures == pytest.approx([expected[name] for name in names], rel=1e-9, abs=1e-9)
    return planned


WAYS: list[tuple[Objective, Method | None]] = [
    *((objective, None) for objective in OBJECTIVES),
    (sa.MeanStd(0.5), "greedy"),
    (sa.MeanLowerStd(1), "greedy"),
]


@settings(max_examples=scaled(20))
@given(crowd=drawn_crowds(most=3, plain=True), aim=st.sampled_from(WAYS), way=every_way())
def test_drawn_people_with_their_own_terms(
    crowd: tuple[sa.Problem, list[Somebody]], aim: tuple[Objective, Method | None], way: dict[str, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(engine, name, value)
        check(*crowd, *aim)


@pytest.mark.parametrize("stop", [True, False])
@pytest.mark.parametrize("objective, method", [(sa.Mean(), None), (sa.MeanStd(0.5), "greedy"), (sa.CVaR(0.9), None)])
@pytest.mark.parametrize("own", [Own(), Own(cost={"try": 1.5}), Own(chance={"try": 0.25})], ids=str)
@pytest.mark.parametrize("few", [0, 10])
def test_a_chance_that_nobody_has_seen_is_one(
    stop: bool,
    objective: Objective,
    method: Method | None,
    own: Own,
    few: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Begging has never worked in five tries, but it may: where only that is left, the plan goes on, at a cost."""
    monkeypatch.setattr(engine, "FEW", few)
    document: dict[str, Any] = {
        "safear": 1,
        "title": "never so far",
        "horizon": 3,
        "features": {"a": {"kind": "ordinal", "levels": ["low", "mid", "high"]}},
        "goal": {"failure_cost": 20, "stop": stop},
        "classifier": {"rule": "a == high"},
        "actions": {
            "try": {
                "when": "a == low",
                "cost": 1,
                "outcomes": [{"chance": 0.5, "change": {"a": "high"}}, {"change": {"a": "mid"}}],
            },
            "beg": {"when": "a == mid", "cost": 5, "chance": {"worked": 0, "tried": 5}, "change": {"a": "high"}},
        },
    }
    problem, low, mid = sa.parse_problem(document), Somebody({"a": "low"}, own), Somebody({"a": "mid"}, own)
    assert check(problem, [low, mid], objective, method) == 1, "who must beg has no chance"
    found = by_recommend(problem, low, objective, method)
    assert found is not None
    failing = 1 - own.chance.get("try", 0.5)
    assert found["overall_mean"] == pytest.approx(own.cost.get("try", 1) + failing * (2 * 5 + 20))


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_fine_costs(own: Own, objective: Objective) -> None:
    """Four steps in cents have half a million totals: plans are looked for with rounded costs, the same for all."""
    people = [Somebody(levels, own) for levels in SOME]
    assert check(sa.parse_problem(CENTS), people, objective) > 1


def test_a_block_too_wide_for_its_distributions_is_no_obstacle() -> None:
    """An audit of Mean in cents would need all totals of all states; its people are followed one by one instead."""
    problem = sa.parse_problem({**CENTS, "horizon": 60, "cost": {"unit": "euros", "resolution": 0.0001}})
    people = [person for person in PEOPLE if person["a"] != "3"] * 2
    solution = solve_family(next(compile_families(problem)), sa.Mean())
    with pytest.raises(TooLargeError):
        summarise(solution, max_bytes=WIDE)
    audit = sa.audit(problem, None, people, groups=["a", "b", "group"])
    table: Any = audit.to_frame()
    for person in people[::5]:
        expected = by_recommend(problem, Somebody(person), sa.Mean())
        assert expected is not None
        assert table.loc[tuple(person.values()), "mean"] == pytest.approx(expected["mean"], rel=1e-9)
