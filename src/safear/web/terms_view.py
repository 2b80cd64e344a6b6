"""The part of the page about what the actions mean to the person: what is typical, and what they changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from safear.problem.glossary import choose
from safear.problem.model import Action, Problem
from safear.problem.quantity import amounts
from safear.problem.ranking import price_ranking
from safear.recourse.teller import Teller
from safear.texts.names import capital
from safear.web.asked import Asked
from safear.web.terms_form import TermField, find_changed, read_forbidden, read_place, read_ranking


@dataclass(frozen=True, slots=True)
class NumberField:
    """A field for a number, what it is in the problem, and what it was read as where that is not plain."""

    name: str
    value: str
    typical: str  # to stand in the empty field
    hint: str


@dataclass(frozen=True, slots=True)
class ActionField:
    """The fields for what an action means to the person."""

    number: int
    label: str
    cost: NumberField | None  # None if outcomes have costs of their own: `fixed_cost` says so, and there is no place
    fixed_cost: str
    chance: NumberField | None  # None if one number would not say enough
    place: int | None  # from easy to hard, if actions are ranked
    place_hint: str
    cannot: bool
    changed: bool
    note: str
    help: str = ""


def show_actions(problem: Problem, asked: Asked, tell: Teller) -> tuple[ActionField, ...]:
    """The fields about what steps mean."""
    unit, forbidden = tell.text(problem.cost_unit), read_forbidden(problem, asked)
    ranked = price_ranking(problem, read_ranking(problem, asked), forbid=forbidden)
    changed = find_changed(problem, asked, texts=tell.texts)

    def in_units(number: str) -> str:
        return tell.texts.name_unit(number, unit)

    return tuple(
        ActionField(
            number,
            capital(tell.action(action.name)),
            _show_number(cost, asked, tell, in_units) if cost.quantity is not None else None,
            _tell_fixed(action, tell, in_units) if cost.quantity is None else "",
            _show_number(chance, asked, tell, str) if chance.quantity is not None else None,
            read_place(asked, number),
            tell("web.terms.counts_as", cost=tell.cost(float(ranked[action.name]), unit))
            if action.name in ranked
            else "",
            bool(asked.text(f"cannot{number}")),
            number in changed,
            _note(action, tell),
            choose(problem.glossary.action_help.get(action.name), tell.language) or "",
        )
        for number, action in enumerate(problem.actions)
        for cost, chance in [(TermField("cost", number, action), TermField("chance", number, action))]
    )


def _show_number(field: TermField, asked: Asked, tell: Teller, name: Callable[[str], str]) -> NumberField:
    texts, text = tell.texts, asked.text(field.name)
    typical = _show_span(field.span or (Decimal(0), Decimal(0)), tell)
    hints = [texts("web.terms.typical", value=name(typical))]
    if echo := texts.echo_number(text):
        hints.append(texts("web.about.read_as", value=name(echo)))
    return NumberField(field.name, text, typical, ", ".join(hints))


def _tell_fixed(action: Action, tell: Teller, name: Callable[[str], str]) -> str:
    """What an action costs whose outcomes have costs of their own, and that this stays so."""
    costs = [action.cost if outcome.cost is None else outcome.cost for outcome in action.outcomes]
    found = [amount.nominal for cost in costs for amount in amounts(cost)]
    return tell("web.terms.fixed_cost", cost=name(_show_span((min(found), max(found)), tell)))


def _show_span(span: tuple[Decimal, Decimal], tell: Teller) -> str:
    low, high = (tell.texts.number(float(end)) for end in span)
    return low if low == high else f"{low}–{high}"


def _note(action: Action, tell: Teller) -> str:
    """What else may happen: the labels of outcomes that do not work."""
    ends = enumerate(action.outcomes)
    labels = [tell.text(item.label) for number, item in ends if item.label and not action.works(number)]
    return tell("web.terms.if_fails", what=tell.texts.join(labels, last="or")) if labels else ""
