"""A small problem for the tests of sources of classifiers, and what its classifiers are to decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from safear.classifier import load_classifier
from safear.errors import ClassifierError
from safear.mdp import compile_mdp
from safear.problem import parse_problem

PROBLEM = parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 2,
        "features": {
            "skill": {"kind": "ordinal", "levels": ["basic", "skilled"]},
            "job": {"kind": "nominal", "levels": ["employed", "unemployed"]},
        },
        "goal": {"favourable": "approved"},
        "actions": {"learn": {"cost": 1, "change": {"skill": "+1"}}},
    }
)
ROWS = [(skill, job) for skill in ("basic", "skilled") for job in ("employed", "unemployed")]
GOALS = [False, False, True, False]  # skilled and employed
FRAME = pd.DataFrame(ROWS, columns=["skill", "job"])
LABELS = ["approved" if goal else "rejected" for goal in GOALS]

Write = Callable[[str, str], Path]


def goals(source: str | Path, **options: Any) -> list[bool]:
    """Which of ROWS a classifier finds good enough."""
    decided: list[bool] = compile_mdp(PROBLEM, load_classifier(str(source), PROBLEM, **options)).goal.tolist()
    return decided


def refusal(source: str | Path, **options: Any) -> str:
    """The text with which a source is refused, at the latest when it is asked."""
    with pytest.raises(ClassifierError) as refused:
        compile_mdp(PROBLEM, load_classifier(str(source), PROBLEM, **options))
    return str(refused.value)


FUNCTION = """
    def decide(frame):
        return (frame["skill"] == "skilled") & (frame["job"] == "employed")
    """
