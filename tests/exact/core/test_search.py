"""The tails that bounds are made of, beside those of distributions in order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doors import find_cvar, find_entropic
from lanes import scaled
from safear.risk import Costs


@settings(max_examples=scaled(200))
@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
    level=st.sampled_from([0.0, 0.3, 0.5, 0.8, 0.95, 1.0]),
    aversion=st.sampled_from([0.01, 0.5, 3.0]),
)
def test_tails_without_sorting(values: list[int], seed: int, level: float, aversion: float) -> None:
    chances = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
    order, units = np.argsort(values), np.array(values, dtype=np.float64)
    costs = Costs(units[order], chances[order])
    exact = math.log(sum(p * math.exp(aversion * x) for p, x in zip(chances, units, strict=True))) / aversion
    assert find_entropic(units, chances, aversion) == pytest.approx(exact, abs=1e-12)
    assert find_cvar(units.copy(), chances.copy(), level) == pytest.approx(costs.cvar(level), abs=1e-9)
