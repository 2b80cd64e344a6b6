"""Whether a model's answers fit the problem, where a handful of them cannot tell.

A 1 is a yes among noughts and ones, one of two codes beside a 2, and next to nothing among points up to 100; and a
model that says `granted` where the problem says `approved` rejects everybody. So before somebody is told that they are
accepted, or that nothing leads to the goal, a model that gives labels or numbers and does not list its classes is asked
once about inputs from all over the problem. What it calls its answers, and their scale, show there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from safear.classifier.asking import ask
from safear.classifier.protocol import Classifier, Inputs
from safear.classifier.several import members_of
from safear.errors import ClassifierError, SafearError
from safear.problem.model import Problem

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 1000  # answers from which on the model has shown what it says
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

    A model is asked once at most, and about no more than `ENOUGH` inputs.
    """
    for member in members_of(classifier):
        vocabulary = getattr(member, "vocabulary", None)
        if vocabulary is None or vocabulary.is_vouched or getattr(member, "lists_classes", False):
            continue
        if not vocabulary.answers:
            continue
        if vocabulary.answers < ENOUGH:
            try:
                ask(member, _draw_inputs(problem, given))
            except SafearError as error:
                if isinstance(error, ClassifierError) and error.mistakes[0].code in MISFITS:
                    raise
            vocabulary.answers += ENOUGH  # nothing more would come out of it
        vocabulary.require_favourable(problem.goal.favourable or "", "the classifier", may_list=True)
        vocabulary.is_vouched = True


def _draw_inputs(problem: Problem, given: pd.DataFrame | None) -> Inputs:
    """All inputs or, if there are more than enough, some at random, always the same ones."""
    features = tuple(feature for feature in problem.features if feature.seen_by_classifier)
    sizes = [len(feature.levels) for feature in features]
    count = math.prod(sizes)
    if count <= ENOUGH:
        codes = np.stack(np.unravel_index(np.arange(count), sizes), axis=-1) if sizes else np.empty((1, 0))
    else:
        rng = np.random.default_rng(0)
        codes = np.stack([rng.integers(size, size=ENOUGH) for size in sizes], axis=1)
    rows = None if given is None else given.iloc[np.arange(len(codes)) % len(given)].reset_index(drop=True)
    return Inputs(features, codes.astype(np.int16), {}, rows)
