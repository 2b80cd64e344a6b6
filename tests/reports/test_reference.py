"""References: the same for the same content, different for any other, and nothing of a person can be read in them."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date

import pytest

import safear as sa
from reports.menus import make_accepted, make_filed, make_loan, make_none
from safear.problem import dump_problem_text
from safear.reports.reference import choose_offer, digest_person, digest_problem, make_reference, name_reference

DAY = date(2026, 11, 17)


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
