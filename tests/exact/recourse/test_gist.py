"""How many are done when, against the enumeration of all histories."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

import safear as sa
from compare import as_policy, read_both
from doors import count_at_least, make_offer
from drawn_menus import hopeless, menu_of
from lanes import scaled
from strategies import problems


@given(problems())
@settings(max_examples=scaled(60))
def test_the_share_is_done_within_the_cost_and_no_lower_cost_would_do(document: dict[str, Any]) -> None:
    problem, judge, start = read_both(document)
    solution = sa.solve(sa.compile_mdp(problem, start=problem.default_person), sa.MeanStd(0.5), method="greedy")
    histories = [history for history in judge.histories(as_policy(solution), start) if history[2]]
    gist = make_offer(solution).gist
    success = sum((chance for _, _, _, chance, _ in histories), Fraction(0))
    assert gist.missed == pytest.approx(float(1 - success), abs=1e-12)
    if gist.done is None:
        assert not success
        return

    def share_within(limit: float) -> float:
        return float(sum((chance for _, cost, _, chance, _ in histories if float(cost) <= limit), Fraction(0)))

    done = gist.done
    assert share_within(done.cost) == pytest.approx(done.share, abs=1e-12)
    wanted = min(0.8, float(success))
    told = count_at_least(wanted)
    enough = wanted if told[0] == "below" else told[1] / told[2]
    assert done.share >= enough - 1e-9
    before = max((float(cost) for _, cost, *_ in histories if float(cost) < done.cost), default=None)
    assert done.at_once == (before is None)
    if before is not None:
        assert share_within(before) < enough
    assert done.share_if_off <= done.share


def test_the_chain_is_what_is_done_if_all_goes_well() -> None:
    safest, cheapest = menu_of("loan")
    assert [step.action for step in safest.gist.chain.steps] == ["study part-time", "increase savings"]
    assert all(step.works for step in safest.gist.chain.steps)
    assert (safest.gist.chain.success, safest.gist.chain.cost) == (True, 2.0)
    assert safest.gist.chain.chance == pytest.approx(0.9 * 0.92)
    assert [step.action for step in cheapest.gist.chain.steps] == ["change job"]


def test_the_fallback_is_what_is_done_if_the_first_step_alone_fails() -> None:
    safest, cheapest = menu_of("loan")
    for offer, actions in ((safest, ["study part-time", "increase savings"]), (cheapest, ["find work", "change job"])):
        assert offer.gist.fallback is not None
        assert [step.action for step in offer.gist.fallback.steps[1:]] == actions
        assert [step.works for step in offer.gist.fallback.steps] == [False, True, True]
    assert menu_of("health-insurance")["safest"].gist.fallback is None


def test_where_fewer_get_there_those_are_told() -> None:
    done = menu_of("gamble")[0].gist.done
    assert done is not None
    assert (done.share, done.cost) == pytest.approx((0.51, 2.0))
    assert hopeless().gist.done is None
    assert hopeless().gist.missed == 1.0


def test_estimates_that_are_off_leave_fewer_done() -> None:
    done = menu_of("guesses")["cheapest on average"].gist.done
    assert done is not None
    assert (done.share, done.share_if_off) == pytest.approx((0.9, 0.8))
