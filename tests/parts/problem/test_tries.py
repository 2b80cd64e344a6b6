"""Intervals from counts: those of SciPy, and they cover at least as often as they say."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from doors import MOST_TRIES, Counts, count_interval
from mistakes import LOAN
from safear.problem import Amount, Outcome, check_problem, parse_problem

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
