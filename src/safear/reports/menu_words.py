"""What plans are called and how they compare, in the words of a language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from safear.problem.model import Problem
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.selection import LIKELIEST, find_trade_off
from safear.reports.audit_words import show_name
from safear.risk.objectives import (
    Budget,
    CVaR,
    Entropic,
    MeanCVaR,
    MeanLowerStd,
    MeanStd,
    MeanVariance,
    Objective,
    SuccessFirst,
    VaR,
)
from safear.texts import Texts
from safear.texts.numbers import tell_times

_NUMBERED = re.compile(r"(?P<name>.+) (?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class Difference:
    """What a plan gains ("gain") or gives up ("loss") beside another, or in what it is about the same ("")."""

    mark: str
    words: str


def quote_goal(problem: Problem, texts: Texts) -> str:
    """What the person wants, inside a sentence."""
    return texts.quote(show_name(problem.goal.favourable or texts("report.goal")))


def name_plan(offer: Offer, texts: Texts) -> str:
    """`safest`; a plan that somebody asked for is named after what it is best for."""
    numbered = _NUMBERED.fullmatch(offer.name)
    known = f"report.plan.named.{numbered['name'] if numbered else offer.name}"
    if known not in texts:
        return describe_objective(offer.objective, texts, show_name(offer.unit))
    if numbered is None:
        return texts(known)
    return texts("report.plan.numbered", name=texts(known), number=numbered["number"])


def describe_objective(objective: Objective, texts: Texts, unit: str) -> str:
    """What a plan is best for."""
    values: dict[str, str] = {}
    match objective:
        case SuccessFirst(then=then):
            values["then"] = describe_objective(then, texts, unit)
        case Budget(limit=limit):
            values["cost"] = texts.exact_cost(limit, unit)
        case VaR(level=level):
            values["share"] = texts.percent(level)
        case CVaR(level=level):
            values["worst"] = tell_worst(level, texts)
        case MeanCVaR(weight=weight, level=level):
            values |= {"worst": tell_worst(level, texts), "weight": texts.exact_number(weight)}
        case MeanStd() | MeanLowerStd() | MeanVariance() | Entropic():
            values["weight"] = texts.exact_number(objective.risk_aversion)
    return texts(f"report.plan.best_for.{objective.name}", **values)


def tell_worst(level: float, texts: Texts) -> str:
    """`in the worst 5 of 100 cases` for the level 0.95."""
    if level >= 1:
        return texts("report.worst.case")
    kind, count, base = tell_times(round(1 - level, 12))  # 1 - 0.95 is not 0.05 in binary
    if kind != "exactly":
        return texts("report.worst.percent", share=texts.percent(1 - level))
    return texts("report.worst.share", count=count, base=texts.whole(base))


def compare_plan(offer: Offer, menu: Menu, texts: Texts) -> tuple[str, list[Difference]]:
    """Beside which plan it is told what a plan gains and gives up, and that; both may be empty."""
    found, say = find_trade_off(offer, menu.offers), texts.part("report.trade_off")
    if not offer.trade_off:  # what was asked for by its objective is not compared
        return "", []
    if found is None:
        return say("others_give_up" if offer.name == LIKELIEST else "none"), []
    number = 1 + [other is found.other for other in menu].index(True)
    unit, worst = show_name(offer.unit), tell_worst(offer.level, texts)
    parts = []
    if found.success is not None:
        share, other = texts.percent(offer.cost.success), texts.percent(found.other.cost.success)
        parts.append(Difference("gain" if found.success > 0 else "loss", say("success", share=share, other=other)))
    for name, more in (("mean", found.mean), ("tail", found.tail)):
        if more is None:
            parts.append(Difference("", say(f"{name}.same", worst=worst)))
        else:
            size = texts.cost(abs(more), unit)
            words = say(f"{name}.{'more' if more > 0 else 'less'}", cost=size, worst=worst)
            parts.append(Difference("loss" if more > 0 else "gain", words))
    return say("beside", number=number), sort_differences(parts)


def sort_differences(parts: Sequence[Difference]) -> list[Difference]:
    """Gains first, then losses, then what is about the same."""
    return sorted(parts, key=lambda part: ("gain", "loss", "").index(part.mark))
