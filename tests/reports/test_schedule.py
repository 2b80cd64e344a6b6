"""Dates along the main route."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from reports.menus import make_hopeless, make_loan, make_long, make_single
from safear.problem.durations import Duration
from safear.reports.schedule import find_main_route, make_schedule

DAY = date(2026, 11, 17)


def test_the_main_route_is_what_happens_if_every_step_works() -> None:
    safest, cheapest = make_loan()
    assert [step.action for step in find_main_route(safest.plan)] == ["study part-time", "increase savings"]
    assert [step.action for step in find_main_route(cheapest.plan)] == ["change job"]
    (climb,) = make_single()
    assert [step.action for step in find_main_route(climb.plan)] == ["climb", "climb"]
    assert [step.action for step in find_main_route(make_long()[0].plan)][:3] == ["climb"] * 3
    assert find_main_route(replace(climb.plan, steps=())) == ()


def test_costs_in_time_are_dates() -> None:
    menu = make_loan()
    route = find_main_route(menu[0].plan)
    found = make_schedule(route, menu.problem, DAY)
    assert found is not None
    assert found.done == {1: date(2026, 12, 17), 2: date(2027, 1, 17)}
    days = make_single()
    found = make_schedule(find_main_route(days[0].plan), days.problem, DAY)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 11, 18), date(2026, 11, 19)]


def test_durations_come_before_costs() -> None:
    menu = make_loan()
    actions = tuple(replace(action, duration=Duration.read("2 weeks")) for action in menu.problem.actions)
    found = make_schedule(find_main_route(menu[0].plan), replace(menu.problem, actions=actions), DAY)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 12, 1), date(2026, 12, 15)]


def test_no_dates_without_a_day_or_a_time() -> None:
    menu = make_loan()
    assert make_schedule(find_main_route(menu[0].plan), menu.problem, None) is None
    other = make_hopeless()
    assert make_schedule(find_main_route(other[1].plan), other.problem, DAY) is None
    assert make_schedule((), menu.problem, DAY) is None
