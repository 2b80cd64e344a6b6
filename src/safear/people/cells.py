"""One cell: the level that it means, in Python and as an expression for DuckDB."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from safear.problem.model import TRUTHS, Feature, Problem, as_decimal
from safear.problem.person import read_level, read_texts_of
from safear.problem.scales import is_range

_SIGNED = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "HUGEINT": 127}
BITS = _SIGNED | {f"U{name}": bits + 1 for name, bits in _SIGNED.items()}
FLOATS = {"FLOAT", "DOUBLE"}
_WRITTEN = {  # what texts may be instead, the first that fits all, as JSON writes it (007 is a text)
    "BIGINT": "-?(0|[1-9][0-9]{0,17})",
    "DOUBLE": "-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?",
    "BOOLEAN": f"(?i){'|'.join(TRUTHS)}",
}
CELL_KINDS = tuple(_WRITTEN)
_MANY = 10_000  # rows at a time
_EXACT = Context(prec=1000)

Codes = NDArray[np.int16]


def code_names(problem: Problem) -> list[str]:
    """The columns of level numbers, wherever people are counted."""
    return [f"c{i}" for i in range(len(problem.features))]


def finite(number: Decimal | None) -> float:
    """A number as models see it; NaN if there is none, or none that a float can hold."""
    found = math.nan if number is None else float(number)
    return found if math.isfinite(found) else math.nan


def level_number(feature: Feature, value: object) -> int | None:
    """The number of the level that a cell means, as `read_level` says."""
    level = read_level(feature, value)
    number = as_decimal(value)
    if level is None or (number is not None and feature.level_at(number) == level and not feature.admits(number)):
        return None
    return feature.levels.index(level)


def read_cells(cells: Mapping[str, str], problem: Problem, kinds: Mapping[str, str]) -> dict[str, object]:
    """A row of a CSV file: an empty cell is missing; `null` and `~`, which say so in YAML and JSON, are texts here.

    Columns of known `kinds` (`find_kinds`) are read as such, features as levels, others as each cell looks.
    """
    read = read_texts_of(cells, problem.feature_by_name)
    return {
        name: _read_text(text, kinds[name]) if name in kinds else text if text and read[name] is None else read[name]
        for name, text in cells.items()
    }


def find_kinds(rows: Iterable[Mapping[str, str]], names: Iterable[str]) -> dict[str, str]:
    """What the cells of each of these columns are in all rows of a CSV file."""
    fits, gaps, left = dict.fromkeys(names, CELL_KINDS), set[str](), iter(rows)
    while some := list(islice(left, _MANY)):
        for name, kinds in fits.items():
            texts = {row[name] for row in some if name in row}
            fits[name] = fitting(texts, kinds)
            gaps |= {name} if "" in texts else set()
    return {name: choose_kind(kinds, has_gaps=name in gaps) for name, kinds in fits.items()}


def choose_kind(kinds: Sequence[str], *, has_gaps: bool) -> str:
    """The first of those that fit; whole numbers with gaps are floats, as everywhere in tables."""
    found = next(iter(kinds), "VARCHAR")
    return "DOUBLE" if found == "BIGINT" and has_gaps else found


def fitting(texts: Iterable[str], kinds: Iterable[str] = CELL_KINDS) -> tuple[str, ...]:
    """Those of some kinds that all texts are, but for the empty ones."""
    known = set(texts) - {""}
    return tuple(kind for kind in kinds if all(re.fullmatch(_WRITTEN[kind], text) for text in known))


def _read_text(text: str, kind: str) -> object:
    """A text as a value of a kind that it looks like; None if it is empty."""
    if not text:
        return None
    if kind == "BOOLEAN":
        return TRUTHS[text.casefold()]  # as `(?i)` does: a long s is an s
    return {"BIGINT": int, "DOUBLE": float}.get(kind, str)(text)


def within_limits(feature: Feature, number: str, code: str) -> str:
    """A level number for DuckDB; NULL where the number is beyond the limits of its feature."""
    beyond = [f"{number} < {feature.least:f}"] if feature.least is not None else []
    beyond += [f"{number} > {feature.most:f}"] if feature.most is not None else []
    return f"CASE WHEN {' OR '.join(beyond)} THEN NULL ELSE {code} END" if beyond else code


def number_expression(kind: str, cell: str, number: str) -> str:
    """The number in a cell for DuckDB, NULL if there is none; `number` is the cell as DOUBLE if it is text."""
    if kind == "FLOAT":  # by way of text: it is meant as it is written, not as the DOUBLE nearest to it
        cell = f"CAST({cell} AS VARCHAR)"
    if kind == "VARCHAR":
        return f"if(isfinite({number}), {number}, NULL)"  # 1e400 has a level, but no float
    return "NULL" if kind == "BOOLEAN" else f"CAST({cell} AS DOUBLE)"


def as_double(cell: str) -> str:
    """A text as DOUBLE for DuckDB, NULL where it is no number to us: `1_0` and `+-1` are to DuckDB."""
    return f"CASE WHEN NOT (contains({cell}, '_') OR contains({cell}, '+-')) THEN TRY_CAST({cell} AS DOUBLE) END"


def is_nan(cell: str) -> str:
    """The condition for DuckDB that a float is NaN."""
    # It takes `isnan` for false wherever the bounds that a Parquet file has of its numbers leave NaN out.
    return f"(NOT isfinite({cell}) AND NOT isinf({cell}))"


def group_expression(kind: str, cell: str) -> str:
    """The name of a group for DuckDB: '' if missing; floats that are whole are called as integers are."""
    text = f"coalesce(CAST({cell} AS VARCHAR), '')"
    if kind not in FLOATS:
        return text
    whole = f"CASE WHEN {_is_whole(cell)} THEN CAST(CAST({cell} AS BIGINT) AS VARCHAR) ELSE {text} END"
    return f"if({is_nan(cell)}, '', {whole})"


def as_given(value: object, *, has_gaps: bool) -> object:
    """A cell as a model sees it: decimals, and whole numbers in a column with gaps, are floats."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return float(cast("float", value)) if isinstance(value, Decimal) or (is_whole and has_gaps) else value


