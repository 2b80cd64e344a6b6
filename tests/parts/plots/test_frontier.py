"""The picture of the frontier, read back and held against the menu."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import safear as sa
from doors import WRONG, PointRow, find_points
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
    text_box,
    texts_of,
)
from drawn_menus import ALL, NASTY, menu_of, offer_of
from safear.plots import Picture, frontier
from safear.recourse import Teller


def greedy(name: str) -> sa.Menu:
    problem = menu_of(name).problem
    return sa.recommend(problem, method="greedy", objectives=["mean-std:0", "mean-std:0.5", "mean-std:1"])


def points_of(menu: sa.Menu, others: sa.Menu | list[sa.Offer], *kinds: str) -> list[PointRow]:
    return [point for point in find_points(menu, others, Teller.of()) if point.kind in kinds]


def places(picture: Picture, kind: str) -> list[tuple[float, float]]:
    """Where the marks of a kind stand."""
    found = []
    for node in of_class(read(picture.svg), kind):
        circle, path = node.find(f"{SVG}circle"), node.find(f"{SVG}path")
        if circle is not None:
            found.append((get(circle, "cx"), get(circle, "cy")))
        elif path is not None:
            x, y = re.findall(r"-?[\d.]+", path.get("d", ""))[:2]
            found.append((float(x), float(y) + 13))
    return found


@pytest.mark.parametrize("name", ALL)
def test_marks_are_on_one_scale(name: str) -> None:
    menu, others = menu_of(name), greedy(name)
    picture = frontier(menu, others)
    check_inside(picture.svg)
    rows = picture.tables["points"]
    drawn = [place for kind in ("frontier", "offered", "greedy") for place in places(picture, kind)]
    assert len(drawn) == len(rows) == len(menu.frontier) + len(others)
    for column, key in enumerate(("average", "tail")):
        values, spots = [row[key] for row in rows], [place[column] for place in drawn]
        if max(values) - min(values) < 1e-9:
            assert max(spots) - min(spots) < 0.05
            continue
        slope, start = np.polyfit(values, spots, 1)
        assert (slope > 0) == (key == "average")
        assert np.allclose(slope * np.array(values) + start, spots, atol=0.05)


@pytest.mark.parametrize("name", ALL)
def test_the_points_are_the_plans(name: str) -> None:
    menu, others = menu_of(name), greedy(name)
    offered = points_of(menu, others, "offered")
    assert [(point.name, point.average, point.tail) for point in offered] == [
        (offer.name, offer.mean, offer.tail) for offer in menu
    ]
    assert [point.label for point in offered] == [str(number) for number in range(1, len(menu) + 1)]
    assert [point.label for point in points_of(menu, others, "greedy")] == ["A", "B", "C"]
    assert {(point.average, point.tail) for point in points_of(menu, others, "offered", "frontier")} == {
        (shown.mean, shown.tail)
        for shown in (
            {id(one.best.solution): one for one in menu}.get(id(offer.solution), offer) for offer in menu.frontier
        )
    }
    is_simple = any(offer.simplified is not None for offer in menu)
    assert ("Offered plans are simplified" in frontier(menu).svg.replace("\n", " ")) == is_simple


@pytest.mark.parametrize("name", ALL)
def test_names_stand_apart(name: str) -> None:
    for others in ((), greedy(name)):
        svg = frontier(menu_of(name), others).svg
        check_inside(svg)
        words = [
            node
            for node in read(svg).iter(f"{SVG}text")
            if not re.fullmatch(r"[\d.]+|[A-Z](, [A-Z])*", shown_text(node))
        ]
        assert not [pair for pair in combinations([text_box(node) for node in words], 2) if overlap(*pair)]
        assert {offer.name for offer in menu_of(name)} <= set(texts_of(svg))
    check_texts_apart(frontier(menu_of("health-insurance")).svg)


def test_whiskers_end_where_figures_can_be() -> None:
    menu = menu_of("guesses")
    picture = frontier(menu)
    points = [row for row in picture.tables["points"] if row["kind"] == "offered"]
    drawn = {node.get("data-label"): list(node.iter(f"{SVG}line")) for node in of_class(read(picture.svg), "whiskers")}
    marks = dict(zip([row["label"] for row in points], places(picture, "offered"), strict=True))
    assert drawn.keys() == marks.keys()
    for offer, row in zip(menu, points, strict=True):
        assert offer.ranges is not None
        assert (row["tail_low"], row["tail_high"]) == (offer.ranges.tail.low, offer.ranges.tail.high)
        (x, y), lines = marks[row["label"]], drawn[row["label"]]
        across = [get(node, name) for node in lines for name in ("x1", "x2") if get(node, "y1") == get(node, "y2") == y]
        updown = [get(node, name) for node in lines for name in ("y1", "y2") if get(node, "x1") == get(node, "x2") == x]
        for name, place, ends in (("average", x, across), ("tail", -y, [-end for end in updown])):
            below, above = (
                (end - place) / (row[f"{name}_{which}"] - row[name])
                for which, end in (("low", min(ends)), ("high", max(ends)))
            )
            assert below == pytest.approx(above, rel=0.02)  # as far as it can be off, on both sides, and never cut
            assert above > 0
        assert Teller.of().spans(offer).tail in texts_of(picture.svg)
    assert "from the best to the worst case" in picture.svg
    assert "No plan is better in both" in picture.svg
    robust = frontier(sa.recommend(menu.problem, robust=True))
    assert "there, none is better in both" in " ".join(texts_of(robust.svg))
    assert "No plan is better in both" not in robust.svg
    certain = frontier(menu_of("loan"))
    assert not of_class(read(certain.svg), "whiskers")
    assert "estimates" not in certain.svg


def test_greedy_plans_are_other_marks_and_nothing_is_orange() -> None:
    picture = frontier(menu_of("craft"), greedy("craft"))
    assert WRONG not in picture.svg
    assert "Diamonds are plans of the greedy method" in picture.svg
    assert "Diamonds" not in frontier(menu_of("craft")).svg
    texts = texts_of(picture.svg)
    assert "A, B" in texts  # at one place, beside the mark of the plan that is offered
    assert "C" in texts


def test_tails_are_those_of_the_menu() -> None:
    """A greedy plan has its tail at the level of the menu beside it."""
    menu = sa.recommend(sa.load_example("loan"), level=0.8)
    other = offer_of(menu.problem, sa.MeanStd(0.5))
    (point,) = points_of(menu, [other], "greedy")
    assert other.level == 0.95
    assert point.tail == pytest.approx(other.cost.all_runs.cvar(0.8))
    assert "worst 20% of cases, months" in texts_of(frontier(menu).svg)


def test_many_letters_and_nasty_names() -> None:
    menu = menu_of("loan")
    others = [replace(offer, label=NASTY) for offer in menu] * 20
    picture = frontier(menu, others, title=NASTY)
    check_inside(picture.svg)
    labels = [point["label"] for point in picture.tables["points"] if point["kind"] == "greedy"]
    assert labels[25:28] == ["Z", "AA", "AB"]
    assert "a <b>" not in picture.svg


def test_it_is_told_to_screen_readers() -> None:
    lines = described(frontier(menu_of("loan"), greedy("loan")).svg).splitlines()
    assert lines[0] == (
        "Offered: safest, starts with: study part-time; average 2.19 months · worst 5%: 3.38 months · succeeds >99.9%."
    )
    assert [line.split(":")[0] for line in lines] == ["Offered", "Offered", "Greedy", "Greedy", "Greedy", "Not offered"]


def test_what_has_no_frontier_is_refused() -> None:
    asked = sa.recommend(sa.load_example("loan"), objectives=["mean"])
    cause = r"^this menu has no frontier: its plans are for given objectives\n    use sa\.recommend"
    with pytest.raises(sa.InputError, match=cause):
        frontier(asked)
    with pytest.raises(sa.InputError, match=r"different cost units: 'months', 'quarters'"):
        frontier(menu_of("loan"), menu_of("health-insurance"))
