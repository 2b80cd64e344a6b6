"""Faulty classifiers, met as people meet them: none becomes a confident verdict, and what can be read is read right."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from doors import FEW, vouch, vouching
from doors import VOUCHING_ENOUGH as ENOUGH
from misfits import (
    LABELS,
    LEVELS,
    PEOPLE,
    POOR,
    PROBLEM,
    READ,
    REFUSED,
    RICH,
    UNNAMED,
    WORDS,
    Function,
    Model,
    accepts,
    goal,
    points,
    raising,
    score,
    typed,
)
from parts.classifier.test_http_models import Server, server  # noqa: F401  # a fixture
from safear import audit
from safear.errors import ClassifierError
from safear.population import check_people
from safear.recourse import Desk


@pytest.mark.parametrize("name", REFUSED)
def test_no_misfit_becomes_a_verdict(name: str) -> None:
    """Neither for one person nor for many. Whoever is accepted alone may be so rightly: the fault is elsewhere."""
    problem, source, code = REFUSED[name]
    with pytest.raises(ClassifierError) as alone:
        Desk.of(problem, source).open(POOR)
    with pytest.raises(ClassifierError) as together:
        check_people(problem, source, PEOPLE)
    for refused in (alone, together):
        assert refused.value.mistakes[0].code == code
        assert len(str(refused.value)) < 600
    with suppress(ClassifierError):
        assert Desk.of(problem, source).open(RICH).favourable


@pytest.mark.parametrize("name", ["granted", "codes 1 and 2", "masked scores"])
def test_nor_in_an_audit(name: str) -> None:
    problem, source, code = REFUSED[name]
    with pytest.raises(ClassifierError) as refused:
        audit(problem, source, PEOPLE, groups=["sex"])
    assert refused.value.mistakes[0].code == code


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_right(name: str) -> None:
    problem, source = READ[name]
    desk = Desk.of(problem, source)
    assert not desk.open(POOR).favourable
    assert desk.open(POOR).needs_plan
    assert desk.open(RICH).favourable
    assert check_people(problem, source, PEOPLE).rejected == 12


@pytest.mark.parametrize(
    "name", ["granted", "codes 1 and 2", "scores to 100", "other case", "nothing", "whole scores of class 1"]
)
def test_a_server_that_answers_amiss(name: str, server: Server) -> None:  # noqa: F811  # a fixture
    problem, source, code = REFUSED[name]

    def answer(_: object, records: list[dict[str, Any]]) -> Any:
        return np.asarray(source(pd.DataFrame(records))).tolist()

    server.answer = answer
    with pytest.raises(ClassifierError) as refused:
        Desk.of(problem, sa.load_classifier(server.address, problem)).open(POOR)
    assert refused.value.mistakes[0].code == code


def test_the_message_says_which_labels_came_and_what_to_write() -> None:
    def told(yes: Any, no: Any) -> str:
        with pytest.raises(ClassifierError) as refused:
            Desk.of(PROBLEM, typed(yes, no)).open(POOR)
        return str(refused.value)

    assert told("granted", "denied") == (
        "goal.favourable: the classifier answers with 'denied', 'granted', and none of that is 'approved'\n"
        "    name the one that people want: 'goal: {favourable: ...}'; "
        "if it can say 'approved', list all its labels as its 'classes_', or have it give truth values or scores"
    )
    assert told("Approved", "Rejected") == (
        "goal.favourable: the classifier answers with 'Approved', 'Rejected', and none of that is 'approved'\n"
        "    did you mean 'Approved'? write 'goal: {favourable: Approved}'"
    )
    assert told(b"approved", b"rejected").endswith(
        "    did you mean 'b'approved''? write 'goal: {favourable: \"b'approved'\"}'"
    )
    shown = f"'{'y' * 40} … (9,940 characters) … {'y' * 20}'"
    assert f"answers with '\\u001b[2J', {shown}, and" in told("y" * 10**4, "\x1b[2J")
    assert "answers with 'accordé', 'non\xa0accordé', and" in told("accordé", "non\xa0accordé")


def test_who_is_always_rejected_is_and_it_is_said_that_there_was_no_other_label(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Once for each model, and not at all about one that lists its classes."""
    desk = Desk.of(PROBLEM, Model(typed("rejected", "rejected"), LABELS))
    assert desk.open(POOR).no_recourse is not None
    caplog.clear()  # that it knows no names of columns

    def function(frame: pd.DataFrame) -> Any:
        return ["rejected"] * len(frame)

    function.classes_ = LABELS  # type: ignore[attr-defined]
    assert Desk.of(PROBLEM, function).open(POOR).no_recourse is not None
    assert audit(PROBLEM, function, PEOPLE, groups=["sex"]).is_unanimous
    assert not caplog.records
    del function.classes_  # type: ignore[attr-defined]
    for _ in range(2):
        assert Desk.of(PROBLEM, function).open(POOR).no_recourse is not None
    told = [record.message for record in caplog.records]
    assert "\n".join(told) == (
        "goal.favourable: the classifier has only ever answered with 'rejected', never with 'approved'\n"
        "    write 'goal: {favourable: ...}' if that is not what it calls the favourable decision"
    )


