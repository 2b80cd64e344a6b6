"""What is said when a file's words have no meaning: the whole text, with the line and a caret under the place."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

import safear as sa
from doors import quantity_checks, unused_features
from mistakes import LOAN, edited, shown, told
from safear.errors import ProblemError
from safear.problem import (
    Action,
    Amount,
    Feature,
    Goal,
    Move,
    Outcome,
    Problem,
    SetTo,
    check_problem,
    parse_condition,
    parse_problem,
)
from small_problems import ladder

RULE = "rule: job == employed and skill >= skilled"
CHANCE = "chance: 0.8"
FIRST = "- {chance: 0.9, change: {job: employed}}"
BOTH = f"      {FIRST}\n      - {{chance: 0.1, change: {{job: unemployed}}, cost: 3}}\n"
SIDE_EFFECT = "{cause: skill, direction: up, change: {age: +1}}"
BASIC = "possible: 'basic', 'skilled'"


@pytest.mark.parametrize("interval", ["[0.7, 0.6, 0.9]", "[0.5, 0.7, 0.5]", "[0.9, 0.85, 0.7]"])
def test_intervals_of_three_are_in_order(interval: str) -> None:
    said = told(edited((CHANCE, f"chance: {interval}")))
    assert said.startswith(f"loan.yaml:17:5: actions.learn.chance: {interval} is not in order\n")


@pytest.mark.parametrize(
    "first",
    [
        "{chance: 0.9, change: {job: employed}}",
        "{chance: [0.85, 0.95], change: {job: employed}}",
        "{chance: [0.5, 0.9, 1], change: {job: employed}}",
        "{chance: 0.90000000001, change: {job: employed}}",
        "{chance: {employed: 0.9}, change: {job: employed}}",
        "{chance: {skilled: 0.9, manager: 0.9, basic: 0.3}, change: {skill: +1}}",
        "{chance: [{when: age == senior, chance: 0.9}, 0.9], change: {job: employed}}",
        "{chance: [{when: age == senior, chance: 0.9}, {when: true, chance: 0.9}, 0.2], change: {job: employed}}",
        "{change: {job: employed}}",
    ],
)
def test_chances_that_add_up(first: str) -> None:
    assert check_problem(parse_problem(edited((FIRST, f"- {first}")))) == []


def test_chances_add_up_only_where_the_action_is_offered() -> None:
    depends = "- {chance: [{when: age == senior, chance: 0.5}, 0.9], change: {job: employed}}"
    text = edited((FIRST, depends), ("    cost: 1\n", "    cost: 1\n    when: age != senior\n"))
    assert check_problem(parse_problem(text)) == []


EXACT: list[dict[str, Any]] = [{"chance": 0.1, "change": {"a": "yes"}, "cost": 2}, {"chance": 0.2}]
STUCK = r"actions\.try\.outcomes.*an interval cannot move: the other chances are given exactly"
SAY = "leave out the chance of the outcome that takes the rest"


def interval_beside(others: list[dict[str, Any]], **action: Any) -> sa.Problem:
    outcomes = [{"chance": [0.3, 0.7, 0.9], "change": {"a": "yes"}}, *others]
    return ladder({"try": {"cost": 1, "outcomes": outcomes} | action})


def test_an_interval_beside_several_exact_chances_is_a_mistake() -> None:
    with pytest.raises(ProblemError, match=STUCK) as caught:
        interval_beside(EXACT)
    assert SAY in str(caught.value)
    assert [item.code for item in caught.value.mistakes] == ["stuck_interval"]


@pytest.mark.parametrize("others", [[{"chance": 0.3}], [{"chance": 0.1}, {}], [{"chance": [0.1, 0.2]}, *EXACT[:1], {}]])
def test_an_interval_that_can_move_is_none(others: list[dict[str, Any]]) -> None:
    assert check_problem(interval_beside(others)) == []


def test_stuck_intervals_count_where_the_action_is_offered() -> None:
    here = [{"when": "a == yes", "chance": 0.2}, {"value": [0.1, 0.2, 0.3], "source": "guess"}]
    with pytest.raises(ProblemError, match=f"{STUCK} where a is yes"):
        interval_beside([EXACT[0], {"chance": here}])
    assert check_problem(interval_beside([EXACT[0], {"chance": here}], when="a == no")) == []


def test_the_compiler_finds_stuck_intervals_among_too_many_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantity_checks, "MAX_COMBINATIONS", 0)
    problem = interval_beside(EXACT)
    with pytest.raises(ProblemError, match=STUCK):
        sa.compile_mdp(problem)


def test_too_many_combinations_are_left_to_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    depends = "- {chance: [{when: age == senior and bmi >= 25, chance: 0.5}, 0.9], change: {job: employed}}"
    monkeypatch.setattr(quantity_checks, "MAX_COMBINATIONS", 8)
    assert check_problem(parse_problem(edited((FIRST, depends)))) == []
    monkeypatch.setattr(quantity_checks, "MAX_COMBINATIONS", 9)
    with pytest.raises(ProblemError, match=r"add up to 0\.6, not 1 where age is senior, bmi is >=25"):
        parse_problem(edited((FIRST, depends)))


@pytest.mark.parametrize(
    "rule",
    [
        "'job == ''employed'' and skil >= skilled'",
        '"job == \\"employed\\" and skil >= skilled"',
        '"job == employed and\\tskil >= skilled"',
    ],
)
def test_a_caret_in_a_text_with_escapes_is_right_or_at_its_start(rule: str) -> None:
    said = told(edited((RULE, f"rule: {rule}")))
    _, source, caret, remedy = said.splitlines()
    assert source.index("skil >=") == caret.index("^") or source.index(rule) == caret.index("^")
    assert remedy == "    did you mean 'skill'?"


@pytest.mark.parametrize(
    "rule", [">-\n    job == employed and\n    skil >= skilled", "job == employed and\n    skil > skilled"]
)
def test_a_mistake_in_a_condition_of_several_lines_is_shown_at_its_start(rule: str) -> None:
    text = edited((RULE, f"rule: {rule}"))
    assert told(text) == shown(text, ("13:9: classifier.rule: there is no feature 'skil'", "did you mean 'skill'?"))


@pytest.mark.parametrize(
    "circle",
    [
        ["skill -> age", "age -> bmi", "bmi -> skill"],
        ["bmi -> skill", "skill -> age", "age -> bmi"],
        ["skill -> job", "age -> bmi", "bmi -> skill", "job -> age"],
        ["job -> skill", "skill -> age", "age -> bmi", "bmi -> skill"],
    ],
)
def test_a_long_circle_is_told_in_the_order_of_its_causes(circle: list[str]) -> None:
    levels = {"age": "+1", "skill": "+1", "bmi": "+1", "job": "employed"}
    pairs = [step.split(" -> ") for step in circle]
    listed = "\n  - ".join(f"{{cause: {cause}, change: {{{name}: {levels[name]}}}}}" for cause, name in pairs)
    said = told(edited((SIDE_EFFECT, listed)))
    head = said.splitlines()[0]
    assert "side effects go round in a circle: " in head
    round_trip = head.split("in a circle: ")[1].split(" -> ")
    assert round_trip[0] == round_trip[-1]
    steps = list(pairwise(round_trip))
    assert len(steps) == len(set(steps)) >= 3
    assert all([cause, name] in pairs for cause, name in steps)
    assert f"side_effects[{pairs.index(list(steps[-1]))}]" in head  # the one that closes the circle
    assert said.count("loan.yaml:") == 1


def test_too_many_actions() -> None:
    more = "".join(f"  more {number}: {{cost: 1, change: {{skill: +1}}}}\n" for number in range(252))
    text = edited(("side_effects:\n", f"{more}side_effects:\n"))
    assert told(text) == shown(text, ("14:1: actions: 255 actions; at most 254 are possible", None))
    assert len(parse_problem(text.replace("  more 0: {cost: 1, change: {skill: +1}}\n", "")).actions) == 254


def test_too_many_outcomes() -> None:
    outcomes = ", ".join(["{chance: 0}"] * 254)
    text = edited((BOTH, f"      [{{change: {{job: employed}}}}, {outcomes}, {{chance: 0}}]\n"))
    assert told(text) == shown(
        text, ("22:5: actions.change job.outcomes: 256 outcomes; at most 255 are possible", None)
    )
    fewer = text.replace(", {chance: 0}]", "]")
    assert len(parse_problem(fewer).action_by_name["change job"].outcomes) == 255


# ------------------------------------------------------------------------------------------- problems made in Python


def made(**parts: object) -> Problem:
    """A sound problem that no file holds, with some of its parts replaced."""
    skill = Feature("skill", "ordinal", ("basic", "skilled"))
    learn = Action("learn", Amount.exactly(1), (Outcome(Amount.exactly(1), {"skill": Move(1)}),))
    return replace(Problem("made", 3, (skill,), (learn,)), **parts)  # type: ignore[arg-type]  # by keyword


def _learn(cost: str = "1", chance: str | None = None, level: str = "skilled", when: str = "true") -> Action:
    outcomes = (Outcome(None if chance is None else Amount.exactly(chance), {"skill": SetTo(level)}),)
    return Action("learn", Amount.exactly(cost), outcomes, parse_condition(when))


@pytest.mark.parametrize(
    "parts, said",
    [
        ({"horizon": 0}, ["horizon: 0 is not between 1 and 1000"]),
        ({"horizon": 1001}, ["horizon: 1001 is not between 1 and 1000"]),
        (
            {"goal": Goal(failure_cost=Decimal(-1))},
            ["goal.failure_cost: the cost -1 is below 0\n    costs are positive"],
        ),
        (
            {"goal": Goal(failure_cost=Decimal("2e15"))},
            ["goal.failure_cost: the cost 2E+15 is above 1e+15\n    count in a larger unit"],
        ),
        ({"goal": Goal(failure_cost=Decimal("inf"))}, ["goal.failure_cost: Infinity is not a finite number"]),
        ({"goal": Goal(threshold=1.5)}, ["goal.threshold: 1.5 is not between 0 and 1"]),
        ({"goal": Goal(threshold=float("nan"))}, ["goal.threshold: nan is not between 0 and 1"]),
        ({"cost_resolution": Decimal(0)}, ["cost.resolution: 0 is not above 0"]),
        ({"cost_resolution": Decimal("nan")}, ["cost.resolution: NaN is not a finite number"]),
        ({"cost_resolution": Decimal("inf")}, ["cost.resolution: Infinity is not a finite number"]),
        ({"actions": (_learn(), _learn())}, ["actions.learn: 'learn' is given twice"]),
        ({"actions": (_learn(cost="nan"),)}, ["actions.learn.cost: NaN is not a finite number"]),
        (
            {"actions": (_learn(chance="1.5"),)},
            ["actions.learn.outcomes[0].chance: 1.5 is not a chance between 0 and 1\n    write 0.015 for 1.5 per cent"],
        ),
        (
            {"actions": (_learn(level="manager"),)},
            [f"actions.learn.outcomes[0].change.skill: 'manager' is not a level of 'skill'\n    {BASIC}"],
        ),
        (
            {"actions": (_learn(when="skil == basic"),)},
            ["actions.learn.when: there is no feature 'skil'\n    did you mean 'skill'?"],
        ),
        (
            {"actions": (replace(_learn(), cost=1.5),)},  # type: ignore[arg-type]  # what is tested
            ["actions.learn.cost: 1.5 is not a cost\n    use Amount.exactly(...), ByLevel(...) or ByCase(...)"],
        ),
        (
            {"actions": (replace(_learn(), when="skill == basic"),)},  # type: ignore[arg-type]  # what is tested
            ["actions.learn.when: 'skill == basic' is not a condition\n    use parse_condition('...')"],
        ),
        (
            {"people": {"ann": {"skill": "basics"}}},
            ["people.ann.skill: 'basics' is not a level of 'skill'\n    did you mean 'basic'?"],
        ),
    ],
)
def test_problems_made_in_python(parts: dict[str, object], said: list[str]) -> None:
    assert [str(item) for item in check_problem(made(**parts))] == said


def test_forgotten_features_are_hinted_at() -> None:
    problem = parse_problem(LOAN)
    assert unused_features(problem) == []
    extra = replace(problem, features=(*problem.features, Feature("town", "nominal", ("a", "b"))))
    assert unused_features(extra) == ["town"]
