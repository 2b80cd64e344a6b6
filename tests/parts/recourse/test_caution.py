"""What is told besides a plan: caution, conditions, sensitivity."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from syrupy.assertion import SnapshotAssertion

import safear as sa
from doors import (
    FeatureTest,
    Glossary,
    PlanFiguresRecord,
    SensitivityRecord,
    SensitivityTeller,
    Within,
    examine_menu,
    find_caution,
    tell_condition,
)
from promises.recourse.test_sensitivity import found, problem
from safear.errors import ObjectiveError
from safear.problem import Move, Shift, parse_condition
from safear.recourse import Teller
from small_problems import guessed_loan, ladder

# ---------------- The price of caution: what a robust plan costs if the estimates are right, and saves if they are not


def offer_of(problem: sa.Problem, objective: str, *, robust: bool = True) -> sa.Offer:
    return sa.recommend(problem, objectives=objective, robust=robust, exact=True)[0]


@pytest.mark.parametrize("objective", ["mean", "cvar:0.95", "mean-cvar:0.5:0.95"])
def test_caution_costs_at_the_estimates_and_saves_in_the_worst_case(objective: str) -> None:
    offer = offer_of(guessed_loan(), objective)
    found = find_caution(offer)
    assert found is not None
    assert found.other.objective == offer.objective
    assert not found.other.solution.robust
    assert found.offer.value >= found.other.value - 1e-12  # at the nominal chances nothing is below the optimum
    record = PlanFiguresRecord.of(offer).caution
    assert record is not None
    figure = "mean" if objective == "mean" else "cvar"
    if objective != "mean-cvar:0.5:0.95":  # the worst of both at once is no figure
        assert getattr(record.nominal, figure) >= -1e-12
        assert getattr(record.worst, figure) <= 1e-12


def test_a_gamble_or_a_sure_thing(snapshot: SnapshotAssertion) -> None:
    # To try costs 3 on average at the estimate, 10 if it is off; to pay always costs 4.
    actions = {
        "try": {"cost": 1, "outcomes": [{"chance": [0.1, 0.8, 0.9], "change": {"a": "yes"}}, {"cost": 11}]},
        "pay": {"cost": 4, "change": {"a": "yes"}},
    }
    problem = ladder(actions, horizon=1, failure_cost=0, cost={"unit": "months"})
    found = find_caution(offer_of(problem, "mean"))
    assert found is not None
    assert (found.offer.first_action, found.other.first_action) == ("pay", "try")
    assert found.right.mean == pytest.approx(1)
    assert found.off.mean == pytest.approx(-6)
    assert str(found) == snapshot
    assert "Im Vergleich zu dem Plan" in found.tell(Teller.of("de"))


def test_no_price_without_caution_or_without_doubt() -> None:
    assert find_caution(offer_of(guessed_loan(), "mean", robust=False)) is None
    assert find_caution(offer_of(sa.load_example("loan"), "mean")) is None
    free = find_caution(offer_of(guessed_loan(), "mean"))
    assert str(free) == "Planned in case our estimates are off; here that makes no noticeable difference."


# ------------------------------------------------------------------------------------------------- Conditions in words


WORDS = Glossary(features={"a": {"de": "Alter"}}, levels={"a": {"low": {"de": "jung"}}})


@pytest.mark.parametrize(
    ("written", "english", "german"),
    [
        ("a == low", "a is low", "Alter ist jung"),
        ("a != low", "a is not low", "Alter ist nicht jung"),
        ("a < b", "a is below b", "Alter liegt unter b"),
        ("a >= low and b > 2", "a is at least low and b is above 2", "Alter ist mindestens jung und b liegt über 2"),
        ("a <= low", "a is at most low", "Alter ist höchstens jung"),
        ("a in [low, high]", "a is low or high", "Alter ist jung oder high"),
        (
            "not (a == low or b == 1) and b != 3",
            "it is not so that a is low or b is 1 and b is not 3",
            "es gilt nicht, dass Alter ist jung oder b ist 1 und b ist nicht 3",
        ),
        ("(a == low or b == 1) and b != 3", "(a is low or b is 1) and b is not 3", "(Alter ist jung oder b ist 1) und"),
        ("true", "always", "immer"),
        ("false", "never", "nie"),
    ],
)
def test_in_words(written: str, english: str, german: str) -> None:
    condition = parse_condition(written)
    assert tell_condition(condition, Teller.of()) == english
    assert tell_condition(condition, Teller.of("de", WORDS)).startswith(german)


def test_limits_and_features() -> None:
    assert tell_condition(Within("a", "b", Move(2)), Teller.of()) == "a is within 2 levels of what was filed"
    shift = Within("a", "b", Shift(Decimal(500), "EUR"))
    assert tell_condition(shift, Teller.of("de", WORDS)) == "Alter weicht höchstens um 500 EUR von der Angabe ab"
    assert tell_condition(FeatureTest("a", "<", "b"), Teller.of("de", WORDS)) == "Alter liegt unter b"


# ------------------------------------------------------------------ What the advice hangs on, in words and as a record


def test_names_say_which_amount_is_meant() -> None:
    names = {
        ".".join(map(str, item.path)): SensitivityTeller.of().parameter(item, problem()) for item in found().parameters
    }
    assert names == {
        "actions.take a course.cost": "cost of “take a course”",
        "actions.take a course.outcomes.0.chance.a.mid": "chance that “take a course” works (a becomes mid)",
        "actions.take a course.outcomes.0.chance.a.high": "chance that “take a course” works (a becomes high)",
        "actions.find a guarantor.cost.0.cost": "cost of “find a guarantor” (if a is low)",
        "actions.find a guarantor.cost.1": "cost of “find a guarantor” (otherwise)",
        "actions.find a guarantor.outcomes.1.cost": "cost of “find a guarantor”: they ask for a fee",
        "actions.find a guarantor.outcomes.0.chance": "chance that “find a guarantor” works",
        "actions.find a guarantor.outcomes.1.chance": "chance of “find a guarantor”: they ask for a fee",
        "goal.failure_cost": "cost of failing",
    }


def test_words_and_records_say_the_same() -> None:
    record = json.loads(SensitivityRecord.of(found()).model_dump_json())
    for told, plan in zip(record["plans"], found(), strict=True):
        assert [flip["text"] for flip in told["flips"]] == [
            line.removeprefix("- ") for line in str(plan).splitlines() if "better first step" in line
        ]
        assert [(flip["value"], flip["action"]) for flip in told["flips"]] == [
            (flip.value, flip.action) for flip in plan.flips
        ]
    intervals = {item["place"]: item["interval"] for item in record["parameters"]}
    assert intervals["actions.take a course.outcomes.0.chance.a.mid"] == [0.6, 0.95]
    assert intervals["actions.take a course.cost"] is None
    frame = found().to_frame()
    assert len(frame) == 2 * len(found().parameters)
    german = SensitivityTeller.of("de").lines(found()[0])
    assert len(german) == len(str(found()[0]).splitlines())


def test_robust_plans_are_refused() -> None:
    with pytest.raises(ObjectiveError, match="a robust plan is the best one against the worst chances"):
        examine_menu(sa.recommend(problem(), objectives="mean", robust=True))
