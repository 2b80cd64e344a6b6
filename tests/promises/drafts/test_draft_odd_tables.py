"""Tables as people have them: each oddity has a treatment that is stated, or a message."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import safear as sa

PEOPLE = 300


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "customer": [f"c-{i}" for i in range(PEOPLE)],
            "id": rng.permutation(PEOPLE),
            "row": np.arange(PEOPLE),
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, PEOPLE), unit="D"),
            "income": rng.integers(10, 50, PEOPLE) * 100,
            "debt": np.where(rng.random(PEOPLE) < 0.1, np.nan, rng.integers(0, 20, PEOPLE) * 100.0),
            "zip": rng.choice(["007", "010", "123"], PEOPLE),
            "grade": rng.choice(["1", "2", "3"], PEOPLE),
            "member": rng.random(PEOPLE) < 0.5,
            "street": [f"street {i % 150}" for i in range(PEOPLE)],
            "nothing": np.full(PEOPLE, np.nan),
            "same": 7,
        }
    )


def approve(table: pd.DataFrame) -> Any:
    points = (table["income"] >= 3000).astype(int) + ~(table["debt"] >= 500) + (table["grade"] != "1") + table["member"]
    return np.asarray(points >= 3)


def train(table: pd.DataFrame, names: list[str], labels: Any = None) -> Any:
    words = [name for name in names if name in {"zip", "grade", "street"}]
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = [name for name in names if name not in words]
    split = ColumnTransformer([("words", encode, words), ("numbers", "passthrough", numbers)])
    model = DecisionTreeClassifier(max_depth=8, random_state=0)
    return make_pipeline(split, model).fit(table[names], approve(table) if labels is None else labels)


def check(draft: sa.Draft, model: Any, table: pd.DataFrame, accepted: Any) -> None:
    """It is sound, agrees with the model on everybody, and gives a menu."""
    assert sa.check_problem(draft.problem) == []
    assert draft.outlook.agree == draft.outlook.people == len(table)
    assert draft.outlook.rejected == (~accepted).sum()
    assert sa.recommend(draft.problem, model).offers
    soon = draft.problem.with_horizon(1)
    for row in range(0, len(table), 60):
        assert sa.recommend(soon, model, table.iloc[[row]], objectives="mean").favourable == accepted[row]


def test_a_table_with_everything(table: pd.DataFrame) -> None:
    names = ["income", "debt", "zip", "grade", "member", "street", "same"]
    model = train(table, names)
    draft = sa.draft_problem(table, model, change=["income", "debt", "grade", "member", "zip"], favourable="true")
    check(draft, model, table, model.predict(table[names]))
    features = draft.problem.feature_by_name
    assert features["income"].step == 100
    assert features["debt"].missing in features["debt"].levels
    assert "empty" in draft.text
    assert features["grade"].kind == "nominal"
    assert set(features["grade"].levels) == {"1", "2", "3"}
    assert features["member"].levels == ("False", "True")
    assert ("zip" in features) != ("zip" in draft.idle)
    assert set(draft.problem.people["applicant"]) == set(names)  # not the customer, nor what the model does not want


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("since", "'since' holds dates"),
        ("nothing", "'nothing' is empty"),
        ("same", "'same' is the same for everybody in the table"),
        ("id", "'id' tells people apart, and says nothing else about them"),
        ("row", "'row' tells people apart, and says nothing else about them"),
        ("customer", "'customer' tells people apart, and says nothing else about them"),
        ("street", "'street' has too many different words to be levels"),
    ],
)
def test_columns_that_cannot_change(table: pd.DataFrame, name: str, expected: str) -> None:
    with pytest.raises(sa.InputError) as caught:
        sa.draft_problem(table, approve, change=["income", name])
    assert [item.code for item in caught.value.mistakes] == ["no_levels"]
    assert f"change: {expected}" in str(caught.value)


def test_a_function_sees_all_columns_and_its_numbers_are_cut_at_quantiles(table: pd.DataFrame) -> None:
    draft = sa.draft_problem(table.assign(paid="yes"), approve, change=["income", "member", "grade"], target="paid")
    assert "paid" not in draft.problem.given
    assert {"customer", "since", "street"} <= set(draft.problem.given)
    assert {ladder.feature.name: ladder.origin for ladder in draft.ladders}["income"] == "quantiles"
    assert "quantiles of the table" in draft.text
    assert draft.outlook.agree == len(table)


@pytest.mark.parametrize("accepts", [True, False])
def test_a_model_that_does_not_look(table: pd.DataFrame, accepts: bool) -> None:
    with pytest.raises(sa.InputError) as caught:
        sa.draft_problem(table, lambda rows: np.full(len(rows), accepts), change=["income"])
    assert caught.value.mistakes[0].code == "unanimous"
    assert f"the model {'accepts' if accepts else 'rejects'} all 300 people of the table" in str(caught.value)


def test_a_column_that_never_matters_is_left_out_and_told(table: pd.DataFrame) -> None:
    draft = sa.draft_problem(table, approve, change=["income", "zip"])
    assert draft.idle == ("zip",)
    assert "zip" not in draft.problem.feature_by_name
    assert "zip" in draft.problem.given


def test_200_columns() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 50, (400, 200)), columns=[f"x{i}" for i in range(200)])
    good = table["x3"] + table["x150"] > 50
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(table, good)
    draft = sa.draft_problem(table, model, change=["x3", "x150", "x9"], favourable="True")
    check(draft, model, table, model.predict(table))
    assert draft.problem.given == ()  # the model knows what it wants


def test_1000_categories() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"zip": [f"street {i % 1000}" for i in range(2000)], "income": rng.integers(1, 90, 2000) * 100}
    )
    model = train(table.rename(columns={"zip": "street"}), ["street", "income"], table["income"] > 4000)
    table = table.rename(columns={"zip": "street"})
    check(sa.draft_problem(table, model, change=["income"], favourable="True"), model, table, model.predict(table))
    with pytest.raises(sa.InputError, match="too many different words"):
        sa.draft_problem(table, model, change=["street"], favourable="True")


ODD_NAMES = ["credit amount", "a:b", "é: #x", "line\nbreak", "{x}", "- y", "yes", "'quoted\""]


def test_odd_names() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 9, (200, len(ODD_NAMES))), columns=ODD_NAMES)
    good = (table > 4).sum(axis=1) > 3
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(table, good)
    draft = sa.draft_problem(table, model, change=[*ODD_NAMES[:2], "é: #x:up", *ODD_NAMES[3:]], favourable="True")
    check(draft, model, table, model.predict(table))


@pytest.mark.parametrize("repeats", [1, 25], ids=["once", "repeated"])
def test_rows_that_show_nothing_besides_levels(repeats: int) -> None:
    """Each keeps its place: all columns can change, and none has numbers that were filed."""
    rows = [[code >> place & 1 == 0 for place in range(3)] for code in range(8)]
    table = pd.DataFrame(rows * repeats, columns=["a", "b", "c"])
    draft = sa.draft_problem(table, lambda frame: frame.sum(axis=1) >= 2, change=list(table.columns))
    assert draft.problem.given == ()
    assert draft.outlook.people == draft.outlook.agree == len(table)
    assert sum(value == "True" for value in draft.problem.people["applicant"].values()) < 2


def test_numbers_for_names() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 9, (200, 3)))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table.to_numpy(), table.sum(axis=1) > 12)
    draft = sa.draft_problem(table, model, change=["0", "1"], favourable="True")
    assert draft.problem.given == ("2",)
    assert draft.outlook.agree == 200


@pytest.mark.parametrize("in_list", [False, True])
def test_a_model_without_names_that_would_get_its_columns_in_another_order(in_list: bool) -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 9, (200, 3)), columns=["a", "b", "c"])
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table.to_numpy(), table.sum(axis=1) > 12)
    given = [model, lambda frame: frame["a"] >= 0] if in_list else model
    with pytest.raises(sa.InputError) as caught:
        sa.draft_problem(table, given, change=["b"], favourable="True")
    assert caught.value.mistakes[0].code == "no_names"

    def ask(rows: pd.DataFrame) -> Any:
        return model.predict(rows[["a", "b", "c"]].to_numpy())

    assert sa.draft_problem(table, ask, change=["b"]).outlook.agree == 200


def test_the_goal_reaches_classifiers_in_a_list() -> None:
    """Also those that were made for another goal."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.integers(0, 9, (200, 2)), columns=["a", "b"])
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, np.where(table.sum(axis=1) > 8, "x", "y"))
    bare = sa.Problem("", 1, (), (), given=tuple(table.columns))
    made = sa.as_classifier(model, replace(bare, goal=replace(bare.goal, favourable="x")))
    alone = sa.draft_problem(table, model, change=["b"], favourable="y")
    for given in ([made], [[made], model]):
        assert sa.draft_problem(table, given, change=["b"], favourable="y").outlook == alone.outlook


