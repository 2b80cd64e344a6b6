"""Fifty people: the dots are quantiles, and the sentence is true of them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both
from plots.drawings import SVG, check_inside, check_texts_apart, described, get, of_class, overlap, read, texts_of
from plots.menus import ALL, hopeless, menu_of, nasty, offer_of
from safear.plots import Picture, dots
from safear.plots.axes import find_ticks
from safear.plots.dots_picture import PEOPLE, describe_dots, find_dots
from safear.plots.svg import PAPER, WRONG
from safear.recourse.offer import Offer, make_offer
from strategies import problems


def rounded(chance: float) -> int:
    """So many of fifty, halves up."""
    return math.floor(Fraction(chance).limit_denominator(10**12) * PEOPLE + Fraction(1, 2))


def check(picture: Picture, offer: Offer) -> None:
    """All that must hold for every picture."""
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    rows = picture.tables["dots"]
    assert [row["dot"] for row in rows] == list(range(1, PEOPLE + 1))
    for cost in {row["cost"] for row in rows if row["success"]}:
        within = sum(row["success"] and row["cost"] <= cost for row in rows)
        assert within == rounded(offer.cost.success_within(cost))
    assert sum(not row["success"] for row in rows) == PEOPLE - rounded(offer.cost.success)
    assert all(row["low"] <= row["cost"] * (1 + 1e-9) <= row["high"] * (1 + 2e-9) for row in rows if row["success"])
    check_dots(picture)


def check_dots(picture: Picture) -> None:
    """No dot hides another; dots stand over their costs, failures apart and hollow."""
    root, rows = read(picture.svg), picture.tables["dots"]
    circles = {int(node.get("data-dot", "0")): node.find(f"{SVG}circle") for node in of_class(root, "dot")}
    assert len(circles) == PEOPLE
    boxes = []
    stacks: dict[float | None, list[float]] = {}
    for row in rows:
        circle = circles[row["dot"]]
        assert circle is not None
        assert circle.get("class") == ("done" if row["success"] else "missed")
        assert row["success"] or (circle.get("fill"), circle.get("stroke")) == (PAPER, WRONG)
        x, y, r = get(circle, "cx"), get(circle, "cy"), get(circle, "r")
        boxes.append((x - r, y - r, x + r, y + r))
        stacks.setdefault(row["high"], []).append(x)
    assert not [1 for place, one in enumerate(boxes) for other in boxes[:place] if overlap(one, other)]
    middles = [
        (min(xs) + max(xs)) / 2
        for high, xs in sorted(stacks.items(), key=lambda item: math.inf if item[0] is None else item[0])
    ]
    assert middles == sorted(middles)


@pytest.mark.parametrize("name", ALL)
def test_dots_are_quantiles(name: str) -> None:
    for offer in menu_of(name):
        check(dots(offer), offer)


@given(problems())
@settings(max_examples=30)
def test_any_problem(document: dict[str, Any]) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for objective in (sa.Mean(), sa.MeanStd(1.0)):
        offer = make_offer(sa.solve(mdp, objective))
        check(dots(offer), offer)
        check_sentence(offer)


def check_sentence(offer: Offer) -> None:
    """Every number of the sentence, held against the distribution."""
    sentence, unit = describe_dots(offer), re.escape(offer.unit)
    costs = {f"{cost:g}": cost for cost, _, success in offer.cost.points() if success}
    parts = re.findall(
        rf"(\d+)(?: of 50)?(?: is done| are done)? (?:after|within) (\S+) (?:{unit}|{unit[:-1]})", sentence
    )
    for count, cost in parts:
        if cost in costs:  # not shortened
            assert int(count) == rounded(offer.cost.success_within(costs[cost])), sentence
    missed = PEOPLE - rounded(offer.cost.success)
    if missed == PEOPLE:
        assert sentence.startswith("None of 50 is done in time."), sentence
    else:
        assert parts, sentence
        assert (re.search(r"(\d+) (?:is|are) not done in time\.", sentence.split(" Too few")[0]) is not None) == bool(
            missed
        )
        assert int(parts[-1][0]) == PEOPLE - missed


def test_the_sentences() -> None:
    loan, insurance = menu_of("loan"), menu_of("health-insurance")
    rest = "Too few for a dot: 0.2% take longer and <0.1% are not done in time."
    assert describe_dots(loan["safest"]) == (
        f"41 of 50 are done after 2 months, 49 within 3 months, all 50 within 4 months. {rest}"
    )
    assert describe_dots(insurance["safest"]) == "All 50 are done after 3 quarters."
    assert describe_dots(menu_of("gamble").offers[0]) == (
        "15 of 50 are done after 1 month, 26 within 2 months, 24 are not done in time."
    )
    assert describe_dots(hopeless()) == "None of 50 is done in time."
    rare = offer_of(menu_of("gamble").problem.with_horizon(1))
    assert describe_dots(rare) == "15 of 50 are done after 1 month, 35 are not done in time."
    for name in ALL:
        for offer in menu_of(name):
            check_sentence(offer)


def test_the_picture_says_its_sentence() -> None:
    picture = dots(menu_of("loan")["safest"])
    assert describe_dots(menu_of("loan")["safest"]) in " ".join(texts_of(picture.svg))
    assert describe_dots(menu_of("loan")["safest"]) in described(picture.svg)
    assert "Done: 41 after 2 months; 8 after 3 months; 1 after 4 months." in described(picture.svg)
    assert picture.tables["sentences"] == [{"sentence": describe_dots(menu_of("loan")["safest"])}]


def test_fine_costs_stand_together() -> None:
    axis, rows = find_dots(menu_of("craft").offers[0])
    assert axis.step == axis.gap == 200
    assert len({dot.high for dot in rows}) < len({dot.cost for dot in rows})
    assert "A stack holds 200 euros" in " ".join(texts_of(dots(menu_of("craft").offers[0]).svg))


def test_extremes() -> None:
    check(dots(hopeless()), hopeless())
    long = offer_of(menu_of("gamble").problem.with_horizon(900))
    check(dots(long), long)
    for offer in nasty():
        check(dots(offer), offer)


def test_an_axis_has_more_than_its_origin() -> None:
    """All end at one cost, which the first round number lies beyond."""
    assert find_ticks(3.0, 700, "{:g}".format, gap=3.0) == [0.0, 3.0]
