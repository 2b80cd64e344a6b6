"""Dates along the main route."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from reports.menus import make_hopeless, make_loan, make_single
from safear.problem.durations import Duration
from safear.reports.schedule import make_schedule

DAY = date(2026, 11, 17)


def test_costs_in_time_are_dates() -> None:
    menu = make_loan()
    found = make_schedule(menu[0].plan, menu.problem, DAY)
    assert found is not None
    assert found.done == {1: date(2026, 12, 17), 2: date(2027, 1, 17)}
    days = make_single()
    found = make_schedule(days[0].plan, days.problem, DAY)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 11, 18), date(2026, 11, 19)]


def test_durations_come_before_costs() -> None:
    menu = make_loan()
    actions = tuple(replace(action, duration=Duration.read("2 weeks")) for action in menu.problem.actions)
    found = make_schedule(menu[0].plan, replace(menu.problem, actions=actions), DAY)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 12, 1), date(2026, 12, 15)]


def test_no_dates_without_a_day_or_a_time() -> None:
    menu = make_loan()
    assert make_schedule(menu[0].plan, menu.problem, None) is None
    other = make_hopeless()
    assert make_schedule(other[1].plan, other.problem, DAY) is None
    assert make_schedule(replace(menu[0].plan, steps=()), menu.problem, DAY) is None
