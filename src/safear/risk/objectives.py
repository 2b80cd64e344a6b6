"""Objectives: what a plan minimises. Each carries its own parameters and reads its value off a distribution.

    mean               E[C]
    mean-std:b         E[C] + b * std(C)
    mean-lower-std:b   E[C] + b * lower_std(C), only costs above the mean count in the deviation
    mean-variance:b    E[C] + b * var(C)
    entropic:b         log E[exp(b C)] / b
    budget:x           the chance of not succeeding within a cost of x
    var:a              the smallest x with P(C <= x) >= a
    cvar:a             the mean of the worst 1 - a of the cases
    mean-cvar:k:a      (1 - k) * E[C] + k * cvar:a
    success-first      the highest chance of success, and among plans that have it the least E[C]
    success-first:...  the same, with the least of another objective among them: success-first:cvar:0.95
    success-first...~t the same, but each step may give away the share t of success: success-first:cvar:0.95~0.001

C is the total cost over all runs; failed runs pay the failure cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import ClassVar, Self

from safear.arguments import NUMBER, TEXT, show, takes
from safear.errors import ObjectiveError, suggest
from safear.numerals import reads_as_number
from safear.risk.distribution import CostDistribution, check_level

MAX_AVERSION = 1e6
TOLERANCE = 1e-12  # of success, in a step: what is given away by rounding


class _OfCosts:
    """What all objectives but `SuccessFirst` share: nothing comes before the cost."""

    __slots__ = ()

    @property
    def cost_objective(self) -> Self:
        """What is minimised of costs, among the plans that are allowed."""
        return self

    @property
    def slack(self) -> float | None:
        """The share of success that a step may give away; None if all plans are allowed."""
        return None


@dataclass(frozen=True, slots=True)
class Mean(_OfCosts):
    """The expected total cost."""

    name: ClassVar[str] = "mean"

    def of(self, distribution: CostDistribution) -> float:
        """E[C]."""
        return distribution.all_runs.mean

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class MeanStd(_OfCosts):
    """The expected total cost plus `risk_aversion` times its standard deviation."""

    name: ClassVar[str] = "mean-std"
    risk_aversion: float

    def __post_init__(self) -> None:
        _check_aversion(self.risk_aversion)

    def of(self, distribution: CostDistribution) -> float:
        """E[C] + risk_aversion * std(C)."""
        return distribution.all_runs.mean + self.risk_aversion * distribution.all_runs.std

    def __str__(self) -> str:
        return _write(self.name, self.risk_aversion)


@dataclass(frozen=True, slots=True)
class MeanLowerStd(_OfCosts):
    """The expected total cost plus `risk_aversion` times its lower partial standard deviation (LPSD)."""

    name: ClassVar[str] = "mean-lower-std"
    risk_aversion: float

    def __post_init__(self) -> None:
        _check_aversion(self.risk_aversion)

    def of(self, distribution: CostDistribution) -> float:
        """E[C] + risk_aversion * lower_std(C)."""
        return distribution.all_runs.mean + self.risk_aversion * distribution.all_runs.lower_std

    def __str__(self) -> str:
        return _write(self.name, self.risk_aversion)


@dataclass(frozen=True, slots=True)
class MeanVariance(_OfCosts):
    """The expected total cost plus `risk_aversion` times its variance."""

    name: ClassVar[str] = "mean-variance"
    risk_aversion: float

    def __post_init__(self) -> None:
        _check_aversion(self.risk_aversion)

    def of(self, distribution: CostDistribution) -> float:
        """E[C] + risk_aversion * variance(C)."""
        return distribution.all_runs.mean + self.risk_aversion * distribution.all_runs.variance

    def __str__(self) -> str:
        return _write(self.name, self.risk_aversion)


@dataclass(frozen=True, slots=True)
class Entropic(_OfCosts):
    """The entropic risk: costs weigh exponentially, `risk_aversion` per unit of cost. At 0 it is the mean."""

    name: ClassVar[str] = "entropic"
    risk_aversion: float

    def __post_init__(self) -> None:
        _check_aversion(self.risk_aversion)

    def of(self, distribution: CostDistribution) -> float:
        """Log E[exp(risk_aversion * C)] / risk_aversion."""
        return distribution.all_runs.entropic(self.risk_aversion)

    def __str__(self) -> str:
        return _write(self.name, self.risk_aversion)


@dataclass(frozen=True, slots=True)
class Budget(_OfCosts):
    """The probability of not succeeding within a cost of `limit`. What was spent counts, not the failure cost."""

    name: ClassVar[str] = "budget"
    limit: float

    def __post_init__(self) -> None:
        NUMBER.require(self.limit, "limit")
        if not (math.isfinite(self.limit) and self.limit >= 0):
            raise ObjectiveError.at((), f"the budget {self.limit} is not a cost of 0 or more", code="out_of_range")

    def of(self, distribution: CostDistribution) -> float:
        """1 - P(success and spent <= limit)."""
        return 1 - distribution.success_within(self.limit)

    def __str__(self) -> str:
        return _write(self.name, self.limit)


@dataclass(frozen=True, slots=True)
class VaR(_OfCosts):
    """The value at risk: the cost that is not exceeded with probability `level`."""

    name: ClassVar[str] = "var"
    level: float

    def __post_init__(self) -> None:
        check_level(self.level)

    def of(self, distribution: CostDistribution) -> float:
        """The smallest x with P(C <= x) >= level."""
        return distribution.all_runs.var(self.level)

    def __str__(self) -> str:
        return _write(self.name, self.level)


@dataclass(frozen=True, slots=True)
class CVaR(_OfCosts):
    """The conditional value at risk: the mean of the worst 1 - `level` of the cases."""

    name: ClassVar[str] = "cvar"
    level: float

    def __post_init__(self) -> None:
        check_level(self.level)

    def of(self, distribution: CostDistribution) -> float:
        """The least over w of w + E[max(C - w, 0)] / (1 - level)."""
        return distribution.all_runs.cvar(self.level)

    def __str__(self) -> str:
        return _write(self.name, self.level)


@dataclass(frozen=True, slots=True)
class MeanCVaR(_OfCosts):
    """Between the mean (`weight` 0) and the conditional value at risk at a `level` (`weight` 1)."""

    name: ClassVar[str] = "mean-cvar"
    weight: float
    level: float

    def __post_init__(self) -> None:
        check_level(self.level)
        NUMBER.require(self.weight, "weight")
        if not 0 <= self.weight <= 1:
            raise ObjectiveError.at((), f"the weight {self.weight} is not between 0 and 1", code="out_of_range")

    def of(self, distribution: CostDistribution) -> float:
        """(1 - weight) * E[C] + weight * CVaR(C)."""
        costs = distribution.all_runs
        return (1 - self.weight) * costs.mean + self.weight * costs.cvar(self.level)

    def __str__(self) -> str:
        return _write(self.name, self.weight, self.level)


CostObjective = Mean | MeanStd | MeanLowerStd | MeanVariance | Entropic | Budget | VaR | CVaR | MeanCVaR


@dataclass(frozen=True, slots=True)
class SuccessFirst:
    """The highest probability of success; among the plans that have it, the least of another objective.

    A step may give away the share `tolerance` of the probability: a plan lacks at most the share horizon * tolerance.
    """

    name: ClassVar[str] = "success-first"
    then: CostObjective = field(default_factory=Mean)
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        if not isinstance(self.then, CostObjective):
            remedy = "give one of the other objectives, such as CVaR(0.95)"
            raise ObjectiveError.at((), f"{show(self.then)} cannot come after success", remedy, code="unsuited")
        NUMBER.require(self.tolerance, "tolerance")
        if not 0 <= self.tolerance < 1:
            raise ObjectiveError.at(
                (),
                f"the tolerance {self.tolerance} is not a probability below 1",
                code="out_of_range",
            )

    @property
    def cost_objective(self) -> CostObjective:
        """What is minimised of costs, among the plans that are allowed."""
        return self.then

    @property
    def slack(self) -> float:
        """The share of success that a step may give away."""
        return self.tolerance

    def of(self, distribution: CostDistribution) -> float:
        """The second objective; compare the success of two plans before their values."""
        return self.then.of(distribution)

    def __str__(self) -> str:
        then = "" if isinstance(self.then, Mean) else f":{self.then}"
        return f"{self.name}{then}" + ("" if self.tolerance == TOLERANCE else f"~{float(self.tolerance)!r}")


Objective = CostObjective | SuccessFirst
_EXAMPLES: dict[type[CostObjective], str] = {
    Mean: "mean",
    MeanStd: "mean-std:0.5",
    MeanLowerStd: "mean-lower-std:0.5",
    MeanVariance: "mean-variance:0.5",
    Entropic: "entropic:0.5",
    Budget: "budget:6",
    VaR: "var:0.95",
    CVaR: "cvar:0.95",
    MeanCVaR: "mean-cvar:0.5:0.95",
}
_BY_NAME = {kind.name: kind for kind in _EXAMPLES}
OBJECTIVE_EXAMPLES = (*_EXAMPLES.values(), SuccessFirst.name, f"{SuccessFirst.name}:cvar:0.95")


@takes(text=TEXT)
def parse_objective(text: str) -> Objective:
    """An objective as it is written on the command line: `mean`, `mean-std:0.5`, `success-first:cvar:0.95`, ..."""
    if text.strip().startswith(SuccessFirst.name):
        return _parse_success_first(text)
    name, colon, rest = text.strip().partition(":")
    if name not in _BY_NAME:
        raise _unknown(text)
    kind = _BY_NAME[name]
    wanted, given = len(fields(kind)), rest.split(":") if colon else []
    if len(given) != wanted:
        needs = {0: "takes no number", 1: "needs a number", 2: "needs two numbers"}[wanted]
        about = f"objective '{text}': '{name}'" if given else f"objective '{name}'"
        raise _malformed(text, f"{about} {needs}", _EXAMPLES[kind])
    if not all(map(reads_as_number, given)):
        raise _malformed(text, f"objective '{text}': '{rest}' is not a number", _EXAMPLES[kind])
    return kind(*map(float, given))


def _unknown(text: str) -> ObjectiveError:
    close = suggest(text, OBJECTIVE_EXAMPLES)
    return ObjectiveError.at((), f"objective '{text}' is not known", close, code="unknown_objective", objective=text)


def _malformed(text: str, cause: str, example: str) -> ObjectiveError:
    values = {"objective": text, "example": example}
    return ObjectiveError.at((), cause, f"write '{example}'", code="objective_form", **values)


def _parse_success_first(text: str) -> Objective:
    both, tilde, share = text.strip().partition("~")
    name, colon, rest = both.partition(":")
    if name != SuccessFirst.name:
        raise _unknown(text)
    if colon and not rest:
        raise _malformed(text, f"objective '{text}' names no second objective", OBJECTIVE_EXAMPLES[-1])
    then = parse_objective(rest) if colon else Mean()
    if tilde and not reads_as_number(share):
        raise _malformed(text, f"objective '{text}': '{share}' is not a number", f"{OBJECTIVE_EXAMPLES[-1]}~0.001")
    tolerance = float(share) if tilde else TOLERANCE
    return SuccessFirst(then, tolerance)  # type: ignore[arg-type]  # its own check says what may come after success


def rounding_error(objective: CostObjective, cost_error: float, value: float) -> float:
    """How far a value may be off if each total is off by at most `cost_error`; `Budget` sees to it itself.

    For |X - Y| <= e: mean, VaR, CVaR and entropic risk differ by at most e, std by at most e, and the variance by at
    most e (std(X) + std(Y)) <= e (2 std(X) + e), where b * std(X) <= sqrt(b * value) since b * std(X)^2 <= value.
    """
    match objective:
        case Budget():
            return 0.0
        case MeanStd(risk_aversion) | MeanLowerStd(risk_aversion):
            return cost_error * (1 + risk_aversion)
        case MeanVariance(risk_aversion):
            return cost_error * (1 + 2 * math.sqrt(risk_aversion * max(value, 0.0)) + risk_aversion * cost_error)
        case _:
            return cost_error


def _write(name: str, *numbers: float) -> str:
    """`mean-cvar:0.5:0.95`; numbers read back as they are."""
    return ":".join([name, *(str(int(number)) if number == int(number) else repr(float(number)) for number in numbers)])


def _check_aversion(risk_aversion: float) -> None:
    NUMBER.require(risk_aversion, "risk_aversion")
    if not (math.isfinite(risk_aversion) and risk_aversion >= 0):
        raise ObjectiveError.at(
            (),
            f"the risk aversion {risk_aversion} is not a number of 0 or more",
            code="out_of_range",
        )
    if risk_aversion > MAX_AVERSION:
        raise ObjectiveError.at(
            (),
            f"the risk aversion {risk_aversion:g} is above {MAX_AVERSION:g}",
            "2 is already a lot",
            code="out_of_range",
        )
