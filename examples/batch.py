"""Menus for everybody in a file, each with what steps cost *them*; the answers come back as Parquet."""

import tempfile
from pathlib import Path

import duckdb
import pandas as pd

import safear as sa

problem = sa.load_example("loan")
names = list(problem.feature_by_name)
applicant = {name: problem.people["applicant"][name] for name in names}
people = pd.DataFrame(
    [
        {"customer": 1001, **applicant},
        {"customer": 1002, **applicant, "cost:study part-time": 0.5},
        {"customer": 1003, **applicant, "chance:change job": 0.2},
        {"customer": 1004, **applicant, "forbid:change job": True},
    ]
)

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    people.to_csv(folder / "people.csv", index=False)
    print(sa.batch(problem, None, folder / "people.csv", out=folder / "menus", keep=["customer"]))
    menus = duckdb.read_parquet(f"{folder}/menus/*.parquet").df()
    columns = ["customer", "plan", "first_action", "success", "overall_mean", "overall_cvar"]
    print(menus[columns].round(2).to_string(index=False))
