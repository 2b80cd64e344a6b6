"""What is said when a file's words have no meaning: the whole text, with the line and a caret under the place."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest

from problem.loan import LOAN, changed, edited, shown, told, whole
from safear.errors import ProblemError
from safear.problem import checks
from safear.problem.checks import check_problem, unused_features
from safear.problem.condition import parse_condition
from safear.problem.load import parse_problem
from safear.problem.model import Action, Feature, Goal, Move, Outcome, Problem, SetTo
from safear.problem.quantity import Amount

RULE = "rule: job == employed and skill >= skilled"
CHANGE = "change: {bmi: -1}"
CHANCE = "chance: 0.8"
COST = "cost: 1.5"
FIRST = "- {chance: 0.9, change: {job: employed}}"
BOTH = f"      {FIRST}\n      - {{chance: 0.1, change: {{job: unemployed}}, cost: 3}}\n"
SIDE_EFFECT = "{cause: skill, direction: up, change: {age: +1}}"
CONSTRAINT = "- not (job == unemployed and skill == manager)"
BASIC = "possible: 'basic', 'skilled'"
REST = "leave out the chance of one outcome: it gets the rest"


def test_the_sample_is_sound() -> None:
    assert check_problem(parse_problem(LOAN)) == []


def test_an_error_as_a_whole() -> None:
    text = edited(("skill < manager", "skill < manger"), ("{job: unemployed}", "{jobs: unemployed}"))
    assert told(text) == whole(
        """
        loan.yaml:19:11: actions.learn.when: 'manger' is not a level of 'skill'
                when: skill < manger
                      ^
            did you mean 'manager'?
        loan.yaml:24:32: actions.change job.outcomes[1].change.jobs: there is no feature 'jobs'
                  - {chance: 0.1, change: {jobs: unemployed}, cost: 3}
                                           ^
            did you mean 'job'?
        """
    )


@changed(
    (CHANGE, "change: {bni: -1}", "25:48: actions.diet.change.bni: there is no feature 'bni'", "did you mean 'bmi'?"),
    (
        CHANGE,
        "change: {weight: -1}",
        "25:48: actions.diet.change.weight: there is no feature 'weight'",
        "possible: 'age', 'skill', 'job', 'sex', 'bmi'",
    ),
    (
        "{job: unemployed}",
        "{job: unemployd}",
        "24:37: actions.change job.outcomes[1].change.job: 'unemployd' is not a level of 'job'",
        "did you mean 'unemployed'?",
    ),
    (
        CHANGE,
        "change: {bmi: low}",
        "25:53: actions.diet.change.bmi: 'low' is not a level of 'bmi'",
        "possible: '<20', '20-25', '>=25'",
    ),
    (
        CHANGE,
        "change: {sex: male}",
        "25:48: actions.diet.change.sex: 'sex' is immutable and cannot change",
        "take it out, or drop 'mutable: false'",
    ),
    (
        CHANGE,
        "change: {job: +1}",
        "25:53: actions.diet.change.job: 'job' is nominal: its levels have no order to move along",
        "name a level",
    ),
    (
        CHANGE,
        "change: {job: {by: 1}}",
        "25:48: actions.diet.change.job: 'job' is nominal: its levels have no order to move along",
        "name a level",
    ),
    (CHANGE, "change: {bmi: +0}", "25:53: actions.diet.change.bmi: a move by 0 changes nothing", "write +1, -1, ..."),
    (
        CHANGE,
        "change: {bmi: {by: 0}}",
        "25:48: actions.diet.change.bmi: a move by 0 changes nothing",
        "write +1, -1, ...",
    ),
    (
        CHANGE,
        "change: {age: +1}",
        "25:3: actions.diet: changes only 'age', which cannot be acted on",
        "drop 'actionable: false' there",
    ),
    (CHANGE, "change: {}", "25:3: actions.diet: no outcome changes anything", "give a 'change'"),
    (f", {CHANGE}", "", "25:3: actions.diet: no outcome changes anything", "give a 'change'"),
    (
        f"    outcomes:\n{BOTH}",
        "    outcomes: [{change: {age: +1}}]\n",
        "20:3: actions.change job: changes only 'age', which cannot be acted on",
        "drop 'actionable: false' there",
    ),
    (f"    outcomes:\n{BOTH}", "", "20:3: actions.change job: no outcome changes anything", "give a 'change'"),
    (
        f"    outcomes:\n{BOTH}",
        "    outcomes: []\n",
        "22:5: actions.change job.outcomes: the list is empty",
        "give at least one outcome",
    ),
)
def test_changes(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


@changed(
    (
        CHANCE,
        "chance: 80",
        "17:13: actions.learn.chance: 80 is not a chance between 0 and 1",
        "write 0.8 for 80 per cent",
    ),
    (CHANCE, "chance: -0.1", "17:13: actions.learn.chance: -0.1 is not a chance between 0 and 1", None),
    (CHANCE, "chance: 101", "17:13: actions.learn.chance: 101 is not a chance between 0 and 1", None),
    (CHANCE, "chance: [0.9, 0.7]", "17:5: actions.learn.chance: [0.9, 0.7] is not in order", "write [low, high]"),
    (
        CHANCE,
        "chance: [-0.5, 0.5]",
        "17:5: actions.learn.chance: -0.5 is not a chance between 0 and 1",
        None,
    ),
    (COST, "cost: -1.5", "16:11: actions.learn.cost: the cost -1.5 is below 0", "costs are positive"),
    (COST, "cost: -1e-400", "16:11: actions.learn.cost: the cost -1E-400 is below 0", "costs are positive"),
    (
        "cost: 3}",
        "cost: -3}",
        "24:56: actions.change job.outcomes[1].cost: the cost -3 is below 0",
        "costs are positive",
    ),
    (
        CHANCE,
        "chance: {skilled: 0.8}",
        "17:5: actions.learn.chance: level 'manager' of 'skill' is missing",
        "add 'manager: ...'",
    ),
    (
        CHANCE,
        "chance: {skilled: 0.8, manger: 0.5}",
        "17:28: actions.learn.chance.manger: 'manger' is not a level of 'skill'",
        "did you mean 'manager'?",
    ),
    (
        CHANCE,
        "chance: {job: {employed: 0.8}}",
        "17:14: actions.learn.chance.job: this outcome does not change 'job'",
        "possible: 'skill', 'age'",
    ),
    (
        CHANCE,
        "chance: [{when: age == old, chance: 0.5}, 0.7]",
        "17:21: actions.learn.chance[0].when: 'old' is not a level of 'age'",
        "possible: 'young', 'adult', 'senior'",
    ),
)
def test_chances_and_costs(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


@changed(
    (
        CHANCE,
        "chance: {skill: {skilled: 0.8, manger: 0.5}}",
        "17:36: actions.learn.chance.skill.manger: 'manger' is not a level of 'skill'",
        "did you mean 'manager'?",
    ),
    (
        CHANCE,
        "chance: {skilled: 0.8, manager: -1.5}",
        "17:37: actions.learn.chance.manager: -1.5 is not a chance between 0 and 1",
        None,
    ),
    (
        CHANCE,
        "chance: {skill: {skilled: 0.8, manager: -1.5}}",
        "17:45: actions.learn.chance.skill.manager: -1.5 is not a chance between 0 and 1",
        None,
    ),
    (
        CHANCE,
        "chance:\n      - {when: age == senior, chance: -1.5}\n      - 0.8",
        "18:39: actions.learn.chance[0].chance: -1.5 is not a chance between 0 and 1",
        None,
    ),
    (
        CHANCE,
        "chance:\n      - {when: age == senior, chance: 0.5}\n      - -1.5",
        "19:9: actions.learn.chance[1]: -1.5 is not a chance between 0 and 1",
        None,
    ),
    (
        COST,
        "cost: {skilled: 1, manager: -3}",
        "16:33: actions.learn.cost.manager: the cost -3 is below 0",
        "costs are positive",
    ),
)
def test_the_guilty_entry_of_a_table_is_shown(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


@pytest.mark.parametrize("interval", ["[0.7, 0.6, 0.9]", "[0.5, 0.7, 0.5]", "[0.9, 0.85, 0.7]"])
def test_intervals_of_three_are_in_order(interval: str) -> None:
    said = told(edited((CHANCE, f"chance: {interval}")))
    assert said.startswith(f"loan.yaml:17:5: actions.learn.chance: {interval} is not in order\n")


@changed(
    (FIRST, FIRST.replace("0.9", "0.8"), "22:5: actions.change job.outcomes: chances add up to 0.9, not 1", REST),
    (FIRST, FIRST.replace("0.9", "0.95"), "22:5: actions.change job.outcomes: chances add up to 1.05, not 1", REST),
    (
        FIRST,
        FIRST.replace("0.9", "[0.7, 0.8]"),
        "22:5: actions.change job.outcomes: chances add up to 0.85, not 1",
        REST,
    ),
    (
        BOTH,
        BOTH.replace("0.1", "0.2") + "      - {change: {skill: -1}}\n",
        "22:5: actions.change job.outcomes: chances add up to 1.1, more than 1",
        None,
    ),
    (
        FIRST,
        "- {chance: {skilled: 0.9, manager: 0.7}, change: {skill: +1}}",
        "22:5: actions.change job.outcomes: chances add up to 0.8, not 1 where skill is skilled",
        REST,
    ),
    (
        FIRST,
        "- {chance: {skill: {basic: 0.9, skilled: 0.95}}, change: {skill: -1}}",
        "22:5: actions.change job.outcomes: chances add up to 1.05, not 1 where skill is manager",
        REST,
    ),
    (
        FIRST,
        "- {chance: [{when: age == senior, chance: 0.5}, 0.9], change: {job: employed}}",
        "22:5: actions.change job.outcomes: chances add up to 0.6, not 1 where age is senior",
        REST,
    ),
    (
        FIRST,
        "- {chance: [{when: age == senior and bmi >= 25, chance: 0.5}, 0.9], change: {job: employed}}",
        "22:5: actions.change job.outcomes: chances add up to 0.6, not 1 where age is senior, bmi is >=25",
        REST,
    ),
    (
        BOTH,
        "      - {chance: {skilled: 0.9, manager: 1}, change: {skill: +1}}\n      - {chance: 0.1}\n      - {}\n",
        "22:5: actions.change job.outcomes: chances add up to 1.1, more than 1 where skill is skilled",
        None,
    ),
    (
        f"    outcomes:\n{BOTH}",
        "    outcomes: [{change: {skill: +1}}, {chance: 0.2}, {}]\n",
        "22:54: actions.change job.outcomes[2].chance: two outcomes have no chance",
        "leave it out of one at most: that one gets the rest",
    ),
)
def test_sums_of_chances(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


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


def test_too_many_combinations_are_left_to_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    depends = "- {chance: [{when: age == senior and bmi >= 25, chance: 0.5}, 0.9], change: {job: employed}}"
    monkeypatch.setattr(checks, "MAX_COMBINATIONS", 8)
    assert check_problem(parse_problem(edited((FIRST, depends)))) == []
    monkeypatch.setattr(checks, "MAX_COMBINATIONS", 9)
    with pytest.raises(ProblemError, match=r"add up to 0\.6, not 1 where age is senior, bmi is >=25"):
        parse_problem(edited((FIRST, depends)))


@changed(
    *(
        (RULE, f"rule: {rule}", f"13:{column}: classifier.rule: {cause}", remedy)
        for rule, column, cause, remedy in [
            ("job = employed", 13, "unexpected '='", "write '==' to compare"),
            ("job == employed and", 28, "expected a feature, found the end", None),
            ("(job == employed", 25, "expected ')', found the end", None),
            ("job", 12, "expected a comparison ('==', '<', 'in', ...), found the end", None),
            ("job in [employed,]", 26, "expected a level, found ']'", None),
            ("job == 'employed", 16, "unexpected '''", "the quote is never closed"),
            ('"job == \'employed"', 17, "unexpected '''", "the quote is never closed"),
            ("job == employed & skill == basic", 25, "unexpected '&'", "write 'and'"),
            ("job == €", 16, "unexpected '€'", "put names with such characters in quotes"),
            ("job < employed", 9, "'job' is nominal: '<' has no meaning", "use == or in [...]"),
            (
                "employed == job",
                9,
                "there is no feature 'employed'",
                "write the feature on the left and its level on the right",
            ),
            (
                "skill == basic and (job == employed or skil == basic)",
                48,
                "there is no feature 'skil'",
                "did you mean 'skill'?",
            ),
            (
                "skill == basic and job in [employed, fired]",
                28,
                "'fired' is not a level of 'job'",
                "possible: 'employed', 'unemployed'",
            ),
            (
                "bmi < 22",
                9,
                "'22' is not a level of 'bmi'",
                "possible: '<20', '20-25', '>=25'; or compare with an edge (20, 25) using < and >=",
            ),
            (
                "bmi <= 25",
                9,
                "'25' is not a level of 'bmi'",
                "possible: '<20', '20-25', '>=25'; or compare with an edge (20, 25) using < and >=",
            ),
            ("bmi < 25", 9, "the classifier does not see 'bmi'", "drop 'seen_by_classifier: false' there"),
            (
                "false",
                9,
                "no state is favourable: nobody can reach the goal",
                "check the rule for a contradiction",
            ),
            (
                "job == employed and (job == unemployed or skill < basic)",
                9,
                "no state is favourable: nobody can reach the goal",
                "check the rule for a contradiction",
            ),
        ]
    ),
    (
        "skill < manager",
        "skil < manager",
        "19:11: actions.learn.when: there is no feature 'skil'",
        "did you mean 'skill'?",
    ),
    ("skill < manager", "skill <", "19:18: actions.learn.when: expected a level, found the end", None),
    (
        CONSTRAINT,
        "- not (job == unemployed and skill == boss)",
        "29:32: constraints[0]: 'boss' is not a level of 'skill'",
        "possible: 'basic', 'skilled', 'manager'",
    ),
    (
        CONSTRAINT,
        "- skill == basic\n  - not job == unemployed and skill = manager",
        "30:37: constraints[1]: unexpected '='",
        "write '==' to compare",
    ),
)
def test_conditions(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


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


@changed(
    *(
        (SIDE_EFFECT, new, mistake, remedy)
        for new, mistake, remedy in [
            (
                "{cause: skil, change: {age: +1}}",
                "27:13: side_effects[0].cause: there is no feature 'skil'",
                "did you mean 'skill'?",
            ),
            (
                "{cause: sex, change: {age: +1}}",
                "27:13: side_effects[0].cause: 'sex' is immutable, so it has no side effects",
                None,
            ),
            (
                "{cause: skill, change: {agee: +1}}",
                "27:29: side_effects[0].change.agee: there is no feature 'agee'",
                "did you mean 'age'?",
            ),
            (
                "{cause: skill, change: {sex: male}}",
                "27:29: side_effects[0].change.sex: 'sex' is immutable and cannot change",
                "take it out, or drop 'mutable: false'",
            ),
            (
                "{cause: skill, change: {age: old}}",
                "27:34: side_effects[0].change.age: 'old' is not a level of 'age'",
                "possible: 'young', 'adult', 'senior'",
            ),
            (
                "{cause: skill, change: {age: +1}, when: age > old}",
                "27:45: side_effects[0].when: 'old' is not a level of 'age'",
                "possible: 'young', 'adult', 'senior'",
            ),
            (
                "{cause: skill, change: {age: +1}, when: age >}",
                "27:50: side_effects[0].when: expected a level, found the end",
                None,
            ),
            (
                "{cause: skill, change: {skill: +1}}",
                "27:5: side_effects[0]: side effects go round in a circle: skill -> skill",
                "take one of them out",
            ),
            (
                "{cause: skill, change: {age: +1}}\n  - {cause: age, change: {skill: +1}}",
                "28:5: side_effects[1]: side effects go round in a circle: skill -> age -> skill",
                "take one of them out",
            ),
        ]
    )
)
def test_side_effects(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


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


@changed(
    ("sex: female, bmi", "bmi", "31:3: people.ann.sex: 'sex' is missing", "one of: female, male"),
    (
        "bmi: 22.5}",
        "bmi: 22.5, height: 3}",
        "31:74: people.ann.height: there is no feature 'height'",
        "possible: 'age', 'skill', 'job', 'sex', 'bmi'",
    ),
    ("sex: female", "sex: femal", "31:55: people.ann.sex: 'femal' is not a level of 'sex'", "did you mean 'female'?"),
    (
        "bmi: 22.5",
        "bmi: heavy",
        "31:68: people.ann.bmi: 'heavy' is neither a number nor a level of 'bmi'",
        "possible: '<20', '20-25', '>=25'",
    ),
    (
        "bmi: 22.5",
        "bmi: nan",
        "31:68: people.ann.bmi: 'nan' is neither a number nor a level of 'bmi'",
        "possible: '<20', '20-25', '>=25'",
    ),
    (
        "skill: basic, job: employed",
        "skill: manager, job: unemployed",
        "31:3: people.ann: breaks the constraint 'not (job == unemployed and skill == manager)'",
        None,
    ),
)
def test_people(old: str, new: str, mistake: str, remedy: str | None) -> None:
    text = edited((old, new))
    assert told(text) == shown(text, (mistake, remedy))


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


def test_a_sound_problem_made_in_python() -> None:
    assert check_problem(made()) == []


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
    assert unused_features(problem) == {}
    extra = replace(problem, features=(*problem.features, Feature("town", "nominal", ("a", "b"))))
    assert unused_features(extra) == {
        "town": "is mutable, but no action changes it; say 'mutable: false' for a smaller state space"
    }
