"""Who of the rejected has any way to the goal? SafeAR's verdicts beside all reachable points, tried one by one.

The model is a logistic regression without penalty on standardised columns, fitted to four fifths of the applications.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import safear as sa
from safear.people.lists import read_people
from safear.population.crowd import Crowd
from safear.population.engine import Engine, Purpose
from safear.population.figures import NO_RECOURSE
from safear.recourse.case import Desk

HERE = Path(__file__).parent
APPLICATIONS = HERE.parent / "german_credit" / "applications.csv.gz"
SEED, FOLDS = 2338, 5  # the last fold is left out
CHECKING, SAVINGS, SWITCH = ["none", "overdrawn", "in credit"], ["none", "under 100", "100 or more"], ["no", "yes"]
SWITCHES = ("employed_a_year", "guarantor", "bank_plan", "store_plan")
MOST_YEARS, LAST_YEAR = 2, 7  # of residence


def read_applications() -> tuple[pd.DataFrame, pd.Series]:
    """What the problem and the model look at, and who turned out to be a good risk."""
    raw = pd.read_csv(APPLICATIONS, keep_default_na=False)
    table = pd.DataFrame(
        {
            "residence": raw["residence"],
            "age": raw["age"],
            "employed_a_year": _switch(~raw["employment"].isin(["unemployed", "under 1 year"])),
            "guarantor": _switch(raw["debtors"] == "guarantor"),
            "bank_plan": _switch(raw["other_plans"] == "bank"),
            "store_plan": _switch(raw["other_plans"] == "stores"),
            "checking": raw["checking"].where(raw["checking"].isin(CHECKING), "in credit"),
            "savings": raw["savings"].where(raw["savings"].isin(SAVINGS), "100 or more"),
        }
    )
    as_filed = ["amount", "duration", "purpose", "history", "personal_status", "foreign", "dependents"]
    as_filed += ["housing", "job", "installment_rate"]
    return table.join(raw[as_filed]), raw["decision"]


def _switch(holds: pd.Series) -> pd.Series:
    return holds.map({False: "no", True: "yes"})


def encode(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of the regression: numbers, and 0 or 1."""
    columns = {name: table[name] for name in ("residence", "age", "dependents", "installment_rate")}
    columns |= {name: table[name] == "yes" for name in (*SWITCHES, "foreign")}
    columns |= {f"{name} at least {level}": _at_least(table[name], scale, level) for name, scale, level in STAGES}
    columns |= {
        "male": table["personal_status"].str.startswith("male"),
        "single": table["personal_status"] == "male single",
    }
    columns |= {f"housing {kind}": table["housing"] == kind for kind in ("rent", "own", "free")}
    columns |= {f"job {kind}": table["job"] == kind for kind in ("unskilled", "skilled", "management")}
    columns |= {f"amount {least} or more": table["amount"] >= least for least in (1000, 2000, 5000, 10000)}
    columns |= {f"duration {least} or more": table["duration"] >= least for least in (12, 24, 36)}
    columns |= {"duration 6 or less": table["duration"] <= 6}
    columns |= {f"for {name}": table["purpose"].isin(kinds) for name, kinds in PURPOSES.items()}
    columns |= {f"history {kind}": table["history"] == kind for kind in ("none taken", "past delays", "critical")}
    return pd.DataFrame({name: np.asarray(column, dtype=float) for name, column in columns.items()})


STAGES = [(name, scale, level) for name, scale in (("checking", CHECKING), ("savings", SAVINGS)) for level in scale[1:]]
PURPOSES = {
    "business": ["business"],
    "education": ["education", "retraining"],
    "a car": ["new car", "used car"],
    "the home": ["furniture", "television", "appliances", "repairs"],
}


def _at_least(column: pd.Series, scale: list[str], level: str) -> pd.Series:
    return column.isin(scale[scale.index(level) :])


def train(table: pd.DataFrame, decision: pd.Series) -> Pipeline:
    """The regression, fitted to all folds but the last."""
    *_, (rows, _) = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(table, decision)
    regression = LogisticRegression(C=np.inf, solver="saga", max_iter=3_000_000, random_state=SEED)
    model = make_pipeline(FunctionTransformer(encode), StandardScaler(), regression)
    return model.fit(table.iloc[rows], decision.iloc[rows])


def reach(person: pd.Series) -> Iterator[dict[str, object]]:
    """Every point that somebody can reach, written out without SafeAR."""
    stages = [
        range(scale.index(person[name]), len(scale)) for name, scale in (("checking", CHECKING), ("savings", SAVINGS))
    ]
    switches = [[0] if person[name] == "yes" else [0, 1] for name in SWITCHES]
    years = range(min(MOST_YEARS, LAST_YEAR - person["residence"]) + 1)
    for stayed, checking, savings, *turned in product(years, *stages, *switches):
        moved = {name: "yes" for name, on in zip(SWITCHES, turned, strict=True) if on}
        moved |= {"checking": CHECKING[checking], "savings": SAVINGS[savings]}
        yield {**person, **moved, "residence": person["residence"] + stayed, "age": person["age"] + stayed + turned[0]}


def verify(table: pd.DataFrame, model: Pipeline) -> NDArray[np.bool_]:
    """Whether SafeAR finds a way for each of these people."""
    desk = Desk.of(sa.load_problem(HERE / "problem.yaml"), model)
    records = [dict(person) for _, person in table.iterrows()]
    people = read_people(desk.problem, records, sight=desk.sight)
    found = Engine(desk).work_out(Crowd.of(desk.problem, people), Purpose(sa.Mean()), ["success"])
    return np.asarray(found.decision != NO_RECOURSE)


def try_all(table: pd.DataFrame, model: Pipeline) -> NDArray[np.bool_]:
    """Whether the model accepts any point that each of them can reach."""
    points = [{"whose": i} | point for i, (_, person) in enumerate(table.iterrows()) for point in reach(person)]
    everywhere = pd.DataFrame(points)
    accepted = everywhere["whose"][model.predict(everywhere.drop(columns="whose")) == "good"]
    return np.isin(np.arange(len(table)), accepted)


def judge() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether each of the rejected has recourse: by SafeAR, and by trying every point that they can reach."""
    table, decision = read_applications()
    model = train(table, decision)
    rejected = table[model.predict(table) == "bad"]
    return verify(rejected, model), try_all(rejected, model)


def main() -> None:
    """Print how many of the rejected have no recourse, and whether both ways to find out agree."""
    found, tried = judge()
    print(f"rejected: {len(found)}, without recourse: {(~found).sum()}, by trying every point: {(~tried).sum()}")
    print(f"verdicts that agree: {(found == tried).sum()} of {len(found)}")


if __name__ == "__main__":
    main()
