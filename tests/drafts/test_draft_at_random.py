"""Whatever the table and the trees: a draft loads, is sound, agrees with the model and gives a menu that holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from drafts.random_tables import MODELS, draw_labels, draw_table, predict
from safear.people.whole_table import load_table
from safear.problem.dump import dump_problem
from safear.recourse import Desk
from safear.recourse.diagnose import diagnose_people


def draft_or_reason(table: pd.DataFrame, model: Any, change: list[str]) -> sa.Draft | str:
    try:
        return sa.draft_problem(table, model, change=change, favourable="good")
    except sa.InputError as error:
        return ", ".join(item.code for item in error.mistakes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_drafts(seed: int, gaps: bool, kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng([seed, gaps, len(kind)])
    table = draw_table(rng, gaps=gaps)
    model = MODELS[kind](rng, table, draw_labels(rng, table))
    accepted = predict(kind, model, table)
    change = rng.permutation(table.columns)[: rng.integers(1, table.shape[1] + 1)].tolist()
    draft = draft_or_reason(table, model, change)
    if isinstance(draft, str):
        assert draft == "nothing_helps" or (draft == "unanimous" and accepted.all() == accepted.any())
        return
    assert dump_problem(sa.parse_problem(draft.text)) == dump_problem(draft.problem)
    assert sa.check_problem(draft.problem) == []
    assert draft.outlook.people == draft.outlook.agree == len(table)
    assert draft.outlook.rejected == (~accepted).sum()
    assert draft.outlook.tried == draft.outlook.with_way + sum(draft.outlook.reasons.values())
    desk = Desk.of(draft.problem, model)
    some = rng.choice(len(table), 8)
    assert [desk.decide(table.iloc[[row]]).favourable for row in some] == accepted[some].tolist()
    people, mistakes = diagnose_people(draft.problem, model)
    assert mistakes == []
    assert [(person.favourable, person.goals > 0) for person in people] == [(False, True)]
    menu = sa.recommend(draft.problem, model)
    assert menu.offers
    person = draft.problem.people["applicant"]
    for offer in menu.offers:
        assert sa.verify(offer, model, person).holds
    table.to_csv(tmp_path / "people.csv", index=False)
    again = sa.draft_problem(load_table(str(tmp_path / "people.csv")), model, change=change, favourable="good")
    assert again.outlook == draft.outlook