def as_read(value: object, kind: str) -> object:
    """A cell as DuckDB hands it over; it widens FLOAT, which is written differently then."""
    return np.float32(cast("float", value)) if kind == "FLOAT" and value is not None else value


def empty_expression(kind: str, cell: str) -> str:
    """The condition for DuckDB that a cell holds nothing."""
    also = {"VARCHAR": f" OR {cell} = ''"} | dict.fromkeys(FLOATS, f" OR {is_nan(cell)}")
    return f"({cell} IS NULL{also.get(kind, '')})"


def quote_sql(text: str) -> str:
    """Text as it stands in a query."""
    return "'" + text.replace("'", "''") + "'"


def looks_like(kind: str, cell: str) -> str:
    """The condition for DuckDB that a text is missing or is a value of a kind, as `fitting` says."""
    return f"({cell} IS NULL OR {cell} = '' OR regexp_full_match({cell}, {quote_sql(_WRITTEN[kind])}))"


def read_as(kind: str, cell: str) -> str:
    """A text as a value of a kind; nothing is missing."""
    text = f"nullif({cell}, '')"
    return text if kind == "VARCHAR" else f"CAST({text} AS {kind})"


def code_expression(feature: Feature, kind: str, cell: str, number: str) -> str:
    """The level number of a cell; NULL where `read_level` must decide. `number` is the cell as DOUBLE if it is text."""
    if is_range(feature) and (whole := _whole_expression(kind, cell)) is not None:
        return _range_expression(feature, whole)
    if kind == "VARCHAR":
        # About as fast as anything on Parquet and on CSV alike; a cast to ENUM takes three times as long on CSV.
        name = f"list_position([{', '.join(map(quote_sql, feature.levels))}], {cell}) - 1"
        if feature.kind != "numeric":
            return name
        cases = [f"WHEN {number} IS NULL OR NOT isfinite({number}) THEN NULL"]
        for code, edge in enumerate(feature.edges):
            # Rounding to DOUBLE keeps the order, so that only a number equal to the edge's DOUBLE may be elsewhere.
            here = code + (feature.closed == "left")
            spellings = [f"{edge:f}{zeros}" for zeros in (("",) if "." in f"{edge:f}" else ("", ".0", ".00"))]
            exact = f"CASE WHEN {cell} IN ({', '.join(map(quote_sql, spellings))}) THEN {here} END"
            double = f"CAST('{float(edge)!r}' AS DOUBLE)"
            cases += [f"WHEN {number} < {double} THEN {code}", f"WHEN {number} = {double} THEN {exact}"]
        return f"coalesce({name}, CASE {' '.join(cases)} ELSE {len(feature.edges)} END)"
    if kind == "BOOLEAN":
        known = {str(value): level_number(feature, value) for value in (True, False)}
    else:
        numbers = [number for number in map(as_decimal, feature.levels) if number is not None]
        known = {str(value): level_number(feature, value) for value in (_typed(n, kind) for n in numbers)}
    cases = [
        f"WHEN {cell} = TRY_CAST('{value}' AS {kind}) THEN {code}" for value, code in known.items() if code is not None
    ]
    if feature.kind == "numeric" and kind != "BOOLEAN":
        cases.insert(0, f"WHEN {cell} IS NULL THEN NULL")
        if kind in FLOATS:
            cases.insert(0, f"WHEN NOT isfinite({cell}) THEN NULL")
        below = (_below(cell, kind, edge, closed=feature.closed) for edge in feature.edges)
        cases += [f"WHEN {condition} THEN {code}" for code, condition in enumerate(below)]
        cases.append(f"ELSE {len(feature.edges)}")
    return f"CASE {' '.join(cases)} END" if cases else "NULL"


