"""Checks of the features alone: names, levels, edges, values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from safear.errors import Mistake, Path, mistake
from safear.problem.model import Feature, as_decimal
from safear.problem.move_checks import check_limit
from safear.problem.scales import MAX_LEVELS, is_range
from safear.problem.wrong_names import unknown_level


def check_features(features: Sequence[Feature], given: Sequence[str] = ()) -> Iterator[Mistake]:
    """Every mistake in the features and in the list of what is `given` besides them."""
    if not features:
        yield mistake(("features",), "there are no features", code="too_few")
    names = [feature.name for feature in features]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield mistake(("features", name), f"'{name}' is given twice", code="twice", name=name)
    if features and not given and not any(feature.seen_by_classifier for feature in features):
        cause, remedy = "the classifier sees no feature", "drop 'seen_by_classifier: false' somewhere"
        yield mistake(("features",), cause, remedy, code="unseen_feature")
    for number, name in enumerate(given):
        if name in names:
            cause, remedy = f"'{name}' is a feature", "drop it here: features are seen by the classifier anyway"
            yield mistake(("given", number), cause, remedy, code="twice", name=name)
    for feature in features:
        if not feature.is_derived:  # what is wrong with those is wrong with what they are made from
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
    unfinished = [n for n, value in enumerate(feature.values) if isinstance(value, float) and not math.isfinite(value)]
    for number in unfinished:
        cause, value = f"{feature.values[number]} is not a finite number", feature.values[number]
        yield mistake((*path, "values", number), cause, code="not_finite", value=value)
    yield from _check_missing(feature, (*path, "missing"))
    if feature.hidden and feature.seen_by_classifier:
        cause, remedy = "what is hidden is not seen by the classifier", "make it seen_by_classifier=False"
        yield mistake(path, cause, remedy, code="unseen_feature", feature=feature.name)
    if feature.at_most is not None:
        yield from check_limit(feature, (*path, "at_most"))
    yield from _check_limits(feature, path)
    is_cut = len(feature.values) == len(feature.levels) == len(feature.edges) + 1
    if feature.is_raw and not unfinished and is_cut and not is_range(feature):
        yield from _check_values(feature, path)


def _check_missing(feature: Feature, path: Path) -> Iterator[Mistake]:
    """The level that an empty cell means: one of the feature's, and nothing for bookkeeping."""
    if feature.missing and feature.hidden and not feature.copy_of:
        cause, remedy = "what is hidden begins at its first level, and is never missing", "drop 'missing'"
        yield mistake(path, cause, remedy, code="misplaced")
    if feature.missing and feature.missing not in feature.levels:
        yield unknown_level(path, feature.missing, feature)


def _check_limits(feature: Feature, path: Path) -> Iterator[Mistake]:
    """`step`, `min` and `max`: of numbers only, and in order."""
    for name, limit in (("step", feature.step), ("min", feature.least), ("max", feature.most)):
        if limit is None:
            continue
        if feature.kind != "numeric":
            cause, remedy = f"only a numeric feature has a {name}", f"write 'kind: numeric', or drop the {name}"
            yield mistake((*path, name), cause, remedy, code="misplaced")
        elif not limit.is_finite() or abs(limit.adjusted()) > 300 or (name == "step" and limit <= 0):
            yield mistake((*path, name), f"{limit} cannot be a {name}", code="out_of_range", value=limit)
    if not feature.edges:
        return
    first, last = feature.edges[0], feature.edges[-1]  # one of them may be all of its level
    if feature.least is not None and (feature.least > first or (feature.least == first and feature.closed == "left")):
        cause = f"{feature.least} leaves nothing below the first edge, {first}"
        yield mistake((*path, "min"), cause, "the first level would be empty", code="out_of_range", value=feature.least)
    if feature.most is not None and (feature.most < last or (feature.most == last and feature.closed == "right")):
        cause = f"{feature.most} leaves nothing above the last edge, {last}"
        yield mistake((*path, "max"), cause, "the last level would be empty", code="out_of_range", value=feature.most)


def _check_values(feature: Feature, path: Path) -> Iterator[Mistake]:
    """The value of a level stands for numbers of that level: it must be one of them."""
    for number, (level, value) in enumerate(zip(feature.levels, feature.values, strict=True)):
        exact = as_decimal(value)
        if exact is None:
            cause, remedy = f"'{value}' is not a number", "a numeric feature's values are numbers of its levels"
            yield mistake((*path, "values", number), cause, remedy, code="not_a_number", feature=feature.name)
        elif feature.level_of(exact) != level or not feature.admits(exact):
            cause = f"{value:g} is not among the numbers of level '{level}'"
            remedy = "give a number that lies between its edges, or drop 'values' if the classifier sees levels"
            yield mistake((*path, "values", number), cause, remedy, code="out_of_range", value=value)
        elif feature.step is not None and exact % feature.step:
            cause, remedy = f"{value:g} is not a multiple of the step {feature.step}", "give one, or change the step"
            yield mistake((*path, "values", number), cause, remedy, code="out_of_range", value=value)


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
        return
    if feature.edges != tuple(sorted(feature.edges)) or is_range(feature):
        return
    for number, level in enumerate(feature.levels):
        meant = as_decimal(level)
        if meant is not None and feature.level_of(meant) != level:
            cause = f"as a number, the level's name {level} lies in level '{feature.level_of(meant)}'"
            remedy = "give the level another name: people file numbers here"
            yield mistake((*path, "levels", number), cause, remedy, code="ambiguous", name=level)
