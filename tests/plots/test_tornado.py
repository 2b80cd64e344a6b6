"""The tornado, read back and held against what was found."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import safear as sa
from plots.drawings import check_inside, check_texts_apart, described, get, of_class, read, texts_of
from plots.menus import NASTY
from safear.plots import tornado
from safear.recourse.sensitivity import PlanSensitivity
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


@pytest.mark.parametrize("language", ["en", "de"])
def test_names_that_would_break_it(language: str) -> None:
    actions = {f"{name} {NASTY}": action for name, action in ACTIONS.items()}
    problem = ladder(actions, failure_cost=10, cost={"unit": "months of " + NASTY[:20]})
    picture = tornado(sa.sensitivity(problem, objectives="mean", tolerance=0.1)[0], language=language)
    check_inside(picture.svg)
    check_texts_apart(picture.svg)
    assert "a <b>" not in picture.svg
