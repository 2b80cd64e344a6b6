"""The classifier is asked in batches, and about each distinct input once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import safear as sa
from doors import Goals, grounds
from doors import goals as goals_module
from promises.test_margins import LEVELS, asking, score
from safear.classifier import Inputs
from safear.errors import ClassifierError
from safear.mdp import compile_blocks

SKILL = ["basic", "skilled", "expert", "master"]
SAVINGS = ["none", "some", "much"]
GENDER = ["female", "male"]
REGION = ["north", "east", "south"]
APPLICANT = {"region": "east", "skill": "basic", "mood": "low", "savings": "none", "gender": "female"}


def make_problem(*, horizon: int = 5, gender_seen: bool = True) -> sa.Problem:
    """12 inputs (24 with the gender), 144 states, 6 blocks. Neither region nor mood are shown to the classifier."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": horizon,
            "features": {
                "region": {"kind": "nominal", "levels": REGION, "mutable": False, "seen_by_classifier": False},
                "skill": {"kind": "ordinal", "levels": SKILL},
                "mood": {"kind": "ordinal", "levels": ["low", "high"], "seen_by_classifier": False},
                "savings": {"kind": "ordinal", "levels": SAVINGS},
                "gender": {
                    "kind": "nominal",
                    "levels": GENDER,
                    "mutable": False,
                    "seen_by_classifier": gender_seen,
                },
            },
            "actions": {
                "learn": {"cost": 1, "chance": 0.8, "change": {"skill": "+1"}},
                "save": {"cost": 1, "chance": 0.9, "change": {"savings": "+1"}},
                "rest": {"cost": 0, "change": {"mood": "+1"}},
                "sell books": {"cost": 0, "change": {"savings": "+1", "skill": "-1"}},
            },
            "goal": {"failure_cost": 10},
            "people": {"applicant": APPLICANT},
        }
    )


