"""Going on with a kept plan: from the file alone, after what nobody foresaw, and with a new menu."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from drawn_menus import offer_of
from lanes import scaled
from promises.plans.test_saved_plan import LOAN, OBJECTIVES, PERSON, decide, follow_everywhere, offers_for, same
from safear import SavedPlan, walk
from safear.errors import InputError, PlanError
from strategies import problems

PROBLEM = sa.parse_problem(LOAN)


@cache
def kept(objective: str = "mean", *, personal: bool = True) -> SavedPlan:
    return SavedPlan.of(offers_for(objective), personal_data=personal)


def code_of(error: pytest.ExceptionInfo[InputError]) -> str:
    [mistake] = error.value.mistakes
    return mistake.code


@pytest.mark.parametrize("personal", [True, False])
@settings(max_examples=scaled(25))
@given(document=problems(), objective=st.sampled_from(OBJECTIVES), data=st.data())
def test_the_same_next_step_as_a_walk(
    personal: bool, document: dict[str, Any], objective: Any, data: st.DataObject
) -> None:
    """In a state that may come up, whichever: what to do, what is spent, how many steps are left, and what is ahead."""
    problem = sa.parse_problem(document)
    offer = offer_of(problem, objective)
    plan, outcomes = SavedPlan.of(offer, personal_data=personal), list[int]()
    here = walk(offer, outcomes)
    while here.kind == "step":
        there = sa.resume(plan, outcomes)
        assert (there.action, there.spent, there.steps_left) == (here.action, here.spent, here.steps_left)
        assert there.ahead.points() == here.ahead.points()
        assert [ending.changes for ending in there.endings] == [ending.changes for ending in here.endings]
        assert there.person.items() <= here.person.items()
        outcomes.append(data.draw(st.sampled_from([ending.outcome for ending in here.endings])))
        here = walk(offer, outcomes)
    assert sa.resume(plan, outcomes).kind == here.kind


@pytest.mark.parametrize("outcomes", [[], ["worked"], ["failed"], ["fails", "works"], ["1", 0]])
def test_words_and_numbers(outcomes: list[int | str]) -> None:
    same(sa.resume(kept(), outcomes), walk(offers_for(), outcomes))


def test_labels() -> None:
    offer = sa.recommend(sa.load_example("loan"))["cheapest"]
    same(sa.resume(SavedPlan.of(offer), ["You lose your job"]), walk(offer, ["fails"]))


# ------------------------------------------------------------------------------------------------ what nobody foresaw


def test_a_turn_that_leads_where_an_outcome_leads_is_that_outcome() -> None:
    here = sa.resume(kept(), ["works"])
    ending = here.taken[0].ending
    there = sa.resume(kept(), turn=sa.Turn({"term": 30}, cost=ending.cost))
    assert (there.action, there.spent, there.steps_left) == (here.action, here.spent, here.steps_left)
    assert there.ahead.points() == here.ahead.points()


def test_a_number_that_was_promised_is_its_level() -> None:
    promise = kept().promises["term", "24-36"]
    there = sa.resume(kept(), turn=sa.Turn({"term": promise.low}))
    assert there.person == sa.resume(kept(), ["works"]).person
    assert there.spent == 0


@pytest.mark.parametrize(
    "now, code",
    [
        ({"term": "a week"}, "unforeseen"),
        ({"term": "24-36"}, "vague"),  # the file cannot tell whether all of the level was promised
        ({"term": 45}, "unforeseen"),
        ({"job": "good"}, "unforeseen"),
        ({"age": 60}, "unforeseen"),
        ({"terms": "24-36"}, "unknown_feature"),
    ],
)
def test_what_the_plan_does_not_know(now: dict[str, object], code: str) -> None:
    with pytest.raises(PlanError) as caught:
        sa.resume(kept(), turn=sa.Turn(now))
    assert code_of(caught) == code


def test_a_number_beside_the_promise_is_told_what_the_plan_knows() -> None:
    promise = kept().promises["term", "24-36"]
    with pytest.raises(PlanError) as caught:
        sa.resume(kept(), turn=sa.Turn({"term": 45}))
    assert "now.term: the plan does not foresee '45'; it knows" in str(caught.value)
    assert str(promise) in str(caught.value)


@pytest.mark.parametrize("cost, steps", [(-1, 1), (float("nan"), 1), (float("inf"), 1), (0, 0)])
def test_turns_that_cannot_be(cost: float, steps: int) -> None:
    with pytest.raises(InputError) as caught:
        sa.Turn({}, cost, steps)
    assert code_of(caught) == ("out_of_range" if steps else "too_few")


THRIFTY: dict[str, Any] = {
    "safear": 1,
    "title": "thrift",
    "horizon": 2,
    "features": {"a": {"kind": "ordinal", "levels": ["low", "mid", "high"]}},
    "goal": {"failure_cost": 9},
    "classifier": {"rule": "a == high"},
    "actions": {
        "prepare": {
            "when": "a == low",
            "cost": 0.2,
            "outcomes": [{"chance": 0.5, "change": {"a": "mid"}}, {"change": {"a": "mid"}, "cost": 0.4}],
        },
        "surely": {"when": "a == mid", "cost": 1, "chance": 0.9, "change": {"a": "high"}},
        "cheaply": {"when": "a == mid", "cost": 0.8, "chance": 0.5, "change": {"a": "high"}},
    },
    "people": {"one": {"a": "low"}},
}


@pytest.mark.parametrize("cost, step", [(0.2, "surely"), (0.25, "cheaply"), (0.3, "cheaply"), (0.4, "cheaply")])
@pytest.mark.parametrize("rounding", [0.0, 1e-15, -1e-15])
def test_a_cost_between_quanta_is_neither_lost_nor_told_as_another(cost: float, step: str, rounding: float) -> None:
    """The plan may cost 1.2, in quanta of 0.2: after 0.3 the sure way, which takes 1, costs too much."""
    plan = SavedPlan.of(sa.recommend(sa.parse_problem(THRIFTY), objectives="budget:1.2")[0])
    there = sa.resume(plan, turn=sa.Turn({"a": "mid"}, cost=cost + rounding))
    assert (there.action, there.spent) == (step, cost + rounding)


def test_a_turn_after_which_hope_is_lost() -> None:
    """Any plan needs two steps from the start, and one is left."""
    plan = SavedPlan.of(sa.recommend(sa.parse_problem(THRIFTY), objectives="mean")[0])
    assert sa.resume(plan, turn=sa.Turn({"a": "low"})).kind == "lost"


def test_time_that_is_lost() -> None:
    late = sa.resume(kept(), turn=sa.Turn(steps=4))
    assert (late.kind, late.steps_left) == ("out of time", 0)
    with pytest.raises(InputError) as caught:
        sa.resume(kept(), turn=sa.Turn(steps=5))
    assert code_of(caught) == "walk_ended"


# ------------------------------------------------------------------------------------------------------- a new menu


def test_at_the_start_the_new_menu_is_the_old_one() -> None:
    again = sa.replan(kept(), PROBLEM, decide)
    assert [repr(offer) for offer in again] == [repr(offer) for offer in sa.recommend(PROBLEM, decide, PERSON)]


def test_a_new_menu_has_the_steps_left_and_the_numbers_promised() -> None:
    menu = sa.replan(kept(), PROBLEM, decide, outcomes=["failed", "worked"])
    assert menu.problem.horizon == 2
    assert dict(menu.case.decision.record) == PERSON | {"term": 30} | _hidden(menu)
    plain = sa.recommend(PROBLEM.with_horizon(2), decide, menu.case.decision.record)
    assert [repr(offer) for offer in menu] == [repr(offer) for offer in plain]


def _hidden(menu: sa.Menu) -> dict[str, str]:
    return {f.name: menu.person[f.name] for f in menu.problem.features if f.hidden}


def test_tries_are_not_forgotten() -> None:
    """Two of three tries are used up: the new menu has one."""
    problem = sa.parse_problem(
        LOAN
        | {"features": LOAN["features"] | {"term": {"kind": "nominal", "levels": ["long"]}}}
        | {"actions": {"look for work": LOAN["actions"]["look for work"]}, "given": []}
    )
    offer = sa.recommend(problem, lambda frame: frame["job"] == "good", {"term": "long", "job": "none"})[0]
    menu = sa.replan(SavedPlan.of(offer), problem, lambda frame: frame["job"] == "good", outcomes=["failed", "worked"])
    assert menu[0].cost.success == pytest.approx(0.9)


def test_a_turn_brings_its_own_numbers() -> None:
    menu = sa.replan(kept(), PROBLEM, decide, turn=sa.Turn({"age": 60, "job": "some"}, cost=2, steps=2))
    assert menu.problem.horizon == 2
    assert dict(menu.case.decision.record).items() >= {"age": 60, "job": "some", "term": 40}.items()


def test_texts_of_a_turn_are_read_and_its_names_are_known() -> None:
    menu = sa.replan(kept(), PROBLEM, decide, turn=sa.Turn({"age": "60", "term": "30"}))
    assert dict(menu.case.decision.record).items() >= {"age": 60, "term": 30}.items()
    with pytest.raises(PlanError, match="did you mean 'term'") as caught:
        sa.replan(kept(), PROBLEM, decide, turn=sa.Turn({"terms": "24-36"}))
    assert code_of(caught) == "unknown_feature"


def test_no_menu_without_time_unless_there_is_more() -> None:
    late: dict[str, Any] = {"outcomes": ["failed"], "turn": sa.Turn(steps=3)}
    with pytest.raises(InputError, match="--menu --horizon") as caught:
        sa.replan(kept(), PROBLEM, decide, **late)
    assert code_of(caught) == "walk_ended"
    menu = sa.replan(kept(), PROBLEM, decide, **late, horizon=3)
    assert menu.problem.horizon == 3
    assert len(menu)


def test_what_a_turn_cost_is_told() -> None:
    told = str(sa.resume(kept(), turn=sa.Turn({"term": 30}, cost=2)))
    assert "Spent so far: 2 months." in told
    assert "Spent so far: 0 months." in str(sa.resume(kept(), turn=sa.Turn({"term": 30})))
    assert "Spent so far" not in str(sa.resume(kept()))


def test_another_problem_model_or_person_is_refused_unless_that_is_meant() -> None:
    other = sa.parse_problem(LOAN | {"horizon": 5})
    for arguments, person, code in (
        ((other, decide), None, "other_problem"),
        ((PROBLEM, lambda frame: decide(frame) & (frame["job"] != "some")), None, "other_answers"),
        ((PROBLEM, decide), PERSON | {"age": 34}, "other_person"),
    ):
        with pytest.raises(PlanError) as caught:
            sa.replan(kept(), *arguments, person=person)
        assert code_of(caught) == code
        assert len(sa.replan(kept(), *arguments, person=person, changed=True))


def test_without_personal_data_the_person_is_asked_for() -> None:
    plan = kept(personal=False)
    with pytest.raises(PlanError) as caught:
        sa.replan(plan, PROBLEM, decide)
    assert code_of(caught) == "nobody"
    for arguments, person, code in (
        ((PROBLEM, decide), PERSON | {"term": 30}, "other_person"),
        ((PROBLEM, lambda frame: frame["job"] == "good"), PERSON, "other_answers"),
        ((PROBLEM, lambda frame: frame["term"] > 0), PERSON, "other_answers"),
    ):
        with pytest.raises(PlanError) as caught:
            sa.replan(plan, *arguments, person=person)
        assert code_of(caught) == code
        assert "--changed" in str(caught.value)
    again = sa.replan(plan, PROBLEM, decide, person=PERSON | {"age": 33.0, "note": None}, outcomes=["works"])
    assert repr(again) == repr(sa.replan(kept(), PROBLEM, decide, outcomes=["works"]))


def test_own_terms_belong_to_the_problem() -> None:
    terms = sa.Terms(forbid=("look for work",))
    menu = sa.recommend(PROBLEM, decide, PERSON, terms=terms)
    offer, plan = menu[0], SavedPlan.of(menu[0])
    with pytest.raises(PlanError) as caught:
        sa.replan(plan, PROBLEM, decide)
    assert code_of(caught) == "other_problem"
    plan.require_problem(menu.problem)
    assert repr(sa.replan(plan, PROBLEM, decide, terms=terms)[0]) == repr(offer)


def test_plans_that_look_at_what_was_spent_do_so_later() -> None:
    problem = sa.parse_problem(LOAN | {"actions": LOAN["actions"] | {"pay": {"cost": 5, "change": {"term": -1}}}})
    offer = sa.recommend(problem, decide, PERSON, objectives="budget:7")[0]
    plan = SavedPlan.of(offer)
    assert plan.policy.looks_at_spent
    follow_everywhere(offer, plan, most=200)
