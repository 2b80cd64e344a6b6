"""Mistakes in features: names, levels, edges, values."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import pytest

import safear as sa
from doors import check_features
from doors import feature_checks as module
from mistakes import edited, told
from safear.errors import format_path
from safear.problem import Feature

EDGES = "edges: [20, 25]"


@pytest.mark.parametrize("edges, levels", [("[20, 25]", "[thin, fat]"), ("[20, 25]", "[thin]"), ("[20]", "[thin]")])
def test_people_with_raw_numbers_do_not_hide_wrong_levels(edges: str, levels: str) -> None:
    text = edited((EDGES, f"edges: {edges}, levels: {levels}"), ("bmi: 22.5", "bmi: 33"))
    assert told(text).startswith("loan.yaml:10:")
    assert told(text).count("loan.yaml:") == 1


def test_features_made_in_python() -> None:
    vague = Feature("a", "nominal", ("x", "y"), values=(1.0, float("nan")))
    assert [str(item) for item in check_features([vague])] == ["features.a.values[1]: nan is not a finite number"]
    unseen = [Feature(name, "nominal", ("x", "y"), seen_by_classifier=False) for name in "ab"]
    assert [item.cause for item in check_features(unseen)] == ["the classifier sees no feature"]
    twice = [Feature("a", "nominal", ("x", "y")), Feature("a", "ordinal", ("x",))]
    assert [str(item) for item in check_features(twice)] == ["features.a: 'a' is given twice"]
    assert [str(item) for item in check_features([])] == ["features: there are no features"]


def test_the_number_of_levels_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LEVELS", 3)
    feature = Feature("a", "nominal", ("w", "x", "y", "z"))
    (found,) = check_features([feature])
    assert (format_path(found.place.path), found.cause) == ("features.a.levels", "4 levels; at most 3 are possible")
    assert not list(check_features([Feature("a", "nominal", ("x", "y", "z"))]))


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)


def test_many_levels_are_not_compared_each_with_each() -> None:
    levels = tuple(Counted(number) for number in range(1000))
    (found,) = check_features([Feature("a", "nominal", (*levels, Counted(7)))])
    assert found.cause == "level '7' is given twice"
    assert Counted.comparisons < 20 * len(levels)


@pytest.mark.parametrize(
    "closed, least, most, wrong",
    [
        ("left", 1, 4, []),  # the last level is the number 4 alone
        ("left", 2, 3, ["min", "max"]),
        ("left", 3, 5, ["min"]),
        ("right", 2, 5, []),  # the first level is the number 2 alone
        ("right", 3, 4, ["min", "max"]),
        ("right", 1, 3, ["max"]),
    ],
)
def test_limits_leave_something_of_every_level(
    closed: Literal["left", "right"], least: int, most: int, wrong: list[str]
) -> None:
    levels, edges = ("low", "mid", "high"), (Decimal(2), Decimal(4))
    rate = Feature("rate", "numeric", levels, edges=edges, closed=closed, least=Decimal(least), most=Decimal(most))
    assert [item.place.path for item in check_features([rate])] == [("features", "rate", name) for name in wrong]


@pytest.mark.parametrize(
    ("feature", "said"),
    [
        ({"levels": ["1", "2", "3"], "values": [5, 15, 25]}, "as a number, the level's name 2 lies in level '1'"),
        ({"values": ["low", 15, 25]}, "'low' is not a number"),
        ({"values": [5, 15, 19]}, "19 is not among the numbers of level '>=20'"),
        ({"values": [5, 15, 25.5], "step": 1}, "25.5 is not a multiple of the step 1"),
        ({"values": [5, 15, 25], "max": 20, "closed": "right"}, "20 leaves nothing above the last edge, 20"),
    ],
)
def test_numbers_that_a_classifier_sees(feature: dict[str, object], said: str) -> None:
    document = {
        "safear": 1,
        "title": "numbers",
        "horizon": 1,
        "features": {"x": {"kind": "numeric", "edges": [10, 20], **feature}},
        "actions": {"rise": {"cost": 1, "change": {"x": "+1"}}},
    }
    with pytest.raises(sa.InputError) as error:
        sa.parse_problem(document)
    assert said in str(error.value)
