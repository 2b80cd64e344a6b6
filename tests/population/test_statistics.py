"""Statistics of counts against SciPy on the people themselves, and against closed forms where there are too many."""

from __future__ import annotations

import math
import sys
import tracemalloc
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from safear.errors import ObjectiveError
from safear.population import statistics
from safear.population.statistics import (
    Intervals,
    Sample,
    bootstrap,
    bootstrap_difference,
    bootstrap_means,
    holm,
    mann_whitney,
)

BILLIONS = 10**10
VALUES = st.integers(-6, 6).map(lambda tenth: tenth / 10)


def sample(*pairs: tuple[float, int]) -> Sample:
    return Sample(np.array([value for value, _ in pairs], dtype=float), np.array([c for _, c in pairs], dtype=np.int64))


def expand(some: Sample) -> NDArray[np.float64]:
    return np.repeat(some.values, some.counts)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


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
def test_moments_against_the_people(some: Sample) -> None:
    people = expand(some)
    assert some.mean == pytest.approx(people.mean(), abs=1e-14)
    assert some.variance == pytest.approx(people.var(), abs=1e-14)


@given(samples(), st.integers(0, 40), st.integers(1, 40))
def test_quantile_is_the_smallest_with_enough_people(some: Sample, top: int, bottom: int) -> None:
    assume(top <= bottom)
    people = expand(some)
    enough = [x for x in some.values if Fraction(int((people <= x).sum()), some.n) >= Fraction(top, bottom)]
    assert some.quantile(top / bottom) == min(enough)


def test_quantile_of_a_level_with_rounding() -> None:
    some = sample((1, 3), (2, 7))
    assert some.quantile(0.1 + 0.2) == 1  # which is a bit more than 0.3
    assert some.quantile(0.31) == 2
    assert (some.quantile(0), some.quantile(1)) == (1, 2)


def test_one_person_among_billions() -> None:
    some = sample((0, BILLIONS - 1), (1, 1))
    assert some.n == BILLIONS
    assert some.quantile(1) == 1
    assert some.quantile(1 - 1e-10) == 0
    assert some.quantile(1 - 0.9e-10) == 1
    assert some.mean == pytest.approx(1e-10, rel=1e-14)
    assert some.variance == pytest.approx(1e-10 * (1 - 1e-10), rel=1e-14)


@given(st.floats(-1e100, 1e100), st.integers(1, BILLIONS), st.integers(1, BILLIONS))
@example(0.1, 3, 3)  # 6 * 0.1 / 6 is not 0.1
def test_equal_values_have_no_variance(value: float, one: int, other: int) -> None:
    some = sample((value, one), (value, other))
    assert (some.mean, some.variance, some.quantile(0.5)) == (value, 0, value)
    assert len(some.values) == 1


def test_nobody() -> None:
    for some in (sample(), sample((1, 0))):
        assert (some.n, some.mean, some.variance, some.quantile(0.5)) == (0, None, None, None)


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


@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan])
def test_what_is_no_level(level: float) -> None:
    with pytest.raises(ObjectiveError, match="not between 0 and 1"):
        sample((1, 1)).quantile(level)


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


# --- resampling


