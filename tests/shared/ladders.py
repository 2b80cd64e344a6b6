"""Small problems whose best plans have many rules: a ladder to climb, steps of several kinds, and little time."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

NAMES = ("walk", "jump", "fly", "swim")
CHANCES = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0)


def ladder(
    steps: dict[str, tuple[float, float, str]], *, horizon: int, failure: float, stop: bool = True, rungs: int = 3
) -> dict[str, Any]:
    """Steps by name, each with its cost, its chance and where it leads: `+1`, or a rung by its name."""
    levels = [f"rung {number}" for number in range(rungs)]
    actions = {name: {"cost": cost, "chance": p, "change": {"place": to}} for name, (cost, p, to) in steps.items()}
    return {
        "safear": 1,
        "title": "A ladder",
        "horizon": horizon,
        "features": {"place": {"kind": "ordinal", "levels": levels}},
        "goal": {"favourable": "at the top", "failure_cost": failure, "stop": stop},
        "classifier": {"rule": f"place == 'rung {rungs - 1}'"},
        "actions": actions,
        "people": {"someone": {"place": "rung 0"}},
    }


# Jumping is a little cheaper until time gets short: six rules for the least mean, one for one thing all along.
CLIMB = ladder({"walk": (2.1, 0.9, "+1"), "jump": (1.8, 0.8, "+1")}, horizon=8, failure=10, stop=False, rungs=4)


def ladders(least_steps: int, most_steps: int) -> st.SearchStrategy[dict[str, Any]]:
    """Two to four ways up, about equally good, and seldom time for all of them. Evenly drawn, not from small on."""
    return st.integers(0, 2**32).map(lambda seed: draw_ladder(np.random.default_rng(seed), least_steps, most_steps))


def draw_ladder(rng: np.random.Generator, least_steps: int, most_steps: int) -> dict[str, Any]:
    rungs = int(rng.integers(2, 5))
    ways = ["+1", "+1", *(f"rung {number}" for number in range(1, rungs))]
    steps = {}
    for name in NAMES[: int(rng.integers(2, 5))]:
        to, chance = str(rng.choice(ways)), float(rng.choice(CHANCES))
        height = 1 if to == "+1" else int(to.split()[1])
        fair = chance * height * rng.uniform(0.9, 1.3)  # about as much for a rung as any other
        steps[name] = (float(round(2 * fair, 1)), chance, to)
    horizon, failure = int(rng.integers(least_steps, most_steps + 1)), float(rng.choice([0, 5, 10, 20]))
    return ladder(steps, horizon=horizon, failure=failure, stop=bool(rng.integers(2)), rungs=rungs)
