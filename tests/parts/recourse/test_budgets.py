"""Budgets that are too small: the same verdict for a person and for many, with and without rounded costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from doors import AdviceTeller
from safear.recourse import Teller
from small_problems import ladder

STEPS: dict[str, Any] = {
    "study": {"cost": 2, "chance": 0.9, "change": {"a": "+1"}},
    "fast": {"cost": 7, "chance": 0.9, "change": {"a": "hi"}},
}


def two_steps() -> sa.Problem:
    return ladder(STEPS, levels=["lo", "mid", "hi"], horizon=2, failure_cost=10)


@pytest.mark.parametrize("count", [1, 30])  # one by one, and a block at a time
@pytest.mark.parametrize(("budget", "decisions"), [(3, ["no recourse", "plan"]), (4, ["plan", "plan"])])
def test_a_batch_says_what_a_menu_says(count: int, budget: float, decisions: list[str], tmp_path: Path) -> None:
    pd.DataFrame({"a": ["lo", "mid"] * count}).to_csv(tmp_path / "people.csv", index=False)
    objective = sa.Budget(budget)
    sa.batch(two_steps(), None, tmp_path / "people.csv", out=tmp_path / "out", objective=objective)
    parts = [pd.read_parquet(part) for part in sorted((tmp_path / "out").glob("part*.parquet"))]
    found = pd.concat(parts).sort_values("row")
    assert found["decision"].tolist() == decisions * count
    for level, decision in zip(("lo", "mid"), decisions, strict=True):
        menu = sa.recommend(two_steps(), person={"a": level}, objectives=objective)
        assert (menu.no_recourse is None) == (decision == "plan")


def test_a_budget_that_is_too_small_among_others_is_said_and_has_no_plan(snapshot: SnapshotAssertion) -> None:
    menu = sa.recommend(two_steps(), objectives=["budget:3", "mean"])
    assert [offer.code for offer in menu] == ["mean"]
    (notice,) = (notice for notice in menu.notices if notice.code == "over_budget")
    assert notice.values == {"budget": 3.0, "least": 4.0}
    assert f"{notice}\n{Teller.of('de').notice(notice)}" == snapshot
    assert menu.advice is None


def test_advice_for_a_budget_is_one_that_is_enough(snapshot: SnapshotAssertion) -> None:
    menu = sa.recommend(two_steps(), objectives=["budget:3", "budget:1"])
    assert menu.no_recourse is not None
    assert (menu.no_recourse.code, menu.no_recourse.budget, menu.no_recourse.least) == ("budget", 3.0, 4.0)
    assert menu.advice is not None
    (found,) = menu.advice.relaxations
    assert (found.code, found.value) == ("budget", 4.0)
    assert found.success == pytest.approx(0.81)
    said = AdviceTeller(menu.advice, Teller.of()).lines(to_person=True)
    assert "\n".join(said) == snapshot


@pytest.mark.parametrize(("budget", "code"), [(0.8, None), (0.4, "budget")])
def test_rounded_costs_do_not_rule_a_budget_out(budget: float, code: str | None) -> None:
    """A step of 0.6 counts as 1, and that a run may have cost 0.4 less is known."""
    problem = ladder({"study": {"cost": 0.6, "chance": 0.9, "change": {"a": "yes"}}}, cost={"resolution": 1})
    menu = sa.recommend(problem, objectives=sa.Budget(budget))
    assert (None if menu.no_recourse is None else menu.no_recourse.code) == code
    if menu.no_recourse is not None:
        assert menu.no_recourse.least == pytest.approx(0.6)
