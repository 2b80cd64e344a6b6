"""Plans under another model: what holds, what success is left and what repairing costs, all recomputed by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from doors import Counts, DurabilityRecord, DurabilityTeller, holds_today, open_plan
from parts.population.test_filed_families import records_of
from promises.test_margins import LEVEL_PEOPLE, LEVELS, PEOPLE, RAW, asking, score
from safear.errors import ClassifierError, PlanError
from safear.plans import Durability, check_durability, find_restart, open_plans
from safear.recourse import Desk
from spoken import LANGUAGES

CASES = {"records": (RAW, PEOPLE[:40]), "levels": (LEVELS, LEVEL_PEOPLE)}


def stricter(frame: pd.DataFrame) -> Any:
    """Another model, which likes neither large amounts nor the class b."""
    large = frame["amount"] > 12 if "age" in frame else frame["amount"].isin(["mid", "high"])
    return score(frame, "b") * (1 - 0.1 * large.to_numpy(float))


@cache
def offers_of(kind: str) -> list[tuple[dict[str, Any], sa.Offer]]:
    problem, people = CASES[kind]
    records = records_of(people)
    menus = [(record, sa.recommend(problem, score, record, objectives="mean")) for record in records]
    return [(record, menu[0]) for record, menu in menus if menu.offers]


def named(kind: str) -> list[tuple[str, sa.SavedPlan]]:
    return [(f"plan {n}", sa.SavedPlan.of(offer)) for n, (_, offer) in enumerate(offers_of(kind))]


def success_by_hand(offer: sa.Offer, record: dict[str, Any], model: Any) -> tuple[float, bool]:
    """The chance of ends that a model accepts at both ends of all promises, between which it is monotone; if all do."""
    mdp: Any = offer.solution.mdp
    start, total, kept = mdp.person(offer.runs.start), 0.0, True
    for state, chance in zip(offer.runs.state.tolist(), offer.runs.chance.tolist(), strict=True):
        if mdp.goal[state] and chance > 0:
            changed = {name: level for name, level in mdp.person(state).items() if level != start[name]}
            promised = [offer.promises.get(item) for item in changed.items()]
            spans = [
                (level,) if promise is None else (promise.low, promise.high)
                for level, promise in zip(changed.values(), promised, strict=True)
            ]
            ends = pd.DataFrame([record | dict(zip(changed, some, strict=True)) for some in product(*spans)])
            holds = bool((model(ends) >= 0.5).all())
            total += chance * holds
            kept &= holds
    return total, kept


@pytest.mark.parametrize("kind", CASES)
def test_every_end_is_asked_about_and_the_rest_is_repaired(kind: str) -> None:
    problem, _ = CASES[kind]
    found = check_durability(problem, stricter, named(kind))
    codes = set()
    for one, (record, offer) in zip(found.checks, offers_of(kind), strict=True):
        success, kept = success_by_hand(offer, record, stricter)
        assert (one.holds, one.claimed) == (kept, offer.cost.success)
        assert one.success == pytest.approx(success, abs=1e-12)
        menu = sa.recommend(problem, stricter, record, objectives="mean")
        if kept:
            assert one.repair is None
        elif menu.offers:
            assert one.repair is not None
            assert (one.repair.success, one.repair.mean) == (menu[0].cost.success, menu[0].mean)
            assert one.more == menu[0].mean - offer.mean
        codes.add(None if one.repair is None else one.repair.code)
    assert {None, "plan"} <= codes, "some hold, and some are repaired"
    low, high = found.interval
    assert 0 < low < found.share < high < 1


@pytest.mark.parametrize("kind", CASES)
def test_the_model_that_the_plans_were_made_with_keeps_them_all(kind: str) -> None:
    found = check_durability(CASES[kind][0], score, named(kind))
    assert found.people.worked == found.people.tried == len({one.plan.form.person.hash for one in found.checks})
    assert found.success == pytest.approx(found.claimed, abs=1e-12)
    assert found.more is None
    assert found.interval[1] == 1


def test_a_model_that_accepts_nobody_or_everybody() -> None:
    plans = named("levels")
    nobody = check_durability(LEVELS, lambda frame: np.zeros(len(frame)), plans)
    assert (nobody.share, nobody.success, nobody.count("none")) == (0, 0, len(plans))
    everybody = check_durability(LEVELS, lambda frame: np.ones(len(frame)), plans)
    assert everybody.share == 1


def test_who_is_accepted_as_filed_needs_no_repair() -> None:
    """The new model accepts whom the old one rejects, and the reverse."""
    found = check_durability(LEVELS, lambda frame: 1 - score(frame), named("levels"))
    assert found.count("accepted") == len(found.checks)


def test_all_plans_of_a_person_count_once() -> None:
    plan = named("levels")[0][1]
    found = check_durability(LEVELS, score, [("a", plan), ("b", plan)])
    assert (found.people.tried, len(found.checks)) == (1, 2)


def test_margins_keep_more() -> None:
    """Somebody who plans for 0.62 keeps the plan under every model that is at most 0.12 stricter."""
    strict = asking(LEVELS, {"aim": 0.62})
    menus = [sa.recommend(strict, score, record, objectives="mean") for record in records_of(LEVEL_PEOPLE)]
    plans = [(str(n), sa.SavedPlan.of(menu[0])) for n, menu in enumerate(menus) if menu.offers]

    def harder(frame: pd.DataFrame) -> Any:
        return score(frame) - 0.12 + 1e-9

    assert check_durability(strict, harder, plans, repair=False).share == 1
    assert check_durability(LEVELS, harder, plans, repair=False).share == 1
    assert check_durability(LEVELS, harder, named("levels"), repair=False).share < 1


def test_a_plan_and_the_one_that_goes_on_with_it_are_of_one_person() -> None:
    """And the second is replaced with the steps that it has."""
    problem = sa.load_example("loan")
    first = sa.SavedPlan.of(sa.recommend(problem, objectives="mean")[0])
    start = find_restart(first, problem, outcomes=["failed"])
    (offer,) = sa.recommend(start.problem, None, start.record, objectives="mean")
    plans = [("first", first), ("second", sa.SavedPlan.of(offer, before=start.before))]
    assert check_durability(problem, None, plans).people == Counts(1, 1)

    def owners(frame: pd.DataFrame) -> Any:
        return (frame["housing"] == "own") & (frame["job"] == "employed") & (frame["savings"] == "rich")

    found = check_durability(problem, owners, plans)
    assert found.people == Counts(0, 1)
    second = found.checks[1].repair
    assert second is not None
    (wanted,) = sa.recommend(start.problem, owners, start.record, objectives="mean")
    assert (second.code, second.mean, second.cvar) == ("plan", wanted.mean, wanted.tail)
    assert "2 plans are for 1 record" in "\n".join(DurabilityTeller.of().lines(found))


def test_means_with_different_costs_of_failing_are_not_compared() -> None:
    plans = named("levels")
    assert check_durability(LEVELS, stricter, plans).count("plan")
    for goal in (replace(LEVELS.goal, failure_cost=Decimal(99)), replace(LEVELS.goal, stop=not LEVELS.goal.stop)):
        found = check_durability(replace(LEVELS, goal=goal), stricter, plans)
        assert (found.count("plan"), found.more) == (0, None)
        assert found.count("unknown")


NEVER: dict[str, Any] = {
    "safear": 1,
    "title": "not worth it",
    "horizon": 1,
    "features": {"x": {"kind": "ordinal", "levels": ["a", "b"]}, "y": {"kind": "ordinal", "levels": ["n", "m"]}},
    "goal": {"failure_cost": 0, "stop": False},
    "classifier": {"rule": "y == m"},
    "actions": {
        "go": {"cost": 5, "chance": 0.5, "change": {"y": "+1"}},
        "rest": {"cost": 0.1, "change": {"x": "+1"}},
    },
    "people": {"me": {"x": "a", "y": "n"}},
}


def test_a_plan_that_never_succeeds_does_not_hold() -> None:
    problem = sa.parse_problem(NEVER)
    (offer,) = sa.recommend(problem, objectives="mean")
    assert offer.cost.success == 0
    found = check_durability(problem, None, [("vain", sa.SavedPlan.of(offer))])
    assert found.people == Counts(0, 1)
    assert found.count("none") == 1, "what would replace it never succeeds either"


def test_what_nobody_would_notice_is_about_the_same() -> None:
    found = check_all()
    number = next(n for n, one in enumerate(found.checks) if one.repair is not None and one.repair.mean is not None)
    one = found.checks[number]
    assert one.repair is not None
    mean = one.plan.figures.mean
    for more, told in (
        (5.4e-6, "about the same"),
        (-5.4e-6, "about the same"),
        (mean, " more;"),
        (-mean / 2, " less;"),
    ):
        moved = replace(one, repair=replace(one.repair, mean=mean + more))
        assert told in DurabilityTeller.of().repair(moved)
        lines = "\n".join(DurabilityTeller.of().lines(Durability(found.problem, (moved,), 0.95)))
        assert "The replacement costs" in lines
        assert told.strip(" ;") in lines
        assert "e-06" not in lines


UNSURE: dict[str, Any] = {
    "safear": 1,
    "title": "unsure",
    "horizon": 3,
    "features": {
        "a": {"kind": "ordinal", "levels": ["low", "high"]},
        "b": {"kind": "ordinal", "levels": ["no", "yes"]},
    },
    "goal": {"failure_cost": 10},
    "actions": {
        "gamble": {"cost": 1, "chance": [0.1, 0.9, 1], "change": {"a": "high"}},
        "toil": {"cost": 2, "chance": 0.8, "change": {"a": "high"}},
        "ask": {"cost": 1, "change": {"b": "yes"}},
    },
    "people": {"one": {"a": "low", "b": "no"}},
}


@pytest.mark.parametrize("robust", [False, True])
def test_a_careful_plan_is_kept_as_one_and_repaired_by_one(robust: bool, tmp_path: Path) -> None:
    """Who planned for the worst chances is told what that costs now, and not what counting on the best guess does."""
    problem = sa.parse_problem(UNSURE)
    (offer,) = sa.recommend(problem, lambda frame: frame["a"] == "high", objectives="mean", robust=robust)
    sa.save_plan(offer, tmp_path / "one.json")
    (_, kept), *_ = plans = list(open_plans([tmp_path]))
    assert (kept.form.robust, kept.first_action) == (robust, "toil" if robust else "gamble")

    def both(frame: pd.DataFrame) -> Any:
        return (frame["a"] == "high") & (frame["b"] == "yes")

    (check,) = check_durability(problem, both, plans).checks
    means = {
        careful: sa.recommend(problem, both, objectives="mean", robust=careful)[0].mean for careful in (False, True)
    }
    assert check.repair is not None
    assert means[False] < means[True]
    assert check.repair.mean == means[robust]


def test_plans_for_other_problems() -> None:
    (name, plan), *_ = named("levels")
    with pytest.raises(PlanError, match="which has different features"):
        check_durability(RAW, score, [(name, plan)])
    record = dict(plan.record or {})
    own = sa.recommend(LEVELS, score, record, objectives="mean", terms=sa.Terms(forbid=("ask for less",)))
    if not own.offers:
        own = sa.recommend(LEVELS, score, record, objectives="mean", terms=sa.Terms(forbid=("shorten",)))
    found = check_durability(LEVELS, lambda frame: np.zeros(len(frame)), [("own", sa.SavedPlan.of(own[0]))])
    assert found.count("unknown") == 1, "on their own terms"


def test_a_level_that_the_problem_does_not_have_is_refused() -> None:
    """Somebody has edited the file, and its checksum."""
    (name, plan), *_ = named("levels")
    form = plan.form.model_copy(deep=True)
    kept = next(one for one in form.person.levels if all(one not in state.changed for state in form.states))
    form.person.levels[kept] = "other"
    with pytest.raises(PlanError, match=f"the plan comes to 'other', which is not a level of '{kept}'"):
        check_durability(LEVELS, score, [(name, sa.SavedPlan.read(form.text))])


def test_plans_without_personal_data_are_refused() -> None:
    offer = offers_of("levels")[0][1]
    with pytest.raises(PlanError) as refused:
        check_durability(LEVELS, score, [("x", sa.SavedPlan.of(offer, personal_data=False))])
    assert refused.value.mistakes[0].code == "no_record"
    with pytest.raises(PlanError, match="there are no plans"):
        check_durability(LEVELS, score, [])


def check_all() -> Durability:
    return check_durability(LEVELS, stricter, named("levels"))


def test_the_record_says_what_was_found() -> None:
    found = check_all()
    record = DurabilityRecord.of(found)
    assert DurabilityRecord.model_validate_json(record.model_dump_json()) == record
    assert [one.holds for one in record.plans] == [one.holds for one in found.checks]
    assert (record.holding, record.people) == (found.people.worked, found.people.tried)
    assert record.unit == LEVELS.cost_unit
    repairs = [one.repair.code for one in record.plans if one.repair is not None]
    counts = [repairs.count(code) for code in ("accepted", "none", "unknown")]
    assert [record.accepted, record.without_recourse, record.unknown] == counts
    assert found.to_frame()["repaired_mean"].dropna().tolist() == [
        one.repair.mean for one in record.plans if one.repair is not None and one.repair.mean is not None
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_words(language: str) -> None:
    found, tell = check_all(), DurabilityTeller.of(language)
    rows = list(tell.rows(found))
    assert len(rows) == len(found.checks)
    assert {len(row) for row in rows} == {len(tell.headings())}
    lines = "\n".join(tell.lines(found))
    assert f"{found.people.worked} " in lines
    assert tell.teller.percent(found.interval[0]) in lines


def test_files_folders_and_batches(tmp_path: Path) -> None:
    plans = named("levels")[:3]
    for n, (_, plan) in enumerate(plans):
        plan.save(tmp_path / f"{n}.json")
    pd.DataFrame({"saved_plan": [plan.text for _, plan in plans] + [None]}).to_parquet(tmp_path / "part.parquet")
    texts = [plan.text for _, plan in plans]
    assert [plan.text for _, plan in open_plans([tmp_path])] == texts * 2
    assert [name for name, _ in open_plans([tmp_path / "part.parquet"])] == [
        f"{tmp_path / 'part.parquet'}:{row}" for row in (1, 2, 3)
    ]
    twice = [tmp_path / "1.json", tmp_path / "." / "1.json", tmp_path / "1.json"]
    assert [name for name, _ in open_plans(twice)] == [str(tmp_path / "1.json")]
    assert len(list(open_plans([tmp_path / "1.json", tmp_path]))) == 6
    for name, plan in open_plans([tmp_path]):
        assert open_plan(name).text == plan.text


@pytest.mark.parametrize(
    "row, told", [("", "has many plans"), (":4", "row 4 has no plan"), (":9", "row 9 has no plan")]
)
def test_rows_without_a_plan(row: str, told: str, tmp_path: Path) -> None:
    texts = [plan.text for _, plan in named("levels")[:3]]
    pd.DataFrame({"saved_plan": [*texts, None]}).to_parquet(tmp_path / "part.parquet")
    with pytest.raises(PlanError, match=told):
        open_plan(f"{tmp_path / 'part.parquet'}{row}")


def test_what_is_no_list_of_plans(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="there are no plans"):
        list(open_plans([tmp_path]))
    pd.DataFrame({"plan": ["safest"]}).to_parquet(tmp_path / "part.parquet")
    with pytest.raises(PlanError, match="has no column 'saved_plan'"):
        list(open_plans([tmp_path]))
    pd.DataFrame({"saved_plan": [named("levels")[0][1].text.replace("a loan", "a loan!")]}).to_parquet(
        tmp_path / "part.parquet"
    )
    with pytest.raises(PlanError, match="row 1"):
        list(open_plans([tmp_path]))


@pytest.mark.parametrize("kind", CASES)
def test_what_holds_today_is_what_the_check_says(kind: str) -> None:
    problem, _ = CASES[kind]
    for model in (score, stricter):
        found = [holds_today(Desk.of(problem, model), plan) for _, plan in named(kind)]
        checks = check_durability(problem, model, named(kind), repair=False).checks
        assert found == [check.holds for check in checks]
        assert all(found) == (model is score)
    _, offer = offers_of(kind)[0]
    assert holds_today(Desk.of(problem, stricter), sa.SavedPlan.of(offer, personal_data=False)) is None
    assert holds_today(Desk.of(sa.load_example("loan")), sa.SavedPlan.of(offer)) is None


def test_a_model_on_another_scale_is_no_reason_to_say_that_plans_hold() -> None:
    """Though all that their ends get lies between 0 and 1. It is asked about it once, however many plans."""
    problem = sa.load_example("loan")
    first = sa.SavedPlan.of(sa.recommend(problem)[0])
    start, asked = find_restart(first, problem, outcomes=["failed"]), []
    offer = sa.recommend(start.problem, None, start.record)[0]
    plans = [("first", first), ("second", sa.SavedPlan.of(offer, before=start.before))]

    def scores(frame: pd.DataFrame) -> Any:
        asked.append("senior" in set(frame["age"]))
        return np.full(len(frame), 0.9)

    assert check_durability(problem, scores, plans).share == 1
    assert sorted(asked) == [False, False, True, True]  # a few inputs from all over, and the others
    with pytest.raises(ClassifierError, match="such as 70"):
        check_durability(problem, lambda frame: np.where(frame["age"] == "senior", 70.0, 0.9), plans)
