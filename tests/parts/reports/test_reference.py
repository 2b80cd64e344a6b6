"""References: the same for the same content, different for any other, and nothing of a person can be read in them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

import safear as sa
from doors import choose_offer, digest_person, digest_problem, make_reference, name_reference
from letter_menus import make_accepted, make_filed, make_loan, make_none
from safear.problem import dump_problem_text

DAY = date(2026, 11, 17)
NUMBERS = {
    "safear": 1,
    "title": "t",
    "horizon": 6,
    "features": {"n": {"kind": "numeric", "edges": [1000, 2000], "values": [500, 1500, 2500], "unit": "EUR"}},
    "actions": {"up": {"cost": 1, "chance": 0.5, "change": {"n": "+1"}}},
    "classifier": {"rule": "n >= 2000"},
}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_digests_can_be_computed_again() -> None:
    menu = make_loan()
    text = json.dumps(dict(menu.person), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert digest_person(menu) == sha256(text)
    assert digest_problem(menu.problem) == sha256(dump_problem_text(menu.problem))


def test_the_same_content_has_the_same_reference() -> None:
    menu, again = make_loan(), sa.recommend(sa.load_example("loan"))
    made = make_reference(menu, menu[0], dated=DAY)
    assert made == make_reference(again, again[0], dated=DAY)
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}", made)


def test_other_content_has_another_reference() -> None:
    menu, filed = make_loan(), make_filed()
    older = sa.recommend(menu.problem, None, {**menu.person, "age": "adult"})
    dearer = sa.recommend(menu.problem, terms=sa.Terms.of(cost={"change job": 1.5}))
    made = [
        make_reference(menu, menu[0], dated=DAY),
        make_reference(menu, menu[1], dated=DAY),
        make_reference(menu, menu[0], dated=None),
        make_reference(older, older[0], dated=DAY),
        make_reference(dearer, dearer[0], dated=DAY),
        make_reference(filed, filed[0], dated=DAY),
        make_reference(make_none(), None, dated=DAY),
        make_reference(make_accepted(), None, dated=DAY),
    ]
    assert len(set(made)) == len(made)


def test_what_the_letter_says_of_a_person_and_a_plan_makes_the_reference() -> None:
    problem = sa.parse_problem(NUMBERS)
    menus = [sa.recommend(problem, person={"n": number}) for number in (1200, 1300)]
    assert menus[0].person == menus[1].person
    made = [make_reference(menu, menu[0], dated=DAY) for menu in menus]
    assert made[0] != made[1]
    for same in ("1200", 1200.0, np.int64(1200)):
        menu = sa.recommend(problem, person={"n": same})
        assert make_reference(menu, menu[0], dated=DAY) == made[0]
    loan = make_loan()
    deeper = replace(loan, level=0.9)
    assert make_reference(deeper, loan[0], dated=DAY) != make_reference(loan, loan[0], dated=DAY)
    own = sa.recommend(loan.problem, terms=sa.Terms.of(cost={"change job": 1.5}))
    theirs = sa.recommend(own.problem)
    assert make_reference(own, own[0], dated=DAY) != make_reference(theirs, theirs[0], dated=DAY)


def test_a_reference_looks_at_every_step_of_the_plan() -> None:
    menu = sa.recommend(make_loan().problem)
    made, plan = make_reference(menu, menu[0], dated=DAY), menu[0].plan
    last = replace(plan.steps[-1], action="another")
    vars(menu[0])["plan"] = replace(plan, steps=(*plan.steps[:-1], last))
    assert make_reference(menu, menu[0], dated=DAY) != made


def test_one_of_your_own() -> None:
    menu = make_loan()
    assert name_reference(menu, menu[0], dated=DAY, given="KR 17\u202e") == "KR 17\ufffd"
    assert name_reference(menu, menu[0], dated=DAY, given=None) == make_reference(menu, menu[0], dated=DAY)


def test_the_plan_that_is_meant() -> None:
    menu = make_loan()
    assert choose_offer(menu, None) is choose_offer(menu, 0) is choose_offer(menu, "safest") is menu[0]
    assert choose_offer(menu, menu[1]) is menu[1]
    assert choose_offer(make_none(), "safest") is None
    with pytest.raises(KeyError, match="there is no plan 'best'"):
        choose_offer(menu, "best")
