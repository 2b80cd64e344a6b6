"""Ranges of numbers as levels, and moves in a feature's own unit."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any, Literal

import pytest

import safear as sa
from doors import is_range, shift_table, spread_range
from safear.problem import Feature, Move, Shift, dump_problem


def problem(feature: dict[str, Any], change: object = "+1") -> sa.Problem:
    """With one feature `x`, one action, and `x >= <its second level>` as the rule."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "Numbers",
            "horizon": 3,
            "features": {"x": feature, "y": {"kind": "ordinal", "levels": ["no", "yes"]}},
            "classifier": {"rule": "y == yes"},
            "actions": {"rise": {"cost": 1, "change": {"x": change}}},
        }
    )


def test_a_range_is_short_for_levels_values_edges_and_limits() -> None:
    written: dict[str, Any] = {
        "kind": "numeric",
        "levels": ["19", "20", "21"],
        "values": [19, 20, 21],
        "edges": [20, 21],
    }
    written |= {"min": 19, "max": 21, "step": 1, "unit": "years"}
    assert problem({"range": [19, 21], "unit": "years"}) == problem(written)
    assert dump_problem(problem(written))["features"]["x"] == {"range": [19, 21], "unit": "years"}


@pytest.mark.parametrize("closed", ["left", "right"])
def test_numbers_of_a_range_with_a_step(closed: Literal["left", "right"]) -> None:
    written = {"range": [-1, 1], "step": 0.5, "closed": closed}
    feature = problem(written).features[0]
    assert feature.levels == ("-1", "-0.5", "0", "0.5", "1")
    numbers = map(Decimal, ("-1", "0.4", "1"))
    assert [feature.level_of(number) for number in numbers] == ["-1", "0" if closed == "left" else "0.5", "1"]
    told = {"range": [-1, 1], "step": 0.5} | ({} if closed == "left" else {"closed": closed})
    assert dump_problem(problem(written))["features"]["x"] == told
    with pytest.raises(sa.InputError, match=r"1\.5 is above the most that is possible, 1"):
        sa.compile_mdp(problem(written), start={"x": 1.5, "y": "no"})


def test_a_large_range_is_cheap() -> None:
    begun = time.perf_counter()
    large = problem({"range": [0, 30_000], "unit": "EUR"}, {"by": "10000 EUR"})
    mdp = sa.compile_mdp(large, start={"x": 12, "y": "no"})
    assert [mdp.person(state)["x"] for state in range(mdp.n_states)] == ["12", "10012", "20012", "30000"]
    assert time.perf_counter() - begun < 20  # as levels written out it was a minute


CUT: dict[str, Any] = {"kind": "numeric", "edges": [1000, 2000, 4000], "values": [500, 1500, 3000, 5000], "unit": "EUR"}


@pytest.mark.parametrize(
    ("by", "levels"),
    [
        ("500 EUR", [1, 2, 2, 3]),  # 500 + 500 is on the edge, which belongs to the level above
        ("+499.99 EUR", [0, 1, 2, 3]),
        ("+500EUR", [1, 2, 2, 3]),
        ("1000 EUR", [1, 2, 3, 3]),
        ("-2000 EUR", [0, 0, 1, 2]),
        ("-9000 EUR", [0, 0, 0, 0]),
    ],
)
def test_moves_in_the_unit_lead_to_the_level_of_the_sum(by: str, levels: list[int]) -> None:
    feature = problem(CUT, "+1").features[0]
    amount = Decimal(by.removesuffix("EUR").strip())
    assert shift_table(feature, amount).tolist() == levels
    if levels == [0, 1, 2, 3]:
        with pytest.raises(sa.InputError) as error:
            problem(CUT, {"by": by})
        assert str(error.value) == (
            "actions.rise.change.x: a move by 499.99 EUR leaves no level of 'x'\n"
            "    move further, or cut the levels finer"
        )
        return
    read = problem(CUT, {"by": by})
    assert read.actions[0].outcomes[0].change == {"x": Shift(amount, "EUR")}
    assert sa.parse_problem(dump_problem(read)) == read
    for start, end in enumerate(levels):
        mdp = sa.compile_mdp(read, start={"x": feature.levels[start], "y": "no"})
        assert (mdp.n_states == 1) == (start == end)
        assert feature.levels[end] in {mdp.person(state)["x"] for state in range(mdp.n_states)}


@pytest.mark.parametrize(
    ("feature", "change", "said"),
    [
        (CUT, {"by": "500 USD"}, "'x' is counted in EUR, not in USD\n    write {by: 500 EUR}"),
        (
            {"kind": "numeric", "edges": [1000], "unit": "EUR"},
            "+500 EUR",
            "the levels of 'x' have no values to move from\n    give 'values', or a 'range'",
        ),
        (
            CUT,
            "+500",
            "'x' has 4 levels; +500 goes beyond them from every one\n    a move by an amount is {by: 500 EUR}",
        ),
        (CUT, {"by": "0 EUR"}, "a move by 0 changes nothing\n    write +1, -1, ..."),
    ],
)
def test_moves_that_mean_nothing(feature: dict[str, Any], change: object, said: str) -> None:
    with pytest.raises(sa.InputError) as error:
        problem(feature, change)
    assert str(error.value) == f"actions.rise.change.x: {said}"


def test_a_level_called_like_an_amount_is_a_level() -> None:
    with_name = {**CUT, "levels": ["+500 EUR", "b", "c", "d"]}
    effect = problem(with_name, "+500 EUR").actions[0].outcomes[0].change["x"]
    assert not isinstance(effect, Move | Shift)


def test_what_is_no_range() -> None:
    spread = spread_range(Decimal(1), Decimal(4))
    assert is_range(Feature("x", "numeric", **spread))
    for change in ({"values": (1.0, 2.0, 3.0, 3.5)}, {"levels": ("1", "2", "3", "four")}, {"most": Decimal(5)}):
        assert not is_range(Feature("x", "numeric", **(spread | change)))
