"""The decision on a record as it was filed, where levels stand for raw numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from safear.classifier.protocol import Classifier, Inputs, ask
from safear.problem.model import Feature, Person, Problem, as_decimal


def decide_raw(problem: Problem, classifier: Classifier, record: Mapping[str, object], person: Person) -> bool | None:
    """What the classifier says of the raw numbers in a record; None if it has none that the classifier would see.

    `person` is the record read as levels.
    Plans look at levels, whose values stand for all numbers of an interval; near the edge of a decision the two differ.
    """
    seen = [feature for feature in problem.features if feature.seen_by_classifier]
    as_filed = [_with_raw_value(feature, person[feature.name], record[feature.name]) for feature in seen]
    if as_filed == seen:
        return None
    codes = np.array([[feature.levels.index(person[feature.name]) for feature in seen]], dtype=np.int16)
    return bool(ask(classifier, Inputs(tuple(as_filed), codes))[0])


def _with_raw_value(feature: Feature, level: str, given: object) -> Feature:
    """The feature with the number that was filed as the value of its level."""
    number = as_decimal(given)
    if feature.kind != "numeric" or not feature.values or str(given) in feature.levels or number is None:
        return feature
    if not math.isfinite(float(number)):  # more than a model can take; the level says enough
        return feature
    position = feature.levels.index(level)
    return replace(feature, values=(*feature.values[:position], float(number), *feature.values[position + 1 :]))
