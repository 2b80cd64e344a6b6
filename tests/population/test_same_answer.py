"""One person through every entrance: recommend, compare, audit, batch and the API give the same plan and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from population.crowds import Own, Somebody, drawn_crowds, every_way, make_part, read_parts
from safear.errors import TooLargeError
from safear.mdp.families import compile_families
from safear.people.lists import read_people
from safear.population.comparison import compare_filed
from safear.population.crowd import Crowd
from safear.population.engine import WIDE, Engine, Purpose
from safear.population.family_figures import solve_family, summarise
from safear.population.figures import MEASURES, NO_RECOURSE
from safear.population.parts import Job, PartSolver
from safear.problem import apply_terms
from safear.recourse.case import Desk
from safear.risk import Objective
from safear.solvers.solve import Method
from safear.web.service import Service
from web.conftest import Site, run_site

OBJECTIVES: list[Objective] = [sa.Mean(), sa.MeanStd(0.5), sa.CVaR(0.95), sa.VaR(0.9), sa.Entropic(0.3)]

CENTS: dict[str, Any] = {
    "safear": 1,
    "title": "euros and cents",
    "horizon": 4,
    "cost": {"unit": "euros"},
    "goal": {"favourable": "done", "failure_cost": 20_000},
    "features": {
        "a": {"kind": "ordinal", "levels": ["0", "1", "2", "3"]},
        "b": {"kind": "ordinal", "levels": ["no", "yes"]},
        "group": {"kind": "nominal", "levels": ["x", "y"], "mutable": False},
    },
    "actions": {
        "course": {"cost": 1234.56, "chance": 0.9, "change": {"a": "+1"}},
        "read": {"cost": 321.09, "chance": 0.5, "change": {"a": "+1"}},
        "ask": {"cost": 77.77, "chance": 0.3, "change": {"b": "yes"}},
    },
    "classifier": {"rule": "a == 3 and (b == yes or group == y) or a >= 2 and b == yes and group == y"},
}
PEOPLE = [{"a": a, "b": b, "group": g} for a in "0123" for b in ("no", "yes") for g in "xy"]
SOME = PEOPLE[1::3]
OWN = {
    "the problem's own terms": Own(),
    "costs in cents": Own(cost={"course": 999.99, "ask": 38.81}),
    "own chances": Own(cost={"read": 350.0}, chance={"course": 0.75, "ask": 1.0}),
    "a limit": Own(chance={"course": 0.6}, forbid=("read",)),
}
Figures = dict[str, float | str | None]


def by_recommend(
    problem: sa.Problem, one: Somebody, objective: Objective, method: Method | None = None
) -> Figures | None:
    """None if there is no plan."""
    options: dict[str, Any] = {"method": method, "terms": one.own.terms}
    menu = sa.recommend(problem, None, one.levels, objectives=objective, **options)
    if not menu.offers:
        return None
    (offer,) = menu
    runs = offer.cost.all_runs
    given = {"mean": offer.cost.mean, "var": offer.cost.var(0.95), "cvar": offer.cost.cvar(0.95)}
    return {
        "first_action": offer.first_action,
        "success": offer.cost.success,
        **given,
        "overall_mean": runs.mean,
        "overall_cvar": runs.cvar(0.95),
    }


def assert_same(found: Any, expected: Figures) -> None:
    for name, value in expected.items():
        if value is None or isinstance(value, str):
            assert pd.isna(found[name]) if value is None else found[name] == value, name
        else:
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


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


@settings(max_examples=20)
@given(crowd=drawn_crowds(most=3, plain=True), aim=st.sampled_from(WAYS), way=every_way())
def test_drawn_people_with_their_own_terms(
    crowd: tuple[sa.Problem, list[Somebody]], aim: tuple[Objective, Method | None], way: dict[str, int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(f"safear.population.engine.{name}", value)
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
    monkeypatch.setattr("safear.population.engine.FEW", few)
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


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs in cents are rounded to find a plan, as those of larger problems are."""
    monkeypatch.setattr("safear.solvers.fine_costs.MAX_WORK", 1_000_000)
    problem = sa.parse_problem(CENTS)
    assert sa.solve(sa.compile_mdp(problem, start=SOME[0]), sa.CVaR(0.95)).search_unit is not None


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_fine_costs(own: Own, objective: Objective) -> None:
    """Four steps in cents have half a million totals: plans are looked for with rounded costs, the same for all."""
    people = [Somebody(levels, own) for levels in SOME]
    assert check(sa.parse_problem(CENTS), people, objective) > 1


