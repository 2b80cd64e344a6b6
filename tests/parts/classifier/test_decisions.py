"""From what a model or a table says to favourable or not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import Vocabulary, as_truth, decisions, find_class, first_missing, label_name, read_decisions, vocabulary
from safear.errors import ClassifierError
from safear.problem import Goal

UNNAMED = Goal()
APPROVED = Goal(favourable="approved")


def read(outputs: Any, goal: Goal = UNNAMED) -> list[bool]:
    decisions = read_decisions(outputs, goal, count=len(outputs), source="the classifier")
    assert decisions.dtype == np.bool_
    return [bool(decision) for decision in decisions]


def refusal(outputs: Any, goal: Goal = UNNAMED, *, count: int | None = None) -> str:
    with pytest.raises(ClassifierError) as refused:
        read_decisions(outputs, goal, count=len(outputs) if count is None else count, source="the classifier")
    return str(refused.value)


@pytest.mark.parametrize(
    "goal",
    [UNNAMED, APPROVED, Goal(threshold=0.9), Goal(favourable="True")],
    ids=["unnamed", "named", "threshold", "named True"],
)
@pytest.mark.parametrize(
    "outputs",
    [
        [True, False, True],
        np.array([True, False, True]),
        np.array([[True], [False], [True]]),
        np.array([True, False, True], dtype=object),
        pd.Series([True, False, True]),
        pd.Series([True, False, True], dtype=object),
        pd.Series([True, False, True], dtype="boolean"),
    ],
    ids=["list", "array", "column", "object array", "Series", "object Series", "nullable Series"],
)
def test_truth_values_stay_whatever_they_come_in(outputs: Any, goal: Goal) -> None:
    assert read(outputs, goal) == [True, False, True]


@pytest.mark.parametrize("name", ["False", "false"])
def test_where_false_is_the_favourable_class_false_is_favourable(name: str) -> None:
    """`goal: {favourable: false}` of a model that says whether somebody is a bad risk."""
    assert read(np.array([True, False]), Goal(favourable=name)) == [False, True]


@pytest.mark.parametrize("threshold", [None, 0.4])
@pytest.mark.parametrize("word", ["no", "No", "0", "false", "False", "yes", "1", "true", "TRUE"])
@pytest.mark.parametrize(
    "outputs",
    [
        [True, False],
        [1, 0],
        [1.0, 0.0],
        [0.9, 0.1],
        np.array([1, 0], dtype=object),
        [Decimal("0.9"), Decimal("0.1")],
        [[0.1, 0.9], [0.9, 0.1]],
        ["yes", "no"],
        ["true", "FALSE"],
        ["1", "0"],
    ],
    ids=str,
)
def test_a_word_for_no_means_the_same_of_all_answers(outputs: Any, word: str, threshold: float | None) -> None:
    if threshold is not None and isinstance(outputs[0], str):
        assert "a threshold needs scores" in refusal(outputs, Goal(word, threshold))
        return
    is_yes = word.lower() in {"yes", "1", "true"}
    assert read(outputs, Goal(word, threshold)) == [is_yes, not is_yes]


@pytest.mark.parametrize("kind", [float, np.float32, np.float16, Decimal])
@pytest.mark.parametrize("tenths", range(1, 10))
def test_at_equality_the_favourable_side_wins(tenths: int, kind: Any) -> None:
    """In decimals, as people write them: 1 - 0.9 is 0.1, and 0.7 in single precision is 0.7."""
    score, rest = kind(str(tenths / 10)), kind(str((10 - tenths) / 10))
    outputs = np.array([score], dtype=object if kind is Decimal else kind)
    assert read(outputs, Goal("1", tenths / 10)) == [True]
    assert read(outputs, Goal("0", (10 - tenths) / 10)) == [True]
    assert read(np.array([rest], dtype=outputs.dtype), Goal("0", tenths / 10)) == [True]
    for goal in (Goal("1", tenths / 10 + 0.01), Goal("0", (10 - tenths) / 10 + 0.01)):
        assert read(outputs, goal) == [False]


@pytest.mark.parametrize("goal", [UNNAMED, APPROVED, Goal("1")])
def test_numbers_as_texts_are_refused(goal: Goal) -> None:
    told = "classifier: the classifier answers with numbers as texts: '0.1', '0.9'\n    have it give numbers"
    assert refusal(["0.9", "0.1"], goal) == told


@pytest.mark.parametrize(
    "outputs, goal, expected",
    [
        ([0, 1, 1], UNNAMED, [False, True, True]),
        ([0, 1, 1], APPROVED, [False, True, True]),
        ([0, 1, 1], Goal(favourable="1"), [False, True, True]),
        ([0, 1, 1], Goal(favourable="0"), [True, False, False]),
        ([0.0, 1.0, 2.0], Goal(favourable="2"), [False, False, True]),
        ([0.2, 0.5, 0.7], UNNAMED, [False, True, True]),
        ([0.2, 0.5, 0.7], APPROVED, [False, True, True]),
        ([0.2, 0.3, 0.7], Goal(threshold=0.3), [False, True, True]),
        ([0.2, 0.3, 0.7], Goal(favourable="approved", threshold=0.7), [False, False, True]),
        (np.array([[0.2], [0.7]], dtype=np.float32), UNNAMED, [False, True]),
        ([0.2, 0.5, 1.0], Goal(favourable="1"), [False, True, True]),
        ([0.2, 0.6, 1.0], Goal(favourable="0"), [True, False, False]),
        ([0.2, 0.6, 1.0], Goal(favourable="0", threshold=0.3), [True, True, False]),
        ([0.2, 0.6, 1.0], Goal(favourable="false", threshold=0.3), [True, True, False]),
        ([0.2, 0.6, 1.0], Goal(favourable="2", threshold=0.3), [False, True, True]),
    ],
)
def test_numbers_are_labels_or_scores(outputs: Any, goal: Goal, expected: list[bool]) -> None:
    assert read(outputs, goal) == expected


@given(st.lists(st.floats(0, 1), min_size=1), st.floats(0, 1))
def test_a_score_is_enough_from_the_threshold_on(scores: list[float], threshold: float) -> None:
    assert read(scores, Goal(threshold=threshold)) == [score >= threshold for score in scores]


@pytest.mark.parametrize(
    "outputs, goal, expected",
    [
        (["approved", "rejected"], APPROVED, [True, False]),
        (np.array(["rejected", "approved"], dtype=object), APPROVED, [False, True]),
        (["b", "c", "a"], Goal(favourable="a"), [False, False, True]),
        (["yes", "no"], UNNAMED, [True, False]),
        (["True", "FALSE"], UNNAMED, [True, False]),
        (["0", "1"], UNNAMED, [False, True]),
        (["rejected", "rejected"], APPROVED, [False, False]),
        (["yes", "yes"], Goal(favourable="no"), [False, False]),
        (["1", "1"], Goal(favourable="0"), [False, False]),
    ],
)
def test_labels_are_compared_by_name(outputs: Any, goal: Goal, expected: list[bool]) -> None:
    assert read(outputs, goal) == expected


@pytest.mark.parametrize(
    "outputs, goal, meant",
    [
        (["Approved", "rejected"], APPROVED, "Approved"),
        (["rejected", " approved"], APPROVED, " approved"),
        ([b"approved"], APPROVED, "b'approved'"),
        (["Decision.APPROVED"], APPROVED, "Decision.APPROVED"),
        (["not-approved", "later"], Goal("not approved"), "not-approved"),
    ],
)
def test_another_spelling_of_the_favourable_label_is_refused(outputs: Any, goal: Goal, meant: str) -> None:
    """It would count as a rejection. Also beside the right one, which some rows have."""
    assert f"'{goal.favourable}'\n    did you mean '{meant}'? write 'goal: {{favourable: " in refusal(outputs, goal)
    assert refusal([goal.favourable, *map(str, outputs)], goal) == (
        f"classifier: the classifier answers with '{goal.favourable}' and with '{meant}', which is another label\n"
        "    have it spell them alike"
    )


@pytest.mark.parametrize("outputs", [["2", "1"], ["maybe", "no"], ["yes", "later"]])
def test_words_for_yes_and_no_beside_others_are_no_such_words(outputs: list[str]) -> None:
    assert "and none of that is 'approved'" in refusal(outputs, APPROVED)


def test_labels_mean_the_same_in_every_batch() -> None:
    """A 1 alone is a yes; after a 2 it is one of two codes."""
    heard = Vocabulary()
    one = np.array(["1"])
    assert read_decisions(one, APPROVED, count=1, source="the classifier").all()
    assert not read_decisions(np.array(["2"]), APPROVED, count=1, source="it", vocabulary=heard).any()
    with pytest.raises(ClassifierError, match="it answers with '1', '2', and none of that is 'approved'"):
        read_decisions(one, APPROVED, count=1, source="it", vocabulary=heard)


@pytest.mark.parametrize("before, then", [(["yes"], ["approved"]), (["approved"], ["yes"]), ([], ["yes", "approved"])])
def test_another_word_for_yes_is_refused_in_whatever_order_it_comes(before: list[str], then: list[str]) -> None:
    heard = Vocabulary()
    read_decisions(np.array(before, dtype=str), APPROVED, count=len(before), source="it", vocabulary=heard)
    with pytest.raises(ClassifierError) as refused:
        read_decisions(then, APPROVED, count=len(then), source="it", vocabulary=heard)
    assert str(refused.value) == (
        "classifier: it answers with 'approved' and with 'yes', which may mean the same\n    have it give one of them"
    )


def test_only_words_that_may_mean_the_same_are_refused_beside_the_favourable_label() -> None:
    assert read(["approved", "no", "later"], APPROVED) == [True, False, False]
    assert read(["no", "yes"], Goal("no")) == [True, False]
    assert read(["2", "1"], Goal("2")) == [True, False]
    assert "'no' and with 'false'" in refusal(["no", "false"], Goal("no"))


def test_many_whole_numbers_are_no_labels() -> None:
    assert read(list(range(30)), Goal("1")) == [number == 1 for number in range(30)]
    assert refusal(list(range(100)), Goal("1")) == (
        "goal.favourable: the classifier answers with more than 32 whole numbers, which are no labels: "
        "'0', '1', '10', '11', '12', '13' and 94 more\n    have it give scores between 0 and 1"
    )


def test_truth_values_are_no_class_2() -> None:
    assert refusal([True, False], Goal("2")) == (
        "goal.favourable: the classifier answers with truth values, and none of them is '2'\n"
        "    write 'favourable: true' or 'favourable: false'"
    )


def test_labels_need_a_favourable_class() -> None:
    assert refusal(["good", "bad"]) == (
        "goal.favourable: the classifier answers with 'bad', 'good', and nothing says which is favourable\n"
        "    name the favourable class in the problem's goal"
    )


@pytest.mark.parametrize(
    "outputs",
    [
        ["approved", None],
        np.array(["approved", float("nan")], dtype=object),
        ["approved", ""],
        pd.Series(["approved", pd.NA], dtype="string"),
        pd.Series([True, pd.NA], dtype="boolean"),
    ],
    ids=["None", "nan", "empty", "NA label", "NA truth value"],
)
def test_a_decision_that_is_left_out_is_not_a_rejection(outputs: Any) -> None:
    assert refusal(outputs, APPROVED) == "classifier: the classifier leaves out some decisions"


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    "goal",
    [UNNAMED, APPROVED, Goal(threshold=0.5), Goal(favourable="1")],
    ids=["unnamed", "named", "threshold", "named 1"],
)
def test_a_number_that_is_not_finite_is_refused(wrong: float, goal: Goal) -> None:
    assert refusal([0.1, wrong], goal) == "classifier: the classifier answered with a number that is not finite"


@pytest.mark.parametrize(
    "outputs, shape",
    [
        ([True, False], "(2,)"),
        ([True] * 4, "(4,)"),
        (np.full((3, 3), 0.5), "(3, 3)"),
        (np.full((3, 2), "yes"), "(3, 2)"),
        (np.full((1, 3), 0.5), "(1, 3)"),
    ],
    ids=["too few", "too many", "three columns", "pairs of labels", "a row"],
)
def test_a_wrong_shape_is_refused(outputs: Any, shape: str) -> None:
    assert refusal(outputs, count=3) == (
        f"classifier: the classifier answered with shape {shape} for 3 inputs\n    it should give one decision per row"
    )


@pytest.mark.parametrize(
    "outputs", [True, None, "yes", {0: True}, {True}, iter([True])], ids=lambda one: type(one).__name__
)
def test_what_is_no_list_is_refused(outputs: Any) -> None:
    assert refusal(outputs, count=3) == (
        f"classifier: the classifier answered with an object of type {type(outputs).__name__} for 3 inputs\n"
        "    it should give one decision per row"
    )


PAIRS = np.array([[0.8, 0.2], [0.4, 0.6], [0.05, 0.95]])


@pytest.mark.parametrize(
    "goal, expected",
    [
        (UNNAMED, [False, True, True]),
        (Goal(favourable="1", threshold=0.9), [False, False, True]),
        (Goal(favourable="true"), [False, True, True]),
        (Goal(favourable="0"), [True, False, False]),
        (Goal(favourable="false", threshold=0.3), [True, True, False]),
    ],
)
def test_pairs_are_chances_of_0_and_of_1(goal: Goal, expected: list[bool]) -> None:
    assert read(PAIRS, goal) == expected
    assert read(PAIRS.tolist(), goal) == expected


@pytest.mark.parametrize(
    "pairs, goal, told",
    [
        (PAIRS, APPROVED, "goal.favourable: the classifier has no names for its classes, so 'approved' is none"),
        (PAIRS * 2, UNNAMED, "classifier: the classifier answered with numbers that are no probabilities"),
        (PAIRS / 2, UNNAMED, "classifier: the classifier answered with pairs that do not add up to 1"),
        (PAIRS * np.nan, UNNAMED, "classifier: the classifier answered with a number that is not finite"),
    ],
)
def test_pairs_that_are_no_chances(pairs: Any, goal: Goal, told: str) -> None:
    assert refusal(pairs, goal).startswith(told)


@pytest.mark.parametrize("scores", [[0.2, 1.5], [-0.1, 0.3], [620, 710]])
@pytest.mark.parametrize("goal", [UNNAMED, APPROVED, Goal(threshold=0.5), Goal(favourable="1", threshold=0.5)])
def test_scores_beyond_0_to_1_are_refused(scores: list[float], goal: Goal) -> None:
    """Credit points or logits beside a threshold of 0.5 would accept everybody, or the wrong ones."""
    such_as = next(score for score in scores if not 0 <= score <= 1)
    assert refusal(scores, goal) == (
        "classifier: the classifier answered with numbers that are no probabilities between 0 and 1, "
        f"such as {such_as}\n"
        "    have it give probabilities, or labels and their name in 'goal: {favourable: ...}'"
    )


def test_scores_of_a_class_that_they_cannot_be_of() -> None:
    """As labels they would be compared with 2, and nobody would ever get there."""
    assert refusal([0.2, 0.7], Goal(favourable="2")) == (
        "goal.favourable: the classifier answers with scores, and '2' is no class that they could be of\n"
        "    write 'favourable: 1' if they are the chance of the favourable decision"
    )


def test_chances_may_be_off_by_a_rounding_error() -> None:
    assert read([1 + 1e-9, -1e-9]) == [True, False]


def test_rows_of_different_lengths_are_refused() -> None:
    assert "one decision per row" in refusal([[1], [1, 0]])


@pytest.mark.parametrize(
    "classes, favourable, position",
    [
        ([0, 1], None, 1),
        ([1, 0], None, 0),
        ([0.0, 1.0], None, 1),
        ([False, True], None, 1),
        ([-1, 1], None, 1),
        (["0", "1"], None, 1),
        ([0, 1], "0", 0),
        ([0.0, 1.0], "1", 1),
        ([False, True], "False", 0),
        ([False, True], "true", 1),
        (["approved", "rejected"], "approved", 0),
        (["a", "b", "c"], "c", 2),
    ],
)
def test_find_class(classes: list[object], favourable: str | None, position: int) -> None:
    assert find_class(classes, Goal(favourable=favourable)) == position


@pytest.mark.parametrize("classes", [["approved", "rejected"], [0, 1, 2], [1, 2], [1]], ids=str)
def test_find_class_does_not_guess(classes: list[object]) -> None:
    with pytest.raises(ClassifierError) as refused:
        find_class(classes, UNNAMED)
    listed = ", ".join(f"'{name}'" for name in classes)
    assert str(refused.value) == (
        f"goal.favourable: the classifier's classes are {listed}, and nothing says which is favourable\n"
        "    name the favourable class in the problem's goal"
    )


@pytest.mark.parametrize(
    "classes, favourable, remedy",
    [
        (["approved", "rejected"], "aproved", "did you mean 'approved'?"),
        ([0, 1], "approved", "possible: '0', '1'"),
    ],
)
def test_an_unknown_favourable_class_comes_with_the_known_ones(
    classes: list[object], favourable: str, remedy: str
) -> None:
    with pytest.raises(ClassifierError) as refused:
        find_class(classes, Goal(favourable=favourable))
    assert str(refused.value) == f"goal.favourable: '{favourable}' is not a class of the classifier\n    {remedy}"


@pytest.mark.parametrize(
    "value, name",
    [
        (1.0, "1"),
        (np.float64(2.0), "2"),
        (-0.0, "0"),
        (1, "1"),
        (np.int64(3), "3"),
        (0.5, "0.5"),
        (True, "true"),
        ("1.0", "1.0"),
        (Decimal("1.5"), "1.5"),
        (b"approved", "b'approved'"),
        (np.bytes_(b"approved"), "b'approved'"),
        (np.True_, "true"),
    ],
)
def test_label_name(value: object, name: str) -> None:
    assert label_name(value) == name


@pytest.mark.parametrize(
    "needed, known, missing", [(["a", "b"], ["b", "a"], None), (["a", "b", "c"], ["a"], "b"), ([], [], None)]
)
def test_first_missing(needed: list[str], known: list[str], missing: str | None) -> None:
    assert first_missing(needed, known) == missing


def test_labels_may_come_from_other_threads_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Vocabulary()

    def as_truth_meanwhile(name: str) -> bool | None:
        heard.note([f"{name} and more"], "approved")
        return as_truth(name)

    monkeypatch.setattr(decisions, "as_truth", as_truth_meanwhile)
    monkeypatch.setattr(vocabulary, "as_truth", as_truth_meanwhile)
    assert not read_decisions(np.array(["late", "never"]), APPROVED, count=2, source="it", vocabulary=heard).any()
    assert heard.lacks("approved")


def test_only_answers_that_could_be_read_count() -> None:
    heard = Vocabulary()
    for answers in ([1.0, 50.0], ["Approved", "x"], [0.2, np.nan]):
        with pytest.raises(ClassifierError):
            read_decisions(np.array(answers), APPROVED, count=2, source="it", vocabulary=heard)
    assert heard.answers == 0
