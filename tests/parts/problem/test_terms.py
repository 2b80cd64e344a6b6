"""Personal terms: what they change, from files and from Python, and their mistakes."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors import LevelTest, checks, merge_terms
from doors import terms as terms_module
from mistakes import edited, shown, whole
from safear.errors import Mistake, TermsError
from safear.problem import (
    Action,
    ActionTerms,
    Amount,
    ByCase,
    ByLevel,
    Move,
    Outcome,
    Problem,
    SetTo,
    Terms,
    apply_terms,
    check_problem,
    load_terms,
    parse_problem,
    parse_terms,
)
from strategies import FEWER, problems

GAMBLE = """\
  gamble:
    cost: 1
    outcomes: [{chance: 0.5, change: {skill: +1}}, {chance: 0.3}, {change: {bmi: -1}}]
"""
PROBLEM = parse_problem(edited(("side_effects:\n", f"{GAMBLE}side_effects:\n")))


def number(text: str) -> Amount:
    return Amount.exactly(text)


def refused(text: str, problem: Problem = PROBLEM) -> str:
    with pytest.raises(TermsError) as caught:
        parse_terms(text, problem, name="me.yaml")
    assert caught.value.exit_code == 2
    return str(caught.value)


def applied(text: str) -> Problem:
    return apply_terms(PROBLEM, parse_terms(text, PROBLEM))


# ------------------------------------------------------------------------------------------------- what terms change


def test_cost_and_chance_replace_those_of_the_problem() -> None:
    mine = applied("actions:\n  learn: {cost: 2, chance: 0.6}\n").action_by_name["learn"]
    problem = PROBLEM.action_by_name["learn"]
    outcomes = (Outcome(number("0.6"), {"skill": Move(1), "age": Move(1)}), Outcome())
    assert mine == Action("learn", number("2"), outcomes, problem.when)


def test_a_cost_of_an_outcome_is_kept_and_the_other_outcome_gets_the_rest() -> None:
    mine = applied("actions:\n  change job: {cost: 7, chance: 0.25}\n").action_by_name["change job"]
    assert mine.cost == number("7")
    assert mine.outcomes == (
        Outcome(number("0.25"), {"job": SetTo("employed")}),
        Outcome(None, {"job": SetTo("unemployed")}, number("3")),
    )


def test_an_action_that_always_works_gets_a_way_to_fail() -> None:
    problem = parse_problem(edited((", chance: [0.7, 0.9]", "")))
    assert len(problem.action_by_name["diet"].outcomes) == 1
    mine = apply_terms(problem, Terms.of(chance={"diet": 0.5})).action_by_name["diet"]
    assert mine.outcomes == (Outcome(number("0.5"), {"bmi": Move(-1)}), Outcome())


def test_all_outcomes_can_be_given() -> None:
    text = "actions:\n  gamble: {outcomes: [{chance: 0.2, change: {skill: +2}, cost: 4}, {label: nothing}]}\n"
    mine = applied(text).action_by_name["gamble"]
    assert mine.cost == number("1")
    assert mine.outcomes == (Outcome(number("0.2"), {"skill": Move(2)}, number("4")), Outcome(label="nothing"))


def test_forbidden_actions_are_gone_and_the_others_as_before() -> None:
    mine = applied("forbid: [change job, gamble, change job]\n")
    assert [action.name for action in mine.actions] == ["learn", "diet"]
    assert mine.actions == (PROBLEM.action_by_name["learn"], PROBLEM.action_by_name["diet"])
    assert (mine.features, mine.people, mine.goal) == (PROBLEM.features, PROBLEM.people, PROBLEM.goal)


def test_no_terms_change_nothing() -> None:
    for text in ("{}", "actions: {}", "forbid: []", "actions: {learn: {}}"):
        assert applied(text) == PROBLEM
    assert apply_terms(PROBLEM, Terms()) == PROBLEM


@pytest.mark.parametrize(
    "written, terms",
    [
        ("chance: [0.2, 0.4]", ActionTerms(chance=Amount.between(Decimal("0.2"), Decimal("0.4")))),
        (
            "chance: {skilled: 0.5, manager: 0.1}",
            ActionTerms(chance=ByLevel("skill", {"skilled": number("0.5"), "manager": number("0.1")})),
        ),
        (
            "cost: [{when: age == senior, cost: 3}, 1]",
            ActionTerms(cost=ByCase(((LevelTest("age", "==", "senior"), number("3")),), number("1"))),
        ),
        ("cost: 0", ActionTerms(cost=number("0"))),
    ],
)
def test_terms_have_the_forms_of_the_problem(written: str, terms: ActionTerms) -> None:
    assert parse_terms(f"actions: {{learn: {{{written}}}}}", PROBLEM) == Terms({"learn": terms})


def test_files_texts_dictionaries_and_python_say_the_same(tmp_path: Path) -> None:
    expected = Terms.of(cost={"learn": 2, "diet": 1.5}, chance={"learn": 0.6}, forbid=["change job"])
    text = "actions:\n  learn: {cost: 2, chance: 0.6}\n  diet: {cost: 1.5}\nforbid: [change job]\n"
    data: dict[str, Any] = {
        "actions": {"learn": {"cost": 2, "chance": 0.6}, "diet": {"cost": Decimal("1.5")}},
        "forbid": ["change job"],
    }
    (tmp_path / "me.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "me.json").write_text(json.dumps(data, default=float), encoding="utf-8")
    assert parse_terms(text, PROBLEM) == expected
    assert parse_terms(data, PROBLEM) == expected
    assert load_terms(tmp_path / "me.yaml", PROBLEM) == expected
    assert load_terms(str(tmp_path / "me.json"), PROBLEM) == expected
    assert apply_terms(PROBLEM, expected) == applied(text)


def test_terms_in_python_are_exact_decimals() -> None:
    terms = Terms.of(cost={"learn": 0.1}, chance={"learn": Decimal("0.30")})
    assert terms.actions["learn"] == ActionTerms(number("0.1"), number("0.3"))
    assert Terms.of(forbid=["a", "b"]).forbid == ("a", "b")


@FEWER
@given(problems(), st.data())
def test_terms_that_repeat_the_problem_change_nothing_that_matters(
    document: dict[str, Any], data: st.DataObject
) -> None:
    problem = parse_problem(document)
    action = data.draw(st.sampled_from(problem.actions))
    own = ActionTerms(cost=action.cost, outcomes=action.outcomes)
    assert apply_terms(problem, Terms({action.name: own})) == problem
    without = apply_terms(problem, Terms(forbid=(action.name,)))
    assert [other.name for other in without.actions] == [a.name for a in problem.actions if a != action]


# ---------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "actions:\n  lern: {cost: 2}\nforbid: [change jobs, learn]\n",
            """
            2:3: actions.lern: the problem has no action 'lern' | did you mean 'learn'?
            3:10: forbid[0]: the problem has no action 'change jobs' | did you mean 'change job'?
            """,
        ),
        (
            "actions:\n  gamble:\n    chance: 0.6\n",
            (
                "3:13: actions.gamble.chance: 'gamble' has 3 outcomes, so one chance is not enough"
                " | give 'outcomes' with all chances"
            ),
        ),
        (
            "actions:\n  learn: {chance: -0.6, cost: -1}\n",
            """
            2:19: actions.learn.chance: -0.6 is not a chance between 0 and 1
            2:31: actions.learn.cost: the cost -1 is below 0 | costs are positive
            """,
        ),
        (
            (
                "actions:\n  gamble:\n    outcomes:\n"
                "      - {chance: {skilled: 0.5, manager: 0.4}, change: {skill: +1}}\n      - {chance: 0.5}\n"
            ),
            (
                "3:5: actions.gamble.outcomes: chances add up to 0.9, not 1 where skill is skilled"
                " | leave out the chance of one outcome: it gets the rest"
            ),
        ),
        (
            "actions:\n  learn: {outcomes: []}\n",
            "2:11: actions.learn.outcomes: the list is empty | give at least one outcome",
        ),
        (
            "actions:\n  learn: {chance: 0.5, outcomes: [{change: {skill: +1}}]}\n",
            (
                "2:19: actions.learn.chance: 'chance' and 'outcomes' are both given"
                " | put the chance into the first outcome"
            ),
        ),
        (
            "actions:\n  learn: {when: age == senior}\n",
            "2:11: actions.learn.when: 'when' is not a field here | possible: 'cost', 'chance', 'outcomes'",
        ),
        ("action: {}\n", "1:1: action: 'action' is not a field here | did you mean 'actions'?"),
        ("forbid: learn\n", "1:9: forbid: 'learn' should be a list | write [a, b, c]"),
        (
            "actions:\n  learn: {chance: {skilled: 0.5}}\n",
            "2:11: actions.learn.chance: level 'manager' of 'skill' is missing | add 'manager: ...'",
        ),
        (
            "actions:\n  learn: {cost: [{when: agee == old, cost: 1}, 2]}\n",
            "2:25: actions.learn.cost[0].when: there is no feature 'agee' | did you mean 'age'?",
        ),
        (
            "actions:\n  learn: {cost: x}\n  dite: {cost: 1}\n",
            """
            2:17: actions.learn.cost: 'x' is not a number
            3:3: actions.dite: the problem has no action 'dite' | did you mean 'diet'?
            """,
        ),
        (
            "forbid: [learn]\nactions:\n  learn: {cost: -1}\n",
            "3:17: actions.learn.cost: the cost -1 is below 0 | costs are positive",
        ),
        (
            "actions:\n  learn: {cost: 1}\n  learn: {cost: 2}\n",
            "3:3: actions.learn: 'learn' is given twice (first on line 2) | remove or rename one of the two",
        ),
    ],
)
def test_mistakes_in_a_file(text: str, said: str) -> None:
    mistakes = [line.partition(" | ") for line in whole(said).splitlines()]
    assert refused(text) == shown(text, *((cause, remedy or None) for cause, _, remedy in mistakes), file="me.yaml")


@pytest.mark.parametrize("cost", ["[]", "[1]", "[1, 2, 3, 4]", "1e400", "nan", "[9e999999, 9e999999]"])
def test_costs_that_are_none(cost: str) -> None:
    said = refused(f"actions:\n  learn: {{cost: {cost}}}\n")
    assert said.startswith("me.yaml:2:")
    assert ": actions.learn.cost" in said.splitlines()[0]


@pytest.mark.parametrize(
    "terms, said",
    [
        (Terms.of(cost={"lern": 2}), "actions.lern: the problem has no action 'lern'\n    did you mean 'learn'?"),
        (Terms.of(forbid=["dite"]), "forbid[0]: the problem has no action 'dite'\n    did you mean 'diet'?"),
        (Terms.of(cost={"learn": float("inf")}), "actions.learn.cost: Infinity is not a finite number"),
        (Terms.of(chance={"learn": -0.5}), "actions.learn.chance: -0.5 is not a chance between 0 and 1"),
        (
            Terms({"learn": ActionTerms(outcomes=(Outcome(number("0.5"), {"skill": Move(1)}),))}),
            (
                "actions.learn.outcomes: chances add up to 0.5, not 1\n"
                "    leave out the chance of one outcome: it gets the rest"
            ),
        ),
    ],
)
def test_mistakes_in_python(terms: Terms, said: str) -> None:
    with pytest.raises(TermsError) as caught:
        apply_terms(PROBLEM, terms)
    assert str(caught.value) == said


def test_a_sound_problem_with_sound_terms_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = apply_terms(PROBLEM, Terms.of(cost={"learn": 2}, forbid=["diet"]))
    looked_at: list[object] = []

    def look(features: object, _: object) -> list[Mistake]:
        looked_at.append(features)
        return []

    monkeypatch.setattr(checks, "check_features", look)
    assert (check_problem(mine), check_problem(PROBLEM), looked_at) == ([], [], [])
    longer = mine.with_horizon(3)
    assert check_problem(longer) == check_problem(longer) == []
    assert looked_at == [longer.features]


@FEWER
@given(problems(), st.data())
def test_numbers_that_are_looked_at_alone_have_the_mistakes_of_the_whole_action(
    document: dict[str, Any], data: st.DataObject
) -> None:
    problem = parse_problem(document)
    numbers = st.none() | st.sampled_from(["0", "0.4", "1", "1.5", "-1", "1e16", "NaN", "Infinity"]).map(number)
    ranges = st.sampled_from([("0.2", "0.6"), ("0.6", "0.2"), ("0", "3")])
    numbers |= ranges.map(lambda ends: Amount.between(*map(Decimal, ends)))
    own = {action.name: data.draw(st.builds(ActionTerms, cost=numbers, chance=numbers)) for action in problem.actions}
    quick = merge_terms(problem, Terms(own))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms_module, "is_sound", lambda *_: False)
        assert merge_terms(problem, Terms(own)) == quick


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TermsError) as caught:
        load_terms(tmp_path / "none.yaml", PROBLEM)
    assert str(caught.value) == f"{tmp_path / 'none.yaml'}: no such file"
    assert refused("") == "me.yaml: the file is empty"
    assert refused("- learn\n") == "me.yaml:1:1: the file must hold a mapping (name: value)\n    - learn\n    ^"
