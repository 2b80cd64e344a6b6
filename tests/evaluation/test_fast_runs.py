"""Runs that are followed in compiled loops end as those that are followed layer by layer, to the last bit."""

from __future__ import annotations

import numba  # noqa: F401  # so that compiled loops are used
import numpy as np
import pytest
from hypothesis import given, settings

from recourse.moody_policies import in_pieces, policies
from safear.evaluation.fast_runs import is_fast
from safear.evaluation.forward import run_exactly
from safear.evaluation.policy import Policy
from without_numba import without_numba

pytestmark = pytest.mark.usefixtures("compiled_search")


@settings(max_examples=150)
@given(policy=policies())
def test_runs_end_alike(policy: Policy) -> None:
    known = in_pieces(policy)
    assert is_fast(known)
    fast = run_exactly(known)
    with without_numba():
        assert not is_fast(known)
        plain = run_exactly(known)
    assert np.array_equal(fast.state, plain.state)
    assert np.array_equal(fast.spent, plain.spent)
    assert np.array_equal(fast.chance, plain.chance)
