"""Plans with a margin and plans for several models: the first model alone decides who is rejected."""

from __future__ import annotations

import pandas as pd
import pytest

import safear as sa
from promises.test_margins import LEVEL_PEOPLE, LEVELS, PEOPLE, RAW, SETTINGS, asking, score
from safear.population import check_people


@pytest.mark.parametrize("problem, people", [(RAW, PEOPLE), (LEVELS, LEVEL_PEOPLE)], ids=["records", "levels"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_check_counts_whom_the_first_model_rejects(problem: sa.Problem, people: pd.DataFrame, name: str) -> None:
    changes, models, _ = SETTINGS[name]
    assert check_people(asking(problem, changes), models, people).rejected == int((score(people) < 0.5).sum())
