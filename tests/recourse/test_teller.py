"""The one voice: every sentence that is made of a result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.menus import make_guessed, make_loan, make_single, make_spending
from safear.evaluation.extremes import Range
from safear.recourse.offer import TradeOff
from safear.recourse.teller import Teller


def test_plans_are_named_by_their_codes() -> None:
    names = {
        code: (Teller.of().name_plan(code), Teller.of("de").name_plan(code)) for code in ("likeliest", "balanced-2")
    }
    assert names == {
        "likeliest": ("most likely to succeed", "am aussichtsreichsten"),
        "balanced-2": ("balanced 2", "ausgewogen (2)"),
    }
    assert Teller.of("de").name_plan("mean-std:0.5") == "mean-std:0.5"
    safest = make_loan().offers[0]
    assert Teller.of("de").name_plan(replace(safest, label="policy A")) == "policy A"


@pytest.mark.parametrize(
    ("chance", "told"),
    [
        (0.9, "90 times in 100, 50 to 95 if our estimates are off"),
        (0.725, "about 72 times in 100, 50 to 95 if our estimates are off"),  # not 725 in 1000 beside 50 in 100
    ],
)
def test_a_chance_and_its_ends_are_of_the_same_number(chance: float, told: str) -> None:
    assert Teller.of().times_within(chance, Range(0.5, 0.95)) == told


def test_a_plan_that_is_alone() -> None:
    assert str(TradeOff("none")) == "No other plan is noticeably cheaper, safer or likelier to succeed."
    assert Teller.of("de").trade_off(TradeOff("others_give_up")) == "Jeder spürbar günstigere Plan gibt zu früh auf."


def test_how_far_figures_can_be_off() -> None:
    cheapest = make_guessed()["cheapest"]
    assert str(cheapest) == (
        "first change job; succeeds in >99.9% of cases; costs 1.5 months on average, 8.21 months in the worst 5 of 100 "
        "cases (if our estimates are off: average 1.22 to 2.43, 95% within 1 to 10.4, worst 5% 5.33 to 15.78)"
    )
    row, ranges = Teller.of("de").overview(cheapest)
    assert row[3] == "1,5 months"
    assert ranges[:4] == ("", "falls unsere Schätzungen danebenliegen", "", "1,22 bis 2,43")
    mean, tail, success = Teller.of().figures(cheapest, ("a", "b", "c"))
    assert mean == ("a", "1.5 months", "1.22 to 2.43 if our estimates are off")
    assert tail.value == "8.21 months"
    assert success == ("c", ">99.9%", "")  # from more than 99.9% to more than 99.9%: nobody would notice


def test_several_ways_to_work_and_to_fail() -> None:
    (offer,) = make_single()
    assert offer.plan.lines()[:5] == [
        "1. Climb: costs 1 day, works 70 times in 100, 60 to 80 if our estimates are off.",
        "   If it works (place becomes rung 1, 60 times in 100, 50 to 70 if our estimates are off): climb (step 2).",
        "   If it works (you climb fast, 10 times in 100): you have reached “favourable decision”.",
        "   If it fails (nothing changes, 20 times in 100): this costs 1.5 days instead; try again.",
        (
            "   If it fails (leg becomes broken, 10 times in 100, 0 to 20 if our estimates are off): if you have "
            "made at most 4 tries in all by then, heal (step 3); otherwise, stop, since “favourable decision” is out "
            "of reach."
        ),
    ]


def test_steps_in_german() -> None:
    assert make_loan()["safest"].plan.lines("de")[:3] == [
        "1. Nebenher studieren: Aufwand: 1 Monat, gelingt in 90 von 100 Fällen.",
        "   Wenn es gelingt (Bildung: dann Abschluss und Lebensalter: dann erwachsen): mehr sparen (Schritt 2).",
        (
            "   Wenn es nicht gelingt: noch einmal versuchen; "
            "wenn es zweimal nicht gelingt: die Stelle wechseln (Schritt 3)."
        ),
    ]


def test_what_has_been_spent_is_told_exactly() -> None:
    told = [Teller.of().situation(step) for offer in make_spending() for step in offer.plan.steps[1:]]
    assert [text.removeprefix("a is ready and you have spent ") for text in told] == [
        "nothing yet", "3 months", "at most 1 month", "3 months", "at most 1.0001 months", "3 months",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("costs", "failure", "words"),
    [
        ((4.0, 4.0), 0.0, "success after 4 months"),
        (None, 0.1, "not in time"),
        ((1.0, 4.0), 0.05, "success after 1 to 4 months or not in time (5%)"),
    ],
)
def test_other_ways(costs: tuple[float, float] | None, failure: float, words: str) -> None:
    assert Teller.of().other_traces(costs, failure, "months") == f"All other ways together: {words}."


@pytest.mark.parametrize(
    ("level", "told", "gesagt"),
    [
        ("<20", "below 20", "unter 20"),
        ("<=2.5", "at most 2.5", "höchstens 2,5"),
        (">=12000", "12,000 or more", "mindestens 12.000"),
        (">-1", "above −1", "über −1"),
        ("20-25", "20-25", "20-25"),
        ("<none", "<none", "<none"),
    ],
)
def test_levels_beyond_an_edge_are_told_in_words(level: str, told: str, gesagt: str) -> None:
    assert Teller.of().level("term", level) == told
    assert Teller.of("de").level("term", level) == gesagt