def test_what_is_not_a_table(table: pd.DataFrame) -> None:
    with pytest.raises(sa.InputError, match="an object of type dict is no table"):
        sa.draft_problem({}, approve, change=["income"])  # type: ignore[arg-type]
    with pytest.raises(sa.InputError, match="the table has no people"):
        sa.draft_problem(table[:0], approve, change=["income"])
    with pytest.raises(sa.InputError, match="there are two columns 'income'"):
        sa.draft_problem(pd.concat([table, table[["income"]]], axis=1), approve, change=["income"])
    decisions = pd.DataFrame({"income": ["1"], "decision": ["yes"]})
    with pytest.raises(sa.InputError):
        sa.draft_problem(table, decisions, change=["income"])


def test_nothing_is_said_of_a_usual_model(table: pd.DataFrame, caplog: pytest.LogCaptureFixture) -> None:
    names = ["income", "grade"]
    with caplog.at_level(logging.WARNING, "safear"):
        sa.draft_problem(table, train(table, names), change=names, favourable="true")
    assert caplog.records == []


@pytest.mark.parametrize("word", ["standby", "by", "to", "+1", "null", "no"])
def test_words_that_mean_something_in_files(word: str) -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"word": rng.choice([word, "other"], PEOPLE), "balance": rng.normal(0, 1, PEOPLE).round(2)})

    def accept(table: pd.DataFrame) -> Any:
        return ((table["word"] == word) & (table["balance"] > 0)).to_numpy()

    draft = sa.draft_problem(people, accept, change=[f"word:{word}", "balance:up"])
    change: Any = draft.problem.actions[0].outcomes[0].change
    assert list(change) == ["word"]
    assert change["word"].level == word
    check(draft, accept, people, accept(people))


