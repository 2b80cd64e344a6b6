"""Drafts for three tables and models, no hand edit: do decisions agree, who has a plan, and do promises hold?

`python -m benchmarks.drafts` drafts a problem for raw German Credit with LightGBM in a pipeline, raw Adult with XGBoost
and its own categories, and Taiwan's credit card clients with LightGBM. Of each, all rejected people (or `--people` of
them, drawn at random) are searched for a plan, with the reason for everybody who has none; the plans of `--verified` of
those who have one are checked with the model on their own records. `--horizon` searches further than the draft did.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from examples.german_credit.train import get_model, read_applications
from examples.taiwan_credit.train import read_clients
from examples.taiwan_credit.train import train as train_taiwan

import safear as sa
from safear.drafts.outlook import draw_rejected, find_ways, read_filed
from safear.recourse import Desk


@dataclass(frozen=True, slots=True)
class Trial:
    """A table, a model, and what `safear init` is told."""

    table: pd.DataFrame
    model: Any
    favourable: str
    change: tuple[str, ...]
    fixed: tuple[str, ...]


def german() -> Trial:
    """One-hot encoding and LightGBM."""
    change = ("duration", "amount:down", "installment_rate", "savings:up", "checking:200 or more", "employment:up")
    table, _ = read_applications()
    return Trial(table, get_model("model"), "good", (*change, "debtors:guarantor", "other_plans:none"), ("age",))


def adult() -> Trial:
    """XGBoost with its own categories."""
    from xgboost import XGBClassifier  # noqa: PLC0415  # each library is needed by its own models only

    table = sa.datasets.load("adult").raw.drop(columns="income")
    rich = sa.datasets.load("adult").raw["income"] == ">50K"
    words = {str(name): "category" for name in table if not pd.api.types.is_numeric_dtype(table[name])}
    rows = table.sample(frac=0.7, random_state=0).index
    model = XGBClassifier(enable_categorical=True, random_state=0, n_jobs=1)
    model.fit(table.astype(words).loc[rows], rich[rows].astype(int))
    change = ("workclass", "education:Bachelors", "education:Masters", "education:Doctorate", "occupation")
    return Trial(table, model, "1", (*change, "hours-per-week"), ("age", "race", "sex", "marital-status"))


def taiwan() -> Trial:
    """LightGBM; all columns are numbers."""
    change = ("LIMIT_BAL", "PAY_0:down", "PAY_2:down", "BILL_AMT1:down", "PAY_AMT1:up", "PAY_AMT2:up")
    return Trial(read_clients()[0], train_taiwan(), "0", change, ("SEX", "AGE"))


TRIALS: dict[str, Callable[[], Trial]] = {"german": german, "adult": adult, "taiwan": taiwan}


def measure(
    trial: Trial, *, people: int | None = None, verified: int = 50, horizon: int | None = None
) -> dict[str, Any]:
    """All figures of one trial."""
    begun = time.perf_counter()
    draft = sa.draft_problem(
        trial.table, trial.model, change=trial.change, fixed=trial.fixed, favourable=trial.favourable
    )
    seconds = time.perf_counter() - begun
    problem = draft.problem.with_horizon(horizon or draft.outlook.steps)
    desk = Desk.of(problem, trial.model)
    labels = np.asarray(trial.model.predict(_as_trained(trial)))
    accepted = np.equal(labels.astype(str), trial.favourable)
    rows = draw_rejected(accepted, int((~accepted).sum()) if people is None else people)
    ways, reasons = find_ways(desk, read_filed(desk, trial.table), rows)
    soon = [way.row for way in ways if way.steps <= draft.problem.horizon]
    plans, broken, partly = _verify(trial, draft, soon[:verified])
    return {
        "people": draft.outlook.people,
        "rejected": int((~accepted).sum()),
        "decisions that agree": draft.outlook.agree,
        "features": len(problem.features),
        "levels": sum(len(feature.levels) for feature in problem.features),
        "actions": len(problem.actions),
        "steps of a plan": draft.problem.horizon,
        "steps searched": problem.horizon,
        "searched": len(rows),
        "with a plan": len(soon),
        "share": f"{len(soon) / len(rows):.1%}",
        "without: more steps than the draft allows": len(ways) - len(soon),
        **{f"without: {code}": reasons.get(code, 0) for code in ("no_action", "horizon", "never")},
        "plans verified": plans,
        "broken": broken,
        "not at every point": partly,
        "seconds for the draft": round(seconds, 1),
    }


def _as_trained(trial: Trial) -> pd.DataFrame:
    """The table as the model itself wants it, for its own decisions."""
    if type(trial.model).__name__ != "XGBClassifier":
        return trial.table
    words = {str(name): "category" for name in trial.table if not pd.api.types.is_numeric_dtype(trial.table[name])}
    return trial.table.astype(words)


def _verify(trial: Trial, draft: sa.Draft, rows: list[int]) -> tuple[int, int, int]:
    """How many plans were checked with the model, how many do not hold, and how many were not tried at every point."""
    classifier, checks = sa.as_classifier(trial.model, draft.problem), []
    for row in rows:
        record = {str(name): trial.table[name].iloc[row] for name in trial.table}
        menu = sa.recommend(draft.problem, classifier, record)
        checks += [sa.verify(offer, trial.model, record) for offer in menu.offers]
    return len(checks), sum(not check.holds for check in checks), sum(not check.is_complete for check in checks)


def main() -> None:
    """Print a table with a column per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TRIALS, []], help="german, adult, taiwan; all if none is named")
    parser.add_argument("--people", type=int, help="rejected people who are searched for, instead of all")
    parser.add_argument("--verified", type=int, default=50, help="people whose plans are checked")
    parser.add_argument("--horizon", type=int, help="steps to search, instead of those of the draft")
    given = parser.parse_args()
    found = {
        name: measure(TRIALS[name](), people=given.people, verified=given.verified, horizon=given.horizon)
        for name in given.names or TRIALS
    }
    print(pd.DataFrame(found).to_string())


if __name__ == "__main__":
    main()