def test_a_model_is_asked_once_about_inputs_that_are_nobody_s() -> None:
    """However many answers it gave before, and not at all if they are truth values."""
    asked: list[int] = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return accepts(frame).astype(int)

    desk = Desk.of(PROBLEM, function)
    desk.open(RICH)
    assert asked == [1, 18]
    desk.open(RICH | {"sex": "m"})
    assert asked == [1, 18, 1]
    asked.clear()
    desk = Desk.of(PROBLEM, function)
    for person in (POOR, POOR, POOR | {"sex": "m"}):
        assert desk.open(person).needs_plan
    assert asked == [1, 8, 18, 1, 8]
    classifier = sa.as_classifier(function, PROBLEM)
    classifier.vocabulary.answers = ENOUGH  # type: ignore[attr-defined]
    asked.clear()
    for _ in range(2):
        vouch(classifier, PROBLEM)
    assert asked == [18]
    asked.clear()
    Desk.of(PROBLEM, lambda frame: function(frame) > 0).open(RICH)
    assert asked == [1]


UNSEEN: dict[str, tuple[sa.Problem, Function, str]] = {
    "points": (PROBLEM, lambda frame: np.where(frame["sex"] == "m", 70.0, 0.8 * accepts(frame)), "no_score"),
    "a third class": (PROBLEM, lambda frame: np.where(frame["sex"] == "m", 2, accepts(frame)), "no_score"),
    "a third class of fractions": (
        UNNAMED,
        lambda frame: np.where(frame["sex"] == "m", 2.0, accepts(frame)),
        "no_score",
    ),
    "another yes": (
        PROBLEM,
        lambda frame: np.where(frame["sex"] == "m", "approved", typed("yes", "no")(frame)),
        "mixed_answers",
    ),
    "another spelling": (
        PROBLEM,
        lambda frame: np.where(frame["sex"] == "m", "Approved", typed("approved", "no")(frame)),
        "unknown_class",
    ),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_fits_only_where_one_person_comes_is_no_plan(name: str) -> None:
    """Whether they are accepted, have a way, or have none; alone and with others who differ."""
    problem, source, code = UNSEEN[name]
    stuck = replace(problem, actions=problem.actions[1:])
    women = PEOPLE[PEOPLE["sex"] == "f"]
    told: list[Callable[[], object]] = [
        lambda: Desk.of(problem, source).open(POOR),
        lambda: Desk.of(problem, source).open(RICH),
        lambda: Desk.of(stuck, source).open(POOR),
        lambda: Desk.of(problem, source).decide(POOR),
        lambda: audit(problem, source, women, groups=["skill"]),
    ]
    for tell in told:
        with pytest.raises(ClassifierError) as refused:
            tell()
        assert refused.value.mistakes[0].code == code


@pytest.mark.parametrize("first, then", [(POOR, POOR | {"sex": "m"}), (POOR | {"sex": "m"}, POOR)])
def test_a_word_means_the_same_whatever_was_heard_before(first: dict[str, str], then: dict[str, str]) -> None:
    problem, source, code = UNSEEN["another yes"]
    desk = Desk.of(problem, source)
    for person in (first, then):
        with pytest.raises(ClassifierError) as refused:
            desk.open(person)
        assert refused.value.mistakes[0].code == code


def test_who_is_known_to_fit_is_not_waited_for() -> None:
    """While somebody else asks the model."""
    desk = Desk.of(PROBLEM, score)
    desk.open(POOR)
    thread = Thread(target=desk.vouch, daemon=True)
    with desk.compiler.goals.lock:
        thread.start()
        thread.join(10)
        assert not thread.is_alive()


def test_a_model_that_fails_on_inputs_that_are_nobody_s_is_no_misfit() -> None:
    def function(frame: pd.DataFrame) -> Any:
        if len(frame) > 4:
            raise RuntimeError("no such person")
        return score(frame)

    assert Desk.of(PROBLEM, function).open(RICH).favourable


@pytest.mark.parametrize("name", ["scores to 100", "granted"])
def test_a_model_that_was_refused_stays_so(name: str) -> None:
    """However often somebody asks again, and without asking it again about all that is nobody's."""
    problem, source, code = REFUSED[name]
    asked: list[int] = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return source(frame)

    desk = Desk.of(problem, function)
    for number in range(100):
        with pytest.raises(ClassifierError) as refused:
            desk.open(POOR)
        assert refused.value.mistakes[0].code == code
        if not number:
            asked.clear()
    assert 18 not in asked


def test_a_label_that_is_heard_after_all_is_no_misfit() -> None:
    """A model that approves of one in many thousands."""
    approved: list[str] = []
    problem = replace(PROBLEM, given=("city",))

    def function(frame: pd.DataFrame) -> Any:
        return np.where(frame["city"].isin(approved), "approved", typed("review", "rejected")(frame))

    desk = Desk.of(problem, function)
    with pytest.raises(ClassifierError, match="none of that is 'approved'"):
        desk.open(POOR | {"city": "Rome"})
    approved.append("Oslo")
    assert desk.open(POOR | {"city": "Oslo"}).favourable
    assert desk.open(POOR | {"city": "Rome"}).no_recourse is not None


def test_a_failure_that_passes_does_not_switch_the_check_off() -> None:
    """Nor does one that does not pass make every question slow."""
    asked: list[int] = []
    is_down = True

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        if is_down and len(frame) == 18:
            raise ClassifierError.at(("classifier",), "it cannot be reached", code="unreachable")
        return 1 + 24 * points(frame)

    desk = Desk.of(PROBLEM, function)
    for _ in range(60):
        assert desk.decide(POOR).favourable
    assert asked.count(18) == 5
    is_down = False
    while asked.count(18) == 5:
        with suppress(ClassifierError):
            desk.decide(POOR)
    with pytest.raises(ClassifierError, match="no probabilities"):
        desk.decide(POOR)


@pytest.mark.parametrize("fails", [lambda f: len(f) > 4, lambda f: ((f["skill"] == 2) & (f["sex"] == "f")).any()])
def test_where_a_model_fails_on_inputs_that_are_nobody_s_the_others_tell(fails: Callable[[Any], bool]) -> None:
    """Whether it takes few rows at once, or none of people who cannot be."""

    def limited(source: Function) -> Function:
        return lambda frame: raising(RuntimeError("no such person")) if fails(frame) else source(frame)

    person = {"skill": "low", "income": "high", "sex": "f"}
    stuck = replace(PROBLEM, actions=PROBLEM.actions[1:])
    three = limited(lambda frame: np.array(WORDS)[points(frame).astype(int)])
    assert Desk.of(stuck, three).open(person).no_recourse is not None
    with pytest.raises(ClassifierError, match="'denied', 'granted', and none of that is 'approved'"):
        Desk.of(stuck, limited(typed("granted", "denied"))).open(person)


def test_a_model_that_answers_nobody_else_is_not_judged_by_one_person_s_answers() -> None:
    asked: list[int] = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        if len(asked) > 2:
            raise RuntimeError("no such person")
        return np.where(points(frame) > 1, "review", "rejected")

    assert Desk.of(PROBLEM, function).open(POOR).no_recourse is not None
    assert asked[:3] == [1, 8, 18]
    assert len(asked) == 2 + 2 * 18 - 1  # halves of halves, and each input


def test_of_several_models_each_is_looked_at() -> None:
    """Also one that does not decide."""
    with pytest.raises(ClassifierError, match="such as 2"):
        Desk.of(UNNAMED, [typed(1, 0), typed(2, 1)]).open(RICH)


def test_columns_as_filed_come_from_those_who_are_asked_about() -> None:
    problem = replace(PROBLEM, given=("city",))
    seen: set[str] = set()

    def function(frame: pd.DataFrame) -> Any:
        seen.update(frame["city"])
        return 100 * score(frame) * (frame["city"] == "Rome")

    with pytest.raises(ClassifierError, match="no probabilities"):
        Desk.of(problem, function).open(POOR | {"city": "Rome"})
    assert seen == {"Rome"}


LARGE = sa.parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 1,
        "features": {f"f{i}": {"kind": "ordinal", "levels": LEVELS} for i in range(20)},
        "goal": {},
        "actions": {"learn": {"cost": 1, "change": {"f0": "+1"}}},
    }
)


