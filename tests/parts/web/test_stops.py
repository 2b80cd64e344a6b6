"""The slider's stops."""

from __future__ import annotations

from itertools import pairwise

import safear as sa
from doors import find_stops, neighbours, stop_at


def german_menu() -> sa.Menu:
    data = sa.datasets.load("german")
    return sa.recommend(data.problem, data.classifier(), "row 44")


def test_stops_go_from_the_dearest_on_average_to_the_cheapest() -> None:
    menu = german_menu()
    stops = find_stops(menu)
    assert all(one.offer.best.mean >= other.offer.best.mean for one, other in pairwise(stops))
    assert {stop.offer.best.mean for stop in stops} <= {offer.mean for offer in menu.frontier}
    assert len(stops) > len(menu)
    assert [stop.offer for stop in stops if stop.is_offered] == list(menu)


def test_a_weight_finds_its_stop_again() -> None:
    stops = find_stops(german_menu())
    assert [stop_at(stops, stop.weight) for stop in stops] == list(range(len(stops)))
    assert stop_at(stops, 1.0) == 0
    assert stop_at(stops, 0.0) == len(stops) - 1
    assert stop_at(stops, None) == 0


def test_neighbours() -> None:
    stops = find_stops(sa.recommend(sa.load_example("loan")))
    assert [stop.is_offered for stop in stops] == [True, False, True]
    before, after = neighbours(stops, 1)
    assert before is stops[0].offer
    assert after is stops[2].offer


def test_what_gives_up_or_is_beaten_is_no_stop() -> None:
    """Adult counts nothing for a failure: its frontiers have plans that do not try, and plans that hardly gain."""
    data = sa.datasets.load("adult")
    for name in data.problem.people:
        menu = sa.recommend(data.problem, data.classifier(), name)
        stops = find_stops(menu)
        best = max(offer.cost.success for offer in menu.frontier)
        assert len(menu.frontier) > len(stops) == len(menu) == 1
        assert all(stop.is_offered or stop.offer.cost.success > best - 0.05 for stop in stops)
