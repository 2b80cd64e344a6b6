"""The simplest plan that is nearly as good, beside all plans that there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import oracle
import safear as sa
from compare import as_points, as_state, read_both
from doors import (
    SAME_CHANCE,
    choose_offers,
    count_rules,
    difference,
    group_rules,
    highest_success,
    make_offer,
    plan_graph,
    simplest,
    simplify_offer,
)
from ladders import CLIMB, ladders
from lanes import scaled
from moody_policies import Ruled
from oracle import Distribution, Oracle, State, TooManyError
from safear.recourse import Offer, Teller, find_frontier, make_plan
from strategies import FEWER, problems

MOST = 2_000
TOLERANCES = st.sampled_from([0.0, 0.02, 0.2, 1.0])
OBJECTIVES: dict[str, Any] = {
    "mean": oracle.mean_of_all,
    "cvar:0.8": oracle.cvar_of_all(0.8),
    "mean-cvar:0.5:0.95": oracle.mean_cvar(0.5, 0.95),
    "mean-std:1": oracle.mean_std(1),
    "entropic:0.5": oracle.entropic(0.5),
    "var:0.8": oracle.var_of_all(0.8),
    "budget:3": oracle.budget_miss(3),
}


@pytest.fixture(autouse=True, scope="module")
def long_searches() -> Iterator[None]:
    """What is found is the simplest only if the search comes to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simplest, "MOST_CELLS", 600_000)
        patch.setattr(simplest, "MOST_CELLS_SHORT", 600_000)
        yield


def solve_first(problem: sa.Problem, objective: str) -> Offer | None:
    """The best plan of the first person; None if there is nothing to do."""
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    if mdp.goal[mdp.start] or not mdp.goal.any():
        return None
    return make_offer(sa.solve(mdp, sa.parse_objective(objective)))


def follow(judge: Oracle, offer: Offer) -> Distribution:
    """The distribution of a plan, history by history, in fractions."""
    mdp = offer.solution.mdp
    states = {as_state(mdp.person(state)): state for state in range(mdp.n_states)}
    result: Distribution = {}

    def go(state: State, step: int, spent: Fraction, chance: Fraction) -> None:
        choices = {choice.action: choice for choice in judge.choices(state, judge.horizon - step)}
        if judge.is_goal(state) or not choices:
            won = judge.is_goal(state)
            end = spent + (0 if won else judge.failure_cost), won
            result[end] = result.get(end, Fraction(0)) + chance
            return
        action = offer.policy.action(states[state], step=step, spent=float(spent), start=offer.start)
        assert action is not None
        for edge in choices[action].edges:
            go(edge.next, step + 1, spent + edge.cost, chance * edge.chance)

    go(as_state(mdp.person(offer.start)), 0, Fraction(0), Fraction(1))
    return result


def simplified(document: dict[str, Any], objective: str, tolerance: float) -> tuple[Offer, Offer, Oracle, State]:
    """The best plan and the simple one, or another draw."""
    problem, judge, start = read_both(document)
    best = solve_first(problem, objective)
    if best is None or best.solution.mdp.cost_error:
        reject()
    return best, simplify_offer(best, tolerance=tolerance), judge, start


@pytest.mark.parametrize("objective", OBJECTIVES)
@FEWER
@given(document=st.one_of(ladders(2, 4), problems(max_horizon=4)), tolerance=TOLERANCES)
def test_it_is_nearly_as_good_as_the_best_of_all_plans(
    objective: str, document: dict[str, Any], tolerance: float
) -> None:
    best, simple, judge, start = simplified(document, objective, tolerance)
    try:
        every = judge.all_distributions(start, most=MOST)
    except TooManyError:
        reject()
    measure, followed = OBJECTIVES[objective], follow(judge, simple)
    least = float(oracle.best(every, measure))
    most = least + SAME_CHANCE if objective.startswith("budget") else least * (1 + tolerance)
    assert float(measure(followed)) <= most + 1e-6  # the search for a deviation stops at a gap of a millionth
    assert oracle.success(followed) >= Fraction(best.cost.success) - Fraction(SAME_CHANCE) - Fraction(1, 10**9)
    assert float(oracle.mean_of_all(followed)) <= best.mean * (1 + tolerance) + 1e-9
    check_record(best, simple, least)
    assert as_points(simple.cost) == pytest.approx({end: float(p) for end, p in followed.items()}, abs=1e-12)


