"""Decisions on records beside decisions on levels, against the model itself asked with pandas."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from lanes import scaled
from safear.errors import PersonError
from safear.population import check_people

LOAN: dict[str, Any] = {
    "safear": 1,
    "title": "a loan",
    "horizon": 2,
    "features": {
        "term": {"kind": "numeric", "edges": [12, 24, 36], "values": [9, 18, 24, 42], "step": 1, "min": 6, "max": 60},
        "amount": {"kind": "numeric", "edges": [10, 20], "values": [6, 15, 28], "closed": "right"},
        "class": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
    },
    "actions": {"shorten": {"cost": 1, "change": {"term": -1}}},
    "goal": {"failure_cost": 20},
    "given": ["age"],
}
PROBLEM = sa.parse_problem(LOAN)


def accept(frame: pd.DataFrame) -> Any:
    """Looks at both numbers at once, so that some decisions change only if both do."""
    burden = frame["amount"].to_numpy(float) + frame["term"].to_numpy(float) / 3 + frame["age"].to_numpy(float) / 20
    return burden * np.where(frame["class"] == "a", 1.05, 1) <= 24


def draw_people(count: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "term": rng.integers(6, 61, count),
            "amount": rng.integers(1, 400, count) / 10,
            "class": rng.choice(["a", "b"], count),
            "age": rng.integers(18, 90, count),
            "customer": np.arange(count),
        }
    )


PEOPLE = draw_people(400)


def at_values(people: pd.DataFrame, *names: str) -> pd.DataFrame:
    """People with these numbers replaced by their level's value, cut by pandas and not by us."""
    people = people.copy()
    for name in names:
        feature = LOAN["features"][name]
        bins = [-np.inf, *feature["edges"], np.inf]
        cells = pd.cut(people[name], bins, right=feature.get("closed") == "right", labels=feature["values"])
        people[name] = cells.astype(float)
    return people


@pytest.mark.parametrize("source", ["csv", "csv.gz", "parquet", "frame", "records"])
def test_everything_is_what_the_model_says(source: str, tmp_path: Path) -> None:
    people: Any = PEOPLE
    if source == "records":
        people = PEOPLE.to_dict("records")
    elif source != "frame":
        people = tmp_path / f"people.{source}"
        PEOPLE.to_parquet(people) if source == "parquet" else PEOPLE.to_csv(people, index=False)
    found = check_people(PROBLEM, accept, people)
    filed, levels = accept(PEOPLE), accept(at_values(PEOPLE, "term", "amount"))
    alone = {name: accept(at_values(PEOPLE, name)) for name in ("term", "amount")}
    assert (found.people, found.skipped) == (400, 0)
    assert found.rejected == (~filed).sum()
    assert found.agree == (filed == levels).sum()
    assert found.accepted_only == (filed & ~levels).sum() > 0
    assert found.rejected_only == (~filed & levels).sum() > 0
    assert found.together == ((filed != levels) & (alone["term"] == filed) & (alone["amount"] == filed)).sum() > 0
    assert [number.changed for number in found.numbers] == sorted((n.changed for n in found.numbers), reverse=True)
    for number in found.numbers:
        assert number.changed == (alone[number.feature] != filed).sum() > 0
        cell = at_values(PEOPLE, number.feature)[number.feature]
        for level in number.levels:
            here = cell == level.value
            assert level.people == here.sum()
            assert level.accepted_only == (here & filed & ~alone[number.feature]).sum()
            assert level.rejected_only == (here & ~filed & alone[number.feature]).sum()
            assert (level.cut is None) == (level.changed == 0)
        assert sorted(number.levels, key=lambda level: -level.changed) == list(number.levels)


def test_people_who_are_alike_all_count() -> None:
    once, twice = check_people(PROBLEM, accept, PEOPLE), check_people(PROBLEM, accept, pd.concat([PEOPLE, PEOPLE]))
    pd.testing.assert_frame_equal(
        once.to_frame()[["feature", "level", "cut"]], twice.to_frame()[["feature", "level", "cut"]]
    )
    for name in ("people", "rejected", "agree", "accepted_only", "rejected_only", "together"):
        assert getattr(twice, name) == 2 * getattr(once, name), name


@settings(max_examples=scaled(25), deadline=None)
@given(st.lists(st.booleans(), min_size=24, max_size=24), st.integers(0, 10**6))
def test_a_model_of_levels_agrees_with_itself(answers: list[bool], seed: int) -> None:
    table = np.array(answers).reshape(4, 3, 2)

    def look_up(frame: pd.DataFrame) -> Any:
        term = np.searchsorted([12, 24, 36], frame["term"].astype(float), side="right")
        amount = np.searchsorted([10, 20], frame["amount"].astype(float), side="left")
        return table[term, amount, (frame["class"] == "b").to_numpy(int)]

    people = draw_people(30, seed)
    found = check_people(PROBLEM, look_up, people)
    assert (found.agree, found.accepted_only, found.rejected_only, found.together) == (30, 0, 0, 0)
    assert found.rejected == (~look_up(people)).sum()
    assert found.coarse == []
    assert found.to_frame()["changed"].sum() == 0


