"""Histories give bounds: the least that a chance can be, counted here once more by hand."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import safear as sa
from doors import amounts
from logs import PROBLEM, START, TEXT
from safear.errors import AttemptsError
from safear.problem import Amount, ByLevel

LEVELS = {feature.name: feature.levels for feature in PROBLEM.features}


def history_of(*people: list[str], feature: str = "skill") -> pd.DataFrame:
    """Each person's levels of a feature, month by month."""
    rows = []
    for number, levels in enumerate(people):
        for month, level in enumerate(levels, start=1):
            rows.append(START | {"person": f"p{number}", "date": f"2024-{month:02d}-01", feature: level})
    return pd.DataFrame(rows)


def chance_of(fit: sa.Fit, action: str) -> list[Amount]:
    return list(amounts(fit.problem.action_by_name[action].outcomes[0].chance or Amount.exactly(1)))


def test_the_share_of_periods_is_the_least() -> None:
    """Of `basic`, 3 of 4 periods end higher (once two levels up); of `skilled`, 0 of 2; `manager` is not offered."""
    people = [["basic", "skilled", "skilled"], ["basic", "manager", "manager"], ["basic", "basic", "skilled", "basic"]]
    fit = sa.fit_problem(PROBLEM, history_of(*people).sample(frac=1, random_state=0))
    low = Decimal(str(np.floor(stats.beta.ppf(0.025, 3, 2) * 1e4) / 1e4))
    assert chance_of(fit, "learn") == [
        Amount(Decimal("0.8"), low, Decimal(1), "history 3/4"),
        Amount(Decimal("0.725"), Decimal(0), Decimal(1), "history 0/2"),
    ]
    assert (fit.is_history, fit.attempts) == (True, 7)
    assert [notice.code for notice in fit.notices if not notice.action] == ["bounds"]
    assert "shows changes, not attempts" in str(fit)
    assert fit.problem.action_by_name["learn"].cost == PROBLEM.action_by_name["learn"].cost


def test_a_nominal_value_below_the_least_rises_to_it() -> None:
    problem = sa.parse_problem(TEXT.replace("skilled: 0.8 ", "skilled: 0.1 "))
    first, _ = chance_of(sa.fit_problem(problem, history_of(*[["basic", "skilled"]] * 20)), "learn")
    assert first.nominal == first.low == Decimal("0.8315")
    assert first.high == 1


def test_the_chance_to_fail_is_the_rest() -> None:
    fit = sa.fit_problem(PROBLEM, history_of(*[["unemployed", "employed"]] * 5, feature="job"))
    job = fit.problem.action_by_name["change job"]
    low = Decimal("0.4781")
    assert [outcome.chance for outcome in job.outcomes] == [
        Amount(Decimal("0.9"), low, Decimal(1), "history 5/5"),
        Amount(Decimal("0.1"), Decimal(0), 1 - low, "history 5/5"),
    ]


def test_what_always_works_stays() -> None:
    fit = sa.fit_problem(PROBLEM, history_of(["50", "50"], ["50", "200"], feature="savings"))
    assert fit.problem.action_by_name["save"] == PROBLEM.action_by_name["save"]
    assert all(entry.action != "save" for entry in fit.entries)


def test_a_file_keeps_its_comments(tmp_path: Path) -> None:
    (tmp_path / "loan.yaml").write_text(TEXT, encoding="utf-8")
    history_of(["unemployed", "employed"], feature="job").to_csv(tmp_path / "people.csv", index=False)
    fit = sa.fit_problem(tmp_path / "loan.yaml", tmp_path / "people.csv")
    chances = "{chance: {value: [0.025, 0.9, 1], source: history 1/1}, change: {job: employed}}"
    assert chances in fit.text
    assert fit.text.count("#") == TEXT.count("#")
    assert sa.parse_problem(fit.text) == fit.problem


def test_no_period_could_have_shown_it() -> None:
    fit = sa.fit_problem(PROBLEM, history_of(["manager", "manager"]))
    assert ("no_history", "learn") in [(notice.code, notice.action) for notice in fit.notices]
    assert fit.problem.action_by_name["learn"] == PROBLEM.action_by_name["learn"]


def count_by_hand(rows: pd.DataFrame, level: str) -> tuple[int, int]:
    """How often `learn` to a level was possible, and how often it is seen."""
    seen = possible = 0
    for _, person in rows.groupby("person"):
        levels = person.sort_values("date")["skill"].tolist()
        for before, after in pairwise(levels):
            start = LEVELS["skill"].index(before)
            if start + 1 < len(LEVELS["skill"]) and LEVELS["skill"][start + 1] == level:
                possible += 1
                seen += LEVELS["skill"].index(after) > start
    return seen, possible


@given(st.lists(st.lists(st.sampled_from(LEVELS["skill"]), min_size=2, max_size=5), min_size=1, max_size=6))
def test_counts_are_those_by_hand(people: list[list[str]]) -> None:
    rows = history_of(*people)
    learn = PROBLEM.action_by_name["learn"]
    fit = sa.fit_problem(PROBLEM, rows)
    chance = fit.problem.action_by_name["learn"].outcomes[0].chance
    assert isinstance(chance, ByLevel)
    for level, amount in chance.amounts.items():
        seen, possible = count_by_hand(rows, level)
        source = f"history {seen}/{possible}"
        assert amount.source == (source if possible else learn.outcomes[0].chance.amounts[level].source)  # type: ignore[union-attr]


def test_the_least_is_below_the_true_chance() -> None:
    """Half of the people try; the change comes in no other way. The bound holds at least 97.5 times in 100."""
    rng = np.random.default_rng(3)
    held = []
    for chance in np.linspace(0.05, 1, 200):
        worked = (rng.uniform(size=30) < 0.5) & (rng.uniform(size=30) < chance)
        people = [["basic", "skilled" if one else "basic"] for one in worked]
        first, _ = chance_of(sa.fit_problem(PROBLEM, history_of(*people)), "learn")
        held.append(float(first.low) <= chance)
    assert np.mean(held) >= 0.975


@pytest.mark.parametrize(
    "rows, said",
    [
        ([("p", "2024-01-01"), ("p", "2024-01-01")], "row 2.date: 'p' has another row of the same date"),
        ([("p", "2024-01-01"), ("q", "2024-01-01")], "nobody is seen twice"),
        ([("", "2024-01-01")], "row 1.person: the person is missing"),
        ([("p", "soon")], "row 1.date: 'soon' is not a date"),
    ],
)
def test_wrong_histories(rows: list[tuple[str, str]], said: str) -> None:
    frame = pd.DataFrame(rows, columns=["person", "date"]).assign(skill="basic")
    with pytest.raises(AttemptsError) as caught:
        sa.fit_problem(PROBLEM, frame)
    assert str(caught.value).startswith(said)
    assert caught.value.mistakes[0].remedy
