"""From what a model or a table says (labels, scores, truth values) to favourable or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.classifier.raw_answers import (
    as_chances,
    as_floats,
    label_name,
    left_out,
    one_per_input,
    require_class_columns,
    show_label,
    show_labels,
    wrong_shape,
)
from safear.classifier.vocabulary import MOST_CODES, Vocabulary, is_same, speaks_of_truth, unheard
from safear.errors import ClassifierError, suggest
from safear.problem.model import Goal, as_decimal, as_truth

ROUNDING = 1e-6  # by which a chance may lie outside of 0 to 1
PAIR_ERROR = 1e-3  # by which the chances of two classes may miss 1
Chances = NDArray[np.floating[Any]]
MISSING = frozenset({"nan", "None", "<NA>", "NaT", ""})
AnswerKind = Literal["truths", "ones", "scores", "labels"]  # ones and noughts are scores, but need not be meant so


def read_decisions(
    outputs: ArrayLike, goal: Goal, *, count: int, source: str, vocabulary: Vocabulary | None = None
) -> NDArray[np.bool_]:
    """Truth values, labels or scores as truth values.

    Truth values stay, unless the favourable class is a word for no (false, no, 0). Numbers are scores when the goal has
    a threshold, names no class that they could be, or they are not whole. Pairs of numbers are the chances of the
    classes 0 and 1. Labels are compared with the favourable class by name, or as words for yes and no. The `vocabulary`
    has what was heard before, so that labels mean the same in every batch.
    """
    values = one_per_input(outputs, count, source)
    vocabulary = Vocabulary() if vocabulary is None else vocabulary
    if values.dtype == np.bool_:
        return _read_truths(values, goal, source)
    if values.ndim == 2:
        found = read_chances(second_of_pairs(values, source), goal, count=count, source=source)
    elif values.dtype.kind in "fiu":
        found = _read_numbers(as_floats(values), goal, source, vocabulary)
    else:
        found = _read_labels([label_name(value) for value in values.tolist()], goal, source, vocabulary)
    vocabulary.answers += count  # what could not be read tells nothing
    return found


def read_scores(outputs: ArrayLike, goal: Goal, *, count: int, source: str) -> Chances | None:
    """Answers as chances of the favourable class; None if they are labels or truth values."""
    if study_answers(outputs, count=count, source=source)[0] != "scores":
        return None
    values = as_floats(one_per_input(outputs, count, source))
    found = second_of_pairs(values, source) if values.ndim == 2 else values
    check_chances(found, source)
    return 1 - found if _is_negative(goal) else found


def study_answers(outputs: ArrayLike, *, count: int, source: str) -> tuple[AnswerKind, tuple[str, ...]]:
    """What kind of answers `read_decisions` would read, and the labels if that is what they are."""
    values = one_per_input(outputs, count, source)
    if values.ndim == 2:
        return "scores", ()
    if values.dtype == np.bool_ or not values.size:
        return "truths", ()
    if values.dtype.kind in "fiu":
        return ("ones" if np.isin(values, (0, 1)).all() else "scores"), ()
    return "labels", tuple(sorted({label_name(value) for value in values.tolist()} - MISSING))


def read_answers(labels: ArrayLike, classes: Sequence[object], goal: Goal, *, count: int) -> NDArray[np.bool_]:
    """Labels of a model that knows its classes: which are the favourable one."""
    wanted = label_name(classes[find_class(classes, goal)])
    values = one_per_input(labels, count, "the classifier")
    if values.ndim == 2:
        raise wrong_shape(f"the classifier answered with shape {values.shape} for {count} inputs")
    distinct, which = (values, slice(None)) if values.dtype == object else np.unique(values, return_inverse=True)
    names = [label_name(value) for value in distinct.tolist()]
    known = dict.fromkeys(label_name(value) for value in classes)
    unknown = sorted({name for name in names if name not in known})
    if unknown:
        cause = f"the classifier answered with {show_labels(unknown)}, which is none of its classes"
        raise ClassifierError.at(("classifier",), cause, f"they are {show_labels(known)}", code="unknown_answer")
    return np.array([name == wanted for name in names], dtype=bool)[which]


def read_chances(chances: ArrayLike, goal: Goal, *, count: int, source: str) -> NDArray[np.bool_]:
    """Chances of the class 1, of something that has no names for classes."""
    found = as_chances(chances, count, source)
    if found.shape != (count,):
        raise wrong_shape(f"{source} gave probabilities of shape {found.shape} for {count} inputs")
    if goal.favourable is not None and as_truth(goal.favourable) is None:
        cause = f"{source} has no names for its classes, so '{goal.favourable}' is none"
        remedy = "write 'favourable: 1' if it gives the chance of the favourable decision, else 'favourable: 0'"
        raise ClassifierError.at(("goal", "favourable"), cause, remedy, code="unknown_class")
    check_chances(found, source)
    return reach(found, goal, of_other=_is_negative(goal))


def reach(chances: Chances, goal: Goal, *, of_other: bool = False) -> NDArray[np.bool_]:
    """Which chances p of the favourable class are enough: p >= t with t = 1/2, or the goal's threshold.

    Given those of the other class it is p <= 1 - t, in decimals: 1 - 0.9 is 0.1. Chances are compared in the precision
    in which they come: what a model calls 0.7 reaches 0.7.
    """
    least = Decimal("0.5") if goal.threshold is None else Decimal(repr(float(goal.threshold)))
    limit = chances.dtype.type(1 - least if of_other else least)
    return np.asarray(chances <= limit if of_other else chances >= limit)


def _is_negative(goal: Goal) -> bool:
    """Whether the favourable class is the one that says no: what a truth value or a chance of 1 does not mean."""
    return as_truth(goal.favourable) is False


def check_chances(chances: Chances, source: str) -> None:
    """Raise an error if some of them are none."""
    if not np.isfinite(chances).all():
        raise ClassifierError.at(
            ("classifier",), f"{source} answered with a number that is not finite", code="not_finite"
        )
    room = max(ROUNDING, 4 * float(np.finfo(chances.dtype).eps))  # half precision is no finer
    beyond = (chances < -room) | (chances > 1 + room)
    if beyond.any():
        such_as = f"{float(chances[beyond][0]):.6g}"
        cause = f"{source} answered with numbers that are no probabilities between 0 and 1, such as {such_as}"
        remedy = "have it give probabilities, or labels and their name in 'goal: {favourable: ...}'"
        raise ClassifierError.at(("classifier",), cause, remedy, code="no_score")


def read_class_chances(chances: ArrayLike, classes: Sequence[object], goal: Goal, *, count: int) -> Chances:
    """Of the chances of all classes, a column each, those of the favourable one."""
    column, source = find_class(classes, goal), "the classifier"
    rows = as_chances(chances, count, source)
    if rows.shape != (count, len(classes)):
        cause = f"the classifier gave probabilities of shape {rows.shape} for {count} inputs"
        raise ClassifierError.at(("classifier",), cause, "it should give one per row and class", code="wrong_shape")
    require_class_columns(chances, [label_name(value) for value in classes], source)
    check_chances(rows, source)
    _check_sums(rows, source, "it should give chances of all classes")
    found: Chances = rows[:, column]
    return found


def _check_sums(rows: Chances, source: str, remedy: str) -> None:
    off = abs(rows.sum(axis=1, dtype=np.float64) - 1) > PAIR_ERROR
    if off.any():
        some = ", ".join(f"{float(chance):.6g}" for chance in rows[off][0][:6])
        what = "pairs" if rows.shape[1] == 2 else "probabilities"
        cause = f"{source} answered with {what} that do not add up to 1, such as {some}"
        raise ClassifierError.at(("classifier",), cause, remedy, code="no_score")


def second_of_pairs(numbers: Chances, source: str) -> Chances:
    """Of the chances of the classes 0 and 1 the latter, if they are chances."""
    check_chances(numbers, source)
    _check_sums(numbers, source, "it should give chances of 0 and of 1")
    return numbers[:, 1]


def read_texts(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """A column of texts that are all numbers (from a CSV file) as numbers; any other as it is."""
    if values.dtype.kind in "fiub":
        return values
    numbers = [as_decimal(value) for value in values.tolist()]
    return values if any(number is None for number in numbers) else np.array(numbers, dtype=np.float64)


def _read_truths(values: NDArray[np.bool_], goal: Goal, source: str) -> NDArray[np.bool_]:
    if goal.aim is not None:
        cause = f"{source} answers with truth values, and an aim needs scores"
        remedy = "drop the aim, or have it give scores"
        raise ClassifierError.at(("goal", "aim"), cause, remedy, code="no_probabilities")
    if not speaks_of_truth(goal.favourable or ""):
        cause = f"{source} answers with truth values, and none of them is '{goal.favourable}'"
        remedy = "write 'favourable: true' or 'favourable: false'"
        raise ClassifierError.at(("goal", "favourable"), cause, remedy, code="unknown_class")
    return ~values if _is_negative(goal) else values


def _read_numbers(values: Chances, goal: Goal, source: str, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Whole numbers are labels if the favourable class is one. All others are scores: of that class, or of 1."""
    named = as_decimal(goal.favourable)
    is_whole = np.isfinite(values) & (values == np.trunc(values))
    if goal.threshold is None and named is not None and is_whole.all():
        _note_codes(values, goal, source, vocabulary)
        return np.equal(values, float(named))
    check_chances(values, source)
    if goal.threshold is None and named not in {None, 0, 1}:
        cause = f"{source} answers with scores, and '{goal.favourable}' is no class that they could be of"
        remedy = "write 'favourable: 1' if they are the chance of the favourable decision"
        raise ClassifierError.at(("goal", "favourable"), cause, remedy, code="unknown_class")
    return reach(values, goal, of_other=_is_negative(goal))


