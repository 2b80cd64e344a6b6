"""How a classifier is asked: answers are checked, must come in time, and nonsense is traced to an input."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.classifier.protocol import RAISED, Classifier, Inputs, failed
from safear.classifier.raw_answers import as_chances, label_name, one_per_input
from safear.classifier.waiting import TIMED_OUT, find_patience, within
from safear.errors import ClassifierError, SafearError

# The kinds of mistakes that a classifier makes about an input.
NONSENSE = frozenset(
    {
        "classifier_failed",
        "no_decision",
        "no_score",
        "not_finite",
        "unknown_answer",
        "unreadable_answer",
        "wrong_shape",
        TIMED_OUT,
    }
)
SOURCE = "the classifier"
ALONE = "asked about one at a time it gives answers"
SHOWN = 40  # columns of an input that are told


def ask(classifier: Classifier, inputs: Inputs) -> NDArray[np.bool_]:
    """The classifier's answer, checked: one truth value per input. Whatever it raises is told in its own words.

    If the classifier has a `time_limit`, it has so many seconds, or as many as the `patience` of the caller. The error
    about an answer that is none names the first input at fault. It is found by halving, with one further question for
    each doubling of the inputs and one more. After a time-out nothing more is asked: what hangs goes on computing.
    """
    limit = _find_limit(classifier)
    try:
        return _ask(classifier, inputs, limit)
    except ClassifierError as error:
        raise _name_input(error, classifier, inputs, limit) from error.__cause__


class Hearing(NamedTuple):
    """To how many inputs there were answers, and whether there are none to any of the others."""

    answered: int
    is_whole: bool


def ask_in_parts(
    classifier: Classifier, inputs: Inputs, *, first: int, grave: Collection[str], most: int, seconds: float
) -> Hearing:
    """Ask about inputs of which some may be nobody's: where an answer fails, each half is asked about again.

    The `first` of them tell how long an answer takes, and so how many of the others there is time for in so many
    seconds, or in half of what the classifier may take for one answer. There are at most so many questions. Mistakes of
    the `grave` kinds are raised; after one that no input can be blamed for, such as a time-out, nothing more is asked.
    """
    limit, began = _find_limit(classifier), time.monotonic()
    end = began + (seconds if limit is None else min(seconds, limit / 2))
    parts, room, asked, answered = [(0, len(inputs))], first, 0, 0
    while parts:
        if asked == most or began > end:
            return Hearing(answered, is_whole=False)
        low, high = parts.pop()
        if high - low > room:
            parts.append((low + room, high))
            high = low + room
        part, asked = inputs.take(slice(low, high)), asked + 1
        try:
            _ask(classifier, part, limit)
        except SafearError as error:
            code = error.mistakes[0].code if isinstance(error, ClassifierError) else None
            if isinstance(error, ClassifierError) and code in grave:
                raise _name_input(error, classifier, part, limit) from error.__cause__
            if code not in NONSENSE or code == TIMED_OUT:
                return Hearing(answered, is_whole=False)
            middle = (low + high) // 2
            parts += [(middle, high), (low, middle)] if high - low > 1 else []
        else:
            answered += high - low
        now = time.monotonic()
        pace, began = max(now - began, 1e-6) / (high - low), now
        room = max(int((end - now) / pace), 1)
    return Hearing(answered, is_whole=True)


def ask_scores(classifier: Classifier, inputs: Inputs) -> NDArray[np.float64] | None:
    """How near the favourable decision each input is, from 0 to 1; None if the classifier does not say.

    What it raises is an answer that it does not give: whoever asks knows its decisions already.
    """
    find: Callable[[Inputs], Any] | None = getattr(classifier, "scores", None)
    if find is None:
        return None
    try:
        found = within(_find_limit(classifier), lambda: find(inputs), len(inputs), of=classifier)
        return None if found is None else as_chances(found, len(inputs), SOURCE).astype(np.float64)
    except RAISED:  # whatever a foreign model raises
        return None


def _find_limit(classifier: Classifier) -> float | None:
    limit: float | None = getattr(classifier, "time_limit", None)
    most = None if getattr(classifier, "sees_levels", False) else find_patience()  # rules and tables are quick
    return limit if most is None else most if limit is None else min(limit, most)


def _ask(classifier: Classifier, inputs: Inputs, limit: float | None) -> NDArray[np.bool_]:
    try:
        with np.errstate():  # whatever settings foreign code makes
            found = within(limit, lambda: classifier.favourable(inputs), len(inputs), of=classifier)
            answers = one_per_input(found, len(inputs), SOURCE)
    except SafearError:
        raise
    except RAISED as error:
        raise failed(error) from error
    if answers.dtype != np.bool_:
        cause = f"{SOURCE} answered with {answers.dtype} of shape {answers.shape} for {len(inputs)} inputs"
        raise ClassifierError.at(("classifier",), cause, "it should give one truth value per input", code="wrong_shape")
    return answers


def _name_input(error: ClassifierError, classifier: Classifier, inputs: Inputs, limit: float | None) -> ClassifierError:
    """An error with the input that it is about, if there is one."""
    told = error.mistakes[0]
    if told.code not in NONSENSE or "input" in told.values or not len(inputs):
        return error
    is_late = told.code == TIMED_OUT
    culprit = 0 if is_late else _find_culprit(classifier, inputs, limit)
    shown = {} if culprit is None else _row(inputs, culprit)
    first = "the first of them" if is_late else "the first such input"
    cause = f"{told.cause}; {f'{first}: {_describe(shown)}' if shown else ALONE}"
    return ClassifierError([replace(told, cause=cause, values={**told.values, "input": shown})])


def _find_culprit(classifier: Classifier, inputs: Inputs, limit: float | None) -> int | None:
    """The first input to which alone there is no answer, if inputs fail by themselves; None if this one does not."""
    low, high = 0, len(inputs)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fails(classifier, inputs.take(slice(low, middle)), limit) else (middle, high)
    return low if len(inputs) == 1 or _fails(classifier, inputs.take(slice(low, high)), limit) else None


def _fails(classifier: Classifier, inputs: Inputs, limit: float | None) -> bool:
    try:
        _ask(classifier, inputs, limit)
    except SafearError:
        return True
    return False


def _row(inputs: Inputs, row: int) -> dict[str, str]:
    """One input as the classifier is shown it."""
    frame = inputs.take(slice(row, row + 1)).frame()
    return {str(name): label_name(values.iloc[0]) for name, values in frame.items()}


def _describe(shown: dict[str, str]) -> str:
    """`age = 30, job = none`."""
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(f"{name} = {value}" for name, value in list(shown.items())[:SHOWN]) + more
