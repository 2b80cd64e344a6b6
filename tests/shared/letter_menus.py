"""Menus to report: usual ones, long and short ones, with own terms, without plans, named to do harm."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd

import safear as sa
from audit_examples import NASTY
from doors import OBJECTIVE_EXAMPLES, find_trade_off
from safear.recourse import Menu, Notice
from small_problems import TERM, course, giving_up, guessed_loan

TERMS = sa.Terms.of(cost={"study part-time": 2.5}, chance={"study part-time": 0.7}, forbid=["own a house"])
LOAN = sa.load_example("loan")
NOTICES = (
    Notice("unlikely", LOAN, {"success": 0.123}),
    Notice("gives_up", LOAN, {"plan": 1, "success": 0.1, "possible": 0.9}),
    Notice("rounded", LOAN, {"resolution": 0.5, "error": 0.25}),
    Notice("searched_rounded", LOAN, {"resolution": 0.25}),
    Notice("cheaper_gives_up", LOAN, {"success": 0.4, "possible": 0.97, "failure_cost": 2.0}),
    Notice("as_filed", LOAN),
    Notice("no_intervals", LOAN),
    Notice("by_worst", LOAN),
    Notice("over_budget", LOAN, {"budget": 2.0, "least": 3.0}),
)


@cache
def make_loan() -> Menu:
    return sa.recommend(sa.load_example("loan"))


@cache
def make_guessed() -> Menu:
    return sa.recommend(guessed_loan())


@cache
def make_own() -> Menu:
    return sa.recommend(sa.load_example("loan").with_horizon(10), terms=TERMS)


@cache
def make_health() -> Menu:
    return sa.recommend(sa.load_example("health-insurance"))


@cache
def make_asked() -> Menu:
    """A plan for every objective that there is, and for a level that is no round number."""
    problem = sa.load_example("loan")
    objectives = [text for text in OBJECTIVE_EXAMPLES if text != "mean-lower-std:0.5"]
    optimal = sa.recommend(problem, objectives=[*objectives, "cvar:0.9876", "cvar:1"])
    greedy = sa.recommend(problem, objectives="mean-lower-std:0.5", method="greedy")
    return replace(optimal, offers=(*optimal.offers, *greedy.offers))


@cache
def make_none() -> Menu:
    return sa.recommend(LOAN.with_horizon(1), terms=sa.Terms.of(forbid=["own a house", "change job"]))


@cache
def make_accepted() -> Menu:
    return sa.recommend(sa.load_example("loan"), None, {**make_loan().person, "savings": "rich"})


@cache
def make_noted() -> Menu:
    return replace(make_loan(), notices=NOTICES)


def ladder(rungs: int, **more: Any) -> sa.Problem:
    """So many steps one after another; each may fail, and the first may fail in three ways."""
    levels = [f"rung {number}" for number in range(rungs + 1)]
    return sa.parse_problem(
        {
            "safear": 1,
            "title": "Up",
            "horizon": 3 * rungs,
            "cost": {"unit": "days"},
            "goal": {"failure_cost": 5},
            "features": {
                "place": {"kind": "ordinal", "levels": levels},
                "leg": {"kind": "nominal", "levels": ["sound", "broken"]},
                "eyes": {"kind": "nominal", "levels": ["blue", "brown"], "mutable": False},
            },
            "classifier": {"rule": f"place == rung {rungs}"},
            "actions": {
                "climb": {
                    "cost": 1,
                    "when": "leg == sound",
                    "outcomes": [
                        {"chance": [0.5, 0.7], "change": {"place": "+1"}},
                        {
                            "chance": {"value": 0.1, "source": "guess"},
                            "change": {"place": "+2"},
                            "works": True,
                            "label": "you climb fast",
                        },
                        {"chance": 0.2, "cost": 1.5},
                        {"change": {"leg": "broken"}},
                    ],
                },
                "heal": {"cost": 2, "when": "leg == broken", "chance": 0.9, "change": {"leg": "sound"}},
                "dream": {"cost": 1, "when": "leg == broken and leg == sound", "change": {"leg": "broken"}},
            },
            "people": {"me": {"place": "rung 0", "leg": "sound", "eyes": "blue"}},
            **more,
        }
    )


@cache
def make_long() -> Menu:
    return sa.recommend(ladder(14))


@cache
def make_single() -> Menu:
    return sa.recommend(ladder(2))


@cache
def make_spending() -> Menu:
    """Plans that look at what has been spent: nothing or 3, 0 to 1 or 3, 0.5 to 1.0001 or 3."""
    costs: list[list[float]] = [[0, 3], [0, 1, 3], [0.5, 1.0001, 3]]
    menus = [sa.recommend(course(each), objectives=["budget:4.0001"]) for each in costs]
    return replace(menus[0], offers=tuple(offer for menu in menus for offer in menu))


@cache
def make_hopeless() -> Menu:
    """Plans that never or rarely succeed: giving up is free, and who fails has nothing left to do."""
    return sa.recommend(giving_up(), objectives=["mean", "success-first"])


@cache
def make_uneven() -> Menu:
    """Plans whose chances differ, side by side."""
    offers = tuple(replace(offer, trade_off=find_trade_off(offer, make_hopeless().offers)) for offer in make_hopeless())
    return replace(make_hopeless(), offers=offers)


@cache
def make_likeliest() -> Menu:
    """A single plan, because all that are cheaper give up."""
    return sa.recommend(make_hopeless().problem)


@cache
def make_filed() -> Menu:
    """For a model that sees a record as it was filed: a number with a unit, and columns of every type."""
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": "Credit",
            "horizon": 4,
            "features": {
                "term": {name: value for name, value in TERM.items() if name != "max"},
                "bmi": {"kind": "numeric", "edges": [25]},
                "job": {"kind": "nominal", "levels": ["employed", "none"]},
            },
            "given": ["amount", "account", "owner", "phone"],
            "actions": {"shorten": {"cost": 1, "chance": 0.8, "change": {"term": -1}}},
            "goal": {"failure_cost": 20},
        }
    )
    record = {"term": 40, "bmi": 23.5, "job": "employed", "amount": 12345.5, "account": "none", "owner": True}
    return sa.recommend(problem, lambda frame: frame["term"] + frame["amount"] / 1e4 < 22, {**record, "phone": None})


@cache
def make_nasty() -> Menu:
    """Names that would run, or break, a page."""
    bad = [f"{NASTY} {{goal}} {number}" for number in range(12)]
    problem = sa.parse_problem(
        {
            "safear": 1,
            "title": bad[0],
            "horizon": 4,
            "cost": {"unit": bad[1]},
            "goal": {"favourable": bad[2], "failure_cost": 9},
            "features": {
                bad[3]: {"kind": "nominal", "levels": bad[4:6]},
                bad[6]: {"kind": "nominal", "levels": bad[7:9]},
            },
            "actions": {
                bad[9]: {
                    "cost": 1,
                    "outcomes": [
                        {"chance": 0.6, "change": {bad[3]: bad[5]}},
                        {"chance": 0.4, "change": {bad[6]: bad[8]}, "label": bad[10]},
                    ],
                },
                bad[11]: {"cost": 4, "change": {bad[3]: bad[5]}},
            },
            "people": {bad[0]: {bad[3]: bad[4], bad[6]: bad[7]}},
        }
    )

    def decide(people: pd.DataFrame) -> pd.Series[bool]:
        return people[bad[3]] == bad[5]

    return sa.recommend(problem, decide)


MENUS = {
    "loan": make_loan,
    "own terms": make_own,
    "health": make_health,
    "asked": make_asked,
    "none": make_none,
    "accepted": make_accepted,
    "noted": make_noted,
    "long": make_long,
    "single": make_single,
    "spending": make_spending,
    "hopeless": make_hopeless,
    "uneven": make_uneven,
    "likeliest": make_likeliest,
    "filed": make_filed,
    "guessed": make_guessed,
    "nasty": make_nasty,
}