class Counting:
    """A function that is only favourable at the top, and that remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[tuple[str, ...]]] = []

    def __call__(self, frame: pd.DataFrame) -> Any:
        self.calls.append([tuple(row) for row in frame.to_numpy().tolist()])
        return (frame["skill"] == "master") & (frame["savings"] == "much")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """All inputs that it was asked about, in order."""
        return [row for call in self.calls for row in call]

    def assert_each_once(self, count: int) -> None:
        assert len(self.rows) == len(set(self.rows)) == count


def test_the_whole_space_is_one_call_about_distinct_inputs() -> None:
    model = Counting()
    mdp = sa.compile_mdp(make_problem(), model)
    assert mdp.n_states == 144
    assert len(model.calls) == 1
    model.assert_each_once(24)
    assert mdp.goal.sum() == 2 * 3 * 2  # moods, regions, genders


def test_goals_are_put_back_where_they_belong() -> None:
    mdp = sa.compile_mdp(make_problem(), Counting())
    people = [mdp.person(state) for state in range(mdp.n_states)]
    assert mdp.goal.tolist() == [p["skill"] == "master" and p["savings"] == "much" for p in people]


def test_blocks_ask_about_each_input_once() -> None:
    """The gender is seen, so its levels are different inputs; the region is not. A family asks in one call."""
    model = Counting()
    mdps = list(compile_blocks(make_problem(), model))
    assert [mdp.n_states for mdp in mdps] == [24] * 6
    assert [len(call) for call in model.calls] == [24]
    model.assert_each_once(24)
    assert [int(mdp.goal.sum()) for mdp in mdps] == [2] * 6


def test_blocks_that_look_alike_to_the_classifier_are_one_call() -> None:
    model = Counting()
    assert len(list(compile_blocks(make_problem(gender_seen=False), model))) == 6
    assert [len(call) for call in model.calls] == [12]


@pytest.mark.parametrize("horizon", [1, 2, 3, 8])
def test_reachable_states_are_asked_about_in_one_go(horizon: int) -> None:
    model = Counting()
    mdp = sa.compile_mdp(make_problem(horizon=horizon), model, start=APPLICANT)
    shown = {(p["skill"], p["savings"], p["gender"]) for p in map(mdp.person, range(mdp.n_states))}
    model.assert_each_once(len(set(model.rows)))
    assert set(model.rows) >= shown
    assert len(model.calls) == 2
    assert model.calls[0] == [("basic", "none", "female")]


@pytest.mark.parametrize("ahead", [1, 2, 3, 5])
def test_what_is_farther_away_is_asked_about_step_by_step(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = sa.compile_mdp(make_problem(), Counting(), start=APPLICANT)
    monkeypatch.setattr(grounds, "AHEAD", ahead)
    model = Counting()
    mdp = sa.compile_mdp(make_problem(), model, start=APPLICANT)
    model.assert_each_once(len(set(model.rows)))
    assert 2 < len(model.calls) <= make_problem().horizon + 2
    for name in ("states", "goal", "depth", "row_start", "row_action", "edge_next", "edge_cost", "edge_chance"):
        assert getattr(mdp, name).tolist() == getattr(expected, name).tolist(), name


def test_nothing_is_asked_beyond_a_person_who_is_accepted_already() -> None:
    model = Counting()
    person = APPLICANT | {"skill": "master", "savings": "much"}
    assert sa.compile_mdp(make_problem(), model, start=person).goal.tolist() == [True]
    assert model.rows == [("master", "much", "female")]


def test_a_whole_recommendation_asks_about_each_input_once() -> None:
    model = Counting()
    assert len(sa.recommend(make_problem(), model)) >= 1
    model.assert_each_once(12)
    assert len(model.calls) <= make_problem().horizon + 1


@pytest.mark.parametrize("batch, sizes", [(5, [5, 5, 2]), (6, [6, 6]), (12, [12]), (100, [12]), (1, [1] * 12)])
def test_a_call_has_a_limited_size(batch: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(gender_seen=False)
    expected = sa.compile_mdp(problem, Counting()).goal
    monkeypatch.setattr(goals_module, "BATCH", batch)
    model = Counting()
    assert sa.compile_mdp(problem, model).goal.tolist() == expected.tolist()
    assert [len(call) for call in model.calls] == sizes
    model.assert_each_once(12)


states = st.tuples(
    st.integers(0, 2), st.integers(0, 3), st.integers(0, 1), st.integers(0, 2), st.integers(0, 1)
)  # level numbers


@given(st.lists(st.lists(states, min_size=1, max_size=30), min_size=1, max_size=4), st.integers(1, 7))
def test_any_questions_in_any_order(questions: list[list[tuple[int, ...]]], batch: int) -> None:
    """Answers are those of the classifier itself, and no input is asked about twice, whatever came before."""
    problem, model = make_problem(), Counting()
    goals = Goals(problem, sa.as_classifier(model, problem))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goals_module, "BATCH", batch)
        for codes in questions:
            answers = goals.among(np.array(codes, dtype=np.int16))
            assert answers.tolist() == [skill == 3 and savings == 2 for _, skill, _, savings, _ in codes]
    asked = {(skill, savings, gender) for codes in questions for _, skill, _, savings, gender in codes}
    model.assert_each_once(len(asked))
    assert all(len(call) <= batch for call in model.calls)


class Own:
    """A classifier by the protocol alone, with whatever it answers."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.answer = answer

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        answers: NDArray[np.bool_] = self.answer(len(inputs))
        return answers


@pytest.mark.parametrize("answer", [lambda n: np.ones(n, bool), lambda n: [True] * n], ids=["array", "list"])
def test_a_classifier_of_ones_own(answer: Callable[[int], Any]) -> None:
    assert sa.compile_mdp(make_problem(), Own(answer)).goal.all()


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: np.ones(n - 1, bool),
        lambda n: np.ones(n + 1, bool),
        lambda n: np.ones((n, 2), bool),
        lambda _: True,
        lambda _: None,
        lambda n: np.full(n, 0.2),
        lambda n: np.full(n, np.nan),
        lambda n: np.full(n, "rejected"),
        lambda _: 1 / 0,
    ],
    ids=["too few", "too many", "two columns", "one value", "None", "scores", "NaN", "labels", "raises"],
)
def test_a_classifier_of_ones_own_that_breaks_its_word(answer: Callable[[int], Any]) -> None:
    """Whoever writes one is told what is wrong, as for any other classifier; nothing is read as a truth value."""
    with pytest.raises(ClassifierError, match="the classifier"):
        sa.compile_mdp(make_problem(), Own(answer))


def test_the_decision_is_remembered_apart() -> None:
    goals = Goals(LEVELS, sa.as_classifier(score, LEVELS))
    assert goals.in_force is goals
    strict = asking(LEVELS, {"aim": 0.62})
    goals = Goals(strict, sa.as_classifier(score, strict))
    assert goals.in_force is not goals
    assert goals.in_force.in_force is goals.in_force
