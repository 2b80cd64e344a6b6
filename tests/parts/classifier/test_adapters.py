"""Classifiers from what people have: scikit-learn models, functions, tables, rules, classes of their own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import safear as sa
from safear.classifier import Inputs, TableClassifier
from safear.errors import ClassifierError
from small_problems import ladder

Levels = tuple[str, str, str]
SKILL = ["basic", "skilled", "manager"]
JOB = ["employed", "unemployed"]
BMI = ["<25", ">=25"]
NUMBERS: dict[str, list[float]] = {"skill": [0, 1, 2], "job": [1, 0], "bmi": [22, 31.5]}
COLUMNS = ["skill", "job", "bmi"]
ALL: list[Levels] = list(itertools.product(SKILL, JOB, BMI))


def good(levels: Levels) -> bool:
    """What the models of this file are taught."""
    skill, job, bmi = levels
    return job == "employed" and (skill == "manager" or (skill == "skilled" and bmi == "<25"))


TRUTH = {levels: good(levels) for levels in ALL}


def make_problem(*, values: tuple[str, ...] = ("bmi",), rule: str | None = None, **goal: object) -> sa.Problem:
    """A problem with an ordinal, a nominal, a numeric feature, and one that the classifier does not see.

    `values` names the features that the classifier sees as numbers.
    """
    features: dict[str, dict[str, object]] = {
        "mood": {"kind": "ordinal", "levels": ["low", "high"], "seen_by_classifier": False},
        "skill": {"kind": "ordinal", "levels": SKILL},
        "job": {"kind": "nominal", "levels": JOB},
        "bmi": {"kind": "numeric", "edges": [25]},
    }
    for name in values:
        features[name]["values"] = NUMBERS[name]
    document: dict[str, object] = {
        "safear": 1,
        "title": "a test",
        "horizon": 4,
        "features": features,
        "goal": goal,
        "actions": {
            "cheer up": {"cost": 1, "change": {"mood": "+1"}},
            "learn": {"cost": 1, "chance": 0.8, "change": {"skill": "+1"}},
            "find work": {"cost": 1, "chance": 0.5, "change": {"job": "employed"}},
            "lose weight": {"cost": 1, "chance": 0.5, "change": {"bmi": "-1"}},
        },
    }
    if rule is not None:
        document["classifier"] = {"rule": rule}
    return sa.parse_problem(document)


def all_inputs(problem: sa.Problem) -> Inputs:
    seen = tuple(feature for feature in problem.features if feature.seen_by_classifier)
    codes = np.array(list(itertools.product(*(range(len(feature.levels)) for feature in seen))), dtype=np.int16)
    return Inputs(seen, codes)


def decide(source: object, problem: sa.Problem) -> dict[Levels, bool]:
    """What a classifier says about each input of `problem`."""
    answers = sa.as_classifier(source, problem).favourable(all_inputs(problem))
    assert answers.dtype == np.bool_
    return dict(zip(ALL, answers.tolist(), strict=True))


def refusal(source: object, problem: sa.Problem) -> str:
    """The text with which a classifier is refused, at the latest when a problem is compiled with it."""
    with pytest.raises(ClassifierError) as refused:
        sa.compile_mdp(problem, source)
    return str(refused.value)


def table(*, numbers: tuple[str, ...] = ("bmi",), copies: int = 1) -> pd.DataFrame:
    """All inputs as a model is trained on them."""
    frame = pd.DataFrame(ALL * copies, columns=COLUMNS)
    levels = {"skill": SKILL, "job": JOB, "bmi": BMI}
    for name in numbers:
        frame[name] = frame[name].map(dict(zip(levels[name], NUMBERS[name], strict=True))).astype(float)
    return frame


def labels(favourable: object = "approved", other: object = "rejected", *, copies: int = 1) -> list[Any]:
    return [favourable if good(levels) else other for levels in ALL] * copies


def one_hot(*columns: str, last: Any = None) -> Any:
    """A pipeline from level names: strings in; numbers are left alone."""
    encoder = make_column_transformer((OneHotEncoder(), list(columns)), remainder="passthrough")
    return make_pipeline(encoder, DecisionTreeClassifier(random_state=0) if last is None else last)


# ------------------------------------------------------------------------------------------------- scikit-learn models


NUMERIC = ("skill", "job", "bmi")
TREE = DecisionTreeClassifier(random_state=0)
FOREST = RandomForestClassifier(n_estimators=20, bootstrap=False, max_features=None, random_state=0)


def train_columns() -> Any:
    return one_hot("skill", "job").fit(table(), labels())


@pytest.mark.parametrize(
    "model, frame, values",
    [
        (make_pipeline(OneHotEncoder(), TREE), table(numbers=()), ()),
        (make_pipeline(OrdinalEncoder(categories=[SKILL, JOB, BMI]), TREE), table(numbers=()), ()),
        (one_hot("skill", "job"), table(), ("bmi",)),
        (one_hot("skill", "job"), table()[["bmi", "job", "skill"]], ("bmi",)),
        (FOREST, table(numbers=NUMERIC), NUMERIC),
        (TREE, table(numbers=NUMERIC).to_numpy(), NUMERIC),
        (make_pipeline(OneHotEncoder(), TREE), table(numbers=()).to_numpy(dtype=object), ()),
    ],
    ids=["one hot", "ordinal", "columns", "another order", "forest", "without names", "texts without names"],
)
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_scikit_learn_models(model: Any, frame: Any, values: tuple[str, ...], threshold: float | None) -> None:
    problem = make_problem(values=values, favourable="approved", threshold=threshold)
    assert decide(clone(model).fit(frame, labels()), problem) == TRUTH


def test_the_goals_of_a_compiled_problem_are_those_of_the_model() -> None:
    """What the classifier does not see makes no difference."""
    mdp = sa.compile_mdp(make_problem(favourable="approved"), train_columns())
    people = [mdp.person(state) for state in range(mdp.n_states)]
    assert len(people) == 2 * len(ALL)
    assert mdp.goal.tolist() == [TRUTH[person["skill"], person["job"], person["bmi"]] for person in people]


@pytest.mark.parametrize(
    "favourable, other, named",
    [
        (1, 0, None),
        (1, 0, "1"),
        (0, 1, "0"),
        (1.0, 0.0, None),
        (1, -1, None),
        (True, False, None),
        (True, False, "True"),
        (False, True, "False"),
        ("1", "0", None),
        ("approved", "rejected", "approved"),
        ("yes", "no", "yes"),
    ],
    ids=repr,
)
def test_classes_of_all_kinds(favourable: object, other: object, named: str | None) -> None:
    model = one_hot("skill", "job").fit(table(), labels(favourable, other))
    assert decide(model, make_problem(favourable=named)) == TRUTH
    assert decide(model, make_problem(favourable=named, threshold=0.5)) == TRUTH


def train_three_classes() -> Any:
    classes = ["approved" if good(x) else "rejected" if x[1] == "unemployed" else "on hold" for x in ALL]
    return one_hot("skill", "job").fit(table(), classes)


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_one_of_three_classes(threshold: float | None) -> None:
    held = {x: x[1] == "employed" and not good(x) for x in ALL}
    assert any(held.values())
    assert decide(train_three_classes(), make_problem(favourable="approved", threshold=threshold)) == TRUTH
    assert decide(train_three_classes(), make_problem(favourable="on hold", threshold=threshold)) == held


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_the_favourable_class_is_not_guessed(threshold: float | None) -> None:
    assert refusal(train_three_classes(), make_problem(threshold=threshold)) == (
        "goal.favourable: the classifier's classes are 'approved', 'on hold', 'rejected', "
        "and nothing says which is favourable\n"
        "    name the favourable class in the problem's goal"
    )


@pytest.mark.parametrize("favourable", ["approved", "rejected"])
def test_thresholds_cut_the_probability_of_the_favourable_class(favourable: str) -> None:
    """Whichever column of `predict_proba` it is; 0.3 accepts more than `predict`, or 0.9 fewer."""
    encoder = make_column_transformer((OrdinalEncoder(categories=[SKILL, JOB]), ["skill", "job"]))
    model = make_pipeline(encoder, LogisticRegression(C=5)).fit(table(copies=2), labels(copies=2))
    column = list(model.classes_).index(favourable)
    chances = model.predict_proba(table())[:, column]
    accepted = {}
    for threshold in (0.3, None, 0.9):
        answers = decide(model, make_problem(favourable=favourable, threshold=threshold))
        accepted[threshold] = sum(answers.values())
        expected = model.predict(table()) == favourable if threshold is None else chances >= threshold
        assert list(answers.values()) == expected.tolist()
    assert accepted[0.3] >= accepted[None] >= accepted[0.9]
    assert accepted[0.3] > accepted[0.9]


class Scores:
    """A model whose answers are given."""

    classes_ = np.array(["approved", "rejected"])

    def __init__(self, *, predict: Any = None, predict_proba: Any = None) -> None:
        self.answers, self.chances = predict, predict_proba

    def predict(self, _: object) -> Any:
        return self.answers

    def predict_proba(self, _: object) -> Any:
        return self.chances


def test_a_probability_equal_to_the_threshold_is_enough() -> None:
    chances = np.linspace(0.0, 1.0, num=len(ALL))
    model = Scores(predict_proba=np.stack([chances, 1 - chances], axis=1))
    answers = decide(model, make_problem(favourable="approved", threshold=float(chances[5])))
    assert list(answers.values()) == [False] * 5 + [True] * (len(ALL) - 5)


def test_a_model_without_probabilities_decides_by_itself_but_takes_no_threshold() -> None:
    model = one_hot("skill", "job", last=LinearSVC(random_state=0)).fit(table(), labels())
    expected = dict(zip(ALL, (model.predict(table()) == "approved").tolist(), strict=True))
    assert decide(model, make_problem(favourable="approved")) == expected
    assert refusal(model, make_problem(favourable="approved", threshold=0.5)) == (
        "goal.threshold: Pipeline gives no probabilities, which a threshold needs\n"
        "    drop the threshold, or calibrate the model"
    )


@pytest.mark.parametrize("threshold", [None, 0.5, 0.9])
def test_a_regression_gives_scores(threshold: float | None) -> None:
    last = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = one_hot("skill", "job", last=last).fit(table(), [float(good(x)) for x in ALL])
    limit = 0.5 if threshold is None else threshold
    expected = dict(zip(ALL, (model.predict(table()) >= limit).tolist(), strict=True))
    assert decide(model, make_problem(favourable="approved", threshold=threshold)) == expected


def test_a_regression_whose_numbers_are_no_scores() -> None:
    model = one_hot("skill", "job", last=LinearRegression()).fit(table(), [float(good(x)) for x in ALL])
    assert model.predict(table()).min() < -0.01
    told = refusal(model, make_problem(favourable="approved"))
    assert "no probabilities between 0 and 1, such as -0.166667; the first such input: skill = basic, job" in told


def test_a_model_gets_only_the_columns_that_it_was_trained_on() -> None:
    """In its own order, with level names where there are no values."""
    shown: list[pd.DataFrame] = []

    class Looks:
        feature_names_in_ = np.array(["bmi", "skill"])

        def predict(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
            shown.append(frame)
            return np.ones(len(frame), dtype=bool)

    decide(Looks(), make_problem())
    assert list(shown[0].columns) == ["bmi", "skill"]
    assert shown[0]["bmi"].tolist() == [22.0, 31.5] * 6
    assert shown[0]["skill"].tolist() == [x[0] for x in ALL]


def test_a_feature_that_the_classifier_does_not_see_is_not_shown() -> None:
    shown: list[list[str]] = []

    def function(frame: pd.DataFrame) -> list[bool]:
        shown.append(list(frame.columns))
        return [True] * len(frame)

    decide(function, make_problem())
    assert shown == [COLUMNS]
    frame = table().assign(mood="low")
    model = one_hot("skill", "job", "mood").fit(frame, labels())
    assert refusal(model, make_problem(favourable="approved")).splitlines()[0] == (
        "features: the classifier needs 'mood', which it is not shown"
    )


def test_a_column_that_the_problem_lacks() -> None:
    model = one_hot("skills", "job").fit(table().rename(columns={"skill": "skills"}), labels())
    assert refusal(model, make_problem(favourable="approved")) == (
        "features: the classifier needs 'skills', which it is not shown\n    did you mean 'skill'?"
    )


def test_a_nameless_model_with_another_number_of_columns() -> None:
    frame = table(numbers=("skill", "job", "bmi"))[["skill", "job"]]
    model = DecisionTreeClassifier(random_state=0).fit(frame.to_numpy(), labels())
    assert refusal(model, make_problem(values=("skill", "job", "bmi"), favourable="approved")) == (
        "features: the classifier was trained on 2 features, the problem shows it 3\n"
        "    use 'seen_by_classifier: false' for the others"
    )


def test_level_names_where_a_model_wants_numbers() -> None:
    text = refusal(FOREST.fit(table(numbers=NUMERIC), labels()), make_problem(values=(), favourable="approved"))
    first, remedy = text.splitlines()
    assert first.startswith("classifier: the classifier failed: ValueError: could not convert string to float")
    assert remedy == "    it needs numbers: give the levels 'values: [...]', or a pipeline that encodes level names"


class Failing:
    """A model that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def predict(self, _: object) -> object:
        raise self.error


