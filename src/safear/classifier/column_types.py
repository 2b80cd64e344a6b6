"""What the values of one column must be for a model, and how they are brought to that form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from safear.classifier.raw_answers import label_name
from safear.problem.model import TRUTHS, as_decimal

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ColumnType:
    """What a model was trained on in one column.

    `number`; `known`: one of `values`, which an encoder has learned; `category`: the same, as a category of pandas;
    `text`: names or whole numbers, whichever; `any`: the model does not say.
    """

    kind: Literal["number", "known", "category", "text", "any"] = "any"
    values: tuple[object, ...] = ()

    @cached_property
    def missing(self) -> object:
        """How a missing value is written: as in training, else NaN."""
        return None if any(value is None for value in self.values) else np.nan

    @cached_property
    def by_name(self) -> Mapping[str, object]:
        """The values by what they are called."""
        return {label_name(value): value for value in self.values if not _is_missing(value)}

    @cached_property
    def _by_meaning(self) -> Mapping[str, object]:
        """By number or truth; what two values could mean, neither does."""
        found: dict[str, list[object]] = {}
        for value in self.by_name.values():
            found.setdefault(_meaning(value), []).append(value)
        return {meaning: values[0] for meaning, values in found.items() if len(values) == 1}

    def find(self, value: object) -> object | None:
        """The value of training that this one is another form of: 1 for '1', True for 'true'; None if there is none."""
        known = self.by_name.get(label_name(value))
        return self._by_meaning.get(_meaning(value)) if known is None else known

    def holds_truths(self, column: pd.Series[Any]) -> bool:
        """Whether a column of names or whole numbers has truth values alone, whose spelling may matter."""
        if self.kind != "text":
            return False
        names = {label_name(value).lower() for value in column.dropna().unique().tolist()}
        return bool(names) and names <= TRUTHS.keys()

    def convert(self, column: pd.Series[Any]) -> Any:
        """A column in the form of training. A value that has no such form stays: the model says what it thinks."""
        import pandas as pd  # noqa: PLC0415  # a quarter of a second that rules and tables do not need

        if self.kind == "any" or (self.kind == "number" and pd.api.types.is_numeric_dtype(column.dtype)):
            return column
        codes, distinct = pd.factorize(column)  # -1 where a value is missing
        forms = [self._form(value) for value in distinct.tolist()]
        if self.kind == "category":
            unknown = [form for form in dict.fromkeys(forms) if self.find(form) is None]
            categories = pd.Index([*self.by_name.values(), *unknown])
            positions = np.append(categories.get_indexer(pd.Index(forms)), -1)
            return pd.Categorical.from_codes(positions[codes], categories=categories)
        if (codes < 0).any():
            forms.append(self.missing)
        return _array(forms, like=list(self.by_name.values()) or [0.0])[codes]

    def _form(self, value: object) -> object:
        if self.kind == "number":
            number = as_decimal(_meaning(value))
            return value if number is None else float(number)
        if self.kind == "text":
            return int(value) if isinstance(value, float) and value.is_integer() else value
        found = self.find(value)
        return value if found is None else found


ANY = ColumnType()
NUMBER = ColumnType("number")
TEXT = ColumnType("text")


def _is_missing(value: Any) -> bool:
    """Whether pandas takes a value for missing."""
    import pandas as pd  # noqa: PLC0415

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _array(values: list[object], like: list[object]) -> np.ndarray[Any, Any]:
    """Truth values, whole numbers or numbers, if all are, also those of training; else objects."""
    kinds, known = {type(value) for value in values}, {type(value) for value in like}
    if kinds == known == {bool}:
        return np.array(values)
    if kinds <= {int, float} and known <= {int, float}:
        return np.array(values, dtype=float if float in kinds else int)
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


def _meaning(value: object) -> str:
    """What a value says whatever its form: 1 for 1.0, '01', True and 'true'."""
    text = label_name(value).strip()
    truth = TRUTHS.get(text.lower())
    number = as_decimal(text if truth is None else int(truth))
    return text if number is None else str(number.normalize()) if number else "0"
