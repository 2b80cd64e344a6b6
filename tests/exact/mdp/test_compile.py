"""Compiled MDPs against the oracle's own reading of the same document."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import safear as sa
from compare import as_state, read_both
from doors import expand, ground, grounds
from oracle import Oracle, State
from safear.errors import PersonError, ProblemError, TooLargeError
from safear.evaluation import run_exactly
from safear.mdp import check_mdp, compile_blocks
from safear.problem import Action, Amount, Feature, Move, Outcome, read_person
from safear.recourse import Desk
from strategies import problems

LARGE: dict[str, Any] = {
    "safear": 1,
    "title": "large",
    "horizon": 3,
    "goal": {"stop": False},
    "features": {f"f{i}": {"kind": "ordinal", "levels": list(range(10))} for i in range(12)},
    "actions": {f"raise f{i}": {"cost": 1, "chance": 0.5, "change": {f"f{i}": "+1"}} for i in range(12)},
    "classifier": {"rule": "f0 >= 2"},
    "people": {"someone": dict.fromkeys((f"f{i}" for i in range(12)), 0)},
}


def edges_of(mdp: sa.MDP, state: int) -> list[tuple[str, list[tuple[float, State, float, int, float, float]]]]:
    """What is offered in a state, in the oracle's terms."""
    offered = []
    for row in range(mdp.row_start[state], mdp.row_start[state + 1]):
        edges = [
            (
                float(mdp.edge_chance[e]),
                as_state(mdp.person(int(mdp.edge_next[e]))),
                mdp.to_cost(int(mdp.edge_cost[e])),
                int(mdp.edge_outcome[e]),
                float(mdp.edge_low[e]),
                float(mdp.edge_high[e]),
            )
            for e in range(mdp.edge_start[row], mdp.edge_start[row + 1])
        ]
        offered.append((mdp.actions[mdp.row_action[row]], edges))
    return offered


def assert_same_edges(mdp: sa.MDP, judge: Oracle, states: dict[State, int]) -> None:
    for state, number in states.items():
        assert mdp.goal[number] == judge.is_goal(state)
        ours = edges_of(mdp, number)
        theirs = [] if judge.is_goal(state) else judge.offered(state)
        assert [action for action, _ in ours] == [choice.action for choice in theirs]
        for (_, edges), choice in zip(ours, theirs, strict=True):
            assert [(e[1], e[3]) for e in edges] == [(e.next, e.outcome) for e in choice.possible]
            for place, name in ((0, "chance"), (2, "cost"), (4, "low"), (5, "high")):
                theirs_here = [float(getattr(e, name)) for e in choice.possible]
                assert [e[place] for e in edges] == pytest.approx(theirs_here, abs=1e-12)


@given(problems())
def test_whole_space_equals_the_oracle(document: dict[str, Any]) -> None:
    problem, judge, _ = read_both(document)
    mdp = sa.compile_mdp(problem)
    check_mdp(mdp)
    states = {as_state(mdp.person(number)): number for number in range(mdp.n_states)}
    assert set(states) == set(judge.all_states())
    assert_same_edges(mdp, judge, states)