@pytest.mark.parametrize(
    "error, told",
    [
        (RuntimeError("no memory\nat all"), "RuntimeError: no memory"),
        (KeyError("age"), "KeyError: 'age'"),
        (ZeroDivisionError(), "ZeroDivisionError"),
    ],
)
def test_what_a_model_raises_is_told_in_its_words(error: Exception, told: str) -> None:
    assert refusal(Failing(error), make_problem()) == (
        f"classifier: the classifier failed: {told}; the first such input: skill = basic, job = employed, bmi = 22"
    )
    with pytest.raises(ClassifierError) as refused:
        sa.compile_mdp(make_problem(), Failing(error))
    assert refused.value.__cause__ is error


@pytest.mark.parametrize(
    "shape", [(12,), (1, 2), (13, 2), (12, 1)], ids=["no classes", "too few", "too many", "one class"]
)
def test_a_model_with_probabilities_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    model = Scores(predict_proba=np.full(shape, 0.5))
    text = refusal(model, make_problem(favourable="rejected", threshold=0.5))
    assert f"shape {shape}" in text


def test_a_model_with_probabilities_that_are_not_finite() -> None:
    model = Scores(predict_proba=np.full((12, 2), np.nan))
    assert refusal(model, make_problem(favourable="approved", threshold=0.5)) == (
        "classifier: the classifier answered with a number that is not finite; "
        "the first such input: skill = basic, job = employed, bmi = 22"
    )


