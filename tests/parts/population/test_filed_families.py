"""Populations whose records the classifier sees: everybody gets what `recommend` gives them, wherever they are read."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import Crowd, Engine, Filed, Purpose, Sight, engine, make_offer, open_people
from doors import filed_families as families_module
from lanes import scaled
from safear.people import read_people, read_population
from safear.recourse import Desk

LOAN: dict[str, Any] = {
    "safear": 1,
    "title": "a loan",
    "horizon": 4,
    "features": {
        "term": {"kind": "numeric", "edges": [12, 24, 36], "values": [9, 18, 30, 42], "step": 1, "min": 6, "max": 60},
        "amount": {"kind": "numeric", "edges": [10, 20], "values": [6, 15, 28], "min": 1, "max": 40},
        "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
        "class": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
    },
    "actions": {
        "shorten": {"cost": 1, "chance": [{"when": "class == a", "chance": 0.8}, 0.6], "change": {"term": -1}},
        "ask for less": {"cost": 1.5, "chance": 0.9, "change": {"amount": -1}},
    },
    "goal": {"failure_cost": 20},
    "given": ["age", "flat"],
}
PROBLEM = sa.parse_problem(LOAN)


def accept(frame: pd.DataFrame) -> Any:
    """Looks at numbers as filed, and at truth values and missing numbers as given."""
    age = frame["age"].fillna(50).to_numpy(float)
    flat = frame["flat"].map({True: 3, False: 0, "True": 3, "False": 0}).to_numpy(float)
    burden = frame["amount"].to_numpy(float) - frame["term"].to_numpy(float) / 4 + age / 20 - flat
    return burden * np.where(frame["sex"] == "f", 1.05, 1) <= 6.3


def draw_people(count: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "customer": np.arange(count),
            "term": rng.integers(6, 61, count),
            "amount": rng.uniform(1, 40, count).round(2),
            "sex": rng.choice(["f", "m"], count),
            "class": rng.choice(["a", "b"], count),
            "age": np.where(rng.random(count) < 0.1, np.nan, rng.integers(18, 90, count)),
            "flat": rng.random(count) < 0.5,
        }
    )


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(row) for _, row in frame.iterrows()]


PEOPLE = draw_people(scaled(120, least=30))


@cache
def ask_alone() -> list[sa.Menu]:
    """What `recommend` gives everybody."""
    return [sa.recommend(PROBLEM, accept, one, objectives="mean") for one in records_of(PEOPLE)]


def figures_of(menu: sa.Menu) -> tuple[str, float | None, float | None]:
    if menu.favourable:
        return "favourable", None, None
    if menu.no_recourse is not None:
        return "no recourse", 0.0, None
    return "plan", menu[0].cost.success, menu[0].mean


@pytest.mark.parametrize(
    "ending, objective",
    [("csv", "mean"), ("parquet", "mean"), ("csv", "mean-std:0.5 greedy"), ("csv", "cvar:0.9")],
)
def test_a_batch_is_what_recommend_says(tmp_path: Path, ending: str, objective: str) -> None:
    file = tmp_path / f"people.{ending}"
    PEOPLE.to_csv(file, index=False) if ending == "csv" else PEOPLE.to_parquet(file)
    aim, _, method = objective.partition(" ")
    options: Any = {"objective": sa.parse_objective(aim), "method": method or None}
    summary = sa.batch(PROBLEM, accept, file, out=tmp_path / "out", keep=["customer"], part_size=20, **options)
    rows = pd.concat([pd.read_parquet(part) for part in sorted((tmp_path / "out").glob("*.parquet"))])
    assert rows["customer"].astype(int).tolist() == PEOPLE["customer"].tolist()
    assert summary.favourable == int(accept(PEOPLE).sum())
    for (_, row), record in zip(rows.iterrows(), records_of(PEOPLE), strict=True):
        wanted: Any = {"method": method or None}
        menu = sa.recommend(PROBLEM, accept, record, objectives=aim, **wanted)
        decision, success, mean = figures_of(menu)
        assert row["decision"] == decision
        if success is not None:
            assert row["success"] == pytest.approx(success, abs=1e-12)
        if mean is not None:
            assert row["overall_mean"] == pytest.approx(mean, rel=1e-12)


def test_menus_of_a_batch(tmp_path: Path) -> None:
    PEOPLE[: scaled(20, least=6)].to_csv(tmp_path / "people.csv", index=False)
    sa.batch(PROBLEM, accept, tmp_path / "people.csv", out=tmp_path / "out")
    rows = pd.read_parquet(next((tmp_path / "out").glob("*.parquet")))
    for number, record in enumerate(records_of(PEOPLE[: scaled(20, least=6)]), start=1):
        menu, mine = sa.recommend(PROBLEM, accept, record), rows[rows["row"] == number]
        assert mine["plan"].dropna().tolist() == [offer.name for offer in menu]


def test_a_batch_is_not_continued_with_a_model_that_decides_otherwise_after_a_change(tmp_path: Path) -> None:
    """Though it decides on everybody who is there as the first did."""
    people = PEOPLE[PEOPLE["term"] >= 12]
    people.to_csv(tmp_path / "people.csv", index=False)

    def stricter(frame: pd.DataFrame) -> Any:
        return accept(frame) & (frame["term"] >= 12)

    assert (accept(people) == stricter(people)).all()
    sa.batch(PROBLEM, accept, tmp_path / "people.csv", out=tmp_path / "out", objective=sa.Mean())
    with pytest.raises(sa.InputError, match="classifier"):
        sa.batch(PROBLEM, stricter, tmp_path / "people.csv", out=tmp_path / "out", objective=sa.Mean())


@pytest.mark.parametrize("few", [0, 10**9], ids=["together", "alone"])
def test_an_audit_decides_on_records(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "FEW", few)
    monkeypatch.setattr(families_module, "TOGETHER", 7)
    found = sa.audit(PROBLEM, accept, PEOPLE, groups=["sex"], minimum=1)
    for sex in ("f", "m"):
        mine = [figures_of(menu) for menu, other in zip(ask_alone(), PEOPLE["sex"], strict=True) if other == sex]
        row = found.table().loc[sex]
        assert row["n"] == len(mine)
        assert row["rejected"] == sum(decision != "favourable" for decision, _, _ in mine)
        successes = [success for decision, success, _ in mine if decision != "favourable"]
        assert row["success"] == pytest.approx(np.mean(np.array(successes, dtype=float)), abs=1e-12)


def test_an_audit_of_files_is_that_of_the_frame(tmp_path: Path) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    frames = [sa.audit(PROBLEM, accept, source, groups="sex", minimum=1).table() for source in
              (PEOPLE, records_of(PEOPLE), tmp_path / "people.csv", tmp_path / "people.parquet")]  # fmt: skip
    for other in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], other)


def test_people_with_terms_of_their_own_stay_apart() -> None:
    """Even where they and their records together are so many that a floating-point number could not count them."""
    rng, count = np.random.default_rng(0), 4000
    names = [f"column {i}" for i in range(6)]
    sight = Sight(("term",), tuple(names))
    codes = np.full((count, len(PROBLEM.features)), 1, dtype=np.int16)
    given = pd.DataFrame(rng.integers(0, 1500, (count // 2, len(names))), columns=names)
    given = given.loc[np.repeat(np.arange(count // 2), 2)].reset_index(drop=True)
    filed = Filed(sight, codes, np.tile([13.0, 14.0], count // 2)[:, None], given)
    crowd = Crowd.of(PROBLEM, filed)
    assert len(crowd.distinct()[0]) == count
    assert len(replace(crowd, costs=np.full(crowd.costs.shape, 2.0)).distinct()[0]) == count


def test_single_precision_is_meant_as_it_is_written(tmp_path: Path) -> None:
    """0.7 in single precision is less than 0.7, and 0.3 is more than 0.3; both are edges here."""
    ratio = {"kind": "numeric", "edges": [0.3, 0.7], "values": [0.2, 0.5, 0.75], "min": 0.1, "max": 0.8}
    problem = sa.parse_problem({**LOAN, "given": [], "features": {"ratio": ratio, **LOAN["features"]}})
    sight = Desk.of(problem, accept).sight
    people = PEOPLE[:5].assign(ratio=np.array([0.1, 0.3, 0.45, 0.7, 0.8], dtype=np.float32))
    people.to_parquet(tmp_path / "people.parquet")
    for source in (people, tmp_path / "people.parquet"):
        filed = read_population(problem, source, sight=sight).filed
        assert sorted(zip(filed.numbers[:, 0].tolist(), filed.codes[:, 0].tolist(), strict=True)) == [
            (0.1, 0), (0.3, 1), (0.45, 1), (0.7, 2), (0.8, 2)
        ]  # fmt: skip


def test_given_columns_have_the_same_types_wherever_they_come_from(tmp_path: Path) -> None:
    """Those that records have: whole numbers, truth values some of which are missing, codes that begin with a zero."""
    columns: dict[str, list[object]] = {
        "whole": [1, 2, 3], "some": [1, None, 3], "broken": [1.5, 2.0, None], "truth": [True, False, True],
        "known": [True, None, False], "code": ["007", "10", "8"], "text": ["a", None, "b"],
    }  # fmt: skip
    problem = sa.parse_problem(LOAN | {"given": list(columns)})
    expected, sight = pd.DataFrame(columns), Sight(("term", "amount"), tuple(columns))
    people = pd.concat([PEOPLE[:3], expected], axis=1)
    people.to_csv(tmp_path / "people.csv", index=False)
    people.to_parquet(tmp_path / "people.parquet")

    def assert_as_filed(filed: Filed) -> None:
        order = np.argsort([people["term"].tolist().index(term) for term in filed.numbers[:, 0]])
        pd.testing.assert_frame_equal(filed.take(order).given.reset_index(drop=True), expected)

    assert people["term"].is_unique
    for source in (people, records_of(people.astype(object)), tmp_path / "people.csv", tmp_path / "people.parquet"):
        assert_as_filed(read_population(problem, source, sight=sight).filed)
    for file in ("people.csv", "people.parquet"):
        with open_people(problem, tmp_path / file, sight=sight) as opened:
            assert_as_filed(opened.first(3))


def test_a_gap_is_decomposed_with_the_same_records() -> None:
    """The model is harder on women with the same record; had it looked at levels alone, it would be so to all alike."""
    found = sa.audit(PROBLEM, accept, PEOPLE, groups="sex", minimum=1)
    (gap,) = [gap for gap in found.decompose("sex").gaps if gap.measure == "success"]
    assert gap.gap == pytest.approx(gap.start + gap.model)
    assert gap.model < 0


def test_a_comparison_of_records() -> None:
    found = sa.compare(PROBLEM, accept, PEOPLE, objective=sa.Mean())
    planned = [menu for menu in ask_alone() if len(menu)]
    assert found.compared == len(planned)
    assert found.optimal.mean == pytest.approx(np.mean([menu[0].mean for menu in planned]))


@given(st.integers(0, 10**6), st.sampled_from(["value", "range", "narrow"]), st.sampled_from([1, 3, 256]))
@settings(max_examples=scaled(15))
def test_together_or_alone(seed: int, promise: str, together: int) -> None:
    """Everybody's figures do not depend on who else is there, nor on how many are asked about at once."""
    problem = sa.parse_problem(LOAN | {"goal": {"failure_cost": 20, "promise": promise}})
    desk, records = Desk.of(problem, accept), records_of(draw_people(14, seed))
    crowd = Crowd.of(problem, read_people(problem, records, sight=desk.sight))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families_module, "TOGETHER", together)
        found = Engine(desk).work_out(crowd, Purpose(sa.Mean()), ("success", "overall_mean", "sparsity"))
    for number, record in enumerate(records):
        case = desk.open(record)
        assert found.favourable[number] == case.favourable
        if case.needs_plan:
            offer = make_offer(sa.solve(case.mdp, sa.Mean()))
            assert found.of("success")[number] == pytest.approx(offer.cost.success, abs=1e-12)
            assert found.of("sparsity")[number] == pytest.approx(offer.runs.sparsity, abs=1e-12)


