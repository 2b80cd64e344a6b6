"""Real tables and models, from both to a menu without a hand edit: raw German Credit, Adult, and Taiwan's clients."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lanes import scaled

sys.path.insert(0, str(Path(__file__).parents[3]))  # as `python -m benchmarks.drafts` does

from benchmarks.drafts import TRIALS, measure

LEAST = {"german": 0.9, "adult": 0.6, "taiwan": 0.9}  # of 40 rejected people; models differ with their libraries


@pytest.mark.parametrize("name", TRIALS)
def test_a_draft_agrees_with_the_model_and_everybody_has_a_plan_or_a_reason(name: str) -> None:
    trial, verified = TRIALS[name](), scaled(4, least=1)
    some = replace(trial, table=trial.table.head(scaled(len(trial.table), least=1000)))
    found = measure(some, people=40, verified=verified)
    assert found["decisions that agree"] == found["people"]
    assert found["searched"] == 40
    assert found["with a plan"] >= LEAST[name] * 40
    reasons = sum(count for reason, count in found.items() if reason.startswith("without: "))
    assert found["with a plan"] + reasons == found["searched"]
    assert found["plans verified"] >= verified
    assert (found["broken"], found["not at every point"]) == (0, 0)
    assert found["levels"] <= 7 * found["features"] or name == "adult"  # whose words are many
