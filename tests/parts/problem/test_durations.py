"""How long things take, and on which day they are over."""

from __future__ import annotations

from datetime import date

import pytest

import safear as sa
from doors import Duration, find_time_unit
from safear.errors import ProblemError
from safear.problem import apply_terms, dump_problem


@pytest.mark.parametrize(
    ("text", "begins", "over"),
    [
        ("1 month", date(2026, 1, 31), date(2026, 2, 28)),
        ("1 month", date(2024, 1, 31), date(2024, 2, 29)),
        ("13 months", date(2026, 11, 17), date(2027, 12, 17)),
        ("1.4 months", date(2026, 11, 17), date(2026, 12, 29)),
        ("2 weeks", date(2026, 12, 20), date(2027, 1, 3)),
        ("0.5 days", date(2026, 11, 17), date(2026, 11, 18)),
        ("1.5 years", date(2026, 11, 17), date(2028, 5, 17)),
        ("3 Monate", date(2026, 11, 17), date(2027, 2, 17)),
        ("1 day", date(9999, 12, 30), date(9999, 12, 31)),
        ("2 days", date(9999, 12, 30), None),
        ("1000000 months", date(2026, 11, 17), None),
        ("9000 years", date(2026, 11, 17), None),
        ("10000000000000 days", date(2026, 11, 17), None),
    ],
)
def test_when_it_is_over(text: str, begins: date, over: date | None) -> None:
    found = Duration.read(text)
    assert found is not None
    assert found.after(begins) == over


def test_parts_of_months_add_up() -> None:
    total = Duration()
    for _ in range(10):
        total += Duration.of(0.1, "months")
    assert total.after(date(2026, 11, 17)) == date(2026, 12, 17)


def test_a_sum_that_no_number_holds_is_never_over() -> None:
    most = Duration(months=1.7e308)
    assert (most + most).after(date(2026, 11, 17)) is None


@pytest.mark.parametrize(
    "text", ["", "soon", "3", "months", "-1 month", "3 EUR", "1e3 days", f"{'9' * 400} days", f"{'9' * 308} years"]
)
def test_what_is_no_duration(text: str) -> None:
    assert Duration.read(text) is None


@pytest.mark.parametrize("text", ["3 months", "1.5 years", "2 weeks", "0.1 days", "1234567.25 days", "0 days"])
def test_what_is_written_is_read_back(text: str) -> None:
    assert Duration.read(str(Duration.read(text))) == Duration.read(text)


def with_duration(text: str) -> sa.Problem:
    written = dump_problem(sa.load_example("loan"))
    for action in written["actions"].values():
        action["duration"] = text
    return sa.parse_problem(written)


def test_in_a_problem() -> None:
    problem = with_duration("2 weeks")
    assert {action.duration for action in problem.actions} == {Duration(days=14)}
    assert sa.parse_problem(dump_problem(problem)) == problem
    assert problem.without_labels() == sa.load_example("loan").without_labels()  # saved plans go on fitting
    with pytest.raises(ProblemError) as caught:
        with_duration("soon")
    said = (
        "actions.find work.duration: 'soon' is no duration\n    write a number of days, weeks, months or years, such as"
    )
    assert said in str(caught.value)


def test_terms_leave_it() -> None:
    own = apply_terms(with_duration("2 weeks"), sa.Terms.of(cost={"change job": 3}))
    assert own.action_by_name["change job"].duration == Duration(days=14)


def test_units_of_time() -> None:
    assert [find_time_unit(name) for name in ("months", "Tage", "años", "EUR", "units")] == [
        "months", "days", "years", None, None,
    ]  # fmt: skip
