"""The picture of distributions, read back and held against the exact distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from compare import read_both
from doors import MOST_BARS, PAPER, WRONG, blue, find_bars, find_end, make_offer
from drawings import SVG, check_inside, check_texts_apart, described, get, of_class, read, shown_text, texts_of
from drawn_menus import ALL, CRAFT, hopeless, menu_of, offer_of
from lanes import scaled
from safear.plots import Picture, distribution, traces
from safear.recourse import Offer, Teller
from strategies import problems


def check(picture: Picture, offers: list[Offer]) -> None:
    """All that must hold for every picture."""
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    bars = picture.tables["bars"]
    for number, offer in enumerate(offers, start=1):
        mine = [bar for bar in bars if bar["plan"] == number]
        assert math.fsum(bar["chance"] for bar in mine) == pytest.approx(1, abs=1e-12)
        assert math.fsum(bar["worst"] for bar in mine) == pytest.approx(1 - offer.level, abs=1e-12)
        assert all(-1e-15 <= bar["worst"] <= bar["chance"] * (1 + 1e-12) for bar in mine)
        failed = math.fsum(bar["chance"] for bar in mine if bar["kind"] == "not in time")
        assert failed == pytest.approx(1 - offer.cost.success, abs=1e-12)
        for bar in mine:
            if bar["kind"] == "not in time":
                continue
            below = offer.cost.success_within(bar["low"] - 1e-9 if bar["low"] == bar["high"] else bar["low"])
            first = bar["low"] == 0 < bar["high"]  # the first bundle holds what costs nothing too
            assert bar["chance"] == pytest.approx(
                offer.cost.success_within(bar["high"]) - (0 if first else below), abs=1e-9
            )
    check_heights(picture)


def check_heights(picture: Picture) -> None:
    """Heights are proportional to chances (but for what is too small to be seen), the worst part on top."""
    drawn = of_class(read(picture.svg), "bar")
    assert len(drawn) == len(picture.tables["bars"])
    scales = []
    for node, bar in zip(drawn, picture.tables["bars"], strict=True):
        parts = {part.get("class"): part for part in node.iter(f"{SVG}rect")}
        assert (bar["kind"] == "not in time") == ("failed" in parts)
        top = min(get(part, "y") - get(part, "stroke-width") / 2 for part in parts.values())
        bottom = max(get(part, "y") + get(part, "height") + get(part, "stroke-width") / 2 for part in parts.values())
        if bottom - top > 20:
            scales.append((bottom - top) / bar["chance"])
        if {"usual", "worst"} <= set(parts) and bottom - top > 20:
            usual = get(parts["usual"], "height") / (bottom - top)
            assert usual == pytest.approx(1 - bar["worst"] / bar["chance"], abs=0.03)
            assert get(parts["worst"], "y") < get(parts["usual"], "y")
    assert scales == pytest.approx([scales[0]] * len(scales), rel=0.03)


@pytest.mark.parametrize("name", ALL)
def test_bars_are_the_exact_distribution(name: str) -> None:
    check(distribution(menu_of(name)), list(menu_of(name)))


@given(problems(), st.sampled_from([0.5, 0.95, 1.0]))
@settings(max_examples=scaled(25))
def test_any_problem(document: dict[str, Any], level: float) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    offers = [make_offer(sa.solve(mdp, sa.MeanStd(aversion)), level=level) for aversion in (1.0, 0.0)]
    check(distribution(offers), offers)


def test_the_worst_are_the_tail() -> None:
    """The mean of the worst parts, failures with what failing costs, is the CVaR."""
    menu = menu_of("health-insurance")
    found = find_bars(menu)
    assert not found.has("later")
    for number, offer in enumerate(menu, start=1):
        bars = [bar for bar in found.bars if bar.plan == number]
        worst = math.fsum(bar.worst * (8.0 if bar.high is None else bar.high) for bar in bars)  # failed after 8 steps
        assert worst / (1 - offer.level) == pytest.approx(offer.tail)


def test_marks_stand_where_they_say() -> None:
    menu, picture = menu_of("health-insurance"), distribution(menu_of("health-insurance"))
    nodes = of_class(read(picture.svg), "plan")
    places: dict[float, float] = {}
    for node in nodes:
        for text in node.iter(f"{SVG}text"):
            if shown_text(text).isdigit():
                places[float(shown_text(text))] = get(text, "x")
    scale = places[8.0] - places[0.0]
    assert scale > 500
    for node, offer in zip(nodes, menu, strict=True):
        found = {mark.get("data-mark"): get(mark.findall(f"{SVG}line")[1], "x1") for mark in of_class(node, "mark")}
        figures = {"average": offer.mean, "worst": offer.tail, "within": offer.cost.all_runs.var(0.95)}
        if offer.name == "safest":  # is certain
            assert found == {"average": pytest.approx(places[3.0], abs=0.01)}
        else:
            assert found == {
                name: pytest.approx(places[0.0] + scale * cost / 8, abs=0.02) for name, cost in figures.items()
            }


def test_what_is_said_of_the_loan() -> None:
    texts = texts_of(distribution(menu_of("loan")).svg)
    assert {"average 1.5 months", "95% are done within 4.8 months", "worst 5%: 8.21 months"} <= set(texts)
    assert {"90%", "83%", "3.6%", "not in time", "over 10.4"} <= set(texts)
    assert "always 3 quarters" in texts_of(distribution(menu_of("health-insurance")).svg)


@pytest.mark.parametrize("draw", [distribution, traces])
def test_how_far_figures_can_be_off_stands_in_a_line(draw: Callable[..., Picture]) -> None:
    menu = menu_of("guesses")
    picture = draw(menu)
    check_inside(picture.svg)
    spans = [Teller.of().spans(offer) for offer in menu]
    lines = [f"if our estimates are off: average {s.mean} · worst 5% of cases: {s.tail}" for s in spans]
    assert [text for text in texts_of(picture.svg) if "estimates" in text] == lines
    assert all(line in described(picture.svg) for line in lines)
    assert "estimates" not in draw(menu_of("loan")).svg


def test_failures_are_apart_and_orange_is_only_for_what_goes_wrong() -> None:
    picture = distribution(menu_of("gamble"))
    root = read(picture.svg)
    (failed,) = of_class(root, "failed")
    usual = of_class(root, "usual")
    assert failed.get("stroke") == WRONG
    assert failed.get("fill") == PAPER
    assert get(failed, "x") > max(get(bar, "x") + get(bar, "width") for bar in usual) + 20
    assert {bar.get("fill") for bar in usual} == {blue(0, 1)}
    assert "only 51% are ever done in time" in texts_of(picture.svg)
    safe = distribution([menu_of("health-insurance")["safest"]])
    assert WRONG not in safe.svg
    assert "not in time" not in " ".join(texts_of(safe.svg))


def test_figures_beyond_the_axis_point_there() -> None:
    """What failing costs does not squeeze the rest."""
    offer = menu_of("gamble").offers[0]
    picture = distribution([offer])
    assert find_end([offer]) == 2
    assert offer.mean > 2
    assert "average 50.7 months →" in texts_of(picture.svg)
    assert not of_class(read(picture.svg), "mark")


def test_a_plan_that_never_succeeds() -> None:
    picture = distribution([hopeless()])
    check(picture, [hopeless()])
    assert [bar["kind"] for bar in picture.tables["bars"]] == ["not in time"]
    assert "never done in time" in texts_of(picture.svg)


def test_cheap_failures_are_not_called_the_worst() -> None:
    """Who fails after 1 month pays less than who succeeds after 3: the worst 5% have succeeded."""
    problem = sa.parse_problem(CRAFT)
    cheap = replace(problem, goal=replace(problem.goal, failure_cost=Decimal(0)), horizon=8)
    offer = offer_of(cheap, sa.SuccessFirst())
    found = find_bars([offer])
    failed = [bar for bar in found.bars if bar.kind == "not in time"]
    assert failed[0].worst < failed[0].chance
    check(distribution([offer]), [offer])


def test_fine_costs_are_bundled_and_rare_ones_left_to_a_column() -> None:
    picture = distribution(menu_of("craft"))
    found = find_bars(menu_of("craft"))
    assert found.axis.step == 100
    assert len({cost for offer in menu_of("craft") for cost, *_ in offer.cost.points()}) > 5 * MOST_BARS
    assert sum(bar.plan == 1 for bar in found.bars) <= MOST_BARS + 2
    widths = [bar.high - bar.low for bar in found.bars if bar.kind == "cost" and bar.high and bar.low is not None]
    assert widths == pytest.approx([100] * len(widths))
    assert "each bar holds costs of 100 euros together" in picture.svg
    for bar in found.bars:
        assert bar.kind != "later" or 0 < bar.chance <= 0.0101


def test_a_huge_horizon() -> None:
    offer = offer_of(menu_of("gamble").problem.with_horizon(900))
    picture = distribution([offer])
    check(picture, [offer])
    assert find_bars([offer]).axis.end < 30


def test_one_plan_and_many() -> None:
    offers = list(menu_of("craft").frontier)
    assert len(offers) > 8
    check(distribution(offers), offers)
    assert distribution(offers[:1]).svg.count('class="plan"') == 1


def test_it_is_told_to_screen_readers() -> None:
    lines = described(distribution(menu_of("loan")).svg).splitlines()
    assert lines[0].startswith(
        "Plan 1: safest · starts with: study part-time: average 2.19 months; 95% are done within 3"
    )
    assert lines[1].startswith("83%: done after 2 months; 16%: done after 3 months;")
    assert lines[3].endswith("<0.1%: not in time.")


def test_of_equal_costs_failures_are_the_worse() -> None:
    """After 2 months some have succeeded and some have not: the worst 5% are among those who have not."""
    problem = menu_of("gamble").problem
    offer = offer_of(replace(problem, goal=replace(problem.goal, failure_cost=Decimal(0))))
    worst = {(bar.kind, bar.high): bar.worst for bar in find_bars([offer]).bars}
    assert worst == {("cost", 1.0): 0, ("cost", 2.0): 0, ("not in time", None): pytest.approx(0.05)}
