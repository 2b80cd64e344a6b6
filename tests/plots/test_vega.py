"""Pictures as Vega-Lite: valid, complete in themselves, and with the same numbers."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import vl_convert

import safear as sa
from plots.menus import menu_of, nasty
from reports.examples import make_audit, make_nasty_audit
from safear.plots import Picture, cdf, disparity, distribution, dots, frontier, learning_curves, traces, tree
from safear.plots.vega import SCHEMA


def learned(count: int = 2) -> Picture:
    rng = np.random.default_rng(0)
    costs = [3 + rng.exponential(2, 900) for _ in range(count)]
    curves = {
        f"curve {place}": sa.LearningCurve(each, np.ones(900, dtype=bool), np.zeros(900))
        for place, each in enumerate(costs)
    }
    return learning_curves(curves, title="Learning", unit="months")


PICTURES: dict[str, Callable[[], Picture]] = {
    "distribution": lambda: distribution(menu_of("loan")),
    "bundled": lambda: distribution(menu_of("craft")),
    "failing": lambda: distribution(menu_of("gamble")),
    "certain": lambda: distribution([menu_of("health-insurance")["safest"]]),
    "cdf": lambda: cdf(menu_of("health-insurance")),
    "frontier": lambda: frontier(menu_of("health-insurance"), menu_of("health-insurance")),
    "dots": lambda: dots(menu_of("loan")["cheapest on average"]),
    "missed": lambda: dots(menu_of("gamble").offers[0]),
    "disparity": lambda: disparity(make_audit(), "town"),
    "learning": learned,
    "nasty": lambda: distribution(nasty(), title=nasty()[0].name),
    "nasty groups": lambda: disparity(make_nasty_audit()),
    "nasty dots": lambda: dots(nasty()[0]),
}


def texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a specification with their keys."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, key)


@cache
def drawn(name: str) -> list[tuple[str, dict[str, str]]]:
    """What Vega draws: for each mark its role, and its figures as it tells them to screen readers."""
    svg = vl_convert.vegalite_to_svg(PICTURES[name]().vega())
    found = []
    for node in ET.fromstring(svg).iter():
        label, role = node.get("aria-label"), node.get("aria-roledescription")
        if label and role and node.get("role") in {"graphics-symbol", "graphics-object"} and ": " in label:
            parts = re.split(r"; (?=[^;]+: )", label)
            found.append((role, dict(part.split(": ", 1) for part in parts if ": " in part)))
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_specifications_are_valid_and_complete_in_themselves(name: str) -> None:
    spec = PICTURES[name]().vega()
    assert spec["$schema"] == SCHEMA
    assert "tooltip" in json.dumps(spec)
    for key, text in texts(spec):
        assert key not in {"url", "href"}
        assert key == "$schema" or "//" not in text
        text.encode()
    assert spec == PICTURES[name]().vega()
    assert vl_convert.vegalite_to_svg(spec).startswith("<svg")
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec


def test_a_specification_may_be_changed() -> None:
    picture = distribution(menu_of("loan"))
    picture.vega()["vconcat"].clear()
    assert picture.vega()["vconcat"]


def test_the_bars_of_a_distribution() -> None:
    picture = PICTURES["failing"]()
    bars = [
        (figures["cost in months"], figures["chance"])
        for role, figures in drawn("failing")
        if "from" in figures and role == "bar"
    ]
    usual = [(f"{bar['high']:g}", bar["chance"]) for bar in picture.tables["bars"] if bar["kind"] == "cost"]
    assert [cost for cost, _ in bars] == [cost for cost, _ in usual]
    values = [value for part in find(picture.vega(), "values") for value in part if "part" in value]
    assert sum(value["part"] for value in values) == pytest.approx(1)


def find(value: Any, key: str) -> Iterator[Any]:
    """Everything of that name inside a specification."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from find(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, key)


@pytest.mark.parametrize("name", ["distribution", "bundled", "failing", "certain"])
def test_all_bars_and_marks_of_a_distribution_are_there(name: str) -> None:
    picture = PICTURES[name]()
    for plan, part in zip(picture.tables["plans"], picture.vega()["vconcat"], strict=True):
        rows = [value for values in find(part, "values") for value in values]
        parts = [row for row in rows if "part" in row]
        bars = [bar for bar in picture.tables["bars"] if bar["plan"] == plan["number"]]
        for bar in bars:
            mine = [
                row
                for row in parts
                if (row["low"], row["high"], row["place"]) == (bar["low"], bar["high"], bar["kind"])
            ]
            assert sum(row["part"] for row in mine) == pytest.approx(bar["chance"])
        assert sum(row["part"] for row in parts) == pytest.approx(1)
        worst = sum(row["part"] for row in parts if row["kind"] != "usual")
        assert worst >= 1 - plan["level"] - 1e-9
        shown = {row["mark"]: row["cost"] for row in rows if "mark" in row}
        assert plan["average"] > 5 or shown["average"] == plan["average"]


def test_the_points_of_lines_marks_and_dots() -> None:
    (line, _) = cdf(menu_of("health-insurance")).vega()["layer"]
    rows = cdf(menu_of("health-insurance")).tables["points"]
    assert [(value["cost"], value["chance"]) for value in line["data"]["values"]] == [
        (row["cost"], row["chance"]) for row in rows
    ]
    points = PICTURES["frontier"]().tables["points"]
    symbols = [figures for role, figures in drawn("frontier") if role == "point"]
    assert len(symbols) == len(points)
    assert [float(figures["average cost in quarters"]) for figures in symbols] == pytest.approx(
        [point["average"] for point in points], rel=1e-6
    )
    assert [float(figures["worst 5%, quarters"]) for figures in symbols] == pytest.approx(
        [point["tail"] for point in points], rel=1e-6
    )
    for name in ("dots", "missed"):
        assert sum(role == "point" for role, _ in drawn(name)) == 50


def test_the_groups_and_the_curves() -> None:
    figures = {
        (row["measure"], row["number"]): row["value"] for row in disparity(make_audit(), "town").tables["figures"]
    }
    values = [
        value for values in find(PICTURES["disparity"]().vega(), "values") for value in values if "group" in value
    ]
    assert sorted(value["value"] for value in values) == sorted(
        value for value in figures.values() if value is not None
    )
    spec, rows = learned().vega(), learned().tables["points"]
    assert [(value["curve"], value["episode"], value["mean"]) for value in spec["data"]["values"]] == [
        (row["curve"], row["episode"], row["mean"]) for row in rows
    ]


@pytest.mark.parametrize("picture", [lambda: traces(menu_of("loan")), lambda: tree(menu_of("loan")["safest"])])
def test_what_is_no_chart_says_so(picture: Any) -> None:
    cause = r"^this picture is no chart of numbers on axes, so it has no Vega-Lite form\n    save it as \.svg, "
    with pytest.raises(sa.InputError, match=cause):
        picture().vega()