@given(problems())
def test_reachable_set_equals_the_oracle(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    check_mdp(mdp)
    assert as_state(mdp.person(mdp.locate())) == start
    states = {as_state(mdp.person(number)): number for number in range(mdp.n_states)}
    assert set(states) <= judge.reachable(start)
    inner = {state: number for state, number in states.items() if mdp.depth[number] < mdp.horizon}
    assert_same_edges(mdp, judge, inner)


@given(problems())
def test_blocks_are_the_whole_cut_up(document: dict[str, Any]) -> None:
    problem = sa.parse_problem(document)
    whole = sa.compile_mdp(problem)
    blocks = list(compile_blocks(problem))
    expected = {as_state(whole.person(s)): edges_of(whole, s) for s in range(whole.n_states)}
    found = {as_state(block.person(s)): edges_of(block, s) for block in blocks for s in range(block.n_states)}
    assert found == expected
    if problem.default_person is not None:
        block = sa.compile_mdp(problem, block=problem.default_person)
        assert block.n_states in {other.n_states for other in blocks}
        assert block.person(block.locate(problem.default_person)) == read_person(problem, problem.default_person)


def test_large_space_is_refused_before_memory_is_touched() -> None:
    problem = sa.parse_problem(LARGE)
    with pytest.raises(TooLargeError) as caught:
        sa.compile_mdp(problem)
    assert "1,000,000,000,000 states" in str(caught.value)
    assert "start=" in str(caught.value)


def test_large_space_is_solved_from_one_person() -> None:
    problem = sa.parse_problem(LARGE)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    check_mdp(mdp)
    raised = Counter(sum(int(level) for level in mdp.person(state).values()) for state in range(mdp.n_states))
    # Nothing, one, or two raised; three raised only from the states that are no goal (f0 not raised twice).
    assert raised == {0: 1, 1: 12, 2: 12 * 13 // 2, 3: 12 * 13 * 14 // 6 - 1}
    assert sa.evaluate(sa.solve(mdp, sa.Mean())).success == pytest.approx(0.5)


def test_states_are_numbered_in_62_bits() -> None:
    """So many features of two levels has the largest space, as docs/scale.md says."""
    names = [f"f{i}" for i in range(62)]
    actions = {f"raise {name}": {"cost": 1, "change": {name: "+1"}} for name in ("f0", "f30", "f61")}
    document = {
        **LARGE,
        "features": {name: {"kind": "ordinal", "levels": [0, 1]} for name in names},
        "actions": actions,
        "classifier": {"rule": "f0 >= 1 and f30 >= 1 and f61 >= 1"},
        "people": {"someone": dict.fromkeys(names, 0)},
    }
    mdp = sa.compile_mdp(sa.parse_problem(document), start=document["people"]["someone"])
    check_mdp(mdp)
    assert mdp.n_states == 2**3
    assert sa.evaluate(sa.solve(mdp, sa.Mean())).mean == 3


def test_reachable_set_is_limited() -> None:
    problem = sa.parse_problem({**LARGE, "horizon": 12})
    with pytest.raises(TooLargeError, match="can reach 1,807 states in only 4 steps"):
        sa.compile_mdp(problem, start=problem.default_person, max_states=1000)


def test_more_features_than_fit_an_index_are_fine_when_they_stand_still() -> None:
    features = {f"fixed{i}": {"kind": "nominal", "levels": list("abcdefghij"), "mutable": False} for i in range(40)}
    document = {**LARGE, "features": {**LARGE["features"], **features}}
    document["people"] = {"someone": {**LARGE["people"]["someone"], **dict.fromkeys(features, "c")}}
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assert mdp.n_states == sa.compile_mdp(sa.parse_problem(LARGE), start=LARGE["people"]["someone"]).n_states
    assert mdp.person(mdp.locate())["fixed7"] == "c"
    with pytest.raises(TooLargeError):
        sa.compile_mdp(problem)


def test_a_problem_made_in_python_is_checked() -> None:
    feature = Feature("a", "ordinal", ("x", "y"))
    action = Action("go", Amount.exactly(-1), (Outcome(Amount.exactly(1), {"a": Move(1)}),))
    problem = sa.Problem("made", 2, (feature,), (action,))
    with pytest.raises(ProblemError, match=r"actions\.go\.cost: the cost -1 is below 0"):
        sa.compile_mdp(problem, lambda frame: frame["a"] == "y")


def test_blocks_ask_for_their_immutable_features() -> None:
    document = {
        **LARGE,
        "features": {**LARGE["features"], "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False}},
    }
    document["people"] = {}
    problem = sa.parse_problem(document)
    with pytest.raises(PersonError, match="'sex' is immutable"):
        sa.compile_mdp(problem, block={})
    with pytest.raises(PersonError, match="'x' is not a level of 'sex'"):
        sa.compile_mdp(problem, block={"sex": "x"})


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(problems())
def test_constraints_are_never_broken(document: dict[str, Any]) -> None:
    problem, judge, _ = read_both(document)
    for mdp in (sa.compile_mdp(problem), sa.compile_mdp(problem, start=problem.default_person)):
        assert all(judge.allowed(as_state(mdp.person(s))) for s in range(mdp.n_states))
        assert np.all(mdp.edge_cost >= 0)


def test_chances_of_many_outcomes_add_up_exactly() -> None:
    document = {
        "safear": 1,
        "title": "many",
        "horizon": 1,
        "features": {"a": {"kind": "nominal", "levels": [str(i) for i in range(256)]}},
        "actions": {
            "go": {"cost": 1, "outcomes": [*({"chance": 0.001, "change": {"a": str(i)}} for i in range(1, 255)), {}]}
        },
        "classifier": {"rule": "a != 0"},
        "people": {"p": {"a": "0"}},
    }
    mdp = sa.compile_mdp(sa.parse_problem(document), start={"a": "0"})
    assert mdp.edge_outcome.tolist() == list(range(255))
    assert mdp.edge_chance[-1] == 0.746
    document["actions"]["go"]["outcomes"].append({"chance": 0.001, "change": {"a": "255"}})  # type: ignore[index]
    with pytest.raises(ProblemError, match="256 outcomes; at most 255 are possible"):
        sa.parse_problem(document)


def test_a_rest_that_is_only_rounding_is_no_outcome() -> None:
    """0.7 + 0.2 + 0.1 is 1 in decimals; in floats it is a little less."""
    document = {
        "safear": 1,
        "title": "rest",
        "horizon": 1,
        "features": {"a": {"kind": "nominal", "levels": ["0", "1", "2", "3", "4"]}},
        "actions": {
            "go": {
                "cost": 1,
                "outcomes": [
                    *({"chance": c, "change": {"a": str(i)}} for i, c in ((1, 0.7), (2, 0.2), (3, 0.1))),
                    {"change": {"a": "4"}},
                ],
            },
            "almost": {
                "cost": 1,
                "outcomes": [{"chance": "0.99999999999999", "change": {"a": "1"}}, {"change": {"a": "4"}}],
            },
        },
        "classifier": {"rule": "a == 1"},
        "people": {"p": {"a": "0"}},
    }
    mdp = sa.compile_mdp(sa.parse_problem(document), start={"a": "0"})
    assert mdp.edge_chance[:3].tolist() == [0.7, 0.2, 0.1]
    assert mdp.edge_chance[3:].tolist() == pytest.approx([1 - 1e-14, 1e-14], rel=1e-12)


def test_a_move_beyond_the_last_level_stops_there() -> None:
    document = {**LARGE, "actions": {"leap": {"cost": 1, "change": {"f0": "+9"}}}}
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start={**(problem.default_person or {}), "f0": "1"})
    assert sorted(mdp.person(state)["f0"] for state in range(mdp.n_states)) == ["1", "9"]


RETRY = """
safear: 1
title: Retry
horizon: 2
features: {skill: {kind: ordinal, levels: [low, high]}}
goal: {failure_cost: 5}
classifier: {rule: skill == high}
actions:
  learn: {cost: 1, chance: CHANCE, change: {skill: +1}}
people: {me: {skill: low}}
"""


@pytest.mark.parametrize(
    ("chance", "nominal", "low", "high"),
    [
        ("0.8", [0.8, 0.2], [0.8, 0.2], [0.8, 0.2]),
        ("[0.7, 0.9]", [0.8, 0.2], [0.7, 0.1], [0.9, 0.3]),
        ("1", [1.0], [1.0], [1.0]),
        ("[0.5, 1, 1]", [1.0, 0.0], [0.5, 0.0], [1.0, 0.5]),
        ("[0, 0, 0.5]", [0.0, 1.0], [0.0, 0.5], [0.5, 1.0]),
        # Five of five: what works always so far may still fail, by Clopper and Pearson in 1 - 0.025^(1/5) of all cases.
        ("{worked: 5, tried: 5}", [1.0, 0.0], [0.025**0.2, 0.0], [1.0, 1 - 0.025**0.2]),
    ],
)
def test_an_outcome_is_possible_if_its_interval_leaves_it_room(
    chance: str, nominal: list[float], low: list[float], high: list[float]
) -> None:
    mdp = Desk.of(sa.parse_problem(RETRY.replace("CHANCE", chance))).open().mdp
    assert mdp.edge_chance.tolist() == nominal
    assert mdp.edge_low.tolist() == pytest.approx(low, abs=1e-9)
    assert mdp.edge_high.tolist() == pytest.approx(high, abs=1e-9)
    assert mdp.has_intervals == (low != high)
    runs = run_exactly(sa.solve(mdp, sa.CVaR(1.0)))
    assert (runs.chance > 0).all()  # nothing in the distribution that does not happen


def test_outcomes_have_no_more_room_than_the_others_leave() -> None:
    """With one outcome at 0.6, the second cannot have more than 0.4, and the third gets what is left."""
    outcomes = "[{chance: 0.6, change: {skill: +1}}, {chance: [0.1, 0.2, 0.9]}, {}]"
    text = RETRY.replace("{cost: 1, chance: CHANCE, change: {skill: +1}}", f"{{cost: 1, outcomes: {outcomes}}}")
    mdp = sa.compile_mdp(sa.parse_problem(text))
    assert mdp.edge_low.tolist() == pytest.approx([0.6, 0.1, 0.0])
    assert mdp.edge_high.tolist() == pytest.approx([0.6, 0.4, 0.3])


@pytest.mark.parametrize(
    ("outcomes", "low", "high"),
    [
        ("[{chance: [0.3, 0.8, 0.9], change: {skill: +1}}, {chance: 0.2}]", [0.3, 0.1], [0.9, 0.7]),
        ("[{chance: 0.8, change: {skill: +1}}, {chance: [0.1, 0.2, 0.7]}]", [0.3, 0.1], [0.9, 0.7]),
        (
            "[{chance: [0.4, 0.5, 0.6], change: {skill: +1}}, {chance: [0.1, 0.2, 0.3], cost: 3}, {chance: 0.3}]",
            [0.4, 0.1, 0.1],
            [0.6, 0.3, 0.5],
        ),
    ],
)
def test_the_only_exact_chance_takes_the_rest(outcomes: str, low: list[float], high: list[float]) -> None:
    text = RETRY.replace("{cost: 1, chance: CHANCE, change: {skill: +1}}", f"{{cost: 1, outcomes: {outcomes}}}")
    mdp = sa.compile_mdp(sa.parse_problem(text))
    assert mdp.edge_low.tolist() == pytest.approx(low)
    assert mdp.edge_high.tolist() == pytest.approx(high)


def test_a_goal_that_only_a_margin_of_error_leads_to_is_no_recourse() -> None:
    case = Desk.of(sa.parse_problem(RETRY.replace("CHANCE", "[0, 0, 0.5]"))).open()
    assert case.no_recourse is not None
    assert case.no_recourse.code == "no_chance"
    assert "never work" in str(case.no_recourse)


def test_a_search_that_goes_too_far_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"f{i}" for i in range(26)]
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "t",
            "horizon": 13,
            "features": {name: {"kind": "ordinal", "levels": ["low", "high"]} for name in names},
            "classifier": {"rule": " and ".join(f"{name} == high" for name in names)},
            "actions": {f"raise {name}": {"cost": 1, "change": {name: "high"}} for name in names},
            "people": {"me": dict.fromkeys(names, "low")},
        }
    )
    expanded = []

    def count(problem: sa.Problem, lattice: Any, space: Any, states: Any, **options: Any) -> Any:
        expanded.append(len(states))
        return expand(problem, lattice, space, states, **options)

    monkeypatch.setattr(ground, "expand", count)
    monkeypatch.setattr(grounds, "SAMPLED", 100)
    with pytest.raises(TooLargeError, match="states in only 3 steps") as refused:
        sa.compile_mdp(problem, start=problem.people["me"], max_states=1000)
    assert sum(expanded) == 1 + 26 + 82  # and not all 325 of the third step
    assert "--horizon" in str(refused.value)
    assert "--forbid" in str(refused.value)
