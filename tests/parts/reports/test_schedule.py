"""Dates along the main route."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import safear as sa
from doors import Duration, make_schedule
from letter_menus import make_hopeless, make_loan, make_single
from safear.reports import report_menu

DAY = date(2026, 11, 17)


def test_costs_in_time_are_dates() -> None:
    menu = make_loan()
    found = make_schedule(menu[0].plan, menu.problem, DAY, original=menu.problem)
    assert found is not None
    assert found.done == {1: date(2026, 12, 17), 2: date(2027, 1, 17)}
    days = make_single()
    found = make_schedule(days[0].plan, days.problem, DAY, original=days.problem)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 11, 18), date(2026, 11, 19)]


def test_durations_come_before_costs() -> None:
    menu = make_loan()
    actions = tuple(replace(action, duration=Duration.read("2 weeks")) for action in menu.problem.actions)
    found = make_schedule(menu[0].plan, replace(menu.problem, actions=actions), DAY, original=menu.problem)
    assert found is not None
    assert list(found.done.values()) == [date(2026, 12, 1), date(2026, 12, 15)]


def test_what_steps_cost_on_own_terms_is_no_time() -> None:
    loan = make_loan().problem
    route = {step.action for step in make_loan()[0].plan.steps if step.is_main}
    for terms in (sa.Terms.of(rank=[*sorted(route)]), sa.Terms.of(cost=dict.fromkeys(route, 1.1))):
        menu = sa.recommend(loan, terms=terms)
        assert {step.action for step in menu[0].plan.steps if step.is_main} & route
        assert make_schedule(menu[0].plan, menu.problem, DAY, original=loan) is None
        assert "done by" not in report_menu(menu, dated=DAY).html
    lasting = replace(loan, actions=tuple(replace(action, duration=Duration(days=14)) for action in loan.actions))
    menu = sa.recommend(lasting, terms=sa.Terms.of(rank=[*sorted(route)]))
    found = make_schedule(menu[0].plan, menu.problem, DAY, original=lasting)
    assert found is not None
    assert found.done[1] == date(2026, 12, 1)
    surer = sa.recommend(loan, terms=sa.Terms.of(chance=dict.fromkeys(route, 0.95)))
    assert make_schedule(surer[0].plan, surer.problem, DAY, original=loan) is not None


def test_no_dates_without_a_day_or_a_time() -> None:
    menu = make_loan()
    assert make_schedule(menu[0].plan, menu.problem, None, original=menu.problem) is None
    other = make_hopeless()
    assert make_schedule(other[1].plan, other.problem, DAY, original=other.problem) is None
    actions = tuple(replace(action, duration=Duration.read("9000 years")) for action in menu.problem.actions)
    endless = replace(menu.problem, actions=actions)
    assert make_schedule(menu[0].plan, endless, DAY, original=menu.problem) is None
    assert make_schedule(replace(menu[0].plan, steps=()), menu.problem, DAY, original=menu.problem) is None
