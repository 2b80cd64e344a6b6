"""What a model gives, as an array: see test_vouching.py for all that is refused."""

from __future__ import annotations

import pytest

import safear as sa
from safear.errors import ClassifierError


def test_a_number_that_no_float_holds_is_refused() -> None:
    with pytest.raises(ClassifierError, match="a number that is not finite"):
        sa.recommend(sa.load_example("loan"), lambda frame: [10**400] * len(frame))


def test_a_model_that_fails_when_it_is_looked_at() -> None:
    class Loud:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

    with pytest.raises(ClassifierError, match="RuntimeError: columns"):
        sa.recommend(sa.load_example("loan"), Loud())
