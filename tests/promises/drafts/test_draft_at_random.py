"""Whatever the table and the trees: a draft loads, is sound, agrees with the model and gives a menu that holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import safear as sa
from random_tables import MODELS, draw_labels, draw_table, predict, read_back


def draw_draft(rng: np.random.Generator, kind: str, *, gaps: bool) -> tuple[Any, ...]:
    """Draw tables, models and features to change, until one change helps somebody."""
    for _ in range(9):
        table = draw_table(rng, gaps=gaps)
        model = MODELS[kind](rng, table, draw_labels(rng, table))
        accepted = predict(kind, model, table)
        change = rng.permutation(table.columns)[: rng.integers(1, table.shape[1] + 1)].tolist()
        try:
            return table, model, accepted, change, sa.draft_problem(table, model, change=change, favourable="good")
        except sa.InputError as error:
            codes = {mistake.code for mistake in error.mistakes}
            assert codes == {"nothing_helps"} or (codes == {"unanimous"} and accepted.all() == accepted.any())
    raise AssertionError("no table has a draft")


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_drafts(seed: int, gaps: bool, kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng([seed, gaps, len(kind)])
    table, model, accepted, change, draft = draw_draft(rng, kind, gaps=gaps)
    assert sa.dump_problem(sa.parse_problem(draft.text)) == sa.dump_problem(draft.problem)
    assert sa.check_problem(draft.problem) == []
    assert draft.outlook.people == draft.outlook.agree == len(table)
    assert draft.outlook.rejected == (~accepted).sum()
    assert draft.outlook.tried == draft.outlook.with_way + sum(draft.outlook.reasons.values())
    soon, some = draft.problem.with_horizon(1), rng.choice(len(table), 8)
    menus = [sa.recommend(soon, model, table.iloc[[row]], objectives="mean") for row in some]
    assert [menu.favourable for menu in menus] == accepted[some].tolist()
    menu = sa.recommend(draft.problem, model)
    assert list(draft.problem.people) == ["applicant"]
    assert (menu.favourable, menu.no_recourse) == (False, None)
    assert menu.offers
    person = draft.problem.people["applicant"]
    for offer in menu.offers:
        assert sa.verify(offer, model, person).holds
    again = sa.draft_problem(read_back(table, tmp_path / "people.csv"), model, change=change, favourable="good")
    assert again.outlook == draft.outlook
