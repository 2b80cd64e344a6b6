"""Short forms are spelled out, moves told from levels, and what cannot be understood is said."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from doors import ALWAYS, Counts, LevelTest, Membership, Not, default_levels
from mistakes import LOAN, edited, shown, told
from safear.problem import (
    Action,
    Amount,
    ByCase,
    ByLevel,
    Move,
    Outcome,
    SetTo,
    check_problem,
    parse_problem,
    parse_terms,
)

CHANGE = "change: {bmi: -1}"
CHANCE = "chance: 0.8"
COST = "cost: 1.5"
SECOND = "- {chance: 0.1, change: {job: unemployed}, cost: 3}"


def action(name: str, *edits: tuple[str, str]) -> Action:
    return parse_problem(edited(*edits)).action_by_name[name]


def number(text: str) -> Amount:
    return Amount.exactly(text)


def sourced(text: str, source: str) -> Amount:
    return replace(number(text), source=source)


# ---------------------------------------------------------------------------------------------------------- outcomes


@pytest.mark.parametrize(
    "short, long",
    [
        (
            "{cost: 2, chance: 0.8, change: {bmi: -1}}",
            "{cost: 2, outcomes: [{chance: 0.8, change: {bmi: -1}}, {}]}",
        ),
        ("{cost: 2, change: {bmi: -1}}", "{cost: 2, outcomes: [{chance: 1, change: {bmi: -1}}]}"),
        ("{cost: 2, chance: 1, change: {bmi: -1}}", "{cost: 2, outcomes: [{chance: 1.0, change: {bmi: -1}}]}"),
        (
            "{cost: 2, chance: [0.7, 1], change: {bmi: -1}}",
            "{cost: 2, outcomes: [{chance: [0.7, 0.85, 1], change: {bmi: -1}}, {}]}",
        ),
        (
            "{cost: 2, chance: 0, change: {bmi: -1}, when: bmi >= 20}",
            "{cost: 2, when: bmi >= 20, outcomes: [{chance: 0, change: {bmi: {by: -1}}}, {}]}",
        ),
        (
            "{cost: {'<20': 1, 20-25: 2}, chance: 0.5, change: {bmi: -1}}",
            "{cost: {bmi: {'<20': 1, 20-25: 2}}, outcomes: [{chance: 0.5, change: {bmi: -1}}, {}]}",
        ),
    ],
)
def test_the_short_form_says_the_same_as_the_long_one(short: str, long: str) -> None:
    old = "{cost: 2, chance: [0.7, 0.9], change: {bmi: -1}}"
    assert parse_problem(edited((old, short))) == parse_problem(edited((old, long)))


def test_what_is_left_out_has_its_default() -> None:
    built = action("diet", (", chance: [0.7, 0.9]", ""))
    assert built == Action("diet", number("2"), (Outcome(number("1"), {"bmi": Move(-1)}),))
    assert built.when == ALWAYS
    assert built.outcomes[0].works is None


def test_an_outcome_as_it_is_written() -> None:
    second = "- {change: {job: unemployed}, cost: 3, label: you lose the job, works: yes}"
    assert action("change job", (SECOND, second)).outcomes[1] == Outcome(
        None, {"job": SetTo("unemployed")}, number("3"), "you lose the job", works=True
    )


# ----------------------------------------------------------------------------------------------------------- changes


@pytest.mark.parametrize(
    "written, effect",
    [
        ("+1", Move(1)),
        ("-2", Move(-2)),
        ("+002", Move(2)),
        ("'+1'", Move(1)),
        ("{by: 1}", Move(1)),
        ("{by: +1}", Move(1)),
        ("{by: -2}", Move(-2)),
        ("basic", SetTo("basic")),
        ("{to: basic}", SetTo("basic")),
    ],
)
def test_moves_and_levels(written: str, effect: Move | SetTo) -> None:
    assert action("diet", (CHANGE, f"change: {{skill: {written}}}")).outcomes[0].change == {"skill": effect}


@pytest.mark.parametrize("level", ["+1", "-1", "1", "0", "null", "~", "no", "true", "007", "1.0", "Little (Res)"])
def test_levels_of_a_nominal_feature_are_names(level: str) -> None:
    text = edited(
        ("levels: [female, male], mutable: false", f"levels: [female, male, {level}]"),
        (CHANGE, f"change: {{sex: {level}}}"),
    )
    assert parse_problem(text).action_by_name["diet"].outcomes[0].change == {"sex": SetTo(level)}


SIGNED = [
    ("levels: [basic, skilled, manager]", "levels: [-1, 0, +1]"),
    ("skill >= skilled", "skill >= 0"),
    ("skill < manager", "skill < +1"),
    ("skill == manager", "skill == +1"),
    ("skill: basic", "skill: -1"),
]


def test_a_level_that_looks_like_a_move_is_not_guessed_at() -> None:
    text = edited(*SIGNED)
    assert told(text) == shown(
        text,
        (
            "18:21: actions.learn.change.skill: '+1' is both a move and a level of 'skill'",
            'write {by: 1} for the move or {to: "+1"} for the level',
        ),
    )


@pytest.mark.parametrize(
    "written, effect",
    [
        ('{to: "+1"}', SetTo("+1")),
        ("{to: +1}", SetTo("+1")),
        ("{by: 1}", Move(1)),
        ("+2", Move(2)),
        ("0", SetTo("0")),
    ],
)
def test_a_level_that_looks_like_a_move_can_be_named(written: str, effect: Move | SetTo) -> None:
    text = edited(*SIGNED, ("change: {skill: +1, age: +1}", f"change: {{skill: {written}}}"))
    assert parse_problem(text).action_by_name["learn"].outcomes[0].change == {"skill": effect}


# ------------------------------------------------------------------------------------------------- chances and costs


@pytest.mark.parametrize(
    "written, chance",
    [
        ("0.8", number("0.8")),
        ("'0.8'", number("0.8")),
        (".8", number("0.8")),
        ("8e-1", number("0.8")),
        ("1e-400", number("1e-400")),
        ("[0.7, 0.9]", Amount(Decimal("0.8"), Decimal("0.7"), Decimal("0.9"))),
        ("[0.7, 0.85, 0.9]", Amount(Decimal("0.85"), Decimal("0.7"), Decimal("0.9"))),
        ("{skilled: 0.8, manager: 0.7}", ByLevel("skill", {"skilled": number("0.8"), "manager": number("0.7")})),
        (
            "{skill: {skilled: 0.8, manager: [0, 1]}}",
            ByLevel("skill", {"skilled": number("0.8"), "manager": Amount.between(Decimal(0), Decimal(1))}),
        ),
        ("{adult: 0.8, senior: 0.7}", ByLevel("age", {"adult": number("0.8"), "senior": number("0.7")})),
        (
            "[{when: age == senior, chance: 0.5}, {when: 'skill not in [basic]', chance: [0.1, 0.3]}, 0.7]",
            ByCase(
                (
                    (LevelTest("age", "==", "senior"), number("0.5")),
                    (Not(Membership("skill", ("basic",))), Amount.between(Decimal("0.1"), Decimal("0.3"))),
                ),
                number("0.7"),
            ),
        ),
        (
            "[{when: true, chance: 0.5}, [0.1, 0.3]]",
            ByCase(((ALWAYS, number("0.5")),), Amount.between(Decimal("0.1"), Decimal("0.3"))),
        ),
    ],
)
def test_forms_of_a_chance(written: str, chance: object) -> None:
    assert action("learn", (CHANCE, f"chance: {written}")).outcomes[0].chance == chance


@pytest.mark.parametrize(
    "written, cost",
    [
        ("2", number("2")),
        ("1E-400", number("1e-400")),
        ("0.123456789012345678901234567890123", number("0.123456789012345678901234567890123")),
        ("{skilled: 1, manager: 3}", ByLevel("skill", {"skilled": number("1"), "manager": number("3")})),
        ("{skill: {skilled: 1, manager: 3}}", ByLevel("skill", {"skilled": number("1"), "manager": number("3")})),
        (
            "[{when: age == senior, cost: 2}, 1]",
            ByCase(((LevelTest("age", "==", "senior"), number("2")),), number("1")),
        ),
    ],
)
def test_forms_of_a_cost(written: str, cost: object) -> None:
    assert action("learn", (COST, f"cost: {written}")).cost == cost


@pytest.mark.parametrize(
    "written, chance",
    [
        ("{value: 0.8, source: guess}", sourced("0.8", "guess")),
        ("{source: 2024, value: [0.7, 0.9]}", Amount(Decimal("0.8"), Decimal("0.7"), Decimal("0.9"), "2024")),
        ("{worked: 31, tried: 40}", Amount.counted(Counts(31, 40))),
        ("{worked: 31, tried: 40, source: survey}", Amount.counted(Counts(31, 40), source="survey")),
        (
            "{value: {skilled: 0.8, manager: {value: 0.7, source: expert}}, source: guess}",
            ByLevel("skill", {"skilled": sourced("0.8", "guess"), "manager": sourced("0.7", "expert")}),
        ),
        (
            "{value: {skill: {skilled: {worked: 3, tried: 4}, manager: 0.7}}, source: guess}",
            ByLevel("skill", {"skilled": Amount.counted(Counts(3, 4)), "manager": sourced("0.7", "guess")}),
        ),
        (
            "[{when: age == senior, worked: 3, tried: 4}, {when: age == adult, chance: 0.8, source: expert}, 0.7]",
            ByCase(
                (
                    (LevelTest("age", "==", "senior"), Amount.counted(Counts(3, 4))),
                    (LevelTest("age", "==", "adult"), sourced("0.8", "expert")),
                ),
                number("0.7"),
            ),
        ),
        (
            "{value: [{when: age == senior, chance: 0.5, source: expert}, {worked: 0, tried: 2}], source: guess}",
            ByCase(((LevelTest("age", "==", "senior"), sourced("0.5", "expert")),), Amount.counted(Counts(0, 2))),
        ),
    ],
)
def test_where_a_chance_comes_from(written: str, chance: object) -> None:
    assert action("learn", (CHANCE, f"chance: {written}")).outcomes[0].chance == chance


@pytest.mark.parametrize(
    "written, cost",
    [
        ("{value: 2, source: guess}", sourced("2", "guess")),
        (
            "{skilled: {value: 1, source: expert}, manager: 3}",
            ByLevel("skill", {"skilled": sourced("1", "expert"), "manager": number("3")}),
        ),
        (
            "{value: [{when: age == senior, cost: 2, source: expert}, 1], source: guess}",
            ByCase(((LevelTest("age", "==", "senior"), sourced("2", "expert")),), sourced("1", "guess")),
        ),
    ],
)
def test_where_a_cost_comes_from(written: str, cost: object) -> None:
    assert action("learn", (COST, f"cost: {written}")).cost == cost


def test_what_is_certain_has_one_outcome_whatever_its_source() -> None:
    assert len(action("learn", (CHANCE, "chance: {value: 1, source: expert}")).outcomes) == 1
    assert len(action("learn", (CHANCE, "chance: {worked: 4, tried: 4}")).outcomes) == 2


def test_counts_are_read_at_the_confidence_of_the_problem() -> None:
    text = edited((CHANCE, "chance: {worked: 31, tried: 40}"), ("horizon: 12", "horizon: 12\nconfidence: 0.8"))
    problem = parse_problem(text)
    own = parse_terms("actions: {diet: {chance: {worked: 1, tried: 2}}}", problem)
    assert problem.confidence == 0.8
    assert problem.action_by_name["learn"].outcomes[0].chance == Amount.counted(Counts(31, 40), confidence=0.8)
    assert own.actions["diet"].chance == Amount.counted(Counts(1, 2), confidence=0.8)


@pytest.mark.parametrize("words", [("value", "source"), ("worked", "tried")])
def test_levels_called_as_fields_are_not_guessed_at(words: tuple[str, str]) -> None:
    """The levels of `skill` that can be reached have these names; a table of them cannot be told from a number."""
    names = [
        ("levels: [basic, skilled, manager]", f"levels: [basic, {words[0]}, {words[1]}]"),
        ("skill >= skilled", f"skill >= {words[0]}"),
        ("skill < manager", f"skill < {words[1]}"),
        ("skill == manager", f"skill == {words[1]}"),
    ]
    text = edited(*names, (CHANCE, f"chance: {{{words[0]}: 1, {words[1]}: 1}}"))
    cause = f"17:5: actions.learn.chance: '{words[0]}' and '{words[1]}' are fields here and levels of 'skill'"
    assert told(text) == shown(text, (cause, "rename one of the levels"))
    problem = parse_problem(edited(*names))
    table = ByLevel("skill", dict.fromkeys(words, number("0.5")))
    built = replace(problem.actions[0], outcomes=(Outcome(table, {"skill": Move(1)}), Outcome()))
    found = check_problem(replace(problem, actions=(built, *problem.actions[1:])))
    assert [(item.code, item.remedy) for item in found] == [("ambiguous", "rename one of the levels")]


def test_a_cost_by_level_looks_at_the_first_outcome() -> None:
    built = action("change job", ("    cost: 1\n", "    cost: {employed: 2}\n"))
    assert built.cost == ByLevel("job", {"employed": number("2")})
    of_its_own = action("change job", ("cost: 3}", "cost: {unemployed: 3}}"))
    assert of_its_own.outcomes[1].cost == ByLevel("job", {"unemployed": number("3")})


def test_levels_that_two_changed_features_share_must_name_the_feature() -> None:
    shared = [("levels: [young, adult, senior]", "levels: [basic, skilled, manager]"), ("age: young", "age: basic")]
    text = edited(*shared, (CHANCE, "chance: {skilled: 0.8, manager: 0.7}"))
    assert told(text) == shown(
        text,
        (
            "17:5: actions.learn.chance: these could be levels of 'skill' and 'age'",
            "name the feature: {skill: {...}}",
        ),
    )
    built = action("learn", *shared, (CHANCE, "chance: {age: {skilled: 0.8, manager: 0.7}}"))
    assert built.outcomes[0].chance == ByLevel("age", {"skilled": number("0.8"), "manager": number("0.7")})


# ---------------------------------------------------------------------------------------------------- default levels


@pytest.mark.parametrize(
    "edges, closed, levels",
    [
        (["20", "25"], "left", ("<20", "20-25", ">=25")),
        (["20", "25"], "right", ("<=20", "20-25", ">25")),
        (["0"], "left", ("<0", ">=0")),
        (["-5", "-2.5"], "left", ("<-5", "-5--2.5", ">=-2.5")),
        (["1e3", "1e-3"], "left", ("<1000", "1000-0.001", ">=0.001")),
        ([], "left", ()),
    ],
)
def test_levels_are_named_after_their_edges(edges: list[str], closed: str, levels: tuple[str, ...]) -> None:
    assert default_levels(map(Decimal, edges), closed) == levels


def test_names_of_levels_can_be_given() -> None:
    text = edited(
        ("edges: [20, 25]", "edges: [20, 25], levels: [thin, normal, fat], closed: right, values: [18, 22.5, heavy]")
    )
    feature = parse_problem(text).feature_by_name["bmi"]
    assert feature.levels == ("thin", "normal", "fat")
    assert (feature.edges, feature.closed) == ((Decimal(20), Decimal(25)), "right")
    assert feature.values == (18.0, 22.5, "heavy")


def test_an_immutable_feature_is_not_actionable() -> None:
    feature = parse_problem(LOAN).feature_by_name["sex"]
    assert (feature.mutable, feature.actionable, feature.seen_by_classifier) == (False, False, True)


# ---------------------------------------------------------------------------------------------------------- mistakes


def test_each_misplaced_case_is_said() -> None:
    text = edited((COST, "cost: [1, {when: age == senior, cost: 2}]"))
    assert told(text) == shown(
        text,
        ("16:12: actions.learn.cost[0]: only the last case can do without 'when'", None),
        (
            "16:15: actions.learn.cost[1]: the last case has a condition",
            "end the list with the cost for all other cases, without 'when'",
        ),
    )


@pytest.mark.parametrize("written", ["[]", "[1]", "[1, 2, 3]", "[1, 2, 3, 4]"])
def test_a_cost_is_no_list_of_numbers(written: str) -> None:
    said = told(edited((COST, f"cost: {written}")))
    assert said.startswith("loan.yaml:16:5: actions.learn.cost: ")
    assert said.count("loan.yaml:") == 1
