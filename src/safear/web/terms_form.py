"""The part of the form about what the actions mean to the person, read as terms.

What is left empty is as in the problem; so is a number that was typed as it stands there. Instead of costs, actions may
be ranked (`by` is then `rank`): each has a place, and some may share one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from safear.errors import Mistake, mistake
from safear.problem.model import Action, Problem, as_decimal
from safear.problem.quantity import Amount, Quantity, amounts
from safear.problem.ranking import Ranking, make_ranking
from safear.problem.terms import ActionTerms, Terms
from safear.texts import Texts
from safear.web.asked import Asked
from safear.web.schemas import DECIMALS, MOST_COST

MOST_PLACES = 999
Kind = Literal["cost", "chance"]
SCALES: dict[Kind, int] = {"cost": 1, "chance": 100}  # what a field has for 1
KINDS = ("cost", "rank", "chance", "cannot")  # of fields for an action
BY, RANK = "by", "rank"  # the field that says how costs are given, and what it holds if they are ranked


@dataclass(frozen=True, slots=True)
class TermField:
    """A field for a number of an action: what it costs, or how often of 100 times it works.

    `quantity` is the problem's own; None if one number would not say enough.
    """

    kind: Kind
    number: int
    action: Action

    @property
    def name(self) -> str:
        """What the field is called."""
        return f"{self.kind}{self.number}"

    @property
    def most(self) -> int:
        """The highest number that is read."""
        return MOST_COST if self.kind == "cost" else 100

    @property
    def quantity(self) -> Quantity | None:
        """The problem's own value."""
        if self.kind == "cost":
            return None if self.action.prices_outcomes else self.action.cost
        return self.action.outcomes[0].chance if len(self.action.outcomes) <= 2 else None

    @property
    def span(self) -> tuple[Decimal, Decimal] | None:
        """The least and the most that it may be in the problem."""
        if self.quantity is None:
            return None
        values = [_round(amount.nominal * SCALES[self.kind]) for amount in amounts(self.quantity)]
        return min(values), max(values)

    def read(self, asked: Asked, texts: Texts) -> Decimal | None:
        """What was filled in, if it differs from what is typical; None too if it cannot be read.

        2 of 3 tries are shown as 66.67: who types that means the exact number.
        """
        value = as_decimal(texts.read_number(asked.text(self.name)))
        if value is None or not _is_between(value, self.most):
            return None
        return None if isinstance(self.quantity, Amount) and self.span == (value, value) else value / SCALES[self.kind]


def list_term_fields(problem: Problem, asked: Asked) -> Iterator[TermField]:
    """All fields for numbers that count: costs do not where actions are ranked, or outcomes have their own."""
    for number, action in enumerate(problem.actions):
        if not is_ranked(asked) and not action.prices_outcomes:
            yield TermField("cost", number, action)
        yield TermField("chance", number, action)


def is_ranked(asked: Asked) -> bool:
    """Whether somebody ranks actions, instead of giving costs."""
    return asked.text(BY) == RANK


def read_place(asked: Asked, number: int) -> int | None:
    """The place of an action from easy to hard; None if it has none."""
    place = as_decimal(asked.text(f"{RANK}{number}")) if is_ranked(asked) else None
    return int(place) if place is not None and 0 < place <= MOST_PLACES else None


def read_ranking(problem: Problem, asked: Asked) -> Ranking:
    """The actions that have places, from easy to hard; a place would not change what outcomes cost by themselves."""
    tiers: dict[int, list[str]] = {}
    for number, action in enumerate(problem.actions):
        if (place := read_place(asked, number)) is not None and not action.prices_outcomes:
            tiers.setdefault(place, []).append(action.name)
    return make_ranking([tiers[place] for place in sorted(tiers)])


def read_forbidden(problem: Problem, asked: Asked) -> list[str]:
    """The actions that are out of the question."""
    return [action.name for number, action in enumerate(problem.actions) if asked.text(f"cannot{number}")]


def name_terms(problem: Problem) -> list[str]:
    """The fields for what the actions mean to the person."""
    return [BY, *(f"{kind}{number}" for number in range(len(problem.actions)) for kind in KINDS)]


