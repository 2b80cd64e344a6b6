"""Raw applications and real models: what SafeAR promises people is what the model says of them.

`examples/german_credit` asks the model itself, about records that it writes out on its own.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # as `python -m examples.german_credit.promises` does

from examples.german_credit.decisions import by_batch, compare_entrances  # noqa: E402
from examples.german_credit.promises import PROBLEM, THRESHOLDS, WAYS, Experiment, ask, record_of  # noqa: E402
from examples.german_credit.train import DATA, TRAIN, get_model  # noqa: E402

import safear as sa  # noqa: E402
from heavy import require  # noqa: E402
from lanes import scaled  # noqa: E402

PromiseKind = Literal["value", "range", "narrow"]
pytestmark = pytest.mark.parametrize("threshold", THRESHOLDS)
SOME = 10
MANY = 150  # rows of a file
OWN_CATEGORIES = [name for name in TRAIN if name != "model"]
PROMISED = WAYS[:4]  # on the value, as little as is promised, as much, 50 times anywhere


def experiment_with(name: str, threshold: float, promise: PromiseKind = "narrow") -> Experiment:
    if name == "catboost":
        require("catboost")
    return Experiment(sa.load_problem(PROBLEM), get_model(name)).with_goal(threshold, promise)


@pytest.mark.parametrize(
    "name, promise, count",
    [
        ("model", "narrow", 20),  # a second each; the command of the example takes 200
        ("model", "value", SOME),
        ("model", "range", 5),  # five seconds each
        *((name, "narrow", SOME) for name in OWN_CATEGORIES),
    ],
)
def test_promises_are_kept(name: str, promise: PromiseKind, count: int, threshold: float) -> None:
    if name != "catboost":  # which only `make test-models` has
        count = scaled(count, least=2 if promise != "range" else 1)
    experiment = experiment_with(name, threshold, promise)
    answers = [ask(experiment, row) for row in experiment.first_rejected(count)]
    assert len(answers) == count
    assert {answer.reason for answer in answers} <= {
        None,
        "no_action",
        "horizon",
        "never",
    }  # no "accepted", no "levels"
    plans = [plan for answer in answers for plan in answer.plans]
    assert len(plans) >= count - 1  # at 0.7 the person of row 10 cannot get there within the horizon
    for plan in plans:
        assert plan.verified
        assert plan.kept["value"] == pytest.approx(plan.claimed, abs=1e-9)
        assert min(plan.kept[way] for way in PROMISED) >= plan.claimed - 0.005
    if promise != "range":  # the test can fail: somewhere else in the same levels the model rejects people
        assert min(plan.kept["least in level"] - plan.claimed for plan in plans) < -0.5


def test_every_entrance_counts_the_people_whom_the_model_rejects(threshold: float, tmp_path: Path) -> None:
    rows = scaled(100, least=20)
    pd.read_csv(DATA).head(rows).to_csv(tmp_path / "people.csv", index=False)
    found = compare_entrances(experiment_with("model", threshold), tmp_path / "people.csv", entrances=["page", "batch"])
    assert 0 < found["rejected"]["model"] < rows
    assert found["differ"].to_dict() == {"model": 0, "page": 0, "batch": 0, "check": 0, "audit": 0}


@pytest.mark.parametrize("name", OWN_CATEGORIES)
def test_the_order_of_columns_does_not_matter(name: str, threshold: float, tmp_path: Path) -> None:
    """In a file and in a record; with a model as the command line finds it."""
    table = pd.read_csv(DATA)
    table.loc[: MANY - 1, list(table)[::-1]].to_csv(tmp_path / "swapped.csv", index=False)
    experiment = experiment_with(name, threshold)
    one_step = replace(experiment, problem=replace(experiment.problem, horizon=1))
    rejected = {row for row in experiment.first_rejected() if row < MANY}
    assert 0 < len(rejected) < MANY
    assert by_batch(one_step, tmp_path / "swapped.csv") == rejected
    classifier = sa.load_classifier(f"{ROOT}/examples/german_credit/train.py:{name}", experiment.problem)
    filed = record_of(min(rejected))
    as_it_is = sa.recommend(experiment.problem, experiment.classifier, filed)
    swapped = sa.recommend(experiment.problem, classifier, dict(reversed(filed.items())))
    assert [offer.mean for offer in swapped] == [offer.mean for offer in as_it_is]
    assert [offer.promises for offer in swapped] == [offer.promises for offer in as_it_is]
