"""The picture of a contingent plan, read back and held against the plan."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both
from doors import MOST_COLUMNS, TITLE, WRONG, capital, make_offer, place_steps
from drawings import (
    SVG,
    box,
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
from drawn_menus import ALL, CRAFT, hopeless, menu_of, nasty, offer_of
from lanes import scaled
from safear.plots import Picture, tree
from safear.recourse import Offer, Teller
from small_problems import surprising
from strategies import problems


def check(picture: Picture, offer: Offer) -> None:
    """All that must hold for every picture."""
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    root, steps, ways = read(picture.svg), picture.tables["steps"], picture.tables["ways"]
    numbers = [step.number for step in offer.plan.steps]
    assert sorted(row["step"] for row in steps) == numbers  # each step stands once, however often it is taken
    assert sorted(int(node.get("data-step", "0")) for node in of_class(root, "step")) == numbers
    boxes = [box(node.findall(f"{SVG}rect")[0]) for node in of_class(root, "step")]
    assert not [
        1 for place, one in enumerate(boxes) for other in boxes[:place] if one and other and overlap(one, other)
    ]
    assert [int(node.get("data-step", "0")) for node in sorted(of_class(root, "step"), key=corner)] == numbers
    drawn = {(row["step"], row["way"]): row for row in ways if row["place"] != "left out"}
    for kind in ("works", "fails"):
        nodes = of_class(root, kind)
        assert len(nodes) == sum(row["works"] == (kind == "works") for row in drawn.values())
        for node in nodes:
            lines = [part for part in node if part.get("stroke") is not None]
            assert {part.get("stroke") == WRONG for part in lines} == {kind == "fails"}
            assert {part.get("stroke-dasharray") is not None for part in lines} == {kind == "fails"}
            row = drawn[int(node.get("data-step", "0")), int(node.get("data-way", "0"))]
            assert bool(of_class(node, "loop")) == (row["place"] == "again")
    check_ways(picture, offer)


def corner(step: ET.Element) -> tuple[float, float]:
    """Where a step stands, as one reads: from the top down, in a line from left to right."""
    frame = step.findall(f"{SVG}rect")[0]
    return get(frame, "y"), get(frame, "x")


def check_ways(picture: Picture, offer: Offer) -> None:
    """From each step, chances add up to one; each way leads where the plan says."""
    steps, ways = {row["step"]: row for row in picture.tables["steps"]}, picture.tables["ways"]
    for step in offer.plan.steps:
        mine = [row for row in ways if row["step"] == step.number]
        assert math.fsum(row["chance"] for row in mine) == pytest.approx(1)
        wanted = sorted(
            (branch.works, Teller.of(glossary=offer.glossary).outcome(branch), follow_up.kind, follow_up.step or 0)
            for branch in step.branches
            for follow_up in branch.follow_ups
        )
        assert sorted((row["works"], row["outcome"], row["kind"], row["target"] or 0) for row in mine) == wanted
        works = math.fsum(row["chance"] for row in mine if row["works"])
        assert works == pytest.approx(step.chance)
        assert sum(row["place"] == "below" for row in mine) <= 1
    for row in ways:
        assert (row["place"] == "again") == (row["target"] == row["step"] and row["place"] != "left out")
        assert row["place"] not in {"below", "right"} or row["target"] is None or row["target"] in steps
    reached = [row["target"] for row in ways if row["place"] in {"below", "right"} and row["target"] is not None]
    assert len(set(reached)) == len(reached)
    assert {row["step"] for row in steps.values() if not row["root"]} == set(reached)
    assert all(row["column"] < MOST_COLUMNS for row in steps.values())


@pytest.mark.parametrize("name", ALL)
def test_all_steps_and_ways_are_there(name: str) -> None:
    for offer in menu_of(name):
        check(tree(offer), offer)


@given(problems())
@settings(max_examples=scaled(40))
def test_any_problem(document: dict[str, Any]) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for objective in (sa.Mean(), sa.MeanStd(1.0)):
        offer = make_offer(sa.solve(mdp, objective))
        if offer.plan.steps:
            check(tree(offer), offer)


def test_the_loan() -> None:
    offer = menu_of("loan")["cheapest on average"]
    texts = texts_of(tree(offer).svg)
    assert {"Change job", "1 month, works 90 times in 100", "works 90%", "savings becomes rich", "approved"} <= set(
        texts
    )
    assert {"fails 10%", "you lose your job", "fails 60%: try again", "works 40%", "back to step 1"} <= set(texts)
    assert "3 rare situations are not listed. Ask again if you meet one." in texts
    rows = {(row["step"], row["target"]): row["place"] for row in tree(offer).tables["ways"]}
    assert rows[1, 2] == "right"
    assert rows[2, 2] == "again"
    assert rows[2, 1] == "named"


def test_loops_are_not_unrolled() -> None:
    """One step that is tried up to 900 times is one box with one loop."""
    offer = offer_of(menu_of("gamble").problem.with_horizon(900))
    root = read(tree(offer).svg)
    assert len(of_class(root, "step")) == 1
    assert len(of_class(root, "loop")) == 1


def test_a_step_elsewhere_is_named_and_called_back_only_where_it_loops() -> None:
    assert check_named(menu_of("loan")["safest"]) == {"back to", "on to"}
    assert check_named(menu_of("craft")["safest"]) == {"back to", "on to"}


def check_named(offer: Offer) -> set[str]:
    """What is said before the number of a step that stands elsewhere."""
    placed, picture = place_steps(offer.plan, Teller.of()), tree(offer)
    chips = [shown_text(node.findall(f"{SVG}text")[0]) for node in of_class(read(picture.svg), "named")]
    before = {way.target: way.step for way in placed.ways if way.place in {"below", "right"}}

    def lead_to(step: int | None) -> set[int | None]:
        return set() if step is None else {step, *lead_to(before.get(step))}

    wanted = [
        f"{'back to' if way.target in lead_to(way.step) else 'on to'} step {way.target}"
        for way in placed.ways
        if way.place == "named"
    ]
    assert sorted(chips) == sorted(wanted)
    return {chip.split(" step")[0] for chip in chips}


def test_what_an_outcome_costs_is_said_if_it_is_not_what_the_step_costs() -> None:
    assert "costs 411 euros, you fall ill" in " ".join(
        described_or_shown(tree(menu_of("craft")["cheapest on average"]))
    )


def described_or_shown(picture: Picture) -> list[str]:
    """All words, also those that are shortened."""
    return ["".join(node.itertext()) for node in read(picture.svg).iter(f"{SVG}text")]


def test_titles_are_wrapped_and_never_cut() -> None:
    offer = nasty()[0]
    picture = tree(offer)
    check(picture, offer)
    steps = of_class(read(picture.svg), "step")
    for node, row in zip(steps, sorted(picture.tables["steps"], key=lambda row: row["step"]), strict=True):
        titles = [text for text in node.findall(f"{SVG}text") if get(text, "font-size") == TITLE]
        assert len(titles) > 2
        assert " ".join(map(shown_text, titles)).split() == capital(row["action"]).split()
        frame = box(node.findall(f"{SVG}rect")[0])
        assert frame is not None
        for text in node.findall(f"{SVG}text"):
            left, top, right, bottom = text_box(text)
            assert frame[0] < left < right < frame[2]
            assert frame[1] < top < bottom < frame[3]


def test_a_plan_without_hope() -> None:
    check(tree(hopeless()), hopeless())
    words = " ".join(texts_of(tree(hopeless()).svg))
    assert "From here, licensed is out of reach." in words.replace("  ", " ")
    assert "time is up" in words


def test_a_plan_that_is_certain() -> None:
    picture = tree(menu_of("health-insurance")["safest"])
    assert WRONG not in picture.svg
    assert texts_of(picture.svg).count("then") == 3


def test_what_has_never_failed_and_may() -> None:
    offer = sa.recommend(surprising(), objectives="mean")[0]
    picture = tree(offer)
    check(picture, offer)
    texts = texts_of(picture.svg)
    assert {"works 48% to 100%", "fails up to 52%", "works 80%", "fails 17%: try again"} <= set(texts)
    assert "then" not in texts


def test_it_is_told_to_screen_readers_as_the_plan_is() -> None:
    offer = menu_of("loan")["safest"]
    assert described(tree(offer).svg).splitlines() == [line.strip() for line in offer.plan.lines()]


def test_a_plan_without_steps_is_refused() -> None:
    problem = sa.parse_problem(CRAFT)
    done = offer_of(sa.parse_problem(CRAFT.replace("me: {skill: none", "me: {skill: h")))
    assert problem.horizon == 40
    with pytest.raises(sa.InputError, match=r"^there is no step to draw: the plan ends where it begins$"):
        tree(done)
