"""Greedy plans for many raw records with a LightGBM model: `python -m benchmarks.records [PEOPLE]`, two threads.

Applications of German Credit drawn at random, with other amounts and ages so that hardly two are alike. How the time
splits: the model is wrapped and timed, everything else is ours.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import table
from examples.german_credit.train import model, read_applications

import safear as sa

PROBLEM = Path(__file__).parents[1] / "examples" / "german_credit" / "problem.yaml"
PEOPLE, MOST_SECONDS = 10_000, 60  # a tenth of a hundred thousand in ten minutes


class Timed:
    """A model, how long it took in all, and how many rows it was asked about."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.seconds, self.rows, self.calls = inner, 0.0, 0, 0
        self.classes_, self.feature_names_in_ = inner.classes_, inner.feature_names_in_

    def predict(self, frame: Any) -> Any:
        """The labels."""
        return self._time(self.inner.predict, frame)

    def predict_proba(self, frame: Any) -> Any:
        """The chances of each class."""
        return self._time(self.inner.predict_proba, frame)

    def _time(self, ask: Any, frame: Any) -> Any:
        start = time.perf_counter()
        answer = ask(frame)
        self.seconds, self.rows, self.calls = (
            self.seconds + time.perf_counter() - start,
            self.rows + len(frame),
            self.calls + 1,
        )
        return answer


def write_people(path: Path, count: int) -> None:
    """So many applications, each a little other than the one it was drawn from."""
    applications, _ = read_applications()
    rng = np.random.default_rng(0)
    people = applications.iloc[rng.integers(len(applications), size=count)].reset_index(drop=True)
    people["amount"] = (people["amount"] * rng.uniform(0.8, 1.2, count)).round().clip(250, 18_500).astype(int)
    people["age"] = (people["age"] + rng.integers(-3, 4, count)).clip(18, 100)
    people.to_parquet(path)


def main() -> None:
    """Write people, solve them, add to the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PEOPLE
    timed = Timed(model)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(folder / "people.parquet", count)
        start = time.perf_counter()
        options = {"objective": sa.MeanStd(0.5), "method": "greedy", "threads": 2}
        found = sa.batch(sa.load_problem(PROBLEM), timed, folder / "people.parquet", out=folder / "out", **options)  # type: ignore[arg-type]  # by name
        taken = time.perf_counter() - start
    note = (
        f"{taken / count * 1e3:.2f} ms each; {timed.seconds:.0f} s of it in the model: {timed.rows:,} rows in "
        f"{timed.calls:,} calls; {found.favourable:,} accepted, {found.planned:,} with a plan"
    )
    goal = f"< {MOST_SECONDS} s" if count == PEOPLE else None
    name = f"{count:,} raw records, LightGBM, two threads"
    record = table.Record(name, taken, goal=goal, met=None if goal is None else taken < MOST_SECONDS, note=note)
    table.add([record])
    print(table.lay_out([record]))


if __name__ == "__main__":
    main()
