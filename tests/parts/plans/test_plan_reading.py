"""Reading plan files: how much they may tell apart."""

from __future__ import annotations

import pytest

from doors import plan_reading
from promises.plans.test_plan_file import PLANS, text_of
from safear import SavedPlan
from safear.errors import TooLargeError


def test_what_does_not_look_at_what_was_spent_is_never_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan for many states and steps is read back when it is saved: it must not be called damaged."""
    looking, plain = (text_of(*plan) for plan in PLANS)
    monkeypatch.setattr(plan_reading, "MOST_SPANS", 1)
    assert SavedPlan.read(plain).text == plain
    with pytest.raises(TooLargeError, match="in more than 1 cases"):
        SavedPlan.read(looking)
