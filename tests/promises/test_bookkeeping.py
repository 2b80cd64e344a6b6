"""Bookkeeping (`hidden: true`), which records need not have and nobody is told of; features compared with another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import safear as sa
from safear.reports import report_menu

SECRET = "stage-xyz"
DOCUMENT: dict[str, Any] = {
    "safear": 1,
    "title": "Loan",
    "horizon": 6,
    "features": {
        "skill": {"kind": "ordinal", "levels": ["basic", "skilled", "manager"]},
        SECRET: {"kind": "ordinal", "levels": ["level-a", "level-b", "level-c"], "hidden": True},
        "debt": {"range": [0, 3]},
        "savings": {"kind": "numeric", "edges": [1, 2.5], "values": [0, 2, 3]},
    },
    "goal": {"favourable": "approved", "failure_cost": 9},
    "classifier": {"rule": "skill == manager"},
    "actions": {
        "learn": {"cost": 1, "chance": 0.5, "change": {"skill": "+1", SECRET: "+1"}, "when": f"{SECRET} < level-c"},
        "borrow": {"cost": 1, "chance": 0.9, "change": {"debt": "+1", "skill": "manager"}},
    },
    "constraints": ["debt <= savings"],
    "people": {"ann": {"skill": "basic", "debt": 1, "savings": 2}},
}


@pytest.fixture(scope="module")
def problem() -> sa.Problem:
    return sa.parse_problem(DOCUMENT)


def test_a_record_without_it_begins_at_the_first_level(problem: sa.Problem) -> None:
    assert sa.parse_problem(sa.dump_problem(problem)) == problem
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.person(mdp.locate())[SECRET] == "level-a"
    carried = sa.compile_mdp(problem, start={**DOCUMENT["people"]["ann"], SECRET: "level-c"})
    assert carried.person(carried.locate())[SECRET] == "level-c"
    assert "learn" not in {carried.actions[action] for action in carried.row_action}


def test_files_and_frames_need_not_have_it(problem: sa.Problem, tmp_path: Path) -> None:
    rows = [
        {"skill": "basic", "debt": 1, "savings": 2},
        {"skill": "basic", "debt": 0, "savings": 2, SECRET: "level-b"},
    ]
    expected = {(0, 0, 1, 1): 1, (0, 1, 0, 1): 1}
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "both.csv", index=False)
    frame.to_parquet(tmp_path / "both.parquet")
    frame.drop(columns=SECRET).to_csv(tmp_path / "without.csv", index=False)
    for source in (rows, frame, tmp_path / "both.csv", tmp_path / "both.parquet"):
        population = sa.audit(problem, None, source, groups=["debt"]).population
        assert dict(zip(map(tuple, population.codes.tolist()), population.counts.tolist(), strict=True)) == expected
    without = sa.audit(problem, None, tmp_path / "without.csv", groups=["debt"]).population
    assert sorted(map(tuple, without.codes.tolist())) == [(0, 0, 0, 1), (0, 0, 1, 1)]
    sa.batch(problem, None, tmp_path / "without.csv", out=tmp_path / "plans", objective=sa.Mean())
    assert sa.audit(problem, None, frame.drop(columns=SECRET), groups=["debt"]).population.rows == 2


def test_nobody_is_told_of_it(problem: sa.Problem) -> None:
    menu = sa.recommend(problem)
    assert menu.offers
    record = sa.reports.report_figures(menu).menu
    words = [
        str(menu),
        str(menu.offers[0].plan),
        json.dumps(record.model_dump(mode="json")["plans"]),
    ]
    words += [menu.offers[0].plan.to_frame().to_csv(), str(sa.walk(menu.offers[0])), str(report_menu(menu))]
    words += [sa.plots.traces(menu.offers).svg, sa.plots.tree(menu.offers[0]).svg]
    told = [text for text in words if SECRET in text or "level-" in text]
    assert not told
    assert list(record.person) == ["skill", "debt", "savings"]


def test_who_comes_back_brings_it_along(problem: sa.Problem) -> None:
    learned = sa.recommend(problem, terms=sa.Terms.of(forbid=["borrow"])).offers[0]
    here = sa.walk(learned, ["works"])
    assert here.person == {"skill": "skilled", SECRET: "level-b", "debt": "1", "savings": "1-2.5"}
    assert [change.feature for change in here.changes] == ["skill"]


def test_changes_of_it_do_not_count() -> None:
    only = {**DOCUMENT, "actions": {"note": {"cost": 1, "change": {SECRET: "+1"}}}}
    with pytest.raises(sa.InputError) as error:
        sa.parse_problem(only)
    assert str(error.value) == (
        f"actions.note: changes only '{SECRET}', which nobody sees\n    let it change something that is not hidden"
    )


def test_features_are_compared_by_their_values(problem: sa.Problem) -> None:
    start = {"skill": "basic", "debt": 2, "savings": 2}
    mdp = sa.compile_mdp(problem, start=start)
    assert "borrow" not in {mdp.actions[action] for action in mdp.row_action}  # a debt of 3 is more than 2
    with pytest.raises(sa.InputError, match="breaks the constraint 'debt <= savings'"):
        sa.compile_mdp(problem, start={**start, "debt": 3})


def test_a_name_that_is_a_level_and_a_feature_is_ambiguous() -> None:
    features = {**DOCUMENT["features"], "basic": {"kind": "ordinal", "levels": ["basic", "skilled", "manager"]}}
    people = {"ann": {**DOCUMENT["people"]["ann"], "basic": "basic"}}
    document = {**DOCUMENT, "features": features, "people": people, "constraints": ["skill >= basic"]}
    with pytest.raises(sa.InputError) as error:
        sa.parse_problem(document)
    assert str(error.value) == (
        "constraints[0]: 'basic' is both a level of 'skill' and a feature\n    rename one of the two"
    )
