"""The oracle against closed forms, and the drawn documents against the oracle."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanes import scaled
from oracle import (
    Distribution,
    Feature,
    Oracle,
    State,
    TooManyError,
    best,
    budget_miss,
    condition,
    cvar,
    cvar_of_all,
    entropic,
    mean,
    mean_cvar,
    mean_of_all,
    mean_std,
    mean_variance,
    most_successful,
    read,
    success,
    tail_mean,
    value_at_risk,
    var_of_all,
    variance,
)
from strategies import problems

quick = settings(deadline=None, max_examples=scaled(100), suppress_health_check=[HealthCheck.too_slow])

HEALTH = """
safear: 1
title: Health insurance
horizon: 8
features:
  smoking: {kind: nominal, levels: [yes, no]}
  drinking: {kind: nominal, levels: [yes, no]}
  cholesterol: {kind: ordinal, levels: [normal, high, very high]}
  bmi: {kind: ordinal, levels: [normal, high]}
  region: {kind: nominal, levels: [west, midwest]}
goal: {favourable: low premium}
classifier:
  rule: drinking == no or smoking == no and region == midwest or cholesterol == normal and bmi == normal
actions:
  quit drinking: {cost: 1, chance: 0.5, change: {drinking: no}}
  quit smoking: {cost: 1, chance: 0.9, change: {smoking: no}}
  move to midwest: {cost: 1, chance: 0.9, change: {region: midwest}}
  healthy diet: {cost: 1, change: {cholesterol: -1}}
  exercise: {cost: 1, change: {bmi: -1}}
people:
  someone: {smoking: yes, drinking: yes, cholesterol: very high, bmi: high, region: west}
