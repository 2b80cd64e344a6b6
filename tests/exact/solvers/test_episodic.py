"""G-RSEVI: it finds what the sweep finds, it is seeded, and its learning curve is data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import safear as sa
from safear.errors import ObjectiveError, PersonError
from safear.evaluation import StatePolicy
from safear.solvers import Episodic, LearningCurve
from small_problems import ladder


def mdp_of(name: str) -> sa.MDP:
    problem = sa.load_example(name)
    return sa.compile_mdp(problem, start=problem.default_person)


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
@pytest.mark.parametrize("aversion", [0, 0.5, 1])
def test_it_finds_what_the_sweep_finds(name: str, aversion: float) -> None:
    mdp = mdp_of(name)
    objective = sa.MeanStd(aversion)
    greedy = sa.solve(mdp, objective, method="greedy")
    learnt = sa.solve(mdp, objective, method="episodic", rng=np.random.default_rng(7))
    # The order of two steps that are about equally risky may differ, what the plan is worth hardly.
    assert objective.of(sa.evaluate(learnt)) == pytest.approx(objective.of(sa.evaluate(greedy)), rel=0.02)
    # Values that were never learnt count as 0, so what is learnt can only be too low.
    assert learnt.planned_value() <= greedy.planned_value() + 1e-9
    assert learnt.planned_value() == pytest.approx(greedy.planned_value(), rel=0.02)


def test_lower_deviation_is_learnt_too() -> None:
    mdp = mdp_of("health-insurance")
    greedy = sa.solve(mdp, sa.MeanLowerStd(0.5))
    learnt = sa.solve(mdp, sa.MeanLowerStd(0.5), method="episodic", rng=np.random.default_rng(7))
    assert learnt.planned_value() == pytest.approx(greedy.planned_value(), rel=0.02)


def test_the_same_seed_gives_the_same_run() -> None:
    mdp = mdp_of("loan")
    settings = Episodic(episodes=300)
    one, same, other = (
        sa.solve(mdp, sa.MeanStd(0.5), method=settings, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert one.learning is not None
    assert same.learning is not None
    assert other.learning is not None
    assert np.array_equal(one.learning.costs, same.learning.costs)
    assert isinstance(one.policy, StatePolicy)
    assert isinstance(same.policy, StatePolicy)
    assert np.array_equal(one.policy.choices, same.policy.choices)
    assert not np.array_equal(one.learning.costs, other.learning.costs)


def test_learning_curve() -> None:
    mdp = mdp_of("health-insurance")
    seen: list[tuple[int, int]] = []
    solution = sa.solve(
        mdp,
        sa.Mean(),
        method="episodic",
        rng=np.random.default_rng(0),
        progress=lambda done, total: seen.append((done, total)),
    )
    curve = solution.learning
    assert curve is not None
    assert len(curve.costs) == len(curve.succeeded) == len(curve.exploration) == 10_000
    assert curve.exploration[0] == 1
    assert curve.exploration[-1] == pytest.approx(0.9995**9999)
    assert seen[-1] == (10_000, 10_000)
    # At the end it hardly explores, and costs what its plan costs.
    average, deviation = curve.moving_average(500)
    assert average.shape == deviation.shape == (9501,)
    assert average[-1] == pytest.approx(np.mean(curve.costs[-500:]))
    assert average[-1] == pytest.approx(sa.evaluate(solution).all_runs.mean, abs=0.3)
    assert average[0] > average[-1]
    assert curve.moving_average(0)[0].size == curve.moving_average(10_001)[0].size == 0


def test_an_episode_costs_what_was_spent_and_a_failure_its_cost() -> None:
    problem = ladder({"go": {"cost": 2.5, "chance": 0.2, "change": {"a": "yes"}}}, failure_cost=3)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    curve = sa.solve(mdp, sa.Mean(), method=Episodic(episodes=500), rng=np.random.default_rng(0)).learning
    assert curve is not None
    assert np.array_equal(curve.costs, np.where(curve.succeeded, 2.5, 5.5))
    assert curve.succeeded.mean() == pytest.approx(0.2, abs=0.05)


def test_who_only_explores_takes_all_actions_equally_often() -> None:
    problem = ladder({f"way {cost}": {"cost": cost, "change": {"a": "yes"}} for cost in (1, 2, 4)})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    solution = sa.solve(mdp, sa.Mean(), method=Episodic(episodes=600, decay=1), rng=np.random.default_rng(0))
    assert solution.learning is not None
    assert solution.learning.exploration.tolist() == [1.0] * 600
    costs, counts = np.unique(solution.learning.costs, return_counts=True)
    assert costs.tolist() == [1, 2, 4]
    assert counts.tolist() == pytest.approx([200, 200, 200], abs=40)
    assert solution.policy.action() == "way 1"


class Highest(np.random.Generator):
    """Draws the highest number below 1, always."""

    def random(self, *args: Any, **_: Any) -> Any:
        return np.full(args[0], np.nextafter(1.0, 0.0))


def test_a_draw_beyond_the_sum_of_chances_is_the_last_outcome_that_happens() -> None:
    tenths = [{"chance": 0.1, "cost": cost, "change": {"a": "yes"}} for cost in range(1, 10)]
    never = {"chance": [0, 0, 0.05], "cost": 100, "change": {"a": "yes"}}
    problem = ladder({"go": {"cost": 0, "outcomes": [{"change": {"a": "yes"}}, *tenths, never]}})
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.edge_chance.cumsum()[-1] <= np.nextafter(1.0, 0.0)  # ten times 0.1, rounded
    rng = Highest(np.random.PCG64(0))
    learnt = sa.solve(mdp, sa.Mean(), method=Episodic(episodes=1), rng=rng)
    assert learnt.learning is not None
    assert learnt.learning.costs.tolist() == [9]


def test_the_moving_average_begins_with_the_first_full_window() -> None:
    curve = LearningCurve(np.array([4.0, 2.0, 6.0]), np.ones(3, dtype=bool), np.ones(3))
    for window, means, deviations in [(1, [4, 2, 6], [0, 0, 0]), (2, [3, 4], [1, 2]), (3, [4], [(8 / 3) ** 0.5])]:
        average, deviation = curve.moving_average(window)
        assert average.tolist() == means
        assert deviation.tolist() == pytest.approx(deviations)
    for window in (-1, 0, 4):
        assert curve.moving_average(window)[0].size == curve.moving_average(window)[1].size == 0


def test_what_is_refused() -> None:
    mdp = mdp_of("loan")
    with pytest.raises(ObjectiveError, match="needs a random generator"):
        sa.solve(mdp, sa.Mean(), method="episodic")
    with pytest.raises(ObjectiveError, match="0 episodes"):
        Episodic(episodes=0)
    for decay in (0, 1.5):
        with pytest.raises(ObjectiveError, match=f"the decay {decay} "):
            Episodic(decay=decay)
    whole = sa.compile_mdp(sa.load_example("loan"))
    with pytest.raises(PersonError, match="no person is given"):
        sa.solve(whole, sa.Mean(), method="episodic", rng=np.random.default_rng(0))
