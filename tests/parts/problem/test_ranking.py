"""Costs from a ranking."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import safear as sa
from doors import amounts, make_ranking, price_ranking
from safear.errors import TermsError
from safear.problem import Problem, Terms, apply_terms, parse_terms
from strategies import problems

LOAN = sa.load_example("loan")


def typical(problem: Problem, name: str) -> Decimal:
    costs = [amount.nominal for amount in amounts(problem.action_by_name[name].cost)]
    return sum(costs, Decimal(0)) / len(costs)


def test_the_second_costs_twice_as_much_as_the_first() -> None:
    rank = make_ranking(["increase savings", "study part-time", "find work"])  # 1 + 1 + 1.4 = 3.4
    step = Decimal("0.5667")
    assert price_ranking(LOAN, rank) == {"increase savings": step, "study part-time": 2 * step, "find work": 3 * step}


def test_equals_share_the_mean_of_their_places() -> None:
    rank = make_ranking(["own a house", ["change job", "study part-time"], "increase savings"])  # 4, in steps of 0.4
    assert [float(cost) for cost in price_ranking(LOAN, rank).values()] == [0.4, 1.0, 1.0, 1.6]


@given(problems(), st.data())
def test_all_together_cost_what_is_typical(document: dict[str, Any], data: st.DataObject) -> None:
    problem = sa.parse_problem(document)
    priced = [action.name for action in problem.actions if not action.prices_outcomes]
    assume(priced)
    names = data.draw(st.permutations(priced))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(names)))))
    rank = tuple(tuple(names[a:b]) for a, b in pairwise([0, *cuts]))
    costs = price_ranking(problem, rank)
    ranked = [name for tier in rank for name in tier]
    total = sum((typical(problem, name) for name in ranked), Decimal(0))
    assert list(costs) == ranked
    assert float(sum(costs.values())) == pytest.approx(float(total), rel=1e-3)
    for easy, hard in pairwise(rank):
        assert total == 0 or costs[easy[0]] < costs[hard[0]]
    assert all(len({costs[name] for name in tier}) == 1 for tier in rank)
    applied = apply_terms(problem, Terms(rank=rank))
    assert all(typical(applied, name) == cost for name, cost in costs.items())
    others = [action for action in problem.actions if action.name not in costs]
    assert all(applied.action_by_name[action.name] == action for action in others)


def test_files_and_python_say_the_same() -> None:
    written = parse_terms("rank: [change job, [own a house, find work]]\nforbid: [study part-time]\n", LOAN)
    assert written == Terms.of(rank=["change job", ["own a house", "find work"]], forbid=["study part-time"])
    menu = sa.recommend(LOAN, terms=Terms.of(rank=["increase savings", "study part-time", "change job"]))
    assert menu.problem.action_by_name["change job"].cost != LOAN.action_by_name["change job"].cost
    assert menu["safest"].first_action == "study part-time"


def test_what_is_forbidden_has_no_place() -> None:
    rank = ["increase savings", ["find work", "change job"], "study part-time"]
    for names in (rank, ["increase savings", "change job", "study part-time"]):
        applied = apply_terms(LOAN, Terms.of(rank=names, forbid=["find work"]))
        assert "find work" not in applied.action_by_name
        found = [float(typical(applied, name)) for name in ("increase savings", "change job", "study part-time")]
        assert found == [0.5, 1.0, 1.5]  # 3 in all, as is typical


def test_what_outcomes_cost_by_themselves_is_not_ranked() -> None:
    outcomes = [{"chance": 0.9, "change": {"job": "employed"}, "cost": 9}, {"cost": 7}]
    document = sa.dump_problem(LOAN)
    problem = sa.parse_problem(document | {"actions": document["actions"] | {"go": {"cost": 2, "outcomes": outcomes}}})
    with pytest.raises(TermsError) as caught:
        parse_terms("rank: [change job, [find work, go]]", problem, name="me.yaml")
    told = str(caught.value).splitlines()
    assert told[0].startswith("me.yaml:1:20: rank[1]: 'go' cannot be ranked: its outcomes have costs of their own")
    assert told[-1].strip() == "leave it out of the ranking, or give its 'outcomes' with your costs"
    own = "rank: [change job, go]\nactions: {go: {outcomes: [{change: {job: employed}}]}}"
    applied = apply_terms(problem, parse_terms(own, problem))
    assert float(typical(applied, "go")) == 2 * float(typical(applied, "change job")) == 2  # of 1 and 2, in steps of 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rank: [chang job]", "me.yaml:1:8: rank[0]: the problem has no action 'chang job'"),
        ("rank: [change job, [find work, change job]]", "rank[1]: 'change job' is ranked twice"),
        ("rank: [change job]\nactions: {change job: {cost: 2}}", "'change job' is ranked, and has a cost"),
        ("rank: change job", "rank"),
    ],
)
def test_mistakes_in_rankings(text: str, told: str) -> None:
    with pytest.raises(TermsError) as caught:
        parse_terms(text, LOAN, name="me.yaml")
    assert told in str(caught.value)
