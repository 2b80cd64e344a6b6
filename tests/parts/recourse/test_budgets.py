"""Budgets, searches that settle, and the case of one person."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import safear as sa
from doors import AdviceTeller, diagnose_people, diagnose_space, simplest
from ladders import CLIMB, ladders
from lanes import scaled
from moody_policies import Ruled, in_pieces, policies
from plan_family import FOLLOW, Rows, as_arrays, choose_by, find_options, list_base, list_cells
from promises.test_margins import LEVEL_PEOPLE, LEVELS, asking, score
from safear.errors import ClassifierError
from safear.evaluation import Policy, SpentPolicy, StatePolicy
from safear.recourse import Desk, Teller
from small_problems import ladder

# -------------- Budgets that are too small: the same verdict for a person and for many, with and without rounded costs


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


# -------------------------------------------------------- A sketch as a policy of its own, beside what the sketch says


PICKS = st.lists(st.integers(0, 1_000), max_size=5)


def check_settled(base: Policy, picks: list[int]) -> None:
    mdp, start, known = base.mdp, base.mdp.start, list_base(base, base.mdp.start)
    decided: dict[int, Rows] = {}
    for number, pick in enumerate(picks):
        state = pick % mdp.n_states
        options = [*find_options(base, start, state, known), (FOLLOW,) * mdp.horizon]
        decided[state] = options[(pick + number) % len(options)]
    policy, choose = simplest.settle(base, start, *as_arrays(mdp, decided)), choose_by(decided, base, start)
    expected = list_cells(mdp, choose, start, possible=True)
    found = list_cells(mdp, policy.choosing(int(policy.accounts[start])), start, possible=True)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)
    acting = expected.row >= 0
    columns = (column[acting].tolist() for column in (expected.step, expected.state, expected.row))
    done = set(zip(*columns, strict=True))
    met = {place[:2] for place in done}
    assert isinstance(policy, StatePolicy if len(met) == len(done) else SpentPolicy)
    assert np.array_equal(policy.accounts, base.accounts if isinstance(policy, SpentPolicy) else 0 * base.accounts)
    every, nothing = np.arange(mdp.n_states), np.zeros(mdp.n_states, dtype=np.int64)
    for now in range(mdp.horizon):  # where no run comes, whatever was spent
        elsewhere = np.array([(now, one) not in met for one in every.tolist()])
        wanted = choose(now, every, nothing)
        for spent in (0, 1, 7):
            rows = policy.rows(now, every, policy.accounts[start] - spent + nothing)
            assert np.array_equal(rows[elsewhere], wanted[elsewhere])
    if isinstance(policy, SpentPolicy):
        check_pieces(policy)


def check_pieces(policy: SpentPolicy) -> None:
    """Each piece begins where something else is done than below it."""
    for begin, end in zip(policy.piece_start[:-1].tolist(), policy.piece_start[1:].tolist(), strict=True):
        assert (np.diff(policy.first[begin:end]) > 0).all()
        assert (np.diff(policy.choice[begin:end].astype(int)) != 0).all()


@settings(max_examples=scaled(80))
@given(document=ladders(2, 7), objective=st.sampled_from(["mean", "cvar:0.8"]), picks=PICKS)
def test_of_optimal_plans(document: dict[str, Any], objective: str, picks: list[int]) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    check_settled(sa.solve(mdp, sa.parse_objective(objective)).policy, picks)


@settings(max_examples=scaled(80))
@given(policy=policies(), picks=PICKS)
def test_of_plans_that_change_their_mind(policy: Policy, picks: list[int]) -> None:
    check_settled(in_pieces(policy), picks)


def test_of_a_plan_that_changes_its_mind_with_each_unit_spent() -> None:
    """Its pieces are more than there are steps and states."""
    outcomes = [*({"chance": 0.125, "cost": cost} for cost in (1, 2, 4, 8, 16)), {"change": {"place": "+1"}}]
    actions = {name: {"cost": 1, "outcomes": outcomes} for name in ("walk", "jump")}
    problem = sa.parse_problem({**CLIMB, "horizon": 4, "actions": actions})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    check_settled(in_pieces(Ruled(mdp, lambda *where: where[-1])), [])


# ----------------- The one door: a case is decided on the record as filed, and a desk with another horizon counts anew


ROUNDED = """
safear: 1
title: Fine costs
horizon: 3
cost: {resolution: 1}
features: {a: {kind: ordinal, levels: [low, mid, high]}}
classifier: {rule: a == high}
actions: {climb: {cost: 1.3, chance: 0.5, change: {a: +1}}}
people: {me: {a: low}}
"""
FILED = """
safear: 1
title: Raw
horizon: 3
features: {income: {kind: numeric, edges: [20000, 35000], levels: [low, fair, good], values: [10000, 28000, 50000]}}
goal: {failure_cost: 9}
actions: {earn: {cost: 1, chance: 0.5, change: {income: +1}}}
people: {lucky: {income: 33000}, unlucky: {income: 12000}}
"""


@pytest.mark.parametrize("horizon", [1, 3, 30])
def test_another_horizon_has_its_own_error_of_rounding(horizon: int) -> None:
    problem = sa.parse_problem(ROUNDED)
    mdp = Desk.of(problem).with_horizon(horizon).open().mdp
    assert mdp.cost_error == sa.compile_mdp(problem.with_horizon(horizon), start={"a": "low"}).cost_error
    assert float(mdp.cost_error) == float(horizon * Decimal("0.3"))


def test_people_are_diagnosed_as_they_are_recommended_plans() -> None:
    problem, decider = sa.parse_problem(FILED), lambda frame: frame["income"] >= 30_000
    people, mistakes = diagnose_people(problem, decider)
    assert [person.favourable for person in people] == [True, False]
    assert [sa.recommend(problem, decider, person.name).favourable for person in people] == [True, False]
    assert not mistakes


def test_a_scale_that_fits_only_where_one_person_comes_is_no_plan_and_no_sound_problem() -> None:
    problem = sa.load_example("loan")

    def points(frame: pd.DataFrame) -> Any:
        return np.where(frame["age"] == "senior", 70.0, 0.8 * (frame["job"] == "employed"))

    person = {"age": "young", "education": "school", "savings": "little", "job": "unemployed", "housing": "rent"}
    with pytest.raises(ClassifierError, match="no probabilities between 0 and 1, such as 70"):
        sa.recommend(problem, points, person)
    with pytest.raises(ClassifierError, match="no probabilities between 0 and 1, such as 70"):
        diagnose_people(problem, points)


def test_no_state_is_a_goal_by_mistake() -> None:
    problem = sa.parse_problem(FILED.replace("goal: {", "goal: {favourable: approved, "))
    with pytest.raises(ClassifierError, match="none of that is 'approved'"):
        diagnose_space(problem, lambda frame: np.where(frame["income"] >= 30_000, "granted", "denied"))


def test_the_whole_space_counts_who_is_accepted() -> None:
    plain, strict = diagnose_space(LEVELS, score), diagnose_space(asking(LEVELS, {"aim": 0.62}), score)
    assert strict.goals == plain.goals == int((score(LEVEL_PEOPLE) >= 0.5).sum())
    assert strict.without_recourse >= plain.without_recourse