def check_record(best: Offer, simple: Offer, least: float) -> None:
    """What is said of a plan is true."""
    solution, told = simple.solution, simple.simplified
    assert solution.bound <= least + 1e-9
    assert solution.value == pytest.approx(simple.value, abs=1e-9)
    assert solution.gap >= -1e-9
    assert simple.first_action == best.first_action
    rules = len(group_rules(make_plan(solution, limit=10_000)))
    assert rules == count_rules(solution)
    if told is None:
        assert simple is best
        return
    assert told.best is best
    assert simple.best is best
    assert told.rules == rules < told.rules_before == count_rules(best.solution)
    assert told.success == pytest.approx(best.cost.success - simple.cost.success, abs=1e-12)
    if best.mean:
        assert told.mean == pytest.approx(simple.mean / best.mean - 1, abs=1e-9)
    if "budget" in str(simple.objective):
        assert told.loss == pytest.approx(solution.gap, abs=1e-12)
        assert told.rarer >= told.loss
    else:
        assert told.loss == pytest.approx(solution.gap / solution.bound if solution.bound else 0.0, abs=1e-9)
        assert told.dearer >= told.loss


@pytest.mark.parametrize("objective", ["mean", "cvar:0.8", "mean-cvar:0.5:0.95", "budget:3"])
@FEWER
@given(document=st.one_of(ladders(3, 9), problems(max_horizon=5)), tolerance=TOLERANCES)
def test_no_plan_that_does_one_thing_in_a_state_has_fewer_rules(
    objective: str, document: dict[str, Any], tolerance: float
) -> None:
    """All of them, in fractions; but for those in which some state is rare, where others follow the best plan."""
    best, simple, judge, start = simplified(document, objective, tolerance)
    measure, own = OBJECTIVES[objective], count_rules(simple.solution)
    figures = [follow(judge, offer) for offer in (best, simple)]
    bound = float(measure(figures[0]))
    most = bound + SAME_CHANCE if objective.startswith("budget") else bound * (1 + tolerance)
    level = 0.8 if objective == "cvar:0.8" else 0.95
    tail = oracle.cvar_of_all(level)
    limits = [float(part(figures[0])) * (1 + tolerance) for part in (oracle.mean_of_all, tail)]
    succeeds = max(float(oracle.success(figures[0])) - SAME_CHANCE, _least_success(best))
    for number, policy in enumerate(judge.steady_policies(start)):
        if number == 3_000:
            reject()
        visits = judge.visits(policy, start)
        if min(visits.values()) < plan_graph.RARE_STEP or len(visits) >= own or policy[0, start] != best.first_action:
            continue
        found = judge.distribution(policy, start)
        assert (
            float(measure(found)) > most - 1e-9
            or float(oracle.mean_of_all(found)) > limits[0] - 1e-9
            or float(tail(found)) > limits[1] - 1e-9
            or float(oracle.success(found)) < succeeds + 1e-9
        ), (policy, own)


def _least_success(best: Offer) -> float:
    """What a plan must have that does not give up, if the best one does not."""
    highest = highest_success(best.solution.mdp)
    least = max(highest - 0.05, highest / 2)
    return least if best.cost.success >= least else 0.0


@settings(max_examples=scaled(30))
@given(document=st.one_of(ladders(3, 9), problems(max_horizon=6)), most=st.integers(1, 5))
def test_exact_menus_are_the_best_plans_to_the_last_bit(document: dict[str, Any], most: int) -> None:
    problem = sa.parse_problem(document)
    menu = sa.recommend(problem, most=most, exact=True)
    if not menu.offers:
        reject()
    frontier = find_frontier(menu.case.mdp)
    for offer, expected in zip(menu, choose_offers(frontier, most), strict=True):
        assert offer.simplified is None
        assert offer.best is offer
        assert (offer.code, offer.figures) == (expected.code, expected.figures)
        best = sa.solve(menu.case.mdp, offer.objective)
        assert (offer.solution.value, offer.solution.bound) == (best.value, best.bound)
        assert as_points(offer.cost) == as_points(sa.evaluate(best))
    asked = sa.recommend(problem, objectives="cvar:0.95")[0]
    assert as_points(asked.cost) == as_points(sa.evaluate(sa.solve(menu.case.mdp, sa.CVaR(0.95))))


