"""The numbers at which trees change their mind, column by column of what they are shown.

A number s stands for the cells around it: s itself is the last that falls below, the next floating-point number the
first above. Between two neighbours nothing that the trees say can change. Most libraries compare in single precision:
s is then the last number that is still rounded down to the threshold or below it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safear.classifier.boosting import booster_of, library_of

Floats = NDArray[np.float64]
Splits = Mapping[int, Floats | None]  # by column; None: they cannot be given as numbers; no entry: it does not matter
LIGHTGBM_ZERO = float(np.float32(1e-35))  # what is no larger counts as zero there


def tree_splits(model: Any) -> Splits | None:
    """Of a tree or an ensemble of trees; None if it is none, or not of trees alone."""
    if hasattr(model, "own_splits"):  # one of ours
        own: Splits | None = model.own_splits()
        return own
    match library_of(model):
        case "lightgbm":
            return _lightgbm(booster_of(model))
        case "xgboost":
            return _xgboost(booster_of(model), getattr(model, "missing", np.nan))
        case "catboost":
            borders = model.get_borders().items()
            return {column: last_below(values, single=True) for column, values in borders}
    if hasattr(model, "tree_"):
        columns, numbers = model.tree_.feature, model.tree_.threshold
        return _collect(columns[columns >= 0], last_below(numbers[columns >= 0], single=True, unique=False))
    predictors = getattr(model, "_predictors", None)  # of a HistGradientBoostingClassifier, which has no other door
    if predictors is not None:
        return merge_splits([_histogram_tree(tree.nodes) for trees in predictors for tree in trees])
    if hasattr(model, "estimators_") and _is_constant(getattr(model, "init_", "zero")):
        return _members(model)
    return None


def merge_splits(found: Iterable[Splits | None]) -> Splits | None:
    """All splits of several models that decide together; None if one of them is not known."""
    columns: dict[int, list[Floats] | None] = {}
    for splits in found:
        if splits is None:
            return None
        for column, numbers in splits.items():
            known = columns.setdefault(column, [])
            if numbers is None:
                columns[column] = None
            elif known is not None:
                known.append(numbers)
    return {column: None if parts is None else np.unique(np.concatenate(parts)) for column, parts in columns.items()}


def last_below(thresholds: ArrayLike, *, single: bool, strict: bool = False, unique: bool = True) -> Floats:
    """The last number x, in double precision, of which a tree finds x <= t (`strict`: x < t), for each threshold t.

    `single`: the tree rounds x to single precision first.
    """
    given = np.asarray(thresholds, dtype=np.float64)
    if not single:
        last = np.nextafter(given, -np.inf) if strict else given
        return np.unique(last) if unique else last
    below = given.astype(np.float32)
    too_high = below >= given if strict else below > given
    below = np.where(too_high, np.nextafter(below, np.float32(-np.inf)), below)
    middle = (below.astype(np.float64) + np.nextafter(below, np.float32(np.inf))) / 2  # exact, and rounded to even
    last = np.where(middle.astype(np.float32) == below, middle, np.nextafter(middle, -np.inf))
    return np.unique(last) if unique else last


def _collect(columns: NDArray[np.integer[Any]], numbers: Floats) -> Splits:
    return {int(column): np.unique(numbers[columns == column]) for column in np.unique(columns)}


def _members(model: Any) -> Splits | None:
    """Of trees that vote or are added up, each of which may see some of the columns only."""
    members = np.asarray(model.estimators_, dtype=object).ravel().tolist()
    shown = getattr(model, "estimators_features_", [None] * len(members))
    found: list[Splits | None] = []
    for member, columns in zip(members, shown, strict=True):
        splits = tree_splits(member)
        if splits is not None and columns is not None:
            splits = {int(columns[place]): numbers for place, numbers in splits.items()}
        found.append(splits)
    return merge_splits(found)


def _is_constant(start: Any) -> bool:
    """Whether what a gradient boosting starts from is the same for everybody."""
    return start == "zero" or type(start).__name__.startswith("Dummy")


def _histogram_tree(nodes: Any) -> Splits:
    inside = nodes[nodes["is_leaf"] == 0]
    numeric = inside[(inside["is_categorical"] == 0) & np.isfinite(inside["num_threshold"])]
    categories = dict.fromkeys(inside["feature_idx"][inside["is_categorical"] == 1].tolist())
    return {**_collect(numeric["feature_idx"], numeric["num_threshold"]), **categories}


def _lightgbm(booster: Any) -> Splits | None:
    model = booster.dump_model()
    nodes = [node for tree in model["tree_info"] for node in _nodes(tree["tree_structure"])]
    if any("leaf_features" in node for node in nodes):  # linear functions instead of numbers
        return None
    inside = [node for node in nodes if "split_feature" in node]
    columns = np.array([node["split_feature"] for node in inside], dtype=np.int64)
    numeric = np.array([node["decision_type"] == "<=" for node in inside], dtype=bool)
    numbers = np.array([node["threshold"] if node["decision_type"] == "<=" else 0 for node in inside], dtype=float)
    zeros = {node["split_feature"] for node in inside if node["missing_type"] == "Zero"}
    around = np.array([np.nextafter(-LIGHTGBM_ZERO, -np.inf), LIGHTGBM_ZERO])
    found: list[Splits] = [_collect(columns[numeric], numbers[numeric]), dict.fromkeys(zeros, around)]
    return merge_splits([*found, dict.fromkeys(columns[~numeric].tolist())])


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    waiting = [node]
    while waiting:
        yield (here := waiting.pop())
        waiting += [here[side] for side in ("left_child", "right_child") if side in here]


def _xgboost(booster: Any, missing: float) -> Splits | None:
    learner = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    model = learner.get("gbtree", learner).get("model", {})
    if "trees" not in model:  # a linear model
        return None
    found: list[Splits | None] = []
    for tree in model["trees"]:
        inside = np.array(tree["left_children"]) >= 0
        categorical = np.array(tree["split_type"]) == 1
        columns, numeric = np.array(tree["split_indices"]), inside & ~categorical
        thresholds = np.array(tree["split_conditions"], dtype=np.float32)[numeric]  # as few digits as that needs
        numbers = last_below(thresholds, single=True, strict=True, unique=False)
        found += [_collect(columns[numeric], numbers), dict.fromkeys(columns[inside & categorical].tolist())]
    if np.isfinite(missing):  # a number that stands for missing has a cell of its own
        ends = [last_below([missing], single=True, strict=strict) for strict in (True, False)]
        found.append(dict.fromkeys(range(booster.num_features()), np.concatenate(ends)))
    return merge_splits(found)
