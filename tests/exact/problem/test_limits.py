"""How often an action may be tried and how far a feature may go, beside the oracle and through every entrance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import safear as sa
from compare import read_both
from doors import Crowd, Engine, Purpose
from oracle import Oracle
from safear.errors import Mistake
from safear.people import load_people, read_population
from safear.problem import Move, Shift, apply_terms, dump_problem, read_person
from safear.recourse import Desk, Teller
from strategies import problems

TRIES, FILED = "tries of 'learn'", "'income' as filed"
DOCUMENT: dict[str, Any] = {
    "safear": 1,
    "title": "Loan",
    "horizon": 5,
    "features": {
        "skill": {"kind": "ordinal", "levels": ["basic", "skilled", "manager"]},
        "income": {"range": [0, 3000], "step": 500, "unit": "EUR", "at_most": "1000 EUR"},
        "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
    },
    "goal": {"favourable": "approved", "failure_cost": 20},
    "classifier": {"rule": "skill == manager or income >= 2000"},
    "actions": {
        "learn": {"cost": 1, "chance": 0.5, "change": {"skill": "+1"}, "at_most": 2},
        "work": {"cost": 3, "chance": 0.9, "change": {"income": {"by": "500 EUR"}}},
        "inherit": {"cost": 9, "chance": 0.5, "change": {"skill": "manager"}, "once": True},
    },
    "people": {"ann": {"skill": "basic", "income": 500, "sex": "f"}},
}


def made(**changes: Any) -> sa.Problem:
    return sa.parse_problem({**DOCUMENT, **changes})


def test_limits_are_kept_as_they_were_written() -> None:
    problem = made()
    assert [action.at_most for action in problem.actions] == [2, None, 1]
    assert problem.feature_by_name["income"].at_most == Shift(1000, "EUR")  # type: ignore[arg-type]  # equal to a Decimal
    written = dump_problem(problem)
    assert list(written["features"]) == ["skill", "income", "sex"]
    assert written["features"]["income"]["at_most"] == "1000 EUR"
    assert [action.get("at_most") for action in written["actions"].values()] == [2, None, 1]
    assert "constraints" not in written
    assert sa.parse_problem(written) == problem
    assert made(horizon=5).with_horizon(5) == problem
    levels = {**DOCUMENT["features"], "skill": {**DOCUMENT["features"]["skill"], "at_most": 1}}
    assert made(features=levels).feature_by_name["skill"].at_most == Move(1)


def test_what_is_not_limited_costs_nothing() -> None:
    free = {
        name: {k: v for k, v in action.items() if k not in {"at_most", "once"}}
        for name, action in DOCUMENT["actions"].items()
    }
    features = {**DOCUMENT["features"], "income": {"range": [0, 3000], "step": 500, "unit": "EUR"}}
    problem = made(actions=free, features=features)
    assert [feature.name for feature in problem.features] == ["skill", "income", "sex"]
    assert not problem.constraints


def test_failed_tries_count() -> None:
    menu = sa.recommend(made(), terms=sa.Terms.of(forbid=["work", "inherit"]))
    (offer,) = menu.offers
    assert offer.runs.distribution.success == pytest.approx(0.25)  # both tries must work
    lost = sa.walk(offer, ["fails"])  # one try is left, which is not enough
    assert (lost.kind, lost.person[TRIES], lost.steps_left) == ("lost", "1", 4)
    going_on = made(goal={**DOCUMENT["goal"], "stop": False})
    (offer,) = sa.recommend(going_on, terms=sa.Terms.of(forbid=["work", "inherit"])).offers
    stuck = sa.walk(offer, ["fails", "fails"])
    assert (stuck.kind, stuck.person[TRIES], stuck.steps_left) == ("stuck", "2", 3)


def test_a_sure_action_that_fails_on_somebodys_own_terms_was_tried() -> None:
    actions = {"learn": {"cost": 1, "change": {"skill": "manager"}, "once": True}}
    problem = made(actions=actions)
    assert sa.recommend(problem).offers[0].runs.distribution.success == 1
    (offer,) = sa.recommend(problem, terms=sa.Terms.of(chance={"learn": 0.25})).offers
    assert offer.runs.distribution.success == 0.25


def test_a_feature_stays_near_what_was_filed() -> None:
    mdp = sa.compile_mdp(made(classifier={"rule": "sex == m"}), start=DOCUMENT["people"]["ann"])
    assert {mdp.person(state)["income"] for state in range(mdp.n_states)} == {"500", "1000", "1500"}
    assert {mdp.person(state)[FILED] for state in range(mdp.n_states)} == {"500"}


@pytest.mark.parametrize("most", [1, 2, 3, None])
def test_a_problem_with_another_limit_is_that_problem(most: int | None) -> None:
    """However it came to be: nothing is left of the limit that was."""

    def changed(problem: sa.Problem) -> sa.Problem:
        actions = [replace(one, at_most=most) if one.name == "learn" else one for one in problem.actions]
        return replace(problem, actions=tuple(actions))

    found = changed(made())
    learn = {key: value for key, value in DOCUMENT["actions"]["learn"].items() if key != "at_most"}
    learn |= {} if most is None else {"at_most": most}
    expected = made(actions={**DOCUMENT["actions"], "learn": learn})
    assert sorted(found.features, key=str) == sorted(expected.features, key=str)
    assert found.actions == expected.actions
    terms = sa.Terms.of(forbid=["work", "inherit"])
    chances = [sa.recommend(one, terms=terms).offers for one in (found, expected)]
    assert [[offer.runs.distribution.success for offer in offers] for offers in chances[:1]] == [
        [offer.runs.distribution.success for offer in offers] for offers in chances[1:]
    ]
    assert changed(changed(made())) == found


@pytest.mark.parametrize("most", [Move(1), Shift(Decimal(500), "EUR"), None])
def test_a_feature_with_another_limit_goes_as_far_as_that(most: Move | Shift | None) -> None:
    problem = made(classifier={"rule": "sex == m"})
    features = [replace(one, at_most=most) if one.name == "income" else one for one in problem.features]
    mdp = sa.compile_mdp(replace(problem, features=tuple(features)), start=DOCUMENT["people"]["ann"])
    reached = {"500", "1000"} if most else {"500", "1000", "1500", "2000", "2500", "3000"}
    assert {mdp.person(state)["income"] for state in range(mdp.n_states)} == reached
    assert (FILED in mdp.problem.feature_by_name) == (most is not None)


def test_states_keep_their_form_if_an_action_is_forbidden() -> None:
    problem = made()
    left = apply_terms(problem, sa.Terms.of(forbid=["learn"]))
    assert left.features == problem.features


@pytest.mark.parametrize(("most", "counters"), [(2, 1), (3, 2)])
def test_variants_of_an_action_share_its_tries_while_their_limit_is_the_same(most: int, counters: int) -> None:
    problem = made()
    learn = problem.action_by_name["learn"]
    variant = replace(learn, name="learn well", at_most=most)
    both = replace(problem, actions=(*problem.actions, variant))
    counted = {both.action_by_name[name].counted_by for name in ("learn", "learn well")}
    assert len(counted) == counters
    assert replace(both, actions=problem.actions).action_by_name["learn"] == learn


@pytest.mark.parametrize(
    ("scale", "fine"),
    [
        ({"edges": [100, 200], "values": [50, 150, 250]}, False),
        ({"edges": [1, 2], "values": [0, 1, 2], "step": 1}, False),  # the last has no end
        ({"edges": [1, 2], "values": [0, 1, 2], "step": 1, "min": 0, "max": 2}, True),
        ({"edges": [1, 2], "values": [0, 1, 2], "step": 0.5, "min": 0, "max": 2}, False),
        ({"edges": [1, 4], "values": [0, 1, 4], "step": 1, "min": 0, "max": 4}, False),
    ],
)
def test_only_single_numbers_have_a_distance(scale: dict[str, Any], *, fine: bool) -> None:
    """Two levels of many numbers are as far apart as whoever was filed happens to be."""
    features = {**DOCUMENT["features"], "debt": {"kind": "numeric", "unit": "EUR", **scale, "at_most": "100 EUR"}}
    found = [item.code for item in problem_mistakes(features)]
    assert found == ([] if fine else ["many_numbers"])


def problem_mistakes(features: dict[str, Any]) -> tuple[Mistake, ...]:
    try:
        made(features=features, people={})
    except sa.InputError as error:
        return tuple(error.mistakes)
    return ()


def test_a_block_has_everything_that_was_filed_unless_it_says_what() -> None:
    problem = made()
    whole = sa.compile_mdp(problem)
    people = [whole.person(state) for state in range(whole.n_states)]
    for block, where in (
        ({"sex": "f"}, {"sex": "f"}),
        ({"sex": "f", "income": 500}, {"sex": "f", FILED: "500"}),
        ({"sex": "f", "income": 1000, FILED: 500}, {"sex": "f", FILED: "500"}),
        ({"sex": "f", FILED: None}, {"sex": "f"}),
    ):
        mdp = sa.compile_mdp(problem, block=block)
        expected = [person for person in people if where.items() <= person.items()]
        assert [mdp.person(state) for state in range(mdp.n_states)] == expected
    with pytest.raises(sa.InputError, match="'a lot' is not a level of 'income'"):
        sa.compile_mdp(problem, block={"sex": "f", "income": "a lot"})


def test_an_empty_cell_of_what_was_filed_is_what_is_filed_now(tmp_path: Path) -> None:
    """Through every entrance; also where an empty cell of the feature itself means a level."""
    levels: dict[str, Any] = {"kind": "ordinal", "levels": ["none", "low", "high"], "missing": "none", "at_most": 1}
    stage = {key: value for key, value in levels.items() if key != "missing"} | {"hidden": True}
    problem = made(
        features={**DOCUMENT["features"], "debt": levels, "stage": stage},
        people={},
    )
    rows = [
        {"skill": "basic", "income": 500, "sex": "f", "debt": debt, "'debt' as filed": filed, "stage": None}
        for debt, filed in (("high", None), ("low", "high"), (None, None), (None, "low"))
    ]
    expected = [("high", "high"), ("low", "high"), ("none", "none"), ("none", "low")]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    names = [feature.name for feature in problem.features]
    wanted = sorted((levels["levels"].index(debt), levels["levels"].index(filed), 0, 0) for debt, filed in expected)
    places = [names.index(name) for name in ("debt", "'debt' as filed", "stage", "'stage' as filed")]
    for source in (rows, frame, tmp_path / "people.csv", tmp_path / "people.parquet"):
        codes = read_population(problem, source).codes[:, places]
        assert sorted(map(tuple, codes.tolist())) == wanted
    listed = load_people(tmp_path / "people.csv", problem).codes[:, places]
    assert sorted(map(tuple, listed.tolist())) == wanted
    read = [read_person(problem, row) for row in rows]
    assert [(person["debt"], person["'debt' as filed"]) for person in read] == expected
    assert {(person["stage"], person["'stage' as filed"]) for person in read} == {("none", "none")}


def test_who_comes_back_goes_on_from_there() -> None:
    """Counting anew would let a person try for ever; filing anew would let them go as far as they like."""
    problem = made(classifier={"rule": "income >= 2000"}, horizon=2)
    person: Mapping[str, object] = {"skill": "basic", "income": 1000, "sex": "f"}
    (offer,) = sa.recommend(problem, person=person).offers
    here = sa.walk(offer, ["works"])
    assert (here.person["income"], here.person[FILED]) == ("1500", "1000")
    assert sa.recommend(problem, person=here.person).offers[0].runs.distribution.success == pytest.approx(0.99)
    far = {**here.person, FILED: "0"}
    with pytest.raises(sa.InputError, match="breaks the constraint 'income at most 1000 EUR from what was filed'"):
        sa.recommend(problem, person=far)
    tried = {**DOCUMENT["people"]["ann"], TRIES: 2}
    menu = sa.recommend(made(), person=tried, terms=sa.Terms.of(forbid=["work", "inherit"]))
    assert menu.no_recourse is not None
    assert menu.no_recourse.code == "no_action"


def test_plans_tell_situations_apart_by_tries() -> None:
    document = {
        **DOCUMENT,
        "actions": {
            **DOCUMENT["actions"],
            "learn": {**DOCUMENT["actions"]["learn"], "chance": 0.9, "change": {"skill": "manager"}},
        },
    }
    plan = sa.recommend(sa.parse_problem(document)).offers[0].plan
    assert len({(str(step.shown), Teller.of().situation(step)) for step in plan.steps}) == len(plan.steps)
    assert any("you have tried “learn” once" in Teller.of().situation(step) for step in plan.steps)
    words = str(plan)
    assert TRIES not in words
    assert "as filed" not in words


@given(problems())
def test_only_so_many_tries_and_only_so_far(document: dict[str, Any]) -> None:
    """On every run of the greedy plan, by counting it anew."""
    problem, judge, start = read_both(document)
    if not judge.most and not judge.held:
        return
    policy, _ = judge.greedy(start, 0)
    for steps, _, _, _, end in judge.histories(policy, start):
        for name, most in judge.most.items():
            assert sum(action == name for action, _ in steps) <= most
        for name in judge.held:
            assert not judge.features[name].far(judge.named(start)[name], judge.named(end)[name])
    if judge.policy_count(start) <= 200:
        mdp = sa.compile_mdp(problem, start=problem.default_person)
        mean = sa.evaluate(sa.solve(mdp, sa.Mean())).all_runs.mean
        assert mean == pytest.approx(float(judge.best_by_enumeration(start)))


def test_crowds_and_people_agree(tmp_path: Path) -> None:
    problem, rng = made(), np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "skill": rng.choice(["basic", "skilled", "manager"], 40),
            "income": rng.integers(0, 7, 40) * 500,
            "sex": rng.choice(["f", "m"], 40),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    desk = Desk.of(problem)
    for source in (frame, tmp_path / "people.csv"):
        population = read_population(problem, source)
        for objective in (sa.Mean(), sa.CVaR(0.9), sa.MeanStd(1)):
            purpose = Purpose(objective)
            found = Engine(desk).work_out(Crowd.of(problem, population.filed), purpose, ["success", "mean", "sparsity"])
            for row in range(0, len(population.codes), 5):
                case = desk.open(population.filed.record(problem, row))
                if not case.needs_plan:
                    continue
                cost = sa.evaluate(sa.solve(case.mdp, objective))
                assert found.of("success")[row] == pytest.approx(cost.success)
    summary = sa.audit(problem, None, frame, groups=["sex"])
    assert summary.population.codes.shape[1] == len(problem.features)
    kept = sa.batch(problem, None, tmp_path / "people.csv", out=tmp_path / "plans", objective=sa.Mean())
    assert kept.people == 40


def test_the_oracle_refuses_what_is_too_far() -> None:
    judge = Oracle(DOCUMENT)
    start = judge.start()
    assert start == ("basic", "500", "f", "0", "0", "500")
    assert not judge.allowed((*start[:1], "2000", *start[2:]))


@pytest.mark.parametrize("feature", [{"hidden": True}, {"at_most": 1}])
def test_what_is_wrong_with_a_scale_is_told_once(feature: dict[str, Any]) -> None:
    features = {**DOCUMENT["features"], "sense": {"kind": "ordinal", "levels": [], **feature}}
    with pytest.raises(sa.InputError) as error:
        made(features=features, constraints=["sense <= sense"], people={"ann": {**DOCUMENT["people"]["ann"]}})
    assert "features.sense.levels: the list of levels is empty" in str(error.value)
    assert "as filed" not in str(error.value)
