"""Small problems that tests of several modules share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import safear as sa
from safear.problem import Amount, Outcome

# A number that a classifier sees as it was filed.
TERM: dict[str, Any] = {
    "kind": "numeric",
    "edges": [12, 24, 36],
    "values": [9, 18, 30, 42],
    "step": 1,
    "min": 6,
    "max": 60,
    "unit": "months",
}


def ladder(
    actions: dict[str, Any],
    *,
    levels: Sequence[str] = ("no", "yes"),
    horizon: int = 1,
    failure_cost: float = 0,
    **more: Any,
) -> sa.Problem:
    """One feature, `a`: the last of its levels is the goal, and the only person is at the first."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "ladder",
            "horizon": horizon,
            "features": {"a": {"kind": "ordinal", "levels": list(levels)}},
            "goal": {"favourable": "there", "failure_cost": failure_cost},
            "classifier": {"rule": f"a == '{levels[-1]}'"},
            "actions": actions,
            "people": {"p": {"a": levels[0]}},
        }
        | more
    )


def better_job(*, more: dict[str, Any] | None = None, **changes: Any) -> sa.Problem:
    """To try may cost more and fail, to pay hardly ever does; nothing helps who is lost, and men need less.

    `more` are further features.
    """
    document = {
        "safear": 1,
        "title": "A better job",
        "horizon": 4,
        "cost": {"unit": "months"},
        "features": {
            "x": {"kind": "ordinal", "levels": ["lost", "low", "mid", "goal"]},
            "gender": {"kind": "nominal", "levels": ["male", "female"], "mutable": False},
            **(more or {}),
        },
        "goal": {"favourable": "hired", "failure_cost": 20},
        "classifier": {"rule": "x == goal or (gender == male and x == mid)"},
        "actions": {
            "try": {
                "cost": 1,
                "when": "x > lost",
                "outcomes": [{"chance": 0.6, "change": {"x": "+1"}}, {"chance": 0.4, "cost": 3}],
            },
            "pay": {"cost": 6, "when": "x > lost", "chance": 0.95, "change": {"x": "goal"}},
        },
    }
    return sa.parse_problem(document | changes)


def course(costs: list[float], horizon: int = 2) -> sa.Problem:
    """A course that may cost more or less, and then an exam: a good one or a cheap one."""
    outcomes = [{"chance": 1 / len(costs), "cost": cost, "change": {"a": "ready"}, "works": True} for cost in costs]
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "course",
            "horizon": horizon,
            "goal": {"favourable": "passed", "failure_cost": 10},
            "cost": {"unit": "months"},
            "features": {"a": {"kind": "nominal", "levels": ["new", "ready", "through"]}},
            "actions": {
                "take a course": {"cost": 1, "when": "a == new", "outcomes": outcomes},
                "sit the good exam": {"cost": 3, "when": "a == ready", "chance": 0.9, "change": {"a": "through"}},
                "sit the cheap exam": {"cost": 1, "when": "a == ready", "chance": 0.5, "change": {"a": "through"}},
            },
            "classifier": {"rule": "a == through"},
            "people": {"p": {"a": "new"}},
        }
    )


def surprising() -> sa.Problem:
    """A step that has never failed yet, and may; where it does, another one helps."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "a detour",
            "horizon": 3,
            "cost": {"unit": "months"},
            "features": {"job": {"kind": "nominal", "levels": ["none", "lost", "good"]}},
            "goal": {"failure_cost": 10, "favourable": "hired"},
            "classifier": {"rule": "job == good"},
            "actions": {
                "apply": {
                    "when": "job == none",
                    "cost": 1,
                    "outcomes": [
                        {"chance": {"worked": 5, "tried": 5}, "change": {"job": "good"}},
                        {"change": {"job": "lost"}, "works": False},
                    ],
                },
                "ask": {"when": "job == lost", "cost": 2, "chance": [0.5, 0.8, 0.9], "change": {"job": "good"}},
            },
            "people": {"somebody": {"job": "none"}},
        }
    )


def giving_up() -> sa.Problem:
    """Giving up is free, and who fails has nothing left to do."""
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "giving up is cheap",
            "horizon": 3,
            "goal": {"favourable": "done", "failure_cost": 0},
            "features": {
                "a": {"kind": "ordinal", "levels": ["0", "1", "2"]},
                "b": {"kind": "nominal", "levels": ["x", "y", "z"]},
            },
            "actions": {
                "dither": {"cost": 0.1, "when": "b == x", "outcomes": [{"chance": 0.5, "change": {"b": "y"}}, {}]},
                "dither back": {"cost": 0.1, "when": "b == y", "change": {"b": "x"}},
                "work": {
                    "cost": 3,
                    "when": "b != z",
                    "outcomes": [{"chance": 0.6, "change": {"a": "+1"}}, {"chance": 0.4, "change": {"b": "z"}}],
                },
            },
            "classifier": {"rule": "a == 2"},
            "people": {"p": {"a": "0", "b": "x"}},
        }
    )


def guessed_loan() -> sa.Problem:
    """The bundled loan, with chances from 0.1 below what is written there to 0.05 above it."""
    problem = sa.load_example("loan")

    def guess(outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
        chance = outcomes[0].chance
        assert isinstance(chance, Amount)
        low, high = chance.nominal - Decimal("0.1"), chance.nominal + Decimal("0.05")
        amount = Amount.between(low, high, chance.nominal)
        return replace(outcomes[0], chance=amount), replace(outcomes[1], chance=None)

    return replace(problem, actions=tuple(replace(a, outcomes=guess(a.outcomes)) for a in problem.actions))


# Learning is cheap, and nobody knows how often it works; being taught is neither.
GUESS = """
safear: 1
title: A guess
horizon: 6
cost: {unit: months}
features: {skill: {kind: ordinal, levels: [low, mid, high]}}
goal: {failure_cost: 20, favourable: approved}
classifier: {rule: skill == high}
actions:
  learn: {cost: 1, chance: [0.2, 0.9], change: {skill: +1}}
  be taught: {cost: 3, chance: [0.7, 0.8], change: {skill: +1}}
people: {me: {skill: low}}
"""


def drawn_guesses(seed: int, *, horizon: int = 2) -> dict[str, Any]:
    """Three levels, two actions with two or three outcomes, most chances intervals."""
    rng = random.Random(seed)

    def interval(most: int) -> list[float]:
        return [point / 100 for point in sorted(rng.sample(range(most + 1), 3))]

    def action() -> dict[str, Any]:
        count = rng.choice([2, 2, 3])
        outcomes = [
            {
                "chance": interval(100 // (count - 1)),
                "change": {"x": rng.choice(["+1", "+2"])},
                "cost": rng.randint(0, 4),
            }
        ]
        if count == 3:
            outcomes.append({"chance": interval(50), "change": {"x": "-1"}, "cost": rng.randint(0, 4)})
        return {"cost": rng.randint(0, 3), "outcomes": [*outcomes, {}]}

    return {
        "safear": 1,
        "title": "Drawn",
        "horizon": horizon,
        "features": {"x": {"kind": "ordinal", "levels": ["a", "b", "c"]}},
        "goal": {"failure_cost": rng.randint(0, 6)},
        "classifier": {"rule": "x == c"},
        "actions": {"one": action(), "two": action()},
        "people": {"me": {"x": rng.choice(["a", "b"])}},
    }
