"""Statistics of counts against SciPy on the people themselves, and against closed forms where there are too many."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from doors import Intervals, Sample, holm, mann_whitney

BILLIONS = 10**10
VALUES = st.integers(-6, 6).map(lambda tenth: tenth / 10)


def sample(*pairs: tuple[float, int]) -> Sample:
    return Sample(np.array([value for value, _ in pairs], dtype=float), np.array([c for _, c in pairs], dtype=np.int64))


def expand(some: Sample) -> NDArray[np.float64]:
    return np.repeat(some.values, some.counts)


def same(one: Intervals, other: Intervals) -> bool:
    """Whether two results are equal to the last bit, gaps included."""
    return all(
        np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)) and np.array_equal(a.compressed(), b.compressed())
        for a, b in zip(one, other, strict=True)
    )


@st.composite
def samples(draw: st.DrawFn, most: int = 30) -> Sample:
    pairs = draw(st.lists(st.tuples(VALUES, st.integers(0, most)), min_size=1, max_size=12))
    assume(any(count for _, count in pairs))
    return sample(*pairs)


# --- samples


@given(st.lists(st.tuples(VALUES, st.integers(0, 30)), max_size=12))
def test_values_are_sorted_distinct_and_somebodys(pairs: list[tuple[float, int]]) -> None:
    some = sample(*pairs)
    people = sorted(value for value, count in pairs for _ in range(count))
    assert expand(some).tolist() == people
    assert all(low < high for low, high in pairwise(some.values))
    assert (some.counts > 0).all()
    assert some.values.dtype == np.float64
    assert some.counts.dtype == np.int64
    assert some.n == len(people)


@given(samples())
def test_the_mean_against_the_people(some: Sample) -> None:
    people = expand(some)
    assert some.mean == pytest.approx(people.mean(), abs=1e-14)


@given(st.floats(-1e100, 1e100), st.integers(1, BILLIONS), st.integers(1, BILLIONS))
@example(0.1, 3, 3)  # 6 * 0.1 / 6 is not 0.1
def test_equal_values_have_that_mean(value: float, one: int, other: int) -> None:
    some = sample((value, one), (value, other))
    assert some.mean == value
    assert len(some.values) == 1


def test_nobody() -> None:
    for some in (sample(), sample((1, 0))):
        assert (some.n, some.mean) == (0, None)


def test_a_sample_cannot_be_changed() -> None:
    values, counts = np.array([2.0, 1.0]), np.array([1, 1])
    some = Sample(values, counts)
    with pytest.raises(ValueError, match="read-only"):
        some.values[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        some.counts[0] = 5
    values[:] = 7  # nor by those who gave the arrays
    counts[:] = 7
    assert (some.values.tolist(), some.counts.tolist()) == ([1, 2], [1, 1])


@pytest.mark.parametrize(
    ("values", "counts", "message"),
    [
        ([1.0, 2.0], [1], "do not fit"),
        ([1.0], [-1], "negative"),
        ([1.0], [0.5], "whole numbers"),
        ([1.0], [2**49], "add up"),
        ([1.0, 2.0], [2**62, 2**62], "add up"),
        ([[1.0]], [[1]], "dimensions"),
        ([math.nan], [1], "finite"),
        ([math.inf], [1], "finite"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), [1, 1], "masked"),
        ([1.0, 2.0], np.ma.array([1, 1], mask=[False, True]), "without gaps"),
    ],
)
def test_what_is_no_sample(values: NDArray[np.float64], counts: NDArray[np.int64], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sample(values, counts)


# --- the rank test


@given(samples(), samples())
def test_mann_whitney_against_scipy(one: Sample, other: Sample) -> None:
    found = mann_whitney(one, other)
    assert found is not None
    assume(len(set(one.values) | set(other.values)) > 1)  # below: SciPy may divide by what is 0 but for rounding
    method = "exact" if found.is_exact else "asymptotic"
    expected = stats.mannwhitneyu(expand(one), expand(other), alternative="two-sided", method=method)
    assert found.u == expected.statistic
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("one", "other", "p"), [([1, 2, 4], [3, 5, 6], 0.2), ([1], [2], 1.0), ([1, 2, 3, 4], [9], 0.4)]
)
def test_few_people_without_ties_are_tested_exactly(
    one: list[float], other: list[float], p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all orders, so many are as far from even: by hand."""
    first, second = (sample(*((value, 1) for value in values)) for values in (one, other))
    found = mann_whitney(first, second)
    assert found is not None
    assert found.is_exact
    assert found.p_value == pytest.approx(p)
    for tied in (mann_whitney(first, sample((one[0], 1))), mann_whitney(first, sample((other[-1], 2)))):
        assert tied is not None
        assert not tied.is_exact
    monkeypatch.setitem(sys.modules, "scipy.stats", None)  # not installed
    without = mann_whitney(first, second)
    assert without is not None
    assert (without.is_exact, without.effect) == (False, found.effect)


def test_many_people_are_tested_by_the_approximation() -> None:
    many = mann_whitney(sample(*((2 * i, 1) for i in range(31))), sample(*((2 * i + 1, 1) for i in range(31))))
    assert many is not None
    assert not many.is_exact


@given(samples(most=5), samples(most=5))
def test_effect_counts_pairs(one: Sample, other: Sample) -> None:
    found = mann_whitney(one, other)
    assert found is not None
    x, y = expand(one)[:, np.newaxis], expand(other)[np.newaxis]
    assert found.u == (x > y).sum() + (x == y).sum() / 2
    assert found.effect == pytest.approx((x > y).mean() - (x < y).mean(), abs=1e-14)
    assert found.effect == pytest.approx(2 * ((x > y).mean() + (x == y).mean() / 2 - 1 / 2), abs=1e-14)


