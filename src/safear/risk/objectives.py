"""Objectives: what a plan should make small. Each carries its own parameters and reads its value off a distribution.

    mean               E[C]
    mean-std:b         E[C] + b * std(C)
    mean-lower-std:b   E[C] + b * lower_std(C), only costs above the mean count in the deviation
    success-first      the highest chance of success, and among plans that have it the least E[C]

C is the total cost over all runs; failed runs pay the failure cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from safear.errors import ObjectiveError, suggest
from safear.risk.distribution import CostDistribution

MAX_AVERSION = 1e6


@dataclass(frozen=True, slots=True)
class Mean:
    """The expected total cost."""

    def of(self, distribution: CostDistribution) -> float:
        """E[C]."""
        return distribution.all_runs.mean

    def __str__(self) -> str:
        return "mean"


@dataclass(frozen=True, slots=True)
class MeanStd:
    """The expected total cost plus `risk_aversion` times its standard deviation."""

    risk_aversion: float

    def __post_init__(self) -> None:
        _check_aversion(self.risk_aversion)

    def of(self, distribution: CostDistribution) -> float:
        """E[C] + risk_aversion * std(C)."""
        return distribution.all_runs.mean + self.risk_aversion * distribution.all_runs.std

    def __str__(self) -> str:
        return f"mean-std:{self.risk_aversion:g}"


@dataclass(frozen=True, slots=True)
class MeanLowerStd:
    """The expected total cost plus `risk_aversion` times its lower partial standard deviation (LPSD)."""

    risk_aversion: float

    def __post_init__(self) -> None:
        _check_aversion(self.risk_aversion)

    def of(self, distribution: CostDistribution) -> float:
        """E[C] + risk_aversion * lower_std(C)."""
        return distribution.all_runs.mean + self.risk_aversion * distribution.all_runs.lower_std

    def __str__(self) -> str:
        return f"mean-lower-std:{self.risk_aversion:g}"


@dataclass(frozen=True, slots=True)
class SuccessFirst:
    """The highest probability of success; among the plans that have it, the least expected total cost."""

    def of(self, distribution: CostDistribution) -> float:
        """E[C]; compare the success of two plans before their values."""
        return distribution.all_runs.mean

    def __str__(self) -> str:
        return "success-first"


Objective = Mean | MeanStd | MeanLowerStd | SuccessFirst
_PLAIN: dict[str, type[Mean | SuccessFirst]] = {"mean": Mean, "success-first": SuccessFirst}
_NAMES: dict[str, type[MeanStd | MeanLowerStd]] = {"mean-std": MeanStd, "mean-lower-std": MeanLowerStd}


def parse_objective(text: str) -> Objective:
    """An objective as it is written on the command line: `mean`, `mean-std:0.5`, `success-first`, ..."""
    name, colon, parameter = text.strip().partition(":")
    if name in _PLAIN:
        if colon:
            raise ObjectiveError.at((), f"objective '{text}': '{name}' takes no number", f"write '{name}'")
        return _PLAIN[name]()
    if name not in _NAMES:
        known = [*_PLAIN, *(f"{known}:0.5" for known in _NAMES)]
        raise ObjectiveError.at((), f"objective '{text}' is not known", suggest(text, known))
    try:
        return _NAMES[name](float(parameter))
    except ValueError:
        cause = f"objective '{text}': '{parameter}' is not a number" if colon else f"objective '{text}' needs a number"
        raise ObjectiveError.at((), cause, f"write '{name}:0.5'") from None


def _check_aversion(risk_aversion: float) -> None:
    if not (math.isfinite(risk_aversion) and risk_aversion >= 0):
        raise ObjectiveError.at((), f"the risk aversion {risk_aversion} is not a number from 0 up")
    if risk_aversion > MAX_AVERSION:
        raise ObjectiveError.at(
            (), f"the risk aversion {risk_aversion:g} is above {MAX_AVERSION:g}", "2 is a lot already"
        )
