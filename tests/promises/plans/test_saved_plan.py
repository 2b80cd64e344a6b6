"""Plans that are saved and loaded: the same plan, in every situation, without the model and without the problem."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import safear as sa
from drawn_menus import offer_of
from kept_plans import same_everywhere
from lanes import scaled
from safear import Offer, SavedPlan, walk
from safear.errors import PlanError
from small_problems import TERM
from strategies import problems

OBJECTIVES = [sa.Mean(), sa.CVaR(0.8), sa.Budget(3), sa.MeanStd(1.0), sa.SuccessFirst()]
LOAN: dict[str, Any] = {
    "safear": 1,
    "title": "a loan",
    "horizon": 4,
    "cost": {"unit": "months"},
    "features": {"term": TERM, "job": {"kind": "ordinal", "levels": ["none", "some", "good"]}},
    "actions": {
        "shorten": {"cost": 1, "chance": 0.8, "change": {"term": -1}},
        "look for work": {"cost": 1.5, "chance": 0.9, "change": {"job": "+1"}, "at_most": 3},
    },
    "goal": {"failure_cost": 20},
    "given": ["age"],
}
PERSON = {"term": 40, "job": "none", "age": 33, "name": "Ms Weber"}


def decide(frame: Any) -> Any:
    """Accepts a short loan, or a long one with a good job; older people a little less."""
    return frame["term"] + frame["age"] / 10 - 12 * (frame["job"] == "good") <= 21


def offers_for(objective: str = "mean") -> Offer:
    return sa.recommend(sa.parse_problem(LOAN), decide, PERSON, objectives=objective)[0]


def same(one: Any, other: Any) -> None:
    """Alike in all that is told, to the last bit."""
    for name in ("kind", "person", "changes", "steps_left", "spent", "action", "endings", "taken", "unit", "goal"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.ahead.points() == other.ahead.points()
    assert str(one) == str(other)


def follow_everywhere(plan: Offer | SavedPlan, kept: Offer | SavedPlan, most: int = 40) -> None:
    """Both plans side by side in every history, the first `most` of them."""
    ways: list[list[int]] = [[]]
    for outcomes in ways:
        here = walk(plan, outcomes)
        same(here, walk(kept, outcomes))
        ways += [[*outcomes, ending.outcome] for ending in here.endings][: max(most - len(ways), 0)]


@pytest.mark.parametrize("name", ["loan", "health-insurance"])
def test_every_plan_of_a_frontier_in_every_situation(name: str) -> None:
    menu = sa.recommend(sa.load_example(name))
    assert sum(same_everywhere(offer, SavedPlan.of(offer)) for offer in menu.frontier) > 100
    assert any(offer.policy.looks_at_spent for offer in menu.frontier)


@settings(max_examples=scaled(40))
@given(problems(), st.sampled_from(OBJECTIVES), st.booleans())
def test_a_kept_plan_goes_on_as_the_plan_itself(document: dict[str, Any], objective: Any, personal: bool) -> None:
    problem = sa.parse_problem(document)
    offer = offer_of(problem, objective)
    kept = SavedPlan.of(offer, personal_data=personal)
    assert kept.text == SavedPlan.of(offer, personal_data=personal).text == SavedPlan.read(kept.text).text
    assert kept.first_action == offer.first_action
    assert kept.cost.points() == offer.cost.points()
    assert kept.objectives == offer.objectives
    assert kept.figures.success == pytest.approx(offer.cost.success)
    assert kept.form.problem.stop == offer.policy.mdp.stops
    steps = tuple(replace(step, reason=None) for step in offer.plan.steps)  # a reason looks at steps not taken
    assert str(kept.plan) == str(replace(offer.plan, steps=steps))
    kept.require_problem(problem)
    if personal:
        same_everywhere(offer, kept)
        follow_everywhere(offer, kept)


def test_what_another_step_might_do_gives_no_hope_to_this_plan() -> None:
    """A saved plan does not hold that step, and yet says the same."""
    actions = {
        "wait": {"cost": 0.5, "change": {"job": "+1"}, "when": "job == none"},
        "shorten": {"cost": 1, "chance": [0, 0.01], "change": {"term": -3}},
    }
    problem = sa.parse_problem(LOAN | {"actions": actions, "horizon": 1, "goal": {"failure_cost": 0}})
    offer = sa.recommend(problem, decide, PERSON | {"term": 25}, objectives="mean")[0]
    assert offer.first_action == "wait"
    assert "no longer leads" in str(walk(offer))
    follow_everywhere(offer, SavedPlan.of(offer))


@pytest.mark.parametrize("objective", ["mean", "cvar:0.95", "budget:4"])
def test_promises_are_kept(objective: str, tmp_path: Path) -> None:
    offer = offers_for(objective)
    kept = sa.save_plan(offer, tmp_path / "plan.json", seed=7)
    again = sa.load_plan(tmp_path / "plan.json", sa.parse_problem(LOAN))
    assert again.text == kept.text == (tmp_path / "plan.json").read_text(encoding="utf-8")
    assert again.form.seed == 7
    assert again.record == PERSON
    assert again.promises.items() <= offer.promises.items()
    follow_everywhere(offer, again)


def test_the_same_question_gives_the_same_bytes() -> None:
    other = {name: PERSON[name] for name in reversed(PERSON)}
    again = sa.recommend(sa.parse_problem(LOAN), decide, other, objectives="mean")[0]
    assert SavedPlan.of(offers_for()).text == SavedPlan.of(again).text


def test_what_is_left_out_without_personal_data() -> None:
    offer = offers_for()
    whole, kept = SavedPlan.of(offer), SavedPlan.of(offer, personal_data=False)
    for secret in ("Weber", '"age": 33', '"term": 40', '"low": 40.0'):
        assert secret in whole.text
        assert secret not in kept.text
    assert kept.record is None
    hashes = [form.person.hash for form in (whole.form, kept.form)]
    assert (hashes[0] is None, hashes[1], kept.form.answers) == (False, None, None)
    assert all(str(one) not in kept.text for one in (hashes[0], whole.form.answers and whole.form.answers.hash))
    assert kept.cost.points() == offer.cost.points()
    assert walk(kept, ["works"]).changes == walk(offer, ["works"]).changes


def test_the_ends_of_a_plan_are_goals() -> None:
    offer = offers_for()
    ends = SavedPlan.of(offer).ends
    assert sum(chance for _, chance in ends) == pytest.approx(offer.cost.success)
    states = [offer.policy.mdp.locate(person) for person, _ in ends]
    assert offer.policy.mdp.goal[states].all()


@pytest.mark.parametrize(
    "change, parts",
    [
        ({"horizon": 5}, ["horizon"]),
        ({"goal": {"failure_cost": 21}}, ["goal"]),
        ({"given": []}, ["given"]),
        ({"goal": {"failure_cost": 21}, "side_effects": [{"cause": "job", "change": {"term": -1}}]}, None),
    ],
)
def test_another_problem_is_refused_with_the_reason(change: dict[str, Any], parts: list[str] | None) -> None:
    kept = SavedPlan.of(offers_for())
    with pytest.raises(PlanError) as caught:
        kept.require_problem(sa.parse_problem(LOAN | change))
    [mistake] = caught.value.mistakes
    assert mistake.code == "other_problem"
    assert mistake.values["parts"] == (parts or ["goal", "side_effects"])


def test_another_title_and_other_people_make_no_other_problem() -> None:
    SavedPlan.of(offers_for()).require_problem(sa.parse_problem(LOAN | {"title": "b", "people": {"p": PERSON}}))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no such file"):
        sa.load_plan(tmp_path / "plan.json")


@pytest.mark.parametrize("chance", [{"worked": 5, "tried": 5}, [0.0, 0.0, 0.9], [0.5, 0.8, 1.0]])
def test_what_may_happen_though_it_nominally_never_does(chance: Any) -> None:
    """Plans know what to do in states that only another chance in its interval leads to, and keep the intervals."""
    actions = {"try": {"cost": 1, "outcomes": [{"chance": chance, "change": {"job": "+1"}}, {"change": {"term": -1}}]}}
    problem = sa.parse_problem(
        LOAN | {"actions": actions | {"shorten": {"cost": 1, "change": {"term": -1}}}, "horizon": 5}
    )
    offer = sa.recommend(problem, decide, PERSON, objectives="mean")[0]
    kept = SavedPlan.of(offer)
    follow_everywhere(offer, kept, most=60)
    assert (kept.figures.ranges is None) == (offer.ranges is None)
    if offer.ranges is not None and kept.figures.ranges is not None:
        assert kept.figures.ranges.cvar == (offer.ranges.tail.low, offer.ranges.tail.high)
    for name in ("edge_low", "edge_high"):
        whole, some = (set(getattr(plan.policy.mdp, name).tolist()) for plan in (offer, kept))
        assert some <= whole