@pytest.mark.parametrize(("seconds", "pause"), [(60.0, 0.0), (0.3, 0.005)])
def test_a_large_problem_is_sampled(seconds: float, pause: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow model is asked about as many inputs as there is time for, but about a few at least."""
    monkeypatch.setattr(vouching, "MOST_SECONDS", seconds)
    asked: list[int] = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        time.sleep(pause * len(frame))
        return (frame["f0"] == "high").astype(int)

    desk = Desk.of(LARGE, function)
    desk.open(dict.fromkeys(LARGE.feature_by_name, "mid"))
    reach, drawn = asked[:2], asked[2:]
    assert (reach, drawn[0]) == ([1, 1], FEW)
    assert sum(drawn) == ENOUGH if not pause else FEW <= sum(drawn) < ENOUGH
    desk.open(dict.fromkeys(LARGE.feature_by_name, "low"))
    assert sum(asked[2 + len(drawn) :]) <= 3


def test_models_of_the_libraries_on_another_scale() -> None:
    """A regression of points, and a Booster that gives logits: one person's answer may well lie between 0 and 1."""
    import lightgbm  # noqa: PLC0415  # only those who train it wait for it
    import xgboost  # noqa: PLC0415  # only those who train it wait for it

    numbers = {"low": 0.0, "mid": 1.0, "high": 2.0, "f": 0.0, "m": 1.0}
    many = pd.concat([PEOPLE.apply(lambda column: column.map(numbers))] * 20, ignore_index=True).astype(float)
    problem = goal(favourable="1")
    coded = replace(
        problem,
        features=tuple(
            replace(feature, values=(0.0, 1.0)) if feature.name == "sex" else feature for feature in problem.features
        ),
    )
    points_of = many["skill"] + many["income"]
    regression = lightgbm.LGBMRegressor(n_estimators=50, min_child_samples=1, verbose=-1).fit(
        many, 25 * points_of + 0.6
    )
    matrix = xgboost.DMatrix(many, label=(points_of >= 3).astype(int))
    logits = xgboost.train({"objective": "binary:logitraw", "base_score": 0.5}, matrix, num_boost_round=5)
    third = np.where(many["sex"] == 1, 2, points_of >= 3)
    classes = xgboost.train(
        {"objective": "multi:softmax", "num_class": 3}, xgboost.DMatrix(many, label=third), num_boost_round=20
    )
    assert set(classes.predict(matrix)) == {0, 1, 2}
    for model in (regression, logits, classes):
        for person in (POOR, RICH):
            with pytest.raises(ClassifierError, match="no probabilities between 0 and 1, such as "):
                Desk.of(coded, model).open(person)
