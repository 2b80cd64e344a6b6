"""The file of a plan: its shape, its text and its checksum.

One JSON document, a line per state, so that people can read it and programs can compare it; the same plan gives the
same bytes. The checksum is the SHA-256 of the text without it. It finds damage and edits. It is no signature: whoever
changes a file on purpose can also give it another checksum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from safear.errors import Place, PlanError

FORMAT: Literal[1] = 1
LISTS = ("promises", "actions", "states")  # which have a line per item
AS_SAVED = "use the file as it was saved, or save the plan again"
Scalar = bool | int | float | str | None
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Chance = Annotated[float, Field(ge=0)]  # `check_mdp` says whether they add up
Cost = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class FormPart(BaseModel):
    """What all parts of the file have in common: nothing more than what is declared, nothing converted, no NaN."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


Label = dict[str, str]  # language -> text; "" is for everybody


class WordsForm(FormPart):
    """What people read instead of the names in the plan, as the problem had it."""

    features: dict[str, Label] = {}
    levels: dict[str, dict[str, Label]] = {}
    actions: dict[str, Label] = {}
    goal: Label | None = None
    texts: dict[str, Label] = {}


class ProblemForm(FormPart):
    """The problem that a plan is for, with the person's own terms. `parts` are hashes that say where another differs.

    `stop` says that plans that have lost the goal do nothing more. Costs are whole multiples of `quantum`; `goal` is
    the problem's name for the favourable decision.
    """

    title: str
    hash: Hash
    parts: dict[str, str]
    horizon: Annotated[int, Field(ge=1, le=1000)]
    unit: str
    stop: bool
    quantum: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,29}(/[1-9][0-9]{0,29})?$")]
    failure_cost: Cost
    goal: str | None
    words: WordsForm = WordsForm()


class AnswersForm(FormPart):
    """What the model answered about all states that the person can reach."""

    states: Count
    hash: Hash


class PersonForm(FormPart):
    """Whose plan it is.

    `hash` is that of the record, without salt: whoever guesses a record can tell that it is this one. Without personal
    data there is neither, and `levels` has only what the plan changes. What is `hidden` is bookkeeping: of which action
    it counts the tries, or nothing.
    """

    record: dict[str, Scalar] | None
    hash: Hash | None
    levels: dict[str, str]
    hidden: dict[str, str]


class BeforeForm(FormPart):
    """What came before a plan that goes on with an earlier one: what was `spent`, and the `hash` of the first record.

    Without personal data there is no hash.
    """

    spent: Cost
    hash: Hash | None = None


Ends = tuple[Cost, Cost]


class RangesForm(FormPart):
    """From where to where each figure can be if chances lie anywhere in their intervals."""

    success: Ends
    mean: Ends
    var: Ends
    cvar: Ends


class FiguresForm(FormPart):
    """The exact figures over all runs; failures pay the failure cost. `var` and `cvar` are at the plan's level.

    There are no `ranges` if the plan meets no interval.
    """

    success: Annotated[float, Field(ge=0, le=1)]
    mean: Cost
    var: Cost
    cvar: Cost
    ranges: RangesForm | None = None


class PromiseForm(FormPart):
    """What a number is brought to when its feature comes to a level; both ends included."""

    feature: str
    level: str
    low: float
    high: float
    unit: str = ""


class OutcomeForm(FormPart):
    """One way an action may end: its number in the problem, and what it changes, what matters most first.

    `low` and `high` are the ends of its chance, where that is an interval.
    """

    outcome: Annotated[int, Field(ge=0, le=255)]
    works: bool
    chance: Chance
    low: Chance | None = None
    high: Chance | None = None
    cost: Cost
    label: str | None = None
    change: list[str] = []


class ActionForm(FormPart):
    """An action as it is offered in some states."""

    action: str
    outcomes: Annotated[list[OutcomeForm], Field(min_length=1, max_length=256)]


class WhenForm(FormPart):
    """After how many steps, and with how much spent, something is done; both ends included.

    `spent` is None if it does not matter, and its upper end is None if there is none.
    """

    steps: tuple[Count, Count]
    spent: tuple[Cost, Cost | None] | None = None


class ChoiceForm(FormPart):
    """What is done in a state, when, and to which state each outcome leads. Actions and states are numbers."""

    action: Count
    when: Annotated[list[WhenForm], Field(min_length=1)]
    next: list[Count]


class StateForm(FormPart):
    """A state that the plan can reach: what differs from the start, whether it ends there, and what is done.

    `stuck` says that no action is left, and `away` in how few steps any plan may reach a goal, None if none can.
    """

    changed: dict[str, str]
    goal: bool = False
    stuck: bool = False
    away: Count | None = None
    do: Annotated[list[ChoiceForm], Field(max_length=254)] = []


class PlanForm(FormPart):
    """A plan as it stands in a file.

    There are no `answers` without personal data: their hash is one of all that the person may become, so whoever has
    the model can guess whom it is of.
    """

    safear_plan: Literal[1]
    safear: str
    problem: ProblemForm
    answers: AnswersForm | None
    person: PersonForm
    before: BeforeForm | None = None
    plan: str
    objectives: Annotated[list[str], Field(min_length=1)]
    method: str
    robust: bool
    seed: int | None
    level: Annotated[float, Field(ge=0, le=1)]
    figures: FiguresForm
    promises: list[PromiseForm]
    actions: list[ActionForm]
    states: list[StateForm]
    start: Count

    @property
    def text(self) -> str:
        """The file, checksum and all."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        checksum = digest(_render(content))
        return _render(content | {"checksum": checksum})

    @classmethod
    def read(cls, text: str, place: Place | None = None) -> Self:
        """The plan of a text. Raises a PlanError if it is damaged, was edited, or is of a later version."""
        place = Place() if place is None else place
        try:
            number = _Head.model_validate_json(text).safear_plan
        except ValueError:
            cause, remedy = "is not a saved plan, or only a part of one", "name a file that safear has saved"
            raise PlanError.at(place, cause, remedy, code="damaged") from None
        if number > FORMAT:
            cause = f"has the format {number}, which a later version of safear writes; this one reads {FORMAT}"
            raise PlanError.at(place, cause, "install a later version", code="newer")
        try:
            whole = _Whole.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = Place((*place.path, *first["loc"]), file=place.file)
            raise PlanError.at(where, f"is damaged: {first['msg']}", AS_SAVED, code="damaged") from None
        form = cls(**{name: getattr(whole, name) for name in cls.model_fields})
        if form.text != text.replace("\r\n", "\n"):
            cause = "was changed after it was saved: its checksum does not fit"
            raise PlanError.at(place, cause, AS_SAVED, code="edited")
        return form


class _Head(BaseModel):
    """What is looked at first."""

    model_config = ConfigDict(strict=True)
    safear_plan: Annotated[int, Field(ge=1)]


class _Whole(PlanForm):
    """With what stands at the end of the file."""

    checksum: Hash


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_value(value: object) -> str:
    """The SHA-256 of whatever JSON can hold, whatever the order of its names."""
    return digest(json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False))


def _render(content: Mapping[str, Any]) -> str:
    return "{\n" + ",\n".join(_lines(content)) + "\n}\n"


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    for name, value in content.items():
        if name in LISTS and value:
            items = ",\n".join(f"    {_write(item)}" for item in value)
            yield f'  "{name}": [\n{items}\n  ]'
        else:
            yield f'  "{name}": {_write(value)}'


def _write(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
