"""The problem file as it is written: pydantic models for its shape, and the JSON Schema made from them.

Only the shape is checked here (which fields, of which form). What the words mean is checked in `checks`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from safear.problem.quantity import CONFIDENCE
from safear.problem.scales import MAX_LEVELS
from safear.problem.written import (
    Chance,
    ChanceCase,
    Cost,
    CostCase,
    Distance,
    Entry,
    MaybeWrittenLabel,
    Name,
    NotNegative,
    Number,
    Positive,
    SourcedChance,
    Text,
    Truth,
    Value,
    Written,
    WrittenCounts,
    WrittenLabel,
    read_number,
    read_whole,
    shape,
)

MAX_EXPONENT = 15  # of numbers that are written out one by one


class WrittenEffect(Written):
    """The long form of a change: exactly one of `to` and `by`; `per` so much of the cause of a side effect."""

    to: Name | None = None
    by: Distance | None = None
    per: Distance | None = None


Change = dict[
    Name,
    Annotated[
        Annotated[Name, Tag("\0name")] | Annotated[WrittenEffect, Tag("\0effect")],
        shape(scalar="\0name", mapping="\0effect"),
    ],
]


class WrittenFeature(Written):
    """One feature."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["kind"]}, {"required": ["range"]}]})

    kind: Literal["ordinal", "nominal", "numeric"] | None = None
    range: Annotated[list[Number], Field(min_length=2, max_length=2, description="[first, last]")] | None = None
    levels: list[Name] | None = None
    edges: list[Number] | None = None
    closed: Literal["left", "right"] = "left"
    values: list[Value] | None = None
    step: Positive | None = None
    min: Number | None = None
    max: Number | None = None
    unit: MaybeWrittenLabel = None
    missing: Name | None = None
    mutable: Truth = True
    actionable: Truth = True
    seen_by_classifier: Truth = True
    hidden: Truth = False
    at_most: Distance | None = None
    label: WrittenLabel | None = None
    labels: dict[Name, WrittenLabel] = Field(default_factory=dict, description="What levels are called")
    help: WrittenLabel | None = None

    @model_validator(mode="after")
    def _check_scale(self) -> Self:
        """A kind or a range; with a range, nothing that follows from it."""
        found = ("kind", "missing", "'kind' is missing", "") if self.kind is None else None
        if self.range is not None:
            found = _check_range(self)
        if found is None:
            return self
        field, code, cause, remedy = found
        values = {"field": field, "code": code, "cause": cause, "remedy": remedy}
        raise PydanticCustomError("feature", "{cause}", values)


def _check_range(written: WrittenFeature) -> tuple[str, str, str, str] | None:
    """What is wrong with a range: the field, a code, the cause and the remedy."""
    first, last = written.range or [Decimal(0), Decimal(0)]
    step = Decimal(1) if written.step is None else written.step
    for field in ("levels", "edges", "values", "min", "max"):
        if getattr(written, field) is not None:
            return field, "both", f"'range' and '{field}' are both given", f"drop the {field}: the range says it"
    if written.kind not in {None, "numeric"}:
        return "kind", "both", f"a range makes a numeric feature, and '{written.kind}' is given", "drop the kind"
    if not all(abs(number.adjusted()) <= MAX_EXPONENT for number in (first, last, step)):
        return "range", "out_of_range", f"[{first}, {last}] is too large or too small", ""
    if not first < last:
        return "range", "not_ascending", f"[{first}, {last}] is not in order", "write [first, last]"
    if (last - first) / step >= MAX_LEVELS:
        cause = f"{int((last - first) / step) + 1} levels; at most {MAX_LEVELS} are possible"
        return "range", "too_many", cause, "give a larger 'step', or cut the numbers into levels with 'edges'"
    odd = next((number for number in (first, last) if number % step), None)
    if odd is not None:
        return "range", "out_of_range", f"{odd} is not a multiple of the step {step}", "give one, or change the step"
    return None


class WrittenOutcome(Written):
    """One way in which an action may end."""

    chance: Chance | None = None
    change: Change = Field(default_factory=dict)
    cost: Cost | None = None
    label: WrittenLabel | None = None
    works: Truth | None = None


class WrittenAction(Written):
    """One action, in the short form (`chance`, `change`) or the long one (`outcomes`)."""

    cost: Cost
    when: Text | None = None
    at_most: Annotated[int, Field(ge=1), BeforeValidator(read_whole)] | None = None
    once: Truth = False
    duration: Text | None = Field(default=None, description="how long a try takes, such as 3 months: for dates alone")
    chance: Chance | None = None
    change: Change | None = None
    outcomes: list[WrittenOutcome] | None = None
    label: WrittenLabel | None = None
    help: WrittenLabel | None = None


class WrittenSideEffect(Written):
    """A change that follows from another."""

    cause: Name
    change: Annotated[Change, Field(min_length=1)]
    direction: Literal["up", "down", "any"] = "any"
    when: Text | None = None


