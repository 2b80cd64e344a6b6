"""The problem file as it is written: pydantic models for its shape, and the JSON Schema made from them.

Only the shape is checked here (which fields, of which form). What the words mean is checked in `checks`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from safear.problem.model import JSON_NUMBER


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


def _read_number(value: object) -> object:
    if isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
        raise PydanticCustomError("number", "a number is missing")
    return value


def _read_whole(value: object) -> object:
    """`+1` is a whole number, too."""
    number = _read_number(value)
    return number.strip().removeprefix("+") if isinstance(number, str) else number


def _read_value(value: object) -> object:
    """What a classifier sees for a level: a number if it reads as one, else a text."""
    if isinstance(value, str):
        return float(value) if JSON_NUMBER.fullmatch(value) else value
    if not isinstance(value, int | float | Decimal):
        raise PydanticCustomError("name", "write a single number or text here")
    return value


Name = Annotated[str, BeforeValidator(_read_name), WithJsonSchema({"type": ["string", "number", "boolean"]})]
Text = Name  # the same form; a sentence or a condition instead of a name
Entry = Annotated[  # of a record, where nothing is a value too
    str,
    BeforeValidator(lambda value: _read_name("null" if value is None else value)),
    WithJsonSchema({"type": ["string", "number", "boolean", "null"]}),
]
Number = Annotated[Decimal, BeforeValidator(_read_number), WithJsonSchema({"type": "number"})]
NotNegative = Annotated[
    Decimal, Field(ge=0), BeforeValidator(_read_number), WithJsonSchema({"type": "number", "minimum": 0})
]
Positive = Annotated[
    Decimal, Field(gt=0), BeforeValidator(_read_number), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})
]
Whole = Annotated[int, BeforeValidator(_read_whole)]
Value = Annotated[float | str, BeforeValidator(_read_value), WithJsonSchema({"type": ["number", "string"]})]

# The forms that a chance, a cost or a change may have. The tags show up in pydantic's error paths, where
# `TAGS` takes them out again; the angle brackets keep them apart from names in files.
TAGS = frozenset(
    f"\0{tag}" for tag in ("number", "interval", "by level", "by case", "case", "effect", "name", "by feature")
)


def _shape(**tags: str) -> Discriminator:
    """Choose a form by whether a scalar, a list or a mapping stands there: an error then speaks of that form only."""

    def choose(value: object) -> str:
        if isinstance(value, dict | BaseModel):
            return tags.get("mapping", tags["scalar"])
        if isinstance(value, list | tuple):
            holds_cases = any(isinstance(item, dict | BaseModel) for item in value)
            return tags.get("cases" if holds_cases else "list", tags.get("cases", tags["scalar"]))
        return tags["scalar"]

    return Discriminator(choose)


Interval = Annotated[list[Number], Field(min_length=2, max_length=3, description="[low, high] or [low, nominal, high]")]
ChanceAmount = Annotated[
    Annotated[Number, Tag("\0number")] | Annotated[Interval, Tag("\0interval")],
    _shape(scalar="\0number", list="\0interval"),
]


class Written(BaseModel):
    """What all parts of a problem file have in common: no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ChanceCase(Written):
    """The chance where a condition holds."""

    when: Text
    chance: ChanceAmount


class CostCase(Written):
    """The cost where a condition holds."""

    when: Text
    cost: Number


ChanceTable = Annotated[
    Annotated[ChanceAmount, Tag("\0number")] | Annotated[dict[Name, ChanceAmount], Tag("\0by feature")],
    _shape(scalar="\0number", mapping="\0by feature"),
]
CostTable = Annotated[
    Annotated[Number, Tag("\0number")] | Annotated[dict[Name, Number], Tag("\0by feature")],
    _shape(scalar="\0number", mapping="\0by feature"),
]
ChanceEntry = Annotated[
    Annotated[ChanceCase, Tag("\0case")] | Annotated[ChanceAmount, Tag("\0number")],
    _shape(scalar="\0number", mapping="\0case"),
]
CostEntry = Annotated[
    Annotated[CostCase, Tag("\0case")] | Annotated[Number, Tag("\0number")],
    _shape(scalar="\0number", mapping="\0case"),
]
_CASES = Field(json_schema_extra={"contains": {"type": "object"}})
Chance = Annotated[
    Annotated[Number, Tag("\0number")]
    | Annotated[Interval, Tag("\0interval")]
    | Annotated[dict[Name, ChanceTable], Field(min_length=1), Tag("\0by level")]
    | Annotated[list[ChanceEntry], _CASES, Tag("\0by case")],
    _shape(scalar="\0number", list="\0interval", mapping="\0by level", cases="\0by case"),
]
Cost = Annotated[
    Annotated[Number, Tag("\0number")]
    | Annotated[dict[Name, CostTable], Field(min_length=1), Tag("\0by level")]
    | Annotated[list[CostEntry], _CASES, Tag("\0by case")],
    _shape(scalar="\0number", mapping="\0by level", cases="\0by case"),
]


