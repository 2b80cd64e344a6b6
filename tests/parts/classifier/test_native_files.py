"""Models in the own formats of LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

import safear as sa
from heavy import require
from parts.classifier.test_columns import filed, make_problem
from safear.errors import MissingExtraError
from small_sources import PROBLEM, refusal
from trained_models import (
    CAT,
    LGBM,
    XGB,
    applications,
    as_categories,
    ask_directly,
    granted,
    trained,
    without_gaps,
)


def decide(file: Path, frame: pd.DataFrame, **goal: Any) -> list[bool]:
    problem = make_problem(**goal)
    return [bool(answer) for answer in sa.load_classifier(str(file), problem).favourable(filed(frame, problem))]


@pytest.mark.parametrize(
    "name, file",
    [
        ("LightGBM", "model.txt"),
        ("LightGBM", "MODEL.TXT"),
        ("XGBoost", "model.json"),
        ("XGBoost", "model.ubj"),
        ("CatBoost", "model.cbm"),
        ("CatBoost without labels", "model.cbm"),
    ],
)
def test_a_file_decides_like_the_model_that_was_saved(name: str, file: str, tmp_path: Path) -> None:
    """Categories, truth values and missing values included; and it knows where its trees split."""
    frame, path = (
        without_gaps(applications(200, seed=7)) if "Cat" in name else applications(200, seed=7),
        tmp_path / file,
    )
    model = trained(name)
    (model.booster_ if name == "LightGBM" else model).save_model(str(path))
    answers = decide(path, frame)
    assert answers == ask_directly(name, frame)
    assert 50 < sum(answers) < 150
    classifier: Any = sa.load_classifier(str(path), make_problem())
    splits = classifier.splits(filed(frame, make_problem()).frame())
    assert splits is not None
    assert len(splits["duration"])


def test_classes_of_a_catboost_file_have_their_names(tmp_path: Path) -> None:
    frame = applications(200, seed=1, gaps=False)
    labels = np.where(granted(frame), "good", "bad")
    model = require("catboost").CatBoostClassifier(**CAT).fit(frame[["duration", "credit amount"]], labels)
    model.save_model(str(tmp_path / "model.cbm"))
    expected = (model.predict(frame[["duration", "credit amount"]]) == "good").tolist()
    assert decide(tmp_path / "model.cbm", frame, favourable="good") == expected
    chances = model.predict_proba(frame[["duration", "credit amount"]])[:, 0]
    assert decide(tmp_path / "model.cbm", frame, favourable="bad", threshold=0.3) == (chances >= 0.3).tolist()


def stopped_early() -> tuple[Any, pd.DataFrame]:
    raw = applications(600, seed=1)
    frame, answers = as_categories(raw), granted(raw)
    model = xgboost.XGBClassifier(enable_categorical=True, early_stopping_rounds=2, **XGB | {"n_estimators": 200})
    return model.fit(frame[:300], answers[:300], eval_set=[(frame[300:], answers[300:])], verbose=False), raw


def test_what_an_estimator_has_saved_decides_with_its_best_rounds(tmp_path: Path) -> None:
    """The file holds all rounds. A Booster by itself would use them all, and decide otherwise."""
    model, raw = stopped_early()
    model.save_model(tmp_path / "model.ubj")
    model.get_booster().save_model(tmp_path / "booster.ubj")
    best = model.predict_proba(as_categories(raw))[:, 1] >= 0.5
    everything = model.get_booster().predict(xgboost.DMatrix(as_categories(raw), enable_categorical=True)) >= 0.5
    assert decide(tmp_path / "model.ubj", raw) == best.tolist()
    assert decide(tmp_path / "booster.ubj", raw) == everything.tolist()
    assert best.tolist() != everything.tolist()


def test_a_lightgbm_file_that_was_stopped_early(tmp_path: Path) -> None:
    raw = applications(600, seed=1)
    frame, answers = as_categories(raw), granted(raw)
    train, held_out = (lightgbm.Dataset(frame[part], answers[part]) for part in (slice(300), slice(300, None)))
    stop, settings = lightgbm.early_stopping(3, verbose=False), {"objective": "binary", "verbose": -1, "num_threads": 1}
    model = lightgbm.train(settings, train, 300, [held_out], callbacks=[stop], keep_training_booster=True)
    model.save_model(tmp_path / "model.txt")
    assert model.best_iteration < model.current_iteration()
    assert decide(tmp_path / "model.txt", raw) == (model.predict(frame) >= 0.5).tolist()


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"a": 1}', b"[1, 2]"], ids=["empty", "text", "object", "list"])
@pytest.mark.parametrize(
    "name, told",
    [
        ("model.txt", "not a LightGBM model: LightGBMError: "),
        ("model.json", "not an XGBoost model: XGBoostError: "),
        ("model.ubj", "not an XGBoost model: XGBoostError: "),
        ("model.cbm", "not a CatBoost model: CatBoostError: "),
    ],
)
def test_a_file_that_is_something_else(name: str, told: str, content: bytes, tmp_path: Path) -> None:
    if name == "model.cbm":
        require("catboost")
    file = tmp_path / name
    file.write_bytes(content)
    text = refusal(file)
    assert text.startswith(f"{file}: {told}")
    assert len(text.splitlines()) == 1


def test_a_lightgbm_file_that_was_cut_off(tmp_path: Path) -> None:
    """LightGBM ends the program, or forgets the categories, with which people are then decided wrongly."""
    file = tmp_path / "model.txt"
    trained("LightGBM").booster_.save_model(file)
    whole = file.read_bytes()
    trees, parameters = whole.index(b"end of trees"), whole.index(b"end of parameters")
    cuts = [*range(len("tree"), trees, trees // 20), *range(trees, parameters, 200), *range(parameters, len(whole), 7)]
    for cut in cuts:
        file.write_bytes(whole[:cut])
        text = refusal(file)
        if cut <= whole.index(b"pandas_categorical:"):
            assert text == (
                f"{file}: the end of this LightGBM model is missing: the file was cut off, or not written to its end\n"
                "    save or copy the model again"
            )


def test_a_lightgbm_file_that_was_not_saved_from_python(tmp_path: Path) -> None:
    """Other programs write no line for pandas; some write other ends of lines."""
    frame = applications(200, seed=1)[["duration", "credit amount"]]
    model = lightgbm.LGBMClassifier(**LGBM).fit(frame, granted(applications(200, seed=1)))
    whole = model.booster_.model_to_string().partition("\npandas_categorical:")[0]
    (tmp_path / "model.txt").write_text(whole, encoding="utf-8", newline="\r\n")
    assert decide(tmp_path / "model.txt", applications(200, seed=1)) == model.predict(frame).astype(bool).tolist()


def test_a_catboost_model_without_classes(tmp_path: Path) -> None:
    frame = applications(50, seed=1, gaps=False)
    model = require("catboost").CatBoostRegressor(**CAT).fit(frame[["duration"]], frame["stage"])
    model.save_model(str(tmp_path / "model.cbm"))
    assert refusal(tmp_path / "model.cbm") == (
        f"{tmp_path / 'model.cbm'}: this CatBoost model has no classes\n    give a classifier"
    )


@pytest.mark.parametrize("name, package", [("a.txt", "lightgbm"), ("a.ubj", "xgboost"), ("a.cbm", "catboost")])
def test_without_the_library_it_says_what_to_install(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as missing:
        sa.load_classifier(name, PROBLEM)
    assert str(missing.value) == f"{package} is not installed; install it with: pip install 'safear[models]'"