class WrittenDecision(Written):
    """What people are told of the decision."""

    accepted: WrittenLabel | None = None
    rejected: WrittenLabel | None = None


class WrittenGoal(Written):
    """What the person wants."""

    favourable: Name | None = None
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(read_number)] | None = None
    aim: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(read_number)] | None = None
    agree: Literal["all"] | Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), BeforeValidator(read_number)] = (
        "all"
    )
    failure_cost: NotNegative = Field(default=Decimal(0), json_schema_extra={"default": 0})
    promise: Literal["value", "range", "narrow"] = "narrow"
    stop: Truth = True
    label: WrittenLabel | None = None
    decision: WrittenDecision = Field(default_factory=WrittenDecision)


class WrittenCost(Written):
    """What costs are counted in."""

    unit: WrittenLabel = "units"
    resolution: Positive | None = None


class WrittenGiven(Written):
    """A column that the classifier sees as filed."""

    label: WrittenLabel | None = None
    help: WrittenLabel | None = None


class WrittenProvider(Written):
    """Who decides, how to reach them, and where to appeal."""

    name: WrittenLabel | None = None
    contact: WrittenLabel | None = None
    appeal: WrittenLabel | None = None


class WrittenClassifier(Written):
    """A rule: favourable where the condition holds."""

    rule: Text


Given = Annotated[  # their names alone, or with labels
    Annotated[list[Name], Tag("\0plain")] | Annotated[dict[Name, WrittenGiven], Tag("\0by feature")],
    shape(scalar="\0plain", mapping="\0by feature"),
]


class Document(Written):
    """A SafeAR problem file."""

    safear: Annotated[Literal[1], BeforeValidator(lambda value: 1 if str(value) == "1" else value)]
    title: WrittenLabel
    description: MaybeWrittenLabel = None
    horizon: Annotated[int, Field(ge=1, le=1000), BeforeValidator(read_number)]
    cost: WrittenCost = Field(default_factory=WrittenCost)
    confidence: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False), BeforeValidator(read_number)] = CONFIDENCE
    features: Annotated[dict[Name, WrittenFeature], Field(min_length=1)]
    given: Given = Field(default_factory=list)
    goal: WrittenGoal = Field(default_factory=WrittenGoal)
    classifier: WrittenClassifier | None = None
    actions: Annotated[dict[Name, WrittenAction], Field(min_length=1)]
    side_effects: list[WrittenSideEffect] = Field(default_factory=list)
    constraints: list[Text] = Field(default_factory=list)
    people: dict[Name, dict[Name, Entry]] = Field(default_factory=dict)
    provider: WrittenProvider = Field(default_factory=WrittenProvider)


class WrittenActionTerms(Written):
    """What one action means for one person."""

    cost: Cost | None = None
    chance: Chance | None = None
    outcomes: list[WrittenOutcome] | None = None


# A name, or several that are as hard as each other.
Tier = Annotated[list[Name], BeforeValidator(lambda tier: tier if isinstance(tier, list) else [tier])]


class TermsDocument(Written):
    """Personal terms."""

    actions: dict[Name, WrittenActionTerms] = Field(default_factory=dict)
    forbid: list[Name] = Field(default_factory=list)
    rank: list[Tier] = Field(default_factory=list)


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


_PARTS: dict[tuple[str | int, ...], type[Written]] = {  # "" is a name or a number
    ("features", ""): WrittenFeature,
    ("given", ""): WrittenGiven,
    ("actions", ""): WrittenAction,
    ("actions", "", "outcomes", ""): WrittenOutcome,
    ("side_effects", ""): WrittenSideEffect,
    ("goal",): WrittenGoal,
    ("goal", "decision"): WrittenDecision,
    ("cost",): WrittenCost,
    ("classifier",): WrittenClassifier,
    ("provider",): WrittenProvider,
}


def fields_at(document: type[Written], path: tuple[str | int, ...]) -> list[str]:
    """The fields that may stand at a path of a document, for suggestions."""
    match path:
        case ():
            model: type[Written] = document
        case ("actions", _) if document is TermsDocument:
            model = WrittenActionTerms
        case ("actions", _, ("chance" | "cost") as word, *inner):
            return _fields_of_amount(word, inner)
        case ("actions", _, "outcomes", int(), ("chance" | "cost") as word, *inner):
            return _fields_of_amount(word, inner)
        case _:
            shape = tuple("" if isinstance(part, int) or 0 < at < 2 else part for at, part in enumerate(path))
            model = _PARTS.get(shape, _PARTS.get(path, WrittenEffect))
    return list(model.model_fields)


def _fields_of_amount(word: str, inner: list[str | int]) -> list[str]:
    """What may stand in a mapping that is a number, or a case in a list of them."""
    is_case, is_chance = isinstance(inner[-1] if inner else None, int), word == "chance"
    models: list[type[Written]] = [CostCase if word == "cost" else ChanceCase] if is_case else [SourcedChance]
    models += [WrittenCounts] if is_chance else []
    return list(dict.fromkeys(name for model in models for name in model.model_fields))