def _note_codes(values: Chances, goal: Goal, source: str, vocabulary: Vocabulary) -> None:
    """Remember whole numbers as labels, unless there are too many of them."""
    wanted = goal.favourable or ""
    vocabulary.note(map(label_name, np.unique(values).tolist()), wanted)
    if len(vocabulary.labels) > MOST_CODES:
        cause = f"{source} answers with more than {MOST_CODES} whole numbers, which are no labels: "
        cause += show_labels(vocabulary.heard)
        remedy = "have it give scores between 0 and 1"
        raise ClassifierError.at(("goal", "favourable"), cause, remedy, code="unknown_class")


def _read_labels(names: list[str], goal: Goal, source: str, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    distinct = sorted(set(names))
    if MISSING & set(distinct):
        raise left_out(source)
    if goal.threshold is not None:
        cause = f"{source} answers with {show_labels(distinct)}, and a threshold needs scores"
        remedy = "drop the threshold, or have it give scores"
        raise ClassifierError.at(("goal", "threshold"), cause, remedy, code="no_probabilities")
    wanted = goal.favourable or ""
    vocabulary.note(distinct, wanted)
    if vocabulary.has_favourable:
        vocabulary.require_one_spelling(wanted, source)
        vocabulary.require_one_yes(wanted, source)
        favourable = {name for name in distinct if is_same(name, wanted)}
        return np.array([name in favourable for name in names], dtype=bool)
    truths = {name: as_truth(name) for name in (*vocabulary.heard, *distinct)}
    if None not in truths.values() and speaks_of_truth(wanted):  # `approved`, or true, against yes and no
        return np.array([truths[name] is not _is_negative(goal) for name in names], dtype=bool)
    numbers = [as_decimal(name) for name in distinct]
    if any(number is not None and number != number.to_integral_value() for number in numbers):
        cause = f"{source} answers with numbers as texts: {show_labels(distinct, limit=3)}"
        raise ClassifierError.at(("classifier",), cause, "have it give numbers", code="text_scores")
    if goal.favourable is None:
        raise _unnamed_class(f"{source} answers with {show_labels(distinct)}")
    vocabulary.require_one_spelling(wanted, source)
    if speaks_of_truth(wanted) and any(truth is not None for truth in truths.values()):  # a 1 beside a 2 is no yes
        raise unheard(vocabulary.heard, wanted, source, meant=None)
    return np.zeros(len(names), dtype=bool)


def find_class(classes: Sequence[object], goal: Goal) -> int:
    """The position of the favourable class among a model's classes."""
    names = [label_name(value) for value in classes]
    if goal.favourable is None:
        for positive, negative in (("1", "0"), ("true", "false"), ("1", "-1")):
            if sorted(names) == sorted((positive, negative)):
                return names.index(positive)
        raise _unnamed_class(f"the classifier's classes are {show_labels(names)}")
    for wanted in (goal.favourable, goal.favourable.lower()):  # True, as Python writes it, is called true
        if wanted in names:
            return names.index(wanted)
    cause = f"{show_label(goal.favourable)} is not a class of the classifier"
    remedy = suggest(goal.favourable, [show_label(name)[1:-1] for name in names])
    raise ClassifierError.at(("goal", "favourable"), cause, remedy, code="unknown_class")


def _unnamed_class(seen: str) -> ClassifierError:
    cause, remedy = f"{seen}, and nothing says which is favourable", "name the favourable class in the problem's goal"
    return ClassifierError.at(("goal", "favourable"), cause, remedy, code="no_favourable_class")


def first_missing(needed: Iterable[str], given: Iterable[str]) -> str | None:
    """The first of `needed` that is not among `given`."""
    known = set(given)
    return next((name for name in needed if name not in known), None)
