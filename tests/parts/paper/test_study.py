"""Whole populations against one person at a time, and the acceptance figures of the reproduction."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import safear as sa
from doors import PAPER_MEASURES as MEASURES
from doors import Study, average
from safear.datasets import load
from safear.evaluation import run_exactly
from safear.risk import Objective


@pytest.fixture(scope="module")
def german() -> Study:
    return Study.of("german")


@pytest.mark.parametrize(("objective", "horizon"), [(sa.MeanStd(0.5), 12), (sa.MeanLowerStd(1), 6)])
def test_everybody_as_if_alone(german: Study, objective: Objective, horizon: int) -> None:
    figures = german.exact(objective, horizon)
    classifier = german.dataset.classifier(0)
    for position in range(0, len(german.rejected), 37):
        person = german.dataset.levels.iloc[german.rejected[position]].to_dict()
        mdp = sa.compile_mdp(german.problem.with_horizon(horizon), classifier, start=person)
        runs = run_exactly(sa.solve(mdp, objective, method="greedy"))
        cost = runs.distribution
        alone = {
            "success": cost.success,
            "mean": cost.mean,
            "variance": cost.variance,
            "var80": cost.var(0.8),
            "tail_mean80": cost.tail_mean(0.8),
            "var95": cost.var(0.95),
            "tail_mean95": cost.tail_mean(0.95),
            "sparsity": runs.sparsity,
            "proximity": runs.proximity,
        }
        assert set(alone) == set(MEASURES)
        for measure, figure in alone.items():
            together = figures[measure][position]
            if figure is None:
                assert together is np.ma.masked
            else:
                assert together == pytest.approx(figure, abs=1e-9)


def test_rollouts_agree_with_the_exact_figures(german: Study) -> None:
    objective = sa.MeanStd(0.5)
    exact = german.exact(objective, 12)
    everybody = german.members("all")
    sampled = german.simulated(objective, 12, rng=np.random.default_rng(1), people=everybody)
    people = len(german.rejected)
    for measure, spread in (("success", None), ("mean", "variance")):
        ours, theirs = average(exact[measure]), average(sampled[measure])
        assert ours is not None
        assert theirs is not None
        if spread is None:
            variance = float((exact["success"] * (1 - exact["success"])).mean())
        else:
            variance = average(exact[spread]) or 0.0
        assert abs(ours - theirs) <= 4 * math.sqrt(variance / (100 * people)) + 1e-9
    for measure in ("sparsity", "proximity", "var80", "var95", "variance"):
        assert average(sampled[measure]) == pytest.approx(average(exact[measure]), rel=0.08)
    again = german.simulated(objective, 12, rng=np.random.default_rng(1), people=everybody)
    assert all(np.ma.allequal(again[measure], sampled[measure]) for measure in MEASURES)


def test_groups(german: Study) -> None:
    women, men = german.members("female"), german.members("male")
    assert (women ^ men).all()
    assert german.members("row 44").sum() == 1
    assert german.rejected[german.members("row 44")].tolist() == [44]


def test_the_counts_of_the_paper(german: Study) -> None:
    assert len(german.rejected) == pytest.approx(281, rel=0.05)
    assert len(Study.of("insurance").rejected) == pytest.approx(604, rel=0.03)


def test_adult_at_horizon_12() -> None:
    adult = Study.of("adult")
    assert len(adult.rejected) == pytest.approx(25_923, rel=0.02)
    for aversion, success, mean in ((0.0, 0.994, 3.49), (0.5, 0.993, 3.59)):
        figures = adult.exact(sa.MeanStd(aversion), 12)
        assert average(figures["success"]) == pytest.approx(success, abs=0.01)
        assert average(figures["mean"]) == pytest.approx(mean, rel=0.08)


def test_no_second_model_for_insurance() -> None:
    with pytest.raises(ValueError, match="insurance has no second model"):
        Study.of("insurance", second_model=True)


@cache
def adult_by_gender() -> Any:
    adult = load("adult")
    return sa.audit(adult.problem.with_horizon(12), adult.classifier(0), adult.levels, groups=["gender"])


@pytest.mark.parametrize("gender", ["female", "male"])
def test_adult_as_in_the_tables_of_the_paper(gender: str) -> None:
    study = Study.of("adult")
    exact, members = study.exact(sa.Mean(), 12), study.members(gender)
    row = adult_by_gender().table("gender").loc[gender]
    assert row["rejected"] == members.sum() > 5000
    names = {"mean": "mean", "variance": "variance", "var": "var95", "sparsity": "sparsity", "success": "success"}
    for ours, papers in names.items():
        assert row[ours] == pytest.approx(float(exact[papers][members].mean()), rel=1e-9), ours
    assert row["no recourse"] == pytest.approx(float((exact["success"][members] == 0).mean()))
