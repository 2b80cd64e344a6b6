"""Limits that are lowered for a test, so that something small is as what is large elsewhere."""

from __future__ import annotations

import pytest

from doors import compiled_module, fine_costs, memory


def limit_work(most: int, patch: pytest.MonkeyPatch) -> None:
    """Costs that take more work are rounded to find a plan."""
    patch.setattr(fine_costs, "MAX_WORK", most)


def weigh_states(size: int, patch: pytest.MonkeyPatch) -> None:
    """Each state takes so many bytes."""
    patch.setattr(compiled_module, "_BYTES_PER_STATE", size)


def leave_memory(size: int, patch: pytest.MonkeyPatch) -> None:
    """As if the machine had so many bytes left."""
    patch.setattr(memory, "available", lambda: size)
