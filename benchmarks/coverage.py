"""How often do fitted intervals hold the true chance? `python -m benchmarks.coverage` simulates logs and tells.

Each log is one of a problem with 200 actions, whose chances depend on nothing, on a condition or on the level reached.
The true chances are drawn anew for each action and cell; attempts are drawn by them, and fitted as a user would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd

import safear as sa
from safear.problem.quantity import Amount, amounts

ACTIONS = 200
LOGS = 10
AGES = ("young", "adult", "senior")
FORMS = {
    "number": 0.5,
    "conditions": [{"when": "age == young", "chance": 0.5}, {"when": "age == adult", "chance": 0.5}, 0.5],
    "levels": {"one": 0.5, "two": 0.5, "three": 0.5},
}


@dataclass(frozen=True)
class Setting:
    """A form of a chance, how often each of its cells is tried, and how far apart their true chances are."""

    name: str
    form: str
    tries: tuple[int, ...]
    alike: bool = False


SETTINGS = (
    Setting("one chance, 3 tries", "number", (3,)),
    Setting("one chance, 10 tries", "number", (10,)),
    Setting("one chance, 40 tries", "number", (40,)),
    Setting("one chance, 400 tries", "number", (400,)),
    Setting("three conditions, 20 tries each", "conditions", (20, 20, 20)),
    Setting("three conditions, 4 tries each, pooled, chances alike", "conditions", (4, 4, 4), alike=True),
    Setting("three conditions, 4 tries each, pooled, chances differ", "conditions", (4, 4, 4)),
    Setting("three levels, 40, 5 and no tries", "levels", (40, 5, 0)),
)


def make_problem(form: str) -> sa.Problem:
    """A problem with many actions of the same form."""
    action = {"cost": 1, "chance": FORMS[form], "change": {"rung": "+1"}}
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "Coverage",
            "horizon": 3,
            "features": {
                "age": {"kind": "ordinal", "levels": list(AGES), "mutable": False},
                "rung": {"kind": "ordinal", "levels": ["none", "one", "two", "three"]},
            },
            "classifier": {"rule": "rung == three"},
            "actions": {f"action {number}": action for number in range(ACTIONS)},
        }
    )


def simulate(setting: Setting, rng: np.random.Generator) -> Iterator[tuple[bool, float]]:
    """Whether each interval of a log holds the true chance, and how wide it is."""
    problem, cells = make_problem(setting.form), len(setting.tries)
    truth = rng.uniform(size=(ACTIONS, 1 if setting.alike else cells)) * np.ones((1, cells))
    action, cell = (
        part.ravel()
        for part in np.broadcast_arrays(np.arange(ACTIONS)[:, np.newaxis], np.repeat(range(cells), setting.tries))
    )
    log = pd.DataFrame(
        {
            "action": [f"action {number}" for number in action],
            "worked": rng.uniform(size=len(action)) < truth[action, cell],
            "age": np.array(AGES)[cell],
            "rung": np.array(["none", "one", "two"])[cell],
        }
    )
    fitted = sa.fit_problem(problem, log).problem
    for number in range(ACTIONS):
        for place, amount in enumerate(amounts(fitted.actions[number].outcomes[0].chance or Amount.exactly(1))):
            yield amount.low <= Decimal(truth[number, place]) <= amount.high, float(amount.high - amount.low)


def measure(setting: Setting, *, seed: int = 0, logs: int = LOGS) -> tuple[int, float, float]:
    """How many intervals there were, the share that holds the truth, and their mean width."""
    rng = np.random.default_rng(seed)
    found = np.array([item for _ in range(logs) for item in simulate(setting, rng)])
    return len(found), float(found[:, 0].mean()), float(found[:, 1].mean())


def tell(setting: Setting, *, logs: int = LOGS) -> str:
    """A row of the table."""
    count, covered, width = measure(setting, logs=logs)
    return f"| {setting.name} | {count} | {covered:.1%} | {width:.2f} |"


def main() -> None:
    """Print the table."""
    print("| simulated logs | intervals | hold the true chance | mean width |\n|---|---:|---:|---:|")
    for setting in SETTINGS:
        print(tell(setting))


if __name__ == "__main__":
    main()
