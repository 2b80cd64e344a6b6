"""The tornado, read back and held against what was found."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import safear as sa
from drawings import SVG, check_inside, check_texts_apart, described, get, of_class, path_points, read, texts_of
from drawn_menus import NASTY
from safear.plots import tornado
from safear.recourse import PlanSensitivity
from safear.texts import languages
from small_problems import ladder

ACTIONS = {
    "try": {"cost": 1, "chance": [0.6, 0.8, 0.9], "change": {"a": "yes"}},
    "pay": {"cost": 4, "change": {"a": "yes"}},
}


@cache
def found() -> PlanSensitivity:
    problem = ladder(ACTIONS, failure_cost=10, cost={"unit": "months"})
    return sa.sensitivity(problem, objectives="mean", tolerance=0.01)[0]


def test_bars_end_where_the_advice_changes() -> None:
    picture = tornado(found())
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    rows = picture.tables["rows"]
    assert rows[0]["place"] == ".".join(map(str, found().flips[0].parameter.path))
    drawn, moved = [], []
    for node, row in zip(of_class(read(picture.svg), "row"), rows, strict=True):
        scale = 1 if "chance" in row["place"] else row["value"]
        for side in ("down", "up"):
            if row[side] is None or abs(row[side] - row["value"]) / scale > 0.5:
                continue
            (bar,) = of_class(of_class(node, side)[0], "leeway")
            drawn.append(get(bar, "width"))
            moved.append(abs(row[side] - row["value"]) / scale)
    assert len(drawn) >= 2
    assert np.allclose(np.array(drawn) / np.array(moved), drawn[0] / moved[0], rtol=1e-2)


def test_what_it_says() -> None:
    picture = tornado(found())
    texts = texts_of(picture.svg)
    flip = found().flips[0]
    assert flip.action == "pay"
    assert any(text.endswith(": pay") for text in texts)
    assert "what the file says it may be" in texts
    assert all(str(line) in described(picture.svg) for line in str(found()).splitlines())


def test_light_and_dark_bars_and_the_axis_are_explained() -> None:
    texts = texts_of(tornado(found()).svg)
    assert {"up to the mark, the first step stays the best one", "nothing changes, however far it moves"} <= set(texts)
    points = [text for text in texts if re.fullmatch(r"[+−]?[\d.]+ points", text)]
    assert [text.replace(" points", "%") for text in points] == [
        text for text in texts if re.fullmatch(r"[+−]?[\d.]+%", text)
    ]
    german = texts_of(tornado(found(), language="de").svg)
    assert {"0 %-Punkte", "Chancen", "Kosten"} <= set(german)


def test_what_is_longer_than_the_axis_ends_in_an_arrow_and_not_in_a_cap() -> None:
    """Paying costs hardly more than trying, so that all changes of the advice are near, and the axis is short."""
    actions = {"try": ACTIONS["try"] | {"chance": [0.1, 0.8, 0.9]}, "pay": ACTIONS["pay"] | {"cost": 3.1}}
    problem = ladder(actions, failure_cost=10, cost={"unit": "months"})
    picture = tornado(sa.sensitivity(problem, objectives="mean", tolerance=0.01)[0])
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    assert "goes on beyond the axis" in texts_of(picture.svg)
    (interval,) = [node for row in of_class(read(picture.svg), "row") for node in of_class(row, "interval")]
    (cap,) = [get(line, "x1") for line in interval.findall(f"{SVG}line") if line.get("x1") == line.get("x2")]
    (arrow,) = of_class(interval, "beyond")
    ends = [x for x, _ in path_points(arrow[1].get("d", ""))]
    assert max(ends) < get(interval[0], "x1") < get(interval[0], "x2") == cap  # below, not above
    assert len(of_class(read(tornado(found()).svg), "interval")) == 2  # that of the row, and its sign
    (whole, _) = of_class(read(tornado(found()).svg), "interval")[::-1]
    assert not of_class(whole, "beyond")


@pytest.mark.parametrize("language", languages())
def test_names_that_would_break_it(language: str) -> None:
    nasty = NASTY.replace("\ud800", "")  # which no problem holds
    actions = {f"{name} {nasty}": action for name, action in ACTIONS.items()}
    problem = ladder(actions, failure_cost=10, cost={"unit": "months of " + nasty[:20]})
    picture = tornado(sa.sensitivity(problem, objectives="mean", tolerance=0.1)[0], language=language)
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    assert "a <b>" not in picture.svg