@pytest.fixture(scope="module")
def site() -> Any:
    with run_site(Service.of(sa.parse_problem(CENTS))) as site:
        yield site


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_files_and_the_api(own: Own, site: Site, tmp_path: Path) -> None:
    """The best plans of a menu by recommend, batch and the API; of one objective also by audit and compare."""
    problem, objective = sa.parse_problem(CENTS), sa.CVaR(0.95)
    personal = apply_terms(problem, own.terms)
    frame = pd.DataFrame(SOME)
    for role, stated in (("cost", own.cost), ("chance", own.chance)):
        for name, value in stated.items():
            frame[f"{role}:{name}"] = value
    for name in own.forbid:
        frame[f"forbid:{name}"] = True
    frame.to_parquet(tmp_path / "people.parquet")
    sa.batch(problem, None, tmp_path / "people.parquet", out=tmp_path / "menus")
    sa.batch(problem, None, tmp_path / "people.parquet", out=tmp_path / "plans", objective=objective)
    menus, plans = (read_parts(tmp_path / name) for name in ("menus", "plans"))
    audit = sa.audit(personal, None, frame[["a", "b", "group"]], groups=["a", "b", "group"], objective=objective)
    table: Any = audit.to_frame()
    compared = sa.compare(personal, None, SOME, objective=sa.MeanStd(0.5)).to_frame()
    terms = {"cost": dict(own.cost), "chance": dict(own.chance), "forbid": list(own.forbid)}
    for number, levels in enumerate(SOME, start=1):
        one = Somebody(levels, own)
        menu = sa.recommend(problem, None, levels, terms=own.terms)
        with site.client() as client:
            answer = client.post("/api/v1/menu", json={"person": levels, "terms": terms}).json()
        mine = menus[menus["row"] == number]
        assert [plan["name"] for plan in answer["plans"]] == [offer.name for offer in menu]
        assert [None if pd.isna(name) else name for name in mine["plan"]] == [
            *(o.name for o in menu),
            *([] if len(menu) else [None]),
        ]
        for offer, plan, (_, row) in zip(menu, answer["plans"], mine.iterrows(), strict=False):
            figures = [offer.cost.success, offer.mean, offer.cost.all_runs.cvar(0.95)]
            assert [plan["success"], plan["all_runs"]["mean"], plan["all_runs"]["cvar"]["0.95"]] == figures
            assert row[["success", "overall_mean", "overall_cvar"]].tolist() == pytest.approx(figures, rel=1e-9)
        expected = by_recommend(problem, one, objective)
        if expected is None:
            continue
        (_, row), *others = plans[plans["row"] == number].iterrows()
        assert not others
        assert_same(row, expected)
        cell = table.loc[tuple(levels.values())]
        assert [cell[name] for name in ("success", "mean", "var", "cvar")] == pytest.approx(
            [expected[name] for name in ("success", "mean", "var", "cvar")], rel=1e-9
        )
        with site.client() as client:
            asked = {"person": levels, "terms": terms, "objective": "cvar:0.95"}
            (plan,) = client.post("/api/v1/plan", json=asked).json()["plans"]
        assert [plan["success"], plan["cost"]["mean"]] == pytest.approx(
            [expected["success"], expected["mean"]], rel=1e-9
        )
        pair = compared[np.logical_and.reduce([compared[name] == level for name, level in levels.items()])].iloc[0]
        deviation = by_recommend(problem, one, sa.MeanStd(0.5))
        assert deviation is not None
        assert pair["optimal first_action"] == deviation["first_action"]
        names = ("success", "overall_mean", "overall_cvar")
        assert [pair[f"optimal {name}"] for name in ("success", "mean", "cvar")] == pytest.approx(
            [deviation[name] for name in names], rel=1e-9
        )


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
