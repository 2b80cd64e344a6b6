"""Figures and names as they stand in a page."""

from __future__ import annotations

from collections.abc import Sequence

from safear.population.group_figures import Measure
from safear.recourse.teller import Teller
from safear.risk.objectives import CVaR, Mean, MeanStd, Objective, SuccessFirst, VaR
from safear.texts.names import show_name

TINY = 1e-300
ROUNDING = 1e-9  # smaller differences are none
MINUS = "−"


def quote(name: str) -> str:
    """A name inside a sentence."""
    return f"“{show_name(name)}”"


def join_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def with_unit(value: float | None, measure: Measure, unit: str) -> str:
    """`2.04 months`, `99.2%`."""
    text = measure.format(value)
    return text if value is None or not measure.has_unit else f"{text} {show_name(unit)}"


def format_difference(value: float | None, measure: Measure, *, signed: bool = True) -> str:
    """`+0.37`, or with a real minus; shares in points: `0.45 points`; `n/a` if undefined."""
    if value is None:
        return "n/a"
    size = 100 * abs(value) if measure.is_share else abs(value)
    text = "0" if size < ROUNDING else f"{size:,.2f}" if size >= 0.1 else Teller.of().number(size)
    sign = "" if text == "0" else MINUS if value < 0 else "+" if signed else ""
    return sign + text + (" points" if measure.is_share else "")


def format_span(low: float | None, high: float | None, measure: Measure) -> str:
    """`0.17 to 0.58`, of a difference."""
    if low is None or high is None:
        return "n/a"
    ends = [format_difference(end, measure, signed=False) for end in (low, high)]
    return " to ".join([ends[0].removesuffix(" points"), ends[1]])


def format_p(p: float | None) -> str:
    """`0.011`, `3.1e-07`, `< 1e-300`; `n/a` if undefined."""
    if p is None:
        return "n/a"
    return f"< {TINY:g}" if p < TINY else f"{p:.2g}"


def format_exactly(value: object) -> str:
    """All digits, such that the same number can be read back."""
    if value is None:
        return "n/a"
    return repr(float(value)) if isinstance(value, float) else str(value)


def describe_objective(objective: Objective) -> str:
    """What everybody's plan is best for."""
    match objective:
        case Mean():
            return "the least average cost"
        case CVaR(level=level):
            return f"the least average cost of the {Teller.of().worst_name(level)} of cases"
        case VaR(level=level):
            return f"the least cost that {Teller.of().number(100 * level)}% of cases stay within"
        case MeanStd(risk_aversion=aversion):
            return f"the least average cost plus {Teller.of().number(aversion)} times its standard deviation"
        case SuccessFirst(then=then):
            return f"the highest chance of success, and then {describe_objective(then)}"
    return f"the objective {objective}"
