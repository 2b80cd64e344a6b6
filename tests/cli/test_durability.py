"""`safear durability`: plans that were kept, under another model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

import safear as sa

if TYPE_CHECKING:
    from cli.conftest import Safear

LOAN = sa.load_example("loan")


def write_models() -> None:
    """Two tables of scores: the second gives everybody a little less."""
    mdp = sa.compile_mdp(LOAN)
    people = [mdp.person(state) for state in range(mdp.n_states)]
    rows = pd.DataFrame(people)
    rows.assign(score=[0.9 if one else 0.2 for one in mdp.goal]).to_csv("model.csv", index=False)
    rows.assign(score=0.2).to_csv("hard.csv", index=False)


def test_a_model_keeps_its_own_plans_and_another_none(safear: Safear) -> None:
    write_models()
    Path("plans").mkdir()
    asked = ("--classifier", "model.csv", "--threshold", "0.5")
    assert safear("recommend", "loan", *asked, "--objective", "mean", "--save", "plans/one.json").code == 0
    kept = safear("durability", "loan", "plans", *asked)
    assert kept.code == 0
    assert "1 of 1 person keeps every plan (100%; between 2.5% and 100% at 95% confidence)" in kept.out
    hard = safear("durability", "loan", "plans/one.json", "--classifier", "hard.csv", "--threshold", "0.5", "--json")
    assert (hard.json["kept"], hard.json["people"], hard.json["without_recourse"]) == (0, 1, 1)
    told = safear("durability", "loan", "plans", "--classifier", "hard.csv", "--threshold", "0.5", "--language", "de")
    assert "Bei 0 von 1 Person hält jeder Plan" in told.out
    assert "kein Weg mehr" in told.out


def test_several_models_and_a_margin(safear: Safear) -> None:
    write_models()
    alone = safear("recommend", "loan", "--classifier", "model.csv", "--threshold", "0.5", "--json")
    for more in (("--aim", "0.9"), ("--classifier", "model.csv"), ("--classifier", "hard.csv", "--agree", "0.5")):
        same = safear("recommend", "loan", "--classifier", "model.csv", "--threshold", "0.5", *more, "--json")
        assert same.json["plans"] == alone.json["plans"]
    for more in (("--aim", "0.95"), ("--classifier", "hard.csv")):
        answer = safear("recommend", "loan", "--classifier", "model.csv", "--threshold", "0.5", *more)
        assert answer.code == 3, "no plan leads so far"
    refused = safear("recommend", "loan", "--classifier", "model.csv", "--threshold", "0.5", "--aim", "0.4")
    assert (refused.code, "the aim 0.4 is below the threshold 0.5" in refused.err) == (2, True)
    assert "--aim goes with --classifier" in safear("recommend", "loan", "--aim", "0.6").err
    assert safear("recommend", "loan", "--classifier", "model.csv", "--agree", "most").code == 2
