"""Greedy against optimal: nobody is better off with greedy, and the sums over people are sums over people."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import safear as sa
from safear.datasets import load
from safear.errors import ObjectiveError, PersonError
from small_problems import better_job

SAMPLES = {"adult": 160, "german": 210}
AVERSIONS = (0.25, 0.5, 1.0, 2.0)

PROBLEM = better_job(classifier={"rule": "x == goal"})


def person(x: str, gender: str = "female") -> dict[str, str]:
    return {"x": x, "gender": gender}


def compare_people(people: list[dict[str, str]], aversion: float = 1.0, problem: sa.Problem = PROBLEM) -> Any:
    return sa.compare(problem, None, people, objective=sa.MeanStd(aversion))


# ------------------------------------------------------------------------------------------------------ the data sets


@cache
def compared(name: str, aversion: float) -> Any:
    dataset = load(name)
    people = dataset.levels.sample(SAMPLES[name], random_state=5)
    return sa.compare(dataset.problem, dataset.classifier(0), people, objective=sa.MeanStd(aversion))


@pytest.mark.parametrize("aversion", AVERSIONS)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_optimum_is_not_above_greedy_for_anybody(name: str, aversion: float) -> None:
    found = compared(name, aversion)
    assert found.people == SAMPLES[name]
    assert found.rejected == found.compared + found.without_recourse
    assert found.compared > 30
    for pair in found.pairs:
        assert pair.optimal.value <= pair.greedy.value * (1 + 1e-9), pair
        assert pair.bound <= pair.optimal.value * (1 + 1e-12)
        assert pair.optimal.value - pair.bound <= 2e-6 * pair.optimal.value
        assert pair.optimal.success <= pair.best_success + 1e-9
        assert pair.greedy.success <= pair.best_success + 1e-9
        for figures in (pair.greedy, pair.optimal):
            assert figures.mean * (1 - 1e-12) <= min(figures.cvar, figures.value)
    assert found.greedy.value >= found.optimal.value
    assert found.largest_gap <= 2e-6


@pytest.mark.parametrize("name", SAMPLES)
def test_some_people_as_if_alone(name: str) -> None:
    """Compiled and solved on their own, from their levels."""
    dataset, found = load(name), compared(name, 1.0)
    for pair in found.pairs[::29]:
        mdp = sa.compile_mdp(dataset.problem, dataset.classifier(0), start=pair.person)
        for method, figures in (("greedy", pair.greedy), ("optimal", pair.optimal)):
            solution = sa.solve(mdp, found.objective, method="greedy" if method == "greedy" else "optimal")
            cost = sa.evaluate(solution)
            assert figures.value == pytest.approx(cost.all_runs.mean + cost.all_runs.std, rel=1e-9)
            assert figures.success == pytest.approx(cost.success, rel=1e-9)
            assert figures.mean == pytest.approx(cost.all_runs.mean, rel=1e-9)
            assert figures.cvar == pytest.approx(cost.all_runs.cvar(0.95), rel=1e-9)
            assert figures.first_action == solution.policy.action()
        best = sa.evaluate(sa.solve(mdp, sa.SuccessFirst())).success
        assert pair.best_success == pytest.approx(best, abs=1e-12)


# ---------------------------------------------------------------------------------------------------- who is compared


def test_counts_add_up() -> None:
    people = [
        person("low"),
        person("goal"),
        person("lost"),
        person("mid", "male"),
        person("low"),
        person("lost", "male"),
    ]
    found = compare_people(people)
    assert (found.people, found.rejected, found.without_recourse, found.compared) == (6, 5, 2, 3)
    counts = {tuple(pair.person.values()): pair.count for pair in found.pairs}
    assert counts == {("low", "female"): 2, ("mid", "male"): 1}


@pytest.mark.parametrize("form", ["csv", "frame", "records"])
def test_people_in_any_form(form: str, tmp_path: Path) -> None:
    people = [person("low"), person("mid", "male"), person("low", "male"), person("goal"), person("low")]
    expected = compare_people(people, 0.5)
    path = tmp_path / "people.csv"
    pd.DataFrame(people).to_csv(path, index=False)
    given: Any = {"csv": path, "frame": pd.DataFrame(people), "records": people}[form]
    found = sa.compare(PROBLEM, None, given, objective=sa.MeanStd(0.5))
    assert found.pairs == expected.pairs
    assert (found.people, found.rejected) == (5, 4)


def test_as_a_table() -> None:
    found = compare_people([person("low"), person("low"), person("mid", "male")], 2.0)
    frame = found.to_frame()
    assert frame[["x", "gender", "people"]].to_numpy().tolist() == [["low", "female", 2], ["mid", "male", 1]]
    assert frame["optimal value"].tolist() == [pair.optimal.value for pair in found.pairs]
    assert frame["excess"].tolist() == [pair.excess for pair in found.pairs]
    assert "greedy first_action" in found._repr_html_()


def test_without_aversion_both_are_the_mean() -> None:
    people = [person("low"), person("mid")]
    by_mean = sa.compare(PROBLEM, None, people, objective=sa.Mean())
    by_none = compare_people(people, 0.0)
    for found in (by_mean, by_none):
        assert found.worse == found.excess == found.other_first_step == 0
        assert found.greedy.value == pytest.approx(found.optimal.mean, rel=1e-12)
    assert by_mean.optimal.value == pytest.approx(by_none.optimal.value, rel=1e-12)


def test_the_failure_cost_counts() -> None:
    """Nobody tries where failing is free."""
    free = replace(PROBLEM, goal=replace(PROBLEM.goal, failure_cost=Decimal(0)))
    found = compare_people([person("low")], 2.0, free)
    assert found.gives_up == 0  # there is no way to do nothing at all
    assert found.optimal.value < compare_people([person("low")], 2.0).optimal.value


def test_another_classifier_decides_who_is_compared() -> None:
    people = [person("low"), person("mid"), person("goal")]
    found = sa.compare(PROBLEM, lambda frame: frame["x"].isin(["mid", "goal"]), people, objective=sa.MeanStd(1))
    assert (found.people, found.rejected) == (3, 1)
    assert [pair.person["x"] for pair in found.pairs] == ["low"]


def test_progress_is_told_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    people = [person("low"), person("lost"), person("goal"), person("low"), person("mid", "male")]
    sa.compare(PROBLEM, None, people, objective=sa.MeanStd(1), progress=lambda *step: seen.append(step))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]  # of distinct people


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("people", "message"),
    [
        ([], "it has no people\n    give a header and rows"),
        ([person("goal"), person("goal", "male")], "nobody is rejected, so there is nothing to compare"),
        (
            [person("goal"), person("lost"), person("lost", "male")],
            "nobody who is rejected has a way to the goal, so there is nothing to compare",
        ),
    ],
    ids=["nobody", "nobody rejected", "no recourse"],
)
def test_nothing_to_compare(people: list[dict[str, str]], message: str) -> None:
    with pytest.raises(PersonError) as refused:
        compare_people(people)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "objective",
    [
        sa.CVaR(0.9),
        sa.VaR(0.9),
        sa.Budget(3),
        sa.MeanVariance(1),
        sa.Entropic(1),
        sa.MeanLowerStd(1),
        sa.SuccessFirst(),
    ],
    ids=str,
)
def test_an_objective_that_only_one_method_knows(objective: Any) -> None:
    with pytest.raises(ObjectiveError, match=f"there is no greedy method for '{objective}', or no optimal one"):
        sa.compare(PROBLEM, None, [person("low")], objective=objective)
