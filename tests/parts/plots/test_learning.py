"""Learning curves, read back and held against their tables."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

import safear as sa
from doors import LEARNING_MAX_POINTS as MAX_POINTS
from drawings import SVG, check_inside, of_class, path_points, read, text_box
from safear.plots import learning_curves
from safear.solvers import LearningCurve


def make_curve(costs: NDArray[np.float64]) -> LearningCurve:
    return LearningCurve(costs, np.ones(len(costs), dtype=bool), np.zeros(len(costs)))


@pytest.fixture
def costs() -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    return 3 + 10 * np.exp(-np.arange(5000) / 800) + rng.exponential(2, 5000)


def test_the_line_is_the_moving_average(costs: NDArray[np.float64]) -> None:
    curve = make_curve(costs)
    picture = learning_curves({"one": curve}, window=100, title="Learning", unit="months")
    check_inside(picture.svg)
    rows = picture.tables["points"]
    assert len(rows) == MAX_POINTS
    assert (rows[0]["episode"], rows[-1]["episode"]) == (100, 5000)
    assert rows[0]["mean"] == pytest.approx(costs[:100].mean())
    assert (rows[-1]["low"], rows[-1]["high"]) == pytest.approx(tuple(np.quantile(costs[-100:], [0.1, 0.9])))
    (line,) = of_class(read(picture.svg), "average")
    (band,) = of_class(read(picture.svg), "band")
    points, edge = list(path_points(line.get("d", ""))), list(path_points(band.get("d", "")))
    slope, start = np.polyfit([row["mean"] for row in rows], [y for _, y in points], 1)
    assert slope < 0
    assert [y for _, y in points] == pytest.approx([start + slope * row["mean"] for row in rows], abs=0.02)
    upper = [start + slope * row["high"] for row in rows]
    lower = [start + slope * row["low"] for row in rows]
    assert [y for _, y in edge] == pytest.approx([*upper, *lower[::-1]], abs=0.02)


@pytest.mark.parametrize("count", [1, 3, 12, 40])
def test_names_stand_apart_at_the_line_ends(costs: NDArray[np.float64], count: int) -> None:
    curves = {f'curve {k} <&"> with a name that is rather long': make_curve(costs[: 4000 + k]) for k in range(count)}
    picture = learning_curves(curves, title="Many", unit="units")
    check_inside(picture.svg)
    names = [text_box(node) for node in read(picture.svg).iter(f"{SVG}text") if "curve" in "".join(node.itertext())]
    names.sort(key=lambda box: box[1])
    assert len(names) == count
    assert all(upper[3] <= lower[1] + 0.01 for upper, lower in pairwise(names))


@pytest.mark.parametrize("values", [[5.0], [0.0, 0.0], [1e12, 3e12], [0.001, 0.002]])
def test_small_and_flat_curves(values: list[float]) -> None:
    picture = learning_curves({"c": make_curve(np.array(values))}, window=1, title="t", unit="u")
    check_inside(picture.svg)
    assert [row["mean"] for row in picture.tables["points"]] == values


def test_what_cannot_be_drawn_is_refused(costs: NDArray[np.float64]) -> None:
    with pytest.raises(sa.InputError, match=r"^there is no learning curve to draw"):
        learning_curves({}, title="t", unit="u")
    with pytest.raises(sa.InputError, match=r"^a: a window of 9 episodes does not fit the 5 of the curve\n"):
        learning_curves({"a": make_curve(costs[:5])}, window=9, title="t", unit="u")
    with pytest.raises(sa.InputError, match=r"^a: the curve has costs that are not finite$"):
        learning_curves({"a": make_curve(np.array([1.0, np.inf]))}, window=1, title="t", unit="u")
