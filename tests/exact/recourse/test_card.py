"""The risk of a plan in marks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both
from doors import CARD_MISSED as MISSED
from doors import MOST_MARKS, MULTIPLES, OfferFigures, make_card, make_offer
from drawn_menus import ALL, menu_of
from lanes import scaled
from safear.recourse import Offer
from strategies import problems

OBJECTIVES = (sa.Mean(), sa.CVaR(0.95), sa.MeanStd(1.0), sa.Budget(2))


class Judged(Offer):
    """A plan with figures that somebody made up."""

    @property
    def judged(self) -> OfferFigures:
        """Kept in its label."""
        return OfferFigures(*map(float, (self.label or "").split()))


def judged(success: float, mean: float, tail: float) -> Offer:
    """A plan that is judged by these figures."""
    offer = menu_of("gamble")[0]
    return Judged("asked", offer.objectives, offer.solution, offer.runs, label=f"{success} {mean} {tail}")


def marks_of(*figures: tuple[float, float, float]) -> list[int]:
    offers = [judged(*one) for one in figures]
    return [make_card(offer, offers).marks for offer in offers]


def test_the_rule() -> None:
    assert MULTIPLES == (1.25, 1.75, 2.5, 3.5)
    tails = [(1.0, 2.0, 2.0), (1.0, 2.0, 2.5), (1.0, 2.0, 2.51), (1.0, 2.0, 3.5), (1.0, 2.0, 5.0), (1.0, 2.0, 7.0)]
    assert marks_of(*tails, (1.0, 1.9, 7.1)) == [1, 1, 2, 2, 3, 4, 5]


def test_not_getting_there_counts_whatever_it_costs() -> None:
    assert MISSED == (0.01, 0.05, 0.1, 0.25)
    assert [marks_of((1 - missed, 2.0, 2.0))[0] for missed in (0, 0.009, 0.01, 0.05, 0.1, 0.25, 1)] == [
        1,
        1,
        2,
        3,
        4,
        5,
        5,
    ]
    assert marks_of((0.7, 2.0, 2.0), (1.0, 1.0, 2.1)) == [5, 5]  # no fewer than a plan whose tail is smaller


def test_what_costs_nothing_has_one_mark() -> None:
    assert marks_of((1.0, 0.0, 0.0), (1.0, 0.0, 1.0)) == [1, 5]


def test_loan_and_health_insurance() -> None:
    """3.38 and 8.21 beside 2.19 months; 3, 4.29 and 6.09 beside 3 quarters."""
    for name, marks in (("loan", [2, 5]), ("health-insurance", [1, 2, 3])):
        menu = menu_of(name)
        assert [make_card(offer, menu).marks for offer in menu] == marks


def check_order(offers: list[Offer]) -> None:
    """A worse tail never has fewer marks."""
    ranked = sorted(offers, key=lambda offer: offer.judged.tail)
    marks = [make_card(offer, offers).marks for offer in ranked]
    assert marks == sorted(marks)
    assert all(1 <= count <= MOST_MARKS for count in marks)


@pytest.mark.parametrize("name", ALL)
def test_a_worse_tail_never_has_fewer_marks(name: str) -> None:
    check_order(list(menu_of(name)))


@given(problems())
@settings(max_examples=scaled(40))
def test_nor_in_any_problem(document: dict[str, Any]) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    check_order([replace(make_offer(sa.solve(mdp, objective)), level=0.8) for objective in OBJECTIVES])
