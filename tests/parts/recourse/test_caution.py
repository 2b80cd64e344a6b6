"""The price of caution: what a robust plan costs if the estimates are right, and saves if they are not."""

from __future__ import annotations

import pytest

import safear as sa
from doors import PlanFiguresRecord, find_caution
from safear.recourse import Teller
from small_problems import guessed_loan, ladder


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


def test_a_gamble_or_a_sure_thing() -> None:
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
    assert str(found) == (
        "Planned in case our estimates are off. Compared with the plan that is best if they are right: reaches the "
        "goal in 100% of cases, not in 80%; 7 months less in the worst 5 of 100 cases; 1 month more on average. "
        "If they are as far off as they can be: reaches the goal in 100% of cases, not in 10%; 6 months less on "
        "average; 7 months less in the worst 5 of 100 cases."
    )
    assert "Im Vergleich zu dem Plan" in found.tell(Teller.of("de"))


def test_no_price_without_caution_or_without_doubt() -> None:
    assert find_caution(offer_of(guessed_loan(), "mean", robust=False)) is None
    assert find_caution(offer_of(sa.load_example("loan"), "mean")) is None
    free = find_caution(offer_of(guessed_loan(), "mean"))
    assert str(free) == "Planned in case our estimates are off; here that makes no noticeable difference."
