"""The common problem of the benchmarks: as large as the paper's Adult, with a rule instead of a forest."""

from __future__ import annotations

from typing import Any

import safear as sa

FEATURES: dict[str, Any] = {
    "age": {"kind": "ordinal", "levels": [0, 1, 2, 3, 4, 5], "actionable": False},
    "education": {"kind": "ordinal", "levels": [0, 1, 2, 3, 4]},
    "hours": {"kind": "ordinal", "levels": [0, 1, 2, 3]},
    "work": {"kind": "nominal", "levels": ["gov", "self", "private", "other"]},
    "job": {"kind": "nominal", "levels": ["prof", "white", "service", "blue", "sales", "other"]},
    "marital": {"kind": "nominal", "levels": [0, 1, 2, 3, 4], "mutable": False},
    "race": {"kind": "nominal", "levels": [0, 1], "mutable": False},
    "gender": {"kind": "nominal", "levels": [0, 1], "mutable": False},
}
PROBLEM: dict[str, Any] = {
    "safear": 1,
    "title": "Adult-shaped",
    "horizon": 12,
    "features": FEATURES,
    "actions": {
        "improve education": {
            "cost": 2,
            "when": "education < 4",
            "chance": {"education": {"1": 1, "2": 0.9, "3": 1, "4": 0.8}},
            "change": {"education": "+1", "age": "+1"},
        },
        "more hours": {"cost": 0.8, "change": {"hours": "+1"}},
        "work gov": {"cost": 1.1, "chance": 0.7, "change": {"work": "gov"}},
        "work self": {"cost": 1.0, "chance": 0.5, "change": {"work": "self"}},
        "work private": {"cost": 1.2, "chance": 0.9, "change": {"work": "private"}},
        "job prof": {"cost": 1.0, "chance": 0.5, "change": {"job": "prof"}},
        "job white": {"cost": 1.0, "chance": 0.5, "change": {"job": "white"}},
    },
    "goal": {"stop": False},  # other engines always act
    "classifier": {"rule": "education >= 3 and hours >= 2 or job == prof and education >= 2 and age >= 3"},
}


def adult_shaped(regions: float = 1) -> sa.Problem:
    """The problem with 57,600 states for each region: an immutable feature that the rule does not see.

    With 10, 100 or 1000 regions there are 576,000, 5.76 million or 57.6 million states. A fifth of a region is the
    problem without the marital status, with 11,520.
    """
    if regions == 1:
        return sa.parse_problem(PROBLEM)
    if regions < 1:
        fewer = {name: feature for name, feature in FEATURES.items() if name != "marital"}
        return sa.parse_problem(PROBLEM | {"features": fewer})
    region = {
        "kind": "nominal",
        "levels": list(range(round(regions))),
        "mutable": False,
        "seen_by_classifier": False,
    }
    return sa.parse_problem(PROBLEM | {"features": FEATURES | {"region": region}})
