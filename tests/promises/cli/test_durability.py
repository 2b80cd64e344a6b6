"""`safear durability`: saved plans under another model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from syrupy.assertion import SnapshotAssertion

import safear as sa
from promises.cli.conftest import Safear

LOAN = sa.load_example("loan")


def write_models() -> None:
    """Two tables of scores: the second gives everybody a little less."""
    mdp = sa.compile_mdp(LOAN)
    people = [mdp.person(state) for state in range(mdp.n_states)]
    rows = pd.DataFrame(people)
    rows.assign(score=[0.9 if one else 0.2 for one in mdp.goal]).to_csv("model.csv", index=False)
    rows.assign(score=0.2).to_csv("hard.csv", index=False)


def test_a_model_keeps_its_own_plans_and_another_none(safear: Safear, snapshot: SnapshotAssertion) -> None:
    write_models()
    Path("plans").mkdir()
    asked = ("--classifier", "model.csv", "--threshold", "0.5")
    assert safear("recommend", "loan", *asked, "--objective", "mean", "--save", "plans/one.json").code == 0
    kept = safear("durability", "loan", "plans", *asked)
    assert kept.code == 0
    assert kept.out == snapshot
    hard = safear("durability", "loan", "plans/one.json", "--classifier", "hard.csv", "--threshold", "0.5", "--json")
    assert (hard.json["holding"], hard.json["people"], hard.json["without_recourse"]) == (0, 1, 1)
    told = safear("durability", "loan", "plans", "--classifier", "hard.csv", "--threshold", "0.5", "--language", "de")
    assert told.out == snapshot(name="de")


def write_inputs(safear: Safear) -> None:
    """What the example of --help names: a problem, somebody, more people, and two models, of which one is stricter."""
    assert safear("examples", "loan", "--output", "loan.yaml").code == 0
    me, names = dict(LOAN.default_person or {}), [feature.name for feature in LOAN.features]
    Path("me.yaml").write_text(json.dumps(me), encoding="utf-8")
    pd.DataFrame([me, me | {"education": "degree"}, me | {"savings": "rich"}]).to_parquet("people.parquet")
    mdp = sa.compile_mdp(LOAN)
    rows = pd.DataFrame([mdp.person(state) for state in range(mdp.n_states)])[names]
    for name, accepted in (("model", mdp.goal), ("retrained", mdp.goal & (rows["housing"] == "own").to_numpy())):
        levels = [list(feature.levels) for feature in LOAN.features]
        model = make_pipeline(OneHotEncoder(categories=levels), DecisionTreeClassifier(random_state=0))
        skops.io.dump(model.fit(rows, np.where(accepted, "approved", "rejected")), f"{name}.skops")


def test_the_example_of_its_help(safear: Safear) -> None:
    """A folder of plans, and what a batch has written, whose question is no plan."""
    write_inputs(safear)
    example = safear("durability", "--help").out.split("Example:")[1]
    calls = [line.split() for line in example.splitlines() if line.strip().startswith("safear ")]
    answers = [safear(*call[1:]) for call in calls]
    assert [answer.code for answer in answers] == [0, 0, 0, 0], [answer.err for answer in answers]
    assert [call[1] for call in calls] == ["recommend", "durability", "batch", "durability"]
    assert "Plans still hold for 0 of 1 person" in answers[1].out
    assert (answers[3].json["holding"], answers[3].json["people"]) == (0, 2), "one of three is accepted"
    assert safear("durability", "loan.yaml", "answers", "--classifier", "model.skops", "--json").json["holding"] == 2
