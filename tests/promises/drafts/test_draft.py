"""Drafts for real tables and models: they load, are sound, agree with the model, and give a menu that holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from lanes import scaled

sys.path.insert(0, str(Path(__file__).parents[3]))  # as `python -m examples.german_credit.promises` does

from examples.german_credit.train import get_model, read_applications

GERMAN = ["duration", "amount", "savings:up", "checking", "employment:up", "installment_rate", "other_plans"]


def record_of(table: pd.DataFrame, row: int) -> dict[str, object]:
    return {str(name): value for name, value in table.iloc[row].to_dict().items()}


@pytest.fixture(scope="module")
def german() -> tuple[pd.DataFrame, Any, sa.Draft]:
    table, _ = read_applications()
    model = get_model("model")
    return table, model, sa.draft_problem(table, model, change=GERMAN, favourable="good")


def test_a_draft_loads_is_sound_and_passes_the_check(german: tuple[pd.DataFrame, Any, sa.Draft]) -> None:
    _, model, draft = german
    assert sa.dump_problem(sa.parse_problem(draft.text)) == sa.dump_problem(draft.problem)
    assert sa.check_problem(draft.problem) == []
    menu = sa.recommend(draft.problem, model)
    assert list(draft.problem.people) == ["applicant"]
    assert (menu.favourable, len(menu) > 0) == (False, True)
    assert not {"gives_up", "cheaper_gives_up"} & {notice.code for notice in menu.notices}


def test_only_what_can_change_has_levels_and_few(german: tuple[pd.DataFrame, Any, sa.Draft]) -> None:
    _, _, draft = german
    assert [feature.name for feature in draft.problem.features] == [name.partition(":")[0] for name in GERMAN]
    assert all(2 <= len(feature.levels) <= 7 for feature in draft.problem.features)
    assert draft.problem.feature_by_name["savings"].kind == "ordinal"
    assert draft.problem.feature_by_name["checking"].kind == "nominal"
    assert draft.problem.feature_by_name["installment_rate"].levels == ("1", "2", "3", "4")
    assert draft.problem.feature_by_name["duration"].step == 1
    assert draft.idle == ()


def test_all_decisions_agree_with_the_model(german: tuple[pd.DataFrame, Any, sa.Draft]) -> None:
    table, model, draft = german
    accepted = model.predict(table) == "good"
    assert (draft.outlook.people, draft.outlook.agree, draft.outlook.rejected) == (1000, 1000, (~accepted).sum())
    soon, classifier = draft.problem.with_horizon(1), sa.as_classifier(model, draft.problem)
    for row in range(0, 1000, 50):
        menu = sa.recommend(soon, classifier, record_of(table, row), objectives="mean")
        assert menu.favourable == accepted[row]


def test_menus_of_a_draft_hold(german: tuple[pd.DataFrame, Any, sa.Draft]) -> None:
    table, model, draft = german
    rejected = np.flatnonzero(model.predict(table) != "good")[: scaled(12, least=3)]
    classifier, offers = sa.as_classifier(model, draft.problem), 0
    for row in rejected:
        record = record_of(table, int(row))
        menu = sa.recommend(draft.problem, classifier, record)
        for offer in menu.offers:
            offers += 1
            found = sa.verify(offer, model, record)
            assert found.holds
            assert found.is_complete
    assert offers >= len(rejected) - 2


def test_wishes_say_which_way(german: tuple[pd.DataFrame, Any, sa.Draft]) -> None:
    _, _, draft = german
    names = list(draft.problem.action_by_name)
    assert "raise savings" in names
    assert "lower savings" not in names


def score(table: pd.DataFrame) -> Any:
    applications, _ = read_applications()
    return get_model("model").predict_proba(table[list(applications)])[:, 1]


MODELS: dict[str, tuple[Callable[[], Any], dict[str, Any], str]] = {
    "LightGBM": (lambda: get_model("lightgbm"), {"favourable": "good"}, "model"),
    "its booster": (lambda: get_model("lightgbm").booster_, {"favourable": "1"}, "model"),
    "the other class of a booster": (lambda: get_model("lightgbm").booster_, {"favourable": "0"}, "model"),
    "XGBoost": (lambda: get_model("xgboost"), {"favourable": "good", "threshold": 0.6}, "model"),
    "a list": (lambda: [get_model("model"), get_model("lightgbm")], {"favourable": "good"}, "model"),
    "a score": (lambda: score, {"threshold": 0.6}, "quantiles"),
    "a classifier": (
        lambda: sa.as_classifier(get_model("model"), sa.Problem("", 1, (), ())),
        {"favourable": "good"},
        "model",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_all_kinds(name: str) -> None:
    make, options, origin = MODELS[name]
    model, table = make(), read_applications()[0].head(scaled(1000))
    draft = sa.draft_problem(table, model, change=["duration", "savings"], **options)
    assert (draft.outlook.people, draft.outlook.agree) == (len(table), len(table))
    assert draft.ladders[0].origin == origin
    favourable = draft.problem.goal
    assert (favourable.favourable, favourable.threshold) == (options.get("favourable"), options.get("threshold"))
    assert sa.recommend(draft.problem, model if name != "a classifier" else get_model("model")).offers
