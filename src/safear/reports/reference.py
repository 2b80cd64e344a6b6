"""What a letter and its file of figures have in common: the plan that was chosen, and a reference."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from datetime import date

from safear.classifier.filed import EMPTY, as_number
from safear.problem.dump import dump_problem_text
from safear.problem.model import Problem
from safear.recourse.menu import Menu
from safear.recourse.offer import Offer
from safear.recourse.plan import Plan, PlanStep
from safear.recourse.records import as_scalars
from safear.texts.names import show_name

ALIKE = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHJKMNPQRSTVWXYZ")  # without I, L, O, U
LENGTH = 10  # of a reference: 50 bits, so that two letters hardly ever have the same


def digest_problem(problem: Problem) -> str:
    """The SHA-256 of the problem as SafeAR writes it."""
    return hashlib.sha256(dump_problem_text(problem).encode()).hexdigest()


def digest_person(menu: Menu) -> str:
    """The SHA-256 of what is known of the person, as JSON with sorted keys: numbers as filed, else levels."""
    record = menu.case.decision.record
    filed = {name: value for name, value in as_scalars(record).items() if name in menu.case.sight.given}
    known: dict[str, object] = {**menu.person, **filed}
    for feature in menu.problem.shown_features:
        number = as_number(feature, record[feature.name], menu.person[feature.name])
        if not math.isnan(number):
            known[feature.name] = None if number == EMPTY else number
    return _digest(known).hex()


def choose_offer(menu: Menu, chosen: Offer | str | int | None) -> Offer | None:
    """The plan that a letter is about: the one chosen, or else the first; None if there is no plan at all."""
    if isinstance(chosen, Offer):
        return chosen
    if not menu.offers:
        return None
    return menu[0 if chosen is None else chosen]


def make_reference(menu: Menu, offer: Offer | None, *, dated: date | None) -> str:
    """A short name for what a letter says, such as `7K3Q9-F2MXT`: the same for the same content, in every language.

    It is made from digests, so that nobody can read in it what it was made from.
    """
    reason = menu.no_recourse
    content = {
        "problem": digest_problem(menu.problem),
        "original": digest_problem(menu.case.original),  # without it, own terms look like the problem's
        "person": digest_person(menu),
        "favourable": menu.favourable,
        "reason": None if reason is None else [reason.code, reason.horizon, _round(reason.budget), reason.margin],
        "level": menu.level,
        "plans": [_outline(each, each.plan) for each in menu],
        "chosen": None if offer is None else _outline(offer, offer.long_plan),
        "dated": None if dated is None else dated.isoformat(),
    }
    letters = base64.b32encode(_digest(content)).decode()[:LENGTH].translate(ALIKE)
    return f"{letters[: LENGTH // 2]}-{letters[LENGTH // 2 :]}"


def name_reference(menu: Menu, offer: Offer | None, *, dated: date | None, given: str | None) -> str:
    """The reference that somebody gave, or else the one that is made from the content."""
    return make_reference(menu, offer, dated=dated) if given is None else show_name(given)


def _outline(offer: Offer, plan: Plan) -> list[object]:
    """What tells a plan from others; rounded, since the last digits differ between machines."""
    figures = (offer.cost.success, offer.mean, offer.tail)
    steps = [_outline_step(step) for step in plan.steps]
    return [offer.code, str(offer.objective), offer.level, *map(_round, figures), steps]


def _outline_step(step: PlanStep) -> list[object]:
    """When to take a step, and what comes after it."""
    nexts = [
        [branch.works, after.kind, after.step, after.since, after.until]
        for branch in step.branches
        for after in branch.follow_ups
    ]
    return [step.shown, step.action, step.made, None if step.spent is None else [*map(_round, step.spent)], nexts]


def _round(figure: float | None) -> str | None:
    return None if figure is None else f"{figure:.6g}"


def _digest(content: Mapping[str, object]) -> bytes:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()
