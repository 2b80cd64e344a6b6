"""What happens at least once, against the enumeration of all histories and of all adversaries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import safear as sa
from compare import as_policy, read_both
from doors import chance_of_once, follow, range_of_once
from lanes import scaled
from oracle import Edge, State
from small_problems import ladder
from strategies import problems


@given(problems())
@settings(max_examples=scaled(60))
def test_chances_are_those_of_all_histories(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5), method="greedy")
    mdp, policy = solution.mdp, as_policy(solution)
    choose = solution.policy.choosing(int(solution.policy.accounts[mdp.start]))
    runs = follow(mdp, choose, mdp.start, counts_spent=False, possible=True)
    edge = np.asarray(runs.moves.edge)
    for number, action in enumerate(mdp.actions):
        for outcome in range(len(problem.actions[number].outcomes)):

            def is_meant(
                step: int, state: State, name: str, edge: Edge, own: tuple[str, int] = (action, outcome)
            ) -> bool:
                del step, state
                return (name, edge.outcome) == own

            meant = (mdp.row_action[mdp.edge_row[edge]] == number) & (mdp.edge_outcome[edge] == outcome)
            chance = float(judge.chance_of_once(policy, start, is_meant))
            assert chance_of_once(mdp, runs, meant) == pytest.approx(chance, abs=1e-12)
            found, ends = range_of_once(mdp, runs, meant), judge.range_of_once(policy, start, is_meant)
            assert (found.low, found.high) == pytest.approx(tuple(map(float, ends)), abs=1e-12)
            assert math.copysign(1, found.low) == 1  # a zero with a minus would be told as such


def test_what_is_tried_until_it_works_fails_at_least_once_as_often_as_the_first_try() -> None:
    problem = sa.load_example("health-insurance")
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    mdp = solution.mdp
    runs = follow(mdp, solution.policy.choosing(int(solution.policy.accounts[mdp.start])), mdp.start)
    failing = np.array([not mdp.works(int(edge)) for edge in runs.moves.edge])
    assert chance_of_once(mdp, runs, failing) == 0.5
    assert chance_of_once(mdp, runs, ~failing) == pytest.approx(1 - 0.5**8)


def test_what_may_happen_on_either_way_counts_once() -> None:
    # A fair toss; then an exam, which hardly ever goes well after tails, and with how much luck nobody knows.
    actions = {
        "toss": {
            "cost": 0,
            "when": "a == new",
            "outcomes": [{"chance": 0.5, "change": {"a": "heads"}}, {"change": {"a": "tails"}}],
        },
        "sit": {"cost": 1, "when": "a == heads", "chance": [0.5, 0.6, 0.8], "change": {"a": "done"}},
        "sit too": {"cost": 1, "when": "a == tails", "chance": [0.1, 0.2, 0.3], "change": {"a": "done"}},
    }
    problem = ladder(actions, levels=("new", "heads", "tails", "done"), horizon=3, failure_cost=9)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    mdp = solution.mdp
    runs = follow(mdp, solution.policy.choosing(0), mdp.start, counts_spent=False, possible=True)
    edge = np.asarray(runs.moves.edge)

    def both(action: str, outcome: int) -> tuple[float, float, float]:
        number = mdp.actions.index(action)
        meant = (mdp.row_action[mdp.edge_row[edge]] == number) & (mdp.edge_outcome[edge] == outcome)
        found = range_of_once(mdp, runs, meant)
        return found.low, chance_of_once(mdp, runs, meant), found.high

    assert both("toss", 0) == both("toss", 1) == (0.5, 0.5, 0.5)
    assert both("sit", 0) == pytest.approx((0.5 * 0.75, 0.5 * 0.84, 0.5 * 0.96))
    assert both("sit", 1) == pytest.approx((0.5 * 0.2, 0.5 * 0.4, 0.5 * 0.5))
    assert both("sit too", 0) == pytest.approx((0.5 * 0.19, 0.5 * 0.36, 0.5 * 0.51))
    assert both("sit too", 1) == pytest.approx((0.5 * 0.7, 0.5 * 0.8, 0.5 * 0.9))


def test_who_was_hit_is_not_hit_again_and_goes_on() -> None:
    actions = {
        "toss": {"cost": 0, "outcomes": [{"chance": 0.25, "change": {"a": "heads"}}, {"change": {"a": "tails"}}]},
        "go on": {"cost": 1, "when": "a in [heads, tails]", "change": {"a": "done"}},
    }
    problem = ladder(actions, levels=("new", "heads", "tails", "done"), horizon=2, failure_cost=9)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.Mean())
    mdp = solution.mdp
    runs = follow(mdp, solution.policy.choosing(0), mdp.start, counts_spent=False)
    before, after = (np.asarray(runs.cells.state)[cell] for cell in (runs.moves.origin, runs.moves.target))
    heads, tails = (int(mdp.locate({"a": level})) for level in ("heads", "tails"))

    def chance(*states: int) -> float:
        """To come to one of these states or to leave it."""
        return chance_of_once(mdp, runs, np.isin(after, states) | np.isin(before, states))

    assert (chance(), chance(heads), chance(tails), chance(heads, tails)) == (0.0, 0.25, 0.75, 1.0)
