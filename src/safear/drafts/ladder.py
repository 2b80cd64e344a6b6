"""A column that can change as a feature with a few levels, and what going to each of them does to decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safear.classifier.column_types import ColumnType
from safear.classifier.raw_answers import label_name
from safear.drafts.edges import choose_levels, choose_point, cut_cells, find_limits, round_edge
from safear.drafts.panel import Flags, Panel
from safear.drafts.table import Column, is_unknown
from safear.problem.model import Feature

MOST_TARGETS = 3  # levels without an order that a step is drafted for
Origin = Literal["model", "quantiles", "words"]
Say = Callable[..., str]


@dataclass(frozen=True, eq=False)
class Ladder:
    """A feature, where its levels come from, and how many of the rows `tried` each way of changing it gets accepted.

    `helped` is by level for those without an order, else by direction, `up` and `down`.
    """

    feature: Feature
    column: Column
    origin: Origin
    tried: int
    helped: Mapping[str, int]

    @property
    def is_ordered(self) -> bool:
        """Whether steps go up and down."""
        return self.feature.is_ordered

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways of changing it that help somebody, the best first; directions both or one."""
        known = sorted((way for way, count in self.helped.items() if count), key=lambda way: -self.helped[way])
        return tuple(known[:MOST_TARGETS])


def make_ladder(panel: Panel, column: Column, *, wanted: ColumnType, splits: Any, say: Say) -> Ladder | None:
    """The feature of a column that can change; None if no change of it alone ever changes a decision."""
    if column.numbers is not None:
        return _number_ladder(panel, column, splits, say)
    values: tuple[float | str, ...] = ()
    if column.kind == "boolean" and wanted.kind != "known":
        values = (0.0, 1.0)
    decisions = panel.try_column(column.name, values or column.levels)
    if _is_idle(decisions):
        return None
    kind: Literal["ordinal", "nominal"] = "ordinal" if column.kind == "ordinal" else "nominal"
    missing = _new_name(say("missing"), column.levels) if column.missing else ""
    levels = (missing, *column.levels) if missing else column.levels
    feature = Feature(column.name, kind, levels, values=values, missing=missing)
    rejected = ~panel.filed
    if feature.is_ordered:
        place = {level: number for number, level in enumerate(column.levels)}
        own = np.array([place.get(label_name(cell), -1) for cell in panel.records[column.name].tolist()])
        helped = _count_directions(decisions, own, rejected)
    else:
        counts = (decisions & rejected[:, None]).sum(axis=0).tolist()
        pairs = zip(column.levels, counts, strict=True)
        helped = {level: count for level, count in pairs if not is_unknown(level)}
    return Ladder(feature, column, "words", len(decisions), helped)


def _number_ladder(panel: Panel, column: Column, splits: Any, say: Say) -> Ladder | None:
    numbers: NDArray[np.float64] = np.asarray(column.numbers)
    cells = cut_cells(numbers, splits, column.step)
    if cells is None:
        return None
    decisions = panel.try_column(column.name, [float(point) for point in cells.points])
    if _is_idle(decisions):
        return None
    begin = choose_levels(decisions, cells.people)
    bounds = [0, *begin, len(cells)]
    chosen = [start + choose_point(decisions[:, start:end], cells.people[start:end]) for start, end in pairwise(bounds)]
    edges = [round_edge(cells, place, numbers, column.step) for place in begin]
    least, most = find_limits(numbers)
    feature = Feature(
        column.name,
        "numeric",
        name_levels(edges, least, most, column.step, say),
        values=tuple(float(cells.points[place]) for place in chosen),
        edges=tuple(edges),
        step=column.step,
        least=least,
        most=most,
    )
    middle = float(np.nanmedian(numbers))
    if column.missing:
        feature = replace(feature, missing=feature.level_of(Decimal(repr(middle))))
    filed = panel.records[column.name].astype(float).fillna(middle)
    own = np.searchsorted([float(edge) for edge in edges], filed, side="right")
    origin: Origin = "model" if cells.of_model else "quantiles"
    helped = _count_directions(decisions[:, chosen], own, ~panel.filed)
    return Ladder(feature, column, origin, len(decisions), helped)


def _new_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def name_levels(
    edges: Sequence[Decimal], least: Decimal, most: Decimal, step: Decimal | None, say: Say
) -> tuple[str, ...]:
    """`under 12`, `12 to 17`, `18 or more`; a level of one number is called by it.

    Where all edges are round beside the step, nobody thinks of the last number before one: `1000 to under 2000`.
    """
    is_round = step is None or all(not edge % (10 * step) for edge in edges)
    ends = [least, *edges, most if step is None else most + step]
    names = []
    for place, (low, high) in enumerate(pairwise(ends)):
        if step is not None and low + step == high:
            names.append(_plain(low))
        elif place == 0:
            names.append(say("under", number=_plain(edges[0])))
        elif place == len(edges):
            names.append(say("from", number=_plain(edges[-1])))
        elif step is None or is_round:
            names.append(say("to_under", low=_plain(low), high=_plain(high)))
        else:
            names.append(say("to", low=_plain(low), high=_plain(high - step)))
    return tuple(names)


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _is_idle(decisions: Flags) -> bool:
    """Whether no row is decided otherwise whatever the column says."""
    return not bool((decisions != decisions[:, :1]).any())


def _count_directions(decisions: Flags, own: NDArray[np.int64], rejected: Flags) -> dict[str, int]:
    """How many rejected rows would be accepted at a level above their own, and at one below."""
    levels = np.arange(decisions.shape[1])
    sides = {"up": levels > own[:, None], "down": levels < own[:, None]}
    return {way: int((rejected & (decisions & side).any(axis=1)).sum()) for way, side in sides.items()}