def test_the_person_of_the_draft_may_have_left_a_word_out() -> None:
    rng = np.random.default_rng(0)
    words = pd.Series(rng.choice(np.array(["alpha", "beta"], dtype=object), PEOPLE)).mask(rng.random(PEOPLE) < 0.9)
    people = pd.DataFrame({"word": words, "balance": rng.normal(0, 1, PEOPLE).round(2)})

    def accept(table: pd.DataFrame) -> Any:
        return (table["word"] == "alpha") & (table["balance"] > 0)

    draft = sa.draft_problem(people, accept, change=["word:alpha", "balance:up"])
    assert draft.problem.people["applicant"]["word"] is None
    check(draft, accept, people, accept(people).to_numpy())


@pytest.mark.parametrize("ways", [["good"], ["good", "up"], ["fair", "good"]])
def test_a_level_of_words_with_an_order_can_be_named(ways: list[str]) -> None:
    rng = np.random.default_rng(0)
    rating = rng.choice(["poor", "fair", "good", "excellent"], PEOPLE)
    people = pd.DataFrame({"rating": rating, "balance": rng.normal(0, 1, PEOPLE).round(2)})

    def accept(table: pd.DataFrame) -> Any:
        return ((table["rating"] == "good") & (table["balance"] > 0)).to_numpy()

    change = [*(f"rating:{way}" for way in ways), "balance:up"]
    draft = sa.draft_problem(people, accept, change=change)
    assert draft.problem.feature_by_name["rating"].kind == "ordinal"
    expected = ["raise rating" if way == "up" else f"change rating to {way}" for way in ways]
    assert list(draft.problem.action_by_name) == [*expected, "raise balance"]
    for way, action in zip(ways, draft.problem.actions, strict=False):
        made: Any = action.outcomes[0].change
        assert list(made) == ["rating"]
        assert made["rating"].by == 1 if way == "up" else made["rating"].level == way
    check(draft, accept, people, accept(people))
