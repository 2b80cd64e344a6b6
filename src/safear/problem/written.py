"""How names, numbers, chances and costs are written in files: the forms that `document` puts together."""

from __future__ import annotations

import re
from collections.abc import KeysView
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, PlainValidator, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from safear.numerals import WHOLE_NUMBER
from safear.problem.model import JSON_NUMBER, read_flag
from safear.problem.scales import IN_UNIT
from safear.problem.tries import MOST_TRIES

_OTHER_DIGITS = re.compile(r"_|(?![0-9])\d")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")


def _read_name(value: object) -> object:
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, int | float | Decimal):
        value = str(value)
    if not isinstance(value, str):
        raise PydanticCustomError("name", "write a single name here")
    if not value.strip():
        raise PydanticCustomError("name", "a name is missing")
    return value


def read_number(value: object) -> object:
    """What may be a number: not a truth value, and not nothing."""
    if isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
        raise PydanticCustomError("number", "a number is missing")
    if isinstance(value, str) and _OTHER_DIGITS.search(value):  # which Python and pydantic would read
        raise PydanticCustomError("decimal_parsing", "")
    return value


def read_whole(value: object) -> object:
    """`+1` is a whole number, too."""
    number = read_number(value)
    return number.strip().removeprefix("+") if isinstance(number, str) else number


def _read_distance(value: object) -> int | str:
    """`+1` is a whole number, and `+500 EUR` a number with a unit."""
    text = str(read_number(value)).strip()
    if IN_UNIT.fullmatch(text):
        return text
    if not WHOLE_NUMBER.fullmatch(text):
        raise PydanticCustomError(
            "distance", "'{text}' is neither a number of levels nor an amount with its unit", {"text": text}
        )
    return int(Decimal(text))  # however many digits it has


def _read_value(value: object) -> object:
    """What a classifier sees for a level: a number if it reads as one, else a text."""
    if isinstance(value, str):
        return float(value) if JSON_NUMBER.fullmatch(value) else value
    if not isinstance(value, int | float | Decimal):
        raise PydanticCustomError("name", "write a single number or text here")
    return value


Name = Annotated[str, BeforeValidator(_read_name), WithJsonSchema({"type": ["string", "number", "boolean"]})]
Truth = Annotated[bool, BeforeValidator(lambda value: value if (said := read_flag(value)) is None else said)]
Text = Name  # the same form; a sentence or a condition instead of a name


def _read_language(value: object) -> object:
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise PydanticCustomError(
            "name", "'{text}' is no language; write its code, such as en or de", {"text": str(value)}
        )
    return value


Language = Annotated[str, BeforeValidator(_read_language)]
Entry = Annotated[  # of a record, where nothing is a value too
    str,
    BeforeValidator(lambda value: _read_name("null" if value is None else value)),
    WithJsonSchema({"type": ["string", "number", "boolean", "null"]}),
]
Number = Annotated[Decimal, BeforeValidator(read_number), WithJsonSchema({"type": "number"})]
NotNegative = Annotated[
    Decimal, Field(ge=0), BeforeValidator(read_number), WithJsonSchema({"type": "number", "minimum": 0})
]
Positive = Annotated[
    Decimal, Field(gt=0), BeforeValidator(read_number), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})
]
Whole = Annotated[int, BeforeValidator(read_whole)]
Distance = Annotated[  # levels, or an amount with its unit
    int | str,
    PlainValidator(_read_distance),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^[+-]?\d+(\.\d+)?( .+)?$"}]}),
]
Value = Annotated[float | str, BeforeValidator(_read_value), WithJsonSchema({"type": ["number", "string"]})]


# The forms that a chance, a cost or a change may have. The tags show up in pydantic's error paths, where
# `TAGS` takes them out again; the angle brackets keep them apart from names in files.
TAGS = frozenset(
    f"\0{tag}"
    for tag in (
        *("number", "interval", "by level", "by case", "case", "effect", "name", "by feature"),
        *("sourced", "counts", "plain", "counted case", "by language"),
    )
)


def shape(**tags: str) -> Discriminator:
    """Choose a form by whether a scalar, a list or a mapping stands there: an error then speaks of that form only."""

    def choose(value: object) -> str:
        if isinstance(value, dict | BaseModel):
            return tags.get("mapping", tags["scalar"])
        if isinstance(value, list | tuple):
            holds_cases = any(isinstance(item, dict | BaseModel) for item in value)
            return tags.get("cases" if holds_cases else "list", tags.get("cases", tags["scalar"]))
        return tags["scalar"]

    return Discriminator(choose)


WrittenLabel = Annotated[  # a text for everybody, or one per language
    Annotated[Text, Tag("\0plain")] | Annotated[dict[Language, Text], Field(min_length=1), Tag("\0by language")],
    shape(scalar="\0plain", mapping="\0by language"),
]


MaybeWrittenLabel = Annotated[WrittenLabel | None, BeforeValidator(lambda value: None if value == "" else value)]


def _of_amount(value: object) -> str:
    """Which of the forms of a number: with a source, by counts, or plain."""
    if isinstance(value, dict) and {"value", "source"} <= value.keys():
        return "\0sourced"
    return "\0counts" if isinstance(value, dict) and _are_counts(value.keys()) else "\0plain"


