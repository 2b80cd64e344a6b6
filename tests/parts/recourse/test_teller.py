"""The one voice: every sentence that is made of a result."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from letter_menus import make_guessed, make_loan, make_single, make_spending
from safear.evaluation import Range
from safear.recourse import Teller, TradeOff
from safear.texts import languages


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


def test_how_far_figures_can_be_off(snapshot: SnapshotAssertion) -> None:
    cheapest = make_guessed()["cheapest"]
    assert str(cheapest) == snapshot
    row, ranges = Teller.of("de").overview(cheapest)
    assert row[3] == "1,5 months"
    assert ranges[:4] == ("", "falls unsere Schätzungen danebenliegen", "", "1,22 bis 2,43")
    mean, tail, success = Teller.of().figures(cheapest, ("a", "b", "c"))
    assert mean == ("a", "1.5 months", "1.22 to 2.43 if our estimates are off")
    assert tail.value == "8.21 months"
    assert success == ("c", ">99.9%", "")  # from more than 99.9% to more than 99.9%: nobody would notice


def test_several_ways_to_work_and_to_fail(snapshot: SnapshotAssertion) -> None:
    (offer,) = make_single()
    assert str(offer.plan) == snapshot


@pytest.mark.parametrize("language", languages())
def test_steps_in_every_language(language: str, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(make_loan()["safest"].plan.lines(language)) == snapshot


def test_what_has_been_spent_is_told_exactly(snapshot: SnapshotAssertion) -> None:
    told = [Teller.of().situation(step) for offer in make_spending() for step in offer.plan.steps[1:]]
    assert re.findall(r"[\d.]+|nothing", "\n".join(told)) == ["nothing", "3", "1", "3", "1.0001", "3"]
    assert "\n".join(told) == snapshot


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
