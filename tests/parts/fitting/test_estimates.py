"""Cells, pooling, costs and drift, each by hand or against SciPy; and that intervals cover what they should."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import safear as sa
from doors import Counts, Estimator, Fitted, amounts, compare_counts, count_interval, mean_cost, read_attempts
from logs import PROBLEM, TEXT, log_of
from safear.errors import Place
from safear.fitting import FitNotice
from safear.problem import Amount, ByCase, ByLevel


def fit(name: str, *attempts: tuple[str, int, int, Mapping[str, object]], problem: sa.Problem = PROBLEM) -> Fitted:
    log = read_attempts(log_of(*attempts), problem, Place())
    number = list(problem.action_by_name).index(name)
    return Estimator(problem, 10).fit_action(problem.actions[number], log.take(log.action == number))


def codes(fitted: Fitted) -> list[str]:
    return [notice.code for notice in fitted.notices]


def test_levels_with_enough_tries_are_counted_by_themselves() -> None:
    fitted = fit("learn", ("learn", 7, 10, {}), ("learn", 3, 12, {"skill": "skilled"}))
    assert fitted.action.outcomes[0].chance == ByLevel(
        "skill", {"skilled": Amount.counted(Counts(7, 10)), "manager": Amount.counted(Counts(3, 12))}
    )
    assert [(entry.n, entry.pooled) for entry in fitted.entries] == [(10, False), (12, False)]
    assert fitted.notices == ()


def test_a_level_with_few_tries_takes_the_value_of_all_and_keeps_its_own_interval() -> None:
    fitted = fit("learn", ("learn", 7, 10, {}), ("learn", 1, 2, {"skill": "skilled"}))
    chance = fitted.action.outcomes[0].chance
    assert isinstance(chance, ByLevel)
    thin = chance.amounts["manager"]
    assert thin == Amount(Decimal("0.6667"), Decimal("0.0125"), Decimal("0.9875"), "data 1/2, pooled 8/12")
    low, high = count_interval(Counts(1, 2), 0.95)
    assert thin.low <= low < high <= thin.high
    place = ("actions", "learn", "outcomes", 0, "chance", "skill", "manager")
    assert fitted.notices == (FitNotice("thin", "learn", place, counts=Counts(1, 2)),)


def test_a_thin_interval_holds_the_value_of_all() -> None:
    """0 of 9 worked here, 100 of 100 elsewhere: the nominal value is outside of [0, 0.34] and widens it."""
    fitted = fit("learn", ("learn", 100, 100, {}), ("learn", 0, 9, {"skill": "skilled"}))
    *_, thin = amounts(fitted.action.outcomes[0].chance or Amount.exactly(1))
    assert (thin.low, thin.nominal, thin.high) == (Decimal(0), Decimal("0.9174"), Decimal("0.9174"))


def test_a_level_that_nobody_tried_may_be_anything() -> None:
    fitted = fit("learn", ("learn", 7, 10, {}))
    *_, unseen = amounts(fitted.action.outcomes[0].chance or Amount.exactly(1))
    assert unseen == Amount(Decimal("0.7"), Decimal(0), Decimal(1), "pooled 7/10")
    assert codes(fitted) == ["never_seen"]


def test_conditions_divide_attempts_and_the_first_that_holds_counts() -> None:
    ages = [("senior", 5, 20), ("adult", 12, 15), ("young", 9, 10)]
    fitted = fit("hope", *(("hope", worked, tried, {"age": age}) for age, worked, tried in ages))
    chance = fitted.action.outcomes[0].chance
    assert isinstance(chance, ByCase)
    assert list(amounts(chance)) == [Amount.counted(Counts(worked, tried)) for _, worked, tried in ages]


def test_attempts_in_an_unknown_state_count_for_the_pool_alone() -> None:
    fitted = fit("learn", ("learn", 7, 10, {}), ("learn", 2, 20, {"skill": None}))
    first, unseen = amounts(fitted.action.outcomes[0].chance or Amount.exactly(1))
    assert first == Amount.counted(Counts(7, 10))
    assert (unseen.nominal, unseen.source) == (Decimal("0.3"), "pooled 9/30")
    assert fitted.notices[0] == FitNotice(
        "unknown_state", "learn", ("actions", "learn", "outcomes", 0, "chance"), count=20
    )


def test_without_the_column_all_are_counted_together() -> None:
    log = read_attempts(log_of(("learn", 7, 10), ("learn", 1, 2)).drop(columns="skill"), PROBLEM, Place())
    fitted = Estimator(PROBLEM, 10).fit_action(PROBLEM.actions[0], log)
    assert list(amounts(fitted.action.outcomes[0].chance or Amount.exactly(1))) == [Amount.counted(Counts(8, 12))] * 2
    assert [(notice.code, notice.feature) for notice in fitted.notices] == [("no_column", "skill")]
    assert all(entry.pooled for entry in fitted.entries)


def test_attempts_where_the_action_is_not_offered_are_left_out() -> None:
    """`when` is `skill < manager`; and whoever saves in the last level changes nothing."""
    fitted = fit("learn", ("learn", 7, 10, {}), ("learn", 0, 5, {"skill": "manager"}))
    assert next(amounts(fitted.action.outcomes[0].chance or Amount.exactly(1))) == Amount.counted(Counts(7, 10))
    assert fitted.notices[0] == FitNotice("not_offered", "learn", count=5)
    saved = fit("save", ("save", 3, 4, {}), ("save", 0, 6, {"savings": "900"}))
    assert saved.action.outcomes[0].chance == Amount.counted(Counts(3, 4))
    assert saved.notices == (FitNotice("not_offered", "save", count=6),)
    assert codes(fit("save", ("save", 0, 6, {"savings": "900"}))) == ["not_offered", "never_tried"]


WITHHELD = sa.parse_problem("""
safear: 1
title: Withheld
horizon: 2
features:
  a: {kind: ordinal, levels: [l, m, h]}
  b: {kind: nominal, levels: [x, y]}