# ----------------------------------------------------------------------------------------------------------- functions


def truth_values(frame: pd.DataFrame) -> Any:
    return (frame["job"] == "employed") & (
        (frame["skill"] == "manager") | (frame["skill"] == "skilled") & (frame["bmi"] < 25)
    )


@pytest.mark.parametrize(
    "function, goal",
    [
        (truth_values, {}),
        (truth_values, {"favourable": "approved", "threshold": 0.9}),
        (lambda frame: truth_values(frame).tolist(), {}),
        (lambda frame: truth_values(frame).astype(object), {"favourable": "approved"}),
        (lambda frame: np.where(truth_values(frame), "approved", "rejected"), {"favourable": "approved"}),
        (lambda frame: truth_values(frame).map({True: "yes", False: "no"}), {}),
        (lambda frame: truth_values(frame).astype(int), {}),
        (lambda frame: truth_values(frame) * 0.2 + 0.4, {}),
        (lambda frame: truth_values(frame) * 0.2 + 0.7, {"threshold": 0.8}),
        (lambda frame: truth_values(frame).to_numpy()[:, None] * 1.0, {"favourable": "approved"}),
    ],
    ids=[
        "truth values",
        "truth values ignore a threshold",
        "a list",
        "truth values as objects",
        "labels",
        "yes and no",
        "0 and 1",
        "scores",
        "scores and a threshold",
        "a column",
    ],
)
def test_functions(function: Callable[[pd.DataFrame], Any], goal: dict[str, Any]) -> None:
    assert decide(function, make_problem(**goal)) == TRUTH


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda frame: frame, "classifier: the classifier answered with shape (12, 3) for 12 inputs"),
        (lambda _: True, "classifier: the classifier answered with an object of type bool for 12 inputs"),
        (lambda frame: [True] * (len(frame) - 1), "classifier: the classifier answered with shape (11,) for 12 inputs"),
        (lambda frame: [np.nan] * len(frame), "classifier: the classifier answered with a number that is not finite"),
        (lambda frame: frame["income"], "classifier: the classifier failed: KeyError: 'income'"),
        (lambda: True, "classifier: the classifier failed: TypeError: "),
        (lambda frame: frame["job"], "goal.favourable: the classifier answers with 'employed', 'unemployed', and"),
    ],
    ids=["a table", "one value", "too few", "NaN", "raises", "no argument", "unknown labels"],
)
def test_functions_that_are_refused(function: Callable[..., Any], text: str) -> None:
    assert refusal(function, make_problem()).startswith(text)