@settings(max_examples=scaled(30))
@given(document=st.one_of(ladders(3, 9), problems(max_horizon=6)))
def test_menus_have_at_most_three_plans_that_differ_noticeably(document: dict[str, Any]) -> None:
    menu = sa.recommend(sa.parse_problem(document), exact=False)
    assert len(menu) <= 3
    for number, offer in enumerate(menu):
        assert all(difference(offer, other) > 1 for other in menu.offers[:number])
        assert offer.simplified is None or offer.simplified.dearer <= 0.02 + 1e-9


# ------------------------------------------------------------------------------------------------------------ examples


@pytest.fixture
def climb() -> sa.Problem:
    """Three rungs to go: six rules for the least mean, or to do one thing all along."""
    return sa.parse_problem(CLIMB)


def test_what_time_alone_changes_is_left_out(climb: sa.Problem) -> None:
    simple, best = (sa.recommend(climb, objectives="mean", exact=not is_simple)[0] for is_simple in (True, False))
    told = simple.simplified
    assert told is not None
    assert (told.rules, told.rules_before) == (1, len(best.plan.steps)) == (1, 5)
    assert len({step.action for step in simple.plan.steps}) == 1
    assert not any(step.says_made or step.says_spent for step in simple.plan.steps)
    assert best.mean < simple.mean <= 1.02 * best.mean
    assert told.loss == pytest.approx(simple.mean / best.mean - 1)
    assert as_points(told.best.cost) == as_points(best.cost)
    assert best.simplified is None


def test_the_words_say_what_it_saves_and_costs(climb: sa.Problem, snapshot: SnapshotAssertion) -> None:
    told = sa.recommend(climb, objectives="mean", exact=False)[0].simplified
    assert told is not None
    assert 0.007 < told.dearer < 0.008
    assert [str(told), Teller.of("de").simplified(told)] == snapshot


def test_success_that_comes_first_is_not_given_up(climb: sa.Problem) -> None:
    first = sa.recommend(climb, objectives="success-first", exact=False)[0]
    assert first.cost.success >= highest_success(first.solution.mdp) - 1e-11


def test_plans_that_meet_intervals_are_simplified_unless_they_are_robust() -> None:
    unsure = {**CLIMB, "actions": {**CLIMB["actions"]}}
    unsure["actions"]["jump"] = {**unsure["actions"]["jump"], "chance": [0.75, 0.8, 0.85]}
    problem = sa.parse_problem(unsure)
    nominal, robust = (
        sa.recommend(problem, objectives="mean", robust=robust, exact=False)[0] for robust in (False, True)
    )
    assert nominal.simplified is not None
    assert nominal.ranges is not None
    assert robust.simplified is None


def test_plans_of_the_paper_stay_as_they_are(climb: sa.Problem) -> None:
    assert all(offer.simplified is None for offer in sa.recommend(climb, method="greedy", exact=False))


def test_so_do_policies_of_a_kind_that_the_core_does_not_know(climb: sa.Problem) -> None:
    best = sa.recommend(climb, objectives="mean", exact=True)[0]
    assert simplify_offer(best).rules < best.rules
    policy = Ruled(best.solution.mdp, lambda *_: np.zeros(1, dtype=np.int64))
    other = replace(best, solution=replace(best.solution, policy=policy))
    assert simplify_offer(other) is other


def test_simple_plans_are_kept_and_walked(climb: sa.Problem, tmp_path: Path) -> None:
    simple = sa.recommend(climb, objectives="mean", exact=False)[0]
    sa.save_plan(simple, tmp_path / "plan.json")
    saved = sa.load_plan(tmp_path / "plan.json")
    assert as_points(sa.evaluate(saved.policy, saved.start)) == as_points(simple.cost)
    for outcomes in ([], ["fails"], ["works"], ["fails"] * 7, ["works", "works", "fails"]):
        assert sa.walk(saved, outcomes).action == sa.walk(simple, outcomes).action is not None


def test_flips_are_those_of_the_best_plan(climb: sa.Problem) -> None:
    """A simple plan begins as the best one does; effects are those of the plan that is offered."""
    simple, exact = (sa.sensitivity(climb, objectives="mean", exact=not is_simple)[0] for is_simple in (True, False))
    assert simple.offer.simplified is not None
    assert [(flip.value, flip.action) for flip in simple.flips] == [(flip.value, flip.action) for flip in exact.flips]
    assert simple.equals == exact.equals
    assert simple.effects != exact.effects
