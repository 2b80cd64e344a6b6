"""What the API takes and gives, as pydantic models."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict

from safear.problem.terms import Terms
from safear.recourse.notices import NoticeCode, ReasonCode
from safear.recourse.offer import TAIL

Value = str | bool | int | float
MOST_STEPS = 1000
MOST_COST = 1_000_000
DECIMALS = 4  # of somebody's own costs: finer ones could not be added up exactly, or not soon


def _require_decimals(cost: float) -> float:
    """The decimal that was meant; in binary it is hardly ever exact."""
    meant = round(cost, DECIMALS)
    if not math.isclose(cost, meant, rel_tol=1e-12):
        raise ValueError(f"at most {DECIMALS} decimals")  # pydantic wants it so
    return meant


def _as_whole(value: object) -> object:
    """To JSON 1.0 is the same number as 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# What is no number in JSON is none here either: neither true nor "1".
Real = Annotated[float, Strict()]
OutcomeNumber = Annotated[int, Strict(), Field(ge=0, le=255), BeforeValidator(_as_whole)]
Cost = Annotated[
    Real,
    Field(ge=0, le=MOST_COST, json_schema_extra={"multipleOf": 10**-DECIMALS}),
    AfterValidator(_require_decimals),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TermsIn(_Request):
    """What steps mean for this person; what is left out is as in the problem."""

    cost: dict[str, Cost] = Field(
        default_factory=dict, description="what an action costs them, by its name, with at most four decimals"
    )
    chance: dict[str, Annotated[Real, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="how often an action works for them, 0 to 1, by its name"
    )
    forbid: list[str] = Field(default_factory=list, max_length=254, description="actions that they cannot do")

    def read(self) -> Terms:
        """As the library wants them."""
        return Terms.of(cost=self.cost, chance=self.chance, forbid=self.forbid)


class PersonIn(_Request):
    """A person."""

    person: dict[str, Value] = Field(description="a level, or for numeric features a number, for each feature")


class MenuIn(PersonIn):
    """A person, and on which terms."""

    terms: TermsIn = Field(default_factory=TermsIn)
    level: Real = Field(default=TAIL, ge=0, lt=1, description="which runs are the worst: 0.95 is the worst 5%")


class PlanIn(PersonIn):
    """A person, on which terms, and which of their plans."""

    terms: TermsIn = Field(default_factory=TermsIn)
    objective: str = Field(
        default="cvar:0.95", max_length=200, description="the plan's `objective`, as in the answer of /menu"
    )


class StepIn(PlanIn):
    """A person on the way along a plan."""

    outcomes: list[OutcomeNumber] = Field(
        default_factory=list, max_length=MOST_STEPS, description="how each step so far has ended: outcome numbers"
    )


class ProblemOut(BaseModel):
    """The problem that is served."""

    title: str
    goal: str
    horizon: int
    unit: str
    people: list[str] = Field(description="names of people to try; they stand in the document")
    document: dict[str, Any] = Field(description="all of it, as a problem file says it (see `safear schema`)")


class DecisionOut(BaseModel):
    """What the classifier says."""

    decision: Literal["favourable", "unfavourable"]
    person: dict[str, str] = Field(description="the person as levels")
    on_levels: bool = Field(description="whether the levels, which stand for ranges of numbers, are accepted")


class CostsOut(BaseModel):
    """Figures of a distribution of costs; null each where there is none."""

    mean: float | None
    variance: float | None
    var: dict[str, float | None]
    cvar: dict[str, float | None]
    tail_mean: dict[str, float | None]


class PlanOut(BaseModel):
    """One plan."""

    name: str
    method: str
    objective: str
    objectives: list[str]
    value: float
    planned_value: float
    bound: float | None
    value_error: float | None
    trade_off: str | None
    success: float
    cost: CostsOut = Field(description="of the runs that succeed")
    all_runs: CostsOut = Field(description="failures count with the failure cost")
    sparsity: float | None
    proximity: float | None
    first_action: str | None
    plan: list[str] = Field(description="its likely steps in words")
    steps: list[dict[str, Any]] = Field(description="all of its steps as data")
    traces: list[dict[str, Any]] = Field(description="the most probable ways in which it may go")
    other_traces: dict[str, Any] | None
    distribution: list[dict[str, Any]] = Field(description="of the total cost, exactly")


class FrontierOut(BaseModel):
    """A plan of the frontier."""

    objective: str
    success: float
    mean: float
    cvar: float
    first_action: str | None
    plan: str | None = Field(description="its name in the menu, if it is offered")


class ReasonOut(BaseModel):
    """Why no plan reaches the goal."""

    code: ReasonCode
    text: str


class NoticeOut(BaseModel):
    """What a person should know besides the plans."""

    code: NoticeCode
    text: str
    values: dict[str, float]


class MenuOut(BaseModel):
    """What a person can do. No plans if the decision is favourable, or if there is no recourse."""

    problem: str
    person: dict[str, str]
    decision: Literal["favourable", "unfavourable"]
    no_recourse: ReasonOut | None = Field(description="why no plan reaches the goal")
    unit: str
    horizon: int
    cost_error: float
    notices: list[NoticeOut]
    level: float
    plans: list[PlanOut]
    frontier: list[FrontierOut] = Field(description="all plans that the menu was chosen from, cheapest first")


class EndingOut(BaseModel):
    """One way in which a step may end, or has ended."""

    outcome: int
    chance: float
    works: bool
    label: str
    cost: float


class TakenOut(BaseModel):
    """A step that was taken."""

    action: str
    ending: EndingOut


class AheadOut(BaseModel):
    """What is still to come, exactly, from here."""

    success: float
    mean: float
    cvar: float


class StepOut(BaseModel):
    """Where a person is on the way along a plan, and what to do now."""

    kind: Literal["step", "goal", "out of time", "stuck"]
    person: dict[str, str]
    steps_left: int
    spent: float
    unit: str
    action: str | None
    endings: list[EndingOut]
    taken: list[TakenOut]
    ahead: AheadOut


class GroupOut(BaseModel):
    """A group of the audit; figures are means over its rejected people who have them."""

    group: str
    n: int
    rejected: int
    favourable: float
    no_recourse: float | None
    gives_up: float | None
    success: float | None
    mean: float | None
    variance: float | None
    var: float | None
    cvar: float | None
    sparsity: float | None
    proximity: float | None
    small: bool


class AuditOut(BaseModel):
    """Who carries more risk."""

    problem: str
    objective: str
    level: float
    minimum: int
    people: int
    skipped: int
    unit: str
    overall: GroupOut
    groups: dict[str, list[GroupOut]]
    findings: list[str]


class HealthOut(BaseModel):
    """Whether the service is up."""

    status: Literal["ok"]
    version: str
    problem: str
