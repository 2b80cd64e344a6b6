"""What somebody fills in about actions, read as terms."""

from __future__ import annotations

from decimal import Decimal

import pytest

import safear as sa
from doors import Asked, TermField, find_changed, find_term_mistakes, read_terms, reset_terms, show_actions
from safear.recourse import Teller
from safear.texts import load_texts

LOAN = sa.load_example("loan")


@pytest.mark.parametrize(
    ("language", "typed", "cost"),
    [
        ("en", "1,000", 1000),
        ("de", "1.000", 1000),
        ("en", "1.000", None),  # 1, as in the problem
        ("en", "1,5", 1.5),
        ("de", "1,5", 1.5),
        ("de", "1.5", 1.5),
        ("en", "2,500.75", 2500.75),
        ("de", "2.500,75", 2500.75),
        ("en", "", None),
        ("en", "1", None),
    ],
)
def test_costs_are_read_as_the_language_writes_them(language: str, typed: str, cost: float | None) -> None:
    terms = read_terms(LOAN, Asked({"cost0": typed}), texts=load_texts(language))
    assert terms == sa.Terms.of(cost={} if cost is None else {"own a house": cost})


def test_typical_values_typed_in_change_nothing() -> None:
    texts = load_texts("en")
    typed = Asked({"cost4": "1.4", "chance4": "40", "chance0": "30"})
    assert read_terms(LOAN, typed, texts=texts) == sa.Terms()
    assert not find_changed(LOAN, typed, texts=texts)
    assert read_terms(LOAN, Asked({"chance4": "41"}), texts=texts) == sa.Terms.of(chance={"find work": Decimal("0.41")})


def test_what_counts_as_changed() -> None:
    texts = load_texts("en")
    for fields in ({"cost1": "2"}, {"chance1": "50"}, {"cannot1": "1"}, {"cost1": "a lot"}):
        assert find_changed(LOAN, Asked(fields), texts=texts) == {1}


def test_back_to_typical() -> None:
    fields = {"cost1": "2", "chance1": "50", "cannot1": "1", "cost0": "3", "feature0": "young"}
    one = reset_terms(LOAN, Asked(fields, "reset", "1"))
    assert one.fields == {"cost0": "3", "feature0": "young"}
    assert reset_terms(LOAN, Asked(fields, "reset")).fields == {"feature0": "young"}


def test_one_number_does_not_always_say_enough() -> None:
    step = {"change": {"savings": "+1"}}
    outcomes = [{"chance": 0.2, **step}, {"chance": 0.3, "change": {}}, {"chance": 0.5, "change": {}, "label": "no"}]
    document = sa.dump_problem(LOAN)
    problem = sa.parse_problem(document | {"actions": {"wait": {"cost": 1, "outcomes": outcomes}}})
    assert TermField("chance", 0, problem.actions[0]).quantity is None
    assert TermField("chance", 0, LOAN.actions[0]).quantity is not None


def test_what_outcomes_cost_by_themselves_is_not_asked() -> None:
    texts, outcomes = load_texts("en"), [{"chance": 0.9, "change": {"job": "employed"}, "cost": 9}, {"cost": 7}]
    problem = sa.parse_problem(sa.dump_problem(LOAN) | {"actions": {"go": {"cost": 2, "outcomes": outcomes}}})
    for fields in ({"cost0": "1"}, {"cost0": "much"}, {"by": "rank", "rank0": "1"}):
        assert read_terms(problem, Asked(fields), texts=texts) == sa.Terms()
        assert not find_changed(problem, Asked(fields), texts=texts)
    (shown,) = show_actions(problem, Asked({"by": "rank", "rank0": "1"}), Teller.of())
    assert (shown.cost, shown.place_hint, shown.changed) == (None, "", False)
    assert shown.fixed_cost.startswith("costs 7–9 months; ")
    assert shown.chance is not None


def test_mistakes_are_told_by_field() -> None:
    asked = Asked({"cost0": "1.00001", "cost1": "-1", "cost2": "1000001", "chance3": "100.5", "chance4": "100"})
    found = find_term_mistakes(LOAN, asked, texts=load_texts("en"))
    assert {name: item.code for name, item in found.items()} == {
        "cost0": "not_a_cost",
        "cost1": "not_a_cost",
        "cost2": "not_a_cost",
        "chance3": "not_a_percentage",
    }


def test_actions_can_be_ranked_instead_of_priced() -> None:
    texts = load_texts("en")
    ranked = {"by": "rank", "rank0": "3", "rank1": "1", "rank2": "3", "rank3": "", "cost1": "7", "chance4": "50"}
    terms = read_terms(LOAN, Asked(ranked), texts=texts)
    assert terms == sa.Terms.of(rank=["change job", ["own a house", "study part-time"]], chance={"find work": 0.5})
    assert find_changed(LOAN, Asked(ranked), texts=texts) == {0, 1, 2, 4}
    priced = read_terms(LOAN, Asked({**ranked, "by": ""}), texts=texts)
    assert priced == sa.Terms.of(cost={"change job": 7}, chance={"find work": 0.5})
    for odd in ("x", "0", "-1", "1e9", "1000"):
        assert read_terms(LOAN, Asked({"by": "rank", "rank0": odd}), texts=texts) == sa.Terms()
    assert not find_term_mistakes(LOAN, Asked({"by": "rank", "cost0": "much"}), texts=texts)
    assert reset_terms(LOAN, Asked(ranked, "reset")).fields == {}
