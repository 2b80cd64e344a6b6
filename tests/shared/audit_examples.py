"""Audits to report: groups that differ, that are small, that nothing helps, that are named to do harm."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import safear as sa
from small_problems import better_job

PROBLEM = better_job()

NASTY = "<script>alert('1')</script> \"&\" \u202eevil\u0007 " + "ExtremelyLongNameWithoutAnySpace" * 4


def audit_of(people: Any, **options: Any) -> sa.Audit:
    return sa.audit(PROBLEM, None, people, **options)


@cache
def make_people() -> pd.DataFrame:
    """In Dorf few are rejected; in Goslar nobody is; nothing helps those of Elend; towns do not matter otherwise."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "x": rng.choice(["lost", "low", "mid", "goal"], 600, p=[0.05, 0.4, 0.35, 0.2]),
            "gender": rng.choice(["male", "female"], 600),
            "town": rng.choice(["Ulm", "Bonn"], 600),
        }
    )
    more = [
        pd.DataFrame({"x": ["low"] * 9 + ["goal"] * 40, "gender": "female", "town": "Dorf"}),
        pd.DataFrame({"x": ["goal"] * 35, "gender": "male", "town": "Goslar"}),
        pd.DataFrame({"x": ["lost"] * 40, "gender": "male", "town": "Elend"}),
    ]
    return pd.concat([frame, *more], ignore_index=True)


@cache
def make_audit() -> sa.Audit:
    return audit_of(make_people(), groups=["gender", "town"])


@cache
def make_nasty_audit() -> sa.Audit:
    """A group whose name would run, or break, a page."""
    people = make_people().replace({"town": {"Ulm": NASTY, "Bonn": ""}})
    return audit_of(people.rename(columns={"town": "<b>town</b>"}), groups=["<b>town</b>"])


@cache
def make_even_audit() -> sa.Audit:
    """Two groups of the same people."""
    half = make_people()[:300].assign(gender="female")
    return audit_of(pd.concat([half.assign(town="Ulm"), half.assign(town="Bonn")]), groups=["town"])