def _whole_expression(kind: str, cell: str) -> str | None:
    """A whole number in a cell as BIGINT, NULL if it is none; None if the cells are of another kind."""
    if kind == "VARCHAR":
        return f"CASE WHEN regexp_full_match({cell}, '-?(0|[1-9][0-9]{{0,14}})') THEN CAST({cell} AS BIGINT) END"
    if kind in FLOATS:
        return f"CASE WHEN {_is_whole(cell)} THEN CAST({cell} AS BIGINT) END"
    return f"TRY_CAST({cell} AS BIGINT)" if kind in BITS else None


def _is_whole(cell: str) -> str:
    """The condition for DuckDB that a float is a whole number; without the first part, NaN may pass as one."""
    return f"(isfinite({cell}) AND abs({cell}) < 1e15 AND {cell} = floor({cell}))"


def _range_expression(feature: Feature, whole: str) -> str:
    """The level number of a whole number that is a level's own; NULL where `read_level` must decide."""
    first, last, step = feature.least, feature.most, feature.step
    if first is None or last is None or step is None or first % 1 or step % 1:
        return "NULL"
    own = f"{whole} BETWEEN {first:f} AND {last:f} AND ({whole} - {first:f}) % {step:f} = 0"
    return f"CASE WHEN {own} THEN ({whole} - {first:f}) // {step:f} END"


def _below(cell: str, kind: str, edge: Decimal, *, closed: str) -> str:
    """The condition that a number lies below an edge: less than the first value of its type that does not."""

    def is_above(number: Decimal) -> bool:
        return number >= edge if closed == "left" else number > edge

    if kind in FLOATS:
        make = np.float32 if kind == "FLOAT" else np.float64
        near = make(float(edge))
        around = (np.nextafter(near, make(-np.inf)), near, np.nextafter(near, make(np.inf)))
        first = next(value for value in around if not np.isfinite(value) or is_above(Decimal(str(value))))
        return f"{cell} < CAST('{first}' AS {kind})"
    scaled = edge.scaleb(_scale(kind), _EXACT).to_integral_value(ROUND_FLOOR, _EXACT)
    while not is_above(scaled.scaleb(-_scale(kind), _EXACT)):
        scaled = _EXACT.add(scaled, 1)
    least = Decimal(0 if kind.startswith("U") else -(2 ** BITS[kind])) if kind in BITS else None
    most = Decimal(2 ** BITS[kind]) if kind in BITS else Decimal(10) ** int(kind[8:].partition(",")[0])
    if scaled >= most or scaled < (-most if least is None else least):  # beyond the type, and so is every value
        return "true" if scaled > 0 else "false"
    return f"{cell} < CAST('{scaled.scaleb(-_scale(kind), _EXACT):f}' AS {kind})"


def _typed(number: Decimal, kind: str) -> object:
    """A number as Python holds the nearest value of a DuckDB type."""
    if kind in BITS:
        return int(number)
    if kind == "FLOAT":
        with np.errstate(over="ignore"):
            return np.float32(float(number))
    return float(number) if kind == "DOUBLE" else number.quantize(Decimal(1).scaleb(-_scale(kind)), context=_EXACT)


def _scale(kind: str) -> int:
    """How many decimal places a whole or decimal type has."""
    return int(kind[:-1].partition(",")[2]) if kind.startswith("DECIMAL") else 0
