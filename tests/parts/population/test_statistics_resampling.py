"""Intervals by resampling counts, against known percentiles, and what is no sample to resample."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from doors import Intervals, bootstrap, bootstrap_difference, bootstrap_means, statistics
from safear.errors import ObjectiveError

BILLIONS = 10**10


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def same(one: Intervals, other: Intervals) -> bool:
    """Whether two results are equal to the last bit, gaps included."""
    return all(
        np.array_equal(np.ma.getmaskarray(a), np.ma.getmaskarray(b)) and np.array_equal(a.compressed(), b.compressed())
        for a, b in zip(one, other, strict=True)
    )


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


@pytest.mark.parametrize("what", ["mean", "difference"])
def test_coverage(what: str) -> None:
    """How often an interval holds the true share, or the true difference of two."""
    rng, hits, figures = generator(7), 0, np.array([[1.0], [0.0]])
    for _ in range(200):
        one, other = int(rng.binomial(200, 0.3)), int(rng.binomial(150, 0.6))
        counts = np.array([[one, 200 - one], [other, 150 - other]])
        if what == "mean":
            low, high = bootstrap_means(figures, counts[0], resamples=400, rng=rng)
        else:
            low, high = bootstrap_difference(figures, counts, resamples=400, rng=rng)
        hits += low[0] <= {"mean": 0.3, "difference": -0.3}[what] <= high[0]
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
    difference = bootstrap_difference(figures, np.array([[9, 0], [0, 9]]), rng=generator())
    assert difference.low.tolist() == difference.high.tolist() == [-1, None]


def test_difference_of_two_shares() -> None:
    counts = np.array([[3000, 7000], [12_000, 8000]])
    figures = np.array([[1.0, 2.0], [0.0, 1.0]])
    difference = bootstrap_difference(figures, counts, resamples=10_000, rng=generator())
    deviation = math.sqrt(0.3 * 0.7 / 10_000 + 0.6 * 0.4 / 20_000)
    for column in (0, 1):  # the second is the first plus 1
        ends = [difference.low[column], difference.high[column]]
        assert ends == pytest.approx([-0.3 - 1.96 * deviation, -0.3 + 1.96 * deviation], abs=0.05 * deviation)


def test_too_few_resamples_with_a_figure() -> None:
    """One that is defined in so few resamples that none of them could be left out."""

    def figure(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        number = np.arange(len(drawn))
        return np.ma.array(np.ones((len(drawn), 2)), mask=np.column_stack([number >= 39, number >= 40]))

    low, high = bootstrap(np.array([[1]]), figure, resamples=1000, level=0.95, rng=generator())
    assert low.tolist() == high.tolist() == [None, 1]


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
    assert same(one, other)


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
    assert np.ma.allclose(whole.low, parts.low, rtol=1e-12)
    assert np.ma.allclose(whole.high, parts.high, rtol=1e-12)
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