def find_term_mistakes(problem: Problem, asked: Asked, *, texts: Texts) -> dict[str, Mistake]:
    """What is wrong with each of these fields that cannot be read."""
    found: dict[str, Mistake] = {}
    for field in list_term_fields(problem, asked):
        text = asked.text(field.name)
        value = as_decimal(texts.read_number(text))
        if text and (value is None or not _is_between(value, field.most)):
            cause = f"'{text}' is not a number from 0 to {field.most}"
            code = "not_a_cost" if field.kind == "cost" else "not_a_percentage"
            found[field.name] = mistake((field.name,), cause, code=code, value=text, most=field.most)
    return found


def find_changed(problem: Problem, asked: Asked, *, texts: Texts) -> frozenset[int]:
    """The actions of which somebody has said that they mean something else to them, readable or not."""
    wrong = find_term_mistakes(problem, asked, texts=texts)
    fields = list_term_fields(problem, asked)
    other = {field.number for field in fields if field.name in wrong or field.read(asked, texts) is not None}
    placed = {name for tier in read_ranking(problem, asked) for name in tier}
    actions = enumerate(problem.actions)
    ruled = {number for number, action in actions if asked.text(f"cannot{number}") or action.name in placed}
    return frozenset(other | ruled)


def reset_terms(problem: Problem, asked: Asked) -> Asked:
    """The form with the typical values of the action that its detail names, or of all."""
    given = [f"{kind}{asked.number}" for kind in KINDS] if asked.detail else name_terms(problem)
    return replace(asked, fields={name: text for name, text in asked.fields.items() if name not in given})


def read_terms(problem: Problem, asked: Asked, *, texts: Texts) -> Terms:
    """Their terms, of a form without mistakes: only what differs from the problem."""
    own: dict[Kind, dict[str, Decimal]] = {"cost": {}, "chance": {}}
    for field in list_term_fields(problem, asked):
        value = field.read(asked, texts)
        if value is not None:
            own[field.kind][field.action.name] = value
    forbidden, rank = read_forbidden(problem, asked), read_ranking(problem, asked)
    return Terms.of(cost=own["cost"], chance=own["chance"], forbid=forbidden, rank=rank)


def write_terms(problem: Problem, terms: Terms, *, texts: Texts) -> dict[str, str]:
    """The fields for terms, as `read_terms` reads them; `find_simplified` names the actions of which they say less."""
    fields = {BY: RANK} if terms.rank else {}
    places = {name: str(place) for place, tier in enumerate(terms.rank, start=1) for name in tier}
    for number, action in enumerate(problem.actions):
        own = terms.actions.get(action.name, ActionTerms())
        for kind, quantity in _list_quantities(own):
            if isinstance(quantity, Amount):
                shown = _round(quantity.nominal * SCALES[kind])
                fields[f"{kind}{number}"] = texts.write_number(f"{shown.normalize():f}")
        if action.name in places:
            fields[f"{RANK}{number}"] = places[action.name]
        if action.name in terms.forbid:
            fields[f"cannot{number}"] = "1"
    return fields


def find_simplified(terms: Terms) -> list[str]:
    """The actions whose terms say more than fields can hold: intervals, counts, cases, many decimals."""
    return [
        name
        for name, own in terms.actions.items()
        if own.outcomes is not None or not all(_is_plain(kind, quantity) for kind, quantity in _list_quantities(own))
    ]


def _list_quantities(own: ActionTerms) -> tuple[tuple[Kind, Quantity | None], ...]:
    return ("cost", own.cost), ("chance", own.chance)


def _is_plain(kind: Kind, quantity: Quantity | None) -> bool:
    """Whether a field holds all of a quantity."""
    if not isinstance(quantity, Amount):
        return quantity is None
    value = quantity.nominal * SCALES[kind]
    return not quantity.is_interval and value == _round(value)


def _is_between(value: Decimal, most: int) -> bool:
    return 0 <= value <= most and value == round(value, DECIMALS)


def _round(exact: Decimal) -> Decimal:
    """The number as it can be filled in."""
    return exact if exact == round(exact, DECIMALS) else round(exact, 2)