# -------------------------------------------------------------------------------------------------------------- tables


def decisions(favourable: object = True, other: object = False) -> pd.DataFrame:
    """The table of decisions, by level names, with a feature that the classifier does not see."""
    return table(numbers=()).assign(decision=labels(favourable, other))


def in_memory(frame: pd.DataFrame, problem: sa.Problem, _: Path) -> sa.Classifier:
    return sa.as_classifier(frame, problem)


def as_csv(frame: pd.DataFrame, problem: sa.Problem, folder: Path) -> sa.Classifier:
    frame.to_csv(folder / "decisions.csv", index=False)
    return sa.load_classifier(str(folder / "decisions.csv"), problem)


Road = Callable[[pd.DataFrame, sa.Problem, Path], sa.Classifier]
roads = pytest.mark.parametrize("road", [in_memory, as_csv], ids=["DataFrame", "CSV"])


@roads
@pytest.mark.parametrize(
    "favourable, other, goal",
    [
        (True, False, {}),
        (True, False, {"favourable": "approved"}),
        (1, 0, {}),
        (1, 0, {"favourable": "approved"}),
        (0, 1, {"favourable": "0"}),
        (1.0, 0.0, {"favourable": "1"}),
        ("yes", "no", {}),
        ("yes", "no", {"favourable": "yes"}),
        ("approved", "rejected", {"favourable": "approved"}),
        (0.6, 0.4, {}),
        (0.6, 0.4, {"favourable": "approved"}),
        (0.9, 0.8, {"threshold": 0.85}),
        (0.9, 0.8, {"favourable": "approved", "threshold": 0.85}),
    ],
    ids=repr,
)
def test_a_table_says_the_same_in_memory_and_as_a_file(
    road: Road, favourable: object, other: object, goal: dict[str, Any], tmp_path: Path
) -> None:
    problem = make_problem(**goal)
    classifier = road(decisions(favourable, other), problem, tmp_path)
    assert isinstance(classifier, TableClassifier)
    assert decide(classifier, problem) == TRUTH


