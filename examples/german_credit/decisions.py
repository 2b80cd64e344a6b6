"""Does everything that counts people count those whom the model rejects? Each entrance beside the model itself.

`python -m examples.german_credit.decisions` prints how many of all applicants each rejects, and for how many it says
something else than the model.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import httpx
import numpy as np
import pandas as pd
from examples.german_credit.promises import PROBLEM, THRESHOLDS, Experiment
from examples.german_credit.train import DATA, TRAIN, get_model

import safear as sa
from safear.population import check_people
from safear.recourse import Desk
from safear.web.app import make_app
from safear.web.service import Service

Rows = set[int]  # of the people who are rejected
GROUPS = ["personal_status", "purpose", "housing"]  # their combinations are groups of about ten people


def by_recommend(experiment: Experiment, data: Path) -> Rows:
    """One person at a time, as `recommend` decides."""
    desk = Desk.of(experiment.problem, experiment.classifier)
    return {row for row, record in enumerate(read_records(data)) if not desk.decide(record).favourable}


def by_page(experiment: Experiment, data: Path) -> Rows:
    """The server."""
    transport = httpx.ASGITransport(make_app(Service.of(experiment.problem, experiment.classifier)))

    async def decide() -> Rows:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = [await client.post("/api/v1/decide", json={"person": record}) for record in read_records(data)]
        return {row for row, answer in enumerate(sent) if answer.json()["decision"] == "unfavourable"}

    return asyncio.run(decide())


def by_batch(experiment: Experiment, data: Path) -> Rows:
    """A file of people."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "plans"
        sa.batch(experiment.problem, experiment.classifier, data, out=out, objective=sa.MeanStd(0.0), method="greedy")
        found = duckdb.read_parquet(f"{out}/*.parquet").df()
    return set((found["row"][found["decision"] != "favourable"] - 1).tolist())


ENTRANCES: dict[str, Callable[[Experiment, Path], Rows]] = {
    "recommend": by_recommend,
    "page": by_page,
    "batch": by_batch,
}


def count_by_audit(experiment: Experiment, data: Path) -> pd.Series[int]:
    """How many people an audit counts as rejected, by group."""
    problem, classifier = experiment.problem, experiment.classifier
    found = sa.audit(problem, classifier, str(data), groups=GROUPS, objective=sa.MeanStd(0.0), method="greedy")
    return found.table(GROUPS)["rejected"].astype(int)


def read_records(data: Path) -> list[dict[str, Any]]:
    """The applications of a file, each as it was filed."""
    return [{str(name): value for name, value in record.items()} for record in read_table(data).to_dict("records")]


def read_table(data: Path) -> pd.DataFrame:
    """The applications of a file, without what became of them."""
    return pd.read_csv(data).drop(columns="decision")


def compare_entrances(
    experiment: Experiment, data: Path = DATA, *, entrances: Sequence[str] = tuple(ENTRANCES)
) -> pd.DataFrame:
    """How many people each entrance rejects, and on how many (check, audit: at least) it differs from the model.

    Everybody's plan has one step here: that is quick, and decisions do not depend on it.
    """
    experiment = replace(experiment, problem=replace(experiment.problem, horizon=1))
    table = read_table(data)
    found = {"model": set(np.flatnonzero(~experiment.accepts(table)).tolist())}
    found |= {name: ENTRANCES[name](experiment, data) for name in entrances}
    rows = {name: {"rejected": len(rows), "differ": len(rows ^ found["model"])} for name, rows in found.items()}
    counts = count_by_audit(experiment, data)
    known = table.loc[sorted(found["model"])].value_counts(GROUPS).reindex(counts.index, fill_value=0)
    checked = check_people(experiment.problem, experiment.classifier, str(data)).rejected
    rows["check"] = {"rejected": checked, "differ": abs(checked - len(found["model"]))}
    rows["audit"] = {"rejected": int(counts.sum()), "differ": int((counts - known).abs().sum())}
    return pd.DataFrame.from_dict(rows, orient="index")


def main() -> None:
    """Print a table per threshold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thresholds", default=THRESHOLDS, type=float, nargs="+")
    parser.add_argument("--model", default="model", choices=TRAIN, help="one of those in train.py")
    parser.add_argument("--problem", default=PROBLEM, type=Path, help="another problem file")
    given = parser.parse_args()
    experiment = Experiment(sa.load_problem(given.problem), get_model(given.model))
    for threshold in given.thresholds:
        print(f"threshold {threshold:g}")
        print(compare_entrances(experiment.with_goal(threshold)))


if __name__ == "__main__":
    main()