class WrittenEffect(Written):
    """The long form of a change: exactly one of `to` and `by`."""

    to: Name | None = None
    by: Whole | None = None


Change = dict[
    Name,
    Annotated[
        Annotated[Name, Tag("\0name")] | Annotated[WrittenEffect, Tag("\0effect")],
        _shape(scalar="\0name", mapping="\0effect"),
    ],
]


class WrittenFeature(Written):
    """One feature."""

    kind: Literal["ordinal", "nominal", "numeric"]
    levels: list[Name] | None = None
    edges: list[Number] | None = None
    closed: Literal["left", "right"] = "left"
    values: list[Value] | None = None
    step: Positive | None = None
    min: Number | None = None
    max: Number | None = None
    unit: str = ""
    missing: Name | None = None
    mutable: bool = True
    actionable: bool = True
    seen_by_classifier: bool = True


class WrittenOutcome(Written):
    """One way in which an action may end."""

    chance: Chance | None = None
    change: Change = Field(default_factory=dict)
    cost: Cost | None = None
    label: Text | None = None
    works: bool | None = None


class WrittenAction(Written):
    """One action, in the short form (`chance`, `change`) or the long one (`outcomes`)."""

    cost: Cost
    when: Text | None = None
    chance: Chance | None = None
    change: Change | None = None
    outcomes: list[WrittenOutcome] | None = None


class WrittenSideEffect(Written):
    """A change that follows from another."""

    cause: Name
    change: Annotated[Change, Field(min_length=1)]
    direction: Literal["up", "down", "any"] = "any"
    when: Text | None = None


class WrittenGoal(Written):
    """What the person wants."""

    favourable: Name | None = None
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    failure_cost: NotNegative = Field(default=Decimal(0), json_schema_extra={"default": 0})
    promise: Literal["value", "range", "narrow"] = "narrow"


class WrittenCost(Written):
    """What costs are counted in."""

    unit: Text = "units"
    resolution: Positive | None = None


class WrittenClassifier(Written):
    """A rule: favourable where the condition holds."""

    rule: Text


class Document(Written):
    """A SafeAR problem file."""

    safear: Annotated[Literal[1], BeforeValidator(lambda value: 1 if str(value) == "1" else value)]
    title: Text
    description: str = ""
    horizon: Annotated[int, Field(ge=1, le=1000), BeforeValidator(_read_number)]
    cost: WrittenCost = Field(default_factory=WrittenCost)
    features: Annotated[dict[Name, WrittenFeature], Field(min_length=1)]
    given: list[Name] = Field(default_factory=list)
    goal: WrittenGoal = Field(default_factory=WrittenGoal)
    classifier: WrittenClassifier | None = None
    actions: Annotated[dict[Name, WrittenAction], Field(min_length=1)]
    side_effects: list[WrittenSideEffect] = Field(default_factory=list)
    constraints: list[Text] = Field(default_factory=list)
    people: dict[Name, dict[Name, Entry]] = Field(default_factory=dict)


class WrittenActionTerms(Written):
    """What one action means for one person."""

    cost: Cost | None = None
    chance: Chance | None = None
    outcomes: list[WrittenOutcome] | None = None


class TermsDocument(Written):
    """Personal terms."""

    actions: dict[Name, WrittenActionTerms] = Field(default_factory=dict)
    forbid: list[Name] = Field(default_factory=list)


def problem_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a problem file."""
    schema: dict[str, Any] = _any_of(Document.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _any_of(schema: Any) -> Any:
    """The schema with `anyOf` for `oneOf`: `[0.9, 0.99]` has the form of an interval and of a list of cases."""
    if isinstance(schema, list):
        return [_any_of(item) for item in schema]
    if isinstance(schema, dict):
        return {"anyOf" if key == "oneOf" else key: _any_of(value) for key, value in schema.items()}
    return schema


def fields_at(document: type[Written], path: tuple[str | int, ...]) -> list[str]:
    """The fields that may stand at a path of a document, for suggestions."""
    match path:
        case ():
            model: type[Written] = document
        case ("features", _):
            model = WrittenFeature
        case ("actions", _):
            model = WrittenActionTerms if document is TermsDocument else WrittenAction
        case ("actions", _, "outcomes", int()):
            model = WrittenOutcome
        case ("side_effects", int()):
            model = WrittenSideEffect
        case ("goal",):
            model = WrittenGoal
        case ("cost",):
            model = WrittenCost
        case ("classifier",):
            model = WrittenClassifier
        case (*_, "chance", int()):
            model = ChanceCase
        case (*_, "cost", int()):
            model = CostCase
        case _:
            model = WrittenEffect
    return list(model.model_fields)
