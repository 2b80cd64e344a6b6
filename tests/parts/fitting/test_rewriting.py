"""Amounts are replaced where they stand; every other character of the file stays."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

import safear as sa
from doors import Counts, rewrite_amounts
from logs import TEXT
from safear.problem import Amount, dump_problem_text

COUNTED = Amount.counted(Counts(36, 40))
ROUGH = Amount(Decimal("0.7"), Decimal("0.5"), Decimal("0.9"), "data 3/4, pooled 36/40")
COST = Amount(Decimal(2), Decimal(2), Decimal(2), "data, n=7")
LEARN = ("actions", "learn")


@pytest.mark.parametrize(
    "place, amount, old, new",
    [
        ((*LEARN, "cost"), COST, "{value: 1.5, source: guess}  #", "{value: 2, source: 'data, n=7'}  #"),
        ((*LEARN, "outcomes", 0, "chance", "skill", "skilled"), COUNTED, "0.8   #", "{worked: 36, tried: 40}   #"),
        (
            (*LEARN, "outcomes", 0, "chance", "skill", "manager"),
            ROUGH,
            "{value: [0.5, 0.95], source: guess}",
            "{value: [0.5, 0.9], source: 'data 3/4, pooled 36/40'}",
        ),
        (("actions", "change job", "outcomes", 0, "chance"), COUNTED, "chance: 0.9", "chance: {worked: 36, tried: 40}"),
        (("actions", "change job", "outcomes", 1, "cost"), COST, "cost: 3}", "cost: {value: 2, source: 'data, n=7'}}"),
        (
            ("actions", "save", "outcomes", 0, "chance"),
            COUNTED,
            "save: {cost: 1,",
            "save: {cost: 1, chance: {worked: 36, tried: 40},",
        ),
        (
            ("actions", "hope", "outcomes", 0, "chance", 0, "chance"),
            COUNTED,
            "chance: 0.5}",
            "chance: {worked: 36, tried: 40}}",
        ),
        (
            ("actions", "hope", "outcomes", 0, "chance", 1, "chance"),
            COUNTED,
            "{when: age == adult, worked: 3, tried: 4}",
            "{when: age == adult, chance: {worked: 36, tried: 40}}",
        ),
        (("actions", "hope", "outcomes", 0, "chance", 2), COUNTED, "- 0.7", "- {worked: 36, tried: 40}"),
    ],
)
def test_one_amount(place: tuple[str | int, ...], amount: Amount, old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    text = rewrite_amounts(TEXT, {place: amount})
    assert text == TEXT.replace(old, new)
    sa.parse_problem(text)


def test_comments_inside_of_a_block_are_kept() -> None:
    block = "cost:\n      value: 1.5  # half '#2' of it\n      source: 'a # b'\n"
    text = TEXT.replace("cost: {value: 1.5, source: guess}  # to be asked\n", block)
    new = "cost:\n      # half '#2' of it\n      {value: 2, source: 'data, n=7'}\n"
    assert rewrite_amounts(text, {(*LEARN, "cost"): COST}) == text.replace(block, new)
    sa.parse_problem(text.replace(block, new))


def test_a_list_right_below_its_key() -> None:
    block = "    chance:\n    - 0.5 # or less\n    - 0.9\n    change: {skill: +1}\n    when:"
    old = TEXT[TEXT.index("    chance:\n      skilled") : TEXT.index("    when:")] + "    when:"
    text = TEXT.replace(old, block)
    new = "    chance:\n      # or less\n      {worked: 36, tried: 40}\n    change: {skill: +1}\n    when:"
    assert rewrite_amounts(text, {(*LEARN, "outcomes", 0, "chance"): COUNTED}) == text.replace(block, new)
    sa.parse_problem(text.replace(block, new))


def test_a_block_without_a_chance_gets_a_line() -> None:
    text = TEXT.replace("save: {cost: 1, change: {savings: +1}}", "save:\n    cost: 1 # x\n    change: {savings: +1}")
    new = rewrite_amounts(text, {("actions", "save", "outcomes", 0, "chance"): COUNTED})
    assert new == text.replace("cost: 1 # x\n", "cost: 1 # x\n    chance: {worked: 36, tried: 40}\n")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_ends_of_lines_and_other_letters_do_not_matter(ends: str) -> None:
    text = TEXT.replace("# courses", "# Kurse für Ämter 🙂").replace("\n", ends)
    new = rewrite_amounts(text, {(*LEARN, "cost"): COST})
    assert new == text.replace("{value: 1.5, source: guess}", "{value: 2, source: 'data, n=7'}")


def test_json_stays_json() -> None:
    text = dump_problem_text(sa.parse_problem(TEXT), "json").replace("  ", "\t")
    new = rewrite_amounts(text, {("actions", "change job", "cost"): COST}, "json")
    assert new is not None
    assert json.loads(new)["actions"]["change job"]["cost"] == {"value": 2, "source": "data, n=7"}
    assert len(new.splitlines()) == len(text.splitlines())


@pytest.mark.parametrize(
    "place",
    [
        ("actions", "fly", "cost"),
        ("actions", "learn", "outcomes", 0, "chance", "skill", "basic"),
        ("actions", "hope", "outcomes", 0, "chance", 7),
        ("actions", "change job", "outcomes", 0, "cost"),
    ],
)
def test_what_is_not_there_cannot_be_replaced(place: tuple[str | int, ...]) -> None:
    assert rewrite_amounts(TEXT, {place: COST}) is None
