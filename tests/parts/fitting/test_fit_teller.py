"""What was fitted, in words of every language."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pytest

import safear as sa
from doors import FitTeller
from english import english_in
from logs import PROBLEM, TEXT, log_of
from safear import parse_problem
from safear.texts import load_texts
from spoken import LANGUAGES

THIN: list[tuple[str, int, int, Mapping[str, object]]] = [
    ("learn", 1, 5, {"skill": "manager"}),
    ("learn", 1, 2, {"skill": None}),
    ("learn", 1, 1, {"skill": "skilled"}),
]
EVERYTHING: pd.DataFrame = pd.concat(
    [
        log_of(("learn", 31, 40)),
        log_of(*THIN),
        log_of(("change job", 2, 4), ("gamble", 1, 2), ("hope", 18, 20), ("hope", 4, 20)),
    ]
).assign(person="ann", date=["2024-01-01"] * 74 + ["2024-02-02"] * 20)


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_is_said(language: str) -> None:
    tell, seen = FitTeller.of(language), set()
    logs = [EVERYTHING, EVERYTHING.drop(columns="age").assign(cost=1), log_of(("gamble", 1, 2)).assign(cost=1)]
    logs.append(pd.DataFrame({"person": ["a", "a"], "date": ["2024-01-01", "2024-02-01"], "skill": ["basic"] * 2}))
    costly = parse_problem(TEXT.replace("{chance: 0.3,", "{cost: 7, chance: 0.3,"))
    by_level = parse_problem(TEXT.replace("{value: 1.5, source: guess}", "{skilled: 1, manager: 2}"))
    logs.append(log_of(("learn", 2, 2)).assign(cost=1))
    for problem in (PROBLEM, costly, by_level):
        for log in logs:
            fit = sa.fit_problem(problem, log)
            seen |= {notice.code for notice in fit.notices}
            words = "\n".join([tell.head(fit), *map(" ".join, tell.rows(fit)), *tell.notices(fit)])
            assert "{" not in words
            if language != "en":
                found = english_in(words.replace("change job", ""))
                assert [word for word in found if word.lower() != "no"] == []  # "no" is not English alone
    codes = {key.rpartition(".")[2] for key in load_texts(language).entries if key.startswith("fit.notices.")}
    assert codes - seen <= {"sum", "rewritten"}
