"""100 people: the dots are quantiles, and the sentence is true of them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both
from doors import PAPER, PEOPLE, WRONG, describe_dots, find_costs, find_dots, find_ticks, make_offer
from drawings import (
    SVG,
    check_inside,
    check_texts_apart,
    described,
    get,
    of_class,
    overlap,
    read,
    shown_text,
    texts_of,
)
from drawn_menus import ALL, NAMES, hopeless, menu_of, nasty, offer_of
from lanes import scaled
from safear.plots import Picture, dots
from safear.recourse import Offer
from strategies import problems


def rounded(chance: float) -> int:
    """So many of them, halves up."""
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
    check_dots(picture)


def check_dots(picture: Picture) -> None:
    """No dot hides another; those of a cost stand around that cost on one axis, failures apart and hollow."""
    root, rows = read(picture.svg), picture.tables["dots"]
    kinds = {True: of_class(root, "done"), False: of_class(root, "missed")}
    drawn = {
        success: {node.get("data-dot"): node for part in parts for node in part} for success, parts in kinds.items()
    }
    assert all((part.get("fill"), part.get("stroke")) == (PAPER, WRONG) for part in kinds[False])
    boxes = []
    stacks: dict[float | None, list[float]] = {}
    for row in rows:
        circle = drawn[row["success"]].pop(str(row["dot"]))
        x, y, r = get(circle, "cx"), get(circle, "cy"), get(circle, "r")
        boxes.append((x - r, y - r, x + r, y + r))
        stacks.setdefault(row["cost"], []).append(x)
    assert not [number for left in drawn.values() for number in left if number]
    assert not [1 for place, one in enumerate(boxes) for other in boxes[:place] if overlap(one, other)]
    ticks = read_ticks(root)
    unit, (zero, start) = (ticks[-1][1] - ticks[0][1]) / (ticks[-1][0] - ticks[0][0]), ticks[0]
    done = [x for cost, xs in stacks.items() if cost is not None for x in xs]
    assert all(x > max(done, default=0.0) for x in stacks.get(None, []))
    for cost, xs in stacks.items():
        if cost is not None:
            assert (min(xs) + max(xs)) / 2 == pytest.approx(start + unit * (cost - zero), abs=0.1)


def read_ticks(root: ET.Element) -> list[tuple[float, float]]:
    """The numbers of the axis and where they stand."""
    (axis,) = of_class(root, "axis")
    found = [(shown_text(node), get(node, "x")) for node in axis.iter(f"{SVG}text") if node.get("text-anchor")]
    return [(float(text.replace(",", "")), x) for text, x in found if re.fullmatch(r"[\d.,]+", text)]


@pytest.mark.parametrize("name", ALL)
def test_dots_are_quantiles(name: str) -> None:
    for offer in menu_of(name):
        check(dots(offer), offer)


@given(problems())
@settings(max_examples=scaled(30))
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
        rf"(\d+)(?: of 100)?(?: is done| are done)? (?:after|within) (\S+) (?:{unit}|{unit[:-1]})", sentence
    )
    for count, cost in parts:
        if cost in costs:  # not shortened
            assert int(count) == rounded(offer.cost.success_within(costs[cost])), sentence
    missed = PEOPLE - rounded(offer.cost.success)
    if missed == PEOPLE:
        assert sentence.startswith("None of 100 is done in time."), sentence
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
        f"83 of 100 are done after 2 months, 99 within 3 months, all 100 within 4 months. {rest}"
    )
    assert describe_dots(insurance["safest"]) == "All 100 are done after 3 quarters."
    assert describe_dots(menu_of("gamble").offers[0]) == (
        "30 of 100 are done after 1 month, 51 within 2 months, 49 are not done in time."
    )
    assert describe_dots(hopeless()) == "None of 100 is done in time."
    rare = offer_of(menu_of("gamble").problem.with_horizon(1))
    assert describe_dots(rare) == "30 of 100 are done after 1 month, 70 are not done in time."
    for name in NAMES:
        for offer in menu_of(name):
            check_sentence(offer)


def test_the_picture_says_its_sentence() -> None:
    picture = dots(menu_of("loan")["safest"])
    assert describe_dots(menu_of("loan")["safest"]) in " ".join(texts_of(picture.svg))
    assert describe_dots(menu_of("loan")["safest"]) in described(picture.svg)
    assert "Done: 83 after 2 months; 16 after 3 months; 1 after 4 months." in described(picture.svg)
    assert picture.tables["sentences"] == [{"sentence": describe_dots(menu_of("loan")["safest"])}]


def test_fine_costs_stand_over_their_own_place() -> None:
    """No two of these costs are a dot apart, and yet none is moved to a round number."""
    offer = menu_of("craft").offers[0]
    rows = find_dots(offer)
    assert len({dot.cost for dot in rows}) == 14
    check_dots(dots(offer))
    assert [dot.cost for dot in rows] == find_costs(offer)


def test_plans_of_a_menu_have_one_axis() -> None:
    menu = menu_of("health-insurance")
    axes = [read_ticks(read(dots(offer, beside=menu).svg)) for offer in menu]
    assert all(axis == axes[0] for axis in axes)
    assert read_ticks(read(dots(menu[0]).svg)) != axes[0]
    for offer in menu:
        check_dots(dots(offer, beside=menu))


def test_extremes() -> None:
    check(dots(hopeless()), hopeless())
    long = offer_of(menu_of("gamble").problem.with_horizon(900))
    check(dots(long), long)
    for offer in nasty():
        check(dots(offer), offer)


def test_an_axis_has_more_than_its_origin() -> None:
    """All end at one cost, which the first round number lies beyond."""
    assert find_ticks(3.0, 700, "{:g}".format, gap=3.0) == [0.0, 3.0]
