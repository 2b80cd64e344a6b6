"""Yes and no: the same words mean the same in logs, in columns of flags and in problem files."""

from __future__ import annotations

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import safear as sa
from doors import Attempts, NumberColumn, open_log, read_attempts
from safear.errors import InputError

PROBLEM = """
safear: 1
title: t
features: {skill: {kind: ordinal, levels: [none, some]}, sex: {kind: nominal, levels: [a, b], mutable: %s}}
actions: {learn: {cost: 1, outcomes: [{change: {skill: +1}}]}}
goal: {}
classifier: {rule: skill == some}
horizon: 2
"""
YES, NO = ["true", "yes", "y", "on", "t", "1", "1.0", "1.00", "+1"], ["false", "no", "n", "off", "f", "0", "0.0", "-0"]
NEITHER = ["maybe", "ja", "tr", "2", "-1", "0.5", "nan"]
MEANINGS = dict.fromkeys(YES, True) | dict.fromkeys(NO, False) | dict.fromkeys(NEITHER)
SPELLED = [(form(word), truth) for word, truth in MEANINGS.items() for form in (str, str.upper, " {} ".format)]


def in_log(word: str) -> bool | None:
    log: Attempts
    try:
        frame, place = open_log(pd.DataFrame({"action": ["learn"], "worked": [word]}))
        log = read_attempts(frame, sa.parse_problem(PROBLEM % "false"), place)
    except InputError as error:
        if [item.code for item in error.mistakes] != ["not_a_truth"]:
            raise
        return None
    return bool(log.worked[0])


def in_flag(word: str) -> bool | None:
    value, is_wrong = NumberColumn("forbid:learn", is_flag=True).expressions("x", "VARCHAR")
    with duckdb.connect() as connection:
        connection.register("people", pa.table({"x": [word]}))
        ((found, wrong),) = connection.execute(f"SELECT {value}, {is_wrong} FROM people").fetchall()
    return None if wrong else bool(found)


def in_file(word: str) -> bool | None:
    try:
        return sa.parse_problem(PROBLEM % f'"{word}"').features[1].mutable
    except InputError as error:
        if [item.code for item in error.mistakes] != ["not_a_truth"]:
            raise
        return None


@pytest.mark.parametrize("word, truth", SPELLED)
def test_words_mean_the_same_everywhere(word: str, truth: bool | None) -> None:
    assert (in_log(word), in_flag(word), in_file(word)) == (truth,) * 3
