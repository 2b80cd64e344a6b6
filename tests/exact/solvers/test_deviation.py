"""Everybody at once against a search for each person, which begins with nothing but the ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from doors import (
    HullPlans,
    KnownPlans,
    Line,
    Optimum,
    Point,
    Scale,
    deviation,
    find_deviation,
    find_optimum,
    hull,
    restrict,
    restrict_to,
    sweep_least_mean,
    sweep_targets,
)
from gambles import by_hand, gamble, gambles, one_feature
from lanes import scaled
from safear.datasets import load
from safear.evaluation import evaluate_states
from safear.mdp import compile_blocks
from strategies import problems

EXACT = 1e-13
SCALES = st.sampled_from(
    [
        *(Scale(aversion, of_deviation=True) for aversion in (1e-120, 0.01, 0.1, 0.5, 1.0, 3.0, 40.0)),
        *(Scale(aversion) for aversion in (1e-120, 0.001, 0.02, 0.1, 0.5, 3.0)),
    ]
)
WAYS: list[dict[str, Any]] = [
    {},
    {"WORTH_IT": 2},  # the fewest that always leave two targets, of which a stretch needs that many
    {"WORTH_IT": 2, "TRIED": 1, "FAR": 0},
    {"MAX_ROOM": 0},  # then no whole targets are swept
]


def search_alone(mdp: sa.MDP, scale: Scale, slack: float | None = None, tolerance: float = EXACT) -> Optimum:
    """From the plan with the least mean and that for the highest target on, as if nobody else were there."""
    plans = HullPlans(mdp, slack)
    found, start = sweep_least_mean(mdp, slack), mdp.locate()
    mean, variance = float(found.mean[start, 0]), float(found.variance[start, 0])
    cheapest = Point(Line(-math.inf, mean, variance, 0.0), found.policy, -1)
    dearest = plans.find(min(scale.of(cheapest), plans.largest))
    known = KnownPlans(min(cheapest, dearest, key=scale.of), [(cheapest, dearest)])
    return find_optimum(plans, scale, known, tolerance=tolerance)


def drawn(document: dict[str, Any], failure_cost: float | None) -> sa.Problem:
    if failure_cost is not None:
        document = {**document, "goal": {**document["goal"], "failure_cost": failure_cost}}
    return sa.parse_problem(document)


def assert_as_if_alone(mdp: sa.MDP, scale: Scale, slack: float | None, way: dict[str, Any]) -> None:
    """Everybody has the value and the bound of their own search, and the policy has that value."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in way.items():
            patch.setattr(deviation, name, value)
        policy, values, bounds = find_deviation(mdp, scale, tolerance=EXACT, slack=slack)
    runs = evaluate_states(policy).all_runs
    quantum = float(mdp.quantum)
    means, variances = runs.mean.data / quantum, runs.variance.data / quantum**2
    for state in range(mdp.n_states):
        alone = search_alone(restrict(mdp, state).mdp, scale, slack)
        assert values[state] == pytest.approx(alone.value, rel=1e-11, abs=1e-11)
        assert bounds[state] <= values[state]
        assert bounds[state] == pytest.approx(alone.bound, rel=1e-9, abs=1e-9)
        # The policy has the value: the root of a variance of 0, computed otherwise, is not exact.
        assert means[state] <= values[state] * (1 + 1e-12)
        followed = scale.value(means[state], variances[state])
        assert followed == pytest.approx(values[state], rel=1e-6, abs=1e-6)


@settings(max_examples=scaled(150))
@given(
    document=st.one_of(gambles(), gambles(5), problems()),
    failure_cost=st.sampled_from([None, None, 0, 3, 1000]),
    scale=SCALES,
    slack=st.sampled_from([None, None, 1e-12, 0.1]),
    way=st.sampled_from(WAYS),
)
def test_everybody_as_if_alone(
    document: dict[str, Any], failure_cost: float | None, scale: Scale, slack: float | None, way: dict[str, Any]
) -> None:
    for mdp in compile_blocks(drawn(document, failure_cost)):
        assert_as_if_alone(mdp, scale, slack, way)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("seed", [1, 5])