def test_a_rule_sees_levels_only() -> None:
    found = check_people(sa.parse_problem({**LOAN, "classifier": {"rule": "term < 24"}}), None, PEOPLE)
    assert (found.agree, found.numbers) == (400, ())
    assert found.rejected == (PEOPLE["term"] >= 24).sum()
    assert found.to_frame().empty


def test_people_of_whom_only_levels_are_known_agree() -> None:
    levels = PROBLEM.feature_by_name["term"].levels
    people = PEOPLE.assign(term=[levels[code] for code in np.searchsorted([12, 24, 36], PEOPLE["term"], side="right")])
    found = check_people(PROBLEM, accept, people)
    by_name = {number.feature: number for number in found.numbers}
    assert by_name["term"].changed == 0 < by_name["amount"].changed
    assert found.rejected == (~accept(at_values(PEOPLE, "term"))).sum()


@pytest.mark.parametrize("limit, rejected, unanimous", [(0, 400, True), (99, 0, True), (30, None, False)])
def test_the_same_answer_for_everybody_is_told(limit: float, rejected: int | None, unanimous: bool) -> None:
    found = check_people(PROBLEM, lambda frame: frame["term"].astype(float) < limit, PEOPLE)
    assert found.is_unanimous is unanimous
    assert rejected is None or found.rejected == rejected


# ---------------------------------------------------------------------------------------------------------------- cuts


def tree(name: str, limit: float) -> Any:
    """A model that accepts what is below a number, and knows where it changes its mind."""
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415  # slow

    train = draw_people(3000, seed=1)[["term", "amount", "age"]]
    return DecisionTreeClassifier(max_depth=1).fit(train, train[name] < limit)


@pytest.mark.parametrize("name, limit, level, cut", [("term", 30, "24-36", 30), ("amount", 12.25, "10-20", 12.2)])
@pytest.mark.parametrize("knows_splits", [True, False], ids=["tree", "function"])
def test_a_level_is_cut_where_the_model_changes_its_mind(
    name: str, limit: float, level: str, cut: float, knows_splits: bool
) -> None:
    """`amount` has levels that own their upper edge: 12.2 is the last number that is accepted."""
    document = copy.deepcopy(LOAN)
    document["features"]["class"]["seen_by_classifier"] = False
    problem = sa.parse_problem(document)
    model = tree(name, limit) if knows_splits else lambda frame: frame[name].astype(float) < limit
    found = check_people(problem, model, draw_people(3000, seed=1))
    ((number, coarse),) = found.coarse
    assert (number.feature, coarse.level) == (name, level)
    assert coarse.cut is not None
    assert coarse.cut == pytest.approx(cut, abs=0 if name == "term" else 0.05)

    feature = document["features"][name]  # with this edge, and a value in each part, nobody is decided otherwise
    place = feature["values"].index(coarse.value)
    feature["edges"] = sorted([*feature["edges"], coarse.cut])
    low, high = (coarse.value, coarse.cut + 1) if coarse.value < coarse.cut else (coarse.cut - 1, coarse.value)
    feature["values"] = [*feature["values"][:place], low, high, *feature["values"][place + 1 :]]
    again = check_people(sa.parse_problem(document), model, draw_people(3000, seed=1))
    assert again.agree == again.people


def test_no_cut_parts_those_who_are_alike() -> None:
    """Whether they are decided otherwise hangs on the class, so another value is what helps."""
    people = pd.DataFrame({"term": [30] * 8, "amount": [15.0] * 8, "class": ["a", "b"] * 4, "age": 40})
    found = check_people(PROBLEM, lambda frame: (frame["term"] == 24) | (frame["class"] == "b"), people)
    ((number, level),) = found.coarse
    assert (number.feature, level.changed, level.people, level.cut) == ("term", 4, 8, None)


# ------------------------------------------------------------------------------------------------------------ bad rows


def test_bad_rows_are_an_error_or_set_aside(tmp_path: Path) -> None:
    people = PEOPLE.astype({"term": object})
    people.loc[3, "term"] = "soon"
    with pytest.raises(PersonError, match="1 of 400 rows cannot be used"):
        check_people(PROBLEM, accept, people)
    found = check_people(PROBLEM, accept, people, skip_bad=tmp_path / "bad.csv")
    assert (found.people, found.skipped) == (399, 1)
    assert found.rejected == (~accept(PEOPLE.drop(index=3))).sum()


def test_a_column_that_the_model_wants_is_missed() -> None:
    with pytest.raises(PersonError, match="there is no column 'age' for this column of the classifier"):
        check_people(PROBLEM, accept, PEOPLE.drop(columns="age"))
