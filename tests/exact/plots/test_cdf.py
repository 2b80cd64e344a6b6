"""The picture of chances by cost, read back and held against the exact distributions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both
from doors import CDF_MAX_POINTS as MAX_POINTS
from doors import make_offer
from drawings import check_inside, check_texts_apart, described, of_class, path_points, read, texts_of
from drawn_menus import ALL, hopeless, menu_of, offer_of
from lanes import scaled
from safear.plots import Picture, cdf
from safear.recourse import Offer
from strategies import problems


def check(picture: Picture, offers: list[Offer]) -> None:
    """All that must hold for every picture."""
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    lines = of_class(read(picture.svg), "chances")
    assert len(lines) == len(offers)
    for number, (offer, line) in enumerate(zip(offers, lines, strict=True), start=1):
        rows = [row for row in picture.tables["points"] if row["plan"] == number]
        assert [row["chance"] for row in rows] == pytest.approx(
            [offer.cost.success_within(row["cost"]) for row in rows], abs=1e-9
        )
        assert all(one["cost"] < other["cost"] for one, other in pairwise(rows))
        assert len(rows) <= MAX_POINTS + 2
        corners = list(path_points(line.get("d", "")))
        assert all(x == other or y == other_y for (x, y), (other, other_y) in pairwise(corners))  # steps, no slopes
        assert all(other >= x and other_y <= y for (x, y), (other, other_y) in pairwise(corners))


@pytest.mark.parametrize("name", ALL)
def test_the_lines_are_the_distribution_functions(name: str) -> None:
    check(cdf(menu_of(name)), list(menu_of(name)))


@given(problems())
@settings(max_examples=scaled(20))
def test_any_problem(document: dict[str, Any]) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    offers = [make_offer(sa.solve(mdp, sa.MeanStd(aversion))) for aversion in (1.0, 0.0)]
    check(cdf(offers), offers)


def test_corners_are_on_one_scale() -> None:
    picture = cdf(menu_of("health-insurance"))
    (line,) = of_class(read(cdf([menu_of("health-insurance")["cheapest on average"]]).svg), "chances")
    rows = [row for row in picture.tables["points"] if row["plan"] == 3 and row["cost"]]
    tops = [corner for corner, after in pairwise([*path_points(line.get("d", "")), (1e9, 0)]) if corner[0] != after[0]]
    xs, ys = zip(*tops, strict=True)
    for values, places in (([row["cost"] for row in rows], xs), ([row["chance"] for row in rows], ys)):
        slope, start = np.polyfit(values, places[: len(values)], 1)
        assert np.allclose(slope * np.array(values) + start, places[: len(values)], atol=0.02)


def test_lines_can_be_told_apart_in_grey() -> None:
    root = read(cdf(sa.recommend(sa.load_example("health-insurance"), most=4, exact=True)).svg)
    dashes = [line.get("stroke-dasharray") for line in of_class(root, "chances")]
    assert len(set(dashes)) == 4
    assert dashes == [line.get("stroke-dasharray") for line in of_class(root, "leader")]


def test_what_is_said() -> None:
    picture = cdf(menu_of("loan"))
    assert {"safest (>99.9%)", "cheapest on average (>99.9%)", "95%", "cost in months"} <= set(texts_of(picture.svg))
    assert "Plan 2: cheapest on average · starts with: change job: 90% within 1 month," in described(picture.svg)


def test_a_plan_that_never_succeeds_and_one_that_always_does() -> None:
    offers = [menu_of("health-insurance")["safest"]]
    check(cdf(offers), offers)
    check(cdf([hopeless()]), [hopeless()])
    assert "0% in time at all" in described(cdf([hopeless()]).svg)


def test_huge_horizons_and_many_plans() -> None:
    long = [offer_of(menu_of("gamble").problem.with_horizon(900))]
    check(cdf(long), long)
    many = list(menu_of("craft").frontier) * 3
    check(cdf(many), many)