def _are_counts(keys: KeysView[object]) -> bool:
    """Whether this is meant as counts, even if one of them was forgotten."""
    return {"worked", "tried"} <= keys or (bool({"worked", "tried"} & keys) and keys <= {"worked", "tried", "source"})


def _of_cost(value: object) -> str:
    return "\0sourced" if _of_amount(value) == "\0sourced" else "\0plain"


def _of_table(value: object) -> str:
    """In a table: an amount of a level, or the table of a feature."""
    return "\0by feature" if isinstance(value, dict) and _of_amount(value) == "\0plain" else "\0number"


def _of_list(value: object) -> str:
    """In a list: a case, or what holds otherwise."""
    if not isinstance(value, dict) or (_of_amount(value) != "\0plain" and "when" not in value):
        return "\0number"
    return "\0counted case" if {"worked", "tried"} & value.keys() else "\0case"


class Written(BaseModel):
    """What all parts of a problem file have in common: no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


Interval = Annotated[list[Number], Field(min_length=2, max_length=3, description="[low, high] or [low, nominal, high]")]
PlainChance = Annotated[
    Annotated[Number, Tag("\0number")] | Annotated[Interval, Tag("\0interval")],
    shape(scalar="\0number", list="\0interval"),
]


class WrittenCounts(Written):
    """A chance, by how often it worked."""

    worked: Annotated[int, Field(ge=0, le=MOST_TRIES), BeforeValidator(read_whole)]
    tried: Annotated[int, Field(ge=1, le=MOST_TRIES), BeforeValidator(read_whole)]
    source: Text | None = None


class SourcedChanceAmount(Written):
    """A chance in a table or list, and where it comes from."""

    value: PlainChance
    source: Text


class SourcedCostAmount(Written):
    """A cost in a table or list, and where it comes from."""

    value: Number
    source: Text


ChanceAmount = Annotated[
    Annotated[PlainChance, Tag("\0plain")]
    | Annotated[SourcedChanceAmount, Tag("\0sourced")]
    | Annotated[WrittenCounts, Tag("\0counts")],
    Discriminator(_of_amount),
]
CostAmount = Annotated[
    Annotated[Number, Tag("\0plain")] | Annotated[SourcedCostAmount, Tag("\0sourced")], Discriminator(_of_cost)
]


class ChanceCase(Written):
    """The chance where a condition holds."""

    when: Text
    chance: ChanceAmount
    source: Text | None = None


class CountedCase(WrittenCounts):
    """The same, by how often it worked."""

    when: Text


class CostCase(Written):
    """The cost where a condition holds."""

    when: Text
    cost: CostAmount
    source: Text | None = None


ChanceTable = Annotated[
    Annotated[ChanceAmount, Tag("\0number")] | Annotated[dict[Name, ChanceAmount], Tag("\0by feature")],
    Discriminator(_of_table),
]
CostTable = Annotated[
    Annotated[CostAmount, Tag("\0number")] | Annotated[dict[Name, CostAmount], Tag("\0by feature")],
    Discriminator(_of_table),
]
ChanceEntry = Annotated[
    Annotated[ChanceCase, Tag("\0case")]
    | Annotated[CountedCase, Tag("\0counted case")]
    | Annotated[ChanceAmount, Tag("\0number")],
    Discriminator(_of_list),
]
CostEntry = Annotated[
    Annotated[CostCase, Tag("\0case")] | Annotated[CostAmount, Tag("\0number")],
    Discriminator(lambda value: "\0number" if _of_list(value) == "\0number" else "\0case"),
]
_CASES = Field(json_schema_extra={"contains": {"type": "object"}})
VaryingChance = Annotated[
    Annotated[Number, Tag("\0number")]
    | Annotated[Interval, Tag("\0interval")]
    | Annotated[dict[Name, ChanceTable], Field(min_length=1), Tag("\0by level")]
    | Annotated[list[ChanceEntry], _CASES, Tag("\0by case")],
    shape(scalar="\0number", list="\0interval", mapping="\0by level", cases="\0by case"),
]
VaryingCost = Annotated[
    Annotated[Number, Tag("\0number")]
    | Annotated[dict[Name, CostTable], Field(min_length=1), Tag("\0by level")]
    | Annotated[list[CostEntry], _CASES, Tag("\0by case")],
    shape(scalar="\0number", mapping="\0by level", cases="\0by case"),
]


class SourcedChance(Written):
    """A chance in any form, and where its numbers come from."""

    value: VaryingChance
    source: Text


class SourcedCost(Written):
    """A cost in any form, and where its numbers come from."""

    value: VaryingCost
    source: Text


Chance = Annotated[
    Annotated[VaryingChance, Tag("\0plain")]
    | Annotated[SourcedChance, Tag("\0sourced")]
    | Annotated[WrittenCounts, Tag("\0counts")],
    Discriminator(_of_amount),
]
Cost = Annotated[
    Annotated[VaryingCost, Tag("\0plain")] | Annotated[SourcedCost, Tag("\0sourced")], Discriminator(_of_cost)
]
Case = ChanceCase | CountedCase | CostCase
