"""Which plans make a menu: few, noticeably different, and their names and sentences are true."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import safear as sa
from doors import (
    HOPELESS,
    MOST_PLANS,
    SAME_FIGURES,
    SAME_SUCCESS,
    alike,
    choose_offers,
    difference,
    dominates,
    find_trade_off,
    gives_up,
    thin_out,
)
from lanes import scaled
from safear.recourse import Frontier, Teller, find_frontier
from strategies import problems

CHEAPEST, BOTH, LIKELIEST = "cheapest on average", "cheapest and safest", "most likely to succeed"


def example_frontier(name: str, level: float = 0.95) -> Frontier:
    problem = sa.load_example(name)
    return find_frontier(sa.compile_mdp(problem, start=problem.default_person), level=level)


def check_choice(frontier: Frontier, offers: Sequence[sa.Offer], most: int = MOST_PLANS) -> None:
    """What holds for every menu that was chosen from a frontier."""
    best = frontier.best_success
    hopeful = [offer for offer in frontier.offers if offer.cost.success >= HOPELESS * best]
    likely = [offer for offer in hopeful if not gives_up(offer.cost.success, best)]
    by_name = {offer.name: offer for offer in offers}
    assert 1 <= len(offers) <= most
    assert len(by_name) == len(offers)
    assert all(any(offer.solution is other.solution for other in frontier.offers) for offer in offers)
    for one, other in combinations(offers, 2):
        assert (
            abs(one.cost.success - other.cost.success) > SAME_SUCCESS
            or abs(one.mean - other.mean) > SAME_FIGURES * max(one.mean, other.mean)
            or abs(one.tail - other.tail) > SAME_FIGURES * max(one.tail, other.tail)
        )
    assert all(offer.cost.success >= HOPELESS * best for offer in offers)
    giving_up = [offer.name for offer in offers if gives_up(offer.cost.success, best)]
    assert giving_up in ([], [CHEAPEST])
    assert (CHEAPEST in by_name) + (BOTH in by_name) == 1 or list(by_name) == [LIKELIEST]
    for name in {CHEAPEST, BOTH} & set(by_name):
        assert by_name[name].mean == min(offer.mean for offer in (*offers, *hopeful))
    for name in {"safest", BOTH} & set(by_name):
        assert by_name[name].tail * (1 - SAME_FIGURES) <= min(offer.tail for offer in likely)
        assert not gives_up(by_name[name].cost.success, best)
    if LIKELIEST in by_name:
        success = by_name[LIKELIEST].cost.success
        assert all(success >= offer.cost.success for offer in offers)  # a balanced one may succeed as often
        assert all(success > by_name[name].cost.success for name in {CHEAPEST, "safest", BOTH} & set(by_name))
    between = [offer for offer in offers if offer.name.startswith("balanced")]
    assert [offer.tail for offer in between] == sorted(offer.tail for offer in between)
    numbers = range(1, len(between) + 1)
    assert [offer.name for offer in between] == (
        ["balanced"] if len(between) == 1 else [f"balanced {number}" for number in numbers]
    )
    for offer in offers:
        if len(offers) > 1:
            check_trade_off(offer, by_name)


SENTENCE = re.compile(
    r"reaches the goal in (?P<success>\S+) of cases, not in (?P<instead>\S+)"
    r"|(?P<mean>.+) on average|(?P<tail>.+) in the worst (?:case|\d+ of \d+ cases)"
)


def check_trade_off(offer: sa.Offer, menu: dict[str, sa.Offer]) -> None:
    """Every number of the sentence is a difference of the figures, and what is not told is not noticeable."""
    head, _, told = str(offer.trade_off).removesuffix(".").partition(": ")
    other = menu[head.removeprefix("Compared with “").removesuffix("”")]
    assert other is not offer
    cheapest = min(menu.values(), key=lambda one: one.mean)
    assert other is cheapest or offer is cheapest
    found: dict[str, str] = {}
    for part in told.split("; "):
        words = SENTENCE.fullmatch(part)
        assert words is not None, part
        found |= {name: text for name, text in words.groupdict().items() if text is not None}
    teller = Teller.of()
    if "success" not in found:
        assert abs(offer.cost.success - other.cost.success) <= SAME_SUCCESS + 1e-12
    else:
        chances = (teller.percent(offer.cost.success), teller.percent(other.cost.success))
        assert (found["success"], found["instead"]) == chances
    for size, mine, its in ((found["mean"], offer.mean, other.mean), (found["tail"], offer.tail, other.tail)):
        if size == "about the same":
            assert abs(mine - its) <= SAME_FIGURES * max(mine, its) + 1e-12
        else:
            assert size == f"{teller.cost(abs(mine - its), offer.unit)} {'less' if mine < its else 'more'}"


@given(problems(), st.sampled_from([0.5, 0.8, 0.95, 1.0]), st.sampled_from([1, 2, 3, MOST_PLANS]))
@settings(max_examples=scaled(100))
def test_any_problem(document: dict[str, Any], level: float, most: int) -> None:
    problem = sa.parse_problem(document)
    mdp = sa.compile_mdp(problem, start=problem.default_person)
    assume(mdp.goal.any() and not mdp.goal[mdp.locate()])
    frontier = find_frontier(mdp, level=level)
    check_choice(frontier, choose_offers(frontier, most), most)


@pytest.mark.parametrize("most", range(1, 8))
@pytest.mark.parametrize("name", ["loan", "health-insurance"])
def test_the_examples(name: str, most: int) -> None:
    frontier = example_frontier(name)
    offers = choose_offers(frontier, most)
    check_choice(frontier, offers, most)
    assert len(offers) == min(most, {"loan": 2, "health-insurance": 4}[name])


def test_a_single_plan_is_not_called_what_it_is_not() -> None:
    """The safest plan of the loan was not asked for, but it is there."""
    [offer] = choose_offers(example_frontier("loan"), 1)
    assert (offer.name, offer.first_action) == (CHEAPEST, "change job")
    assert offer.trade_off is None


def test_the_sentences_of_the_loan() -> None:
    safest, cheapest = choose_offers(example_frontier("loan"))
    assert [safest.mean, safest.tail] == pytest.approx([2.1911, 3.3818], abs=5e-5)
    assert [cheapest.mean, cheapest.tail] == pytest.approx([1.5002, 8.2119], abs=5e-5)
    assert str(safest.trade_off) == (
        "Compared with “cheapest on average”: 4.83 months less in the worst 5 of 100 cases; "
        "0.69 months more on average."
    )
    assert str(cheapest.trade_off) == (
        "Compared with “safest”: 0.69 months less on average; 4.83 months more in the worst 5 of 100 cases."
    )


def test_the_plans_of_the_health_insurance() -> None:
    """The least mean is 2 - 1 / 128, as at most 8 tries of 1/2 are made; 3 for sure is the safest."""
    assert len(choose_offers(example_frontier("health-insurance"))) == MOST_PLANS == 3
    offers = choose_offers(example_frontier("health-insurance"), 5)
    assert (offers[0].mean, offers[0].tail, offers[0].cost.success) == (3, 3, 1)
    assert offers[-1].mean == pytest.approx(2 - 1 / 128)
    assert [offer.code for offer in offers] == ["safest", "balanced-1", "balanced-2", "cheapest"]


def partly(failure_cost: float) -> Frontier:
    """The cheap way works in 60% of the cases, the dear one always."""
    document = {
        "safear": 1,
        "title": "partly",
        "horizon": 1,
        "cost": {"unit": "days"},
        "goal": {"favourable": "done", "failure_cost": failure_cost},
        "features": {"a": {"kind": "ordinal", "levels": ["0", "1"]}},
        "actions": {
            "cheap": {"cost": 1, "chance": 0.6, "change": {"a": "+1"}},
            "dear": {"cost": 10, "change": {"a": "+1"}},
        },
        "classifier": {"rule": "a == 1"},
        "people": {"p": {"a": "0"}},
    }
    problem = sa.parse_problem(document)
    return find_frontier(sa.compile_mdp(problem, start=problem.default_person))


def test_the_cheapest_may_succeed_less_often_and_it_is_said() -> None:
    """1 + 0.4 * 5 = 3 on average and 6 in the worst cases, but 10 for sure is the only way to be sure."""
    frontier = partly(5)
    safest, cheapest = choose_offers(frontier)
    check_choice(frontier, [safest, cheapest])
    assert (safest.name, safest.first_action) == ("most likely to succeed", "dear")  # not safest: 6 is less than 10
    assert (cheapest.name, cheapest.first_action) == (CHEAPEST, "cheap")
    assert str(safest.trade_off) == (
        "Compared with “cheapest on average”: reaches the goal in 100% of cases, not in 60%; 7 days more on average; "
        "4 days more in the worst 5 of 100 cases."
    )
    assert str(cheapest.trade_off) == (
        "Compared with “most likely to succeed”: 7 days less on average; 4 days less in the worst 5 of 100 cases; "
        "reaches the goal in 60% of cases, not in 100%."
    )


def test_figures_that_hardly_differ_are_about_as_much() -> None:
    """1 + 0.4 * 23 = 10.2 is within 5% of 10, and the worst cases cost 24 instead of 10: the dear way is both."""
    frontier = partly(23)
    [offer] = choose_offers(frontier)
    assert (offer.name, offer.first_action) == (BOTH, "dear")
    assert str(offer.trade_off) == "No other plan is noticeably cheaper, safer or likelier to succeed."
    cheap, dear = partly(22.2).offers
    assert (cheap.first_action, dear.first_action) == ("cheap", "dear")
    found = find_trade_off(dear, [dear, cheap])
    assert found.mean is None
    assert found.tail == pytest.approx(-13.2)
    assert str(found).endswith("13.2 days less in the worst 5 of 100 cases; about the same on average.")


def test_the_plans_that_are_kept_are_far_apart() -> None:
    """Of the plans between the ends, the one least like both comes first."""
    frontier = example_frontier("health-insurance")
    cheapest, safest, third = thin_out(frontier.offers, 3)
    assert (cheapest, safest) == (frontier.offers[0], frontier.offers[-1])
    rest = [offer for offer in frontier.offers if offer not in (cheapest, safest)]
    nearness = {id(offer): min(difference(offer, cheapest), difference(offer, safest)) for offer in rest}
    assert nearness[id(third)] == max(nearness.values())


@pytest.mark.parametrize("few", [0, 3])
def test_what_lies_between_is_offered_only_if_it_is_short(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest and the safest are offered however many rules they have."""
    monkeypatch.setattr("safear.recourse.selection.FEW_RULES", few)
    frontier = example_frontier("health-insurance")
    every, short = choose_offers(frontier, 5), choose_offers(frontier, 5, simplify=lambda offer: offer)
    ends, others = ("safest", "cheapest"), [offer.rules for offer in every if offer.kind == "balanced"]
    assert [offer.kind for offer in short if offer.kind in ends] == list(ends)
    assert [offer.rules for offer in short if offer.kind == "balanced"] == [rules for rules in others if rules <= few]
    assert max(others) > few


def test_nothing_is_made_of_nothing() -> None:
    assert thin_out([], 5) == []
    assert choose_offers(Frontier((), 0.0, 0.95)) == []


@given(problems())
@example(sa.dump_problem(sa.load_example("loan")))
def test_no_two_plans_of_a_menu_are_alike_and_none_is_worse_than_another(document: dict[str, Any]) -> None:
    """But the cheapest is always offered, by however little it is cheaper."""
    menu = sa.recommend(sa.parse_problem(document))
    assume(menu.offers)
    begins_with_likeliest = menu[0].name.startswith("most likely")
    for one, other in combinations(menu.offers, 2):
        assert not alike(one, other)
        assert begins_with_likeliest or other.name.startswith("cheapest") or not dominates(one, other)
