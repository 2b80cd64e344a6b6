"""The paper's way to evaluate: a hundred simulated trials per person, and figures read off the trials that succeed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from safear.evaluation.policy import Policy
from safear.evaluation.simulate import run_all
from safear.risk.distribution import EPSILON, Masked


def simulate_people(
    policy: Policy, states: NDArray[np.int64], *, rollouts: int, rng: np.random.Generator
) -> Mapping[str, Masked]:
    """The paper's figures for people in `states`, each from `rollouts` trials; masked where undefined."""
    mdp = policy.mdp
    final, spent = run_all(policy, np.repeat(states, rollouts), rng)
    good = mdp.goal[final].reshape(-1, rollouts)
    counts = good.sum(axis=1)
    costs = np.where(good, spent.reshape(-1, rollouts) * float(mdp.quantum), np.inf)
    costs.sort(axis=1)  # successes first
    finite = np.where(np.isfinite(costs), costs, 0.0)
    mean = finite.sum(axis=1) / np.maximum(counts, 1)
    squares = np.where(np.isfinite(costs), (finite - mean[:, None]) ** 2, 0.0).sum(axis=1)
    none = counts == 0
    figures: dict[str, Masked] = {
        "success": np.ma.array(counts / rollouts),
        "mean": np.ma.array(mean, mask=none),
        "variance": np.ma.array(squares / np.maximum(counts, 1), mask=none),
    }
    for name, level in (("80", 0.8), ("95", 0.95)):
        position = np.maximum(np.ceil(level * counts - EPSILON).astype(np.int64) - 1, 0)
        at_risk = finite[np.arange(len(states)), position]
        beyond = np.isfinite(costs) & (costs > at_risk[:, None] + 1e-9)
        tail = np.where(beyond, finite, 0.0).sum(axis=1) / np.maximum(beyond.sum(axis=1), 1)
        figures[f"var{name}"] = np.ma.array(at_risk, mask=none)
        figures[f"tail_mean{name}"] = np.ma.array(tail, mask=beyond.sum(axis=1) == 0)
    for measure, ordered in (("sparsity", False), ("proximity", True)):
        distance = mdp.distance(final, np.repeat(states, rollouts), ordered=ordered).reshape(-1, rollouts)
        total = np.where(good, distance, 0).sum(axis=1)
        figures[measure] = np.ma.array(total / np.maximum(counts, 1), mask=none)
    return figures


def undefined(count: int) -> Masked:
    """Figures for so many people, none known yet."""
    return np.ma.array(np.zeros(count), mask=True)


def average(figures: Masked) -> float | None:
    """The mean over people, undefined ones left out; None if nobody is left."""
    if figures.count() == 0:
        return None
    value = float(figures.mean())
    return value if math.isfinite(value) else None
