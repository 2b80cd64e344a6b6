"""Whether a model's answers fit the problem, where a handful of them cannot tell.

A 1 is a yes among noughts and ones, one of two codes beside a 2, and next to nothing among points up to 100; and a
model that says `granted` where the problem says `approved` rejects everybody. All that one person can reach may fit by
chance. So before anybody is told anything, a model that gives labels or numbers and does not list its classes is asked
once about inputs from all over the problem. What it calls its answers, and their scale, show there. Some of these
inputs may be nobody's: where it fails on them, the others tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from safear.classifier.adapters import tell_once
from safear.classifier.asking import ask_in_parts
from safear.classifier.protocol import Classifier, Inputs, find_source
from safear.classifier.raw_answers import show_label, show_labels
from safear.classifier.several import members_of
from safear.classifier.vocabulary import Vocabulary
from safear.errors import ClassifierError, mistake
from safear.problem.model import Problem

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 1000  # inputs to which the answers show what a model says
FEW = 30  # answers that must do where it fails on many inputs
MOST_QUESTIONS = 400  # to find inputs on which it does not fail
MOST_SECONDS = 2.0  # that they may take, about
# What is wrong with all answers of a model, not with one to an input that may be nobody's.
MISFITS = frozenset(
    {
        "mixed_answers",
        "no_favourable_class",
        "no_score",
        "text_scores",
        "unknown_class",
        "unreadable_answer",
        "wrong_columns",
        "wrong_order",
    }
)


def vouch(classifier: Classifier, problem: Problem, given: pd.DataFrame | None = None) -> None:
    """Raise an error if a model's answers do not fit the problem; `given` has columns as filed, for it to see.

    A model is asked about no more than `ENOUGH` inputs, and once, unless it fails: then it is asked again, after twice
    as many calls each time, so that one that always fails slows few of them. A misfit is never forgotten.
    """
    wanted = problem.goal.favourable or ""
    for member, vocabulary in _unknown(classifier):
        if vocabulary.misfit:
            raise ClassifierError(vocabulary.misfit)
        if not _is_heard(member, vocabulary, problem, given):
            continue
        if len(vocabulary.heard) > 1:  # as long as the favourable one is not heard after all
            vocabulary.require_favourable(wanted, "the classifier", may_list=True)
        vocabulary.is_vouched = True
        if vocabulary.lacks(wanted):  # it says no to everybody, as it seems: that may be so
            cause = f"the classifier has only ever answered with {show_labels(vocabulary.heard)}, never with "
            remedy = "write 'goal: {favourable: ...}' if that is not what it calls the favourable decision"
            found = mistake(("goal", "favourable"), cause + show_label(wanted), remedy, code="unanimous")
            tell_once(find_source(member), str(found))


def needs_vouching(classifier: Classifier) -> bool:
    """Whether it is not yet known that all of its answers fit."""
    return any(True for _ in _unknown(classifier))


def _unknown(classifier: Classifier) -> Iterator[tuple[Classifier, Vocabulary]]:
    """The models that have given labels or numbers and are not known to fit the problem."""
    for member in members_of(classifier):
        vocabulary: Vocabulary | None = getattr(member, "vocabulary", None)
        if vocabulary is None or vocabulary.is_vouched or not vocabulary.answers:
            continue
        if not getattr(member, "lists_classes", False):
            yield member, vocabulary


def _is_heard(member: Classifier, vocabulary: Vocabulary, problem: Problem, given: pd.DataFrame | None) -> bool:
    """Whether a model has shown what it says to inputs that are drawn.

    However many answers there were before: all may be about what one person can reach.
    """
    if vocabulary.is_sampled:
        return True
    if vocabulary.pause:
        vocabulary.pause -= 1
        return False
    inputs = _draw_inputs(problem, given)
    try:
        found = ask_in_parts(member, inputs, first=FEW, grave=MISFITS, most=MOST_QUESTIONS, seconds=MOST_SECONDS)
    except ClassifierError as error:
        vocabulary.misfit = error.mistakes
        raise
    vocabulary.is_sampled = found.answered >= FEW or (found.answered > 0 and found.is_whole)
    if not vocabulary.is_sampled:
        vocabulary.failures += 1
        vocabulary.pause = 2**vocabulary.failures
    return vocabulary.is_sampled


def _draw_inputs(problem: Problem, given: pd.DataFrame | None) -> Inputs:
    """All inputs or, if there are more than enough, some at random: always the same ones, the first from all over."""
    features = tuple(feature for feature in problem.features if feature.seen_by_classifier)
    sizes = [len(feature.levels) for feature in features]
    count, rng = math.prod(sizes), np.random.default_rng(0)
    if count <= ENOUGH:
        codes = np.stack(np.unravel_index(rng.permutation(count), sizes), axis=-1) if sizes else np.empty((1, 0))
    else:
        codes = np.stack([rng.integers(size, size=ENOUGH) for size in sizes], axis=1)
    rows = None if given is None else given.iloc[np.arange(len(codes)) % len(given)].reset_index(drop=True)
    return Inputs(features, codes.astype(np.int16), {}, rows)
