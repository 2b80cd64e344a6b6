"""Empty cells: whoever left a number or a word out is decided on by the model as filed, through every entrance."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from safear.reports import report_menu

PROBLEM = """
safear: 1
title: Empty cells
horizon: 4
features:
  income: {kind: numeric, edges: [20, 40], values: [10, 30, 50], min: 0, max: 99, missing: <20}
  work: {kind: nominal, levels: [unknown, temporary, steady], missing: unknown}
goal: {favourable: 1, threshold: 0.5, failure_cost: 9}
actions:
  earn more: {cost: 1, chance: 0.5, change: {income: +1}}
  find steady work: {cost: 2, chance: 0.8, change: {work: steady}}
"""


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    income = rng.integers(0, 80, 600).astype(float)
    work = rng.choice(np.array(["temporary", "steady"], dtype=object), 600)
    income[rng.random(600) < 0.3] = np.nan
    work[rng.random(600) < 0.3] = None
    return pd.DataFrame({"income": income, "work": pd.Series(work, dtype=object), "age": rng.integers(20, 70, 600)})


@pytest.fixture(scope="module")
def model(people: pd.DataFrame) -> Any:
    """Trees that take empty cells as they are; an empty income is better than a small one."""
    import lightgbm  # noqa: PLC0415  # only those who train it wait for it

    work = people["work"].map({"temporary": 10, "steady": 30}).fillna(0)
    good = people["income"].fillna(25) + work + people["age"] / 10 > 40
    categories = people.assign(work=people["work"].astype(pd.CategoricalDtype(["steady", "temporary"])))
    return lightgbm.LGBMClassifier(n_estimators=40, random_state=0, verbose=-1, n_jobs=1).fit(
        categories, good.astype(int)
    )


@pytest.fixture(scope="module")
def accepted(model: Any, people: pd.DataFrame) -> np.ndarray[Any, Any]:
    """What the model itself says."""
    categories = people.assign(work=people["work"].astype(pd.CategoricalDtype(["steady", "temporary"])))
    return np.asarray(model.predict_proba(categories)[:, 1] >= 0.5)


def test_the_model_decides_on_empty_cells(model: Any, people: pd.DataFrame, accepted: np.ndarray[Any, Any]) -> None:
    problem = sa.parse_problem(PROBLEM)
    decider = sa.as_classifier(model, problem)
    gaps = people["income"].isna()
    assert 0.1 < accepted[gaps].mean() < 0.9  # or the test would say nothing
    for row in range(0, 600, 7):
        record = {str(name): cell for name, cell in people.iloc[row].items()}
        menu = sa.recommend(problem, decider, record)
        assert menu.favourable == accepted[row]
        for offer in menu:
            assert sa.verify(offer, decider, record).holds


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_tables_with_empty_cells(
    form: str, model: Any, people: pd.DataFrame, accepted: np.ndarray[Any, Any], tmp_path: Path
) -> None:
    problem, source = sa.parse_problem(PROBLEM), people
    path = tmp_path / f"people.{form}"
    if form == "csv":
        people.to_csv(path, index=False)
    elif form == "parquet":
        people.to_parquet(path)
    found = sa.audit(problem, model, source if form == "frame" else str(path), groups="work")
    assert found.overall["rejected"] == int((~accepted).sum())


def test_a_number_that_changed_is_no_longer_empty() -> None:
    """Down and up again is as filed; one up is the value of the level."""
    seen: list[pd.DataFrame] = []

    def accept(frame: pd.DataFrame) -> list[bool]:
        seen.append(frame)
        return [False] * len(frame)

    record = {"income": None, "work": None}
    menu = sa.recommend(sa.parse_problem(PROBLEM), accept, record)
    assert not menu.offers  # why not is another question, for which other numbers of the levels are tried
    shown = pd.concat(seen)
    assert set(shown["income"].dropna()) == {30, 50}
    assert shown["income"].isna().any()
    assert set(shown["work"].dropna()) == {"steady"}


def test_an_empty_cell_is_a_mistake_unless_the_problem_says_otherwise() -> None:
    with pytest.raises(sa.InputError, match="'income' is missing"):
        sa.recommend(
            sa.parse_problem(PROBLEM.replace(", missing: <20", "")),
            lambda frame: [True] * len(frame),
            {"income": None, "work": None},
        )


def test_missing_must_be_a_level() -> None:
    with pytest.raises(sa.InputError) as error:
        sa.parse_problem(PROBLEM.replace("missing: unknown", "missing: unknow"))
    assert "features.work.missing: 'unknow' is not a level of 'work'" in str(error.value)
    assert str(error.value).endswith("did you mean 'unknown'?")


@pytest.mark.parametrize(
    "empty",
    [None, float("nan"), np.float32("nan"), Decimal("NaN"), pd.NA, pd.NaT],
    ids=lambda value: type(value).__name__,
)
def test_what_is_told_of_an_empty_cell_can_be_filed_again(empty: object) -> None:
    problem = replace(sa.parse_problem(PROBLEM), given=("street",))
    record = {"income": empty, "work": empty, "street": empty}
    menu = sa.recommend(problem, lambda frame: frame["income"] > 35, record)
    told = json.loads(sa.reports.report_figures(menu).menu.model_dump_json())["record"]
    assert told == {"income": None, "work": None, "street": None}
    again = sa.recommend(problem, lambda frame: frame["income"] > 35, told)
    assert again.person == menu.person
    page = report_menu(menu).html
    assert page == report_menu(again).html
    assert not re.search(r"\b(nan|NaN|NaT)\b|&lt;NA&gt;", page)


def test_a_frame_of_one_row_with_nothing_in_it() -> None:
    frame = pd.DataFrame({"income": pd.array([None], dtype="Int64"), "work": ["steady"]})
    menu = sa.recommend(sa.parse_problem(PROBLEM), lambda frame: frame["income"] > 35, frame)
    assert sa.reports.report_figures(menu).menu.record == {"income": None, "work": "steady"}
    assert "steady" in report_menu(menu).html


def test_bookkeeping_is_never_missing() -> None:
    hidden = "note: {kind: nominal, levels: [a, b], hidden: true, missing: b}\ngoal:"
    with pytest.raises(sa.InputError, match="what is hidden begins at its first level, and is never missing"):
        sa.parse_problem(PROBLEM.replace("goal:", f"  {hidden}", 1))


def test_it_is_written_back() -> None:
    problem = sa.parse_problem(PROBLEM)
    assert sa.parse_problem(sa.dump_problem(problem)) == problem


@pytest.mark.parametrize("word", ["null", "~", "NULL"])
@pytest.mark.parametrize("name, level", [("income", "<20"), ("work", "unknown")])
def test_null_in_a_file_is_an_empty_cell(name: str, level: str, word: str, tmp_path: Path) -> None:
    person = {"income": "30", "work": "steady"} | {name: word}
    text = "{" + ", ".join(f'"{key}": {cell}' for key, cell in person.items()) + "}"
    problem = sa.parse_problem(PROBLEM + f"people:\n  Ann: {text}\n")
    (tmp_path / "ann.yaml").write_text(text)
    for record in (problem.people["Ann"], sa.load_person(tmp_path / "ann.yaml", problem)):
        assert record[name] is None
        assert sa.recommend(problem, lambda frame: frame["income"] > 35, record).person[name] == level
    assert sa.parse_problem(sa.dump_problem(problem)).people == problem.people


def test_null_is_a_level_where_there_is_one_of_that_name() -> None:
    text = PROBLEM.replace("[unknown, temporary", "['null', unknown, temporary")
    problem = sa.parse_problem(text + "people:\n  Ann: {income: 30, work: null}\n")
    menu = sa.recommend(problem, lambda frame: frame["income"] > 35, problem.people["Ann"])
    assert menu.person["work"] == "null"


def test_a_person_with_an_empty_cell_where_missing_is_no_level() -> None:
    """One mistake, about `missing`; what cannot be read of the person follows from it."""
    text = PROBLEM.replace("missing: <20", "missing: unknown") + "constraints: [income >= 20-40]\n"
    with pytest.raises(sa.InputError) as error:
        sa.parse_problem(text + "people:\n  Ann: {income: null, work: steady}\n")
    assert [item.place.path for item in error.value.mistakes] == [("features", "income", "missing")]