@given(samples(most=BILLIONS), samples(most=BILLIONS))
def test_the_other_way_round(one: Sample, other: Sample) -> None:
    found, turned = mann_whitney(one, other), mann_whitney(other, one)
    assert found is not None
    assert turned is not None
    assert (turned.effect, turned.p_value) == (-found.effect, found.p_value)
    assert found.u + turned.u == pytest.approx(one.n * other.n, rel=1e-15)


def exact_z(one: Sample, other: Sample) -> float:
    """The square root of z^2 in whole numbers, by the formula of the books."""
    m, k = one.n, other.n
    n = m + k
    doubled = 0
    ties: dict[float, int] = {}
    for x, c in zip(one.values.tolist(), one.counts.tolist(), strict=True):
        for y, d in zip(other.values.tolist(), other.counts.tolist(), strict=True):
            doubled += c * d * ((x > y) - (x < y))
    for some in (one, other):
        for x, c in zip(some.values.tolist(), some.counts.tolist(), strict=True):
            ties[x] = ties.get(x, 0) + c
    variance = Fraction(m * k, 12) * (n + 1 - Fraction(sum(t**3 - t for t in ties.values()), n * (n - 1)))
    z = Fraction(abs(doubled) - 1, 2) ** 2 / variance
    return math.sqrt(z) if doubled else -math.sqrt(z)


@given(samples(most=BILLIONS), samples(most=BILLIONS), st.integers(0, 10**6))
def test_billions_of_people_with_little_between_them(one: Sample, other: Sample, more: int) -> None:
    """Nearly the same distribution twice, so that the p-value is not just 0."""
    assume(len(one.values) > 1)
    near = Sample(np.append(one.values, other.values[0]), np.append(one.counts, more))
    found = mann_whitney(one, near)
    assert found is not None
    # A relative error of z, a few roundings, is z^2 < 1400 times as large in the p-value.
    expected = min(1.0, 2 * float(special.ndtr(-exact_z(one, near))))
    assert found.p_value == pytest.approx(expected, rel=3e-12, abs=1e-305)


@pytest.mark.parametrize(("size", "exponent"), [(50, -18), (500, -165), (915, -300)])
def test_tiny_p_values(size: int, exponent: int) -> None:
    """Samples that do not overlap at all, without ties within."""
    one = Sample(np.arange(size, 2 * size, dtype=np.float64), np.ones(size, dtype=np.int64))
    other = Sample(np.arange(size, dtype=np.float64), np.ones(size, dtype=np.int64))
    found = mann_whitney(one, other)
    assert found is not None
    z = (size**2 / 2 - 0.5) / math.sqrt(size**2 * (2 * size + 1) / 12)
    log_p = math.log(2) + float(special.log_ndtr(-z))
    assert math.log(found.p_value) == pytest.approx(log_p, abs=1e-12)
    assert math.floor(log_p / math.log(10)) == exponent
    assert found.effect == 1
    expected = stats.mannwhitneyu(expand(one), expand(other), alternative="two-sided", method="asymptotic")
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12, abs=0)


def test_beyond_the_smallest_float() -> None:
    found = mann_whitney(sample((0, BILLIONS)), sample((1, BILLIONS)))
    assert found is not None
    assert (found.u, found.p_value, found.effect) == (0, 0, -1)


def test_pairs_beyond_64_bits() -> None:
    """10^20 pairs, of which one group has won exactly one more than it has lost: no difference after continuity."""
    half = BILLIONS // 2
    found = mann_whitney(sample((1, 1)), sample((0, half), (2, half - 1)))
    assert found is not None
    assert found.p_value == 1
    assert found.effect == pytest.approx(1 / (BILLIONS - 1), rel=1e-14)
    one, other = sample((0, BILLIONS), (1, BILLIONS)), sample((0, BILLIONS - 10**5), (1, BILLIONS + 10**5))
    found = mann_whitney(one, other)
    assert found is not None
    # Two proportions: z^2 = difference^2 / (1/4 (1/m + 1/k)) but for continuity and n - 1.
    difference = 10**5 / (2 * BILLIONS)
    z = difference / math.sqrt(1 / 4 * 2 / (2 * BILLIONS))
    assert found.effect == pytest.approx(-difference, rel=1e-12)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-8)


@given(VALUES, st.integers(1, BILLIONS), st.integers(1, BILLIONS))
def test_all_equal(value: float, one: int, other: int) -> None:
    found = mann_whitney(sample((value, one)), sample((value, other)))
    assert found is not None
    assert (found.u, found.p_value, found.effect) == (one * other / 2, 1, 0)


def test_nobody_to_compare() -> None:
    assert mann_whitney(sample(), sample((1, 5))) is None
    assert mann_whitney(sample((1, 5)), sample()) is None


# --- several tests


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []
    assert holm([None]) == [None]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_as_stepping_down_does(p_values: list[float], alpha: float) -> None:
    adjusted = holm(p_values)
    assume(all(abs(p - alpha) > 1e-12 for p in adjusted if p is not None))
    rejected = set()
    for step, position in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[position] > alpha / (len(p_values) - step):
            break
        rejected.add(position)
    assert {i for i, p in enumerate(adjusted) if p is not None and p <= alpha} == rejected


@pytest.mark.parametrize("p_value", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value(p_value: float) -> None:
    with pytest.raises(ValueError, match="not a p-value"):
        holm([0.5, p_value])
