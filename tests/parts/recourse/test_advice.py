"""Advice for those without recourse: how near they can come, words for whom they are meant, records and levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from doors import AdviceRecord, AdviceTeller, MenuRecord, Promise, stuck
from safear.recourse import Advice, Teller
from small_problems import TERM, ladder

FILED: dict[str, Any] = {
    "safear": 1,
    "title": "Filed",
    "horizon": 3,
    "goal": {"favourable": "good", "threshold": 0.6},
    "features": {
        "term": TERM,
        "savings": {"kind": "ordinal", "levels": ["none", "some", "much"]},
        "age": {"kind": "ordinal", "levels": ["young", "old"], "mutable": False},
    },
    "actions": {
        "shorten": {"cost": 1, "change": {"term": -1}},
        "save": {"cost": 2, "chance": 0.5, "at_most": 4, "change": {"savings": "+1"}},
    },
    "people": {"p": {"term": 47, "savings": "none", "age": "young"}},
}
Score = Callable[[pd.DataFrame], Any]


def advise(score: Score, **goal: object) -> Advice:
    problem = sa.parse_problem({**FILED, "goal": {**FILED["goal"], **goal}})
    found = sa.recommend(problem, score).advice
    assert found is not None
    return found


def by_term(frame: pd.DataFrame) -> Any:
    """Best at 12 months, worse on both sides; savings do not matter, and the old get more."""
    return 0.5 - abs(frame["term"] - 12) / 100 + 0.3 * (frame["age"] == "old")


@pytest.mark.parametrize(
    ("goal", "score", "ends"),
    [
        ({}, 0.5, (12, 12)),  # wherever in a level
        ({"promise": "value"}, 0.5, (12, 12)),
        ({"promise": "range"}, 0.44, (6, 11)),  # at worst 6; between 12 and 23 it is 23, with 0.39
    ],
)
def test_the_closest_approach_is_the_best_score_with_the_fewest_changes(
    goal: dict[str, str], score: float, ends: tuple[float, float]
) -> None:
    found = advise(by_term, **goal).closest
    assert found is not None
    assert (found.score, found.today) == pytest.approx((score, 0.15))
    assert found.needed == 0.6
    assert [change.feature for change in found.changes] == ["term"]
    promise = found.changes[0].promise
    assert promise is not None
    assert (promise.low, promise.high) == ends


def test_the_closest_approach_by_trying_all_that_can_be_reached() -> None:
    rng = np.random.default_rng(3)
    table = {(a, b): round(float(score), 1) for (a, b), score in np.ndenumerate(rng.uniform(0, 0.5, (5, 5)))}

    def score(frame: pd.DataFrame) -> Any:
        return [table[int(a), int(b)] + 0.01 for a, b in zip(frame["a"], frame["b"], strict=True)]

    levels = [str(level) for level in range(5)]
    problem = ladder(
        {name: {"cost": 1, "change": {name: "+1"}} for name in "ab"},
        features={name: {"kind": "ordinal", "levels": levels} for name in "ab"},
        people={"p": {"a": "1", "b": "2"}},
        levels=levels,
        horizon=2,
    )
    advice = sa.recommend(problem, score).advice
    assert advice is not None
    assert advice.closest is not None
    best = max(table[a, b] for a in range(1, 5) for b in range(2, 5))
    places = [(a, b) for a in range(1, 5) for b in range(2, 5) if table[a, b] == best]
    nearest = min(places, key=lambda place: ((place[0] != 1) + (place[1] != 2), sum(place)))
    levels_of = {change.feature: int(change.level) for change in advice.closest.changes}
    assert {"a": 1, "b": 2} | levels_of == dict(zip("ab", nearest, strict=True))
    assert advice.closest.score == pytest.approx(best + 0.01)
    assert advice.closest.needed == 0.5


def test_where_nothing_helps_the_score_stays(snapshot: SnapshotAssertion) -> None:
    advice = advise(lambda frame: np.full(len(frame), 0.25))
    assert advice.closest is not None
    assert advice.closest.changes == ()
    assert advice.closest.score == 0.25
    assert AdviceTeller(advice, Teller.of()).closest(advice.closest) == snapshot


def test_a_score_that_is_not_enough_does_not_look_so(snapshot: SnapshotAssertion) -> None:
    advice = advise(lambda frame: np.full(len(frame), 0.59999))
    assert advice.closest is not None
    said = AdviceTeller(advice, Teller.of()).closest(advice.closest)
    assert "it is 0.599." in said
    assert said == snapshot


@pytest.mark.parametrize("answers", [lambda frame: frame["term"] > 99, lambda frame: ["no"] * len(frame)])
def test_without_scores_there_is_no_closest_approach(answers: Score) -> None:
    problem = sa.parse_problem({**FILED, "goal": {"favourable": "good"}})
    advice = sa.recommend(problem, answers).advice
    assert advice is not None
    assert advice.closest is None


def test_what_the_person_cannot_change_is_told_to_the_provider_alone(snapshot: SnapshotAssertion) -> None:
    advice = advise(by_term)
    assert [(one.code, one.feature) for one in advice.relaxations] == [("feature", "age")]
    teller = AdviceTeller(advice, Teller.of())
    closest, provider = teller.lines(to_person=False)
    assert f"{closest}\n{provider}" == snapshot
    assert teller.lines(to_person=True) == [closest]
    assert "\n".join(AdviceTeller(advice, Teller.of("de")).lines(to_person=False)) == snapshot(name="de")


@pytest.mark.parametrize(
    ("score", "levels_accepted", "number"),
    [
        (lambda frame: (frame["term"].between(40, 44)).astype(float) * 0.8 + 0.1, True, 42.0),
        (lambda frame: (frame["term"].between(45, 46)).astype(float) * 0.8 + 0.1, False, None),
    ],
)
def test_levels_that_are_accepted_though_the_record_is_not(
    score: Score, levels_accepted: bool, number: float | None
) -> None:
    advice = advise(score)
    assert advice.levels_accepted is levels_accepted
    assert [one.value for one in advice.relaxations if one.code == "number"] == ([number] if number else [])
    said = AdviceTeller(advice, Teller.of()).lines(to_person=True)
    assert any("usual numbers of the same ranges" in line for line in said) == levels_accepted


@pytest.mark.parametrize(("score", "is_accepted"), [(0.65, True), (0.55, False)])
def test_levels_are_accepted_by_what_decides_and_not_by_the_aim(score: float, is_accepted: bool) -> None:
    advice = advise(lambda frame: np.where(frame["term"] == 42, score, 0.1), aim=0.9)
    assert advice.levels_accepted is is_accepted


@pytest.mark.parametrize(("promise", "ends"), [("narrow", (12, 14)), ("value", (14, 14))])
def test_a_level_whose_value_is_rejected_may_hold_elsewhere(promise: str, ends: tuple[int, int]) -> None:
    """The model accepts 12 to 14 months, and the level 12-24 stands for 18."""
    document = {**FILED, "goal": {**FILED["goal"], "promise": promise}}
    document["actions"] = {"shorten": {"cost": 1, "chance": 0.9, "change": {"term": -1}, "when": "term > 12-24"}}
    menu = sa.recommend(sa.parse_problem(document), lambda frame: np.where(frame["term"] <= 14, 0.9, 0.1))
    assert menu.no_recourse is not None
    assert menu.no_recourse.code == "numbers"
    assert menu.advice is not None
    assert menu.advice.closest is not None
    assert (menu.advice.closest.score, menu.advice.closest.needed) == (0.9, None)
    (found,) = (one for one in menu.advice.relaxations if one.code == "numbers")
    assert (found.code, found.promises) == ("numbers", (Promise("term", "12-24", ends[0], ends[1], "months"),))
    shown = "14 months" if promise == "value" else "12 to 14 months"
    # Two steps of 0.9 each, three tries: 0.9^2 * (1 + 2 * 0.1).
    assert found.success == pytest.approx(0.972)
    said = AdviceTeller(menu.advice, Teller.of()).relaxation(found)
    assert said.startswith(f"If you bring “term” to {shown}, 97% of cases would reach “good”, for ")
    german = AdviceTeller(menu.advice, Teller.of("de")).relaxation(found)
    assert german.startswith("Wenn Sie „term“ auf ")
    told = MenuRecord.of(menu).advice
    assert told is not None
    promises = [one for relaxation in told.relaxations for one in relaxation.promises]
    assert [(one.feature, one.low, one.high) for one in promises] == [("term", *ends)]


def test_never_is_said_if_no_number_of_any_level_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = sa.parse_problem(FILED)
    reason = sa.recommend(problem, lambda frame: np.where(frame["term"] < 6, 0.9, 0.1)).no_recourse
    assert reason is not None
    assert reason.code == "never"
    monkeypatch.setattr(stuck, "MOST_TRIED", 3)
    reason = sa.recommend(problem, lambda frame: np.where(frame["term"] < 6, 0.9, 0.1)).no_recourse
    assert reason is not None
    assert reason.code == "unknown"


@pytest.mark.parametrize(("least", "codes"), [(41, []), (45, ["as_filed"])])
def test_a_record_that_is_accepted_though_its_levels_are_not(least: int, codes: list[str]) -> None:
    menu = sa.recommend(sa.parse_problem(FILED), lambda frame: 0.9 * (frame["term"] >= least))
    assert menu.favourable
    assert [notice.code for notice in menu.notices] == codes
    assert menu.advice is None


def test_the_record_has_all_of_it() -> None:
    problem = sa.parse_problem(FILED)
    menu = sa.recommend(problem, by_term)
    record = MenuRecord.of(menu)
    assert record.advice == AdviceRecord.of(menu.advice) if menu.advice else None
    assert record.advice is not None
    assert record.advice.closest is not None
    assert [(one.feature, one.low) for one in record.advice.closest.changes] == [("term", 12.0)]
    assert record.advice.is_complete
    assert MenuRecord.of(sa.recommend(sa.load_example("loan"))).advice is None
