"""Plans with a margin and plans for several models: who is rejected is one question, what is a goal is another."""

from __future__ import annotations

import html
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import safear as sa
from lanes import scaled
from parts.population.test_filed_families import LOAN, draw_people, records_of
from safear.errors import ClassifierError, ProblemError
from safear.reports import report_figures, report_menu
from small_problems import ladder

RAW = sa.parse_problem(LOAN | {"goal": {"failure_cost": 20, "threshold": 0.5}})
LEVELS = sa.parse_problem(
    LOAN
    | {
        "features": {
            "term": {"kind": "ordinal", "levels": ["short", "middle", "long", "very long"]},
            "amount": {"kind": "ordinal", "levels": ["low", "mid", "high"]},
            "sex": {"kind": "nominal", "levels": ["f", "m"], "mutable": False},
            "class": {"kind": "nominal", "levels": ["a", "b"], "mutable": False},
        },
        "given": [],
        "goal": {"failure_cost": 20, "threshold": 0.5},
    }
)
PEOPLE = draw_people(120)[:50]
TERMS, AMOUNTS = LEVELS.features[0].levels, LEVELS.features[1].levels
LEVEL_PEOPLE = pd.DataFrame(
    [{"term": t, "amount": a, "sex": s, "class": c} for t, a, s, c in product(TERMS, AMOUNTS, "fm", "ab")]
)


def score(frame: pd.DataFrame, strict: str = "") -> Any:
    """A chance, from numbers as filed or from levels, less where the class or the sex is the one named."""
    if "age" in frame:
        age = frame["age"].fillna(50).to_numpy(float)
        burden = frame["amount"].to_numpy(float) - frame["term"].to_numpy(float) / 4 + age / 20 - 6.3
    else:
        burden = frame["amount"].map(AMOUNTS.index).to_numpy(float) * 4
        burden = burden + frame["term"].map(TERMS.index).to_numpy(float) * 2 - 4.4
    named = (frame["sex"] == strict) | (frame["class"] == strict)
    return 1 / (1 + np.exp(0.2 * (burden + 3 * named.to_numpy(float))))


def other(frame: pd.DataFrame) -> Any:
    return score(frame, "b")


def third(frame: pd.DataFrame) -> Any:
    return score(frame, "m")


SETTINGS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "margin": ({"aim": 0.62}, score, lambda frame: score(frame) >= 0.62),
    "all of three": ({}, [score, other, third], lambda f: (score(f) >= 0.5) & (other(f) >= 0.5) & (third(f) >= 0.5)),
    "two of three": (
        {"agree": 0.6},
        [score, other, third],
        lambda f: (score(f) >= 0.5) & ((other(f) >= 0.5) | (third(f) >= 0.5)),
    ),
    "both": ({"aim": 0.55}, [score, other], lambda f: (score(f) >= 0.55) & (other(f) >= 0.55)),
}


