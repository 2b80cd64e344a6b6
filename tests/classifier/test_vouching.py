"""Faulty classifiers, met as people meet them: none becomes a confident verdict, and what can be read is read right."""

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from classifier.test_http_models import Server, server  # noqa: F401  # a fixture
from safear.classifier.adapters import as_classifier
from safear.classifier.sources import load_classifier
from safear.classifier.vouching import ENOUGH, vouch
from safear.errors import ClassifierError
from safear.population.agreement import check_people
from safear.population.audit import audit
from safear.problem.load import parse_problem
from safear.problem.model import Problem
from safear.recourse.case import Desk

LEVELS = ["low", "mid", "high"]
PROBLEM = parse_problem(
    {
        "safear": 1,
        "title": "a test",
        "horizon": 4,
        "features": {
            "skill": {"kind": "ordinal", "levels": LEVELS, "values": [0, 1, 2]},
            "income": {"kind": "ordinal", "levels": LEVELS, "values": [0, 1, 2]},
            "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
        },
        "goal": {"favourable": "approved", "failure_cost": 10},
        "actions": {
            "learn": {"cost": 1, "change": {"skill": "+1"}},
            "work": {"cost": 2, "change": {"income": "+1"}},
        },
    }
)
POOR = {"skill": "low", "income": "low", "sex": "f"}
RICH = {"skill": "high", "income": "high", "sex": "f"}
PEOPLE = pd.DataFrame([{"skill": s, "income": i, "sex": x} for s in LEVELS for i in LEVELS for x in "fm"])
Function = Callable[[pd.DataFrame], Any]


def points(frame: pd.DataFrame) -> np.ndarray:
    return (frame["skill"].astype(float) + frame["income"].astype(float)).to_numpy()


def accepts(frame: pd.DataFrame) -> np.ndarray:
    return points(frame) >= 3


def score(frame: pd.DataFrame) -> np.ndarray:
    return points(frame) / 6


def say(yes: Any, no: Any) -> Function:
    """One of two answers, in an array of objects."""

    def answer(frame: pd.DataFrame) -> Any:
        answers = np.empty(len(frame), dtype=object)
        answers[:] = [yes if accepted else no for accepted in accepts(frame)]
        return answers

    return answer


def typed(yes: Any, no: Any) -> Function:
    """The same in an array of their own type."""
    return lambda frame: np.where(accepts(frame), yes, no)


def pairs(frame: pd.DataFrame) -> np.ndarray:
    return np.stack([1 - score(frame), score(frame)], axis=1)


class Model:
    """With a list of classes; what it is asked comes as an array."""

    def __init__(self, predict: Function, classes: list[Any], proba: Function | None = None) -> None:
        self.classes_, self._predict = np.array(classes), predict
        if proba is not None:
            self.predict_proba = lambda table: proba(self._frame(table))

    def _frame(self, table: Any) -> pd.DataFrame:
        return pd.DataFrame(table, columns=list(PEOPLE))

    def predict(self, table: Any) -> Any:
        return self._predict(self._frame(table))


class Word(enum.Enum):
    YES = "approved"
    NO = "rejected"


class Text(enum.StrEnum):
    YES = "approved"
    NO = "rejected"