def test_everybody_as_if_alone_whichever_targets_are_shared(seed: int, way: dict[str, Any]) -> None:
    for mdp in compile_blocks(sa.parse_problem(gamble(seed))):
        for scale in (Scale(1.0, of_deviation=True), Scale(0.1)):
            assert_as_if_alone(mdp, scale, None, way)


@settings(max_examples=scaled(60))
@given(document=st.one_of(gambles(5), problems()), scale=SCALES, tolerance=st.sampled_from([0.3, 1e-2, 1e-4]))
def test_a_tolerance_is_kept(document: dict[str, Any], scale: Scale, tolerance: float) -> None:
    for mdp in compile_blocks(sa.parse_problem(document)):
        _, values, bounds = find_deviation(mdp, scale, tolerance=tolerance)
        exact = find_deviation(mdp, scale, tolerance=EXACT)[1]
        assert (bounds <= exact + 1e-9).all()
        assert (exact <= values + 1e-9).all()
        assert (values - bounds <= tolerance * values + 1e-9).all()


@settings(max_examples=scaled(60))
@given(document=st.one_of(gambles(5), problems()), scale=SCALES, seed=st.integers(0, 99))
def test_some_people_of_a_block(document: dict[str, Any], scale: Scale, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for mdp in compile_blocks(sa.parse_problem(document)):
        some = np.flatnonzero(rng.random(mdp.n_states) < 0.4)
        if not len(some):
            continue
        part = restrict_to(mdp, some)
        places = np.searchsorted(part.states, some)
        whole = find_deviation(mdp, scale, tolerance=EXACT)
        fewer = find_deviation(part.mdp, scale, tolerance=EXACT)
        assert fewer[1][places] == pytest.approx(whole[1][some], rel=1e-11, abs=1e-11)
        together, apart = evaluate_states(whole[0]), evaluate_states(fewer[0], starts=places)
        assert apart.success[places] == pytest.approx(together.success[some], rel=1e-9, abs=1e-9)


def test_one_person_has_no_pieces_but_their_own() -> None:
    """A sure plan does not look at what was spent, whatever others would do."""
    retry = {"cost": 1, "chance": 0.5, "change": {"x": "goal"}}
    mdp = one_feature({"retry": retry}, horizon=4)
    policy, _, _ = find_deviation(mdp, Scale(1.0, of_deviation=True), tolerance=EXACT)
    assert not policy.looks_at_spent


def four_ways(rng: np.random.Generator) -> sa.MDP:
    """Four ways to the goal, each of which fails every other time and costs more then; whole costs from 1 to 11."""
    actions = {}
    for name in "abcd":
        first, second, more = (int(cost) for cost in rng.integers([1, 0, 0], [4, 4, 9]))
        outcomes = [{"chance": 0.5, "cost": second, "change": {"x": "goal"}}, {"cost": more}]
        actions[name] = {"cost": first, "outcomes": outcomes}
    return one_feature(actions, horizon=3)


def test_a_plan_between_two_whole_targets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs are so coarse that whole targets alone miss some."""
    find, tried = HullPlans.find, list[float]()

    def note(plans: HullPlans, target: float) -> Point:
        tried.append(target)
        return find(plans, target)

    for seed in range(scaled(60, least=15)):
        mdp = four_ways(np.random.default_rng(seed))
        for aversion in (0.5, 1.0, 2.0):
            scale = Scale(aversion, of_deviation=True)
            with monkeypatch.context() as patch:
                patch.setattr(HullPlans, "find", note)
                _, values, bounds = find_deviation(mdp, scale, tolerance=EXACT)
            alone = search_alone(mdp, scale).value
            assert (values[mdp.start], bounds[mdp.start]) == pytest.approx((alone, alone), rel=1e-12)
    assert not all(target.is_integer() for target in tried)


def test_a_block_of_adult_takes_two_sweeps_and_few_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []

    def count(mdp: sa.MDP, *args: Any, **options: Any) -> Any:
        swept.append(mdp.n_states)
        return sweep_targets(mdp, *args, **options)

    monkeypatch.setattr(hull, "sweep_targets", count)
    monkeypatch.setattr(deviation, "sweep_targets", count)
    adult = load("adult")
    mdp = next(iter(compile_blocks(adult.problem, adult.classifier())))
    _, values, bounds = find_deviation(mdp, Scale(1.0, of_deviation=True), tolerance=1e-12)
    assert (values - bounds <= 1e-12 * values).all()
    assert swept.count(mdp.n_states) == 2
    assert len(swept) < mdp.n_states // 50


def cheap_ways(seed: int, horizon: int) -> sa.MDP:
    """Everybody at once; three ways up or to the goal, of which whole costs are few."""
    rng = np.random.default_rng(seed)
    actions = {}
    for name in "abc":
        first, second, more = (int(cost) for cost in rng.integers([0, 0, 0], [3, 3, 4]))
        change = {"x": str(rng.choice(["goal", "+1"]))}
        outcomes = [{"chance": 0.5, "cost": second, "change": change}, {"cost": more}]
        actions[name] = {"cost": first, "when": "x > ruin", "outcomes": outcomes}
    document = {
        "safear": 1,
        "title": "cheap ways",
        "horizon": horizon,
        "features": {"x": {"kind": "ordinal", "levels": ["ruin", "low", "mid", "goal"]}},
        "goal": {"favourable": "yes", "failure_cost": 3},
        "classifier": {"rule": "x == goal"},
        "actions": actions,
    }
    return sa.compile_mdp(sa.parse_problem(document))


@pytest.mark.parametrize(("seed", "horizon"), [(38, 3), (84, 4)])
def test_plans_of_different_people_do_not_mix(seed: int, horizon: int) -> None:
    """Who meets in a state may do different things there, though they have spent as much."""
    assert_as_if_alone(cheap_ways(seed, horizon), Scale(1.0, of_deviation=True), None, {"MAX_ROOM": 0})


# ------------------------------------------------------------------------------------------- which targets are swept


def tries(*chances: float, horizon: int, failure_cost: int) -> sa.MDP:
    """People who try for 1, each with a chance of their own, and try again until time is over."""
    goal = len(chances)
    people = [[[(chance, 1, goal), (1 - chance, 1, state)]] for state, chance in enumerate(chances)]
    return by_hand(*people, horizon=horizon, failure_cost=failure_cost)


def swept_targets(mdp: sa.MDP, scale: Scale, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The whole targets for which everybody's plans are swept."""
    swept: list[int] = []

    def note(*args: Any, **options: Any) -> Any:
        low, count = options["targets"]
        swept.extend(range(int(low) + count - options["last"], int(low) + count))
        return sweep_targets(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(deviation, "sweep_targets", note)
        find_deviation(mdp, scale, tolerance=EXACT)
    return swept


@pytest.mark.parametrize(
    ("scale", "failure_cost", "expected"),
    [
        # 1 or 2 with the same chance: the mean is 1.5, the deviation 0.5, the own target between m - d / b and m + b d.
        (Scale(1.0, of_deviation=True), 0, range(1, 3)),
        (Scale(0.25, of_deviation=True), 0, range(-1, 3)),
        # or between m - 1 / 2b and that + b d^2
        (Scale(0.1), 0, range(-4, -2)),
        # There are at most 3 * (2 + 1) targets: from 4 below the mean on, up to 7 above that.
        (Scale(0.005, of_deviation=True), 0, range(-3, 3)),
        # 1 and 2 with a half and a quarter, else 102: 26.5 and 43.6
        (Scale(1.0, of_deviation=True), 100, range(22, 31)),
        # None is below -10 * (2 + 1), and none above the largest total.
        (Scale(0.005), 0, range(-30, -29)),
        (Scale(40.0, of_deviation=True), 0, range(1, 3)),
        (Scale(40.0, of_deviation=True), 1, range(1, 4)),
    ],
    ids=str,
)
def test_the_targets_that_may_be_the_optimums_own_are_swept(
    scale: Scale, failure_cost: int, expected: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    mdp = tries(0.5, horizon=2, failure_cost=failure_cost)
    assert swept_targets(mdp, scale, monkeypatch) == list(expected)


@pytest.mark.parametrize("chances", [(0.5, 0.5, 0.9), (0.9, 0.5, 0.5), (0.5, 0.9, 1.0, 0.5)], ids=str)
def test_the_targets_serve_most_people(chances: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """1 or 101: 51 and 50 with the chance 0.5, 11 and 30 with 0.9. From 3 below 51 on, 3 * (1 + 1) targets at most."""
    mdp = tries(*chances, horizon=1, failure_cost=100)
    assert swept_targets(mdp, Scale(1.0, of_deviation=True), monkeypatch) == list(range(48, 53))
    assert_as_if_alone(mdp, Scale(1.0, of_deviation=True), None, {})


def test_who_is_sure_needs_no_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    mdp = tries(1.0, 1.0, horizon=2, failure_cost=5)
    assert swept_targets(mdp, Scale(1.0, of_deviation=True), monkeypatch) == []
    _, values, bounds = find_deviation(mdp, Scale(1.0, of_deviation=True), tolerance=EXACT)
    assert values.tolist() == bounds.tolist() == [1, 1, 0]


@pytest.mark.parametrize("scale", [Scale(0.3, of_deviation=True), Scale(0.02), Scale(0.3)], ids=str)
def test_most_problems_need_no_search(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HullPlans, "find", None)
    mdp = sa.compile_mdp(sa.load_example("health-insurance"))
    _, values, bounds = find_deviation(mdp, scale, tolerance=1e-12)
    assert bounds == pytest.approx(values, rel=1e-12)


def test_targets_that_take_too_much_room_are_not_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 targets, what is below all, and as much as a step costs, in 18 tables."""
    mdp, scale = tries(0.5, horizon=2, failure_cost=0), Scale(1.0, of_deviation=True)
    need = (4 + 1 + 1) * (2 * (8 * 18 + 3) + 48) + 2 * 16 * 3
    for room, expected in ((need, [1, 2]), (need - 1, [])):
        monkeypatch.setattr(deviation, "MAX_ROOM", room)
        assert swept_targets(mdp, scale, monkeypatch) == expected


def test_who_is_sure_does_not_do_what_others_need() -> None:
    """One fails every other time, for 2, and had better fail at once; the other waits, and pays 1 so as not to fail."""
    fails, waits = [[(0.5, 2, 4), (0.5, 2, 3)], [(1.0, 0, 3)]], [[(1.0, 0, 2)]]
    mdp = by_hand(fails, waits, [[(1.0, 0, 3)], [(1.0, 1, 4)]], [], horizon=2, failure_cost=100)
    _, values, _ = find_deviation(mdp, Scale(3.0), tolerance=EXACT)
    assert values.tolist() == [100, 1, 1, 100, 0]
    assert_as_if_alone(mdp, Scale(3.0), None, {})


def sure_or_not(costs: list[int]) -> sa.MDP:
    """Everybody pays a cost for sure, or 3 less or 2 more than that."""
    goal = len(costs)
    people = [[[(1.0, cost, goal)], [(0.5, cost - 3, goal), (0.5, cost + 2, goal)]] for cost in costs]
    return by_hand(*people, horizon=1)


def test_a_sure_plan_does_not_look_at_what_was_spent() -> None:
    """4 for sure, or 1 or 6: a mean of 3.5 and a deviation of 2.5."""
    policy, values, _ = find_deviation(sure_or_not([4]), Scale(1.0, of_deviation=True), tolerance=EXACT)
    assert values[0] == 4
    assert not policy.looks_at_spent


def test_people_with_different_targets_have_one_policy() -> None:
    assert_as_if_alone(sure_or_not([4, 14]), Scale(1.0, of_deviation=True), None, {})
    assert_as_if_alone(sure_or_not([14, 4]), Scale(1.0, of_deviation=True), None, {})