def some_of(people: pd.DataFrame, least: int = 8) -> pd.DataFrame:
    """Those about whom the model is least sure, and some from all over; everybody in `make test-all`."""
    sure = np.argsort(np.abs(score(people) - 0.5), kind="stable")
    count = scaled(len(people), least)
    near, far = sure[: count // 2], sure[count // 2 :]
    chosen = np.concatenate([near, far[np.linspace(0, len(far) - 1, count - count // 2).astype(int)]])
    return people.iloc[np.sort(chosen)]


def asking(problem: sa.Problem, changes: dict[str, Any]) -> sa.Problem:
    return replace(problem, goal=replace(problem.goal, **changes))


def ends_of(offer: sa.Offer, record: dict[str, Any]) -> pd.DataFrame:
    """Every end of a plan, at the ends of whatever it promises, as records."""
    mdp: Any = offer.solution.mdp
    rows = []
    for state in np.unique(offer.runs.state[offer.runs.succeeded & (offer.runs.chance > 0)]).tolist():
        levels = {
            name: level for name, level in mdp.person(state).items() if level != mdp.person(offer.runs.start)[name]
        }
        spans = [
            {offer.promises[name, level].low, offer.promises[name, level].high} if offer.promises else {level}
            for name, level in levels.items()
        ]
        rows += [record | dict(zip(levels, numbers, strict=True)) for numbers in product(*spans)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("problem, people", [(RAW, PEOPLE), (LEVELS, LEVEL_PEOPLE)], ids=["records", "levels"])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_first_rejects_and_plans_end_only_where_the_goal_is(
    problem: sa.Problem, people: pd.DataFrame, name: str
) -> None:
    changes, models, is_goal = SETTINGS[name]
    between = planned = 0
    for record in records_of(some_of(people)):
        menu = sa.recommend(asking(problem, changes), models, record, objectives="mean")
        filed = pd.DataFrame([record])
        assert menu.favourable == bool(score(filed)[0] >= 0.5)
        between += menu.favourable and not is_goal(filed)[0]
        for offer in menu:
            ends = ends_of(offer, record)
            assert is_goal(ends).all()
            assert offer.verification.holds
            planned += 1
    assert between, "somebody is accepted without the margin"
    assert planned, "somebody has a plan"


@pytest.mark.parametrize("problem, people", [(RAW, PEOPLE), (LEVELS, LEVEL_PEOPLE)], ids=["records", "levels"])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("objective", ["mean", "mean-std:0.5 greedy", "cvar:0.9"])
def test_a_population_gets_what_each_of_them_gets(
    problem: sa.Problem, people: pd.DataFrame, name: str, objective: str, tmp_path: Path
) -> None:
    people = some_of(people)
    changes, models, _ = SETTINGS[name]
    aim, _, method = objective.partition(" ")
    options: Any = {"method": method or None}
    people.to_parquet(tmp_path / "people.parquet")
    asked = asking(problem, changes)
    counts = sa.batch(
        asked, models, tmp_path / "people.parquet", out=tmp_path / "out", objective=sa.parse_objective(aim), **options
    )
    rows = pd.concat([pd.read_parquet(part) for part in sorted((tmp_path / "out").glob("*.parquet"))])
    seen = set()
    for (_, row), record in zip(rows.iterrows(), records_of(people), strict=True):
        menu = sa.recommend(asked, models, record, objectives=aim, **options)
        decision = "favourable" if menu.favourable else "no recourse" if menu.no_recourse else "plan"
        assert row["decision"] == decision
        seen.add(decision)
        for offer in menu:
            assert row["success"] == pytest.approx(offer.cost.success, abs=1e-12)
            assert row["overall_mean"] == pytest.approx(offer.mean, rel=1e-12)
            assert row["first_action"] == offer.first_action
    assert {"favourable", "plan"} <= seen
    assert (counts.people, counts.favourable) == (len(people), int((score(people) >= 0.5).sum()))
    audited = sa.audit(asked, models, people, groups=["sex"], minimum=1).table()
    assert (
        audited["rejected"].to_dict()
        == pd.Series(score(people) < 0.5).groupby(people["sex"].to_numpy()).sum().to_dict()
    )


@pytest.mark.parametrize("number", range(0, 50, 5))
def test_an_aim_at_the_threshold_and_one_model_in_a_list_change_nothing(number: int) -> None:
    record = records_of(PEOPLE)[number]
    plain = sa.recommend(RAW, score, record)
    for problem, models in ((asking(RAW, {"aim": 0.5}), score), (RAW, [score]), (asking(RAW, {"agree": 0.4}), [score])):
        menu = sa.recommend(problem, models, record)
        assert (menu.favourable, menu.no_recourse is None) == (plain.favourable, plain.no_recourse is None)
        assert [(o.code, o.cost.success, o.mean, o.tail) for o in menu] == [
            (o.code, o.cost.success, o.mean, o.tail) for o in plain
        ]


def test_a_table_of_scores_has_a_margin_and_one_of_decisions_has_none() -> None:
    problem = asking(LEVELS, {"aim": 0.62})
    table = LEVEL_PEOPLE.assign(score=score(LEVEL_PEOPLE))
    by_function, by_table = sa.compile_mdp(problem, score), sa.compile_mdp(problem, table)
    assert by_table.goal.tolist() == by_function.goal.tolist()
    codes = by_table.codes(np.arange(by_table.n_states))
    accepted = by_table.goals.in_force.among(codes)
    assert accepted.tolist() == by_function.goals.in_force.among(codes).tolist()
    assert 0 < by_table.goal.sum() < accepted.sum()
    with pytest.raises(ClassifierError, match="truth values, and an aim needs scores"):
        sa.compile_mdp(problem, table.assign(score=table["score"] >= 0.5))


@pytest.mark.parametrize(
    "models",
    [None, lambda frame: score(frame) >= 0.5, [score, lambda frame: score(frame) >= 0.5]],
    ids=["rule", "truths", "one of two"],
)
def test_what_has_no_scores_is_refused_with_an_aim(models: Any) -> None:
    rule = sa.parse_problem(LOAN | {"classifier": {"rule": "sex == f"}, "given": []}).rule
    with pytest.raises(ClassifierError) as refused:
        sa.compile_mdp(replace(asking(LEVELS, {"aim": 0.6}), rule=rule), models)
    assert refused.value.mistakes[0].place.path == ("goal", "aim")
    assert "an aim needs scores" in str(refused.value)


def test_a_classifier_that_was_read_without_the_aim_is_refused() -> None:
    with pytest.raises(ClassifierError, match="an aim needs scores"):
        sa.compile_mdp(asking(LEVELS, {"aim": 0.6}), [sa.as_classifier(score, LEVELS)])


@pytest.mark.parametrize(
    "goal, cause",
    [
        ({"threshold": 0.5, "aim": 0.4}, "the aim 0.4 is below the threshold 0.5"),
        ({"aim": 0.6}, "an aim needs the threshold that it lies above"),
        ({"threshold": 0.5, "aim": 1.5}, "1.5"),
        ({"agree": 0}, "agree"),
        ({"agree": "most"}, "agree"),
    ],
)
def test_margins_that_make_no_sense(goal: dict[str, Any], cause: str) -> None:
    with pytest.raises(ProblemError) as refused:
        sa.parse_problem(LOAN | {"goal": goal})
    assert cause in str(refused.value)


def test_margins_are_written_back() -> None:
    for goal in ({"threshold": 0.5, "aim": 0.6, "agree": 0.6}, {"agree": "all"}, {"threshold": 0.5}):
        problem = sa.parse_problem(LOAN | {"goal": goal})
        assert sa.parse_problem(sa.dump_problem(problem)) == problem


def test_a_batch_is_not_continued_with_another_margin(tmp_path: Path) -> None:
    LEVEL_PEOPLE.to_parquet(tmp_path / "people.parquet")
    sa.batch(LEVELS, [score, other], tmp_path / "people.parquet", out=tmp_path / "out", objective=sa.Mean())
    with pytest.raises(sa.InputError, match="classifier"):
        sa.batch(LEVELS, [score, third], tmp_path / "people.parquet", out=tmp_path / "out", objective=sa.Mean())
    with pytest.raises(sa.InputError, match="classifier"):
        sa.batch(LEVELS, [third, score], tmp_path / "people.parquet", out=tmp_path / "out", objective=sa.Mean())


def test_another_model_is_asked_for_its_decision_not_for_the_margin() -> None:
    problem = asking(LEVELS, {"aim": 0.62})
    record = next(r for r in records_of(LEVEL_PEOPLE) if sa.recommend(problem, score, r).offers)
    offer = sa.recommend(problem, score, record)[0]
    assert sa.verify(offer, lambda frame: score(frame) - 0.11, record).holds
    assert not sa.verify(offer, lambda frame: np.zeros(len(frame)), record).holds


@pytest.mark.parametrize("problem, people", [(RAW, PEOPLE), (LEVELS, LEVEL_PEOPLE)], ids=["records", "levels"])
@pytest.mark.parametrize("name", ["margin", "both"])
@pytest.mark.parametrize("objectives", [None, ["cvar:0.9"]])
def test_menus_say_what_the_margin_costs(
    problem: sa.Problem, people: pd.DataFrame, name: str, objectives: list[str] | None
) -> None:
    """Beside each plan stands the one for the same objective that today's model alone would get."""
    changes, models, _ = SETTINGS[name]
    first = models[0] if isinstance(models, list) else models
    dearer = 0
    for record in records_of(some_of(people, least=24)):
        menu = sa.recommend(asking(problem, changes), models, record, objectives=objectives)
        assert len(menu.margin_costs) == len(menu)
        found = report_figures(menu).menu.without_margin
        for offer, cost, told in zip(menu, menu.margin_costs, found, strict=True):
            plain = sa.recommend(problem, first, record, objectives=[offer.objective])[0]
            assert (told.success, told.mean, told.cvar) == (
                plain.cost.success,
                plain.mean,
                plain.cost.all_runs.cvar(0.95),
            )
            assert offer.value >= plain.value - 1e-9, "goals are fewer, so the best is no better"
            assert str(cost).startswith("Compared with a plan that counts on today's model alone: ")
            assert str(cost) in menu_text(menu)
            dearer += offer.value > plain.value
    assert dearer
    assert sa.recommend(problem, first, records_of(people)[0]).margin_costs == ()


def menu_text(menu: sa.Menu) -> str:
    return html.unescape(report_menu(menu).html).replace("\u202f", " ")


def climb_with_margin() -> tuple[sa.Problem, Any]:
    """A model that accepts the second level and a plan for the third, with chances that may be far off."""
    actions = {
        "climb": {"cost": 1, "chance": [0.3, 0.9, 0.95], "change": {"a": "+1"}},
        "pay": {"cost": 3, "chance": [0.8, 0.85, 0.9], "change": {"a": "l2"}},
    }
    goal = {"threshold": 0.5, "aim": 0.8, "failure_cost": 20}
    problem = ladder(actions, levels=["l0", "l1", "l2"], horizon=4, goal=goal)
    return problem, lambda frame: frame["a"].map({"l0": 0.1, "l1": 0.55, "l2": 0.9}).to_numpy()


def test_robust_plans_are_compared_with_those_without_the_margin_by_the_worst_of_their_figures() -> None:
    menu = sa.recommend(*climb_with_margin(), robust=True)
    for offer in menu:
        cost = menu.margin_cost(offer)
        assert cost is not None
        assert cost.other is not None
        mine, its = offer.judged, cost.other.judged
        assert cost.tail == pytest.approx(mine.tail - its.tail)
        assert mine.tail - its.tail != pytest.approx(offer.figures.tail - cost.other.figures.tail)


def test_nothing_is_said_of_the_margin_of_plans_that_were_learnt() -> None:
    menu = sa.recommend(*climb_with_margin(), objectives="mean", method="episodic", rng=np.random.default_rng(0))
    assert len(menu) == 1
    assert menu.margin_costs == ()
    assert menu.margin_cost(menu[0]) is None
