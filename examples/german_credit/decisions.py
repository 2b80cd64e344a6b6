"""Does everything that counts people count those whom the model rejects? Each entrance beside the model itself.

`python -m examples.german_credit.decisions` prints how many of all applicants each rejects, and for how many it says
something else than the model.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import httpx
import pandas as pd
from examples.german_credit.promises import APPLICATIONS, PROBLEM, THRESHOLDS, first_rejected, record_of
from examples.german_credit.train import DATA, model

import safear as sa
from safear.population import check_people
from safear.recourse import Desk
from safear.web.app import make_app
from safear.web.service import Service

Rows = set[int]  # of the people who are rejected
GROUPS = ["personal_status", "purpose", "housing"]  # their combinations are groups of about ten people


def by_model(problem: sa.Problem) -> Rows:
    """The model on the raw records."""
    return set(first_rejected(None, problem.goal.threshold or 0.5))


def by_recommend(problem: sa.Problem) -> Rows:
    """One person at a time, as `recommend` decides."""
    desk = Desk.of(problem, model)
    return {row for row in range(len(APPLICATIONS)) if not desk.decide(record_of(row)).favourable}


def by_page(problem: sa.Problem) -> Rows:
    """The server."""
    transport = httpx.ASGITransport(make_app(Service.of(problem, model)))

    async def decide() -> Rows:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = [await client.post("/api/v1/decide", json={"person": record_of(row)}) for row in APPLICATIONS.index]
        return {row for row, answer in enumerate(sent) if answer.json()["decision"] == "unfavourable"}

    return asyncio.run(decide())


def by_batch(problem: sa.Problem) -> Rows:
    """A file of people."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "plans"
        sa.batch(problem, model, DATA, out=out, objective=sa.MeanStd(0.0), method="greedy")
        found = duckdb.read_parquet(f"{out}/*.parquet").df()
    return set((found["row"][found["decision"] != "favourable"] - 1).tolist())


ENTRANCES: dict[str, Callable[[sa.Problem], Rows]] = {
    "model": by_model,
    "recommend": by_recommend,
    "page": by_page,
    "batch": by_batch,
}


def count_by_audit(problem: sa.Problem) -> pd.Series[int]:
    """How many people an audit counts as rejected, by group."""
    found = sa.audit(problem, model, str(DATA), groups=GROUPS, objective=sa.MeanStd(0.0), method="greedy")
    return found.table(GROUPS)["rejected"].astype(int)


def compare_entrances(problem: sa.Problem) -> pd.DataFrame:
    """How many people each entrance rejects, and on how many (check, audit: at least) it differs from the model."""
    found = {name: entrance(problem) for name, entrance in ENTRANCES.items()}
    rows = {name: {"rejected": len(rows), "differ": len(rows ^ found["model"])} for name, rows in found.items()}
    counts = count_by_audit(problem)
    known = APPLICATIONS.loc[sorted(found["model"])].value_counts(GROUPS).reindex(counts.index, fill_value=0)
    checked = check_people(problem, model, str(DATA)).rejected
    rows["check"] = {"rejected": checked, "differ": abs(checked - len(found["model"]))}
    rows["audit"] = {"rejected": int(counts.sum()), "differ": int((counts - known).abs().sum())}
    return pd.DataFrame.from_dict(rows, orient="index")


def main() -> None:
    """Print a table per threshold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thresholds", default=THRESHOLDS, type=float, nargs="+")
    parser.add_argument("--problem", default=PROBLEM, type=Path, help="another problem file")
    given = parser.parse_args()
    problem = sa.load_problem(given.problem)
    for threshold in given.thresholds:
        print(f"threshold {threshold:g}")
        print(compare_entrances(replace(problem, goal=replace(problem.goal, threshold=threshold))))


if __name__ == "__main__":
    main()
