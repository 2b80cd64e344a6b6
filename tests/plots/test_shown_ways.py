"""The ways that are shown, held against all ways that there are."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import read_both
from plots.menus import ALL, menu_of
from safear.plots.shown_ways import choose_ways
from safear.recourse import find_traces
from safear.recourse.offer import Offer, make_offer
from strategies import problems

EVERY = 300  # ways that are listed in full, of plans with few steps
FEW = 8


def check(offer: Offer) -> None:
    """One of the ways that cost at least the tail is shown: the likeliest of them. All chances add up to one."""
    found = choose_ways(offer)
    bad = [way for way in found.ways if way.cost >= offer.tail * (1 - 1e-9)]
    assert bad
    if offer.solution.mdp.horizon <= FEW:
        every = find_traces(offer.solution, offer.start, limit=EVERY, runs=offer.runs).shown
        likeliest = max((way.chance for way in every if way.cost >= offer.tail * (1 - 1e-9)), default=0.0)
        assert max(way.chance for way in bad) >= likeliest * (1 - 1e-9)
    assert found.ways[: len(offer.traces.shown)] == offer.traces.shown
    assert len({way.steps for way in found.ways}) == len(found.ways) <= len(offer.traces.shown) + 1
    rest = found.rest
    parts = [way.chance for way in found.ways] + ([] if rest is None else [rest.success, rest.failure])
    assert math.fsum(parts) == pytest.approx(1)
    failed = math.fsum(way.chance for way in found.ways if not way.success) + (0 if rest is None else rest.failure)
    assert failed == pytest.approx(1 - offer.cost.success, abs=1e-12)
    worst = [way for way in found.ways if found.is_worst(way)]
    if worst:  # never more of them than it says
        least = min(way.cost for way in worst)
        beyond = math.fsum(chance for cost, chance, _ in offer.cost.points() if cost >= least)
        assert beyond <= (1 - offer.level) * (1 + 1e-9)


@pytest.mark.parametrize("name", ALL)
def test_a_way_of_the_worst_is_shown(name: str) -> None:
    for offer in menu_of(name):
        check(offer)


@given(problems())
@settings(max_examples=40)
def test_any_problem(document: dict[str, Any]) -> None:
    problem, _, _ = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    for objective in (sa.Mean(), sa.MeanStd(1.0)):
        check(make_offer(sa.solve(mdp, objective)))


def test_the_rest_is_what_is_left() -> None:
    """Seven tries are the likeliest of the worst; six, and eight, stay among the rest."""
    offer = menu_of("health-insurance")["cheapest on average"]
    found = choose_ways(offer)
    assert [(way.chance, way.cost) for way in found.ways[-1:]] == [(0.5**7, 7.0)]
    assert [found.is_worst(way) for way in found.ways] == [False] * 5 + [True]
    assert found.rest is not None
    assert found.rest.chance == pytest.approx(0.5**6 + 0.5**7)
    assert found.rest.success_costs == (6.0, 8.0)
    assert (found.rest.least_cost, found.rest.largest_cost) == (6.0, 8.0)