@roads
def test_order_further_columns_and_rows_given_twice_do_not_matter(road: Road, tmp_path: Path) -> None:
    frame = decisions().assign(mood="low")[["decision", "bmi", "mood", "job", "skill"]].sample(frac=1, random_state=0)
    problem = make_problem()
    assert decide(road(pd.concat([frame, frame]), problem, tmp_path), problem) == TRUTH


@roads
def test_rows_that_are_missing(road: Road, tmp_path: Path) -> None:
    problem = make_problem()
    assert refusal(road(decisions().drop(index=[7]), problem, tmp_path), problem) == (
        "classifier: the table of decisions has no row for skill = skilled, job = unemployed, bmi = >=25"
    )


def test_rows_that_nobody_asks_for_may_be_missing() -> None:
    """A person who is employed stays so: half of the table is enough."""
    problem = make_problem()
    frame = decisions().query("job == 'employed'")
    person = {"mood": "low", "skill": "basic", "job": "employed", "bmi": ">=25"}
    assert sa.compile_mdp(problem, frame, start=person).goal.any()


ONE_MORE = "the table needs exactly one further column, the decision; it has"


@roads
@pytest.mark.parametrize(
    "frame, text",
    [
        (decisions().assign(score=0.5), f"{ONE_MORE} 2\n    'decision', 'score'"),
        (decisions().drop(columns="decision"), f"{ONE_MORE} 0"),
        (
            decisions().drop(columns="job"),
            "the table of decisions has no column 'job'\n    columns: 'skill', 'bmi', 'decision'",
        ),
        (
            pd.concat([decisions(), decisions(favourable=False, other=True).iloc[[7]]]),
            "the table of decisions contradicts itself at skill = skilled, job = unemployed, bmi = >=25",
        ),
        (
            decisions("approved", "rejected").assign(decision=lambda frame: frame["decision"].where(frame.index != 3)),
            "the table of decisions leaves out some decisions",
        ),
        (
            decisions("Approved", "rejected"),  # most probably the class has another name there
            (
                "goal.favourable: the table of decisions answers with 'Approved', 'rejected', "
                "and none of that is 'approved'\n"
                "    did you mean 'Approved'? write 'goal: {favourable: Approved}'"
            ),
        ),
    ],
    ids=["two decisions", "no decision", "no column", "contradiction", "one left out", "another name"],
)
def test_tables_that_are_refused(road: Road, frame: pd.DataFrame, text: str, tmp_path: Path) -> None:
    with pytest.raises(ClassifierError) as refused:
        road(frame, make_problem(favourable="approved"), tmp_path)
    assert str(refused.value) == (text if text.startswith("goal.") else f"classifier: {text}")