classifier: {rule: a == h}
actions:
  up: {cost: 1, chance: [{when: a == l, chance: 0.5}, {when: b == y, chance: 0.5}, 0.5], change: {a: +1}}
constraints:
  - not (a == h and b == y)
""")


def test_attempts_that_a_constraint_forbids_are_left_out() -> None:
    log = [
        ("up", 10, 10, {"a": "m", "b": "x"}),
        ("up", 0, 4, {"a": "m", "b": "y"}),
        ("up", 5, 10, {"a": "l", "b": "y"}),
    ]
    fitted = fit("up", *log, problem=WITHHELD)
    found = fitted.action.outcomes[0].chance
    assert isinstance(found, ByCase)
    assert [found.cases[0][1].counts, found.otherwise.counts] == [Counts(5, 10), Counts(10, 10)]
    assert fitted.notices[0] == FitNotice("not_offered", "up", count=4)


def test_the_first_case_that_holds_counts_whatever_is_unknown_of_later_ones() -> None:
    fitted = fit("up", ("up", 12, 12, {"a": "l", "b": None}), ("up", 3, 10, {"a": "m", "b": "x"}), problem=WITHHELD)
    found = fitted.action.outcomes[0].chance
    assert isinstance(found, ByCase)
    assert [found.cases[0][1].counts, found.otherwise.counts] == [Counts(12, 12), Counts(3, 10)]
    assert codes(fitted) == ["never_seen"]


def test_two_chances_are_counted_both_ways() -> None:
    fitted = fit("change job", ("change job", 7, 9, {}))
    assert [one.chance for one in fitted.action.outcomes] == [
        Amount.counted(Counts(7, 9)),
        Amount.counted(Counts(2, 9)),
    ]


@pytest.mark.parametrize("worked, tried", [(0, 1), (1, 1), (0, 9), (9, 9)])
def test_a_few_tries_that_all_failed_or_worked_make_no_chance_of_0_or_1(worked: int, tried: int) -> None:
    """The value stays as it was, brought into what the tries allow."""
    fitted = fit("change job", ("change job", worked, tried, {}))
    before, after = (
        [next(amounts(outcome.chance)) for outcome in action.outcomes if outcome.chance is not None]
        for action in (PROBLEM.action_by_name["change job"], fitted.action)
    )
    ends = stats.binomtest(worked, tried).proportion_ci(method="exact")
    assert float(after[0].nominal) == pytest.approx(np.clip(float(before[0].nominal), *ends), abs=1e-4)
    assert 0 < after[0].nominal < 1
    assert after[0].nominal + after[1].nominal == 1
    assert after[0].source.endswith(f"data {worked}/{tried}")
    assert fitted.notices[-1] == FitNotice("few_tries", "change job", counts=Counts(worked, tried))


def test_chances_that_would_not_add_up_are_left_alone() -> None:
    """One chance depends on the age and the other on the savings, so that counts of both cannot be put together."""
    halves = [{"when": "age == senior", "chance": 0.5}, 0.5], [{"when": "savings < 100", "chance": 0.5}, 0.5]
    document = sa.dump_problem(PROBLEM)
    for number, half in enumerate(halves):
        document["actions"]["change job"]["outcomes"][number]["chance"] = half
    problem = sa.parse_problem(document)
    log = [("change job", 7, 10, {}), ("change job", 1, 10, {"age": "senior", "savings": "200"})]
    fitted = fit("change job", *log, problem=problem)
    assert fitted == Fitted(problem.action_by_name["change job"], notices=(FitNotice("sum", "change job"),))


def test_what_always_worked_can_fail_from_now_on() -> None:
    fitted = fit("save", ("save", 20, 20, {}))
    assert [one.chance for one in fitted.action.outcomes] == [Amount.counted(Counts(20, 20)), None]


def test_more_outcomes_than_two_cannot_be_told_apart() -> None:
    fitted = fit("gamble", ("gamble", 7, 9, {}))
    assert fitted.action == PROBLEM.action_by_name["gamble"]
    assert codes(fitted) == ["outcomes"]


def test_several_attempts_of_one_person_are_told() -> None:
    log = log_of(("save", 3, 4)).assign(person=["ann", "ann", "bo", "cy"])
    fitted = Estimator(PROBLEM, 10).fit_action(PROBLEM.action_by_name["save"], read_attempts(log, PROBLEM, Place()))
    assert fitted.notices == (FitNotice("repeated", "save", count=3, counts=Counts(3, 4)),)
    apart = read_attempts(log.assign(person=[1, 2, 3, 4]), PROBLEM, Place())
    assert Estimator(PROBLEM, 10).fit_action(PROBLEM.action_by_name["save"], apart).notices == ()


def test_nobody_tried() -> None:
    assert fit("learn", ("save", 1, 1, {})) == Fitted(PROBLEM.actions[0], notices=(FitNotice("never_tried", "learn"),))


# ------------------------------------------------------------------------------------------------------------- costs


def test_costs_of_those_who_failed_are_their_own() -> None:
    log = log_of(("change job", 7, 9)).assign(cost=[1, 2, 1, 2, 1, 2, 5, 9, 9])
    fitted = Estimator(PROBLEM, 10).fit_action(PROBLEM.actions[1], read_attempts(log, PROBLEM, Place()))
    assert fitted.action.outcomes[1].cost == Amount(Decimal(9), Decimal(9), Decimal(9), "data, n=2")
    assert fitted.action.cost == Amount(Decimal(2), Decimal(2), Decimal(2), "data, n=7")


def test_empty_costs_are_left_out() -> None:
    log = log_of(("save", 2, 4)).assign(cost=pd.Series(["3", "", np.nan, "3"], dtype=object))
    fitted = Estimator(PROBLEM, 10).fit_action(PROBLEM.action_by_name["save"], read_attempts(log, PROBLEM, Place()))
    assert fitted.action.cost == Amount(Decimal(3), Decimal(3), Decimal(3), "data, n=2")
    empty = read_attempts(log.assign(cost=None), PROBLEM, Place())
    assert Estimator(PROBLEM, 10).fit_action(PROBLEM.action_by_name["save"], empty).action.cost == Amount.exactly(1)


def test_few_costs_are_put_together() -> None:
    problem = sa.parse_problem(TEXT.replace("{value: 1.5, source: guess}", "{skilled: 1, manager: 2}"))
    log = log_of(("learn", 10, 10), ("learn", 2, 2, {"skill": "skilled"})).assign(cost=[3] * 10 + [9] * 2)
    fitted = Estimator(problem, 10).fit_action(problem.actions[0], read_attempts(log, problem, Place()))
    assert [str(one.nominal) for one in amounts(fitted.action.cost)] == ["3", "4"]  # (30 + 18) / 12, and no more
    told = [(notice.code, notice.place[2:]) for notice in fitted.notices if notice.code == "few_costs"]
    assert told == [("few_costs", ("cost", "skill", "manager"))]


@pytest.mark.parametrize(
    "costs, mean",
    [
        ([1.5], "1.5"),
        ([0.1, 0.1, 0.1], "0.1"),
        ([1200, 1200], "1200"),
        ([0, 0], "0"),
        ([1, 2, 3, 4], "2.5"),  # a standard error of 0.65: to halves
        ([1.01, 1.02, 1.04], "1.025"),  # 0.0088: to multiples of 0.005
        ([1000, 2000, 1500, 1800], "1600"),  # 222: to multiples of 200
        ([0, 0, 0, 1], "0.25"),  # 0.25, as large as the mean: two digits
        ([0.1, 0.2, 0.4], "0.25"),  # 0.088: to multiples of 0.05
        ([1.1, 1.3, 1.3, 1.4], "1.3"),  # 0.063: to multiples of 0.05
    ],
)
def test_means_are_rounded_to_what_is_known(costs: list[float], mean: str) -> None:
    assert mean_cost(np.array(costs, float)).nominal == Decimal(mean)


# ------------------------------------------------------------------------------------------------------------- drift


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_two_shares_are_compared_as_by_fisher(one: int, other: int, data: st.DataObject) -> None:
    first, second = data.draw(st.integers(0, one)), data.draw(st.integers(0, other))
    wanted = stats.fisher_exact([[first, one - first], [second, other - second]]).pvalue
    assert compare_counts(Counts(first, one), Counts(second, other)) == pytest.approx(wanted, rel=1e-6)


def test_a_share_that_has_changed_is_told() -> None:
    early = log_of(("save", 18, 20)).assign(date="2023-05-01")
    late = log_of(("save", 4, 20)).assign(date="2024-01-02")
    log = read_attempts(pd.concat([late, early], ignore_index=True), PROBLEM, Place())
    fitted = Estimator(PROBLEM, 10).fit_action(PROBLEM.action_by_name["save"], log)
    assert fitted.notices == (
        FitNotice("drift", "save", counts=Counts(18, 20), later=Counts(4, 20), date="2024-01-02"),
    )
