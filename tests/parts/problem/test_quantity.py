"""Chances, costs, and where they come from: quantities, tries, ranges."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from math import comb

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from doors import MOST_TRIES, Counts, amounts, count_interval, level_range
from mistakes import LOAN
from safear.problem import Amount, ByCase, ByLevel, Feature, Outcome, check_problem, parse_condition, parse_problem

# ----------------------------------------------------------------- Amounts: exact decimals, intervals and their middle


@pytest.mark.parametrize(
    "given, number",
    [
        (0.1, "0.1"),
        ("0.1", "0.1"),
        (Decimal("0.1"), "0.1"),
        (1, "1"),
        (1.0, "1.0"),
        (1e-7, "1e-7"),
        ("1e-400", "1e-400"),
        (1 / 3, "0.3333333333333333"),
        ("0.12345678901234567890123456789012345", "0.12345678901234567890123456789012345"),
    ],
)
def test_a_number_is_taken_as_it_prints(given: float | str | Decimal, number: str) -> None:
    amount = Amount.exactly(given)
    assert amount == Amount(Decimal(number), Decimal(number), Decimal(number))
    assert not amount.is_interval


def test_the_middle_of_an_interval_is_nominal() -> None:
    assert Amount.between(Decimal("0.7"), Decimal("0.9")) == Amount(Decimal("0.8"), Decimal("0.7"), Decimal("0.9"))
    assert Amount.between(Decimal("0.1"), Decimal("0.2")).nominal == Decimal("0.15")


def test_another_nominal_value_can_be_given() -> None:
    amount = Amount.between(Decimal("0.7"), Decimal("0.9"), Decimal("0.85"))
    assert (amount.low, amount.nominal, amount.high) == (Decimal("0.7"), Decimal("0.85"), Decimal("0.9"))
    assert amount.is_interval


def test_an_interval_without_width_is_a_number() -> None:
    assert Amount.between(Decimal("0.7"), Decimal("0.70")) == Amount.exactly("0.7")
    assert not Amount.between(Decimal("0.7"), Decimal("0.7")).is_interval


def test_all_amounts() -> None:
    one, two, three = (Amount.exactly(number) for number in (1, 2, 3))
    assert list(amounts(one)) == [one]
    assert list(amounts(ByLevel("skill", {"basic": two, "skilled": one}))) == [two, one]
    cases = ((parse_condition("a == b"), three), (parse_condition("a == c"), one))
    assert list(amounts(ByCase(cases, two))) == [three, one, two]


# ------------------------------------ The numbers of a level: whatever may change the decision inside a range is tried


EDGES = (Decimal(1000), Decimal(2000))


def level(step: int | None, value: float) -> Feature:
    grid, values = None if step is None else Decimal(step), (0.0, value, 4000.0)
    return Feature("amount", "numeric", ("low", "middle", "high"), values=values, edges=EDGES, step=grid)


@given(
    st.lists(st.floats(900, 2100) | st.integers(900, 2100).map(lambda n: n + 0.5), unique=True),
    st.sampled_from([None, 1, 5]),
    st.integers(200, 399).map(lambda n: 5.0 * n),
)
@example([1502.5, 1507.5], None, 1500.0)  # between two numbers of the grid
@example([1502.5, float(np.nextafter(1502.5, 2000))], None, 1500.0)
def test_every_part_between_splits_is_tried(splits: list[float], step: int | None, value: float) -> None:
    """Wherever a promise begins and ends among the points, no part of it is without one."""
    splits.sort()
    found = level_range(level(step, value), 1)
    points = found.points(splits)
    assert found.is_exhausted(splits)
    assert value in points
    assert points[0] == 1000
    assert points[-1] == float(found.high)
    parts = np.searchsorted(splits, points)
    if step is None:
        assert set(parts) == set(range(parts[0], parts[-1] + 1))
    else:
        every = np.arange(1000, 2000, step)
        assert not (points % step).any()
        assert set(parts) == set(np.searchsorted(splits, every))


# --------------------------------- Intervals from counts: those of SciPy, and they cover at least as often as they say


ROUNDING = 1.1e-10  # to ten decimals, and what two ways of computing differ in


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("tried", [1, 2, 3, 7, 40, 1000, 123_456, MOST_TRIES])
def test_the_ends_are_quantiles_of_beta_distributions(tried: int, confidence: float) -> None:
    tail = (1 - confidence) / 2
    for worked in sorted({0, 1, tried // 3, tried // 2, tried - 1, tried}):
        low, high = map(float, count_interval(Counts(worked, tried), confidence))
        wanted_low = stats.beta.ppf(tail, worked, tried - worked + 1) if worked else 0
        wanted_high = stats.beta.isf(tail, worked + 1, tried - worked) if worked < tried else 1
        assert wanted_low - ROUNDING <= low <= wanted_low + 1e-12
        assert wanted_high - 1e-12 <= high <= wanted_high + ROUNDING


@given(st.integers(1, 30), st.floats(0, 1), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_the_true_chance_is_covered_at_least_so_often(tried: int, chance: float, confidence: float) -> None:
    """P(the interval of k holds p) = sum of n! / (k! (n - k)!) p^k (1 - p)^(n - k) over such k, without simulation."""
    covered = 0.0
    for worked in range(tried + 1):
        low, high = count_interval(Counts(worked, tried), confidence)
        if low <= Decimal(chance) <= high:
            covered += comb(tried, worked) * chance**worked * (1 - chance) ** (tried - worked)
    assert covered >= confidence - 1e-9


@given(st.data())
def test_the_share_that_worked_is_inside(data: st.DataObject) -> None:
    tried = data.draw(st.integers(1, 10_000))
    amount = Amount.counted(Counts(data.draw(st.integers(0, tried)), tried))
    assert Decimal(0) <= amount.low <= amount.nominal <= amount.high <= Decimal(1)
    assert amount.is_interval
    assert amount.counts is not None
    assert amount.source == f"data {amount.counts.worked}/{tried}"


@pytest.mark.parametrize(
    "amount, cause",
    [
        (Amount.counted(Counts(31, 40), confidence=0.9), "this is not the interval of 31/40 at 0.95"),
        (Amount(Decimal("0.5"), Decimal("0.4"), Decimal("0.6"), "", Counts(1, 2)), "this is not the interval of 1/2"),
        (replace(Amount.exactly(1), counts=Counts(3, 2)), "3/2 are no counts of a chance"),
        (replace(Amount.exactly(1), counts=Counts(0, 0)), "0/0 are no counts of a chance"),
    ],
)
def test_counts_built_in_python_are_checked(amount: Amount, cause: str) -> None:
    problem = parse_problem(LOAN)
    learn = problem.action_by_name["learn"]
    first = replace(learn.outcomes[0], chance=amount)
    changed = replace(learn, outcomes=(first, Outcome()))
    (found,) = check_problem(replace(problem, actions=(changed, *problem.actions[1:])))
    assert found.code == "counts"
    assert found.place.path == ("actions", "learn", "outcomes", 0, "chance")
    assert found.cause.startswith(cause)
