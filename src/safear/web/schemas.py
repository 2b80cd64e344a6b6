"""What the API takes, as pydantic models; what it gives are the records of results (`safear.recourse.records`)."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, StrictBool

from safear.problem.terms import Terms
from safear.recourse.offer import TAIL

Value = str | bool | int | float | None
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
        default_factory=dict, description="what actions cost them, by name, with at most four decimals"
    )
    chance: dict[str, Annotated[Real, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="how often actions work for them, by name, from 0 to 1"
    )
    forbid: list[str] = Field(default_factory=list, max_length=254, description="actions they cannot take")

    def read(self) -> Terms:
        """As the library wants them."""
        return Terms.of(cost=self.cost, chance=self.chance, forbid=self.forbid)


class PersonIn(_Request):
    """A person."""

    person: dict[str, Value] = Field(
        description="each feature's level, or its number if it is numeric; columns that the model sees as filed"
    )


class TermedIn(PersonIn):
    """A person, on which terms, how careful about estimates, and whether plans are the best ones."""

    terms: TermsIn = Field(default_factory=TermsIn)
    robust: StrictBool = Field(
        default=False, description="whether plans are the best against the worst chances within their intervals"
    )
    exact: StrictBool | None = Field(
        default=None,
        description="whether plans are the best ones, not simpler ones that are nearly as good; by default those of a"
        " menu are simple, and that for an objective is the best: false follows it as a menu offers it",
    )


class MenuIn(TermedIn):
    """A person who wants a menu."""

    level: Real = Field(default=TAIL, ge=0, le=1, description="which runs count as the worst: 0.95 means the worst 5%")


class PlanIn(TermedIn):
    """A person, and which of their plans."""

    objective: str = Field(
        default="cvar:0.95", max_length=200, description="the plan's `objective`, as in the answer of /menu"
    )


class StepIn(PlanIn):
    """A person on the way along a plan."""

    outcomes: list[OutcomeNumber] = Field(
        default_factory=list, max_length=MOST_STEPS, description="how each step so far ended, as outcome numbers"
    )


class ProblemOut(BaseModel):
    """The problem that is served."""

    title: str
    goal: str
    horizon: int
    unit: str
    people: list[str] = Field(description="the names of the people in the document")
    document: dict[str, Any] = Field(description="the whole problem as in a problem file (see `safear schema`)")


class HealthOut(BaseModel):
    """Whether the service is up, and whether the model answered when it was last asked."""

    status: Literal["ok", "degraded"] = Field(
        description="degraded after a failure of the model until it answers again"
    )
    version: str
    problem: str
