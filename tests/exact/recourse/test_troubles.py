"""What can go wrong, against the enumeration of all histories."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import as_policy, read_both
from doors import Trouble, find_troubles
from drawn_menus import menu_of
from lanes import scaled
from oracle import Edge, Oracle, State
from strategies import problems

Name = str | tuple[str, tuple[tuple[str, str], ...]]


def is_setback(judge: Oracle, step: int, state: State, action: str, edge: Edge) -> bool:
    """Whether an outcome fails and leaves somebody worse off than if nothing had changed."""
    if judge.works(action, edge.outcome) or not judge.changed(state, edge.next):
        return False
    left = judge.horizon - step - 1
    before, after = (judge.best_success(one, left) for one in (state, edge.next))
    far = [next((n for n in range(judge.horizon + 1) if judge.reaches(one, n)), None) for one in (state, edge.next)]
    farther = far[0] is not None and (far[1] is None or far[1] > far[0])
    return after < before or (after == before and farther)


@given(problems())
@settings(max_examples=scaled(80))
def test_the_likeliest_is_found(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5), method="greedy")
    policy, mdp = as_policy(solution), solution.mdp
    setbacks, failures = {}, {}
    for action in problem.actions:

        def fails(step: int, state: State, name: str, edge: Edge, own: str = action.name) -> bool:
            del step, state
            return name == own and not judge.works(name, edge.outcome)

        failures[action.name] = judge.chance_of_once(policy, start, fails)
    for name in names_of_setbacks(problem, judge, policy, start):

        def happens(step: int, state: State, action: str, edge: Edge, own: Name = name) -> bool:
            return name_setback(problem, judge, step, state, action, edge) == own

        setbacks[name] = judge.chance_of_once(policy, start, happens)
    worst, likeliest = max(setbacks.values(), default=Fraction(0)), max(failures.values(), default=Fraction(0))
    found = {trouble.kind: trouble for trouble in find_troubles(solution.policy, mdp.start)}
    if worst > 0:
        assert found["setback"].chance == pytest.approx(float(worst), abs=1e-12)
    if likeliest > worst * (1 + Fraction(1, 10**9)):
        assert found["failure"].chance == pytest.approx(float(likeliest), abs=1e-12)
        assert float(failures[found["failure"].action]) == pytest.approx(float(likeliest), abs=1e-12)
    assert [one.chance for one in found.values()] == sorted((one.chance for one in found.values()), reverse=True)
    for trouble in found.values():
        assert trouble.within.low <= trouble.chance <= trouble.within.high
        assert trouble.chance > 0 or mdp.has_intervals


def name_setback(problem: sa.Problem, judge: Oracle, step: int, state: State, action: str, edge: Edge) -> Name | None:
    """How a setback is told: by its label or, without one, by the action and what changes; None if it is none."""
    if not is_setback(judge, step, state, action, edge):
        return None
    outcomes = next(one.outcomes for one in problem.actions if one.name == action)
    label = outcomes[edge.outcome].label
    return (action, changes(judge, state, edge.next)) if label is None else label


def names_of_setbacks(problem: sa.Problem, judge: Oracle, policy: Any, start: State) -> set[Name]:
    """How the setbacks that a run may come through are told."""
    found: set[Name | None] = set()

    def look(step: int, state: State, action: str, edge: Edge) -> bool:
        found.add(name_setback(problem, judge, step, state, action, edge))
        return False

    judge.chance_of_once(policy, start, look)
    return {name for name in found if name is not None}


def changes(judge: Oracle, before: State, after: State) -> tuple[tuple[str, str], ...]:
    """The features that are shown and change, each with its new level."""
    named = zip(judge.features.items(), before, after, strict=False)
    return tuple((name, new) for (name, feature), old, new in named if old != new and not feature.hidden)


def test_a_setback_is_told_before_a_failure_unless_that_is_likelier() -> None:
    safest, cheapest = (offer.gist.troubles for offer in menu_of("loan"))
    assert [(one.kind, one.action, one.label) for one in safest] == [
        ("failure", "study part-time", None),
        ("setback", "change job", "you lose your job"),
    ]
    assert [one.chance for one in safest] == pytest.approx([0.1, 0.001])
    assert [(one.kind, one.label, one.outcome) for one in cheapest] == [("setback", "you lose your job", 1)]
    assert cheapest[0].chance == pytest.approx(0.1)


def two_ways_to_lose_a_job(label: str | None, *, again: bool = False) -> sa.Problem:
    """Two steps that may each end in the same; with `again`, each in two outcomes that do."""
    lose = {"change": {"job": "no"}} | ({} if label is None else {"label": label})

    def risk(feature: str) -> dict[str, Any]:
        ends = [{"chance": 0.1, **lose}, {"chance": 0.1, **lose}] if again else [{"chance": 0.2, **lose}]
        return {"cost": 1, "outcomes": [{"chance": 0.8, "change": {feature: "yes"}}, *ends]}

    yes_or_no = {"kind": "nominal", "levels": ["no", "yes"]}
    document = {
        "safear": 1,
        "title": "Two ways to lose a job",
        "horizon": 8,
        "goal": {"failure_cost": 20},
        "features": {"degree": yes_or_no, "home": yes_or_no, "job": yes_or_no},
        "classifier": {"rule": "degree == yes and home == yes and job == yes"},
        "actions": {"study": risk("degree"), "move": risk("home"), "find": {"cost": 1, "change": {"job": "yes"}}},
        "people": {"p": {"degree": "no", "home": "no", "job": "yes"}},
    }
    return sa.parse_problem(document)


@pytest.mark.parametrize("again", [False, True])
def test_what_the_problem_calls_the_same_is_one_setback(*, again: bool) -> None:
    [trouble] = sa.recommend(two_ways_to_lose_a_job("you lose your job", again=again))[0].gist.troubles
    assert (trouble.kind, trouble.label) == ("setback", "you lose your job")
    assert trouble.chance == pytest.approx(1 - 0.8**2)
    assert (trouble.action, trouble.outcome) == ("study", 1)


@pytest.mark.parametrize("again", [False, True])
def test_without_a_label_those_of_an_action_that_change_the_same_are_one(*, again: bool) -> None:
    problem = two_ways_to_lose_a_job(None, again=again)
    [setback] = [one for one in sa.recommend(problem)[0].gist.troubles if one.kind == "setback"]
    assert setback.action == "study"
    assert setback.chance == pytest.approx(0.2)


def test_a_try_that_fails_as_a_setback_fails_too() -> None:
    yes_or_no = {"kind": "nominal", "levels": ["no", "yes"]}
    lose = {"chance": 0.2, "change": {"job": "no"}, "label": "you lose your job"}
    document = {
        "safear": 1,
        "title": "Three ways to end",
        "horizon": 2,
        "goal": {"failure_cost": 20},
        "features": {"degree": yes_or_no, "job": yes_or_no},
        "classifier": {"rule": "degree == yes and job == yes"},
        "actions": {
            "study": {"cost": 1, "outcomes": [{"chance": 0.5, "change": {"degree": "yes"}}, lose, {"chance": 0.3}]},
            "find": {"cost": 1, "change": {"job": "yes"}},
        },
        "people": {"p": {"degree": "no", "job": "yes"}},
    }
    failure, setback = sa.recommend(sa.parse_problem(document))[0].gist.troubles
    assert (failure.kind, failure.action, setback.kind) == ("failure", "study", "setback")
    assert (failure.chance, setback.chance) == pytest.approx((0.5, 0.2 + 0.3 * 0.2))


def test_what_always_works_has_no_trouble() -> None:
    assert menu_of("health-insurance")["safest"].gist.troubles == ()


PARTLY = {
    "safear": 1,
    "title": "Half is better than nothing",
    "horizon": 6,
    "features": {
        "skill": {"kind": "ordinal", "levels": ["a", "b", "c"]},
        "mood": {"kind": "nominal", "levels": ["low", "high"]},
    },
    "classifier": {"rule": "skill == c"},
    "actions": {
        "learn": {
            "cost": 1,
            "outcomes": [
                {"chance": 0.5, "change": {"skill": "+2"}},
                {"chance": 0.3, "change": {"skill": "+1"}},
                {"chance": 0.2, "change": {"mood": "low"}},
            ],
        }
    },
    "people": {"p": {"skill": "a", "mood": "high"}},
}


def test_what_brings_somebody_nearer_or_changes_nothing_that_counts_is_no_setback() -> None:
    problem = sa.parse_problem(PARTLY)
    [trouble] = sa.recommend(problem)[0].gist.troubles
    assert (trouble.kind, trouble.action) == ("failure", "learn")
    assert trouble.chance == pytest.approx(0.5)


def test_intervals_say_how_far_a_chance_may_be_off() -> None:
    trouble: Trouble = menu_of("guesses")["cheapest on average"].gist.troubles[0]
    assert (trouble.within.low, trouble.chance, trouble.within.high) == pytest.approx((0.05, 0.1, 0.2))


def test_somebody_farther_away_is_worse_off_though_success_stays_certain() -> None:
    steps = {"kind": "ordinal", "levels": ["low", "middle", "top"]}
    fall = {"chance": 0.1, "change": {"stair": "-1"}, "label": "you fall"}
    document = {
        "safear": 1,
        "title": "Stairs",
        "horizon": 8,
        "features": {"stair": steps},
        "classifier": {"rule": "stair == top"},
        "actions": {
            "jump": {
                "cost": 1,
                "when": "stair == middle",
                "outcomes": [{"chance": 0.9, "change": {"stair": "+1"}}, fall],
            },
            "climb": {"cost": 5, "change": {"stair": "+1"}},
        },
        "people": {"p": {"stair": "middle"}},
    }
    [trouble] = sa.recommend(sa.parse_problem(document))["cheapest on average"].gist.troubles
    assert (trouble.kind, trouble.action, trouble.label) == ("setback", "jump", "you fall")
    assert trouble.chance == pytest.approx(0.1)


def test_somebody_with_less_hope_is_worse_off_though_as_near() -> None:
    document = {
        "safear": 1,
        "title": "A name",
        "horizon": 3,
        "goal": {"failure_cost": 10},
        "features": {
            "post": {"kind": "ordinal", "levels": ["none", "held"]},
            "name": {"kind": "ordinal", "levels": ["bad", "good"]},
        },
        "classifier": {"rule": "post == held"},
        "actions": {
            "apply": {
                "cost": 1,
                "outcomes": [
                    {
                        "chance": [{"when": "name == good", "chance": 0.6}, 0.2],
                        "change": {"post": "held"},
                    },
                    {"change": {"name": "bad"}},
                ],
            },
        },
        "people": {"p": {"post": "none", "name": "good"}},
    }
    troubles = sa.recommend(sa.parse_problem(document))[0].gist.troubles
    assert [one.kind for one in troubles] == ["setback"]
    assert troubles[0].chance == pytest.approx(0.4)
    assert [(change.feature, change.level) for change in troubles[0].changes] == [("name", "bad")]
