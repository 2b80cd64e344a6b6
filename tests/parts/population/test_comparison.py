"""What is said of all people who are compared: sums by hand, and people as level numbers."""

from __future__ import annotations

import pytest

import safear as sa
from doors import Engine, Pair, compare_filed
from doors import PlanFigures as Plan
from promises.population.test_comparison import PROBLEM, compare_people, person
from safear.people import read_people
from safear.population import Comparison
from safear.recourse import Desk


def pair_of(count: int, greedy: Plan, optimal: Plan, bound: float = 0.0, best_success: float = 1.0) -> Pair:
    return Pair({}, count, greedy, optimal, bound, best_success)


def test_sums_by_hand() -> None:
    pairs = (
        pair_of(1, Plan(6, 0.9, 5, 9, "try"), Plan(4, 0.8, 3, 7, "pay"), 4, 1.0),  # half as much more; gives up
        pair_of(3, Plan(2, 1.0, 2, 2, "try"), Plan(2, 1.0, 2, 2, "try"), 1.8, 1.0),  # the same; a gap of a tenth
        pair_of(4, Plan(10.0005, 0.5, 1, 4, "try"), Plan(10, 0.5, 1, 4, "pay"), 10, 0.5),  # splitting hairs
        pair_of(2, Plan(5, 1.0, 4, 8, None), Plan(4, 0.96, 3, 6, "pay"), 4, 1.0),  # a quarter more
    )
    found = Comparison(sa.MeanStd(1), pairs, people=20, rejected=13, without_recourse=3)
    assert found.compared == 10
    assert [pair.excess for pair in pairs] == pytest.approx([0.5, 0, 0.00005, 0.25])
    assert found.worse == pytest.approx(0.3)
    assert found.excess == pytest.approx((0.5 + 4 * 0.00005 + 2 * 0.25) / 10)
    assert found.excess_of_worse == pytest.approx((0.5 + 2 * 0.25) / 3)
    assert found.largest_excess == 0.5
    assert found.largest_gap == pytest.approx(0.1)
    assert found.other_first_step == pytest.approx(0.7)
    assert found.gives_up == pytest.approx(0.1)
    assert found.greedy.value == pytest.approx((6 + 6 + 40.002 + 10) / 10)
    assert found.optimal.success == pytest.approx((0.8 + 3 + 2 + 1.92) / 10)
    assert found.greedy.mean == pytest.approx((5 + 6 + 4 + 8) / 10)
    assert found.optimal.cvar == pytest.approx((7 + 6 + 16 + 12) / 10)


def test_nobody_worse_and_nothing_to_pay() -> None:
    free = Plan(0, 1.0, 0, 0, "try")
    same = Comparison(sa.MeanStd(1), (pair_of(2, free, free),), 2, 2, 0)
    assert (same.worse, same.excess, same.excess_of_worse, same.largest_excess, same.largest_gap) == (0, 0, 0, 0, 0)
    dear = Comparison(sa.MeanStd(1), (pair_of(2, Plan(3, 1.0, 3, 3, "try"), free),), 2, 2, 0)
    assert (dear.worse, dear.excess) == (1, 1)


def test_people_as_level_numbers() -> None:
    people = [person("low"), person("mid", "male"), person("goal"), person("low")]
    found = compare_filed(Engine(Desk.of(PROBLEM)), read_people(PROBLEM, people), objective=sa.MeanStd(0.5))
    assert found.pairs == compare_people(people, 0.5).pairs
    assert (found.people, found.rejected) == (4, 3)
