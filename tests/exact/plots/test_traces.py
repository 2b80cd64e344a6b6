"""The picture of traces, read back and held against its tables."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from compare import read_both
from doors import TryRow, make_offer, name_steps
from drawings import SVG, check_inside, described, get, of_class, overlap, read, shown_text, text_box
from lanes import scaled
from safear.plots import Picture, traces
from safear.recourse import Offer, Teller, find_traces
from strategies import problems


@pytest.fixture(scope="module")
def menu() -> sa.Menu:
    return sa.recommend(sa.load_example("loan"))


def with_traces(offer: Offer, limit: int) -> Offer:
    """The same offer with another number of traces shown."""
    copy = replace(offer)
    copy.__dict__["traces"] = find_traces(copy.solution, copy.runs.start, limit=limit, level=copy.level, runs=copy.runs)
    return copy


def check_picture(picture: Picture) -> None:
    """All that must hold for every picture."""
    check_inside(picture.svg)
    tables, root = picture.tables, read(picture.svg)
    drawn = of_class(root, "trace")
    assert len(drawn) == len(tables["traces"])
    drawn_lines = []
    for node, row in zip(drawn, tables["traces"], strict=True):
        lines = [line for line in node.iter(f"{SVG}line") if line.get("class") in {"works", "fails"}]
        steps = [step for step in tables["steps"] if (step["plan"], step["trace"]) == (row["plan"], row["trace"])]
        assert [line.get("class") == "works" for line in lines] == [step["works"] for step in steps]
        for line, step in zip(lines, steps, strict=True):
            length, cost = get(line, "x2") - get(line, "x1"), step["end"] - step["start"]
            drawn_lines += [(length, cost)] if cost and length > 100 else []
            assert get(line, "stroke-width") == pytest.approx(row["thickness"], abs=0.01)
        end = steps[-1]["end"] if steps else 0.0
        assert row["spent"] == pytest.approx(end)
        signs = [len(of_class(node, "success")), len(of_class(node, "failure"))]
        assert signs == ([1, 0] if row["success"] else [0, 1])
        tries = sum(not step["works"] for step in steps)
        closed_by_square = bool(steps) and not steps[-1]["works"] and not row["success"]
        assert len(of_class(node, "cross")) == tries - closed_by_square
        texts = [text_box(text) for text in node.iter(f"{SVG}text")]
        assert not [pair for pair in combinations(texts, 2) if overlap(*pair)]
    if drawn_lines:  # one scale for all, as far as a tenth of a pixel tells
        longest, dearest = max(drawn_lines)
        assert [length for length, _ in drawn_lines] == pytest.approx(
            [longest * cost / dearest for _, cost in drawn_lines], abs=0.25
        )
    by_chance = sorted(tables["traces"], key=lambda row: float(row["chance"]))
    widths = [row["thickness"] for row in by_chance]
    assert widths == sorted(widths)
    for plan in tables["plans"]:
        rows = [*tables["traces"], *tables["rest"]]
        assert math.fsum(row["chance"] for row in rows if row["plan"] == plan["number"]) == pytest.approx(1)
        failed = math.fsum(
            row["chance"] for row in tables["traces"] if row["plan"] == plan["number"] and not row["success"]
        )
        rest = math.fsum(row["not_in_time"] for row in tables["rest"] if row["plan"] == plan["number"])
        assert failed + rest == pytest.approx(plan["not_in_time"], abs=1e-12)


def test_the_loan(menu: sa.Menu) -> None:
    picture = traces(menu)
    check_picture(picture)
    assert [plan["name"] for plan in picture.tables["plans"]] == ["safest", "cheapest on average"]
    steps = [step for step in picture.tables["steps"] if (step["plan"], step["trace"]) == (2, 3)]
    assert [(step["action"], step["works"], step["attempt"], step["start"], step["end"]) for step in steps] == [
        ("change job", False, 1, 0.0, 1.0),
        ("find work", False, 1, 1.0, 2.4),
        ("find work", True, 2, 2.4, pytest.approx(3.8)),
        ("change job", True, 1, pytest.approx(3.8), pytest.approx(4.8)),
    ]
    words = [shown_text(node) for node in read(picture.svg).iter(f"{SVG}text")]
    assert "average 1.5 months · worst 5% of cases: 8.21 months · not in time: <0.1%" in words
    assert (
        "average 2.19 months · worst 5% of cases: 3.38 months · not in time: <0.1%" in words
    )  # never a rounded certainty
    assert "All other ways together: success after 5.8 to 32.8 months or not in time (<0.1%)." in words
    assert {"83%", "find work, try 2", "4.8 months", "change job fails", "cost in months"} <= set(words)


@given(problems(), st.integers(1, 8))
@settings(max_examples=scaled(40))
def test_any_problem(document: dict[str, Any], limit: int) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    offers = [with_traces(make_offer(sa.solve(mdp, sa.MeanStd(aversion))), limit) for aversion in (1.0, 0.0)]
    check_picture(traces(offers))


def test_a_large_failure_cost_does_not_squeeze_the_rest() -> None:
    problem = sa.load_example("loan").with_horizon(2)
    problem = replace(problem, goal=replace(problem.goal, failure_cost=Decimal(1000)))
    picture = traces([with_traces(offer, 10) for offer in sa.recommend(problem)])
    check_picture(picture)
    failures = [row for row in picture.tables["traces"] if not row["success"]]
    assert failures
    assert all(row["cost"] == pytest.approx(row["spent"] + 1000) for row in failures)
    root = read(picture.svg)
    ends = [get(node, "x2") for node in root.iter(f"{SVG}line") if node.get("class") in {"works", "fails"}]
    assert max(ends) > 500
    assert "counts 1000 months more in the figures" in picture.svg
    assert "not in time; 2 months spent" in picture.svg


def test_risk_is_named_only_where_the_order_is_that_of_risk(menu: sa.Menu) -> None:
    assert "lower risk" in traces(menu).svg
    assert "risk<" not in traces(list(menu)[::-1]).svg
    assert "risk<" not in traces(list(menu)[:1]).svg


def test_one_of_the_worst_ways_is_always_there(menu: sa.Menu) -> None:
    picture = traces(menu)
    worst = [(row["plan"], row["chance"], row["cost"]) for row in picture.tables["traces"] if row["worst"]]
    assert worst == [
        (1, pytest.approx(0.9 * 0.1 * 0.92 * 0.08), 4.0),
        (2, pytest.approx(0.1 * 0.6**4 * 0.4 * 0.9), 9.0),
    ]
    marked = [node for node in of_class(read(picture.svg), "trace") if of_class(node, "worst")]
    assert [(node.get("data-plan"), node.get("data-trace")) for node in marked] == [("1", "5"), ("2", "6")]
    assert {shown_text(node) for node in of_class(read(picture.svg), "worst")} == {"worst 5%"}
    assert "find work, try 5, then change job; 9 months · worst 5%." in described(picture.svg)


def test_plans_of_a_menu_have_one_axis(menu: sa.Menu) -> None:
    """Whichever of them is drawn, a month is as long."""
    months = set()
    for offer in menu:
        (axis,) = of_class(read(traces([offer], beside=menu).svg), "axis")
        places = [get(node, "x") for node in axis.iter(f"{SVG}text")]
        months.add((places[0], round(places[1] - places[0], 1)))
        check_picture(traces([offer], beside=menu))
    assert len(months) == 1
    (own,) = of_class(read(traces(list(menu)[:1]).svg), "axis")
    assert [get(node, "x") for node in own.iter(f"{SVG}text")][:2] != list(months.pop())


def test_names_of_steps_are_not_cut(menu: sa.Menu) -> None:
    """Where there is no room on one line they stand on two."""
    svg = traces(menu).svg
    names = [[text_box(text) for text in node.iter(f"{SVG}text")] for node in of_class(read(svg), "label")]
    assert names
    assert not [
        node for node in of_class(read(svg), "label") if "…" in "".join(map(shown_text, node.iter(f"{SVG}text")))
    ]


def test_steps_are_named_together() -> None:
    def rows(*steps: tuple[str, bool, int]) -> list[TryRow]:
        return [TryRow(1, 1, place, *step, place, place + 1) for place, step in enumerate(steps)]

    def words(*steps: tuple[str, bool, int]) -> list[str]:
        return [label.full for label in name_steps(rows(*steps), Teller.of())]

    assert words(("a", True, 1), ("a", True, 1), ("b", False, 1)) == ["a ×2", "b fails"]
    assert words(("a", True, 1), ("a", False, 1), ("a", True, 2), ("a", True, 1)) == ["a", "a, try 2", "a"]
    assert words(("a", False, 1), ("b", False, 1), ("b", False, 2)) == ["a fails", "b fails ×2"]
