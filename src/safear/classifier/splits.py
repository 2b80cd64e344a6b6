"""Where a model of trees may change its mind, in the units of its raw columns, whatever preprocessing lies between."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safear.classifier.columns import ModelColumns, arrange, inner_models
from safear.classifier.thresholds import Floats, Splits, merge_splits, tree_splits

if TYPE_CHECKING:
    import pandas as pd

SIZES = np.logspace(-6, 12, 577)  # numbers of all magnitudes at which preprocessing is tried
AROUND = np.linspace(-4, 4, 1025)  # and numbers around that of the sample
FEW = 12  # of these numbers, tried with all that is known of the other columns
PART = 20_000  # rows that are prepared at a time
Table = Any  # a DataFrame or an array
Prepare = Callable[[Table], Any]


def find_splits(model: Any, columns: ModelColumns, sample: pd.DataFrame) -> Mapping[str, Floats | None] | None:
    """For each numeric column the numbers, ascending, at which the decision may change; None if no trees decide.

    Each is the last number of a cell; the next cell begins right after it. Inside a cell nothing changes, whatever the
    other columns are. None for a column: that is not known, because it does not go through a monotone function of it
    alone. `sample` has rows for the model, one of them at least.
    """
    table = arrange(_varied(sample.iloc[:1], columns), columns)
    names = columns.sources(sample.columns)
    kinds = [kind.kind for kind in columns.types or ()] or ["any"] * len(names)
    numbers = [place for place, value in enumerate(_row(table)) if _is_number(value)]
    numeric = [place for place in numbers if kinds[place] in {"number", "any"}]
    found = _splits(model, table, numeric)
    if found is None:
        return None
    return {names[place]: found.get(place, np.empty(0)) if place in numeric else None for place in numbers}


def _varied(sample: pd.DataFrame, columns: ModelColumns) -> pd.DataFrame:
    """The row of a sample; once more for each value that an encoder knows; once more with each number changed."""
    changes: list[tuple[str, object]] = []
    for place, name in enumerate(columns.sources(sample.columns)):
        value = sample[name].iloc[0]
        known = columns.types[place].by_name.values() if columns.types else ()
        changes += [(name, other) for other in known or ([1.5 * value + 1] if _is_number(value) else [])]
    rows = sample.iloc[np.zeros(1 + len(changes), dtype=np.int64)].reset_index(drop=True)
    for name in dict.fromkeys(name for name, _ in changes):
        values = rows[name].tolist()
        for place, (changed, value) in enumerate(changes, start=1):
            values[place] = value if changed == name else values[place]
        rows[name] = values
    return rows


def _splits(model: Any, table: Table, numeric: Sequence[int]) -> Splits | None:
    """By column of a table that the model can be asked about."""
    parts = inner_models(model)
    if parts:
        seen = getattr(model, "passthrough", False)  # by the last model of a stack, besides what the others say
        return None if seen else merge_splits(_splits(part, table, numeric) for part in parts)
    if hasattr(model, "steps"):
        *before, last = [step for _, step in model.steps if step not in (None, "passthrough")]
        prepare = _in_turn([step for step in before if hasattr(step, "transform")])
        prepared = _dense(prepare(table))
        return _pull_back(_splits(last, prepared, range(prepared.shape[1])), prepare, table, numeric)
    found = tree_splits(model)
    inside = getattr(model, "_preprocessor", None)  # of a HistGradientBoostingClassifier with categories
    return found if inside is None else _pull_back(found, inside.transform, table, numeric)


def _in_turn(steps: Sequence[Any]) -> Prepare:
    def prepare(table: Table) -> Any:
        for step in steps:
            table = step.transform(table)
        return table

    return prepare


@dataclass(frozen=True, eq=False)
class _Trace:
    """What becomes of all prepared columns, [number, column], while one raw column takes ascending numbers."""

    numbers: Floats
    prepared: Floats

    @cached_property
    def moved(self) -> list[int]:
        return np.flatnonzero(~_same(self.prepared, self.prepared[:1]).all(axis=0)).tolist()

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.prepared[:, self.moved]).all())

    def is_monotone(self, column: int) -> bool:
        steps = np.diff(self.prepared[:, column])
        return bool((steps >= 0).all() or (steps <= 0).all())


def _pull_back(splits: Splits | None, prepare: Prepare, table: Table, numeric: Sequence[int]) -> Splits | None:
    """Splits of prepared columns as splits of the raw columns from which they come.

    What prepares them is a black box: one raw column is moved while the others stay. Prepared columns that follow one
    raw column alone, always upwards or always downwards, are inverted by bisection, to the last digit. What they do
    between the numbers that are tried stays unseen.
    """
    if splits is None:
        return None
    brackets = {}
    for place in numeric:
        trace = _trace(prepare, table, place)
        if trace is not None and _is_alone(trace, prepare, table, place, list(splits)):
            targets = {column: splits[column] for column in trace.moved if column in splits}
            if all(trace.is_monotone(column) for column in targets):
                brackets[place] = _bracket(trace, place, targets)
    parts = [part for part in brackets.values() if part is not None]
    found = _bisect(prepare, table, _Brackets(*map(np.concatenate, zip(*parts, strict=True)))) if parts else {}
    return {place: found.get(place, np.empty(0)) if brackets.get(place) is not None else None for place in numeric}


def _trace(prepare: Prepare, table: Table, place: int) -> _Trace | None:
    """A raw column moved over all numbers, or those that are not negative, or positive: as far as it is prepared."""
    value = float(_row(table)[place])
    near = AROUND * max(abs(value), 1.0) + value if math.isfinite(value) else AROUND
    numbers = np.unique(np.concatenate([-SIZES, [0.0], SIZES, near]))
    for some in (numbers, numbers[numbers >= 0], numbers[numbers > 0]):
        try:
            trace = _Trace(some, _prepared(prepare, table[:1], np.full(len(some), place), some))
        except Exception:  # noqa: BLE001, S112  # preprocessing may refuse a number in any way
            continue
        if trace.is_finite():
            return trace
    return None


def _is_alone(trace: _Trace, prepare: Prepare, table: Table, place: int, columns: list[int]) -> bool:
    """Whether prepared columns that follow a raw column do so in the same way whatever the others are."""
    numbers = trace.numbers[:: len(trace.numbers) // FEW]
    rows = _take(table, np.repeat(np.arange(len(table)), len(numbers)))
    try:
        found = _prepared(prepare, rows, np.full(len(rows), place), np.tile(numbers, len(table)))
    except Exception:  # noqa: BLE001  # preprocessing may refuse a number in any way
        return False
    found = found.reshape((len(table), len(numbers), -1))[:, :, columns]
    moved = ~_same(found, found[:, :1]).all(axis=(0, 1))
    return bool(_same(found, found[:1])[:, :, moved].all())


class _Brackets(NamedTuple):
    """Where to look for splits: of which raw column, in which prepared column, for which limit, and between what."""

    place: NDArray[np.int64]
    column: NDArray[np.int64]
    limit: Floats
    low: Floats
    high: Floats
    guess: Floats


def _bracket(trace: _Trace, place: int, targets: Splits) -> _Brackets | None:
    """Neighbouring numbers of a trace between which f(x) <= s begins or ceases to hold, for each target s."""
    parts = []
    for column, limits in targets.items():
        if limits is None:
            return None
        values = trace.prepared[:, column]
        below = values[:, None] <= limits
        before, which = np.nonzero(below[1:] != below[:-1])  # once at most for each, as it is monotone
        low, high = trace.numbers[before], trace.numbers[before + 1]
        share = (limits[which] - values[before]) / (values[before + 1] - values[before])
        names = (np.full(len(which), place), np.full(len(which), column))
        parts.append(_Brackets(*names, limits[which], low, high, low + share * (high - low)))
    empty = np.empty(0)
    nothing = _Brackets(empty.astype(np.int64), empty.astype(np.int64), empty, empty, empty, empty)
    return _Brackets(*map(np.concatenate, zip(nothing, *parts, strict=True)))


def _bisect(prepare: Prepare, table: Table, brackets: _Brackets) -> dict[int, Floats]:
    """The last number of each bracket for which f(x) <= s is what it is at its low end, by raw column."""
    if not len(brackets.place):
        return {}
    first, last = _ordinal(brackets.low), _ordinal(brackets.high)
    guess = np.clip(_ordinal(brackets.guess), first, last)  # right but for rounding, if f is linear
    rows = np.arange(len(guess))

    def holds(at: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = _prepared(prepare, table[:1], brackets.place, _number(at))
        return np.asarray(found[rows, brackets.column] <= brackets.limit)

    start, near = holds(first), [-(2**8), 2**8, -(2**20), 2**20]
    while (last - first > 1).any():
        at = np.clip(guess + near.pop(0), first, last) if near else (first & last) + ((first ^ last) >> 1)  # the mean
        same = holds(at) == start
        first, last = np.where(same, at, first), np.where(same, last, at)
    found = _number(first) + 0.0
    return {int(place): np.unique(found[brackets.place == place]) for place in np.unique(brackets.place)}


def _same(some: Floats, others: Floats) -> NDArray[np.bool_]:
    return np.asarray((some == others) | (np.isnan(some) & np.isnan(others)))


def _ordinal(numbers: Floats) -> NDArray[np.int64]:
    """The number of each floating-point number in their order: neighbours differ by one."""
    bits = numbers.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _number(ordinals: NDArray[np.int64]) -> Floats:
    return (ordinals ^ ((ordinals >> 63) & np.int64(2**63 - 1))).view(np.float64)


def _prepared(prepare: Prepare, table: Table, places: NDArray[np.int64], numbers: Floats) -> Floats:
    """What becomes of the rows of a table (or of its only row) with a number in one place of each."""
    parts = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a logarithm of what no person has is no news to anybody
        for start in range(0, len(numbers), PART):
            some = np.arange(start, min(start + PART, len(numbers)))
            rows = _take(table, some if len(table) > 1 else 0 * some)
            for place in np.unique(places[some]).tolist():
                rows = _with_numbers(rows, place, numbers[some], places[some] == place)
            parts.append(_numbers(_dense(prepare(rows))))
    return np.concatenate(parts)


def _take(table: Table, rows: NDArray[np.int64]) -> Table:
    return table[rows] if isinstance(table, np.ndarray) else table.iloc[rows].reset_index(drop=True)


def _with_numbers(table: Table, place: int, numbers: Floats, where: NDArray[np.bool_]) -> Table:
    if isinstance(table, np.ndarray):
        table = table.astype(np.result_type(table.dtype, np.float64))
        table[where, place] = numbers[where]
        return table
    column = table.iloc[:, place].to_numpy(dtype=np.float64, copy=True)
    column[where] = numbers[where]
    table.isetitem(place, column)
    return table


def _dense(table: Any) -> Any:
    return table.toarray() if hasattr(table, "toarray") else table


def _numbers(table: Any) -> Floats:
    """A table as numbers; names are numbered, which is enough to see whether they move."""
    if isinstance(table, np.ndarray) and table.dtype != object:
        return table.astype(np.float64)
    import pandas as pd  # noqa: PLC0415  # only those who prepare columns in this way wait for it

    frame = pd.DataFrame(table).infer_objects()
    columns = [frame.iloc[:, i] for i in range(frame.shape[1])]
    made = [
        column.to_numpy(dtype=np.float64)
        if pd.api.types.is_numeric_dtype(column.dtype)
        else pd.factorize(column)[0].astype(np.float64)
        for column in columns
    ]
    return np.stack(made, axis=1)


def _row(table: Table) -> list[Any]:
    if isinstance(table, np.ndarray):
        return list(table[0])
    return [table.iloc[0, i] for i in range(table.shape[1])]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
