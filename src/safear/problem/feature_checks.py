"""Checks of the features alone: names, levels, edges, values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from safear.errors import Mistake, Path, mistake
from safear.problem.model import Feature

MAX_LEVELS = 32_767  # level numbers are stored in 16 bits


def check_features(features: Sequence[Feature]) -> Iterator[Mistake]:
    """Every mistake in the features."""
    if not features:
        yield mistake(("features",), "there are no features", code="too_few")
    names = [feature.name for feature in features]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield mistake(("features", name), f"'{name}' is given twice", code="twice", name=name)
    if features and not any(feature.seen_by_classifier for feature in features):
        cause, remedy = "the classifier sees no feature", "drop 'seen_by_classifier: false' somewhere"
        yield mistake(("features",), cause, remedy, code="unseen_feature")
    for feature in features:
        yield from _check_feature(feature, ("features", feature.name))


def _check_feature(feature: Feature, path: Path) -> Iterator[Mistake]:
    if feature.kind == "numeric":
        yield from _check_edges(feature, path)
    elif feature.edges:
        cause, remedy = "only a numeric feature has edges", "write 'kind: numeric', or drop the edges"
        yield mistake((*path, "edges"), cause, remedy, code="misplaced")
    if not feature.levels and (feature.kind != "numeric" or feature.edges):
        yield mistake((*path, "levels"), "the list of levels is empty", "name at least one level", code="too_few")
    if len(feature.levels) > MAX_LEVELS:
        cause = f"{len(feature.levels)} levels; at most {MAX_LEVELS} are possible"
        yield mistake((*path, "levels"), cause, code="too_many")
    seen: set[str] = set()
    for number, level in enumerate(feature.levels):
        if level in seen:
            cause, remedy = f"level '{level}' is given twice", "rename one of the two"
            yield mistake((*path, "levels", number), cause, remedy, code="twice", name=level)
        seen.add(level)
    if feature.values and len(feature.values) != len(feature.levels):
        cause = f"{len(feature.values)} values for {len(feature.levels)} levels"
        yield mistake((*path, "values"), cause, "give one value per level", code="wrong_length")
    for number, value in enumerate(feature.values):
        if isinstance(value, float) and not math.isfinite(value):
            yield mistake((*path, "values", number), f"{value} is not a finite number", code="not_finite", value=value)


def _check_edges(feature: Feature, path: Path) -> Iterator[Mistake]:
    if not feature.edges:
        yield mistake((*path, "edges"), "a numeric feature needs edges", "write 'edges: [20, 25, 30]'", code="missing")
        return
    for number, edge in enumerate(feature.edges):
        if abs(edge.adjusted()) > 300:
            cause = f"{edge} is too large or too small"
            yield mistake((*path, "edges", number), cause, code="out_of_range", value=edge)
    for number, (low, high) in enumerate(pairwise(feature.edges)):
        if not low < high:
            cause, remedy = f"{high} does not come after {low}", "write the edges in ascending order"
            yield mistake((*path, "edges", number + 1), cause, remedy, code="not_ascending")
    if feature.levels and len(feature.levels) != len(feature.edges) + 1:
        cause = f"{len(feature.levels)} levels, but {len(feature.edges)} edges make {len(feature.edges) + 1}"
        remedy = "name each interval between edges, or leave the levels out"
        yield mistake((*path, "levels"), cause, remedy, code="wrong_length")