class Tensor:
    """What has nothing but `__array__`."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


def mask(values: Function) -> Function:
    return lambda frame: np.ma.array(values(frame), mask=~accepts(frame))


def goal(**changes: Any) -> Problem:
    return replace(PROBLEM, goal=replace(PROBLEM.goal, **changes))


ONE, UNNAMED = goal(favourable="1"), goal(favourable=None)
LABELS = ["approved", "rejected"]
WORDS = ["rejected", "rejected", "review", "approved", "approved"]  # by points
# Newer versions of pandas give NaN for a missing whole number, older ones an object.
NO_NUMBER = "not_finite" if np.asarray(pd.array([1, None], dtype="Int64")).dtype.kind == "f" else "no_decision"

REFUSED: dict[str, tuple[Problem, Any, str]] = {
    # other names than the problem's
    "granted": (PROBLEM, typed("granted", "denied"), "unknown_class"),
    "other case": (PROBLEM, typed("Approved", "Rejected"), "unknown_class"),
    "spaces": (PROBLEM, typed("approved ", "rejected"), "unknown_class"),
    "bytes": (PROBLEM, typed(b"approved", b"rejected"), "unknown_class"),
    "bytes as objects": (PROBLEM, say(np.bytes_(b"approved"), b"rejected"), "unknown_class"),
    "enumeration": (PROBLEM, say(Word.YES, Word.NO), "unknown_class"),
    "initials": (goal(favourable="yes"), typed("y", "n"), "unknown_class"),
    "percents": (PROBLEM, lambda frame: [f"{one:.0%}" for one in score(frame)], "unknown_class"),
    "commas": (PROBLEM, lambda frame: [str(one).replace(".", ",") for one in score(frame)], "unknown_class"),
    "codes as texts": (PROBLEM, typed("2", "1"), "unknown_class"),
    "no code is 0": (goal(favourable="0"), typed(2, 1), "unknown_class"),
    "truth values and class 2": (goal(favourable="2"), accepts, "unknown_class"),
    "classes in other case": (PROBLEM, Model(typed("Approved", "Rejected"), ["Approved", "Rejected"]), "unknown_class"),
    "classes 1 and 2": (PROBLEM, Model(typed(2, 1), [1, 2]), "unknown_class"),
    "unnamed classes 1 and 2": (UNNAMED, Model(typed(2, 1), [1, 2]), "no_favourable_class"),
    "none of its classes": (PROBLEM, Model(typed("granted", "rejected"), LABELS), "unknown_answer"),
    # other scales
    "codes 1 and 2": (UNNAMED, typed(2, 1), "no_score"),
    "codes 2 and 1": (UNNAMED, typed(1, 2), "no_score"),
    "codes beside a name": (PROBLEM, typed(2, 1), "no_score"),
    "codes and a threshold": (goal(threshold=0.5), typed(2, 1), "no_score"),
    "codes -1 and 1": (UNNAMED, typed(1, -1), "no_score"),
    "scores to 100": (PROBLEM, lambda frame: 1 + 24 * points(frame), "no_score"),
    "scores to 100, threshold": (goal(threshold=0.5), lambda frame: 1 + 24 * points(frame), "no_score"),
    "scores to 100 of class 1": (ONE, lambda frame: 24 * points(frame), "unknown_class"),
    "whole scores of class 1": (ONE, lambda frame: (24 * points(frame)).astype(int), "unknown_class"),
    "logits": (PROBLEM, lambda frame: points(frame) - 2, "no_score"),
    "log-probabilities": (PROBLEM, lambda frame: np.log(score(frame) / 2 + 0.1), "no_score"),
    "a little above 1": (PROBLEM, lambda frame: np.minimum(points(frame) / 4, 1) * 1.00001, "no_score"),
    "pairs that do not add up": (ONE, lambda frame: pairs(frame) * 0.9, "no_score"),
    "pairs of logits": (ONE, lambda frame: np.log(pairs(frame) / 2 + 0.1), "no_score"),
    "chances to 100": (goal(threshold=0.5), Model(accepts, LABELS, lambda frame: pairs(frame) * 100), "no_score"),
    "chances that do not add up": (
        goal(threshold=0.5),
        Model(accepts, LABELS, lambda frame: np.full((len(frame), 2), 0.9)),
        "no_score",
    ),
    "numbers as texts": (PROBLEM, lambda frame: score(frame).astype(str), "text_scores"),
    # left out
    "not a number": (PROBLEM, typed(np.nan, 0.2), "not_finite"),
    "infinite": (PROBLEM, typed(0.9, -np.inf), "not_finite"),
    "nothing": (PROBLEM, say("approved", None), "no_decision"),
    "nothing but scores": (PROBLEM, say(0.9, None), "no_decision"),
    "missing text": (PROBLEM, lambda frame: pd.Series(say("approved", pd.NA)(frame), dtype="string"), "no_decision"),
    "missing number": (ONE, lambda frame: pd.Series(say(1, pd.NA)(frame), dtype="Int64"), NO_NUMBER),
    "masked truth values": (PROBLEM, mask(lambda frame: np.ones(len(frame), dtype=bool)), "no_decision"),
    "masked scores": (PROBLEM, mask(lambda frame: np.full(len(frame), 0.9)), "no_decision"),
    "masked labels": (PROBLEM, mask(lambda frame: np.full(len(frame), "approved")), "no_decision"),
    "masked classes": (PROBLEM, Model(mask(lambda frame: np.full(len(frame), "approved")), LABELS), "no_decision"),
    "masked chances": (
        goal(threshold=0.5),
        Model(accepts, LABELS, lambda frame: np.ma.array(pairs(frame), mask=True)),
        "no_decision",
    ),
    # out of order
    "reversed": (PROBLEM, lambda frame: pd.Series(accepts(frame))[::-1], "wrong_order"),
    "sorted": (PROBLEM, lambda frame: pd.Series(typed(*LABELS)(frame)).sort_values(), "wrong_order"),
    "reversed table": (PROBLEM, Model(lambda frame: pd.DataFrame(typed(*LABELS)(frame))[::-1], LABELS), "wrong_order"),
    "columns with names": (ONE, lambda frame: pd.DataFrame(pairs(frame)[:, ::-1], columns=[1, 0]), "wrong_columns"),
    "columns in another order": (
        goal(threshold=0.5),
        Model(accepts, LABELS, lambda frame: pd.DataFrame(pairs(frame), columns=LABELS[::-1])),
        "wrong_columns",
    ),
    # no answers at all
    "true or a text": (PROBLEM, say(True, "rejected"), "mixed_answers"),
    "a text or 0": (PROBLEM, say("approved", 0), "mixed_answers"),
    "complex": (PROBLEM, lambda frame: score(frame) + 0j, "unreadable_answer"),
    "complex chances": (goal(threshold=0.5), Model(accepts, LABELS, lambda f: pairs(f) + 0j), "unreadable_answer"),
    "dates": (PROBLEM, typed(np.datetime64("2020-01-01"), np.datetime64("2021-01-01")), "unreadable_answer"),
    "durations": (ONE, typed(np.timedelta64(1, "D"), np.timedelta64(0, "D")), "unreadable_answer"),
    "records": (PROBLEM, lambda frame: np.zeros(len(frame), dtype=[("a", int), ("b", float)]), "unreadable_answer"),
    "tuples": (PROBLEM, say((1, 2), (3,)), "unreadable_answer"),
    "sparse": (PROBLEM, lambda frame: sparse.csr_matrix(accepts(frame)[:, None]), "wrong_shape"),
    "generator": (PROBLEM, lambda frame: (bool(one) for one in accepts(frame)), "wrong_shape"),
    "mapping": (PROBLEM, lambda frame: dict(enumerate(accepts(frame))), "wrong_shape"),
    "one text": (PROBLEM, lambda _: "approved", "wrong_shape"),
    "a row": (PROBLEM, lambda frame: accepts(frame)[None, :].repeat(2, axis=0), "wrong_shape"),
    "a column too many": (ONE, lambda frame: np.full((len(frame), 3), 1 / 3), "wrong_shape"),
    "pairs of truth values": (ONE, lambda frame: pairs(frame) > 0.5, "wrong_shape"),
    "one too few": (PROBLEM, lambda frame: accepts(frame)[1:], "wrong_shape"),
    "raises": (PROBLEM, lambda _: 1 / 0, "classifier_failed"),
    "closes a generator": (PROBLEM, lambda _: raising(GeneratorExit()), "classifier_failed"),
}
READ: dict[str, tuple[Problem, Any]] = {
    "labels": (PROBLEM, typed(*LABELS)),
    "text enumeration": (PROBLEM, say(Text.YES, Text.NO)),
    "categories": (PROBLEM, lambda frame: pd.Series(typed(*LABELS)(frame), dtype="category")),
    "a Categorical": (PROBLEM, lambda frame: pd.Categorical(typed(*LABELS)(frame))),
    "another index": (PROBLEM, lambda frame: pd.Series(typed(*LABELS)(frame), index=[f"r{i}" for i in frame.index])),
    "parts put together": (PROBLEM, lambda frame: pd.Series(accepts(frame), index=np.zeros(len(frame), dtype=int))),
    "a table of one column": (PROBLEM, lambda frame: pd.DataFrame({"decision": typed(*LABELS)(frame)})),
    "nothing masked": (PROBLEM, lambda frame: np.ma.array(accepts(frame), mask=False)),
    "yes and no": (PROBLEM, typed("yes", "no")),
    "numbers as labels": (goal(favourable="2"), typed("2.0", "1.0")),
    "codes with a name": (goal(favourable="2"), typed(2, 1)),
    "-1 and 1 with a name": (ONE, typed(1, -1)),
    "fractions": (PROBLEM, say(Decimal("0.9"), Decimal("0.1"))),
    "single precision above 1": (PROBLEM, lambda frame: typed(1.0000001, 0.0)(frame).astype(np.float32)),
    "half precision": (PROBLEM, lambda frame: typed(1.001, 0.1)(frame).astype(np.float16)),
    "a tensor": (PROBLEM, lambda frame: Tensor(score(frame))),
    "pairs": (ONE, pairs),
    "pairs in columns": (ONE, lambda frame: pd.DataFrame(pairs(frame), columns=["0", "1"])),
    "lists": (PROBLEM, lambda frame: [[bool(one)] for one in accepts(frame)]),
    "classes": (PROBLEM, Model(typed(*LABELS), LABELS)),
}


def raising(error: BaseException) -> Any:
    raise error


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
        Desk.of(problem, load_classifier(server.address, problem)).open(POOR)
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
    """And not at all if its answers are truth values, go in both directions, or were enough."""
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
    assert Desk.of(PROBLEM, function).open(POOR).needs_plan
    assert 18 not in asked
    classifier = as_classifier(function, PROBLEM)
    classifier.vocabulary.answers = ENOUGH  # type: ignore[attr-defined]
    asked.clear()
    vouch(classifier, PROBLEM)
    assert not asked
    Desk.of(PROBLEM, lambda frame: function(frame) > 0).open(RICH)
    assert asked == [1]


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
    for time in range(100):
        with pytest.raises(ClassifierError) as refused:
            desk.open(POOR)
        assert refused.value.mistakes[0].code == code
        if not time:
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


def test_a_large_problem_is_sampled() -> None:
    features = {f"f{i}": {"kind": "ordinal", "levels": LEVELS} for i in range(20)}
    problem = parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 1,
            "features": features,
            "goal": {},
            "actions": {"learn": {"cost": 1, "change": {"f0": "+1"}}},
        }
    )
    asked: list[int] = []

    def function(frame: pd.DataFrame) -> Any:
        asked.append(len(frame))
        return (frame == "high").sum(axis=1)

    with pytest.raises(ClassifierError, match="no probabilities"):
        Desk.of(problem, function).open(dict.fromkeys(features, "low") | {"f1": "high"})
    assert asked[:2] == [1, ENOUGH]


def test_models_of_the_libraries_on_another_scale() -> None:
    """A regression of points, and a Booster that gives logits: one person's answer may well lie between 0 and 1."""
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
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
    for model in (regression, logits):
        for person in (POOR, RICH):
            with pytest.raises(ClassifierError, match="no probabilities between 0 and 1, such as "):
                Desk.of(coded, model).open(person)