def yes_and_no(yes: int, no: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.array([[1.0], [0.0]]), np.array([yes, no])


@pytest.mark.parametrize("n", [400, 10**6, BILLIONS])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_of_a_share(n: int, level: float) -> None:
    """The resampled share is binomial, so its percentiles are known."""
    figures, counts = yes_and_no(n * 3 // 10, n * 7 // 10)
    low, high = bootstrap_means(figures, counts, resamples=20_000, level=level, rng=generator())
    expected = stats.binom(n, 0.3).ppf([(1 - level) / 2, (1 + level) / 2]) / n
    # Percentiles of 20 000 draws are off by about 1% of a deviation (2% far out), those of the share by 1 in n.
    allowed = 0.06 * math.sqrt(0.21 / n) + 1 / n
    assert [low[0], high[0]] == pytest.approx(expected, abs=allowed)


def test_draws_are_multinomial() -> None:
    """Means, variances and covariances of the draws of each group; nobody is drawn where nobody is."""
    counts = np.array([[5, 0, 20, 75, 0], [0, 40, 1, 0, 9], [0, 0, 0, 0, 0]])
    seen: list[NDArray[np.float64]] = []

    def remember(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.append(drawn.copy())
        return drawn[:, :, 0]

    bootstrap(counts, remember, resamples=40_000, rng=generator())
    draws = np.concatenate(seen)
    assert draws.shape == (40_000, 3, 5)
    assert (draws.sum(axis=2) == counts.sum(axis=1)).all()
    assert (draws[:, counts == 0] == 0).all()
    for group in (0, 1):
        n = counts[group].sum()
        p = counts[group] / n
        assert draws[:, group].mean(axis=0) == pytest.approx(counts[group], abs=5 * math.sqrt(n / 4 / 40_000))
        covariance = np.cov(draws[:, group], rowvar=False)
        assert covariance == pytest.approx(n * (np.diag(p) - np.outer(p, p)), abs=0.03 * n / 4)
    across = np.corrcoef(draws[:, 0, 3], draws[:, 1, 1])[0, 1]
    assert abs(across) < 5 / math.sqrt(40_000)  # groups are independent


@pytest.mark.parametrize(
    ("resamples", "level", "outside"), [(2000, 0.95, 50), (1000, 0.9, 50), (40, 0.95, 1), (41, 0.95, 1), (100, 0.5, 25)]
)
def test_which_resamples_are_left_out(resamples: int, level: float, outside: int) -> None:
    """Told by a statistic that numbers the resamples, backwards, and its reverse."""
    numbers = iter(range(resamples, 0, -1))

    def number(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        counted = np.array([next(numbers) for _ in drawn], dtype=float)
        return np.column_stack([counted, -counted])

    low, high = bootstrap(np.array([[1, 1]]), number, resamples=resamples, level=level, rng=generator())
    assert low.tolist() == [outside + 1, -(resamples - outside)]
    assert high.tolist() == [resamples - outside, -(outside + 1)]


@pytest.mark.parametrize("what", ["mean", "difference", "ratio"])
def test_coverage(what: str) -> None:
    """How often an interval holds the true share, or the true difference or ratio of two."""
    rng, hits, figures = generator(7), 0, np.array([[1.0], [0.0]])
    for _ in range(200):
        one, other = int(rng.binomial(200, 0.3)), int(rng.binomial(150, 0.6))
        counts = np.array([[one, 200 - one], [other, 150 - other]])
        if what == "mean":
            low, high = bootstrap_means(figures, counts[0], resamples=400, rng=rng)
        else:
            low, high = getattr(bootstrap_difference(figures, counts, resamples=400, rng=rng), what)
        hits += low[0] <= {"mean": 0.3, "difference": -0.3, "ratio": 0.5}[what] <= high[0]
    assert 0.88 <= hits / 200 <= 0.99


def test_undefined_figures_weigh_nothing() -> None:
    """A figure that only some states have: as if the mean were taken of the others alone; its mask hides anything."""
    figures = np.ma.array(
        [[1.0, 5.0], [3.0, np.nan], [7.0, np.inf]], mask=[[False, False], [False, True], [True, True]]
    )
    low, high = bootstrap_means(figures, np.array([300, 100, 600]), resamples=4000, rng=generator())
    # 1.5 with a deviation of sqrt(3/4) over about 400 people
    assert [low[0], high[0]] == pytest.approx(
        [1.5 - 1.96 * math.sqrt(0.75 / 400), 1.5 + 1.96 * math.sqrt(0.75 / 400)], abs=0.01
    )
    assert (low[1], high[1]) == (5, 5)


def test_means_are_ratios_of_sums_in_every_resample() -> None:
    """The same draws through the general function, with the means written out."""
    figures = np.ma.array([[1.0, 5.0], [3.0, 2.0], [7.0, 4.0]], mask=[[False, False], [False, True], [True, False]])
    counts = np.array([3, 4, 5])

    def written_out(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        c = drawn[:, 0]
        first, second = c[:, 0] + c[:, 1], c[:, 0] + c[:, 2]
        values = np.column_stack([(c[:, 0] + 3 * c[:, 1]) / first, (5 * c[:, 0] + 4 * c[:, 2]) / second])
        return np.ma.masked_invalid(values)

    found = bootstrap_means(figures, counts, resamples=500, rng=generator(3))
    expected = bootstrap(counts[np.newaxis], written_out, resamples=500, rng=generator(3))
    assert np.ma.allclose(found.low, expected.low, rtol=1e-14)
    assert np.ma.allclose(found.high, expected.high, rtol=1e-14)
    assert (found.low < found.high).all()


def test_resamples_in_which_nobody_has_the_figure() -> None:
    """One person of many has it: in 37% of the resamples nobody, in the others it is the same."""
    figures = np.ma.array([[2.5], [0.0]], mask=[[False], [True]])
    found = bootstrap_means(figures, np.array([1, BILLIONS]), rng=generator())
    assert (found.low[0], found.high[0]) == (2.5, 2.5)


def test_figures_that_nobody_has() -> None:
    figures = np.ma.array([[1.0, 4.0], [2.0, 4.0]], mask=[[False, True], [False, False]])
    low, high = bootstrap_means(figures, np.array([9, 0]), rng=generator())
    assert low.tolist() == [1, None]
    assert high.tolist() == [1, None]
    low, high = bootstrap_means(figures, np.array([0, 0]), rng=generator())
    assert low.tolist() == high.tolist() == [None, None]
    nobody = bootstrap_means(np.zeros((0, 2)), np.zeros(0, dtype=np.int64), rng=generator())
    assert nobody.low.tolist() == nobody.high.tolist() == [None, None]
    difference, ratio = bootstrap_difference(figures, np.array([[9, 0], [0, 9]]), rng=generator())
    assert difference.low.tolist() == difference.high.tolist() == [-1, None]
    assert ratio.low.tolist() == ratio.high.tolist() == [0.5, None]


def test_difference_and_ratio_of_two_shares() -> None:
    counts = np.array([[3000, 7000], [12_000, 8000]])
    figures = np.array([[1.0, 2.0], [0.0, 1.0]])
    difference, ratio = bootstrap_difference(figures, counts, resamples=10_000, rng=generator())
    deviation = math.sqrt(0.3 * 0.7 / 10_000 + 0.6 * 0.4 / 20_000)
    for column in (0, 1):  # the second is the first plus 1
        ends = [difference.low[column], difference.high[column]]
        assert ends == pytest.approx([-0.3 - 1.96 * deviation, -0.3 + 1.96 * deviation], abs=0.05 * deviation)
    # By the logarithm of the ratio, whose variance is the sum of (1 - p) / (p n).
    spread = 1.96 * math.sqrt(0.7 / 0.3 / 10_000 + 0.4 / 0.6 / 20_000)
    ends = [ratio.low[0], ratio.high[0]]
    assert ends == pytest.approx([0.5 * math.exp(-spread), 0.5 * math.exp(spread)], abs=0.001)
    middle = (ratio.low[1] + ratio.high[1]) / 2
    assert middle == pytest.approx(1.3 / 1.6, abs=0.001)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ratio_without_a_bound(sign: float) -> None:
    """1 of 100 in the second group: missing in 37% of the resamples, where the ratio is infinite, not undefined."""
    figures = np.array([[sign], [0.0], [1.0]])
    difference, ratio = bootstrap_difference(figures, np.array([[50, 50, 0], [0, 99, 1]]), rng=generator())
    assert (difference.low.count(), difference.high.count()) == (1, 1)
    near, far = (ratio.low, ratio.high) if sign > 0 else (ratio.high, ratio.low)
    assert far.tolist() == [None]
    # The other bound is where the second group's share is large: 3 or 4 of 100, to the first's 1/2 give or take 0.1.
    assert 10 < sign * near[0] < 20


def test_resamples_with_nothing_over_nothing_do_not_count() -> None:
    """The second group's share is 0 in 4.8% of the resamples, more than the 4% left out; the first's is not in 3%."""
    counts = np.array([[1, 99], [3, 97]])
    figures = np.array([[1.0], [0.0]])
    ratio = bootstrap_difference(figures, counts, resamples=20_000, level=0.92, rng=generator()).ratio
    assert ratio.low.tolist() == [0]
    assert 1 <= ratio.high[0] <= 4  # the second group's one in a hundred to the first's one to four


def test_too_few_resamples_with_a_figure() -> None:
    """One that is defined in so few resamples that none of them could be left out."""

    def figure(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        number = np.arange(len(drawn))
        return np.ma.array(np.ones((len(drawn), 2)), mask=np.column_stack([number >= 39, number >= 40]))

    low, high = bootstrap(np.array([[1]]), figure, resamples=1000, level=0.95, rng=generator())
    assert low.tolist() == high.tolist() == [None, 1]


def test_nothing_over_nothing() -> None:
    difference, ratio = bootstrap_difference(np.array([[0.0]]), np.array([[5], [5]]), rng=generator())
    assert (difference.low.tolist(), difference.high.tolist()) == ([0], [0])
    assert ratio.low.tolist() == ratio.high.tolist() == [None]


def test_same_seed_same_intervals() -> None:
    figures, counts = generator().random((30, 3)), generator(1).integers(0, 9, 30)
    found = bootstrap_means(figures, counts, resamples=200, rng=generator(5))
    assert same(found, bootstrap_means(figures, counts, resamples=200, rng=generator(5)))
    assert not same(found, bootstrap_means(figures, counts, resamples=200, rng=generator(6)))
    rng = generator(5)
    bootstrap_means(figures, counts, resamples=200, rng=rng)
    assert not same(found, bootstrap_means(figures, counts, resamples=200, rng=rng))  # a generator moves on
    two = np.array([counts, counts[::-1]])
    one, other = (bootstrap_difference(figures, two, resamples=200, rng=generator(5)) for _ in range(2))
    assert same(one.difference, other.difference)
    assert same(one.ratio, other.ratio)


def test_memory_is_bounded_and_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator()
    figures, counts = rng.random((1000, 2)), rng.integers(0, 9, (2, 1000))
    sizes: list[int] = []

    def measure(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        sizes.append(len(drawn))
        return drawn @ figures[:, 0]

    whole = bootstrap_difference(figures, counts, resamples=700, rng=generator())
    bootstrap(counts, measure, resamples=700, rng=generator())
    assert sizes == [700]
    monkeypatch.setattr(statistics, "MEMORY", 2**20)
    tracemalloc.start()
    try:
        parts = bootstrap_difference(figures, counts, resamples=700, rng=generator())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * 2**20  # 22 MB at once
    for one, other in ((whole.difference, parts.difference), (whole.ratio, parts.ratio)):
        assert np.ma.allclose(one.low, other.low, rtol=1e-12)
        assert np.ma.allclose(one.high, other.high, rtol=1e-12)
    sizes.clear()
    bootstrap(counts, measure, resamples=700, rng=generator())
    assert sum(sizes) == 700
    assert max(sizes) == 2**20 // (16 * counts.size)
    monkeypatch.setattr(statistics, "MEMORY", 1)
    sizes.clear()
    bootstrap(counts, measure, resamples=50, rng=generator())
    assert sizes == [1] * 50


def test_few_people_at_the_end_of_many_states() -> None:
    """The last state's share must not drown in what the other shares have left by rounding."""
    counts = np.append(np.full(3000, 2**47 // 3000), 4)
    found: list[float] = []

    def last(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        found.extend(drawn[:, 0, -1])
        return drawn[:, 0, -1:]

    bootstrap(counts[np.newaxis], last, resamples=2000, rng=generator())
    assert np.mean(found) == pytest.approx(4, abs=5 * 2 / math.sqrt(2000))
    assert np.var(found) == pytest.approx(4, abs=0.8)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_what_is_no_interval(level: float) -> None:
    with pytest.raises(ObjectiveError, match="not between 0 and 1"):
        bootstrap_means(*yes_and_no(1, 1), level=level, rng=generator())


@pytest.mark.parametrize(("level", "needed"), [(0.95, 40), (0.99, 200), (0.5, 4)])
def test_too_few_resamples(level: float, needed: int) -> None:
    with pytest.raises(ObjectiveError, match=f"at least {needed};"):
        bootstrap_means(*yes_and_no(1, 1), level=level, resamples=needed - 1, rng=generator())
    low, high = bootstrap_means(*yes_and_no(1, 1), level=level, resamples=needed, rng=generator())
    assert 0 <= low[0] <= high[0] <= 1


def test_what_cannot_be_resampled() -> None:
    figures, counts = yes_and_no(1, 1)
    with pytest.raises(ValueError, match="do not fit"):
        bootstrap_means(figures[:1], counts, rng=generator())
    with pytest.raises(ValueError, match="do not fit"):
        bootstrap_means(figures[:, 0], counts, rng=generator())
    with pytest.raises(ValueError, match="finite, or masked"):
        bootstrap_means(figures * np.nan, counts, rng=generator())
    with pytest.raises(ValueError, match="needs two groups"):
        bootstrap_difference(figures, np.array([counts] * 3), rng=generator())
    with pytest.raises(ValueError, match="dimensions"):
        bootstrap_difference(figures, counts, rng=generator())
    with pytest.raises(ValueError, match="mask what is undefined"):
        bootstrap(counts[np.newaxis], lambda drawn: np.full((len(drawn), 1), np.nan), rng=generator())