"""


def problem(
    actions: Mapping[str, Any],
    *,
    rule: str = "x == c",
    horizon: int = 3,
    failure_cost: float = 0,
    **more: Any,
) -> Oracle:
    """A problem with one ordinal feature x (a, b, c), a nominal y (p, q), a numeric z cut at 20 and 25."""
    return Oracle(
        {
            "safear": 1,
            "title": "t",
            "horizon": horizon,
            "features": {
                "x": {"kind": "ordinal", "levels": ["a", "b", "c"]},
                "y": {"kind": "nominal", "levels": ["p", "q"]},
                "z": {"kind": "numeric", "edges": [20, 25]},
            },
            "goal": {"favourable": "yes", "failure_cost": failure_cost},
            "classifier": {"rule": rule},
            "actions": actions,
            "people": {"someone": {"x": "a", "y": "p", "z": 3}},
            **more,
        }
    )


A: State = ("a", "p", "<20")
B: State = ("b", "p", "<20")
C: State = ("c", "p", "<20")


# ------------------------------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize(
    "aversion, expected",
    [
        (0, (0.99609375, 1.968627, 1.748035, 5, 6.5714)),
        (0.5, (0.9999965, 2.222197, 0.246751, 3, 4.1501)),
        (1, (1, 3, 0, 3, None)),
    ],
)
def test_the_paper_s_health_insurance_example(
    aversion: float, expected: tuple[float, float, float, float, float | None]
) -> None:
    oracle = Oracle(read(HEALTH))
    start = oracle.start()
    policy, _ = oracle.greedy(start, aversion)
    runs = oracle.distribution(policy, start)
    found = (
        success(runs),
        mean(runs, given_success=True),
        variance(runs, given_success=True),
        value_at_risk(runs, 0.95, given_success=True),
        tail_mean(runs, 0.95, given_success=True),
    )
    for value, wanted in zip(found, expected, strict=True):
        if wanted is None:
            assert value is None
        else:
            assert value is not None
            assert float(value) == pytest.approx(wanted, abs=6e-5 if wanted in (6.5714, 4.1501) else 6e-7)


def test_the_health_insurance_example_is_a_truncated_geometric_at_aversion_0() -> None:
    oracle = Oracle(read(HEALTH))
    start = oracle.start()
    policy, value = oracle.greedy(start, 0)
    assert {policy[step, start] for step in range(8)} == {"quit drinking"}
    assert value == pytest.approx(float(sum(Fraction(1, 2**step) for step in range(8))))
    assert oracle.sparsity(policy, start) == oracle.proximity(policy, start) == 1
    careful, value = oracle.greedy(start, 1)
    assert value == 3
    assert oracle.sparsity(careful, start) == 2
    assert oracle.proximity(careful, start) == 3
    assert len(oracle.all_states()) == 48


@pytest.mark.parametrize("percent", [10, 50, 99, 100])
@pytest.mark.parametrize("failure_cost", [0, 2.5])
def test_retrying_is_a_truncated_geometric_distribution(percent: int, failure_cost: float) -> None:
    horizon, price = 5, Fraction(3, 2)
    p = Fraction(percent, 100)
    oracle = problem(
        {"go": {"cost": 1.5, "chance": percent / 100, "change": {"x": "+2"}}},
        horizon=horizon,
        failure_cost=failure_cost,
    )
    policy, value = oracle.greedy(A, 0)
    runs = oracle.distribution(policy, A)
    wanted: Distribution = {(k * price, True): (1 - p) ** (k - 1) * p for k in range(1, horizon + 1)}
    wanted[horizon * price + Fraction(str(failure_cost)), False] = (1 - p) ** horizon
    assert runs == {key: chance for key, chance in wanted.items() if chance > 0}
    assert success(runs) == 1 - (1 - p) ** horizon
    # E[steps] = (1 - q^H) / p
    total = price * (1 - (1 - p) ** horizon) / p + (1 - p) ** horizon * Fraction(str(failure_cost))
    assert mean(runs) == total == oracle.best_by_enumeration(A)
    assert value == pytest.approx(float(total))
    shorter = oracle.distribution(oracle.greedy(A, 0, horizon=2)[0], A, horizon=2)
    assert success(shorter) == 1 - (1 - p) ** 2


def test_histories_tell_every_run() -> None:
    oracle = problem({"go": {"cost": 1, "chance": 0.9, "change": {"x": "+2"}}}, horizon=2, failure_cost=7)
    policy, _ = oracle.greedy(A, 0)
    assert list(oracle.histories(policy, A)) == [
        ([("go", 0)], Fraction(1), True, Fraction(9, 10), C),
        ([("go", 1), ("go", 0)], Fraction(2), True, Fraction(9, 100), C),
        ([("go", 1), ("go", 1)], Fraction(9), False, Fraction(1, 100), A),
    ]
    assert list(oracle.histories({}, C)) == [([], Fraction(0), True, Fraction(1), C)]
    assert oracle.sparsity({}, C) == 0


def test_a_dead_end_fails_and_pays() -> None:
    actions = {"go": {"cost": 1, "outcomes": [{"chance": 0.5, "change": {"x": "c"}}, {"change": {"y": "q"}}]}}
    actions["go"]["when"] = "y == p"
    oracle = problem(actions, failure_cost=10)
    policy, value = oracle.greedy(A, 0)
    assert oracle.distribution(policy, A) == {
        (Fraction(1), True): Fraction(1, 2),
        (Fraction(11), False): Fraction(1, 2),
    }
    assert value == 6
    dead = oracle.state({"x": "a", "y": "q", "z": "<20"})
    assert oracle.offered(dead) == []
    assert oracle.distribution({}, dead) == {(Fraction(10), False): Fraction(1)}
    assert oracle.sparsity({}, dead) is None
    assert oracle.greedy(dead, 2)[1] == 10


def test_greedy_weighs_the_deviation() -> None:
    # sure: 3; gamble: 1 or 4 with even chances, mu = 2.5, sigma = 1.5, upper part sqrt(0.5 * 1.5^2) = 1.06
    actions = {
        "gamble": {
            "cost": 1,
            "outcomes": [{"chance": 0.5, "change": {"x": "c"}}, {"chance": 0.5, "change": {"x": "c"}, "cost": 4}],
        },
        "sure": {"cost": 3, "change": {"x": "c"}},
    }
    oracle = problem(actions, horizon=1)
    table: list[tuple[Fraction | float, bool, str, float]] = [
        (0, False, "gamble", 2.5),
        (0.25, False, "gamble", 2.875),
        (0.4, False, "sure", 3),
        (0.4, True, "gamble", 2.5 + 0.4 * 1.5 * math.sqrt(0.5)),
        (0.5, True, "sure", 3),
        (Fraction(1, 3), False, "gamble", 3),  # a tie: the first in the file
    ]
    for aversion, lower, action, value in table:
        policy, found = oracle.greedy(A, aversion, lower=lower)
        assert policy == {(0, A): action}
        assert found == pytest.approx(value)


def test_greedy_values_are_nested_one_step_scores() -> None:
    # H = 2, p = 1/2, cost 1, failure 4: V_1 = 3 + 2b, x_0 in {1, 1 + V_1}, mu = 1 + V_1 / 2, sigma = V_1 / 2
    oracle = problem({"go": {"cost": 1, "chance": 0.5, "change": {"x": "c"}}}, horizon=2, failure_cost=4)
    for aversion in (0, 0.25, 1, 3):
        later = 3 + 2 * aversion
        assert oracle.greedy(A, aversion)[1] == pytest.approx(1 + later / 2 + aversion * later / 2)


def test_measures_of_a_distribution() -> None:
    runs: Distribution = {
        (Fraction(1), True): Fraction(1, 2),
        (Fraction(2), True): Fraction(3, 10),
        (Fraction(10), True): Fraction(1, 10),
        (Fraction(2), False): Fraction(1, 10),
    }
    assert success(runs) == Fraction(9, 10)
    assert mean(runs) == Fraction(23, 10)
    assert variance(runs) == Fraction(1, 2) + 4 * Fraction(4, 10) + 10 - Fraction(23, 10) ** 2
    assert [value_at_risk(runs, level) for level in (0, 0.5, 0.51, 0.9, 0.91, 1)] == [1, 1, 2, 2, 10, 10]
    assert cvar(runs, 0) == mean(runs)
    assert cvar(runs, 0.9) == 10
    assert cvar(runs, "0.8") == 6
    assert cvar(runs, 1) == 10
    assert tail_mean(runs, 0.5) == Fraction(18, 5)
    assert tail_mean(runs, 0.95) is None
    assert mean(runs, given_success=True) == Fraction(21, 9)
    assert value_at_risk(runs, 0.5, given_success=True) == 1
    assert cvar(runs, Fraction(8, 9), given_success=True) == 10
    lost: Distribution = {(Fraction(3), False): Fraction(1)}
    for measure in (mean, variance):
        assert measure(lost, given_success=True) is None
    for at_level in (value_at_risk, cvar, tail_mean):
        assert at_level(lost, 0.5, given_success=True) is None


@given(
    st.dictionaries(st.integers(0, 20), st.integers(1, 9), min_size=1, max_size=6),
    st.sampled_from([0.0, 0.5, 0.8, 0.95, 0.99]),
)
@quick
def test_cvar_is_the_minimum_of_rockafellar_and_uryasev(weights: dict[int, int], level: float) -> None:
    runs: Distribution = {
        (Fraction(cost), True): Fraction(weight, sum(weights.values())) for cost, weight in weights.items()
    }
    scale = 1 / (1 - Fraction(str(level)))
    least = min(
        c + scale * sum(chance * max(cost - c, Fraction(0)) for (cost, _), chance in runs.items())
        for c in (cost for cost, _ in runs)
    )
    assert cvar(runs, level) == least


def test_objectives_of_a_distribution() -> None:
    runs: Distribution = {
        (Fraction(1), True): Fraction(1, 2),
        (Fraction(3), True): Fraction(1, 4),
        (Fraction(7), False): Fraction(1, 4),
    }
    assert mean_of_all(runs) == 3
    assert [var_of_all(level)(runs) for level in (0, 0.5, 0.51, 0.75, 0.76, 1)] == [1, 1, 3, 3, 7, 7]
    assert [cvar_of_all(level)(runs) for level in (0, "0.5", 0.75, 1)] == [3, 5, 7, 7]
    assert cvar_of_all(0.6)(runs) == (7 * Fraction(25, 100) + 3 * Fraction(15, 100)) / Fraction(4, 10)
    assert mean_cvar(0.25, 0.5)(runs) == Fraction(14, 4)
    assert mean_variance(0.5)(runs) == 3 + Fraction(1, 2) * 6  # (4 * 2 + 0 + 16) / 4
    assert mean_std(2)(runs) == pytest.approx(3 + 2 * math.sqrt(6))
    assert entropic(0)(runs) == 3
    assert entropic(math.log(2))(runs) == pytest.approx(math.log2(1 + 2 + 32))
    assert entropic(1000)(runs) == pytest.approx(7 + math.log(0.25) / 1000)
    missed = [budget_miss(limit)(runs) for limit in (0.9, 1, "2.9", 3, 100)]
    assert missed == [1, Fraction(1, 2), Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    lucky: Distribution = {(Fraction(9), True): Fraction(1)}
    assert best([runs, lucky], mean_of_all) == 3
    assert most_successful([runs, lucky, lucky]) == [lucky, lucky]


def test_histories_are_told_apart() -> None:
    # toss: cost 0 or 10, and x is b either way; then cheap (1) or dear (4), for each of the two histories
    toss = [{"chance": 0.5, "change": {"x": "b"}}, {"cost": 10, "change": {"x": "b"}}]
    actions = {
        "toss": {"cost": 0, "when": "x == a", "outcomes": toss},
        "cheap": {"cost": 1, "when": "x == b", "change": {"x": "c"}},
        "dear": {"cost": 4, "when": "x == b", "change": {"x": "c"}},
    }
    oracle = problem(actions, horizon=2)
    found = sorted(sorted(int(cost) for cost, _ in runs) for runs in oracle.all_distributions(A))
    assert found == [[1, 11], [1, 14], [4, 11], [4, 14]]
    assert all(set(runs.values()) == {Fraction(1, 2)} for runs in oracle.all_distributions(A))
    assert oracle.policy_count(A) == 2
    # With the same cost either way there are still three: both cheap, both dear, one of each.
    actions["toss"] = {"cost": 1, "when": "x == a", "outcomes": [toss[0], {"change": {"x": "b"}}]}
    assert sorted(len(runs) for runs in problem(actions, horizon=2).all_distributions(A)) == [1, 1, 2]
    ends = problem({"go": {"cost": 1, "when": "y == p", "change": {"x": "+1"}}}, failure_cost=7)
    assert ends.all_distributions(C) == [{(Fraction(0), True): Fraction(1)}]
    assert ends.all_distributions(("a", "q", "<20")) == [{(Fraction(7), False): Fraction(1)}]
    assert len(oracle.all_distributions(A, horizon=1)) == 1


def test_too_many_histories() -> None:
    several = [{"chance": 0.4, "change": {"x": "+1"}}, {"chance": 0.3, "cost": 2}, {"cost": 7.77}]
    actions = {name: {"cost": cost, "outcomes": several} for name, cost in (("go", 1), ("come", 1.1))}
    oracle = problem(actions, horizon=5, goal={"stop": False})
    with pytest.raises(TooManyError, match="more than 100 distributions"):
        oracle.all_distributions(A, most=100)
    assert len(oracle.all_distributions(A, horizon=1, most=2)) == 2


@given(problems(tiny=True))
@quick
def test_policies_that_look_at_the_state_are_among_all(document: dict[str, Any]) -> None:
    oracle = Oracle(document)
    start = oracle.start()
    every = oracle.all_distributions(start)
    plain = [oracle.distribution(policy, start) for policy in oracle.policies(start)]
    assert all(runs in every for runs in plain)
    assert len({frozenset(runs.items()) for runs in every}) == len(every)
    assert all(sum(runs.values()) == 1 for runs in every)
    assert best(every, mean_of_all) == oracle.best_by_enumeration(start)
    assert success(most_successful(every)[0]) == max(success(runs) for runs in plain)


# ------------------------------------------------------------------------------------------------------- the format


def chances(oracle: Oracle, state: State, action: str = "go") -> list[Fraction]:
    return [edge.chance for edge in oracle.edges(action, state)]


def costs(oracle: Oracle, state: State, action: str = "go") -> list[Fraction]:
    return [edge.cost for edge in oracle.edges(action, state)]


def test_forms_of_chances() -> None:
    for written, wanted in [
        (0.8, {A: "0.8", B: "0.8", C: "0.8"}),
        ([0.7, 0.9], {A: "0.8"}),
        ([0.7, 0.85, 0.9], {A: "0.85"}),
        ({"b": 0.8, "c": 0.7}, {A: "0.8", B: "0.7", C: "0.7"}),
        ({"x": {"b": 0.8, "c": 0.7}}, {A: "0.8", B: "0.7", C: "0.7"}),
        ([{"when": "x == a", "chance": 0.5}, {"when": "x < c", "chance": 0.6}, 0.7], {A: "0.5", B: "0.6", C: "0.7"}),
    ]:
        oracle = problem({"go": {"cost": 1, "chance": written, "change": {"x": "+1"}}})
        for state, chance in wanted.items():
            assert chances(oracle, state) == [Fraction(chance), 1 - Fraction(chance)]
    assert chances(problem({"go": {"cost": 1, "change": {"x": "+1"}}}), A) == [1, 0]


def test_forms_of_costs() -> None:
    first = {"chance": 0.5, "change": {"x": "+1"}}
    outcomes = [first, {"chance": 0.3, "change": {"x": "a"}}, {"cost": [{"when": "x == a", "cost": 9}, 8]}]
    oracle = problem({"go": {"cost": {"b": 1, "c": 3}, "outcomes": outcomes}})
    assert costs(oracle, A) == [1, 1, 9]
    assert costs(oracle, B) == [3, 3, 8]
    assert chances(oracle, A) == [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    own = problem({"go": {"cost": 1, "outcomes": [first, {"change": {"x": "-1"}, "cost": {"a": 4, "b": 5}}]}})
    assert costs(own, C) == [1, 5]
    rounded = problem({"go": {"cost": 1.13, "change": {"x": "+1"}}}, cost={"resolution": 0.25}, failure_cost=0.8)
    assert costs(rounded, A) == [Fraction(5, 4)] * 2
    assert rounded.failure_cost == Fraction(3, 4)


def test_the_rest_is_exact() -> None:
    parts = [0.7, 0.2, 0.1]
    outcomes: list[dict[str, Any]] = [{"chance": part, "change": {"x": "+1"}} for part in parts]
    oracle = problem({"go": {"cost": 1, "outcomes": [*outcomes, {"change": {"y": "q"}}]}})
    assert [edge.outcome for edge in oracle.offered(A)[0].edges] == [0, 1, 2]


def test_changes() -> None:
    for written, wanted in [("+1", "bcc"), ("-2", "aaa"), ("b", "bbb"), ({"to": "c"}, "ccc"), ({"by": -1}, "aab")]:
        oracle = problem({"go": {"cost": 1, "change": {"x": written}}})
        assert [oracle.edges("go", state)[0].next[0] for state in (A, B, C)] == list(wanted)


def test_an_action_is_offered_only_if_it_can_change_something_allowed() -> None:
    actions = {
        "up": {"cost": 1, "chance": 0.5, "change": {"x": "+1"}},
        "never": {"cost": 1, "chance": 0, "change": {"x": "+1"}},
        "flip": {"cost": 1, "change": {"y": "q"}, "when": "x >= b"},
    }
    oracle = problem(actions, constraints=["not (x == c and y == q)"])
    assert [choice.action for choice in oracle.offered(A)] == ["up"]
    assert [choice.action for choice in oracle.offered(B)] == ["up", "flip"]
    assert oracle.offered(("b", "q", "<20")) == []
    assert oracle.offered(C) == []
    assert len(oracle.all_states()) == 15
    assert oracle.reachable(A) == {A, B, C, ("b", "q", "<20")}
    with pytest.raises(ValueError, match="constraint"):
        oracle.state({"x": "c", "y": "q", "z": 1})


def test_goals_are_not_left() -> None:
    oracle = problem({"go": {"cost": 1, "change": {"x": "+1"}}}, rule="x == b")
    assert oracle.reachable(A) == {A, B}
    assert oracle.reachable(B) == {B}
    assert Oracle(oracle.document, lambda seen: seen["x"] == "c").reachable(A) == {A, B, C}


def test_side_effects() -> None:
    effects = [
        {"cause": "y", "change": {"z": "+1"}},
        {"cause": "x", "direction": "up", "change": {"y": "q"}, "when": "x == a"},
        {"cause": "z", "direction": "down", "change": {"x": "a"}},
    ]
    up = {"go": {"cost": 1, "change": {"x": "+1"}}}
    oracle = problem(up, side_effects=effects[:2])
    assert oracle.edges("go", A)[0].next == ("b", "q", "20-25")
    assert oracle.edges("go", B)[0].next == C
    assert oracle.edges("go", ("a", "q", "<20"))[0].next == ("b", "q", "<20")
    assert oracle.edges("go", ("a", "p", ">=25"))[0].next == ("b", "q", ">=25")
    with pytest.raises(ValueError, match="circle"):
        problem(up, side_effects=effects)


def test_numeric_levels() -> None:
    for closed, names, points in [
        ("left", ["<20", "20-25", ">=25"], {"19.9": 0, "20": 1, "24": 1, "25": 2, "99": 2}),
        ("right", ["<=20", "20-25", ">25"], {"19.9": 0, "20": 0, "20.01": 1, "25": 1, "25.5": 2}),
    ]:
        document = {
            "horizon": 1,
            "features": {"n": {"kind": "numeric", "edges": [20, 25], "closed": closed}},
            "classifier": {"rule": f"n {'>=' if closed == 'left' else '>'} 25.0"},
            "actions": {"go": {"cost": 1, "change": {"n": "+1"}}},
        }
        oracle = Oracle(document)
        assert list(oracle.features["n"].levels) == names
        assert {point: names.index(oracle.state({"n": point})[0]) for point in points} == points
        assert [oracle.is_goal((name,)) for name in names] == [False, False, True]
        with pytest.raises(ValueError, match="cuts through"):
            Oracle({**document, "classifier": {"rule": f"n {'<=' if closed == 'left' else '<'} 25"}})


FEATURES = {
    "skill": Feature("skill", "ordinal", ("basic", "skilled", "manager"), (), "left", True, True, True),
    "resting heart rate": Feature("resting heart rate", "nominal", ("very low", "a/b"), (), "left", True, True, True),
}


@pytest.mark.parametrize(
    "text, holds",
    [
        ("true", "111111"),
        ("false or true and not false", "111111"),
        ("skill < manager", "111100"),
        ("skill<=skilled", "111100"),
        ("skill in [basic, manager]", "110011"),
        ("skill not in [basic, 'manager']", "001100"),
        ("resting heart rate == very low", "101010"),
        ('resting heart rate != "a/b" or skill > skilled', "101011"),
        ("not skill == basic and resting heart rate == 'a/b'", "000101"),
        ("not (skill == basic and resting heart rate == 'a/b')", "101111"),
        ("skill == basic or skill == manager and 'resting heart rate' == 'a/b'", "110001"),
        ("(skill == basic or skill == manager) and resting heart rate == 'a/b'", "010001"),
    ],
)
def test_conditions(text: str, holds: str) -> None:
    test = condition(text, FEATURES)
    states = itertools.product(*(feature.levels for feature in FEATURES.values()))
    assert "".join(str(int(test(dict(zip(FEATURES, state, strict=True))))) for state in states) == holds


@pytest.mark.parametrize(
    "text", ["", "skill", "skill ==", "skill == x", "x == 1", "resting heart rate < very low", "(true", "true true"]
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|no feature|no level|no order"):
        condition(text, FEATURES)


# -------------------------------------------------------------------------------------------------- drawn documents


@given(problems(tiny=True))
@quick
def test_value_iteration_finds_the_best_policy_of_all(document: dict[str, Any]) -> None:
    oracle = Oracle(document)
    start = oracle.start()
    policy, value = oracle.greedy(start, 0)
    best = oracle.best_by_enumeration(start)
    assert mean(oracle.distribution(policy, start)) == best
    assert value == pytest.approx(float(best))