def test_a_model_is_asked_seldom_and_in_no_call_about_anything_twice() -> None:
    calls: list[pd.DataFrame] = []

    def counting(frame: pd.DataFrame) -> Any:
        assert "customer" not in frame
        calls.append(frame)
        return accept(frame)

    sa.audit(PROBLEM, counting, PEOPLE, groups="sex", minimum=1)
    assert len(calls) <= 1 + 2 * PROBLEM.horizon  # two families, since chances depend on the class
    assert all(not call.duplicated().any() for call in calls)


def test_numbers_beyond_their_limits_are_bad_rows(tmp_path: Path) -> None:
    odd = PEOPLE.astype({"term": object})
    odd.loc[3, "term"] = 250
    odd.loc[5, "term"] = "long"
    odd.to_csv(tmp_path / "people.csv", index=False)
    refused = rf"(?s)250 is above the most that is possible, 60.*2 of {len(odd)} rows"
    for source in (odd, tmp_path / "people.csv"):
        with pytest.raises(sa.InputError, match=refused):
            sa.audit(PROBLEM, accept, source, groups="sex")


def test_a_column_that_the_classifier_wants_is_missing(tmp_path: Path) -> None:
    PEOPLE.drop(columns="age").to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(sa.InputError, match="no column 'age' for this column of the classifier"):
        sa.audit(PROBLEM, accept, tmp_path / "people.csv", groups="sex")


def test_texts_of_a_parquet_file_stay_texts(tmp_path: Path) -> None:
    """In a CSV file nothing is known but texts; a Parquet file says what is one."""
    codes = PEOPLE.assign(age=np.where(PEOPLE["age"] > 50, "2", "1"))
    codes.to_parquet(tmp_path / "people.parquet")

    def by_code(frame: pd.DataFrame) -> Any:
        return (frame["age"] == "1").to_numpy()

    found = sa.audit(PROBLEM, by_code, tmp_path / "people.parquet", groups="sex", minimum=1)
    assert found.overall["rejected"] == int((codes["age"] == "2").sum())


def test_a_list_is_no_value() -> None:
    record = records_of(PEOPLE)[0] | {"age": [30]}
    with pytest.raises(sa.InputError, match="age: write a single value here"):
        sa.recommend(PROBLEM, accept, record)
