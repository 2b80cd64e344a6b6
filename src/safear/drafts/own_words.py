"""What a model calls its answers: its classes, or the labels that come if it has no list of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from safear.classifier.adapters import FunctionClassifier, ModelClassifier, list_classes
from safear.classifier.boosting import find_chances
from safear.classifier.decisions import AnswerKind, study_answers
from safear.classifier.protocol import Classifier, Inputs
from safear.classifier.raw_answers import label_name
from safear.classifier.several import members_of
from safear.drafts.panel import Flags, decide
from safear.errors import ClassifierError, quote_list

OTHER_WAY = {"truths": "false", "ones": "0", "scores": "0"}  # what to name as favourable if it is the other way round


def find_classes(classifier: Classifier) -> tuple[str, ...]:
    """What a model calls its classes; empty if it does not say."""
    for member in members_of(classifier):
        model = getattr(member, "model", None)
        classes = list_classes(getattr(member, "function", model))
        if classes:
            return tuple(map(label_name, classes))
        if hasattr(model, "predict") and find_chances(model) is not None:
            return ("0", "1")
    return ()


def hear(classifier: Classifier, table: pd.DataFrame) -> tuple[AnswerKind | None, tuple[str, ...]]:
    """What kind of answers a model without a list of classes gives for a table, and the labels among them.

    Of several models it is the first; None if there is nothing to hear but decisions.
    """
    for member in members_of(classifier):
        if isinstance(member, FunctionClassifier | ModelClassifier):
            listener = _Listener(member, member.time_limit)
            decide(listener, table)
            labels = {label for _, some in listener.heard for label in some}
            kinds = [kind for kind, _ in listener.heard]
            first = next(kind for kind in ("labels", "scores", "ones", "truths") if kind in kinds)
            return first, tuple(sorted(labels))
    return None, ()


def find_taken(classifier: Classifier, table: pd.DataFrame) -> AnswerKind | None:
    """What kind of answers is taken as favourable if nobody names a class; an error if there are classes or labels.

    A wrong guess would lead people to the decision that they fear.
    """
    classes = find_classes(classifier)
    kind, labels = (None, ()) if classes else hear(classifier, table)
    if classes or labels:
        seen = (
            f"the model's classes are {quote_list(classes)}" if classes else f"the model answers {quote_list(labels)}"
        )
        cause, names = f"{seen}, and nothing says which is favourable", [*classes, *labels]
        remedy = "name the one that people want, with --favourable or favourable="
        raise ClassifierError.at(("favourable",), cause, remedy, code="no_favourable_class", classes=names)
    return kind


@dataclass(frozen=True, eq=False)
class _Listener:
    """Asks a classifier as it is asked for decisions, and keeps what kind of answers come."""

    classifier: FunctionClassifier | ModelClassifier
    time_limit: float | None
    heard: list[tuple[AnswerKind, tuple[str, ...]]] = field(default_factory=list)

    def favourable(self, inputs: Inputs) -> Flags:
        answers = self.classifier.answers(inputs)
        self.heard.append(study_answers(answers, count=len(inputs), source="the classifier"))
        return np.zeros(len(inputs), dtype=bool)
