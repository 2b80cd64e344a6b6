"""One person through every entrance: recommend, compare, audit, batch and the API give the same plan and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from crowds import Own, Somebody, read_parts
from limits import limit_work
from promises.web.conftest import Site, serve
from safear.risk import Objective

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


def by_recommend(problem: sa.Problem, one: Somebody, objective: Objective, method: Any = None) -> Figures | None:
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


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs in cents are rounded to find a plan, as those of larger problems are."""
    limit_work(1_000_000, monkeypatch)
    problem = sa.parse_problem(CENTS)
    assert sa.solve(sa.compile_mdp(problem, start=SOME[0]), sa.CVaR(0.95)).search_unit is not None


def state(own: Own) -> dict[str, Any]:
    """The actions of CENTS as if what somebody brings were true of all."""
    stated = {"cost": own.cost, "chance": own.chance}
    return {
        name: {**action, **{role: given[name] for role, given in stated.items() if name in given}}
        for name, action in CENTS["actions"].items()
        if name not in own.forbid
    }


@pytest.fixture(scope="module")
def site() -> Any:
    with serve(sa.parse_problem(CENTS)) as site:
        yield site


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_files_and_the_api(own: Own, site: Site, tmp_path: Path) -> None:
    """The best plans of a menu by recommend, batch and the API; of one objective also by audit and compare."""
    problem, objective = sa.parse_problem(CENTS), sa.CVaR(0.95)
    personal = sa.parse_problem({**CENTS, "actions": state(own)})
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