def test_levels_that_look_like_numbers() -> None:
    """A table knows 1 and 1.0 for a level called 1."""
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "a test",
            "horizon": 1,
            "features": {"stage": {"kind": "ordinal", "levels": ["1", "2"]}},
            "actions": {"go on": {"cost": 1, "change": {"stage": "+1"}}},
        }
    )
    for stages in ([1, 2], [1.0, 2.0], ["1", "2"]):
        frame = pd.DataFrame({"stage": stages, "decision": [False, True]})
        assert sa.compile_mdp(problem, frame).goal.tolist() == [False, True]


# --------------------------------------------------------------------------------------- rules, own classes, the rest


RULE = "job == employed and (skill == manager or skill == skilled and bmi < 25)"


def test_without_a_classifier_the_rule_of_the_problem_decides() -> None:
    problem = make_problem(rule=RULE)
    assert decide(None, problem) == TRUTH
    assert decide(lambda frame: ~truth_values(frame), problem) == {x: not decision for x, decision in TRUTH.items()}
    assert refusal(None, make_problem()) == (
        "classifier: the problem has no rule, and no classifier was given\n"
        "    give a classifier, or write 'classifier: {rule: ...}' into the problem"
    )


class EmployedOnly:
    """A classifier as a user writes it, by the protocol alone."""

    def favourable(self, inputs: Inputs) -> NDArray[np.bool_]:
        return np.array([inputs.levels(row)["job"] == "employed" for row in range(len(inputs))])


def test_a_class_of_ones_own_is_taken_as_it_is() -> None:
    own = EmployedOnly()
    assert isinstance(own, sa.Classifier)
    problem = make_problem(favourable="approved", threshold=0.9)
    assert sa.as_classifier(own, problem) is own
    assert decide(own, problem) == {x: x[1] == "employed" for x in ALL}


def test_a_class_instead_of_an_object_of_it() -> None:
    assert "EmployedOnly" in refusal(EmployedOnly, make_problem())


@pytest.mark.parametrize(
    "source", [3, "model.skops", [], {"rule": RULE}, object()], ids=["int", "str", "empty list", "dict", "object"]
)
def test_anything_else_is_refused(source: object) -> None:
    first, remedy = refusal(source, make_problem()).splitlines()
    assert first.startswith("classifier: ")
    assert first.endswith(f"{type(source).__name__} is not a classifier")
    assert remedy == "    give a model with 'predict', a function, a table, or a list of them"


@pytest.mark.parametrize(("answers", "scores"), [([0.1, 0.45], [0.1, 0.45]), ([True, False], None)])
def test_a_table_of_scores_gives_them(answers: list[Any], scores: list[float] | None) -> None:
    problem = ladder({"try": {"cost": 1, "chance": 0.9, "change": {"a": "yes"}}})
    classifier = sa.as_classifier(pd.DataFrame({"a": ["no", "yes"], "score": answers}), problem)
    assert isinstance(classifier, TableClassifier)
    found = classifier.scores(Inputs(problem.features, np.array([[0], [1]], dtype=np.int16)))
    assert (None if found is None else found.tolist()) == scores
    if scores is not None:
        advice = sa.recommend(problem, classifier).advice
        assert advice is not None
        assert advice.closest is not None
        assert (advice.closest.score, advice.closest.today, advice.closest.needed) == (0.45, 0.1, 0.5)
